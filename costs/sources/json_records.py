"""Take a JSON file apart without touching its numbers: each stays the text that the file has."""

from typing import BinaryIO, TypeVar

import msgspec

from costs.rows import FileError, RawLine, RowError

from .byte_stream import LIMITS, Limits, blocks_of_text
from .csv_file import RESERVED

# why a record could not be read
BROKEN = RESERVED + "broken"
_HELD_BYTES = 256 << 20
T = TypeVar("T")


def whole_text(file: BinaryIO, name: str, limits: Limits = LIMITS) -> bytes:
    """Return the whole text, unpacked; refuse more than fits into memory."""
    most = min(limits.total_bytes, _HELD_BYTES)
    held = bytearray()
    for block in blocks_of_text(file, name, limits):
        held += block
        if len(held) > most:
            raise FileError("file_too_large", f"at most {most:,} bytes of JSON")
    return bytes(held)


def decode(text: bytes | msgspec.Raw, kind: type[T], expected: str) -> T:
    """Return the text as `kind`; refuse a file that is something else."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", expected, value=str(error)) from error


def _text(value: msgspec.Raw) -> str:
    raw = bytes(value)
    if raw == b"null":
        return ""
    return msgspec.json.decode(raw, type=str) if raw.startswith(b'"') else raw.decode("utf-8")


def text_of(value: msgspec.Raw) -> str:
    """Return a string as it is, null as nothing, and anything else as its JSON text.

    >>> text_of(msgspec.Raw(b"21.9576420000"))
    '21.9576420000'
    """
    try:
        return _text(value)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FileError("json_wrong", "text in UTF-8", value=str(error)) from error


def flat(record: msgspec.Raw | bytes) -> dict[str, str]:
    """Return the fields of an object as text; what is no object gives its reason instead."""
    try:
        fields = msgspec.json.decode(record, type=dict[str, msgspec.Raw])
        return {name: _text(value) for name, value in fields.items() if not name.startswith(RESERVED)}
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return {BROKEN: f"{error}: {bytes(record)[:200].decode('utf-8', 'replace')}"}


def readable(raw: RawLine) -> dict[str, str]:
    """Return the fields of a record, or refuse one that could not be read."""
    if BROKEN in raw.fields:
        raise RowError("(record)", raw.fields[BROKEN], "record_unreadable", "an object with named fields")
    return dict(raw.fields)
