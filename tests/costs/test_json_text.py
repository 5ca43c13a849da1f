"""State that JSON is read as text: no digit of a number is lost on the way."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.rows import RowError
from costs.sources.json_text import as_text, decoded, objects


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_the_digits_it_is_written_with(number: Decimal) -> None:
    text = str(number).replace("E+", "E")
    assert decoded(f'{{"price": [{text}]}}') == {"price": [text]}


@pytest.mark.parametrize("text", ["", "{", "[1,]", "[" * 100_000, '{"a": 1} {"a": 2}'])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        decoded(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "true"), (False, "false"), ("2.50", "2.50"), (["a", None, True], "a; ; true"),
        ({"a": "1"}, '{"a": "1"}'), ([], ""),
    ],
)  # fmt: skip
def test_a_value_becomes_the_text_of_a_field(value: object, text: str) -> None:
    assert as_text(value) == text


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.integers())))
def test_named_objects_come_as_they_are(named: dict[str, dict[str, int]]) -> None:
    value = decoded(json.dumps({"by": named}))
    assert isinstance(value, dict)
    found = {
        key: {name: int(str(number)) for name, number in each.items()} for key, each in objects(value, "by")
    }
    assert found == named


@pytest.mark.parametrize("value", [None, [], "x", {"a": None}, {"a": [1]}])
def test_anything_else_than_named_objects_is_refused(value: object) -> None:
    with pytest.raises(RowError, match="not_an_object"):
        list(objects({"by": value}, "by"))
