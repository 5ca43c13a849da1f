"""When to replace owned servers: the life with the lowest yearly cost, and the year to switch old ones off.

Years run from the purchase; running costs are paid at the end of each, the residual is had at the end of the
life. Source: equivalent annual cost of a chain of replacements, Brealey, Myers, Allen, Principles of
Corporate Finance, "Equivalent annual cash flows".
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.money import annuity_factor, discount
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    RATE,
    SHARE,
    Range,
    optional,
    refuse,
    takes,
    with_unknown,
)
from planner.core.units import MONTHS_PER_YEAR

MAYBE_AMOUNT = with_unknown(AT_LEAST_0)
YEARS = Range(1, 1_000, whole=True)


@takes(usd_server=AT_LEAST_0, share_per_year=SHARE, warranty_months=COUNT, years=YEARS)
def maintenance_by_year(
    usd_server: float, share_per_year: float, warranty_months: int, years: int
) -> FloatArray:
    """Return the maintenance of years 1..`years`: nothing under warranty, then a share of the server's price.

    A year in which the warranty ends pays for the months after it.

    >>> maintenance_by_year(250_000.0, 0.08, 36, 5).tolist()
    [0.0, 0.0, 0.0, 20000.0, 20000.0]
    """
    last_months = MONTHS_PER_YEAR * np.arange(1, years + 1)
    due = np.clip(last_months - warranty_months, 0, MONTHS_PER_YEAR) / MONTHS_PER_YEAR
    return usd_server * share_per_year * due


@dataclass(frozen=True)
class Refresh:
    """The life to plan for, and the yearly cost of each life from 1 year up (shape (years,), NaN unknown).

    `years` and `usd` are None where a cost is unknown. `is_last` says that the longest life tried is the
    best: then try longer ones.
    """

    years: int | None
    usd: float | None
    usd_by_years: FloatArray
    is_last: bool


@takes(usd_capex=MAYBE_AMOUNT, residual_usd=MAYBE_AMOUNT, running_usd=MAYBE_AMOUNT, rate_per_year=RATE)
def lowest_annual_cost(
    usd_capex: float, residual_usd: FloatArray, running_usd: FloatArray, rate_per_year: float
) -> Refresh:
    """Return the life n with the lowest EAC(n) = (C - S(n) v^n + sum of running(t) v^t for t to n) * CRF(n).

    `residual_usd` and `running_usd` (maintenance, energy, colocation, staff) are by year, shape (N,). Of
    equal lives the shortest. A chain of equal replacements without end costs EAC / i in present value. NaN
    is unknown and makes the answer unknown. Raises ValueError where the two differ in length or are empty.

    >>> best = lowest_annual_cost(1000.0, np.array([600.0, 300.0, 0.0]), np.array([0.0, 100.0, 550.0]), 0.0)
    >>> best.years, best.usd_by_years.tolist()
    (1, [400.0, 400.0, 550.0])
    """
    present = _present_value_by_life(usd_capex, residual_usd, running_usd, rate_per_year)
    factors = [annuity_factor(rate_per_year, life) for life in range(1, len(present) + 1)]
    return _lowest(present * np.array(factors))


@takes(
    usd_capex=MAYBE_AMOUNT,
    residual_usd=MAYBE_AMOUNT,
    running_usd=MAYBE_AMOUNT,
    rate_per_year=RATE,
    improvement_per_year=AT_LEAST_0,
)
def lowest_cost_of_work(
    usd_capex: float,
    residual_usd: FloatArray,
    running_usd: FloatArray,
    rate_per_year: float,
    improvement_per_year: float,
) -> Refresh:
    """Return the life n with the lowest cost per unit of work, when new machines do more for the same money.

    One unit is the first year's work of a machine that is new then. In year t the machine bought at the
    start does (1 + g)^-(t-1) of what a new one does, so its cost per unit is PV(costs of n years) / sum of
    (1 + g)^-(t-1) v^t. The same life is best for a chain without end in which each replacement gives the
    same work for (1 + g)^-n of the money. With g = 0 this is EAC(n).

    >>> costs = np.array([500.0, 300.0, 100.0]), np.array([0.0, 50.0, 100.0])
    >>> lowest_annual_cost(1000.0, *costs, 0.0).years, lowest_cost_of_work(1000.0, *costs, 0.0, 1.0).years
    (3, 1)
    """
    present = _present_value_by_life(usd_capex, residual_usd, running_usd, rate_per_year)
    year = np.arange(1.0, len(present) + 1)
    work = (1.0 + improvement_per_year) ** (1.0 - year) * discount(rate_per_year, year, "rate_per_year")
    return _lowest(present / np.cumsum(work))


def _present_value_by_life(
    usd_capex: float, residual_usd: FloatArray, running_usd: FloatArray, rate_per_year: float
) -> FloatArray:
    if len(residual_usd) != len(running_usd) or not len(residual_usd):
        refuse(
            "running_usd", f"{len(running_usd)} years", f"as many as residual_usd has, {len(residual_usd)}"
        )
    factors = discount(rate_per_year, np.arange(1.0, len(residual_usd) + 1), "rate_per_year")
    present: FloatArray = usd_capex - residual_usd * factors + np.cumsum(running_usd * factors)
    return present


def _lowest(usd_by_years: FloatArray) -> Refresh:
    if np.isnan(usd_by_years).any():
        return Refresh(None, None, usd_by_years, is_last=False)
    # of lives that cost the same but for rounding, the shortest
    lowest = float(usd_by_years.min())
    best = int(np.argmax(usd_by_years <= lowest + 1e-12 * abs(lowest)))
    return Refresh(best + 1, float(usd_by_years[best]), usd_by_years, best == len(usd_by_years) - 1)


@dataclass(frozen=True)
class Retirement:
    """The year in which to switch old machines off; `year` None is never within the years given.

    Where `is_known` is False a cost is missing and `year` says nothing.
    """

    year: int | None
    is_known: bool = True


@takes(
    running_usd=MAYBE_AMOUNT,
    work_per_year=ABOVE_0,
    new_usd_per_work=optional(AT_LEAST_0),
    improvement_per_year=AT_LEAST_0,
)
def year_to_retire(
    running_usd: FloatArray,
    work_per_year: float,
    new_usd_per_work: float | None,
    improvement_per_year: float,
) -> Retirement:
    """Return the first year in which running the old costs more per unit of work than a new one in full.

    Old: running(t) / work. New: today's full cost per unit (capital, energy, everything) / (1 + g)^(t-1). The
    capital of the old machine is spent and counts no more. Source: models of replacement as in Terborgh,
    Dynamic Equipment Policy (1949).

    >>> year_to_retire(np.array([30.0, 30.0, 40.0]), 10.0, 5.0, 0.30)
    Retirement(year=3, is_known=True)
    """
    if new_usd_per_work is None or np.isnan(running_usd).any():
        return Retirement(None, is_known=False)
    new = new_usd_per_work * (1.0 + improvement_per_year) ** -np.arange(len(running_usd))
    dearer = running_usd / work_per_year > new
    return Retirement(int(np.argmax(dearer)) + 1 if dearer.any() else None)
