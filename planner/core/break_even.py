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
from planner.core.money import FLOW
from planner.core.plan import BreakEven, OnDemand, Plan, UtilizationTerms
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    RATE,
    SHARE,
    SHARE_ABOVE_0,
    Range,
    optional,
    refuse,
    require_fields,
    takes,
    with_unknown,
)
from planner.core.units import HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR

Numbers = float | FloatArray
# Two cumulative costs closer than this share are the same amount, added up in another order.
SAME_SHARE = 1e-9
MAYBE_AMOUNT = with_unknown(AT_LEAST_0)
DECLINE = Range(-1.0, 1.0, below=True)  # of a price in a month; negative where it rises


def reference_supply(plan: Plan) -> OnDemand | None:
    """Return the on-demand supply marked as reference; unmarked, the cheapest known in month 1.

    Unmarked, an offer of another GPU model counts only where there is none of the plan's: its hour does other
    work. One that is marked is taken at its price, hour for hour. None where the plan has no on-demand
    supply; one without a price where none has a price.

    >>> offers = OnDemand("a", 4.0), OnDemand("b", 3.0)
    >>> reference_supply(Plan("p", date(2027, 1, 1), 12, "H100", workloads=(), supplies=offers)).name
    'b'
    """
    offers = [supply for supply in plan.supplies if isinstance(supply, OnDemand)]
    marked = [supply for supply in offers if supply.reference]
    if marked:
        return marked[0]
    offers = [supply for supply in offers if supply.gpu_model in ("", plan.gpu_model)] or offers
    priced = [supply for supply in offers if supply.usd_per_gpu_hour is not None]
    if not priced:
        return offers[0] if offers else None
    return min(priced, key=lambda supply: supply.usd_per_gpu_hour or 0.0)


@takes(own_usd=FLOW, rent_usd=FLOW, unmet_gpu_hours=AT_LEAST_0)
def find_break_even(
    own_usd: FloatArray, rent_usd: FloatArray, first_days: Sequence[date], unmet_gpu_hours: FloatArray
) -> BreakEven | None:
    """Return the first month in which cumulative own cost is at or below cumulative rent.

    The arrays hold one number a month. The search begins with the first month in which the two differ.
    `until` is the first later month in which own exceeds rent again. None when some amount is unknown (NaN).
    Raises ValueError where the arrays differ in length.

    >>> days = [date(2027, 1, 1), date(2027, 2, 1)]
    >>> find_break_even(np.array([5.0, 6.0]), np.array([4.0, 8.0]), days, np.zeros(2)).month
    2
    """
    months = len(own_usd)
    _require_months(
        months, rent_usd=len(rent_usd), first_days=len(first_days), unmet_gpu_hours=len(unmet_gpu_hours)
    )
    if np.isnan(own_usd).any() or np.isnan(rent_usd).any():
        return None
    differs, cheaper = _compared(own_usd, rent_usd)
    if not differs.any():
        return BreakEven(None, None, same_as_baseline=True)
    first = _first(cheaper, int(np.argmax(differs)))
    if first is None:
        return BreakEven(None, None)
    again = _first(~cheaper, first)
    unmet = float(unmet_gpu_hours[: first + 1].sum())
    return BreakEven(first + 1, first_days[first], None if again is None else again + 1, unmet)


def _require_months(months: int, **given: int) -> None:
    for name, count in given.items():
        if count != months:
            refuse(name, f"{count} months", f"as many as own_usd has, {months}")


def _compared(own_usd: FloatArray, rent_usd: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which months the two differ, and in which own is at or below rent."""
    margin = SAME_SHARE * np.maximum(np.abs(own_usd), np.abs(rent_usd))
    return np.abs(own_usd - rent_usd) > margin, own_usd <= rent_usd + margin


def _first(holds: NDArray[np.bool_], start: int) -> int | None:
    places = np.flatnonzero(holds[start:])
    return int(places[0]) + start if len(places) else None


@takes(own_usd=FLOW, rent_usd=FLOW)
def break_even_month_of_each(own_usd: FloatArray, rent_usd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return month and `until` of find_break_even for every row at once: inf is never, NaN unknown.

    Both arrays are (..., months) of cumulative cost; the answers are (...). Rows that never differ are never.
    Raises ValueError where the two hold different numbers of months.

    >>> own = np.array([[5.0, 6.0, 9.0], [9.0, 9.0, 9.0], [np.nan, 1.0, 1.0]])
    >>> [answer.tolist() for answer in break_even_month_of_each(own, np.array([4.0, 8.0, 8.0]))]
    [[2.0, inf, nan], [3.0, inf, nan]]
    """
    _require_months(own_usd.shape[-1], rent_usd=rent_usd.shape[-1])
    own, rent = np.broadcast_arrays(own_usd, rent_usd)
    differs, cheaper = _compared(own, rent)
    reached = cheaper & np.logical_or.accumulate(differs, axis=-1)
    again = ~cheaper & np.logical_or.accumulate(reached, axis=-1)
    unknown = np.isnan(own).any(axis=-1) | np.isnan(rent).any(axis=-1)
    return _first_of_each(reached, unknown), _first_of_each(again, unknown)


def _first_of_each(holds: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> FloatArray:
    month = np.where(holds.any(axis=-1), np.argmax(holds, axis=-1) + 1.0, np.inf)
    return np.where(unknown, np.nan, month)


@dataclass(frozen=True)
class PaidCapacity:
    """Capacity that costs the same used or not: fixed cost in present value, hours by month, load energy.

    What is not known is NaN.
    """

    fixed_present_value_usd: float
    installed_gpu_hours: FloatArray
    available_gpu_hours: FloatArray
    load_usd_per_gpu_hour: float

    def __post_init__(self) -> None:
        """Refuse hours and costs outside their range."""
        require_fields(
            self,
            fixed_present_value_usd=FLOW,
            installed_gpu_hours=MAYBE_AMOUNT,
            available_gpu_hours=MAYBE_AMOUNT,
            load_usd_per_gpu_hour=MAYBE_AMOUNT,
        )


@takes(price_path=MAYBE_AMOUNT, end_factors=ABOVE_0)
def utilization_terms(
    capacities: Sequence[PaidCapacity], price_path: FloatArray, end_factors: FloatArray
) -> UtilizationTerms | None:
    """Return PV(fixed costs) and PV(GPU-hours * (price of the month - load energy)); None where unknown.

    `price_path` (USD per GPU-hour) and `end_factors` have one number a month.

    >>> capacity = PaidCapacity(260.0, np.array([100.0]), np.array([90.0]), 0.0)
    >>> utilization_terms([capacity], np.array([4.0]), np.array([1.0])).rent_of_installed_usd
    400.0
    """
    fixed, installed, available = 0.0, 0.0, 0.0
    for capacity in capacities:
        margin = (price_path - capacity.load_usd_per_gpu_hour) * end_factors
        fixed += capacity.fixed_present_value_usd
        installed += float((capacity.installed_gpu_hours * margin).sum())
        available += float((capacity.available_gpu_hours * margin).sum())
    if np.isnan([fixed, installed, available]).any():
        return None
    return UtilizationTerms(fixed, installed, available)


@takes(fixed_usd=FLOW, rent_usd=FLOW)
def dated_utilization(fixed_usd: float, rent_usd: float) -> float | None:
    """Return u* = fixed / rent: above this share, capacity that is paid for beats renting its hours.

    Both in present value. None where renting is never dearer than the energy of the load, or nothing is
    installed. Above 1, owning never pays.

    >>> dated_utilization(260.0, 400.0)
    0.65
    """
    return fixed_usd / rent_usd if rent_usd > 0.0 else None


@takes(
    usd_fixed_per_year=AT_LEAST_0,
    gpus=ABOVE_0,
    usd_price_per_gpu_hour=AT_LEAST_0,
    usd_load_per_gpu_hour=AT_LEAST_0,
)
def utilization_today(
    usd_fixed_per_year: float, gpus: float, usd_price_per_gpu_hour: float, usd_load_per_gpu_hour: float
) -> float | None:
    """Return annual fixed / (8760 * GPUs * (price - variable)): today's price, accounting life.

    A share of installed hours. None where renting is not dearer than the energy of the load.

    >>> utilization_today(35_040.0, 8, 1.25, 0.25)
    0.5
    """
    margin = usd_price_per_gpu_hour - usd_load_per_gpu_hour
    return dated_utilization(usd_fixed_per_year, HOURS_PER_YEAR * gpus * margin)


@takes(usd_capex=AT_LEAST_0, usd_rent_per_hour=AT_LEAST_0, usd_running_per_hour=AT_LEAST_0)
def break_even_hours(usd_capex: float, usd_rent_per_hour: float, usd_running_per_hour: float) -> float | None:
    """Return capex / (rent - running cost per hour): hours of full use, without time value.

    None where renting is not dearer than running: never. Source of the example: Lenovo Press LP2225 (2025).

    >>> round(break_even_hours(833_806.0, 98.32, 0.87), 2)
    8556.24
    """
    margin = usd_rent_per_hour - usd_running_per_hour
    return usd_capex / margin if margin > 0.0 else None


@takes(hours=optional(AT_LEAST_0), utilization=SHARE_ABOVE_0, hours_per_month=ABOVE_0)
def break_even_months(
    hours: float | None, utilization: float = 1.0, hours_per_month: float = HOURS_PER_MONTH
) -> float | None:
    """Return the calendar months it takes to use that many hours: H / (730 * utilization). None stays None.

    >>> round(break_even_months(8556.24, hours_per_month=720.0), 2)
    11.88
    """
    return None if hours is None else hours / (hours_per_month * utilization)


@takes(
    gpus=MAYBE_AMOUNT,
    usd_capex=MAYBE_AMOUNT,
    usd_running_per_month=MAYBE_AMOUNT,
    lead_months=COUNT,
    usd_rent_per_gpu_hour=MAYBE_AMOUNT,
    utilization=SHARE,
    price_decline_per_month=DECLINE,
    rate_per_year=RATE,
    hours=AT_LEAST_0,
    usd_load_per_gpu_hour=MAYBE_AMOUNT,
)
def cumulative_own_and_rent(
    *,
    gpus: Numbers,
    usd_capex: Numbers,
    usd_running_per_month: Numbers,
    lead_months: Numbers,
    usd_rent_per_gpu_hour: Numbers,
    utilization: Numbers,
    price_decline_per_month: Numbers,
    rate_per_year: Numbers,
    hours: FloatArray,
    usd_load_per_gpu_hour: Numbers = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Return cumulative discounted cost of owning and of renting, for `hours` per month given by the caller.

    Capex at time 0; rent and running cost at month ends; the demand is rented during the lead time. Energy of
    the load is paid per GPU-hour used. Numbers may be arrays that broadcast to a shape; the answers then have
    that shape and the months after it. NaN is an unknown amount.

    >>> own, rent = cumulative_own_and_rent(gpus=1, usd_capex=100.0, usd_running_per_month=1.0, lead_months=1,
    ...     usd_rent_per_gpu_hour=2.0, utilization=0.5, price_decline_per_month=0.5, rate_per_year=0.0,
    ...     hours=np.array([40.0, 40.0]))
    >>> own.tolist(), rent.tolist()
    ([140.0, 141.0], [40.0, 60.0])
    """
    month = np.arange(1, len(hours) + 1)
    factors = (1.0 + _by_month(rate_per_year)) ** (-month / MONTHS_PER_YEAR)
    price = _by_month(usd_rent_per_gpu_hour) * (1.0 - _by_month(price_decline_per_month)) ** (month - 1)
    used = _by_month(gpus) * _by_month(utilization) * hours
    rent = used * price * factors
    running = (_by_month(usd_running_per_month) + used * _by_month(usd_load_per_gpu_hour)) * factors
    own = np.where(month <= _by_month(lead_months), rent, running)
    return _by_month(usd_capex) + np.cumsum(own, axis=-1), np.cumsum(rent, axis=-1)


def _by_month(values: Numbers) -> FloatArray:
    """Return the numbers with an axis for the months at the end."""
    return np.asarray(values, dtype=np.float64)[..., None]
