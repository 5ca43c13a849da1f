"""What a level costs if demand turns out otherwise, and how much it would be regretted.

Each scenario is an hourly series of the same hours, such as demand at P10, P50 and P90. The regret of a level
in a scenario is its cost there less that of the best level there: never negative.
Source of minimax regret: L. J. Savage, The Theory of Statistical Decision, JASA 46 (1951) 55.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.level import (
    CommitmentSize,
    best_level,
    best_level_on_curve,
    costs_on_curve,
    require_whole_instances,
)
from planner.core.commitments.load_curve import GPUS, SAME_SHARE, load_curve, scenario_weights
from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, SHARE, optional, refuse, require, takes


@dataclass(frozen=True)
class RegretOfLevel:
    """One level in one scenario; US dollars, weighted."""

    scenario: str
    gpus: int
    usd: float
    best_gpus: int
    usd_best: float

    @property
    def usd_regret(self) -> float:
        """Return what the level costs more than the best one of the scenario."""
        return max(self.usd - self.usd_best, 0.0)

    @property
    def sentence(self) -> str:
        """Return the regret in words."""
        return (
            f"At {self.scenario} demand {self.gpus} GPUs cost ${self.usd:,.2f}, ${self.usd_regret:,.2f} more"
            f" than the best level there, {self.best_gpus}."
        )


@takes(
    gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
    hour_factors=optional(AT_LEAST_0),
)
def regret_of_level(
    gpus: int,
    demand_by_scenario: Mapping[str, FloatArray],
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
    hour_factors: FloatArray | None = None,
) -> tuple[RegretOfLevel, ...]:
    """Return cost and regret of a level in each scenario, in their order.

    Demand (hours,) per scenario, `hour_factors` (hours,) discount; no probability is used. Raises ValueError
    for a level that is no whole number of instances.

    >>> demand = {"P10": np.array([2.0, 2.0]), "P90": np.array([6.0, 6.0])}
    >>> [each.usd_regret for each in regret_of_level(4, demand, 0.5, 1.0)]
    [2.0, 2.0]
    """
    prices = committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour
    require_whole_instances(gpus, gpus_per_instance)
    found = []
    for name, demand in demand_by_scenario.items():
        require(GPUS, **{f"demand of {name}": demand})
        curve = load_curve(demand, hour_factors)
        best = best_level_on_curve(curve, *prices, gpus_per_instance)
        usd = float(costs_on_curve(np.array([float(gpus)]), curve, *prices)[0])
        found.append(RegretOfLevel(name, gpus, usd, *_known_best(best)))
    return tuple(found)


def _known_best(best: CommitmentSize) -> tuple[int, float]:
    """Return level and cost, which two known prices make known."""
    return best.gpus or 0, best.usd or 0.0


@dataclass(frozen=True)
class MinimaxRegret:
    """The level whose worst regret is least, that regret, and the scenario in which it strikes."""

    gpus: int
    usd_worst_regret: float
    worst_scenario: str


@takes(
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
    hour_factors=optional(AT_LEAST_0),
)
def minimax_regret_level(
    demand_by_scenario: Mapping[str, FloatArray],
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
    hour_factors: FloatArray | None = None,
) -> MinimaxRegret:
    """Return the level with the lowest worst regret over the scenarios; of equal ones the largest.

    Each regret is convex in the level, so the worst one is too, and its minimum lies between the lowest and
    the highest best level; it is found by halving. Raises ValueError without scenarios.

    >>> demand = {"P10": np.array([2.0, 2.0]), "P90": np.array([6.0, 6.0])}
    >>> minimax_regret_level(demand, 0.5, 1.0)
    MinimaxRegret(gpus=4, usd_worst_regret=2.0, worst_scenario='P10')
    """
    if not demand_by_scenario:
        refuse("demand_by_scenario", "empty", "at least one scenario")
    prices, size = (committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour), gpus_per_instance
    best = regret_of_level(0, demand_by_scenario, *prices, size, hour_factors)
    curves = [load_curve(demand, hour_factors) for demand in demand_by_scenario.values()]
    slack = SAME_SHARE * max(each.usd for each in best)

    def regrets(level: int) -> list[float]:
        usd = [float(costs_on_curve(np.array([float(level)]), curve, *prices)[0]) for curve in curves]
        return [max(one - each.usd_best, 0.0) for one, each in zip(usd, best, strict=True)]

    low = min(each.best_gpus for each in best) // size
    high = max(each.best_gpus for each in best) // size
    while low < high:  # the largest count to which the worst regret has not risen
        middle = (low + high + 1) // 2
        if max(regrets(middle * size)) <= max(regrets((middle - 1) * size)) + slack:
            low = middle
        else:
            high = middle - 1
    found = regrets(low * size)
    return MinimaxRegret(low * size, max(found), best[int(np.argmax(found))].scenario)


@takes(
    probabilities=SHARE,
    committed_usd_per_gpu_hour=optional(AT_LEAST_0),
    on_demand_usd_per_gpu_hour=optional(AT_LEAST_0),
    gpus_per_instance=COUNT_FROM_1,
    hour_factors=optional(AT_LEAST_0),
)
def best_expected_level(
    demand_by_scenario: Mapping[str, FloatArray],
    probabilities: FloatArray,
    committed_usd_per_gpu_hour: float | None,
    on_demand_usd_per_gpu_hour: float | None,
    gpus_per_instance: int = 1,
    hour_factors: FloatArray | None = None,
) -> CommitmentSize:
    """Return the level with the lowest expected cost: each hour of each scenario is a weighted observation.

    `usd` is the expected cost. Raises ValueError where the probabilities (scenarios,) do not sum to 1 or the
    scenarios have different hours.

    >>> demand = {"P10": np.array([2.0, 2.0]), "P90": np.array([6.0, 6.0])}
    >>> best_expected_level(demand, np.array([0.3, 0.7]), 0.6, 1.0).gpus
    6
    """
    table = _table(demand_by_scenario)
    if len(probabilities) != len(table):
        refuse("probabilities", f"{len(probabilities)} numbers", f"one per scenario, {len(table)}")
    factors = np.ones(table.shape[1]) if hour_factors is None else hour_factors
    weights = scenario_weights(probabilities, factors)
    return best_level(
        table, committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour, gpus_per_instance, weights
    )


def _table(demand_by_scenario: Mapping[str, FloatArray]) -> FloatArray:
    lengths = {name: len(demand) for name, demand in demand_by_scenario.items()}
    if len(set(lengths.values())) != 1:
        refuse("demand_by_scenario", f"of {lengths} hours", "scenarios, all of the same hours")
    return np.array(list(demand_by_scenario.values()), dtype=np.float64)
