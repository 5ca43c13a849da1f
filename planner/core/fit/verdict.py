"""Whether a job fits: usable memory against need, and the reason of each refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.core.fit.jobs import Job, ModelShape
from planner.core.fit.kv_cache import PRECISIONS
from planner.core.fit.layouts import Layout, why_not_split
from planner.core.fit.need import Need, Term, need
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT_FROM_1,
    SHARE_ABOVE_0,
    optional,
    require,
    require_fields,
    require_one_of,
    takes,
)
from planner.core.units import BYTES_PER_GIB

Word = Literal["fits", "tight", "unknown", "does not fit"]
WORDS: tuple[Word, ...] = ("fits", "tight", "unknown", "does not fit")  # from best to worst
Kind = Literal["memory", "precision", "interconnect", "split"]
TIGHT_BELOW = 0.10  # activations and fragmentation make every answer uncertain by 10 to 20 %


@dataclass(frozen=True)
class Gpu:
    """Facts of one accelerator. None is what is not known.

    `nvlink_gpus`: GPUs of the largest domain joined by NVLink or its like, 1 where there is none.
    `precisions`: what it computes in by itself; `unknown_precisions`: those on which sources disagree.
    `link_gb_per_second` is per GPU and direction; peaks are dense, never with sparsity.
    """

    name: str
    memory_bytes: float | None
    precisions: frozenset[str]
    nvlink_gpus: int | None
    link_gb_per_second: float | None = None
    memory_bandwidth_gb_per_second: float | None = None
    peak_dense_tflops: Mapping[str, float] = field(default_factory=dict)
    unknown_precisions: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse impossible facts."""
        require_fields(
            self,
            memory_bytes=optional(ABOVE_0),
            nvlink_gpus=optional(COUNT_FROM_1),
            link_gb_per_second=optional(ABOVE_0),
            memory_bandwidth_gb_per_second=optional(ABOVE_0),
        )
        known = (*PRECISIONS, "tf32")
        for precision in sorted({*self.precisions, *self.unknown_precisions, *self.peak_dense_tflops}):
            require_one_of(known, precisions=precision)
        for precision, peak in self.peak_dense_tflops.items():
            require(ABOVE_0, **{f"peak_dense_tflops of {precision}": peak})


@dataclass(frozen=True)
class Reserve:
    """What a job cannot use: CUDA context and kernels, communication buffers (none on one GPU), fragments.

    Published ranges: context 0.5 to 2 GiB, buffers 1 to 2 GiB. The factor, 0.90 to 0.95, is a judgement.
    """

    context_bytes: float = 1.0 * BYTES_PER_GIB
    buffer_bytes: float = 1.5 * BYTES_PER_GIB
    factor: float = 0.92

    def __post_init__(self) -> None:
        """Refuse impossible reserves."""
        require_fields(self, context_bytes=AT_LEAST_0, buffer_bytes=AT_LEAST_0, factor=SHARE_ABOVE_0)


DEFAULT_RESERVE = Reserve()


@takes(memory_bytes=AT_LEAST_0, gpus=COUNT_FROM_1)
def usable_bytes(memory_bytes: float, gpus: int, reserve: Reserve = DEFAULT_RESERVE) -> float:
    """Return (HBM - context - buffers) * factor per GPU, never below 0; one GPU has no buffers.

    >>> round(usable_bytes(80e9, 8) / 1e9, 2), round(usable_bytes(80e9, 1) / 1e9, 2)
    (71.13, 72.61)
    """
    buffers = reserve.buffer_bytes if gpus > 1 else 0.0
    return max(memory_bytes - reserve.context_bytes - buffers, 0.0) * reserve.factor


@dataclass(frozen=True)
class Reason:
    """Why a verdict is not "fits": what it makes of it, and a sentence."""

    kind: Kind
    word: Word
    text: str


@dataclass(frozen=True)
class Verdict:
    """Whether a layout on a GPU holds the job. `usable_bytes` is None where the memory is not known."""

    gpu: str
    layout: Layout
    need: Need
    usable_bytes: float | None
    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, usable_bytes=optional(AT_LEAST_0))

    @property
    def gpus(self) -> int:
        """Return the GPUs of the layout."""
        return self.layout.gpus

    @property
    def word(self) -> Word:
        """Return the worst that any reason makes of it; "fits" without one."""
        return WORDS[max((WORDS.index(reason.word) for reason in self.reasons), default=0)]

    @property
    def holds(self) -> bool:
        """Return whether it fits, tightly or not."""
        return self.word in ("fits", "tight")

    @property
    def largest(self) -> Term:
        """Return the largest term of the need."""
        return self.need.largest

    @property
    def margin_share(self) -> float | None:
        """Return (usable - need) / usable; None where usable memory is unknown or nothing."""
        return _margin(self.need, self.usable_bytes)

    @property
    def lacking_bytes(self) -> float:
        """Return what the need is above usable memory: 0 where it is not, or where memory is unknown."""
        return max(self.need.total_bytes - self.usable_bytes, 0.0) if self.usable_bytes is not None else 0.0

    @property
    def refusals(self) -> tuple[Reason, ...]:
        """Return the reasons for which it does not fit."""
        return tuple(reason for reason in self.reasons if reason.word == "does not fit")

    def text(self) -> str:
        """Return the reasons as one line; empty where it fits."""
        return "; ".join(reason.text for reason in self.reasons)


def verdict(
    gpu: Gpu, model: ModelShape, job: Job, layout: Layout, reserve: Reserve = DEFAULT_RESERVE
) -> Verdict:
    """Return fits, tight (margin below 10 % of usable), unknown or does not fit, with every reason.

    Fits where need <= usable, the GPU computes in the job's precision, tensor parallel stays inside one
    domain of fast links, and heads and layers divide. The memory formulas are right to 10 to 20 %.
    Raises ValueError where serving is given data parallel.

    >>> h100 = Gpu("H100", 80e9, frozenset({"bf16", "fp8"}), nvlink_gpus=8)
    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> from planner.core.fit.jobs import Serving
    >>> [verdict(h100, shape, Serving(context_tokens=4096), Layout(tensor=n)).word for n in (1, 2, 4)]
    ['does not fit', 'tight', 'fits']
    """
    return judge(gpu, model, job, layout, need(model, job, layout), reserve)


def judge(
    gpu: Gpu, model: ModelShape, job: Job, layout: Layout, needed: Need, reserve: Reserve = DEFAULT_RESERVE
) -> Verdict:
    """Return the verdict on a need that is known already; many GPUs share the need of one layout.

    >>> h100 = Gpu("H100", 80e9, frozenset({"bf16"}), nvlink_gpus=8)
    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> from planner.core.fit.jobs import Serving
    >>> judge(h100, shape, Serving(context_tokens=8192), Layout(), Need((Term("weights", 140e9),))).text()
    'needs 130.4 of 67.6 usable GiB per GPU, most for weights (130.4 GiB)'
    """
    usable = None if gpu.memory_bytes is None else usable_bytes(gpu.memory_bytes, layout.gpus, reserve)
    found = (
        _memory(gpu, needed, usable),
        _precision(gpu, job),
        _interconnect(gpu, layout),
        _split(layout, model),
    )
    return Verdict(gpu.name, layout, needed, usable, tuple(reason for reason in found if reason))


def _margin(needed: Need, usable: float | None) -> float | None:
    return None if not usable else (usable - needed.total_bytes) / usable


def _memory(gpu: Gpu, needed: Need, usable: float | None) -> Reason | None:
    if usable is None:
        return Reason("memory", "unknown", f"the memory of {gpu.name} is not known")
    if needed.total_bytes > usable:
        term = needed.largest
        text = (
            f"needs {needed.total_gib:,.1f} of {usable / BYTES_PER_GIB:,.1f} usable GiB per GPU, "
            f"most for {term.name} ({term.size_bytes / BYTES_PER_GIB:,.1f} GiB)"
        )
        return Reason("memory", "does not fit", text)
    margin = _margin(needed, usable)
    if margin is None or margin < TIGHT_BELOW:
        return Reason("memory", "tight", f"{margin or 0.0:.1%} of the usable memory is left")
    return None


def _precision(gpu: Gpu, job: Job) -> Reason | None:
    wanted = " or ".join(job.computes_in)
    if gpu.precisions.intersection(job.computes_in):
        return None
    if gpu.unknown_precisions.intersection(job.computes_in):
        return Reason("precision", "unknown", f"whether {gpu.name} computes in {wanted} is not known")
    return Reason("precision", "does not fit", f"{gpu.name} does not compute in {wanted}")


def _interconnect(gpu: Gpu, layout: Layout) -> Reason | None:
    if layout.tensor == 1 or (gpu.nvlink_gpus is not None and layout.tensor <= gpu.nvlink_gpus):
        return None
    if gpu.nvlink_gpus is None:
        text = f"how many GPUs of {gpu.name} fast links join is not known"
        return Reason("interconnect", "unknown", text)
    wants = f"tensor parallel over {layout.tensor} GPUs"
    if gpu.nvlink_gpus == 1:
        return Reason("interconnect", "does not fit", f"{wants}, but {gpu.name} has no NVLink or its like")
    text = f"{wants}, but fast links join {gpu.nvlink_gpus} of {gpu.name}"
    return Reason("interconnect", "does not fit", text)


def _split(layout: Layout, model: ModelShape) -> Reason | None:
    why = why_not_split(layout, model)
    return None if why is None else Reason("split", "does not fit", why)
