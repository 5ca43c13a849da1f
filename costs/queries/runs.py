"""Read the runs of the sources: how fresh each is, and what happened lately."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Count, Max, Min, QuerySet, Sum

from costs.models import Batch, IngestRun, RejectedRow, Utilization
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch

State = Literal["fresh", "late", "stale", "never"]


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


def freshness(now: datetime) -> list[Freshness]:
    """Return every source with its state against its own cadence; sample data do not count."""
    batches = _current_batches()
    series = _series()
    runs = _last_runs()
    answer = []
    for name, source in SOURCES.items():
        batch = batches.get(name)
        rows, last_hour = series.get(name, (0, None))
        as_of = last_hour or (batch["as_of"] if batch else None)
        age = max(now - as_of, timedelta(0)) if as_of else None
        answer.append(
            Freshness(
                name=name,
                title=source.TITLE,
                kind=source.KIND,
                can_run=can_fetch(name),
                state=_state(age, source.CADENCE),
                cadence=source.CADENCE,
                data_as_of=as_of,
                last_good=batch["published_at"] if batch else None,
                age=age,
                next_expected=as_of + source.CADENCE if as_of and source.CADENCE else None,
                rows=rows if source.MODE == "series" else batch["rows"] if batch else 0,
                last_run=runs.get(name),
            )
        )
    return answer


def recent_runs(limit: int = 20) -> QuerySet[IngestRun]:
    """Return the newest runs of all sources, with their jobs."""
    return IngestRun.objects.select_related("job", "raw").order_by("-pk")[:limit]


def sources_of(run_ids: Iterable[int]) -> set[str]:
    """Return the names of the sources that runs took their files from."""
    return set(IngestRun.objects.filter(pk__in=list(run_ids)).values_list("source", flat=True))


def rejected_rows(run: IngestRun) -> QuerySet[RejectedRow]:
    """Return the lines that a run did not take: the wrong ones first, then by line."""
    return run.rejected.order_by("-kind", "line", "pk")


def _current_batches() -> dict[str, dict[str, Any]]:
    """Return what stands now, by source: its age is that of its oldest part, a cloud or a cluster."""
    own = Batch.objects.filter(is_current=True).exclude(params__has_key="sample").values("source")
    sums = own.annotate(as_of=Min("as_of"), published_at=Max("published_at"), rows=Sum("rows"))
    return {row["source"]: dict(row) for row in sums}


def _series() -> dict[str, tuple[int, datetime]]:
    """Return rows and the newest hour of each series: what they state of themselves is their last hour."""
    own = Utilization.objects.filter(is_sample=False).values("source").order_by("source")
    return {
        row["source"]: (row["rows"], row["last"])
        for row in own.annotate(rows=Count("pk"), last=Max("starts_at"))
    }


def _last_runs() -> dict[str, IngestRun]:
    # as a list of keys: in PostgreSQL a job without "params" is neither in nor out of the condition itself
    sample = IngestRun.objects.filter(job__params__params__has_key="sample").values("pk")
    own = IngestRun.objects.exclude(pk__in=sample)
    seen = own.exclude(status=IngestRun.Status.PREVIEWED).values("source")
    newest = seen.annotate(newest=Max("pk")).values("newest")
    return {run.source: run for run in IngestRun.objects.filter(pk__in=newest).select_related("job")}


def _state(age: timedelta | None, cadence: timedelta | None) -> State:
    if age is None:
        return "never"
    if cadence is None or age <= cadence:
        return "fresh"
    return "late" if age <= 2 * cadence else "stale"
