"""The address is the state: read parameters without ever failing, and write them back in one order."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from django.http import HttpRequest

Pairs = list[tuple[str, str]]
# of every page (view=print) and of every file (separator, decimal mark, byte order mark)
EVERYWHERE = frozenset({"view"})
OF_FILES = frozenset({"sep", "dec", "bom"})
LONGEST_SHOWN = 40


def unknown_parameters(request: HttpRequest, known: Iterable[str]) -> list[str]:
    """Return the names in the address that the page does not know, in their order."""
    names = EVERYWHERE.union(known)
    return [name for name in request.GET if name not in names]


def ignored_notice(names: Sequence[str]) -> list[str]:
    """Return the one sentence about parameters that were ignored, or nothing."""
    if not names:
        return []
    listed = ", ".join(f"“{shortened(name)}”" for name in names)
    word = "parameter" if len(names) == 1 else "parameters"
    return [f"The address names {word} {listed}, which this page does not know: ignored."]


def shortened(text: str) -> str:
    """Return a text that came with the address short enough to be repeated on the page."""
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return clean if len(clean) <= LONGEST_SHOWN else f"{clean[: LONGEST_SHOWN - 1]}…"


def whole_number(text: str, *, default: int, least: int = 1, most: int = 10_000) -> int:
    """Return a whole number within bounds, or the default for anything else."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        return default
    return int(text) if least <= int(text) <= most else default


def address(path: str, pairs: Pairs) -> str:
    """Return a path with its parameters."""
    return f"{path}?{urlencode(pairs)}" if pairs else path


def given_pairs(request: HttpRequest, known: Iterable[str]) -> Pairs:
    """Return the known parameters of the address as they were given."""
    names = frozenset(known)
    return [(name, value) for name, values in request.GET.lists() if name in names for value in values]
