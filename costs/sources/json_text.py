"""JSON as text: numbers keep the digits they were written with, so that no price becomes binary."""

import json
from collections.abc import Iterator
from typing import BinaryIO

from costs.rows import FileError, RowError

from .byte_stream import Limits, blocks_of_text


def decoded(text: str) -> object:
    """Return a JSON value whose numbers are the texts they were written as; raise ValueError."""
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def as_text(value: object) -> str:
    """Return a value as the text of a field: nothing is empty, yes is "true", a list is its parts.

    >>> as_text(None), as_text(True), as_text(["a", "b"])
    ('', 'true', 'a; b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "; ".join(as_text(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value)


def whole_json(file: BinaryIO, name: str, limits: Limits) -> object:
    """Return the JSON value that the file is; refuse a file that is none, or more than the limit."""
    text = b"".join(blocks_of_text(file, name, limits))
    try:
        return decoded(text.decode("utf-8"))
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise FileError("json_broken", "one whole JSON value", line=line, value=str(error)) from error


def objects(parent: dict[str, object], column: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the named objects of an object; refuse anything else."""
    found = parent.get(column)
    if not isinstance(found, dict):
        raise RowError(column, as_text(found), "not_an_object", "named objects")
    for key, value in found.items():
        if not isinstance(value, dict):
            raise RowError(f"{column}.{key}"[:120], as_text(value), "not_an_object", "an object")
        yield key, value
