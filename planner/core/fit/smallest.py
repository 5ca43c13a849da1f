"""The smallest number of GPUs that holds a job, for each way of spreading it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.core.fit.jobs import Job, ModelShape
from planner.core.fit.layouts import STAGE, Layout, Parallelism, parallelisms, why_not_split
from planner.core.fit.verdict import DEFAULT_RESERVE, WORDS, Gpu, Reserve, Verdict, Word, verdict
from planner.core.ranges import COUNT_FROM_1, Range, optional, require_fields, require_one_of, takes

MOST_GPUS = Range(1, 100_000, whole=True)


@dataclass(frozen=True)
class Smallest:
    """The first count that holds the job, or None with the verdict that came nearest and its reasons."""

    gpu: str
    parallelism: Parallelism
    gpus: int | None
    verdict: Verdict

    def __post_init__(self) -> None:
        """Refuse impossible counts."""
        require_fields(self, gpus=optional(COUNT_FROM_1))


@takes(most_gpus=MOST_GPUS)
def smallest_fit(
    gpu: Gpu,
    model: ModelShape,
    job: Job,
    parallelism: Parallelism,
    most_gpus: int = 1024,
    with_margin: bool = False,
    reserve: Reserve = DEFAULT_RESERVE,
) -> Smallest:
    """Return the smallest count up to `most_gpus` that holds the job; `with_margin` wants more than tight.

    From two GPUs on, more of them never need more memory each along one axis, so that each axis is searched
    by halving; a single GPU is tried by itself, as it has no communication buffers. Tensor parallel counts
    are those that divide the heads, beside a pipeline those inside one domain of fast links.
    Raises ValueError for a parallelism that the job does not have.

    >>> h100 = Gpu("H100", 80e9, frozenset({"bf16"}), nvlink_gpus=8)
    >>> shape = ModelShape("7B", 7e9, 32, 4096, 32, 32, 128, 32000)
    >>> from planner.core.fit.jobs import Training
    >>> job = Training(sequence=4096, recomputation="full")
    >>> [smallest_fit(h100, shape, job, way).gpus for way in ("copies", "zero1", "zero2", "zero3")]
    [None, 3, 2, 2]
    """
    require_one_of(parallelisms(job), parallelism=parallelism)
    good = WORDS[:1] if with_margin else WORDS[:2]
    found = _Search(gpu, model, job, reserve, good).over(parallelism, most_gpus)
    return Smallest(gpu.name, parallelism, found.gpus if found.word in good else None, found)


@takes(most_gpus=MOST_GPUS)
def smallest_fits(
    gpus: Sequence[Gpu],
    model: ModelShape,
    job: Job,
    most_gpus: int = 1024,
    reserve: Reserve = DEFAULT_RESERVE,
) -> tuple[Smallest, ...]:
    """Return the smallest count of each GPU and each parallelism of the job, refusals included.

    >>> t4 = Gpu("T4", 16e9, frozenset({"fp16"}), nvlink_gpus=1)
    >>> shape = ModelShape("7B", 7e9, 32, 4096, 32, 32, 128, 32000)
    >>> from planner.core.fit.jobs import Serving
    >>> table = smallest_fits([t4], shape, Serving(context_tokens=2048, precision="fp16"))
    >>> [(row.parallelism, row.gpus) for row in table]
    [('tensor', None), ('tensor_pipeline', 2)]
    """
    return tuple(
        smallest_fit(gpu, model, job, way, most_gpus, reserve=reserve)
        for gpu in gpus
        for way in parallelisms(job)
    )


def nearest(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the best verdict: best word, fewest refusals, least memory lacking, fewest GPUs, then the first.

    >>> from planner.core.fit.need import Need, Term
    >>> fits = Verdict("H100", Layout(), Need((Term("weights", 1e9),)), 70e9, ())
    >>> nearest([fits]).word
    'fits'
    """
    return min(
        verdicts,
        key=lambda each: (WORDS.index(each.word), len(each.refusals), each.lacking_bytes, each.gpus),
    )


class _Search:
    """Looks for the first layout whose verdict is good."""

    def __init__(
        self, gpu: Gpu, model: ModelShape, job: Job, reserve: Reserve, good: tuple[Word, ...]
    ) -> None:
        self.gpu, self.model, self.job, self.reserve, self.good = gpu, model, job, reserve, good

    def judge(self, layout: Layout) -> Verdict:
        return verdict(self.gpu, self.model, self.job, layout, self.reserve)

    def over(self, parallelism: Parallelism, most_gpus: int) -> Verdict:
        """Return the first good verdict, or the one that came nearest."""
        alone = self.judge(Layout())
        if alone.word in self.good or most_gpus == 1:
            return alone
        if parallelism == "tensor":
            tried = [self.judge(Layout(tensor=t)) for t in self._degrees(2, most_gpus)]
        elif parallelism == "tensor_pipeline":
            inside = self._degrees(1, min(most_gpus, self.gpu.nvlink_gpus or 1))
            tried = [self._over_pipeline(t, most_gpus) for t in reversed(inside)]
        else:
            stage = STAGE[parallelism]
            tried = [self._halving(lambda n: Layout(data=n, zero_stage=stage), 2, most_gpus)]
        good = [each for each in tried if each.word in self.good]
        return min(good, key=lambda each: each.gpus) if good else nearest([alone, *tried])

    def _degrees(self, least: int, most: int) -> list[int]:
        """Return the tensor-parallel degrees that heads allow; alone they may go beyond the fast domain.

        A refusal can so name the links.
        """
        heads = self.model.heads
        degrees = [t for t in range(least, min(heads, most) + 1) if heads % t == 0]
        return [t for t in degrees if why_not_split(Layout(tensor=t), self.model) is None]

    def _over_pipeline(self, tensor: int, most_gpus: int) -> Verdict:
        least = 1 if tensor > 1 else 2
        most = max(least, min(self.model.layers, most_gpus // tensor))
        return self._halving(lambda stages: Layout(tensor=tensor, pipeline=stages), least, most)

    def _halving(self, layout: Callable[[int], Layout], low: int, high: int) -> Verdict:
        """Return the first good one of low..high, or that of high, where the need is least."""
        best = self.judge(layout(high))
        if best.word not in self.good:
            return best
        while low < high:
            middle = (low + high) // 2
            found = self.judge(layout(middle))
            if found.word in self.good:
                high, best = middle, found
            else:
                low = middle + 1
        return best
