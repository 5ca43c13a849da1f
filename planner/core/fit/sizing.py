"""Which GPUs, and how many: a row for each GPU and count, refusals included."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from planner.core.fit.jobs import Job, ModelShape, Serving
from planner.core.fit.layouts import Layout, Parallelism, every_parallelism, layouts
from planner.core.fit.need import Need, most_sequences, need
from planner.core.fit.smallest import MOST_GPUS
from planner.core.fit.verdict import DEFAULT_RESERVE, WORDS, Gpu, Reserve, Verdict, judge
from planner.core.ranges import refuse, require_fields, takes
from planner.core.units import BYTES_PER_GIB

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Way:
    """One parallelism, and the layout of it that came nearest."""

    parallelism: Parallelism
    verdict: Verdict


@dataclass(frozen=True)
class Row:
    """One GPU and count: the best of all parallelisms, and each of them with its own verdict in `ways`.

    `is_best` marks the smallest count of this GPU that fits, or that fits tightly where no count fits.
    """

    gpu: str
    gpus: int
    parallelism: Parallelism
    verdict: Verdict
    ways: tuple[Way, ...]
    is_best: bool = False

    def __post_init__(self) -> None:
        """Refuse impossible counts."""
        require_fields(self, gpus=MOST_GPUS)


@dataclass(frozen=True)
class Sizing:
    """All rows of one model and job, by GPU in the order given and by count."""

    model: ModelShape
    job: Job
    rows: tuple[Row, ...]

    def best(self, gpu: str) -> Row | None:
        """Return the row of the best count of a GPU; None where no count holds the job."""
        return next((row for row in self.rows if row.gpu == gpu and row.is_best), None)

    def frame(self) -> pd.DataFrame:
        """Return one line per row; unknown is NaN. Memory is per GPU, in GiB."""
        return pd.DataFrame([_line(row, self.model, self.job) for row in self.rows])


@takes(counts=MOST_GPUS)
def size(
    model: ModelShape,
    job: Job,
    gpus: Sequence[Gpu],
    counts: Sequence[int] = COUNTS,
    reserve: Reserve = DEFAULT_RESERVE,
) -> Sizing:
    """Return a row for each GPU and count with its verdict, reason and the best count marked.

    A row takes the best of all parallelisms: the best word, then what lacks nothing but memory, then what
    lacks least of it, then the order copies, ZeRO 1 to 3, tensor, tensor with pipeline, all three axes: less
    to send comes first. For serving a count is the size of one replica.
    Raises ValueError for two GPUs of one name or counts that do not rise.

    >>> h100 = Gpu("H100", 80e9, frozenset({"bf16"}), nvlink_gpus=8)
    >>> t4 = Gpu("T4", 16e9, frozenset({"fp16"}), nvlink_gpus=1)
    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> sizing = size(shape, Serving(context_tokens=8192, concurrency=32), [h100, t4], (2, 4, 8))
    >>> [(row.gpus, row.verdict.word, row.is_best) for row in sizing.rows if row.gpu == "H100"]
    [(2, 'does not fit', False), (4, 'fits', True), (8, 'fits', False)]
    >>> sizing.rows[-1].verdict.refusals[-1].text
    'T4 does not compute in bf16'
    """
    names = [gpu.name for gpu in gpus]
    if len(set(names)) < len(names):
        refuse("gpus", names, "one of each name")
    if list(counts) != sorted(set(counts)):
        refuse("counts", list(counts), "rising counts, each once")
    needs: dict[Layout, Need] = {}  # many GPUs share a layout
    rows: list[Row] = []
    for gpu in gpus:
        rows.extend(_with_best([_row(gpu, model, job, count, reserve, needs) for count in counts]))
    return Sizing(model, job, tuple(rows))


def _row(
    gpu: Gpu, model: ModelShape, job: Job, count: int, reserve: Reserve, needs: dict[Layout, Need]
) -> Row:
    ways: list[Way] = []
    seen: set[Layout] = set()  # on one GPU all parallelisms are the same
    for parallelism in every_parallelism(job):
        new = [each for each in layouts(parallelism, count, model, gpu.nvlink_gpus) if each not in seen]
        seen.update(new)
        for layout in new:
            if layout not in needs:
                needs[layout] = need(model, job, layout)
        tried = [judge(gpu, model, job, layout, needs[layout], reserve) for layout in new]
        if tried:
            ways.append(Way(parallelism, min(tried, key=_rank)))
    best = min(ways, key=lambda way: _rank(way.verdict))
    return Row(gpu.name, count, best.parallelism, best.verdict, tuple(ways))


def _rank(found: Verdict) -> tuple[int, int, float]:
    """Return what orders verdicts, best first: what only lacks memory comes before what cannot be at all."""
    others = sum(reason.kind != "memory" for reason in found.refusals)
    return WORDS.index(found.word), others, found.lacking_bytes


def _with_best(rows: list[Row]) -> list[Row]:
    for word in ("fits", "tight"):
        for place, row in enumerate(rows):
            if row.verdict.word == word:
                return [*rows[:place], replace(row, is_best=True), *rows[place + 1 :]]
    return rows


def _other_refusals(row: Row) -> str:
    others = [way.verdict for way in row.ways if way.verdict is not row.verdict and way.verdict.refusals]
    return " | ".join(f"{found.layout.text()}: {found.text()}" for found in others)


def _line(row: Row, model: ModelShape, job: Job) -> dict[str, object]:
    found = row.verdict
    usable = None if found.usable_bytes is None else found.usable_bytes / BYTES_PER_GIB
    line: dict[str, object] = {
        "gpu": row.gpu,
        "gpus": row.gpus,
        "verdict": found.word,
        "is_best": row.is_best,
        "layout": found.layout.text(),
        "need_gib": found.need.total_gib,
        "usable_gib": usable,
        "margin_share": found.margin_share,
        "largest_term": found.largest.name,
        "reason": found.text(),
        "other_refusals": _other_refusals(row),
    }
    if isinstance(job, Serving):
        line["most_sequences"] = (
            None
            if found.usable_bytes is None
            else most_sequences(found.usable_bytes, model, job, found.layout)
        )
    return line
