"""What a number may be. Every public function of the core says it once, above its first line.

    @takes(gpu_hours=AT_LEAST_0, mfu=SHARE_ABOVE_0)
    def training_days(gpu_hours: float, mfu: float) -> float: ...

A value out of its range raises ValueError with the argument, the value and the range. `None` passes only
where a range is optional; NaN passes only where a range allows the unknown, as in arrays of prices.
"""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
MOST = 1e15  # no amount of money, hours or tokens that a plan can mean is larger
MOST_FLOPS = 1e30


@dataclass(frozen=True)
class Range:
    """A range of numbers, ends included unless `above` (low) or `below` (high) leave one out.

    `whole` wants an integer, `optional` allows None, `unknown` allows NaN, `endless` allows infinity.
    """

    low: float = -MOST
    high: float = MOST
    above: bool = False
    below: bool = False
    whole: bool = False
    optional: bool = False
    unknown: bool = False
    endless: bool = False

    def text(self) -> str:
        """Return the range in words, for the message of a refusal."""
        kind = "a whole number" if self.whole else "a number"
        text = f"{kind} {self._ends()}"
        return text + (", or none where unknown" if self.optional else "")

    def _ends(self) -> str:
        start = f"above {self.low:,g}" if self.above else f"from {self.low:,g}"
        if self.high >= MOST and self.low > -MOST:
            return start if self.above else f"{start} up"
        if self.below:
            return f"{start} {'and' if self.above else 'to'} below {self.high:,g}"
        return f"{start} {'and up to' if self.above else 'to'} {self.high:,g}"

    def allows(self, value: object) -> bool:
        """Return whether one number, or every number of a sequence or an array, is in the range."""
        if value is None:
            return self.optional
        if isinstance(value, np.ndarray):
            return self._allows_all(value)
        if isinstance(value, list | tuple):
            return all(self.allows(each) for each in value)
        if isinstance(value, bool | np.bool_) or not isinstance(
            value, int | float | np.integer | np.floating
        ):
            return False
        return self._allows_one(float(value))

    def _allows_one(self, value: float) -> bool:
        if math.isnan(value):
            return self.unknown
        if math.isinf(value):
            return self.endless and value > 0
        if self.whole and value != int(value):
            return False
        return (
            self.low <= value <= self.high
            and not (self.above and value == self.low)
            and not (self.below and value == self.high)
        )

    def _allows_all(self, values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> bool:
        if values.dtype.kind not in "iuf":
            return False
        if values.size == 0:
            return True
        if self.unknown:
            values = values[~np.isnan(values)]
            return values.size == 0 or self._allows_all_known(values)
        return self._allows_all_known(values)

    def _allows_all_known(self, values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> bool:
        return (
            self._allows_one(float(values.min()))
            and self._allows_one(float(values.max()))
            and (not self.whole or bool((values == np.floor(values)).all()))
        )


ANY = Range()
AT_LEAST_0 = Range(0.0)
ABOVE_0 = Range(0.0, above=True)
SHARE = Range(0.0, 1.0)
SHARE_ABOVE_0 = Range(0.0, 1.0, above=True)
SHARE_BELOW_1 = Range(0.0, 1.0, below=True)
PROBABILITY_INSIDE = Range(0.0, 1.0, above=True, below=True)
AT_LEAST_1 = Range(1.0)
COUNT = Range(0, whole=True)
COUNT_FROM_1 = Range(1, whole=True)
RATE = Range(-1.0, 1_000.0, above=True)  # a rate of interest or growth per period
FLOPS = Range(0.0, MOST_FLOPS, above=True)


def optional(allowed: Range) -> Range:
    """Return the same range with None allowed, for what may be unknown or left out."""
    return replace(allowed, optional=True)


def with_unknown(allowed: Range) -> Range:
    """Return the same range with NaN allowed, for arrays in which a gap is NaN."""
    return replace(allowed, unknown=True)


def endless(allowed: Range) -> Range:
    """Return the same range with infinity allowed, such as the time between failures that never come."""
    return replace(allowed, endless=True)


def refuse(name: str, value: object, right: str) -> None:
    """Raise the ValueError that names an argument, its value and what would be right.

    >>> refuse("hours", -1.0, "a number from 0 up")
    Traceback (most recent call last):
    ...
    ValueError: hours is -1.0; right would be a number from 0 up
    """
    raise ValueError(f"{name} is {shown(value)}; right would be {right}")


def shown(value: object) -> str:
    """Return a value as a message shows it: the first wrong-looking numbers of an array, not all of them."""
    if isinstance(value, np.ndarray) and value.size > 6:
        finite = value[np.isfinite(value)]
        ends = f"{finite.min():g} to {finite.max():g}" if finite.size else "no finite number"
        lost = int(value.size - finite.size)
        return f"an array of {value.size} from {ends}" + (f" with {lost} not finite" if lost else "")
    return str(value)


def require(allowed: Range, **values: object) -> None:
    """Raise ValueError for the first value outside the range.

    >>> require(SHARE, availability=0.97)
    """
    for name, value in values.items():
        if not allowed.allows(value):
            refuse(name, value, allowed.text())


def require_one_of(names: Sequence[str], **values: object) -> None:
    """Raise ValueError for the first value that is none of the names, such as an unknown unit."""
    for name, value in values.items():
        if value not in names:
            refuse(
                name, repr(value), ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else names[0]
            )


def takes(**allowed: Range) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that refuses arguments outside their ranges before the function begins."""

    def guard(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        unknown = set(allowed) - set(signature.parameters)
        if unknown:
            raise TypeError(f"{function.__name__} has no argument {', '.join(sorted(unknown))}")
        names = tuple(signature.parameters)

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                kind = allowed.get(name)
                if kind is not None and not kind.allows(value):
                    refuse(name, value, kind.text())
            return function(*args, **kwargs)

        guarded.__ranges__ = allowed  # type: ignore[attr-defined]
        return guarded

    return guard


def require_fields(record: object, owner: str = "", **allowed: Range) -> None:
    """Raise ValueError for the first field of a dataclass outside its range; for use in __post_init__."""
    if not is_dataclass(record):
        raise TypeError(f"{record!r} is no dataclass")
    known = {each.name for each in fields(record)}
    for name, kind in allowed.items():
        if name not in known:
            raise TypeError(f"{type(record).__name__} has no field {name}")
        value = getattr(record, name)
        if not kind.allows(value):
            refuse(f"{owner}: {name}" if owner else name, value, kind.text())
