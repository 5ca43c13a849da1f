"""Read a small JSON document whole, its numbers as the text that stands there, and its records as lines.

Answers about quotas have kilobytes and are told apart by what lies deep in them, so they are held as Python
objects. Text keeps 9.223372036854776e+18 as it was written, and makes "350" in quotes equal to 350.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NoReturn

from costs.rows import FileError, RawLine

from .byte_stream import Limits, blocks_of_text
from .csv_file import RESERVED
from .json_records import BROKEN, whole_text

LIMITS = Limits(total_bytes=64 << 20, rows=500_000)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands twice in one object")
    return found


def starts_like_json(file: BinaryIO, name: str, limits: Limits) -> bool:
    """Return whether the file's first character is that of a JSON object or list."""
    return next(blocks_of_text(file, name, limits)).lstrip()[:1] in (b"{", b"[")


def document(file: BinaryIO, name: str, limits: Limits, expected: str) -> Any:
    """Return the document. Numbers are text; true, false and null are themselves."""
    held = whole_text(file, name, limits)
    try:
        return json.loads(
            held.decode("utf-8"),
            parse_int=str,
            parse_float=str,
            parse_constant=_no_number,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        raise FileError("json_wrong", expected, value=str(error)) from error


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)


def fields_of(record: Any) -> dict[str, str]:
    """Return the members of an object as text: null as nothing, an object or a list as its JSON.

    What is no object gives its reason instead, for the parser to refuse.
    """
    if not isinstance(record, dict):
        return {BROKEN: _text(record)[:200] or "null"}
    return {name: _text(value) for name, value in record.items() if not name.startswith(RESERVED)}


def inner(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object inside an object; an empty one where there is none."""
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def record_lines(records: Iterable[tuple[Any, Mapping[str, str]]], limits: Limits) -> Iterator[RawLine]:
    """Yield each record with what else is known of it, numbered from 1."""
    for number, (record, said) in enumerate(records, 1):
        if number > limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} records", line=number)
        yield RawLine(number, {**fields_of(record), **said})


def listed(value: Any, expected: str, column: str) -> list[Any]:
    """Return the list, or refuse the file."""
    if not isinstance(value, list):
        raise FileError("json_wrong", expected, column=column, value=_text(value)[:200])
    return value
