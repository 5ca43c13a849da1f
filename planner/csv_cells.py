"""Write CSV cells by the type of their column: numbers stay numbers, text cannot start a formula."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Literal, TextIO

Kind = Literal["text", "number", "time"]
SEPARATORS = (",", ";", "\t")
DECIMAL_MARKS = (".", ",")
BYTE_ORDER_MARK = "\ufeff"
# of a computed number: beyond them stands what binary fractions leave over, and nothing of a cent
SIGNIFICANT_DIGITS = 12
# what a spreadsheet may take for the start of a formula, their full-width forms, and the apostrophe
# itself, so that taking one leading apostrophe away always gives back the text
_FORMULA_STARTS = frozenset("=+-@\t\r\n\0'＝＋－＠")


@dataclass(frozen=True)
class Column:
    """One column of a file: its header, with the unit in it, and what its cells hold."""

    name: str
    kind: Kind = "text"


class _Lines:
    """Keep the last line that a csv writer wrote, ended by LF, so that it can be handed on.

    The writer ends lines by CR LF: with LF alone it would leave a CR inside a cell unquoted.
    """

    def __init__(self) -> None:
        self.line = ""

    def write(self, line: str) -> int:
        self.line = line.removesuffix("\r\n") + "\n"
        return len(line)


def text_cell(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet could run it.

    >>> text_cell("=1+1"), text_cell("H100")
    ("'=1+1", 'H100')
    """
    starts = {text[:1], text.lstrip()[:1]}
    return f"'{text}" if starts & _FORMULA_STARTS else text


def original_text(cell: str) -> str:
    """Return the text that `text_cell` was given."""
    return cell.removeprefix("'")


def file_number(value: Any) -> Any:
    """Return a value as every file writes it: a float with 12 significant digits, all else as it is.

    Whole numbers and decimals are exact: counts, and facts as their source states them.

    >>> file_number(3420000.0000000005), file_number(-0.1 - 0.2), file_number(-0.0), file_number(1.5e-9)
    (3420000.0, -0.3, 0.0, 1.5e-09)
    """
    if not isinstance(value, float):
        return value
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") or 0.0


def number_cell(value: Decimal | float | None, dec: str = ".") -> str:
    """Return a number without exponent or separators, rounded as `file_number` does; empty where unknown.

    >>> number_cell(Decimal("-1250.500000000")), number_cell(1e-7), number_cell(None)
    ('-1250.5', '0.0000001', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    # repr of a float is the shortest text that gives the same float back
    exact = value if isinstance(value, Decimal) else Decimal(repr(file_number(float(value))))
    if not exact:
        return "0"
    text = format(exact, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(".", dec)


def time_cell(value: datetime | date | None) -> str:
    """Return a day or a UTC moment in ISO 8601; empty where it is unknown."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return value.isoformat()


def csv_lines(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    sep: str = ",",
    dec: str = ".",
    bom: bool = False,
) -> Iterator[str]:
    """Yield the header and one line a row. Rows hold raw values in the order of the columns."""
    if sep not in SEPARATORS or dec not in DECIMAL_MARKS:
        raise ValueError(f"sep={sep!r} dec={dec!r}: one of {SEPARATORS} and one of {DECIMAL_MARKS}")
    out = _Lines()
    writer = csv.writer(out, delimiter=sep, lineterminator="\r\n")
    writer.writerow([column.name for column in columns])
    yield (BYTE_ORDER_MARK if bom else "") + out.line
    kinds = [column.kind for column in columns]
    for row in rows:
        writer.writerow([_cell(kind, value, dec) for kind, value in zip(kinds, row, strict=True)])
        yield out.line


def write_rows(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    out: TextIO,
    sep: str = ",",
    dec: str = ".",
    bom: bool = False,
) -> None:
    """Write the lines of `csv_lines` to an open text file (opened with newline="")."""
    out.writelines(csv_lines(columns, rows, sep, dec, bom))


def _cell(kind: Kind, value: Any, dec: str) -> str:
    if kind == "number":
        return number_cell(value, dec)
    if kind == "time":
        return time_cell(value)
    return text_cell("" if value is None else str(value))
