"""The ways a line or a file can fail, what a file says of itself, and the checks that rows share."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

# rules about the very text that says which fact a line states: which one is meant is then not known
KEY_IN_DOUBT = frozenset({"text_too_long", "text_unreadable"})


class RowError(Exception):
    """A line that breaks a rule: which column, which value, which rule, what would be right."""

    def __init__(self, column: str, value: object, rule: str, expected: str) -> None:
        super().__init__(f"{column}={value!r}: {rule}; expected {expected}")
        self.column, self.value, self.rule, self.expected = column, str(value)[:500], rule, expected


class OutOfScope(Exception):
    """A sound line that is not ours to keep, by the name of the reason."""

    def __init__(self, rule: str, column: str = "", value: object = "", expected: str = "") -> None:
        super().__init__(rule)
        self.rule, self.column, self.value, self.expected = rule, column, str(value)[:500], expected


class FileError(Exception):
    """A file that is not what it says. Nothing of it is stored."""

    def __init__(
        self, code: str, expected: str, *, line: int | None = None, column: str = "", value: object = ""
    ) -> None:
        place = f"line {line}: " if line else ""
        super().__init__(f"{place}{code}; expected {expected}")
        self.code, self.expected, self.line = code, expected, line
        self.column, self.value = column, str(value)[:500]


@dataclass(frozen=True)
class RawLine:
    """One record of a file as text, with the number of the line it starts on (from 1).

    Lines that follow each other and are set aside for one reason may be one of these together: a list of
    millions of lines is counted, not taken apart.
    """

    line: int
    fields: Mapping[str, str]
    lines: int = 1  # how many it stands for: this one and those right after it


@dataclass(frozen=True)
class FileInfo:
    """What a source learns of a file besides its lines.

    `as_of` is the date that the file states of itself, None if it states none. `params` is what the
    parser was told or found out for the whole file (provider, offer, cluster). `scopes` are those that the
    file speaks of even where it has no fact of them: an answer that nothing is held.
    """

    as_of: datetime | None
    params: Mapping[str, str]
    scopes: tuple[str, ...] = ()


def check_utc(name: str, moment: datetime | None) -> None:
    if moment is not None and moment.utcoffset() != timedelta(0):
        raise RowError(name, moment, "time_not_utc", "a moment in UTC")


def check_between(name: str, value: Decimal | None, low: Decimal | int, high: Decimal | int) -> None:
    """Refuse a number outside its bounds; None is unknown and passes."""
    if value is not None and not (value.is_finite() and low <= value <= high):
        raise RowError(name, value, f"{name}_out_of_bounds", f"{low:,} to {high:,}, or empty when unknown")


def check_named(row: object, *names: str) -> None:
    for name in names:
        if not getattr(row, name):
            raise RowError(name, "", "empty", f"a {name.replace('_', ' ')}")


def check_currency(currency: str) -> None:
    if len(currency) != 3 or not currency.isascii() or not currency.isupper():
        raise RowError("currency", currency, "currency_unknown", "three capitals such as USD")
