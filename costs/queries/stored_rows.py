"""Count what the tables hold of sources whose newest file is not all that stands of them.

Of a source whose file is the whole list (a snapshot) the current batches tell; of the others a file is one
addition among many, so their rows are counted, and observations are as new as the newest of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, DateTimeField, F, Max, Model, QuerySet, Value
from django.db.models.functions import Cast

from costs.models import (
    Alias,
    Commitment,
    FxRate,
    Interruption,
    MachineType,
    Price,
    Quota,
    QuotaRequest,
    Quote,
    SpotCapacity,
    SpotPrice,
    Utilization,
    Zone,
)

DATED: dict[str, type[Model]] = {
    "prices": Price,
    "interruptions": Interruption,
    "quotas": Quota,
    "quota_requests": QuotaRequest,
    "commitments": Commitment,
    "quotes": Quote,
}
STEPS: dict[str, type[Model]] = {"spot_prices": SpotPrice, "spot_capacity": SpotCapacity}
SERIES: dict[str, type[Model]] = {
    "machine_types": MachineType,
    "aliases": Alias,
    "zones": Zone,
    "fx_rates": FxRate,
}
Rows = QuerySet[Any, dict[str, Any]]
_NO_DATE = Cast(Value(None), DateTimeField())


@dataclass(frozen=True)
class Stored:
    """Rows of one source, and the newest moment that was observed; None where its batches tell."""

    rows: int
    newest: datetime | None


@dataclass(frozen=True)
class Asked:
    """A source to count the rows of."""

    name: str
    kind: str
    mode: str


def stored_rows(sources: Sequence[Asked]) -> dict[str, Stored]:
    """Return the rows of every source that adds to a table, in one query."""
    first, *others = _counts(sources)
    found = first.union(*others, all=True)
    return {row["of_source"]: Stored(row["counted"], row["newest"]) for row in found}


def _counts(sources: Sequence[Asked]) -> Iterator[Rows]:
    yield _count(Utilization.objects.filter(is_sample=False), "source", Max("starts_at"))
    for kind, model in STEPS.items():
        yield _count(_of(model, "source", _names(sources, kind)), "source", Max("last_seen_at"))
    histories = _of(Price, "source", _names(sources, "prices", "history"))
    yield _count(histories, "source", Max("as_of"))
    for kind, model in DATED.items():
        now = _of(model, "source", _names(sources, kind, "amend")).filter(effective_to=None)
        yield _count(now, "source", _NO_DATE)
    for kind, model in SERIES.items():
        yield _count(_of(model, "batch__source", _names(sources, kind)), "batch__source", _NO_DATE)


def _names(sources: Sequence[Asked], kind: str, mode: str = "") -> list[str]:
    return [each.name for each in sources if each.kind == kind and mode in ("", each.mode)]


def _of(model: type[Model], column: str, names: list[str]) -> QuerySet[Model]:
    return model._default_manager.filter(**{f"{column}__in": names})


def _count(rows: QuerySet[Any], column: str, newest: Any) -> Rows:
    by_source: Rows = rows.order_by().values(of_source=F(column))
    counted: Rows = by_source.annotate(counted=Count("pk"), newest=newest)
    return counted.values("of_source", "counted", "newest")
