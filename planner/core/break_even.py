"""When does the plan overtake staying on demand, and how busy must capacity be to pay?

The baseline of a plan is all its demand, undeferred, on its reference on-demand supply, at that
supply's price path and without quota.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from planner.core.calendar import FloatArray
from planner.core.plan import BreakEven, OnDemand, Plan, UtilizationTerms
from planner.core.units import HOURS_PER_MONTH, HOURS_PER_YEAR

# Two cumulative costs closer than this share are the same amount, added up in another order.
SAME_SHARE = 1e-9


def reference_supply(plan: Plan) -> OnDemand | None:
    """Return the on-demand supply marked as reference; unmarked, the cheapest known in month 1."""
    offers = [supply for supply in plan.supplies if isinstance(supply, OnDemand)]
    marked = [supply for supply in offers if supply.reference]
    if marked:
        return marked[0]
    priced = [supply for supply in offers if supply.usd_per_gpu_hour is not None]
    if not priced:
        return offers[0] if offers else None
    return min(priced, key=lambda supply: supply.usd_per_gpu_hour or 0.0)


def find_break_even(
    own_usd: FloatArray, rent_usd: FloatArray, first_days: Sequence[date], unmet_gpu_hours: FloatArray
) -> BreakEven | None:
    """Return the first month in which cumulative own cost is at or below cumulative rent.

    The search begins with the first month in which the two differ. `until` is the first later month in
    which own exceeds rent again. None when some amount is unknown.
    """
    if np.isnan(own_usd).any() or np.isnan(rent_usd).any():
        return None
    margin = SAME_SHARE * np.maximum(np.abs(own_usd), np.abs(rent_usd))
    differs = np.abs(own_usd - rent_usd) > margin
    if not differs.any():
        return BreakEven(None, None, same_as_baseline=True)
    cheaper = own_usd <= rent_usd + margin
    first = _first(cheaper, int(np.argmax(differs)))
    if first is None:
        return BreakEven(None, None)
    again = _first(~cheaper, first)
    unmet = float(unmet_gpu_hours[: first + 1].sum())
    return BreakEven(first + 1, first_days[first], None if again is None else again + 1, unmet)


def _first(holds: NDArray[np.bool_], start: int) -> int | None:
    places = np.flatnonzero(holds[start:])
    return int(places[0]) + start if len(places) else None


@dataclass(frozen=True)
class PaidCapacity:
    """Capacity that costs the same used or not: fixed cost in present value, hours by month, load energy."""

    fixed_present_value_usd: float
    installed_gpu_hours: FloatArray
    available_gpu_hours: FloatArray
    load_usd_per_gpu_hour: float


def utilization_terms(
    capacities: Sequence[PaidCapacity], price_path: FloatArray, end_factors: FloatArray
) -> UtilizationTerms | None:
    """Return PV(fixed costs) and PV(GPU-hours * (price of the month - load energy)); None where unknown."""
    fixed, installed, available = 0.0, 0.0, 0.0
    for capacity in capacities:
        margin = (price_path - capacity.load_usd_per_gpu_hour) * end_factors
        fixed += capacity.fixed_present_value_usd
        installed += float((capacity.installed_gpu_hours * margin).sum())
        available += float((capacity.available_gpu_hours * margin).sum())
    if np.isnan([fixed, installed, available]).any():
        return None
    return UtilizationTerms(fixed, installed, available)


def dated_utilization(fixed_usd: float, rent_usd: float) -> float | None:
    """Return u* = fixed / rent: above this share, capacity that is paid for beats renting its hours.

    None where renting is never dearer than the energy of the load, or nothing is installed.
    """
    return fixed_usd / rent_usd if rent_usd > 0.0 else None


def utilization_today(
    usd_fixed_per_year: float, gpus: float, usd_price_per_gpu_hour: float, usd_load_per_gpu_hour: float
) -> float:
    """Return annual fixed / (8760 * GPUs * (price - variable)): today's price, accounting life."""
    return usd_fixed_per_year / (HOURS_PER_YEAR * gpus * (usd_price_per_gpu_hour - usd_load_per_gpu_hour))


def break_even_hours(usd_capex: float, usd_rent_per_hour: float, usd_running_per_hour: float) -> float:
    """Return capex / (rent - running cost per hour): hours of full use, without time value."""
    return usd_capex / (usd_rent_per_hour - usd_running_per_hour)


def break_even_months(
    hours: float, utilization: float = 1.0, hours_per_month: float = HOURS_PER_MONTH
) -> float:
    """Return the calendar months it takes to use that many hours."""
    return hours / (hours_per_month * utilization)


def cumulative_own_and_rent(
    *,
    gpus: float,
    usd_capex: float,
    usd_running_per_month: float,
    lead_months: int,
    usd_rent_per_gpu_hour: float,
    utilization: float,
    price_decline_per_month: float,
    rate_per_year: float,
    hours: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return cumulative discounted cost of owning and of renting, for `hours` per month given by the caller.

    Capex at time 0; rent and running cost at month ends; the demand is rented during the lead time.
    """
    month = np.arange(1, len(hours) + 1)
    factors = (1.0 + rate_per_year) ** (-month / 12.0)
    price = usd_rent_per_gpu_hour * (1.0 - price_decline_per_month) ** (month - 1)
    rent = gpus * utilization * hours * price * factors
    own = np.where(month <= lead_months, rent, usd_running_per_month * factors)
    return usd_capex + np.cumsum(own), np.cumsum(rent)
