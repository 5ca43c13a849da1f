"""Foreign text, made fit to be stored and shown."""

import re

# what moves a cursor, colours a terminal, ends a line, or turns the reading direction; half surrogates
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def has_steering(text: str) -> bool:
    """Return whether the text holds characters that do something other than stand there."""
    return _STEERING.search(text) is not None


def printable(text: object, limit: int) -> str:
    """Return the text with its steering characters written out, at most `limit` long.

    >>> printable("a\\x1b[31mb", 20)
    'a\\\\x1b[31mb'
    """
    clean = _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
