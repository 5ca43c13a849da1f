"""Work a figure out again from the inputs of its explanation, and nothing else.

The expression is read as Python's grammar reads it and walked node by node: names of inputs, numbers,
+ - * / ** and the functions of functions.py. Anything else is refused.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

from planner.core.explain.functions import FUNCTIONS, NoAnswerError, Value
from planner.core.explain.parts import Explanation

TOLERANCE = 1e-9  # of the figure; of the largest term where the figure is a sum or a difference
OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
Known = Mapping[str, Value | None]


def recompute(explanation: Explanation) -> float | None:
    """Return the figure as the expression gives it; None where an input of it is unknown.

    None too where there is no answer: a division by 0, a month that never comes. Raises ValueError for an
    expression with a name that no input has, or with anything but arithmetic.

    >>> from planner.core.explain.parts import Input
    >>> inputs = (Input("Total", 30.0, "30 USD", symbol="total"), Input("Hours", 8.0, "8 h", symbol="hours"))
    >>> recompute(Explanation("Cost", "", "", inputs, 3.75, "USD", "total / hours"))
    3.75
    """
    if not explanation.expression:
        return None
    return _number_of(_parsed(explanation.expression), known_of(explanation))


def agrees(explanation: Explanation) -> bool:
    """Return whether the stated value is what its inputs give, to TOLERANCE.

    A sum or difference is held to the size of its largest term: that is what its rounding is of.
    """
    again = recompute(explanation)
    if again is None or explanation.value is None:
        return again is None and explanation.value is None
    size = _size(_parsed(explanation.expression), known_of(explanation))
    return abs(again - explanation.value) <= TOLERANCE * max(abs(again), abs(explanation.value), size)


def known_of(explanation: Explanation) -> Known:
    """Return the inputs that take part in the expression, by symbol."""
    return {one.symbol: one.value for one in explanation.inputs if one.symbol}


@lru_cache(maxsize=512)
def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression, mode="eval").body
    except SyntaxError:
        raise ValueError(f"expression is {expression!r}; right would be arithmetic over symbols") from None


def _number_of(node: ast.expr, known: Known) -> float | None:
    try:
        found = _value(node, known)
    except (NoAnswerError, ZeroDivisionError, OverflowError):
        return None
    if found is None or isinstance(found, tuple | complex) or math.isnan(found):
        return None
    return float(found)


def _value(node: ast.expr, known: Known) -> Value | None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            found = _value(operand, known)
            return None if found is None else -_single(found)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            first, second = _value(left, known), _value(right, known)
            if first is None or second is None:
                return None
            return OPERATORS[type(op)](_single(first), _single(second))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            values = [_value(one, known) for one in arguments]
            return None if any(one is None for one in values) else FUNCTIONS[name](*values)
    raise ValueError(
        f"{ast.unparse(node)!r} in an expression; right would be an input's symbol or arithmetic"
    )


def _single(value: Value) -> float:
    if isinstance(value, tuple):
        raise ValueError("a series in arithmetic; right would be a function of it")
    return value


def _size(node: ast.expr, known: Known) -> float:
    """Return the largest term of a sum or difference, or of a series that is added up."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return max(_size(left, known), _size(right, known))
        case ast.Call(func=ast.Name(id="sum"), args=arguments):
            values = [_value(one, known) for one in arguments]
            flat = [number for one in values if one is not None for number in _flat(one)]
            return max((abs(number) for number in flat), default=0.0)
    return abs(_number_of(node, known) or 0.0)


def _flat(value: Value) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)
