"""The CSV files that come with the product."""

from collections.abc import Iterator
from pathlib import Path

from .byte_stream import BLOCK_BYTES

DATA = Path(__file__).resolve().parent.parent / "data"


def chunks_of(name: str) -> Iterator[bytes]:
    """Yield the bytes of one packaged file."""
    with (DATA / name).open("rb") as file:
        while chunk := file.read(BLOCK_BYTES):
            yield chunk
