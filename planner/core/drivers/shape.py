"""The shape of demand over the week, from a measured series; and the series itself, carried forward."""

import numpy as np

from planner.core.calendar import FloatArray, Horizon, hour_of_week
from planner.core.ranges import AT_LEAST_0, Range, refuse, takes
from planner.core.units import HOURS_PER_WEEK

HOUR_OF_WEEK = Range(0, HOURS_PER_WEEK - 1, whole=True)
MONTHLY_SHARE = Range(-0.5, 1.0)


@takes(gpus=AT_LEAST_0, first_hour_of_week=HOUR_OF_WEEK)
def weekly_profile(gpus: FloatArray, first_hour_of_week: int) -> tuple[float, ...]:
    """Return 168 hourly factors with mean 1: the mean of each hour of the week / the mean of those means.

    `gpus` is a measured series by the hour, its first hour being `first_hour_of_week` (0 is Monday 00:00
    UTC). Raises ValueError for less than a week, for which some hours have no value, and for a series of
    nothing.

    >>> weekly_profile(np.repeat([1.0, 3.0], 84), 0)[0], weekly_profile(np.repeat([1.0, 3.0], 84), 0)[167]
    (0.5, 1.5)
    """
    if len(gpus) < HOURS_PER_WEEK:
        refuse("gpus", f"a series of {len(gpus)} hours", f"at least {HOURS_PER_WEEK}, one whole week")
    hour = (np.arange(len(gpus)) + first_hour_of_week) % HOURS_PER_WEEK
    means = np.bincount(hour, weights=gpus) / np.bincount(hour)
    mean = float(means.mean())
    if mean == 0.0:
        refuse("gpus", "a series without any use", "a series with some use in it")
    return tuple(float(each) for each in means / mean)


@takes(gpus=AT_LEAST_0, first_hour_of_week=HOUR_OF_WEEK, growth_per_month=MONTHLY_SHARE)
def carried_forward(
    gpus: FloatArray, first_hour_of_week: int, horizon: Horizon, growth_per_month: float = 0.0
) -> tuple[float, ...]:
    """Return the measured series for every hour of a plan: its last whole weeks again and again.

    Hours keep their place in the week; growth is a monthly share from month 2. Ups and downs are kept, so
    that commitments are sized on hours as they were and not on a mean week. Raises ValueError for less than a
    week.

    >>> from datetime import date
    >>> len(carried_forward(np.ones(200), 3, Horizon(date(2027, 1, 1), 1)))
    744
    """
    weeks = len(gpus) // HOURS_PER_WEEK
    if weeks == 0:
        refuse("gpus", f"a series of {len(gpus)} hours", f"at least {HOURS_PER_WEEK}, one whole week")
    kept = gpus[len(gpus) - weeks * HOURS_PER_WEEK :]
    kept_first = (first_hour_of_week + len(gpus) - len(kept)) % HOURS_PER_WEEK
    starts = horizon.month_starts()
    hour = np.arange(starts[-1])
    # shift so that the plan's first hour meets the same hour of the week
    shift = (hour_of_week(horizon.start) - kept_first) % HOURS_PER_WEEK
    month = np.repeat(np.arange(horizon.months), np.diff(starts))
    series = kept[(hour + shift) % len(kept)] * np.power(1.0 + growth_per_month, month)
    return tuple(float(each) for each in series)
