"""The ranges of a plan's fields that several kinds share, and how a field is refused."""

from datetime import date
from typing import NoReturn

from planner.core.ranges import Range, optional, shown

# Growth and drift compound: a share that is harmless over a year can be absurd over ten.
MOST_GROWTH = 1_000.0
MOST_MONTHS = 360
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 1, 1)
MONTHLY_SHARE = Range(-0.5, 1.0)
USD = Range(0.0, 1_000_000_000_000.0)
USD_PER_GPU_HOUR = optional(Range(0.0, 10_000.0))


def refuse_field(owner: str, field: str, value: object, right: str) -> NoReturn:
    """Raise the ValueError that names an owner's field, its value and what would be right."""
    raise ValueError(f"{owner}: {field} is {shown(value)}; right would be {right}")


def check_ranges(owner: str, values: object, ranges: dict[str, Range]) -> None:
    """Refuse the first field of a record that is outside its range."""
    for field, allowed in ranges.items():
        value = getattr(values, field)
        if not allowed.allows(value):
            refuse_field(owner, field, value, allowed.text())


def check_day(owner: str, field: str, day: date) -> None:
    """Refuse a day that no plan can mean."""
    if not EARLIEST <= day < LATEST:
        refuse_field(owner, field, day, f"a day from {EARLIEST} to before {LATEST}")
