"""Read exchange rates: what a unit of a currency was worth in dollars on a day.

The rates are stated per euro, so other currencies become dollars through it, with both rates of one date.
The last date on or before the day counts. One that is older than a week does not: the bank's longest pause
is shorter, so a gap means that rates have stopped coming, or that the currency has.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Case, CharField, FloatField, QuerySet, Value, When

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


def with_rates(rows: QuerySet[Price], day: date) -> QuerySet[Price]:
    """Return prices with the rate of their currency: for `rate_of`, and `usd_per_unit` to sort by.

    The rates stand in the query as figures: a look-up for every row would take far longer.
    """
    rates, dollars = rates_on(day), {"currency": PLANNING_CURRENCY}
    exact = [When(currency=name, then=Value(_text(rate))) for name, rate in rates.items()]
    rough = [When(currency=name, then=Value(float(rate.usd_per_unit))) for name, rate in rates.items()]
    return rows.annotate(
        fx=Case(When(**dollars, then=Value("")), *exact, default=Value(""), output_field=CharField()),
        usd_per_unit=Case(When(**dollars, then=Value(1.0)), *rough, output_field=FloatField()),
    )


def give_rates(prices: Sequence[Price], day: date) -> None:
    """Give prices that were read already the rate of their currency; no query where all are in dollars."""
    foreign = [price for price in prices if price.currency != PLANNING_CURRENCY]
    rates = rates_on(day) if foreign else {}
    for price in foreign:
        if price.currency in rates:
            price.fx = _text(rates[price.currency])  # type: ignore[attr-defined]


def rate_of(price: Price) -> UsdRate | None:
    """Return the rate that came with a price; None for dollars, and where none is on file."""
    text: str = getattr(price, "fx", "")
    if not text:
        return None
    usd_per_unit, on = text.split()
    return UsdRate(Decimal(usd_per_unit), date.fromisoformat(on))


def _text(rate: UsdRate) -> str:
    return f"{rate.usd_per_unit} {rate.on}"


def _range(day: date) -> tuple[date, date]:
    return day - MOST_AGE, day


def _cross(usd_per_euro: Decimal, per_euro: Decimal) -> Decimal:
    return (usd_per_euro / per_euro).quantize(RATE_STEP)
