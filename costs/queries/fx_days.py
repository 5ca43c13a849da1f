"""Read exchange rates for every day of a window: a price of a past day is worth what it was worth then."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from costs.models import FxRate

from .fx import EURO, MOST_AGE, PLANNING_CURRENCY, RATE_STEP, UsdRate


@dataclass(frozen=True)
class DailyRates:
    """The dollars per unit of a currency: on each day of the window, NaN where unknown, and on its last."""

    by_day: NDArray[np.float64]
    latest: UsdRate | None


def daily_rates(currencies: Iterable[str], first: date, last: date) -> dict[str, DailyRates]:
    """Return the rates of each foreign currency on every day from first to last; at most one query.

    The newest rate on or before a day counts while it is not older than a week, as in `rates_on`. Currencies
    without any rate in the window are left out.
    """
    wanted = sorted(set(currencies) - {PLANNING_CURRENCY})
    if not wanted:
        return {}
    rows = FxRate.objects.filter(
        currency__in=[PLANNING_CURRENCY, *wanted], on__range=(first - MOST_AGE, last)
    ).values_list("on", "currency", "per_euro")
    by_date: dict[date, dict[str, Decimal]] = {}
    for on, currency, per_euro in rows:
        by_date.setdefault(on, {EURO: Decimal(1)})[currency] = per_euro
    found = {currency: _filled(by_date, currency, first, last) for currency in wanted}
    return {currency: rates for currency, rates in found.items() if np.isfinite(rates.by_day).any()}


def _filled(by_date: dict[date, dict[str, Decimal]], currency: str, first: date, last: date) -> DailyRates:
    rates = np.full((last - first).days + 1, np.nan)
    latest: UsdRate | None = None
    # in order of date, so that a newer rate takes over from its own day on
    for on in sorted(by_date):
        both = by_date[on]
        if PLANNING_CURRENCY not in both or currency not in both:
            continue
        rate = (both[PLANNING_CURRENCY] / both[currency]).quantize(RATE_STEP)
        start = max((on - first).days, 0)
        end = max((on + MOST_AGE - first + timedelta(days=1)).days, 0)
        rates[start:end] = float(rate)
        latest = UsdRate(rate, on) if last - on <= MOST_AGE else None
    return DailyRates(rates, latest)
