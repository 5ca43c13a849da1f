"""Days with their year, always: histories that end years ago stand beside prices of this year."""

from datetime import date, datetime

from planner.templatetags.units import day

_NO_YEAR_IS_THIS = date(1, 1, 1)


def full_day(value: date | datetime | None) -> str:
    """Return a day with its year: 31 May 2021."""
    return day(value, _NO_YEAR_IS_THIS)
