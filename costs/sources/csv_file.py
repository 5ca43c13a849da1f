"""Read a CSV of unknown quality: record by record, each with the number of the line it starts on.

Every source that takes a CSV reads it through `open_table`. What is wrong with the file as a whole is a
FileError; a line with too few or too many fields is handed on and refused by `complete` in the parser,
so that it is counted and shown like any other bad line. Blank lines are no records and are not counted.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from costs.rows import FileError, RawLine, RowError

from .byte_stream import LIMITS, Limits, blocks_of_text

# Fields that a reader adds to a line begin with this. No file can name a column so: NUL bytes are refused.
RESERVED = "\0"
# how many fields the line has, where that is not the header's number
FIELD_COUNT = RESERVED + "fields"
# a record that spans more than this has a quote that was never closed
_RECORD_LINES = 1000
_RECORD_BYTES = 4 << 20
# in a row; nobody hears of a reader that skips millions of them
_BLANK_LINES = 10_000

Mend = Callable[[Sequence[str], Sequence[str]], Sequence[str] | None]


@dataclass(frozen=True)
class Table:
    """A header and the lines under it, which stream."""

    header: tuple[str, ...]
    lines: Iterator[RawLine]


def text_lines(blocks: Iterable[bytes], limits: Limits = LIMITS) -> Iterator[bytes]:
    """Yield physical lines with their line ends; refuse one that is too long before it is held."""
    rest, number = b"", 1
    for block in blocks:
        if b"\0" in block:
            line = number + block[: block.index(0)].count(b"\n")
            raise FileError("nul_byte", "text without NUL bytes", line=line)
        pieces = (rest + block).split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            _check_line(piece, number, limits)
            yield piece + b"\n"
            number += 1
        _check_line(rest, number, limits)
    if rest:
        yield rest


def _check_line(line: bytes, number: int, limits: Limits) -> None:
    if len(line) > limits.line_bytes:
        raise FileError("line_too_long", f"lines of at most {limits.line_bytes:,} bytes", line=number)


def decode(line: bytes, number: int) -> str:
    """Return the line as text; name the line that is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
        raise FileError("not_utf8", "UTF-8 text", line=number, value=shown) from error


def records(lines: Iterable[bytes], limits: Limits = LIMITS) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the number of the line it starts on. Blank lines are skipped."""
    reader = csv.reader((decode(line, at) for at, line in enumerate(_guarded(lines), 1)), strict=True)
    blank = 0
    while True:
        start = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # strict: a file that was cut inside a quoted field ends here, not as one huge last cell
            raise FileError(
                "csv_broken", "well-formed CSV with closed quotes", line=start, value=str(error)
            ) from error
        blank = 0 if record else blank + 1
        if blank > _BLANK_LINES:
            raise FileError("blank_lines", f"at most {_BLANK_LINES:,} blank lines in a row", line=start)
        if record:
            _check_record(record, start, limits)
            yield start, record


def _guarded(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Stop a quote that is never closed from gathering the whole file into one record."""
    open_since, open_bytes = 0, 0  # 0: no quote is open
    for number, line in enumerate(lines, 1):
        if line.count(b'"') % 2:
            open_since, open_bytes = (0 if open_since else number), 0
        open_bytes += len(line)
        if open_since and (number - open_since >= _RECORD_LINES or open_bytes > _RECORD_BYTES):
            raise FileError("csv_broken", f"quotes closed within {_RECORD_LINES:,} lines", line=open_since)
        yield line


def _check_record(record: list[str], line: int, limits: Limits) -> None:
    if len(record) > limits.columns:
        raise FileError(
            "too_many_columns", f"at most {limits.columns} columns", line=line, value=str(len(record))
        )
    for position, field in enumerate(record, 1):
        if len(field) > limits.field_chars:
            raise FileError(
                "field_too_long",
                f"fields of at most {limits.field_chars:,} characters",
                line=line,
                column=f"column {position}",
                value=field[:80],
            )


def check_header(names: Sequence[str], required: Iterable[str], line: int) -> tuple[str, ...]:
    """Return the header's names without blanks around them; refuse repeated or missing ones."""
    header = tuple(name.strip() for name in names)
    missing = [name for name in required if name not in header]
    if missing:
        raise FileError(
            "columns_missing",
            f"a header line with {', '.join(required)} separated by commas; {', '.join(missing)} not found",
            line=line,
            column=missing[0],
            value=", ".join(header),
        )
    for name in header:
        if not name or header.count(name) > 1:
            code = "column_repeated" if name else "column_unnamed"
            raise FileError(code, "each column name once", line=line, column=name, value=", ".join(header))
    return header


def _rows(
    found: Iterator[tuple[int, list[str]]], header: tuple[str, ...], limits: Limits, mend: Mend | None
) -> Iterator[RawLine]:
    for count, (line, record) in enumerate(found, 1):
        if count > limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=line)
        values: Sequence[str] = record
        if len(record) != len(header) and mend is not None:
            values = mend(header, record) or record
        fields = dict(zip(header, values, strict=False))
        if len(values) != len(header):
            fields[FIELD_COUNT] = f"{len(values)}, header {len(header)}"
        yield RawLine(line, fields)


def open_table(
    file: BinaryIO,
    name: str,
    required: Iterable[str],
    *,
    limits: Limits = LIMITS,
    mend: Mend | None = None,
) -> Table:
    """Return the header, checked at once, and the lines under it, which are read on demand.

    `mend(header, record)` may return the right fields of a line of the wrong length whose damage is
    known, or None. A wrong header or an unreadable start raises here; what comes later, while iterating.
    """
    found = records(text_lines(blocks_of_text(file, name, limits), limits), limits)
    line, names = next(found, (1, []))
    if not any(name.strip() for name in names):
        raise FileError("empty_file", "a file with a header line and rows", line=line)
    header = check_header(names, tuple(required), line)
    return Table(header, _rows(found, header, limits, mend))


def complete(raw: RawLine) -> Mapping[str, str]:
    """Return the line's fields, or refuse a line that does not have as many as the header."""
    count = raw.fields.get(FIELD_COUNT)
    if count is not None:
        raise RowError(
            "(line)", f"fields: {count}", "field_count", "as many fields as the header has columns"
        )
    return raw.fields


def names_all(head: str, columns: Sequence[str]) -> bool:
    """Return whether the first line of a text is a header that names all of these columns.

    Blanks, quotes and the separator do not matter here: whether the file can be read is found out later.
    """
    first = head.lstrip("\ufeff\r\n ").partition("\n")[0]
    found = {field.strip().strip('"').casefold() for field in re.split("[,;\t]", first)}
    return all(column.casefold() in found for column in columns)
