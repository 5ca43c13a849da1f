"""Turn workloads into GPUs wanted in every slot of time.

A slot is a set of hours of one month that look alike: the same hour of the week and the same
commitments in force. A month has at most 168 of them per stretch between two commitment dates, with
the count of hours each stands for, so sums over slots are exact. Deferral limits shorter than a month, and
series by the hour, need the order of hours; then every slot is one hour. Load-duration blocks
(load_duration.py) are coarser slots.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray, hour_of_week, hour_of_week_counts
from planner.core.plan import Workload
from planner.core.ranges import refuse
from planner.core.units import HOURS_PER_WEEK


@dataclass(frozen=True)
class Slots:
    """The time grid of a dispatch, in the order of months.

    `hours` is how many hours a slot stands for, `first_hour` the hour (from the plan's start) at
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


@dataclass(frozen=True)
class Demand:
    """GPUs wanted by (workload, slot) on a grid of slots."""

    slots: Slots
    gpus: FloatArray


def build_demand(
    horizon: Horizon, workloads: Sequence[Workload], cut_hours: Iterable[int], each_hour: bool = False
) -> Demand:
    """Return the demand on the coarsest exact grid, or on the grid of single hours.

    `cut_hours` are the hours, from the plan's start, at which a commitment starts or ends.
    """
    if each_hour or needs_real_hours(horizon, workloads):
        slots = hourly_slots(horizon)
    else:
        slots = _weekly_slots(horizon, cut_hours)
    gpus = np.zeros((len(workloads), len(slots.month)))
    for row, workload in enumerate(workloads):
        _check_series(workload, int(horizon.month_starts()[-1]))
        gpus[row] = gpus_wanted(workload, slots)
    return Demand(slots, gpus)


def _check_series(workload: Workload, hours: int) -> None:
    series = workload.hourly_gpus
    if series is not None and len(series) != hours:
        owner = f"workload {workload.name!r}: hourly_gpus"
        refuse(owner, f"{len(series):,} values", f"one for each of the {hours:,} hours of the plan")


def needs_real_hours(horizon: Horizon, workloads: Iterable[Workload]) -> bool:
    """Return whether the order of hours matters: a window shorter than a month, or a series by the hour."""
    longest = horizon.hours().max()
    return any(
        0 < workload.deferrable_hours < longest or workload.hourly_gpus is not None for workload in workloads
    )


def hourly_slots(horizon: Horizon) -> Slots:
    """Return one slot per hour of the plan, in order."""
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


def stretch_edges(horizon: Horizon, cut_hours: Iterable[int]) -> IntArray:
    """Return the hours at which a month or a commitment begins or ends, both ends of the plan included."""
    starts = horizon.month_starts()
    inside = [hour for hour in cut_hours if 0 < hour < starts[-1]]
    return np.unique(np.concatenate([starts, np.array(inside, dtype=np.int64)]))


def _weekly_slots(horizon: Horizon, cut_hours: Iterable[int]) -> Slots:
    edges = stretch_edges(horizon, cut_hours)
    first, lengths = edges[:-1], np.diff(edges)
    counts = hour_of_week_counts((first + hour_of_week(horizon.start)) % HOURS_PER_WEEK, lengths)
    stretch, week_hour = np.nonzero(counts)
    month = np.searchsorted(horizon.month_starts(), first, side="right") - 1
    return Slots(
        month=month[stretch],
        hours=counts[stretch, week_hour].astype(np.float64),
        hour_of_week=week_hour,
        first_hour=first[stretch],
        hour_in_month=np.zeros(len(stretch), dtype=np.int64),
    )


def gpus_wanted(workload: Workload, slots: Slots) -> FloatArray:
    """Return GPUs wanted per slot: gpus * (1 + growth)^(m-1) * factor of the month * of the hour of the week.

    The hourly factors have mean 1 over the week and are not rescaled by month, so a month's mean may differ
    a little from `gpus`. A series by the hour stands for all but the factors of the months.
    """
    if workload.hourly_gpus is not None:
        wanted = np.asarray(workload.hourly_gpus, dtype=np.float64)[slots.first_hour]
    else:
        wanted = _by_growth_and_profile(workload, slots)
    if workload.month_factors is None:
        return wanted
    return wanted * np.asarray(workload.month_factors, dtype=np.float64)[slots.month]


def _by_growth_and_profile(workload: Workload, slots: Slots) -> FloatArray:
    months = int(slots.month[-1]) + 1
    growth = np.power(1.0 + workload.growth_per_month, np.arange(months, dtype=np.float64))
    wanted: FloatArray = workload.gpus * growth[slots.month]
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
