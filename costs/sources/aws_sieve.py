"""Look through a price list of millions of lines for the few that matter, a block at a time.

Taking a line apart costs microseconds, and there are millions of them. So lines in a row about one SKU are
found first: they are about one product, and the first of them tells whether it holds one of a few words.
The others are counted, never cut out.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from costs.rows import FileError

from .byte_stream import BLOCK_BYTES, Limits

_LINE_END, _QUOTE = b'\n"'
_SKU_BYTES = 18  # with its quotes, at the beginning of a line
_FULL_BYTES = 1 << 20  # enough that the work per block is not felt, few enough to stay near the CPU
_ROOM_BYTES = _FULL_BYTES + BLOCK_BYTES

Places = npt.NDArray[np.intp]


class Stretch(NamedTuple):
    """Lines in a row about one product that is wanted, or about several that are not: without their text."""

    line: int  # number of the first
    lines: int
    text: bytes


class Sieve:
    """The lines under the header. `last` is the last of them, once they have been gone through."""

    def __init__(self, blocks: Iterable[bytes], wanted: Sequence[bytes], first: int, limits: Limits) -> None:
        self._blocks, self._wanted, self._limits = blocks, wanted, limits
        self._next = first
        self.last = (first - 1, b"")
        # room that is used again and again: to ask the system for it each time costs more than the search
        self._text = bytearray(_ROOM_BYTES)
        self._codes = np.frombuffer(self._text, np.uint8)
        self._skus = np.ndarray((_ROOM_BYTES - _SKU_BYTES,), f"S{_SKU_BYTES}", self._text, strides=(1,))
        self._ends = np.empty(_ROOM_BYTES, np.bool_)

    def __iter__(self) -> Iterator[Stretch]:
        text, filled = self._text, 0
        for block in self._blocks:
            filled = self._take_in(block, filled)
            if filled < _FULL_BYTES:
                continue
            size = text.rfind(b"\n", 0, filled) + 1
            if size:
                yield from self._lines(size)
                text[: filled - size] = text[size:filled]
                filled -= size
            if filled >= _FULL_BYTES:
                expected = f"lines of at most {_FULL_BYTES:,} bytes"
                raise FileError("line_too_long", expected, line=self._next)
        if filled:
            if text[filled - 1] != _LINE_END:
                filled = self._take_in(b"\n", filled)
            yield from self._lines(filled)

    def _take_in(self, block: bytes, filled: int) -> int:
        self._text[filled : filled + len(block)] = block
        return filled + len(block)

    def _lines(self, size: int) -> Iterator[Stretch]:
        """Yield the stretches of the whole lines that the room begins with."""
        begin = self._text.rfind(b"\n", 0, size - 1) + 1
        last = bytes(self._text[begin : size - 1])
        starts = self._starts(size)
        if starts is None:
            yield from self._one_by_one(bytes(self._text[:size]))
        else:
            yield from self._by_product(size, starts)
        if last.strip():
            self.last = (self._next - 1, last)
        if self._next - 1 > self._limits.rows:
            raise FileError("too_many_rows", f"at most {self._limits.rows:,} lines", line=self._next - 1)

    def _starts(self, size: int) -> Places | None:
        """Return where each line begins, or None where the lines have to be looked at one by one.

        That is where they do not all begin with a SKU in quotes: there are other line ends, blank lines, a
        field that spans lines, or no SKUs.
        """
        codes = self._codes
        if self._text.find(b"\0", 0, size) >= 0 or self._text.find(b"\r", 0, size) >= 0:
            return None
        ends = np.flatnonzero(np.equal(codes[:size], _LINE_END, out=self._ends[:size]))
        starts = np.concatenate((ends[:1] * 0, ends[:-1] + 1))
        if int((ends - starts).min()) < _SKU_BYTES:
            return None
        are_quotes = (codes[starts] == _QUOTE) & (codes[starts + (_SKU_BYTES - 1)] == _QUOTE)
        return starts if are_quotes.all() else None

    def _by_product(self, size: int, starts: Places) -> Iterator[Stretch]:
        text, wanted = self._text, self._wanted
        skus = self._skus[starts]
        firsts = np.flatnonzero(np.concatenate(([True], skus[1:] != skus[:-1])))
        begins, ends = starts[firsts], np.append(starts, size)[firsts + 1]
        lines = [*firsts.tolist(), len(starts)]
        done = 0  # products before this one are handed out
        for product, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            for word in wanted:
                if text.find(word, begin, end) >= 0:
                    if product > done:
                        yield self._stretch(lines[product] - lines[done], b"")
                    done = product + 1
                    after = int(begins[done]) if done < len(begins) else size
                    yield self._stretch(lines[done] - lines[product], bytes(text[begin:after]))
                    break
        if len(begins) > done:
            yield self._stretch(lines[-1] - lines[done], b"")

    def _stretch(self, lines: int, text: bytes) -> Stretch:
        first, self._next = self._next, self._next + lines
        return Stretch(first, lines, text)

    def _one_by_one(self, text: bytes) -> Iterator[Stretch]:
        for line in text.removesuffix(b"\n").split(b"\n"):
            check_line(line, self._next)
            if line.strip():
                self.last = (self._next, line)
                is_wanted = any(word in line for word in self._wanted)
                yield self._stretch(1, line + b"\n" if is_wanted else b"")
            else:
                self._next += 1


def check_line(line: bytes, number: int) -> None:
    """Refuse a file with a line that is no text, or that leaves a quoted field open."""
    if b"\0" in line:
        raise FileError("nul_byte", "text without NUL bytes", line=number)
    if line.count(b'"') % 2:
        raise FileError("csv_broken", "closed quotes", line=number)
