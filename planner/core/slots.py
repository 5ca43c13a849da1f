"""Turn workloads into GPUs wanted in every slot of time.

A slot is a set of hours of one month that look alike: the same hour of the week and the same
commitments in force. A month has at most 168 of them per stretch between two commitment dates, with
the count of real hours each stands for, so sums over slots are exact. Deferral limits shorter than a
month need the order of hours; then every slot is one real hour.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray, hour_of_week, hour_of_week_counts
from planner.core.plan import Workload
from planner.core.units import HOURS_PER_WEEK


@dataclass(frozen=True)
class Slots:
    """The time grid of a dispatch, in the order of months.

    `hours` is how many real hours a slot stands for, `first_hour` the hour (from the plan's start) at
    which its stretch begins, `hour_in_month` its place in the month (0 where the order is not kept).
    """

    month: IntArray
    hours: FloatArray
    hour_of_week: IntArray
    first_hour: IntArray
    hour_in_month: IntArray

    def only(self, span: IntArray | slice) -> "Slots":
        """Return the slots at the given places, in their order."""
        return Slots(
            self.month[span],
            self.hours[span],
            self.hour_of_week[span],
            self.first_hour[span],
            self.hour_in_month[span],
        )


def build_slots(horizon: Horizon, workloads: Iterable[Workload], cut_hours: Iterable[int]) -> Slots:
    """Return the coarsest exact grid; `cut_hours` are the hours at which a commitment starts or ends."""
    if needs_real_hours(horizon, workloads):
        return _hourly_slots(horizon)
    return _weekly_slots(horizon, cut_hours)


def needs_real_hours(horizon: Horizon, workloads: Iterable[Workload]) -> bool:
    """Return whether some deferral window is shorter than some month, so that the order matters."""
    longest = horizon.hours().max()
    return any(0 < workload.deferrable_hours < longest for workload in workloads)


def _hourly_slots(horizon: Horizon) -> Slots:
    starts = horizon.month_starts()
    hour = np.arange(starts[-1])
    month = np.repeat(np.arange(horizon.months), np.diff(starts))
    return Slots(
        month=month,
        hours=np.ones(len(hour)),
        hour_of_week=(hour + hour_of_week(horizon.start)) % HOURS_PER_WEEK,
        first_hour=hour,
        hour_in_month=hour - starts[month],
    )


def _weekly_slots(horizon: Horizon, cut_hours: Iterable[int]) -> Slots:
    starts = horizon.month_starts()
    inside = [hour for hour in cut_hours if 0 < hour < starts[-1]]
    edges = np.unique(np.concatenate([starts, np.array(inside, dtype=np.int64)]))
    first, lengths = edges[:-1], np.diff(edges)
    counts = hour_of_week_counts((first + hour_of_week(horizon.start)) % HOURS_PER_WEEK, lengths)
    stretch, week_hour = np.nonzero(counts)
    month = np.searchsorted(starts, first, side="right") - 1
    return Slots(
        month=month[stretch],
        hours=counts[stretch, week_hour].astype(np.float64),
        hour_of_week=week_hour,
        first_hour=first[stretch],
        hour_in_month=np.zeros(len(stretch), dtype=np.int64),
    )


def gpus_wanted(workload: Workload, slots: Slots) -> FloatArray:
    """Return GPUs wanted per slot: gpus * (1 + growth)^(m-1) * factor of the hour of the week.

    The factors have mean 1 over the week and are not rescaled by month, so a month's mean may differ
    a little from `gpus`.
    """
    months = int(slots.month[-1]) + 1
    growth = np.power(1.0 + workload.growth_per_month, np.arange(months, dtype=np.float64))
    wanted = workload.gpus * growth[slots.month]
    if workload.profile is None:
        return wanted
    return wanted * np.asarray(workload.profile, dtype=np.float64)[slots.hour_of_week]


def window_starts(workload: Workload, slots: Slots, hours_of_month: FloatArray) -> IntArray:
    """Return the slot at which each deferral window begins.

    Windows are as long as the limit, counted from the first hour of the month; the last is cut at the
    month's end. A limit of a month or more makes the month one window.
    """
    length = np.minimum(workload.deferrable_hours, hours_of_month)[slots.month]
    window = slots.hour_in_month // length
    changed = (np.diff(slots.month) != 0) | (np.diff(window) != 0)
    return np.concatenate([[0], np.flatnonzero(changed) + 1]).astype(np.int64)
