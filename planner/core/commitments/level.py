"""How much to commit: whole units at a committed price against the rest at the on-demand price.

    f(K) = sum_h w_h * (c * K + p * max(0, D_h - K))

is convex and bends only at observed demands. Its largest minimum over the reals is the (1 - c/p) quantile of
the weighted hours. Units are sold whole and demand may be fractional, so the level is one of the two
multiples of an instance around that quantile: the upper one where its last instance earns its price.
This is the newsvendor problem with overage cost c and underage cost p - c (Arrow, Harris, Marschak 1951).

c, the committed price, is charged in every hour, upfront payments included; p is the on-demand price; both in
US dollars per GPU-hour and constant. For price paths see terms.py.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.load_curve import GPUS, SAME_SHARE, LoadCurve, load_curve
from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, optional, refuse, require_fields, takes

USD = optional(AT_LEAST_0)


@dataclass(frozen=True)
class LevelCheck:
    """Why a level is the best: its last layer is used often enough, the next one is not.

    A layer is one instance. `last_used_share` is None at level 0, `break_even` is c/p, infinite where only p
    is 0.
    """

    gpus: int
    break_even: float
    last_used_share: float | None
    next_used_share: float

    @property
    def holds(self) -> bool:
        """Return next <= c/p <= last, but for rounding."""
        last = np.inf if self.last_used_share is None else self.last_used_share
        next_fails = self.next_used_share <= self.break_even + SAME_SHARE
        return bool(next_fails and self.break_even <= last + SAME_SHARE)


@dataclass(frozen=True)
class CommitmentSize:
    """A level and what it means. Sums are weighted, in US dollars.

    `utilization` (used / committed hours) and `coverage` (committed use / demand) are None where nothing is
    committed or wanted; `check` is None without hours. A missing price makes everything unknown; `missing`
    names it.
    """

    gpus: int | None
    usd: float | None
    utilization: float | None
    coverage: float | None
    usd_saved: float | None
    check: LevelCheck | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible levels."""
        require_fields(self, gpus=optional(GPUS))


@takes(
    levels=GPUS,
    demand_gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    weights=optional(AT_LEAST_0),
)
def costs_of_levels(
    levels: FloatArray,
    demand_gpus: FloatArray,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return f(K) of all levels at once, of their shape: one sort, then two running sums per level.

    Demand and weights as in load_curve().

    >>> costs_of_levels(np.array([0.0, 4.0]), np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10]), 2.6, 4.0)
    array([212., 172.])
    """
    curve = load_curve(demand_gpus, weights)
    return costs_on_curve(levels, curve, committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour)


@takes(levels=GPUS, committed_usd_per_gpu_hour=AT_LEAST_0, on_demand_usd_per_gpu_hour=AT_LEAST_0)
def costs_on_curve(
    levels: FloatArray,
    curve: LoadCurve,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
) -> FloatArray:
    """Return f(K) of all levels on hours that are sorted already.

    >>> costs_on_curve(np.array([1.0, 3.0]), load_curve(np.array([2.0, 5.0])), 0.5, 1.0)
    array([6., 5.])
    """
    wanted = np.asarray(levels, dtype=np.float64)
    committed = committed_usd_per_gpu_hour * curve.weight * wanted
    return np.asarray(committed + on_demand_usd_per_gpu_hour * curve.gpu_hours_above(wanted))


@takes(
    gpus=GPUS,
    demand_gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    weights=optional(AT_LEAST_0),
)
def cost_of_level(
    gpus: float,
    demand_gpus: FloatArray,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    weights: FloatArray | None = None,
) -> float:
    """Return f(K) of one level, hour by hour as the formula says.

    >>> cost_of_level(4, np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10]), 2.6, 4.0)
    172.0
    """
    demand = np.asarray(demand_gpus, dtype=np.float64)
    weight = np.ones_like(demand) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != demand.shape:
        refuse("weights", f"of shape {weight.shape}", f"of the shape of demand_gpus, {demand.shape}")
    rest = np.maximum(demand - gpus, 0.0)
    return float(np.sum(weight * (committed_usd_per_gpu_hour * gpus + on_demand_usd_per_gpu_hour * rest)))


@takes(
    demand_gpus=GPUS,
    committed_usd_per_gpu_hour=USD,
    on_demand_usd_per_gpu_hour=USD,
    gpus_per_instance=COUNT_FROM_1,
    weights=optional(AT_LEAST_0),
)
def best_level(
    demand_gpus: FloatArray,
    committed_usd_per_gpu_hour: float | None,
    on_demand_usd_per_gpu_hour: float | None,
    gpus_per_instance: int = 1,
    weights: FloatArray | None = None,
) -> CommitmentSize:
    """Return the cheapest commitment in whole instances; of equally cheap ones the largest.

    Demand that something else covers already has to be taken off first, and the hours must be those of the
    whole term. Never more than the instances of the peak, even where the committed price is 0. An unknown
    price gives an unknown level. Demand and weights as in load_curve().

    >>> best_level(np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10]), 2.6, 4.0).gpus
    4
    """
    curve = load_curve(demand_gpus, weights)
    committed, on_demand = committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour
    if committed is None or on_demand is None:
        prices = {"committed_usd_per_gpu_hour": committed, "on_demand_usd_per_gpu_hour": on_demand}
        missing = tuple(name for name, usd in prices.items() if usd is None)
        return CommitmentSize(None, None, None, None, None, missing=missing)
    return best_level_on_curve(curve, committed, on_demand, gpus_per_instance)


@takes(
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
)
def best_level_on_curve(
    curve: LoadCurve,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
) -> CommitmentSize:
    """Return the cheapest commitment on hours that are sorted already; see best_level().

    >>> best_level_on_curve(load_curve(np.array([1.5])), 1.0, 4.0).gpus
    2
    """
    prices = committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour
    level = _largest_cheapest(curve, *prices, gpus_per_instance)
    usd, usd_without = (float(each) for each in costs_on_curve(np.array([level, 0.0]), curve, *prices))
    committed = level * curve.weight
    used = curve.gpu_hours - float(curve.gpu_hours_above(np.array(level)))
    used = min(used, committed, curve.gpu_hours)  # but for the rounding of the sums it is at most either
    return CommitmentSize(
        gpus=level,
        usd=usd,
        utilization=used / committed if committed else None,
        coverage=used / curve.gpu_hours if curve.gpu_hours else None,
        usd_saved=usd_without - usd,
        check=check_on_curve(level, curve, *prices, gpus_per_instance),
    )


def _largest_cheapest(curve: LoadCurve, committed: float, on_demand: float, size: int) -> int:
    """Return the largest multiple of `size` with the lowest cost."""
    if not curve.weight or (committed > on_demand):
        return 0
    # the largest real minimum: f does not rise before it and rises after it
    quantile = curve.level_used_in(committed / on_demand if on_demand else 0.0)
    below = int(quantile // size) * size
    used = curve.used_share(below + size, size) or 0.0
    reaches_further = below < curve.peak_gpus and on_demand * used >= committed * (1.0 - SAME_SHARE)
    return below + size if reaches_further else below


@takes(
    gpus=GPUS,
    demand_gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
    weights=optional(AT_LEAST_0),
)
def check_level(
    gpus: int,
    demand_gpus: FloatArray,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
    weights: FloatArray | None = None,
) -> LevelCheck | None:
    """Return whether a level is optimal: used share of the next layer <= c/p <= that of the last one.

    For whole demand and single GPUs this is W{D > K}/W <= c/p <= W{D >= K}/W. None without hours. Raises
    ValueError for a level that is no whole number of instances.

    >>> check_level(4, np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10]), 2.6, 4.0)
    LevelCheck(gpus=4, break_even=0.65, last_used_share=0.7, next_used_share=0.5)
    """
    curve = load_curve(demand_gpus, weights)
    prices = committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour
    return check_on_curve(gpus, curve, *prices, gpus_per_instance)


@takes(
    gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
)
def check_on_curve(
    gpus: int,
    curve: LoadCurve,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
) -> LevelCheck | None:
    """Return the check of a level on hours that are sorted already; see check_level().

    >>> check_on_curve(0, load_curve(np.array([1.0, 0.0])), 0.6, 1.0).holds
    True
    """
    require_whole_instances(gpus, gpus_per_instance)
    following = curve.used_share(gpus + gpus_per_instance, gpus_per_instance)
    if following is None:
        return None
    committed, on_demand = committed_usd_per_gpu_hour, on_demand_usd_per_gpu_hour
    dearest = np.inf if committed else 0.0
    break_even = committed / on_demand if on_demand else dearest
    last = curve.used_share(gpus, gpus_per_instance) if gpus else None
    return LevelCheck(gpus, break_even, last, following)


@takes(gpus=GPUS, gpus_per_instance=COUNT_FROM_1)
def require_whole_instances(gpus: float, gpus_per_instance: int) -> None:
    """Raise ValueError for a level that is no whole number of instances.

    >>> require_whole_instances(16, 8)
    """
    if gpus % gpus_per_instance:
        refuse("gpus", gpus, f"a multiple of gpus_per_instance, {gpus_per_instance}")
