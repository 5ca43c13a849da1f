"""Prices over time: the path implied by term prices, hardware trends, the value of future compute."""

from dataclasses import dataclass

import numpy as np

from planner.core.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class ImpliedPath:
    """What a 1-year and a 3-year price say about the years between, an upper estimate of the decline."""

    average_of_years_2_and_3: float
    ratio_per_year: float
    path: tuple[float, float, float]

    @property
    def decline_per_year(self) -> float:
        """Return 1 - ratio."""
        return 1.0 - self.ratio_per_year


def implied_path(usd_one_year: float, usd_three_years: float) -> ImpliedPath:
    """Return the mean (3 c3 - c1) / 2 and the constant ratio that solves 1 + x + x^2 = 3 c3 / c1."""
    sum_of_powers = 3.0 * usd_three_years / usd_one_year
    if sum_of_powers < 1.0:
        raise ValueError(
            f"usd_three_years is {usd_three_years:g}; right would be at least a third of the one-year price "
            f"{usd_one_year:g}, below that the years after the first would have to be free"
        )
    ratio = (-1.0 + float(np.sqrt(4.0 * sum_of_powers - 3.0))) / 2.0
    path = (usd_one_year, usd_one_year * ratio, usd_one_year * ratio**2)
    return ImpliedPath((3.0 * usd_three_years - usd_one_year) / 2.0, ratio, path)


def improvement_per_year(doubling_years: float) -> float:
    """Return 2^(1/T2) - 1."""
    return float(2.0 ** (1.0 / doubling_years) - 1.0)


def years_to_ten_times(doubling_years: float) -> float:
    """Return T2 * log2(10)."""
    return float(doubling_years * np.log2(10.0))


def value_of_future_compute(years_ahead: float, halving_years: float, rate_per_year: float) -> float:
    """Return 2^(-y/T2) / (1+r)^y: what a unit of compute y years ahead is worth today."""
    return float(2.0 ** (-years_ahead / halving_years) / (1.0 + rate_per_year) ** years_ahead)


def drift_per_month(decline_per_year: float) -> float:
    """Return e^(-g/12) - 1: the monthly share of a continuous yearly decline g.

    >>> round(drift_per_month(0.25), 6)
    -0.020618
    """
    return float(np.expm1(-decline_per_year / MONTHS_PER_YEAR))
