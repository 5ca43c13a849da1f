"""Read exchange rates: what a unit of a currency was worth in dollars on a day.

The rates are stated per euro, so other currencies become dollars through it, with both rates of one date.
The last date on or before the day counts. One that is older than a week does not: the bank's longest pause
is shorter, so a gap means that rates have stopped coming, or that the currency has.
"""

from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Case, F, FloatField, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast

from costs.models import FxRate, Price

PLANNING_CURRENCY = "USD"
EURO = "EUR"
MOST_AGE = timedelta(days=7)
RATE_STEP = Decimal("0.000000000001")
_ONE_EURO = Decimal(1)


class UsdRate(NamedTuple):
    """What one unit of a currency is worth, and of which date the rate is."""

    usd_per_unit: Decimal
    on: date


def rates_on(day: date) -> dict[str, UsdRate]:
    """Return the rate of every currency but the dollar that has one; one query."""
    by_date: dict[date, dict[str, Decimal]] = defaultdict(lambda: {EURO: _ONE_EURO})
    rows = FxRate.objects.filter(on__range=_range(day)).values_list("currency", "on", "per_euro")
    for currency, on, per_euro in rows:
        by_date[on][currency] = per_euro
    found: dict[str, UsdRate] = {}
    for on in sorted(by_date, reverse=True):
        usd_per_euro = by_date[on].pop(PLANNING_CURRENCY, None)
        if usd_per_euro is not None:
            for currency, per_euro in by_date[on].items():
                found.setdefault(currency, UsdRate(_cross(usd_per_euro, per_euro), on))
    return found


def with_rates(rows: QuerySet[Price], as_of: datetime) -> QuerySet[Price]:
    """Return prices with the rate of their currency: for `rate_of`, and `usd_per_unit` to sort by.

    Part of the same query, and of no cost to prices in dollars.
    """
    dollars = FxRate.objects.filter(currency=PLANNING_CURRENCY, on=OuterRef("on")).values("per_euro")[:1]
    newest = (
        FxRate.objects.filter(
            currency=OuterRef("fx_currency"), on__range=_range(as_of.astimezone(UTC).date())
        )
        .annotate(usd_per_euro=Subquery(dollars))
        .filter(usd_per_euro__isnull=False)
        .order_by("-on")
    )
    in_dollars, in_euros = {"currency": PLANNING_CURRENCY}, {"currency": EURO}
    rows = rows.alias(
        fx_currency=Case(When(**in_euros, then=Value(PLANNING_CURRENCY)), default=F("currency"))
    )
    rows = rows.annotate(
        fx_date=_unless(in_dollars, Subquery(newest.values("on")[:1])),
        fx_per_euro=_unless(in_dollars, Subquery(newest.values("per_euro")[:1])),
        fx_usd_per_euro=_unless(in_dollars, Subquery(newest.values("usd_per_euro")[:1])),
    )
    return rows.annotate(
        usd_per_unit=Case(
            When(**in_dollars, then=Value(1.0)),
            When(**in_euros, then=_float("fx_usd_per_euro")),
            default=_float("fx_usd_per_euro") / _float("fx_per_euro"),
            output_field=FloatField(),
        )
    )


def rate_of(price: Price) -> UsdRate | None:
    """Return the rate that came with a price; None for dollars, and where none is on file."""
    on, usd_per_euro = getattr(price, "fx_date", None), getattr(price, "fx_usd_per_euro", None)
    if on is None or usd_per_euro is None:
        return None
    per_euro = _ONE_EURO if price.currency == EURO else price.fx_per_euro  # type: ignore[attr-defined]
    return UsdRate(_cross(usd_per_euro, per_euro), on)


def _range(day: date) -> tuple[date, date]:
    return day - MOST_AGE, day


def _cross(usd_per_euro: Decimal, per_euro: Decimal) -> Decimal:
    return (usd_per_euro / per_euro).quantize(RATE_STEP)


def _unless(condition: dict[str, str], value: Any) -> Case:
    return Case(When(**condition, then=Value(None)), default=value)


def _float(name: str) -> Cast:
    return Cast(name, FloatField())
