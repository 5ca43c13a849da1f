"""Unpack a body as it comes, count what it unpacks to, and notice when it ends early."""

import zlib
from collections.abc import Iterator

_STEP = 256 << 10
_GZIP, _ZLIB, _RAW = 31, 15, -15


class TooLong(Exception):
    """A body that is larger than its reader takes."""


class _Counted:
    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0

    def __call__(self, block: bytes) -> bytes:
        self._bytes += len(block)
        if self._bytes > self._most:
            raise TooLong(f"more than {self._most:,} bytes")
        return block


def decoded(blocks: Iterator[bytes], coding: str, most_bytes: int) -> Iterator[bytes]:
    """Yield the unpacked body; raise EOFError when it is cut or broken, TooLong when it is too large.

    What comes over the wire is counted too: packed nothings unpack to nothing without end.
    """
    count_packed = _Counted(most_bytes + _STEP)
    packed: Iterator[bytes] = (count_packed(block) for block in blocks)
    count = _Counted(most_bytes)
    if coding in ("", "identity"):
        found = packed
    elif coding in ("gzip", "x-gzip"):
        found = _unpacked(packed, _GZIP)
    elif coding == "deflate":
        found = _deflated(packed)
    else:
        raise EOFError(f"a body packed as {coding[:40]!r}, which was not asked for")
    for block in found:
        if block:
            yield count(block)


def _deflated(packed: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack deflate, which servers send with and without the head that the standard wants."""
    first = next((block for block in packed if block), b"")
    has_head = len(first) > 1 and first[0] & 0x0F == 8 and int.from_bytes(first[:2], "big") % 31 == 0
    return _unpacked(_joined(first, packed), _ZLIB if has_head else _RAW)


def _joined(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _unpacked(packed: Iterator[bytes], bits: int) -> Iterator[bytes]:
    """Unpack in bounded steps; a gzip body may have several members."""
    engine, is_begun = zlib.decompressobj(bits), False
    for block in packed:
        rest = block
        while rest:
            if engine.eof:
                if bits != _GZIP:
                    raise EOFError("bytes behind the end of the packed body")
                engine = zlib.decompressobj(bits)
            is_begun = True
            try:
                yield engine.decompress(rest, _STEP)
            except zlib.error as error:
                raise EOFError(f"a packed body that is broken: {error}") from error
            rest = engine.unused_data if engine.eof else engine.unconsumed_tail
    if not engine.eof:
        yield engine.flush()
    if not is_begun or not engine.eof:
        raise EOFError("a packed body that ends early")
