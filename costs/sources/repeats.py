"""Mark the lines of a small hand-kept table that say again what an earlier line said."""

from collections.abc import Callable, Iterable, Iterator

from costs.rows import RawLine, RowError

from .csv_file import RESERVED

# the key that repeats, and the line that had it first
REPEATED = RESERVED + "repeats"


def marked(lines: Iterable[RawLine], keys: Callable[[RawLine], Iterable[str]]) -> Iterator[RawLine]:
    """Yield the lines; one that shares a key with an earlier one carries that key and line with it."""
    first: dict[str, int] = {}
    for raw in lines:
        own = set(keys(raw))
        taken = sorted(own & first.keys())
        if taken:
            yield RawLine(raw.line, {**raw.fields, REPEATED: f"{taken[0]} (line {first[taken[0]]})"})
            continue
        first.update(dict.fromkeys(own, raw.line))
        yield raw


def refuse_repeated(raw: RawLine, column: str) -> None:
    """Refuse a line that `marked` found to repeat an earlier one."""
    taken = raw.fields.get(REPEATED)
    if taken is not None:
        raise RowError(column, taken, "repeated", "each once in the file")
