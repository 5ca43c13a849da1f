"""How much to commit: whole units at a committed price against the rest at the on-demand price."""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray

# Two levels whose costs differ by less than this share cost the same; the larger is taken.
SAME_SHARE = 1e-12


@dataclass(frozen=True)
class CommitmentSize:
    """A level and what it means. `utilization` and `coverage` are None where nothing is committed or used."""

    gpus: int
    usd: float
    utilization: float | None
    coverage: float | None
    usd_saved: float


def break_even_utilization(usd_committed: float, usd_on_demand: float, usd_salvage: float = 0.0) -> float:
    """Return (c - s) / (p - s): the share of charged hours above which a committed unit pays.

    >>> round(break_even_utilization(2.6, 4.0), 4)
    0.65
    """
    return (usd_committed - usd_salvage) / (usd_on_demand - usd_salvage)


def break_even_utilization_with_decline(
    committed_share_of_price: float, decline_per_year: float, years: float
) -> float:
    """Return (c / p0) * g T / (1 - e^(-g T)): the same when on-demand prices fall continuously at g."""
    fall = decline_per_year * years
    if fall == 0.0:
        return committed_share_of_price
    return float(committed_share_of_price * fall / -np.expm1(-fall))


def cost_of_level(
    gpus: float,
    demand_gpus: FloatArray,
    usd_committed: float,
    usd_on_demand: float,
    weights: FloatArray | None = None,
) -> float:
    """Return f(K) = sum w_h * (c * K + p * max(0, D_h - K))."""
    weight = np.ones_like(demand_gpus) if weights is None else weights
    rest = np.maximum(demand_gpus - gpus, 0.0)
    return float(np.sum(weight * (usd_committed * gpus + usd_on_demand * rest)))


def best_level(
    demand_gpus: FloatArray,
    usd_committed: float,
    usd_on_demand: float,
    gpus_per_instance: int = 1,
    weights: FloatArray | None = None,
) -> CommitmentSize:
    """Return the cheapest commitment in whole instances; of equally cheap ones the largest.

    The cost is convex in the level, so its minimum over whole instances is exact for fractional demand.
    """
    demand = np.asarray(demand_gpus, dtype=np.float64)
    highest = int(np.ceil(demand.max() / gpus_per_instance)) if demand.size else 0
    levels = np.arange(highest + 1) * gpus_per_instance
    costs = np.array([cost_of_level(float(k), demand, usd_committed, usd_on_demand, weights) for k in levels])
    cheapest = costs.min() if costs.size else 0.0
    level = int(levels[np.flatnonzero(costs <= cheapest + SAME_SHARE * abs(cheapest))[-1]])
    return _sized(level, demand, usd_committed, usd_on_demand, weights)


def _sized(
    level: int, demand: FloatArray, usd_committed: float, usd_on_demand: float, weights: FloatArray | None
) -> CommitmentSize:
    weight = np.ones_like(demand) if weights is None else weights
    used = float(np.sum(weight * np.minimum(demand, level)))
    committed, wanted = float(level * weight.sum()), float(np.sum(weight * demand))
    usd = cost_of_level(level, demand, usd_committed, usd_on_demand, weights)
    return CommitmentSize(
        gpus=level,
        usd=usd,
        utilization=used / committed if committed else None,
        coverage=used / wanted if wanted else None,
        usd_saved=cost_of_level(0, demand, usd_committed, usd_on_demand, weights) - usd,
    )


def layer_pays(
    used_share: FloatArray,
    hours: FloatArray,
    usd_on_demand: FloatArray,
    usd_committed: FloatArray,
    usd_upfront: float,
    end_factors: FloatArray,
) -> bool:
    """Return whether one more unit pays over its term on a price path.

    sum v_m h_m p_m * P{D_m >= k} >= U + sum v_m h_m c_m, all by month; `used_share` is P{D_m >= k}.
    """
    worth = float(np.sum(end_factors * hours * usd_on_demand * used_share))
    return worth >= usd_upfront + float(np.sum(end_factors * hours * usd_committed))
