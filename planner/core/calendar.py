"""Months, hours and hour-of-week counts.

A month has its real UTC hours, 672 to 744, unless the caller asks for a flat calendar (730 in published
examples).
"""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.core.ranges import Range, takes
from planner.core.units import HOURS_PER_DAY, HOURS_PER_WEEK, MONTHS_PER_YEAR

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
MONTHS = Range(-12_000, 12_000, whole=True)
DAYS = Range(-400_000, 400_000, whole=True)


@takes(months=MONTHS)
def add_months(day: date, months: int) -> date:
    """Return the same day `months` later, or the last day of that month where it is shorter.

    >>> add_months(date(2027, 1, 31), 1)
    datetime.date(2027, 2, 28)
    """
    first = _first_of_month(day.year * MONTHS_PER_YEAR + day.month - 1 + months)
    following = _first_of_month(first.year * MONTHS_PER_YEAR + first.month)
    return first.replace(day=min(day.day, (following - first).days))


def _first_of_month(number: int) -> date:
    return date(number // MONTHS_PER_YEAR, number % MONTHS_PER_YEAR + 1, 1)


def hours_between(first: date, last: date) -> int:
    """Return the hours from 00:00 UTC of one day to 00:00 UTC of another."""
    return (last - first).days * HOURS_PER_DAY


def hour_of_week(day: date) -> int:
    """Return the hour of the week at 00:00 of a day; 0 is Monday 00:00 UTC."""
    return day.weekday() * HOURS_PER_DAY


@lru_cache(maxsize=256)
def _first_days(start: date, months: int) -> tuple[date, ...]:
    return tuple(add_months(start, index) for index in range(months))


@lru_cache(maxsize=256)
def _month_starts(start: date, months: int, hours_per_month: int | None) -> IntArray:
    if hours_per_month is None:
        days = [*_first_days(start, months), add_months(start, months)]
        hours = np.array([hours_between(start, day) for day in days], dtype=np.int64)
    else:
        hours = np.arange(months + 1, dtype=np.int64) * hours_per_month
    hours.flags.writeable = False  # shared by every horizon of this start
    return hours


@dataclass(frozen=True)
class Horizon:
    """The months of a plan. Month index 0 is the first; an index may lie outside the horizon.

    `hours_per_month` None is the real calendar; 730 the flat one, in which a day is a thirtieth or so.
    """

    start: date
    months: int
    hours_per_month: int | None = None

    @property
    def end(self) -> date:
        """Return the first day after the horizon."""
        return add_months(self.start, self.months)

    def first_days(self) -> tuple[date, ...]:
        """Return the first day of every month."""
        return _first_days(self.start, self.months)

    def month_starts(self) -> IntArray:
        """Return the hour, counted from the start, at which each month begins, and the end of the last."""
        return _month_starts(self.start, self.months, self.hours_per_month)

    def hours(self) -> FloatArray:
        """Return the hours of every month."""
        return np.diff(self.month_starts()).astype(np.float64)

    def hour_at(self, day: date) -> int:
        """Return the hour, counted from the start, at 00:00 of a day; it may lie outside the horizon."""
        if self.hours_per_month is None:
            return hours_between(self.start, day)
        first = day.replace(day=1)
        share = (day - first).days / (add_months(first, 1) - first).days
        return self.index_of(day) * self.hours_per_month + round(share * self.hours_per_month)

    def index_of(self, day: date) -> int:
        """Return the index of the month that contains a day: where a payment falls."""
        return (day.year - self.start.year) * MONTHS_PER_YEAR + day.month - self.start.month

    def index_on_or_after(self, day: date) -> int:
        """Return the index of the first month that begins on or after a day: where capacity starts."""
        return self.index_of(day) + (0 if day.day == 1 else 1)


@takes(days=DAYS)
def days_later(day: date, days: int) -> date:
    """Return the day that lies `days` later."""
    return day + timedelta(days=days)


def hour_of_week_counts(first_hours_of_week: IntArray, hours: IntArray) -> IntArray:
    """Return how often each of the 168 hours of the week occurs in runs of hours.

    Each run begins at `first_hours_of_week[i]` and lasts `hours[i]`; the answer has one row per run.
    """
    offset = (np.arange(HOURS_PER_WEEK) - first_hours_of_week[:, None]) % HOURS_PER_WEEK
    full, rest = np.divmod(hours[:, None], HOURS_PER_WEEK)
    return (full + (offset < rest)).astype(np.int64)
