"""Commit without a forecast: buy a unit once on-demand money spent on it would have paid for it.

The rule of ski rental, for many units at once. Source: W. Wang, B. Li, B. Liang, "To Reserve or Not to
Reserve: Optimal Online Multi-Instance Acquisition in IaaS Clouds", ICAC 2013 (arXiv:1305.5608), algorithm 1.
No rule that does not know the future can promise a lower worst case than 2 - a.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.commitments.load_curve import SAME_SHARE
from planner.core.commitments.overlapping import WHOLE_GPUS
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, refuse, require_fields, takes


@dataclass(frozen=True)
class ReservationPrice:
    """What a reserved GPU costs for its term, against on-demand.

    `usd_per_term` is due whether it is used or not: the upfront payment and any charge for every hour.
    `usd_per_used_gpu_hour` is due in used hours only; most of today's commitments have none.
    """

    usd_per_term: float
    term_hours: int
    on_demand_usd_per_gpu_hour: float
    usd_per_used_gpu_hour: float = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible prices, and a reserved rate that is not below the on-demand rate."""
        require_fields(
            self,
            usd_per_term=ABOVE_0,
            term_hours=COUNT_FROM_1,
            on_demand_usd_per_gpu_hour=ABOVE_0,
            usd_per_used_gpu_hour=AT_LEAST_0,
        )
        if self.usd_per_used_gpu_hour >= self.on_demand_usd_per_gpu_hour:
            refuse("usd_per_used_gpu_hour", self.usd_per_used_gpu_hour, "less than the on-demand price")

    @property
    def usage_ratio(self) -> float:
        """Return a, the reserved usage rate / the on-demand rate; 0 where only the term is charged."""
        return self.usd_per_used_gpu_hour / self.on_demand_usd_per_gpu_hour

    @property
    def break_even_usd(self) -> float:
        """Return the on-demand money at which a reservation costs the same: term charge / (1 - a)."""
        return self.usd_per_term / (1.0 - self.usage_ratio)

    @property
    def competitive_ratio(self) -> float:
        """Return 2 - a: the rule's cost is never more than this times the best cost in hindsight."""
        return 2.0 - self.usage_ratio


@dataclass(frozen=True)
class OnlinePlan:
    """What the rule did, hour by hour; arrays (hours,). Terms are charged whole, even past the last hour."""

    gpus_bought: IntArray
    active_gpus: IntArray
    on_demand_gpus: IntArray
    usd: float


@takes(demand_gpus=WHOLE_GPUS)
def buy_online(demand_gpus: IntArray | FloatArray, price: ReservationPrice) -> OnlinePlan:
    """Return the purchases of the rule for whole demand (hours,), each hour decided without the later ones.

    In each hour: while the on-demand money for the layer just above what is reserved, in the last term
    including this hour, reaches the break-even amount, reserve one more GPU from this hour on, and count it
    as reserved in that whole window too, so that no hour argues for two purchases. The rest is on demand.

    Three hours pay for a term of four, so the third hour is the first one reserved:

    >>> buy_online(np.array([1, 1, 1, 1, 0]), ReservationPrice(3.0, 4, 1.0)).gpus_bought
    array([0, 0, 1, 0, 0])
    """
    demand = np.asarray(demand_gpus).astype(np.int64)
    hours, term = len(demand), price.term_hours
    enough = price.break_even_usd / price.on_demand_usd_per_gpu_hour * (1.0 - SAME_SHARE)
    counted = np.zeros(hours, dtype=np.int64)  # reserved, with the hours already argued from
    active, bought = np.zeros(hours, dtype=np.int64), np.zeros(hours, dtype=np.int64)
    for hour in range(hours):
        first, end = max(hour - term + 1, 0), hour + term
        while np.count_nonzero(demand[first : hour + 1] > counted[first : hour + 1]) >= enough:
            bought[hour] += 1
            active[hour:end] += 1
            counted[first:end] += 1
    rest = np.maximum(demand - active, 0)
    return OnlinePlan(bought, active, rest, _usd(demand, bought, rest, price))


def _usd(demand: IntArray, bought: IntArray, rest: IntArray, price: ReservationPrice) -> float:
    terms = float(bought.sum()) * price.usd_per_term
    metered = float((demand - rest).sum()) * price.usd_per_used_gpu_hour
    return terms + metered + float(rest.sum()) * price.on_demand_usd_per_gpu_hour
