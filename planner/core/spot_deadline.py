"""Will a job on spot meet its deadline? Replay it on a measured trace, from every start that fits.

A mean says little here: availability comes in long spells, so a job that starts at a bad moment waits for
days. The job works while enough machines are up. Each time they come up, and when it moves to on demand, it
spends a restart first; work that is done again after a loss is part of that restart.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.core.ranges import ABOVE_0, ANY, AT_LEAST_0, SHARE_ABOVE_0, require_fields, takes, with_unknown
from planner.core.spot_traces import Hours, Spell, Trace, spells

_USD = with_unknown(AT_LEAST_0)
_SAME_HOURS = 1e-9  # times that differ by less are the same


@takes(time_left_hours=ANY, work_left_hours=AT_LEAST_0, restart_hours=AT_LEAST_0)
def must_leave_spot(time_left_hours: float, work_left_hours: float, restart_hours: float) -> bool:
    """Return whether a job has to move to on demand now: time left <= work left + restart.

    Never when no work is left. Source: Wu and others, NSDI 2024, "Can't Be Late" (safety net rule).

    >>> must_leave_spot(10.0, 8.0, 1.0), must_leave_spot(9.0, 8.0, 1.0)
    (False, True)
    """
    return work_left_hours > 0.0 and time_left_hours <= work_left_hours + restart_hours


@dataclass(frozen=True)
class DeadlineJob:
    """What is to be done, by when. `work_rate` is useful work per running hour: tau / (tau + delta)."""

    work_hours: float
    deadline_hours: float
    restart_hours: float = 0.0
    nodes_needed: float = 1.0
    work_rate: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            work_hours=ABOVE_0,
            deadline_hours=ABOVE_0,
            restart_hours=AT_LEAST_0,
            nodes_needed=ABOVE_0,
            work_rate=SHARE_ABOVE_0,
        )


@dataclass(frozen=True)
class Replay:
    """One entry per start. Starts near each other see nearly the same trace: they are not independent."""

    starts_hours: Hours
    alone_in_time: NDArray[np.bool_]  # on spot, with nothing to fall back on
    in_time: NDArray[np.bool_]  # with on demand as soon as the deadline asks for it
    switched: NDArray[np.bool_]
    spot_work_hours: Hours  # useful work done on spot
    spot_paid_hours: Hours
    on_demand_hours: Hours

    @property
    def share_alone_in_time(self) -> float:
        """Return P(finish by the deadline) on spot alone; NaN where no start fits into the trace."""
        return _share(self.alone_in_time)

    @property
    def share_in_time(self) -> float:
        """Return P(finish by the deadline) with fallback: 1, or 0 where deadline < work + restart."""
        return _share(self.in_time)

    @property
    def share_switched(self) -> float:
        """Return how often the job ends on demand."""
        return _share(self.switched)

    @takes(spot_usd_per_node_hour=_USD, on_demand_usd_per_node_hour=_USD)
    def usd_per_node(self, spot_usd_per_node_hour: float, on_demand_usd_per_node_hour: float) -> Hours:
        """Return what each start costs per node: paid hours at their price. Waiting is not paid.

        A price that is NaN is unknown, and so is then every cost.

        >>> trace = Trace(np.array([0.0]), np.array([4.0]), np.array([1.0]))
        >>> replay(trace, DeadlineJob(2.0, 3.0), every_hours=1).usd_per_node(1.0, 4.0).tolist()
        [2.0, 2.0]
        """
        on_demand = self.on_demand_hours * on_demand_usd_per_node_hour
        return self.spot_paid_hours * spot_usd_per_node_hour + on_demand


def _share(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if len(values) else math.nan


@takes(every_hours=ABOVE_0)
def replay(trace: Trace, job: DeadlineJob, *, every_hours: float) -> Replay:
    """Return what becomes of the job from each start, one every `every_hours` of each watched stretch.

    A start counts where the deadline lies in the same stretch. The safety rule: run on spot while time left >
    work left + restart; at that moment move to on demand, which always has room and does an hour of work per
    hour, and finish there. Source: Wu and others, NSDI 2024, "Can't Be Late".

    >>> trace = Trace(np.array([0.0, 2.0]), np.array([2.0, 6.0]), np.array([1.0, 0.0]))
    >>> replay(trace, DeadlineJob(work_hours=2, deadline_hours=3), every_hours=1).alone_in_time.tolist()
    [True, False, False, False]
    """
    starts: list[float] = []
    alone: list[bool] = []
    ends: list[_End] = []
    for part in _stretches(trace, job.nodes_needed):
        opens = [spell.start_hours for spell in part]
        for start in _starts(part, job, every_hours):
            following = part[bisect_right(opens, start) - 1 :]
            starts.append(start)
            alone.append(_hours_alone(following, start, job) <= job.deadline_hours + _SAME_HOURS)
            ends.append(_with_fallback(following, start, job))
    feasible = job.work_hours + job.restart_hours <= job.deadline_hours + _SAME_HOURS
    return Replay(
        starts_hours=np.array(starts, float),
        alone_in_time=np.array(alone, bool),
        in_time=np.full(len(ends), feasible),
        switched=np.array([end.on_demand_hours > 0 for end in ends], bool),
        spot_work_hours=np.array([end.spot_work_hours for end in ends], float),
        spot_paid_hours=np.array([end.spot_paid_hours for end in ends], float),
        on_demand_hours=np.array([end.on_demand_hours for end in ends], float),
    )


def _stretches(trace: Trace, nodes_needed: float) -> Iterator[list[Spell]]:
    """Yield the spells of each watched stretch; its last spell ends unseen."""
    part: list[Spell] = []
    for spell in spells(trace, nodes_needed):
        part.append(spell)
        if not spell.end_is_seen:
            yield part
            part = []


def _starts(part: list[Spell], job: DeadlineJob, every_hours: float) -> Iterator[float]:
    room = part[-1].end_hours - part[0].start_hours - job.deadline_hours
    for step in range(math.floor(room / every_hours + _SAME_HOURS) + 1):
        yield part[0].start_hours + step * every_hours


def _tries(following: list[Spell], start: float) -> Iterator[tuple[float, float]]:
    """Yield when machines come up from a start on, and for how long: a start in mid-spell has the rest."""
    for spell in following:
        if spell.is_available:
            begin = max(spell.start_hours, start)
            yield begin, spell.end_hours - begin


def _hours_alone(following: list[Spell], start: float, job: DeadlineJob) -> float:
    """Return how long the job takes on spot alone; infinity where the trace ends before it does."""
    left = job.work_hours
    for begin, length in _tries(following, start):
        running = max(length - job.restart_hours, 0.0)
        if left <= running * job.work_rate + _SAME_HOURS:
            return begin + job.restart_hours + left / job.work_rate - start
        left -= running * job.work_rate
    return math.inf


@dataclass(frozen=True)
class _End:
    spot_work_hours: float
    spot_paid_hours: float
    on_demand_hours: float


def _with_fallback(following: list[Spell], start: float, job: DeadlineJob) -> _End:
    """Return how one start ends. `slack` is time left less work left less a restart: what may be lost."""
    slack = job.deadline_hours - job.work_hours - job.restart_hours
    now, work, paid = start, 0.0, 0.0
    for begin, length in _tries(following, start):
        slack -= begin - now
        if slack <= 0:
            break
        idle = min(job.restart_hours, length)
        if slack <= idle:
            paid += slack
            break
        slack -= idle
        to_finish = (job.work_hours - work) / job.work_rate
        to_tight = math.inf if job.work_rate == 1 else slack / (1 - job.work_rate)
        running = min(length - idle, to_finish, to_tight)
        work, paid = work + running * job.work_rate, paid + idle + running
        if running == to_finish:
            return _End(job.work_hours, paid, 0.0)
        slack -= running * (1 - job.work_rate)
        if running == to_tight:
            break
        now = begin + length
    return _End(work, paid, job.work_hours - work + job.restart_hours)
