from datetime import date

import numpy as np
import pytest

from planner.core.calendar import Horizon, add_months, hour_of_week_counts, hours_between


def test_months_have_their_real_hours() -> None:
    # 2028 is a leap year: 31, 29, 31, 30 days
    assert Horizon(date(2028, 1, 1), 4).hours().tolist() == [744.0, 696.0, 744.0, 720.0]
    assert Horizon(date(2027, 2, 1), 1).hours().tolist() == [672.0]


def test_a_year_with_29_february_has_8784_hours() -> None:
    assert Horizon(date(2028, 1, 1), 12).hours().sum() == 8784.0
    assert hours_between(date(2028, 1, 1), date(2029, 1, 1)) == 8784


@pytest.mark.parametrize(
    ("day", "months", "expected"),
    [
        (date(2027, 1, 31), 1, date(2027, 2, 28)),
        (date(2028, 1, 31), 1, date(2028, 2, 29)),
        (date(2027, 11, 15), 3, date(2028, 2, 15)),
        (date(2027, 1, 1), -1, date(2026, 12, 1)),
    ],
)
def test_adding_months_keeps_the_day_or_takes_the_last(day: date, months: int, expected: date) -> None:
    assert add_months(day, months) == expected


def test_payments_fall_in_the_month_and_capacity_in_the_next_that_begins() -> None:
    horizon = Horizon(date(2027, 1, 1), 12)
    assert horizon.index_of(date(2027, 4, 15)) == 3
    assert horizon.index_on_or_after(date(2027, 4, 15)) == 4
    assert horizon.index_on_or_after(date(2027, 4, 1)) == 3
    assert horizon.index_of(date(2026, 12, 31)) == -1


def test_hours_of_the_week_are_counted_exactly() -> None:
    # February 2027 starts on a Monday and has exactly four weeks; March has 3 days more.
    counts = hour_of_week_counts(np.array([0, 0]), np.array([672, 744]))
    assert counts[0].tolist() == [4] * 168
    assert counts[1].tolist() == [5] * 72 + [4] * 96


def test_counting_starts_at_the_hour_of_the_week_given() -> None:
    # 3 hours from Sunday 23:00: Sunday 23, Monday 0, Monday 1
    counts = hour_of_week_counts(np.array([167]), np.array([3]))[0]
    assert np.flatnonzero(counts).tolist() == [0, 1, 167]
