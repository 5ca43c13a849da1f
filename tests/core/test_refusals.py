"""Every public function of the core refuses what cannot be meant: argument, value and range are named.

The functions are found by walking the core; a new one without a range for a numeric argument fails here.
"""

import importlib
import inspect
import math
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import planner.core
from planner.core.ranges import MOST, Range

MODULES = [module.name for module in pkgutil.walk_packages(planner.core.__path__, "planner.core.")]
# These work on a plan that check_plan() has let through and on arrays made from it: their door is evaluate().
BEHIND_THE_DOOR = {
    "cliffs",
    "committed",
    "contracts",
    "dispatch",
    "eligibility",
    "explain.case",
    "explain.words",
    "frames",
    "gaps",
    "gates",
    "ledger",
    "lines",
    "loan",
    "market",
    "metered",
    "notes",
    "owned",
    "owned_capital",
    "power",
    "projects",
    "ranges",
    "savings",
    "setting",
    "slots",
    "uncertainty.fixed",
    "uncertainty.states",
    "uncertainty.use",
}


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute, value in vars(module).items():
            if attribute.startswith("_") or getattr(value, "__module__", "") != name:
                continue
            place = f"{name.removeprefix('planner.core.')}.{attribute}"
            if inspect.isfunction(value):
                yield place, value
            elif inspect.isclass(value):
                yield from methods(place, value)


def methods(place: str, one: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for attribute, value in vars(one).items():
        if not attribute.startswith("_") and inspect.isfunction(value):
            yield f"{place}.{attribute}", value


def is_number(annotation: object) -> bool:
    """Return whether an argument takes numbers: one, none or one, or many."""
    if annotation in (int, float):
        return True
    origin = typing.get_origin(annotation)
    if origin in (types.UnionType, typing.Union):
        return any(is_number(part) for part in typing.get_args(annotation))
    if origin is np.ndarray:
        return np.dtype[np.float64] in typing.get_args(annotation)
    return origin in (tuple, list) and any(is_number(part) for part in typing.get_args(annotation))


def numeric_arguments(function: Callable[..., Any]) -> list[str]:
    hints = typing.get_type_hints(inspect.unwrap(function))
    return [name for name, hint in hints.items() if name != "return" and is_number(hint)]


PUBLIC = dict(functions())
OPEN = {
    name: function
    for name, function in PUBLIC.items()
    if function.__module__.removeprefix("planner.core.") not in BEHIND_THE_DOOR
    and numeric_arguments(function)
}


def test_the_walk_finds_the_core() -> None:
    assert len(PUBLIC) > 250
    assert len(OPEN) > 120
    assert {f"planner.core.{name}" for name in BEHIND_THE_DOOR} <= set(MODULES)


@pytest.mark.parametrize("name", OPEN)
def test_every_numeric_argument_has_a_range(name: str) -> None:
    ranges = getattr(OPEN[name], "__ranges__", {})
    assert [each for each in numeric_arguments(OPEN[name]) if each not in ranges] == []


def inside(allowed: Range) -> float:
    """Return a number that the range allows."""
    for value in (1, 0, 0.5, allowed.low, allowed.high, (allowed.low + allowed.high) / 2):
        if allowed.allows(value):
            return value
    raise AssertionError(allowed)


def outside(allowed: Range) -> Iterator[float]:
    """Yield numbers that the range does not allow."""
    yield from (math.inf, -math.inf) if not allowed.endless else (-math.inf,)
    if not allowed.unknown:
        yield math.nan
    if allowed.low > -MOST:
        yield allowed.low if allowed.above else allowed.low - 1
    if allowed.high < MOST:
        yield allowed.high if allowed.below else allowed.high + 1
    if allowed.whole:
        yield 1.5


CASES = [(name, argument) for name in OPEN for argument in getattr(OPEN[name], "__ranges__", {})]


@pytest.mark.parametrize(("name", "argument"), CASES, ids=str)
def test_a_value_out_of_range_is_refused_by_name(name: str, argument: str) -> None:
    function = OPEN[name]
    ranges: dict[str, Range] = function.__ranges__  # type: ignore[attr-defined]
    hints = typing.get_type_hints(inspect.unwrap(function))
    for wrong in outside(ranges[argument]):
        given: dict[str, Any] = {}
        for each in inspect.signature(function).parameters:
            # what has no range is not looked at before the numbers are
            value: Any = wrong if each == argument else inside(ranges[each]) if each in ranges else None
            is_array = each in ranges and typing.get_origin(hints[each]) is np.ndarray
            given[each] = np.array([value], dtype=float) if is_array else value
        with pytest.raises(ValueError, match=f"^{argument} is ") as refused:
            function(**given)
        assert "right would be a" in str(refused.value)
        assert ranges[argument].text() in str(refused.value)
