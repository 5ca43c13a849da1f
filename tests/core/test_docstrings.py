"""The examples in the core's docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import planner.core

MODULES = [module.name for module in pkgutil.walk_packages(planner.core.__path__, "planner.core.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    tried = [doctest.testmod(importlib.import_module(name)).attempted for name in MODULES]
    assert sum(tried) >= 10
