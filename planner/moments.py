"""A date as addresses write it: a day, which is taken at its end, or a moment."""

from datetime import UTC, date, datetime, time

FIRST_YEAR = 2000
EXAMPLE = "a date such as 2026-11-30, or a moment such as 2026-11-30T09:40Z"


def day_in(text: str) -> date | None:
    """Return the day that a text names, None where it names none or a moment.

    >>> day_in("2026-11-30"), day_in("2026-11-30T09:40Z"), day_in("soon")
    (datetime.date(2026, 11, 30), None, None)
    """
    try:
        asked = date.fromisoformat(text)
    except ValueError:
        return None
    return asked if asked.year >= FIRST_YEAR else None


def moment_in(text: str) -> datetime | None:
    """Return the moment that a text names, in UTC; one without a zone is read as UTC."""
    try:
        # a plus sign that was not escaped comes as a blank
        read = datetime.fromisoformat(text.replace(" ", "+"))
        aware = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return aware if aware.year >= FIRST_YEAR else None


def end_of(day: date) -> datetime:
    """Return the last moment of a day in UTC: what was published on it counts.

    >>> end_of(date(2026, 11, 30)).isoformat()
    '2026-11-30T23:59:59.999999+00:00'
    """
    return datetime.combine(day, time.max, UTC)
