"""Time value of money: annuities, present value conventions, depreciation, loans.

A rate is effective per year unless its name says nominal: monthly rate = (1 + r)^(1/12) - 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.units import MONTHS_PER_YEAR

Timing = Literal["begin", "end"]
DAYS_PER_YEAR = 365  # the "dated" convention is actual/365


def monthly_rate(rate_per_year: float) -> float:
    """Return the monthly rate, or price change, that compounds to a yearly one: (1 + r)^(1/12) - 1."""
    return float((1.0 + rate_per_year) ** (1.0 / MONTHS_PER_YEAR) - 1.0)


def nominal_monthly_rate(nominal_rate_per_year: float) -> float:
    """Return the monthly rate of a nominal one, compounded monthly, as banks quote it: r / 12."""
    return nominal_rate_per_year / MONTHS_PER_YEAR


@dataclass(frozen=True)
class Factors:
    """Discount factors of each month, for flows at its begin and at its end."""

    begin: FloatArray
    end: FloatArray


def discount_factors(rate_per_year: float, months: int) -> Factors:
    """Return (1 + r_m)^-(m-1) for the begin and (1 + r_m)^-m for the end of months 1..`months`."""
    edges = (1.0 + rate_per_year) ** (-np.arange(months + 1) / MONTHS_PER_YEAR)
    return Factors(begin=edges[:-1], end=edges[1:])


def annuity_factor(rate_per_period: float, periods: int) -> float:
    """Return the capital recovery factor i / (1 - (1+i)^-n), which is 1/n at i = 0.

    >>> annuity_factor(0.0, 20)
    0.05
    """
    if rate_per_period == 0.0:
        return 1.0 / periods
    return float(-rate_per_period / np.expm1(-periods * np.log1p(rate_per_period)))


def level_payment(principal: float, rate_per_period: float, periods: int, timing: Timing = "end") -> float:
    """Return the level payment PV * CRF(i, n) at the end of each period; at the begin divide by 1+i."""
    payment = principal * annuity_factor(rate_per_period, periods)
    return payment / (1.0 + rate_per_period) if timing == "begin" else payment


def loan_balance(principal: float, rate_per_period: float, periods: int, paid: FloatArray) -> FloatArray:
    """Return what is still owed after `paid` of `periods` level payments."""
    if rate_per_period == 0.0:
        return principal * (1.0 - paid / periods)
    growth = (1.0 + rate_per_period) ** paid
    final = (1.0 + rate_per_period) ** periods
    return principal * (final - growth) / (final - 1.0)


def equivalent_annual_cost(capex: float, residual: float, rate_per_year: float, years: int) -> float:
    """Return (C - S) * CRF + S * i, the yearly cost of owning with residual S after n years."""
    return (capex - residual) * annuity_factor(rate_per_year, years) + residual * rate_per_year


def npv_from_now(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with the first flow at time 0, undiscounted (the default here)."""
    return _discounted(flows, rate_per_period, float)


def npv_end_of_period(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with the first flow after one period, as the spreadsheet's NPV does."""
    return _discounted(flows, rate_per_period, lambda k: k + 1.0)


def npv_mid_period(flows: Sequence[float], rate_per_period: float) -> float:
    """Return the present value with each flow in the middle of its period."""
    return _discounted(flows, rate_per_period, lambda k: k + 0.5)


def npv_dated(flows: Sequence[tuple[date, float]], rate_per_year: float) -> float:
    """Return the present value on the first flow's date, counting days: (1+r)^-(days/365)."""
    first = flows[0][0]
    return float(
        sum(usd * (1.0 + rate_per_year) ** (-(day - first).days / DAYS_PER_YEAR) for day, usd in flows)
    )


def _discounted(flows: Sequence[float], rate: float, time_of: Callable[[int], float]) -> float:
    return float(sum(flow * (1.0 + rate) ** -time_of(k) for k, flow in enumerate(flows)))


def straight_line_charge(capex: float, residual: float, periods: int) -> float:
    """Return the charge of one period: (C - S) / n."""
    return (capex - residual) / periods


def book_value(capex: float, residual: float, periods: int, elapsed: FloatArray) -> FloatArray:
    """Return C - k * (C - S) / n after k periods, and S once the accounting life is over."""
    return capex - np.clip(elapsed, 0, periods) * straight_line_charge(capex, residual, periods)


def residual_share_by_age(months_in_service: FloatArray) -> FloatArray:
    """Return the resale share of all capex: 100 % new, 25 % at 36 months, 10 % from 60; straight between."""
    return np.interp(months_in_service, [0.0, 36.0, 60.0], [1.0, 0.25, 0.10])
