"""Read a simulation: quantiles with their errors, how often a plan is cheapest, regret, the bad tail."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.plan import View
from planner.core.ranges import ANY, PROBABILITY_INSIDE, SHARE_BELOW_1, refuse, takes, with_unknown
from planner.core.uncertainty.draws import standard_error_of_share
from planner.core.uncertainty.simulate import Simulated

Z_95 = NormalDist().inv_cdf(0.975)
# Plans whose unmet hours differ by less than this share of the demand did the same work.
SAME_WORK_SHARE = 1e-3


@dataclass(frozen=True)
class Quantile:
    """A quantile of the draws with its 95 % interval by order statistics and a standard error from it."""

    rank: float
    value: float
    low: float
    high: float

    @property
    def standard_error(self) -> float:
        return (self.high - self.low) / (2.0 * Z_95)


@dataclass(frozen=True)
class Spread:
    """What an amount looks like over all draws. None where some input is unknown."""

    p10: Quantile
    p50: Quantile
    p90: Quantile
    mean: float
    standard_error: float
    count: int


@takes(values=ANY, rank=PROBABILITY_INSIDE)
def quantile(values: FloatArray, rank: float) -> Quantile:
    """Return a quantile with the 95 % interval at ranks n q -+ 1.96 sqrt(n q (1 - q)) (order statistics).

    >>> found = quantile(np.arange(1.0, 2001.0), 0.9)
    >>> found.low, found.high
    (1774.0, 1827.0)
    """
    ordered = np.sort(values)
    count = len(ordered)
    middle, reach = count * rank, Z_95 * np.sqrt(count * rank * (1.0 - rank))
    low, high = int(np.floor(middle - reach)), int(np.ceil(middle + reach))
    last = count - 1
    value = float(np.quantile(ordered, rank))
    below, above = ordered[min(max(low, 0), last)], ordered[min(max(high - 1, 0), last)]
    return Quantile(rank, value, float(below), float(above))


@takes(values=with_unknown(ANY))
def spread(values: FloatArray) -> Spread | None:
    """Return P10, P50, P90, mean and standard error s / sqrt(n); None where the values are unknown (NaN)."""
    if np.isnan(values).any():
        return None
    count = len(values)
    error = float(values.std(ddof=1) / np.sqrt(count)) if count > 1 else 0.0
    p10, p50, p90 = (quantile(values, rank) for rank in (0.1, 0.5, 0.9))
    return Spread(p10, p50, p90, float(values.mean()), error, count)


@dataclass(frozen=True)
class Chance:
    """How often a plan is the cheapest of those compared, and by what it is off when it is not.

    `regret_mean` and `regret_p90` are over the draws that can be compared.
    """

    plan: str
    probability: float
    standard_error: float
    regret_mean: float
    regret_p90: float


@dataclass(frozen=True)
class Contest:
    """Plans against each other. Draws in which they leave different work undone cannot be compared."""

    chances: tuple[Chance, ...]
    comparable_share: float
    count: int


def contest(simulated: Sequence[Simulated], view: View) -> Contest | None:
    """Return how often each plan is cheapest, with standard error sqrt(p (1 - p) / n), and its regret.

    A draw counts for the cheapest plan; equal costs share it. Draws in which unmet hours differ by more than
    a thousandth of the demand count for none. None where some total is unknown, or no draw can be compared.
    Raises ValueError for fewer than two plans or draws of another number.
    """
    if len(simulated) < 2:
        refuse("simulated", f"{len(simulated)} plans", "at least two plans")
    totals = np.array([each.total[view] for each in simulated])
    if np.isnan(totals).any():
        return None
    alike = comparable(simulated)
    if not alike.any():
        return None
    best = totals.min(axis=0)
    wins = (totals <= best + np.abs(best) * 1e-12) & alike
    shares = wins / np.maximum(wins.sum(axis=0), 1)
    regrets = (totals - best)[:, alike]
    count = totals.shape[1]
    chances = []
    for row, each in enumerate(simulated):
        probability = min(float(shares[row].mean()), 1.0)
        error = standard_error_of_share(probability, count)
        mean, p90 = float(regrets[row].mean()), float(np.quantile(regrets[row], 0.9))
        chances.append(Chance(each.plan.name, probability, error, mean, p90))
    return Contest(tuple(chances), float(alike.mean()), count)


def comparable(simulated: Sequence[Simulated]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return the draws in which all plans leave the same work undone."""
    unmet = np.array([each.unmet_gpu_hours for each in simulated])
    demand = np.array([each.demand_gpu_hours for each in simulated]).max(axis=0)
    return np.asarray(unmet.max(axis=0) - unmet.min(axis=0) <= SAME_WORK_SHARE * demand)


def difference(one: Simulated, other: Simulated, view: View) -> Spread | None:
    """Return the spread of one total less another, draw by draw: quantiles of the difference."""
    return spread(one.total[view] - other.total[view])


@takes(values=with_unknown(ANY), level=SHARE_BELOW_1)
def cvar(values: FloatArray, level: float) -> float | None:
    """Return the mean of the worst (dearest) 1 - level share of the draws; None where unknown.

    The draw at the edge counts in part. Source: Rockafellar and Uryasev 2000.

    >>> cvar(np.array([1.0, 2.0, 3.0, 4.0]), 0.5)
    3.5
    """
    if np.isnan(values).any():
        return None
    ordered = np.sort(values)[::-1]
    share = (1.0 - level) * len(ordered)
    whole = int(np.floor(share + 1e-9))
    rest = max(share - whole, 0.0)
    total = float(ordered[:whole].sum()) + (rest * float(ordered[whole]) if whole < len(ordered) else 0.0)
    return total / share


@takes(rank=PROBABILITY_INSIDE)
def cash_band(simulated: Simulated, rank: float) -> FloatArray:
    """Return a quantile of the cash of each month. Quantiles of months do not add up to one of the total."""
    return np.asarray(np.quantile(simulated.cash_usd_by_month, rank, axis=1))
