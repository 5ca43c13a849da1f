"""The worked examples come out of the core: once with the numbers typed here, once read from the samples."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.worked import ANSWERS, EXAMPLES
from tests.core.worked.example import Example


def assert_equal(actual: Any, expected: Any, kind: str, tolerance: float, where: str) -> None:
    """Compare numbers within the tolerance; everything else, and null, exactly."""
    if isinstance(expected, dict):
        assert set(actual) == set(expected), where
        for key, value in expected.items():
            assert_equal(actual[key], value, kind, tolerance, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(actual) == len(expected), where
        for place, (one, other) in enumerate(zip(actual, expected, strict=True)):
            assert_equal(one, other, kind, tolerance, f"{where}[{place}]")
    elif isinstance(expected, bool) or not isinstance(expected, int | float):
        assert actual == expected, where
    else:
        limits = {"rel": tolerance, "abs": 0.0} if kind == "relative" else {"rel": 0.0, "abs": tolerance}
        assert actual == pytest.approx(expected, **limits), where


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_example_as_typed_here(example: Example) -> None:
    answer = ANSWERS[example.id](example.inputs)
    assert_equal(answer, example.expected, example.kind, example.tolerance, example.id)


def test_every_answer_has_a_typed_example() -> None:
    assert {example.id for example in EXAMPLES} == set(ANSWERS)


@pytest.mark.shared
@pytest.mark.parametrize("identifier", ANSWERS)
def test_example_as_published(identifier: str, shared: Path) -> None:
    published = json.loads((shared / "domain" / "worked_examples.json").read_text())
    example = next(entry for entry in published if entry["id"] == identifier)
    answer = ANSWERS[identifier](example["inputs"])
    tolerance = example["tolerance"]
    assert_equal(answer, example["expected"], tolerance["type"], tolerance["value"], identifier)


# a published example that the core does not answer stands here with the reason
NOT_ANSWERED: dict[str, str] = {}


@pytest.mark.shared
def test_every_published_example_is_answered_or_has_a_reason(shared: Path) -> None:
    published = {
        entry["id"] for entry in json.loads((shared / "domain" / "worked_examples.json").read_text())
    }
    assert published - set(ANSWERS) == set(NOT_ANSWERED)
    assert len(published) == 60
    assert all(NOT_ANSWERED.values())


def test_most_examples_are_typed_here_too() -> None:
    assert len(EXAMPLES) >= 40
