"""Read what each accelerator costs at the least now on one term, for lists of accelerators."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Case, F, IntegerField, Q, TextField, Value, When, Window
from django.db.models.functions import Cast, RowNumber

from costs.models import Price

from .fx import PLANNING_CURRENCY, UsdRate, rates_on
from .price_ages import is_stale
from .prices import PRICE_STEP


class Cheapest(NamedTuple):
    """The cheapest offer of one accelerator that is not stale."""

    usd_per_gpu_hour: Decimal
    provider: str
    sku: str
    region: str
    source: str
    as_of: datetime
    run_id: int
    batch_id: int
    line: int


@dataclass
class Sold:
    """How widely an accelerator is sold on a term, and where it is cheapest."""

    cheapest: Cheapest | None = None  # None where every price is stale or has no dollars
    offers: int = 0
    stale: int = 0
    providers: frozenset[str] = frozenset()


class _Row(NamedTuple):
    slug: str
    provider: str
    sku: str
    region: str
    source: str
    as_of: datetime
    run_id: int
    batch_id: int
    line: int
    currency: str
    amount: str
    gpus: str
    stale: int


def sold(term: str, now: datetime) -> dict[str, Sold]:
    """Return what is sold of each accelerator, by slug; one query, and one for rates where currencies differ.

    Where sources or zones disagree about an offer, the one counts that counts on the accelerator's page.
    """
    rates: dict[str, UsdRate] | None = None
    found: dict[str, Sold] = {}
    for row in _offers(term, now):
        if row.currency != PLANNING_CURRENCY and rates is None:
            rates = rates_on(now.astimezone(UTC).date())
        of = found.setdefault(row.slug, Sold())
        of.offers += 1
        of.stale += row.stale
        of.providers |= {row.provider}
        usd = _usd(row, rates or {})
        if not row.stale and usd is not None and (of.cheapest is None or usd < of.cheapest.usd_per_gpu_hour):
            of.cheapest = Cheapest(usd, *row[1:9])
    return found


def _offers(term: str, now: datetime) -> Iterator[_Row]:
    """Yield one row for each offer: of what is not stale the newest, the region's own, the cheapest."""
    is_zone = Case(When(zone="", then=Value(0)), default=Value(1), output_field=IntegerField())
    stale = Case(When(is_stale(now), then=Value(1)), default=Value(0), output_field=IntegerField())
    place = Window(
        RowNumber(),
        partition_by=[F("sku"), F("region"), F("payment")],
        order_by=[
            F("stale").asc(),
            F("as_of").desc(),
            is_zone.asc(),
            F("price_per_hour").asc(),
            F("source").desc(),
            F("pk").desc(),
        ],
    )
    holds = Q(effective_to__isnull=True, effective_from__lte=now, state=Price.State.PRICED, term=term)
    rows = Price.objects.filter(holds, sku__accelerator__isnull=False).annotate(
        stale=stale,
        place=place,
        amount=Cast(F("price_per_hour"), TextField()),
        gpus=Cast(F("sku__gpu_count"), TextField()),
    )
    columns = (
        "sku__accelerator__slug", "sku__provider", "sku__name", "region", "source", "as_of", "batch__run_id",
        "batch_id", "line", "currency", "amount", "gpus", "stale",
    )  # fmt: skip
    chosen = rows.filter(place=1).order_by("sku__provider", "sku__name", "region", "payment")
    return map(_Row._make, chosen.values_list(*columns).iterator(chunk_size=5000))


def _usd(row: _Row, rates: dict[str, UsdRate]) -> Decimal | None:
    per_gpu = Decimal(row.amount) / Decimal(row.gpus)
    if row.currency == PLANNING_CURRENCY:
        return per_gpu.quantize(PRICE_STEP)
    rate = rates.get(row.currency)
    return None if rate is None else (per_gpu * rate.usd_per_unit).quantize(PRICE_STEP)
