"""The share of time in which a run makes progress, when nodes fail and checkpoints cost time.

The ratio of Kokolis et al. adds up losses and holds while they are small. Below about 0.7 the exact factor of
planner.core.spot.time_factor (Daly 2006) takes its place.
"""

import math
from dataclasses import dataclass

from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, optional, takes
from planner.core.spot import time_factor
from planner.core.units import HOURS_PER_DAY, MINUTES_PER_HOUR, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

LOWEST_VALID = 0.7
SEE_EXACT = (
    "losses are too large for the small-loss ratio (below 0.7): "
    "1 / planner.core.spot.time_factor at the same interval stands in its place"
)
TOO_OFTEN = "interval, write and restart together exceed the time between failures: no ratio is given"


@dataclass(frozen=True)
class Goodput:
    """Effective training time ratio at a checkpoint interval, and how far to trust it.

    `small_loss_ratio` is the formula's value whatever it is, below 0 where losses exceed the time there is.
    `ratio` is the one to use: the same while it is at least 0.7, then 1 / kappa, None where neither holds;
    `note` then says why.
    """

    interval_minutes: float
    small_loss_ratio: float
    ratio: float | None
    note: str = ""

    @property
    def is_valid(self) -> bool:
        """Return whether the small-loss ratio holds."""
        return self.small_loss_ratio >= LOWEST_VALID


@takes(nodes=COUNT_FROM_1, failures_per_node_day=AT_LEAST_0, checkpoint_write_seconds=ABOVE_0)
def optimal_interval_minutes(
    nodes: int, failures_per_node_day: float, checkpoint_write_seconds: float
) -> float:
    """Return dt* = sqrt(2 w / (N r)), in minutes; infinite where nothing fails.

    w is the time for which a write blocks training, not the whole of an asynchronous write; N r are the
    failures of all nodes. It is Young's interval (1974) at a mean time between failures of 1 / (N r).

    >>> round(optimal_interval_minutes(2048, 0.003788701, 10.0), 4)
    7.8652
    """
    per_second = _failures_per_minute(nodes, failures_per_node_day) / SECONDS_PER_MINUTE
    if per_second == 0.0:
        return math.inf
    return math.sqrt(2.0 * checkpoint_write_seconds / per_second) / SECONDS_PER_MINUTE


def _failures_per_minute(nodes: int, failures_per_node_day: float) -> float:
    return nodes * failures_per_node_day / (HOURS_PER_DAY * MINUTES_PER_HOUR)


@takes(
    nodes=COUNT_FROM_1,
    failures_per_node_day=AT_LEAST_0,
    restart_minutes=AT_LEAST_0,
    checkpoint_write_seconds=ABOVE_0,
    interval_minutes=optional(ABOVE_0),
)
def goodput(
    nodes: int,
    failures_per_node_day: float,
    restart_minutes: float,
    checkpoint_write_seconds: float,
    interval_minutes: float | None = None,
) -> Goodput:
    """Return ETTR = (1 - N r (u0 + dt / 2)) / (1 + w / dt), at the optimal interval unless one is given.

    N nodes, r failures per node and day (not per thousand), u0 minutes until training runs again, dt between
    checkpoints, w seconds that a write blocks. Without failures and interval it is 1.
    Source: Kokolis et al., Revisiting Reliability in Large-Scale ML Research Clusters, HPCA 2025.

    >>> round(goodput(2048, 0.003788701, restart_minutes=10.0, checkpoint_write_seconds=10.0).ratio, 6)
    0.905733
    """
    interval = (
        optimal_interval_minutes(nodes, failures_per_node_day, checkpoint_write_seconds)
        if interval_minutes is None
        else interval_minutes
    )
    failures = _failures_per_minute(nodes, failures_per_node_day)
    if math.isinf(interval):
        return Goodput(interval, 1.0, 1.0)
    write = checkpoint_write_seconds / SECONDS_PER_MINUTE
    small_loss = (1.0 - failures * (restart_minutes + interval / 2.0)) / (1.0 + write / interval)
    if small_loss >= LOWEST_VALID:
        return Goodput(interval, small_loss, small_loss)
    if failures * (interval + write + restart_minutes) > 1.0:
        return Goodput(interval, small_loss, None, TOO_OFTEN)
    exact = _exact_ratio(failures, restart_minutes, checkpoint_write_seconds, interval)
    return Goodput(interval, small_loss, exact, SEE_EXACT)


def _exact_ratio(
    failures_per_minute: float,
    restart_minutes: float,
    checkpoint_write_seconds: float,
    interval_minutes: float,
) -> float:
    mtbf_hours = math.inf if failures_per_minute == 0.0 else 1.0 / (failures_per_minute * MINUTES_PER_HOUR)
    return 1.0 / time_factor(
        interval_minutes / MINUTES_PER_HOUR,
        checkpoint_write_seconds / SECONDS_PER_HOUR,
        restart_minutes / MINUTES_PER_HOUR,
        mtbf_hours,
    )
