"""The named functions of expressions, of numbers or series; NoAnswerError where there is no answer."""

import math
import statistics
from collections.abc import Callable, Mapping

from planner.core.break_even import SAME_SHARE

Series = tuple[float, ...]
Value = float | Series


class NoAnswerError(ArithmeticError):
    """The expression has no value: a division by nothing, or a thing that never happens."""


def _number(value: Value) -> float:
    if isinstance(value, tuple):
        raise NoAnswerError("a series where a number is wanted")
    return value


def _series(value: Value) -> Series:
    return value if isinstance(value, tuple) else (value,)


def _all_numbers(*values: Value) -> Series:
    return tuple(number for value in values for number in _series(value))


def _sum(*values: Value) -> float:
    return math.fsum(_all_numbers(*values))


def _least(*values: Value) -> float:
    return min(_all_numbers(*values))


def _most(*values: Value) -> float:
    return max(_all_numbers(*values))


def _mean(*values: Value) -> float:
    numbers = _all_numbers(*values)
    return math.fsum(numbers) / len(numbers)


def _median(*values: Value) -> float:
    return statistics.median(_all_numbers(*values))


def _count(*values: Value) -> float:
    return float(len(_all_numbers(*values)))


def _dot(left: Value, right: Value) -> float:
    """Return the sum of the products of two series of one length."""
    return math.fsum(x * y for x, y in zip(_series(left), _series(right), strict=True))


def _per(amount: Value, base: Value) -> float:
    """Return amount / base; there is none where the base is nothing, or less."""
    if _number(base) <= 0.0:
        raise NoAnswerError("a base that is not above 0")
    return _number(amount) / _number(base)


def _first_at_or_below(own: Value, rent: Value) -> float:
    """Return the first month, from 1, at whose end own is at or below rent.

    The search begins with the first month in which the two differ by more than the rounding of sums.
    """
    pairs = list(zip(_series(own), _series(rent), strict=True))
    margins = [SAME_SHARE * max(abs(x), abs(y)) for x, y in pairs]
    places = [place for place, (x, y) in enumerate(pairs) if abs(x - y) > margins[place]]
    if not places:
        raise NoAnswerError("the two never differ")
    for place in range(places[0], len(pairs)):
        if pairs[place][0] <= pairs[place][1] + margins[place]:
            return place + 1.0
    raise NoAnswerError("never within the horizon")


def _rounded(value: Value, digits: Value) -> float:
    """Return a number as it is kept: to so many decimals."""
    return round(_number(value), int(_number(digits)))


def _held_price(prices: Value, held: Value, share: Value) -> float:
    """Return the lowest price at or below which the price was for a share of the time."""
    pairs = sorted(zip(_series(prices), _series(held), strict=True))
    needed, passed = _number(share) * math.fsum(time for _, time in pairs), 0.0
    for price, time in pairs:
        passed += time
        if passed >= needed * (1.0 - SAME_SHARE):
            return price
    raise NoAnswerError("no time was watched")


def _held_share(prices: Value, held: Value, limit: Value) -> float:
    """Return the share of the time in which the price was at most the limit."""
    pairs = list(zip(_series(prices), _series(held), strict=True))
    return _per(
        math.fsum(time for price, time in pairs if price <= _number(limit) * (1.0 + SAME_SHARE)), _sum(held)
    )


def _held_variation(prices: Value, held: Value) -> float:
    """Return standard deviation / mean, both weighted by the time that each price held."""
    mean = _per(_dot(prices, held), _sum(held))
    squares = tuple((price - mean) ** 2 for price in _series(prices))
    return _per(math.sqrt(_per(_dot(squares, held), _sum(held))), mean)


FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "abs": lambda x: abs(_number(x)),
    "sum": _sum,
    "min": _least,
    "max": _most,
    "mean": _mean,
    "median": _median,
    "count": _count,
    "dot": _dot,
    "per": _per,
    "first_at_or_below": _first_at_or_below,
    "held_price": _held_price,
    "held_share": _held_share,
    "held_variation": _held_variation,
    "rounded": _rounded,
    "exp": lambda x: math.exp(_number(x)),
    "expm1": lambda x: math.expm1(_number(x)),
    "log1p": lambda x: math.log1p(_number(x)),
    "sqrt": lambda x: math.sqrt(_number(x)),
}
