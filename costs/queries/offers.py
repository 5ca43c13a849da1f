"""Sum up offers: how many of each source and how old; the cheapest of each term, fresh and stale apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    Max,
    Min,
    OuterRef,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from costs.models import IngestRun, Price

from .price_ages import is_stale
from .prices import in_dollars

CHEAPEST_PER_TERM = 60
SAME_OFFER = ("sku__provider", "sku__name", "region", "zone", "term", "payment")


@dataclass(frozen=True)
class SourceOffers:
    """The offers of one source, and of which dates they are."""

    source: str
    count: int
    oldest: datetime
    newest: datetime


class Offer(NamedTuple):
    """One offer with a price in dollars: what a sentence and a mark say of it."""

    pk: int
    provider: str
    sku: str
    sku_id: int
    region: str
    zone: str
    term: str
    payment: str
    source: str
    scope: str
    as_of: datetime
    usd_per_gpu_hour: float
    is_stale: bool


def by_source(rows: QuerySet[Price]) -> list[SourceOffers]:
    """Return how many of the offers each source states, and how old they are; one query."""
    sums = (
        rows.order_by()
        .values("source")
        .annotate(count=Count("pk"), oldest=Min("as_of"), newest=Max("as_of"))
        .order_by("source")
    )
    return [SourceOffers(row["source"], row["count"], row["oldest"], row["newest"]) for row in sums]


def cheapest(
    rows: QuerySet[Price], every: QuerySet[Price], now: datetime, per_term: int = CHEAPEST_PER_TERM
) -> list[Offer]:
    """Return the cheapest offers per GPU of each term, cheapest first; the stale ones are counted apart.

    Of two lists that state the same offer, one without a date gives way to one with a date that is not stale.

    `every` are the offers of the same moment without a filter: what was found is read from it by key, since
    the window that finds it passes over every row and must carry the key alone.
    """
    stale = Case(When(is_stale(now), then=Value(True)), default=Value(False), output_field=BooleanField())
    place = Window(RowNumber(), partition_by=[F("term"), F("stale")], order_by=[F("per_gpu_hour"), F("pk")])
    priced = in_dollars(rows).exclude(Exists(_undated()), Exists(_dated_rivals(every, now)))
    first = priced.annotate(stale=stale, place=place).filter(place__lte=per_term).values("pk")
    names = ("pk", "sku__provider", "sku__name", "sku_id", "region", "zone", "term", "payment", "source")
    found = every.annotate(stale=stale).filter(pk__in=first).order_by()
    offers = found.values_list(*names, "scope", "as_of", "per_gpu_hour", "stale")
    return sorted(map(Offer._make, offers), key=_place)


def _undated() -> QuerySet[IngestRun]:
    """Return the run by which a price is dated, where it is: its list states no date, nor does its row."""
    return IngestRun.objects.filter(source=OuterRef("source"), started_at=OuterRef("as_of"))


def _dated_rivals(every: QuerySet[Price], now: datetime) -> QuerySet[Price]:
    """Return the prices of lists with a date, not stale, that state the same offer as a row."""
    same = in_dollars(every.order_by()).filter(**{name: OuterRef(name) for name in SAME_OFFER})
    return same.exclude(is_stale(now)).exclude(Exists(_undated()))


def _place(offer: Offer) -> tuple[float, str, str, int]:
    return (offer.usd_per_gpu_hour, offer.provider, offer.region, offer.pk)


def recommended(offers: Iterable[Offer]) -> dict[str, Offer]:
    """Return the cheapest offer of each term that is not stale."""
    found: dict[str, Offer] = {}
    for offer in offers:
        if not offer.is_stale:
            found.setdefault(offer.term, offer)
    return found


def cheaper_but_stale(offers: Iterable[Offer]) -> list[Offer]:
    """Return the stale offers that would stand first on their term, were they not stale."""
    listed = list(offers)
    best = recommended(listed)
    return [
        offer
        for offer in listed
        if offer.is_stale
        and (offer.term not in best or offer.usd_per_gpu_hour < best[offer.term].usd_per_gpu_hour)
    ]
