"""What an explanation is made of: the figure, its sentence and formula, and the inputs it follows from."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """One input of a figure: its value, the text as shown with its unit, and where it comes from.

    `value` is a number, a series (by month, by week), or None where it is unknown or no number. `symbol` is
    its name in the expression; "" is an input that is shown for context and takes no part in it.
    """

    name: str
    value: float | tuple[float, ...] | None
    text: str
    source: str = ""
    symbol: str = ""


@dataclass(frozen=True)
class Explanation:
    """What stands behind one figure. `recompute` works `value` out again from the inputs alone.

    `formula` is the text with this case's numbers; `expression` the same in symbols, arithmetic and the
    functions of functions.py; it is "" only where the figure is no number. `value` None is unknown, or does
    not exist in this case (a break-even that never comes).
    """

    title: str
    sentence: str
    formula: str
    inputs: tuple[Input, ...]
    value: float | None = None
    unit: str = ""
    expression: str = ""


def context(name: str, text: str, source: str = "") -> Input:
    """Return an input that is shown and takes no part in the expression."""
    return Input(name, None, text, source)


def numbered(parts: Iterable[tuple[str, float | None, str]], letter: str = "s") -> tuple[Input, ...]:
    """Return parts of a sum as inputs with the symbols s1, s2, ..."""
    return tuple(
        Input(name, value, text, symbol=f"{letter}{place}")
        for place, (name, value, text) in enumerate(parts, start=1)
    )


def sum_of(inputs: Iterable[Input]) -> str:
    """Return the expression that adds up inputs: "s1 + s2"; "0" where there are none.

    >>> sum_of(numbered([("a", 1.0, "1"), ("b", 2.0, "2")]))
    's1 + s2'
    """
    return " + ".join(one.symbol for one in inputs if one.symbol) or "0"
