"""The bytes of a file, unpacked and measured while they stream: nothing here holds a whole file."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from costs.rows import FileError

BLOCK_BYTES = 64 << 10
_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
# what a file turns out to be by its first bytes, when it is not text of the kind that was promised
_FOREIGN = (
    (b"PK\x03\x04", "zip_instead_of_text", "a plain CSV or JSON file, not a zip archive or a workbook"),
    (b"PAR1", "parquet_instead_of_text", "a CSV or JSON file, not Parquet"),
    (b"%PDF", "pdf_instead_of_text", "a CSV or JSON file, not a PDF"),
)


@dataclass(frozen=True)
class Limits:
    """How much of a file is read before it is refused. The defaults are those of a browser upload."""

    total_bytes: int = 512 << 20  # after unpacking
    ratio: int = 200  # unpacked bytes per packed byte
    line_bytes: int = 1 << 20
    field_chars: int = 64 << 10
    columns: int = 512
    rows: int = 5_000_000


LIMITS = Limits()
_RATIO_FROM_BYTES = 1 << 20  # a short file of blanks may shrink a lot without being a bomb


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block


def _check_unpacked(packed: int, unpacked: int, limits: Limits) -> None:
    if unpacked > limits.total_bytes:
        raise FileError("file_too_large", f"at most {limits.total_bytes:,} bytes after unpacking")
    if unpacked > max(_RATIO_FROM_BYTES, packed * limits.ratio):
        raise FileError(
            "gzip_ratio",
            f"at most {limits.ratio} unpacked bytes per packed byte",
            value=f"{unpacked:,} bytes",
        )


def _gunzip(blocks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """Yield unpacked blocks of bounded size; refuse a stream that is broken, cut short or a bomb."""
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    packed = unpacked = 0
    started = True  # whether `member` has begun to read a member
    for block in blocks:
        packed += len(block)
        waiting = block
        while waiting:
            if member.eof:
                if not waiting.strip(b"\0"):  # padding after the last member
                    break
                member, started = zlib.decompressobj(zlib.MAX_WBITS | 16), True
            try:
                piece = member.decompress(waiting, BLOCK_BYTES)
            except zlib.error as error:
                raise FileError("gzip_broken", "a whole gzip file", value=str(error)) from error
            waiting = member.unused_data if member.eof else member.unconsumed_tail
            unpacked += len(piece)
            _check_unpacked(packed, unpacked, limits)
            if piece:
                yield piece
    if started and not member.eof:
        raise FileError("gzip_truncated", "a whole gzip file: this one ends before its end mark")


def _measured(blocks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    total = 0
    for block in blocks:
        total += len(block)
        if total > limits.total_bytes:
            raise FileError("file_too_large", f"at most {limits.total_bytes:,} bytes")
        yield block


def _looks_utf16(head: bytes) -> bool:
    """Tell whether the text is UTF-16: by its mark, or by a NUL in every second byte of its start."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    start = head[:64]
    pairs = len(start) // 2
    return pairs >= 2 and (start[1::2].count(0) >= pairs or start[0::2].count(0) >= pairs)


def _check_head(head: bytes) -> None:
    """Refuse what is not UTF-8 text, by name.

    UTF-16 is refused even with its mark, which makes it certain: the fix is one click in the program that
    wrote the file, and one encoding in means that a line number and a stored byte mean one thing.
    """
    if not head:
        raise FileError("empty_file", "a file with a header line and rows")
    if _looks_utf16(head):
        raise FileError(
            "utf16", 'UTF-8 text: save the file again as "CSV UTF-8", not as "Unicode text"', line=1
        )
    for magic, code, expected in _FOREIGN:
        if head.startswith(magic):
            raise FileError(code, expected)
    first = head.lstrip(b" \t\r\n")[:80]
    if first.startswith(b"<"):
        raise FileError(
            "html_instead_of_data",
            "the data themselves: this is a web page, often a login or an error page saved by mistake",
            line=1,
            value=first.decode("utf-8", "replace"),
        )


def blocks_of_text(file: BinaryIO, name: str, limits: Limits = LIMITS) -> Iterator[bytes]:
    """Yield the file's bytes from its beginning, unpacked, without a UTF-8 mark.

    Whether a file is packed must be said twice, by its name (.gz) and by its first two bytes, so that
    neither a renamed file nor a wrong name is read as something else.
    """
    file.seek(0)
    packed = file.read(len(_GZIP)) == _GZIP
    file.seek(0)
    if packed != name.lower().endswith(".gz"):
        code, expected = (
            ("gzip_without_suffix", "a name that ends in .gz: the bytes are packed")
            if packed
            else ("not_gzip", "gzip bytes, as the ending .gz says; or a name without .gz")
        )
        raise FileError(code, expected, value=name)
    unpacked = _gunzip(_blocks(file), limits) if packed else _measured(_blocks(file), limits)
    head = next(unpacked, b"")
    _check_head(head)
    yield head.removeprefix(_UTF8_MARK)
    yield from unpacked
