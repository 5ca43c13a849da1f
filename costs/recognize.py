"""Say which source a file is for, by its first bytes and its name."""

from typing import BinaryIO

from .rows import FileError
from .sources import SOURCES
from .sources.byte_stream import blocks_of_text

HEAD_BYTES = 64 << 10


def head_of(file: BinaryIO, name: str) -> str:
    """Return the first 64 KiB of a file as text, unpacked; raise FileError where it is no text."""
    try:
        return next(blocks_of_text(file, name))[:HEAD_BYTES].decode("utf-8", "replace")
    finally:
        file.seek(0)


def recognize(file: BinaryIO, name: str) -> list[str]:
    """Return the sources whose layout the file seems to have, by name."""
    head = head_of(file, name)
    return [source.NAME for source in SOURCES.values() if source.looks_like(head, name)]


def the_source_of(file: BinaryIO, name: str) -> str:
    """Return the one source that a file is for; raise FileError where that is none or several."""
    found = recognize(file, name)
    if not found:
        raise FileError("not_recognised", "a file in the layout of one of the sources; choose it by hand")
    if len(found) > 1:
        raise FileError("several_sources", "the source by name", value=", ".join(found))
    return found[0]
