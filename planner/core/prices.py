"""Prices over time: the path implied by term prices, hardware trends, the value of future compute."""

import math
from dataclasses import dataclass

import numpy as np

from planner.core.ranges import ABOVE_0, AT_LEAST_0, RATE, SHARE_BELOW_1, Range, refuse, takes
from planner.core.units import MONTHS_PER_YEAR

HOURLY_PRICE = Range(1e-6, 1e12)
DOUBLING_YEARS = Range(0.01, 1e6)
YEARS_AHEAD = Range(0.0, 1_000.0)
LOG_DECLINE = Range(-100.0, 100.0)
MOST_LOG = 700.0  # e^700 is still a number


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


@takes(usd_one_year=HOURLY_PRICE, usd_three_years=HOURLY_PRICE)
def implied_path(usd_one_year: float, usd_three_years: float) -> ImpliedPath:
    """Return the mean (3 c3 - c1) / 2 and the constant ratio that solves 1 + x + x^2 = 3 c3 / c1.

    Prices are per hour. The 1-year price holds a premium for flexibility, so the market expects a smaller
    decline than this. Raises ValueError where the years after the first would have to be free.

    >>> implied = implied_path(7.20, 5.40)
    >>> round(implied.average_of_years_2_and_3, 4), round(implied.ratio_per_year, 6)
    (4.5, 0.724745)
    """
    sum_of_powers = 3.0 * usd_three_years / usd_one_year
    if sum_of_powers < 1.0:
        refuse(
            "usd_three_years",
            usd_three_years,
            f"at least a third of the one-year price {usd_one_year:g}, below that the years after the first "
            "would have to be free",
        )
    ratio = (-1.0 + float(np.sqrt(4.0 * sum_of_powers - 3.0))) / 2.0
    path = (usd_one_year, usd_one_year * ratio, usd_one_year * ratio**2)
    return ImpliedPath((3.0 * usd_three_years - usd_one_year) / 2.0, ratio, path)


@takes(doubling_years=DOUBLING_YEARS)
def improvement_per_year(doubling_years: float) -> float:
    """Return 2^(1/T2) - 1, the yearly growth of FLOP/s per dollar that doubles in T2 years.

    Source of the numbers: Epoch AI 2022, Trends in GPU price-performance (2.46 years, 95 % 2.24 to 2.72).

    >>> round(improvement_per_year(2.46), 4)
    0.3255
    """
    return float(2.0 ** (1.0 / doubling_years) - 1.0)


@takes(doubling_years=DOUBLING_YEARS)
def log_rate_per_year(doubling_years: float) -> float:
    """Return ln 2 / T2, the continuous yearly rate of what doubles in T2 years; `drift_per_month` takes it.

    >>> round(log_rate_per_year(2.46), 4)
    0.2818
    """
    return math.log(2.0) / doubling_years


@takes(doubling_years=DOUBLING_YEARS)
def years_to_ten_times(doubling_years: float) -> float:
    """Return T2 * log2(10).

    >>> round(years_to_ten_times(2.46), 2)
    8.17
    """
    return float(doubling_years * np.log2(10.0))


@takes(years_ahead=YEARS_AHEAD, halving_years=DOUBLING_YEARS, rate_per_year=RATE)
def value_of_future_compute(years_ahead: float, halving_years: float, rate_per_year: float) -> float:
    """Return 2^(-y/T2) / (1+r)^y: what a unit of compute y years ahead is worth today.

    Raises ValueError where a rate near -1 makes it too large for a number.

    >>> round(value_of_future_compute(1.0, 1.5, 0.06), 4)
    0.5943
    """
    log = -years_ahead * (log_rate_per_year(halving_years) + math.log1p(rate_per_year))
    if log > MOST_LOG:
        refuse("rate_per_year", rate_per_year, f"a number further from -1 over {years_ahead:g} years")
    return math.exp(log)


@takes(decline_per_year=LOG_DECLINE)
def drift_per_month(decline_per_year: float) -> float:
    """Return e^(-g/12) - 1: the monthly share of a continuous yearly decline g.

    >>> round(drift_per_month(0.25), 6)
    -0.020618
    """
    return float(np.expm1(-decline_per_year / MONTHS_PER_YEAR))


@takes(usd=AT_LEAST_0, volume_then=ABOVE_0, volume=ABOVE_0, learning_rate=SHARE_BELOW_1)
def learning_curve_usd(usd: float, volume_then: float, volume: float, learning_rate: float) -> float:
    """Return the unit price p0 * (Q / Q0)^(-b) at cumulative volume Q, with b = -log2(1 - learning rate).

    The learning rate is the share that the price falls by when all that was ever made doubles. It needs a
    forecast of volume; without one use the trend in time. Raises ValueError where a volume far below Q0 makes
    the price too large for a number. Source: T. P. Wright, Journal of the Aeronautical
    Sciences 3 (1936) 122.

    >>> round(learning_curve_usd(100.0, volume_then=1.0, volume=4.0, learning_rate=0.2), 9)
    64.0
    """
    exponent = -math.log2(1.0 - learning_rate)
    log = -exponent * (math.log(volume) - math.log(volume_then))
    if log > MOST_LOG:
        refuse("volume", volume, f"a number nearer to volume_then, {volume_then:g}")
    return usd * math.exp(log)
