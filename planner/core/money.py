"""Time value of money: annuities, present value conventions, depreciation, loans.

A rate is effective per year unless its name says nominal: monthly rate = (1 + r)^(1/12) - 1. An amount that
is not known is NaN in arrays and flows; what is worked out from it is NaN.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ranges import (
    ANY,
    AT_LEAST_0,
    COUNT_FROM_1,
    RATE,
    Range,
    optional,
    refuse,
    require,
    require_one_of,
    takes,
)
from planner.core.units import DAYS_PER_YEAR, MONTHS_PER_YEAR

Timing = Literal["begin", "end"]
TIMINGS: tuple[Timing, ...] = ("begin", "end")
NpvTiming = Literal["from_now", "end_of_period", "mid_period", "dated"]
NPV_LABELS: Mapping[NpvTiming, str] = {
    "from_now": "first flow today, not discounted",
    "end_of_period": "first flow after one period, as the spreadsheet function NPV",
    "mid_period": "each flow in the middle of its period",
    "dated": "by day, actual/365, from the day of the first flow",
}
MONTHS = Range(1, 12_000, whole=True)
PERIODS = COUNT_FROM_1
MOST_TOTAL = 1e21  # sums of what a plan may hold: many servers at the dearest price over decades
FLOW = Range(-MOST_TOTAL, MOST_TOTAL, unknown=True)
MAYBE_FLOW = optional(FLOW)


@takes(rate_per_year=RATE)
def monthly_rate(rate_per_year: float) -> float:
    """Return the monthly rate, or price change, that compounds to a yearly one: (1 + r)^(1/12) - 1.

    >>> round(monthly_rate(0.10), 8)
    0.00797414
    """
    return float((1.0 + rate_per_year) ** (1.0 / MONTHS_PER_YEAR) - 1.0)


@takes(nominal_rate_per_year=RATE)
def nominal_monthly_rate(nominal_rate_per_year: float) -> float:
    """Return the monthly rate of a nominal one, compounded monthly, as banks quote it: r / 12.

    >>> nominal_monthly_rate(0.12)
    0.01
    """
    return nominal_rate_per_year / MONTHS_PER_YEAR


@takes(rate=RATE, ahead=ANY)
def discount(rate: float, ahead: FloatArray, name: str = "rate_per_period") -> FloatArray:
    """Return (1 + i)^-t for times `ahead` in periods of the rate, in their shape.

    Raises ValueError, under the `name` that the caller has for the rate, where a factor is too large for a
    number, as at rates near -1 over many periods, or at large ones over as many that are past.

    >>> discount(0.25, np.array([0.0, 1.0, 2.0])).tolist()
    [1.0, 0.8, 0.64]
    """
    with np.errstate(over="ignore"):
        factors: FloatArray = (1.0 + rate) ** -np.asarray(ahead, dtype=np.float64)
    if np.isinf(factors).any():
        longest = f"{float(np.max(np.abs(ahead))):,.0f} periods"
        refuse(name, rate, f"a rate at which what is {longest} away can be told in numbers")
    return factors


@dataclass(frozen=True)
class Factors:
    """Discount factors of each month, for flows at its begin and at its end."""

    begin: FloatArray
    end: FloatArray


@takes(rate_per_year=RATE, months=MONTHS)
def discount_factors(rate_per_year: float, months: int) -> Factors:
    """Return (1 + r_m)^-(m-1) for the begin and (1 + r_m)^-m for the end of months 1..`months`.

    Both arrays have shape (months,). The first day is not discounted.

    >>> discount_factors(0.10, 12).end[-1].round(9)
    np.float64(0.909090909)
    """
    edges = discount(rate_per_year, np.arange(months + 1) / MONTHS_PER_YEAR, "rate_per_year")
    return Factors(begin=edges[:-1], end=edges[1:])


@takes(rate_per_period=RATE, periods=PERIODS)
def annuity_factor(rate_per_period: float, periods: int) -> float:
    """Return the capital recovery factor i / (1 - (1+i)^-n), which is 1/n at i = 0.

    Source: PyPSA documentation, pypsa.costs.annuity, whose example this is.

    >>> round(annuity_factor(0.07, 25), 9), annuity_factor(0.0, 20)
    (0.085810517, 0.05)
    """
    if rate_per_period == 0.0:
        return 1.0 / periods
    with np.errstate(over="ignore"):  # at negative rates over many periods: the factor is 0
        return float(-rate_per_period / np.expm1(-periods * np.log1p(rate_per_period)))


@takes(principal=FLOW, rate_per_period=RATE, periods=PERIODS)
def level_payment(principal: float, rate_per_period: float, periods: int, timing: Timing = "end") -> float:
    """Return the level payment PV * CRF(i, n) at the end of each period; at the begin divide by 1+i.

    NaN where the principal is not known. Source: numpy-financial documentation, pmt, whose example this is.

    >>> round(level_payment(200_000.0, 0.075 / 12, 180), 4)
    1854.0247
    """
    require_one_of(TIMINGS, timing=timing)
    payment = principal * annuity_factor(rate_per_period, periods)
    return payment / (1.0 + rate_per_period) if timing == "begin" else payment


@takes(principal=FLOW, rate_per_period=RATE, periods=PERIODS, paid=AT_LEAST_0)
def loan_balance(principal: float, rate_per_period: float, periods: int, paid: FloatArray) -> FloatArray:
    """Return what is still owed after `paid` of `periods` level payments, in the shape of `paid`.

    P * (1 - (1+i)^-(n-k)) / (1 - (1+i)^-n), and P * (1 - k/n) at i = 0; nothing once all are paid.

    >>> loan_balance(1000.0, 0.1, 2, np.array([0.0, 1.0, 2.0])).round(2).tolist()
    [1000.0, 523.81, 0.0]
    """
    left = np.maximum(periods - paid, 0.0)
    if rate_per_period == 0.0:
        return principal * (left / periods)
    # log1p and expm1 keep their digits at rates so small that 1 + i is 1
    log = np.log1p(rate_per_period)
    if rate_per_period > 0.0:
        return np.asarray(principal * (np.expm1(-left * log) / np.expm1(-periods * log)))
    # the same in powers that shrink: (1+i)^-n grows beyond numbers at negative rates
    share = np.expm1(left * log) / np.expm1(periods * log) * np.exp((periods - left) * log)
    return np.asarray(principal * share)


@takes(capex=FLOW, residual=FLOW, rate_per_year=RATE, years=PERIODS)
def equivalent_annual_cost(capex: float, residual: float, rate_per_year: float, years: int) -> float:
    """Return (C - S) * CRF + S * i, the yearly cost of owning with residual S after n years.

    The same as (C - S * (1+i)^-n) * CRF. NaN where an amount is not known.

    >>> round(equivalent_annual_cost(280_000.0, 28_000.0, 0.10, 5), 2)
    69276.97
    """
    return (capex - residual) * annuity_factor(rate_per_year, years) + residual * rate_per_year


@takes(flows=FLOW, rate_per_period=RATE)
def npv_from_now(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with the first flow at time 0, undiscounted (the default here).

    Source: numpy-financial documentation, npv, whose example this is.

    >>> round(npv_from_now([-40_000, 5_000, 8_000, 12_000, 30_000], 0.08), 5)
    3065.22267
    """
    return _discounted(flows, rate_per_period, float)


@takes(flows=FLOW, rate_per_period=RATE)
def npv_end_of_period(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with the first flow after one period, as the spreadsheet's NPV does.

    Source: Microsoft Excel documentation, function NPV, whose example this is.

    >>> round(npv_end_of_period([-10_000, 3_000, 4_200, 6_800], 0.10), 2)
    1188.44
    """
    return _discounted(flows, rate_per_period, lambda k: k + 1.0)


@takes(flows=FLOW, rate_per_period=RATE)
def npv_mid_period(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with each flow in the middle of its period.

    >>> round(npv_mid_period([110.0], 0.21), 6)
    100.0
    """
    return _discounted(flows, rate_per_period, lambda k: k + 0.5)


@takes(rate_per_year=RATE)
def npv_dated(flows: Sequence[tuple[date, float]], rate_per_year: float) -> float:
    """Return the present value on the first flow's date, counting days: (1+r)^-(days/365).

    365 days to the year in leap years too, as the spreadsheet function XNPV. Raises ValueError without flows.

    >>> round(npv_dated([(date(2027, 1, 1), -100.0), (date(2028, 1, 1), 110.0)], 0.10), 9)
    0.0
    """
    if not flows:
        refuse("flows", flows, "at least one (day, amount)")
    require(FLOW, flows=[usd for _, usd in flows])
    first = flows[0][0]
    years = np.array([(day - first).days / DAYS_PER_YEAR for day, _ in flows])
    factors = discount(rate_per_year, years, "rate_per_year")
    return float(sum(usd * factor for (_, usd), factor in zip(flows, factors.tolist(), strict=True)))


def _discounted(
    flows: Sequence[float], rate: float, time_of: Callable[[int], float], name: str = "rate_per_period"
) -> float:
    factors = discount(rate, np.array([time_of(k) for k in range(len(flows))]), name)
    return float(sum(flow * factor for flow, factor in zip(flows, factors.tolist(), strict=True)))


@dataclass(frozen=True)
class PresentValue:
    """A present value and the convention it was taken by. `usd` is None where a flow is not known."""

    usd: float | None
    timing: NpvTiming
    label: str


@takes(flows=MAYBE_FLOW, rate_per_year=RATE, periods_per_year=COUNT_FROM_1)
def present_value(
    flows: Sequence[float | None],
    rate_per_year: float,
    timing: NpvTiming = "from_now",
    *,
    periods_per_year: int = 1,
    days: Sequence[date] | None = None,
) -> PresentValue:
    """Return the present value of equally spaced flows by one of the four conventions, with its label.

    A flow t years ahead counts (1 + r)^-t, t being periods / periods per year. The dated convention
    takes the day of each flow from `days` instead. A flow that is not known makes the value None. Raises
    ValueError for another convention, and for dated flows without a day each.

    >>> value = present_value([-10_000, 3_000, 4_200, 6_800], 0.10)
    >>> round(value.usd, 2), value.label
    (1307.29, 'first flow today, not discounted')
    """
    require_one_of(tuple(NPV_LABELS), timing=timing)
    if timing == "dated" and (days is None or len(days) != len(flows)):
        refuse(
            "days", None if days is None else f"{len(days)} days", f"one day for each of {len(flows)} flows"
        )
    known = [usd for usd in flows if usd is not None and not np.isnan(usd)]
    if len(known) < len(flows):
        return PresentValue(None, timing, NPV_LABELS[timing])
    if timing == "dated":
        usd = npv_dated(list(zip(days or (), known, strict=True)), rate_per_year)
    else:
        shift = _PERIODS_TO_FIRST_FLOW[timing]
        usd = _discounted(known, rate_per_year, lambda k: (k + shift) / periods_per_year, "rate_per_year")
    return PresentValue(usd, timing, NPV_LABELS[timing])


_PERIODS_TO_FIRST_FLOW: Mapping[NpvTiming, float] = {"from_now": 0.0, "end_of_period": 1.0, "mid_period": 0.5}


@takes(capex=FLOW, residual=FLOW, periods=PERIODS)
def straight_line_charge(capex: float, residual: float, periods: int) -> float:
    """Return the charge of one period: (C - S) / n. NaN where an amount is not known.

    >>> straight_line_charge(1_000.0, 100.0, 9)
    100.0
    """
    return (capex - residual) / periods


@takes(capex=FLOW, residual=FLOW, periods=PERIODS, elapsed=ANY)
def book_value(capex: float, residual: float, periods: int, elapsed: FloatArray) -> FloatArray:
    """Return C - k * (C - S) / n after k periods, and S once the accounting life is over.

    `elapsed` may be negative (not yet in service: C); the answer has its shape.

    >>> book_value(1_000.0, 100.0, 9, np.array([0.0, 4.0, 12.0])).tolist()
    [1000.0, 600.0, 100.0]
    """
    return capex - np.clip(elapsed, 0, periods) * straight_line_charge(capex, residual, periods)


@takes(months_in_service=AT_LEAST_0)
def residual_share_by_age(months_in_service: FloatArray) -> FloatArray:
    """Return the resale share of all capex: 100 % new, 25 % at 36 months, 10 % from 60; straight between.

    A planning default without a published source; real sales range from 0 to 50 %.

    >>> residual_share_by_age(np.array([0.0, 36.0, 48.0, 99.0])).round(3).tolist()
    [1.0, 0.25, 0.175, 0.1]
    """
    return np.interp(months_in_service, [0.0, 36.0, 60.0], [1.0, 0.25, 0.10])
