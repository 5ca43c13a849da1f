"""Dates and hours out of text, always as aware UTC moments."""

import re
from datetime import UTC, date, datetime

from costs.rows import RowError

_DAY_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2}-[01][0-9]-[0-3][0-9])(?![0-9])")
_EARLIEST, _LATEST = date(2000, 1, 1), date(2100, 1, 1)


def day(column: str, text: str) -> date:
    """Return the date of a field, written as 2026-11-30."""
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        found = None
    if found is None or not _EARLIEST <= found < _LATEST:
        raise RowError(column, text, "not_a_date", "a date such as 2026-11-30")
    return found


def midnight(found: date) -> datetime:
    """Return the first moment of a day in UTC."""
    return datetime(found.year, found.month, found.day, tzinfo=UTC)


def day_in_name(name: str) -> datetime | None:
    """Return the date that a file's name states, or None.

    >>> day_in_name("skypilot_vast_2026-05-20.csv")
    datetime.datetime(2026, 5, 20, 0, 0, tzinfo=datetime.timezone.utc)
    """
    match = _DAY_IN_NAME.search(name)
    try:
        return midnight(date.fromisoformat(match[1])) if match else None
    except ValueError:
        return None


def moment(column: str, text: str) -> datetime:
    """Return an aware UTC moment; refuse one that does not name its offset from UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or not _EARLIEST <= found.date() < _LATEST:
        raise RowError(column, text, "not_a_time", "a moment such as 2026-11-30T13:00:00Z")
    if found.utcoffset() is None:
        raise RowError(
            column, text, "time_without_zone", "a moment that names its zone, such as 2026-11-30T13:00:00Z"
        )
    return found.astimezone(UTC)


def hour(column: str, text: str) -> datetime:
    """Return the start of an hour in UTC."""
    found = moment(column, text)
    if found != found.replace(minute=0, second=0, microsecond=0):
        raise RowError(column, text, "not_on_the_hour", "the start of an hour, such as 2026-11-30T13:00:00Z")
    return found
