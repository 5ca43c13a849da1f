"""Read the runs of the sources: how fresh each is, and what happened lately."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Max, Min, QuerySet, Sum

from costs.models import Batch, IngestRun, RejectedRow
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch

from .stored_rows import Asked, Stored, stored_rows

State = Literal["fresh", "late", "stale", "never"]
STATES: tuple[State, ...] = ("fresh", "late", "stale", "never")
# a price list that names no rhythm was uploaded once: without one it would be recommended for ever
MONTHLY = timedelta(days=31)
AGEING = frozenset({"prices", "spot_prices"})
STALE_AFTER = 2  # cadences, on every page


@dataclass(frozen=True)
class Freshness:
    """How one source stands. `age` counts from the date that the oldest of its data state of themselves."""

    name: str
    title: str
    kind: str
    can_run: bool  # there is something to fetch; otherwise data come by upload
    state: State
    cadence: timedelta | None
    data_as_of: datetime | None
    last_good: datetime | None  # when data were last published
    age: timedelta | None
    next_expected: datetime | None
    rows: int
    last_run: IngestRun | None

    @property
    def age_share(self) -> float | None:
        """Return age over cadence, or None where nothing is expected."""
        if self.age is None or not self.cadence:
            return None
        return self.age / self.cadence

    @property
    def is_used(self) -> bool:
        """Return whether the source ever had data here, or ever ran."""
        return self.state != "never" or self.last_run is not None


def freshness(now: datetime, *, with_runs: bool = True) -> list[Freshness]:
    """Return every source with its state against its own cadence; sample data do not count.

    Where nobody asks for the last runs, they cost no query.
    """
    batches = _current_batches()
    stored = stored_rows([Asked(name, source.KIND, source.MODE) for name, source in SOURCES.items()])
    runs = _last_runs() if with_runs else {}
    return [_freshness(name, batches.get(name), stored.get(name), runs.get(name), now) for name in SOURCES]


def _freshness(
    name: str, batch: dict[str, Any] | None, stored: Stored | None, run: IngestRun | None, now: datetime
) -> Freshness:
    source, cadence = SOURCES[name], cadence_of(name)
    as_of = (stored.newest if stored else None) or (batch["as_of"] if batch else None)
    age = max(now - as_of, timedelta(0)) if as_of else None
    return Freshness(
        name=name,
        title=source.TITLE,
        kind=source.KIND,
        can_run=can_fetch(name),
        state=state_of(age, cadence),
        cadence=cadence,
        data_as_of=as_of,
        last_good=batch["published_at"] if batch else None,
        age=age,
        next_expected=as_of + cadence if as_of and cadence else None,
        rows=stored.rows if stored else batch["rows"] if batch and source.MODE == "snapshot" else 0,
        last_run=run,
    )


def cadence_of(name: str, kind: str = "") -> timedelta | None:
    """Return how often data of a source are expected: the one rule, for its page and for every price.

    Prices of a source without a rhythm are expected monthly; tables that change when they change never are.
    `kind` is that of the facts of a source which is not known (any more).
    """
    source = SOURCES.get(name)
    stated: timedelta | None = None if source is None else source.CADENCE
    if stated is not None:
        return stated
    return MONTHLY if (source.KIND if source is not None else kind) in AGEING else None


def cadences(kind: str) -> dict[str, timedelta | None]:
    """Return how often each source of a kind of facts is expected, by its name."""
    return {name: cadence_of(name) for name, source in SOURCES.items() if kind == source.KIND}


def is_archive(name: str) -> bool:
    """Return whether a source has no rhythm of its own: its files tell of the past as a whole."""
    return name in SOURCES and SOURCES[name].CADENCE is None


def state_of(age: timedelta | None, cadence: timedelta | None) -> State:
    """Return the word about an age: fresh up to the cadence, late up to twice, then stale."""
    if age is None:
        return "never"
    if cadence is None or age <= cadence:
        return "fresh"
    return "late" if age <= STALE_AFTER * cadence else "stale"


def recent_runs(limit: int = 20) -> QuerySet[IngestRun]:
    """Return the newest runs of all sources, with their jobs."""
    return IngestRun.objects.select_related("job", "raw").order_by("-pk")[:limit]


def runs_of(source: str) -> QuerySet[IngestRun]:
    """Return the runs of one source, newest first."""
    return IngestRun.objects.filter(source=source).select_related("job").order_by("-pk")


def sources_of(run_ids: Iterable[int]) -> set[str]:
    """Return the names of the sources that runs took their files from."""
    return set(IngestRun.objects.filter(pk__in=list(run_ids)).values_list("source", flat=True))


def last_published(sources: Iterable[str]) -> dict[str, datetime]:
    """Return when each source last published something that nobody took back."""
    standing = Batch.objects.filter(source__in=list(sources), undone_at=None).values_list("source")
    return dict(standing.annotate(newest=Max("published_at")))


def rejected_rows(run: IngestRun) -> QuerySet[RejectedRow]:
    """Return the lines that a run did not take: the wrong ones first, then by line."""
    return run.rejected.order_by("-kind", "line", "pk")


def standing_batches(run: IngestRun) -> QuerySet[Batch]:
    """Return what a run published and nobody took back."""
    return run.batches.filter(undone_at=None)


def _current_batches() -> dict[str, dict[str, Any]]:
    """Return what stands now, by source: its age is that of its oldest part, a cloud or a cluster."""
    own = Batch.objects.filter(is_current=True).exclude(params__has_key="sample").values("source")
    sums = own.annotate(as_of=Min("as_of"), published_at=Max("published_at"), rows=Sum("rows"))
    return {row["source"]: dict(row) for row in sums}


def _last_runs() -> dict[str, IngestRun]:
    # as a list of keys: in PostgreSQL a job without "params" is neither in nor out of the condition itself
    sample = IngestRun.objects.filter(job__params__params__has_key="sample").values("pk")
    own = IngestRun.objects.exclude(pk__in=sample)
    seen = own.exclude(status=IngestRun.Status.PREVIEWED).values("source")
    newest = seen.annotate(newest=Max("pk")).values("newest")
    return {run.source: run for run in IngestRun.objects.filter(pk__in=newest).select_related("job")}
