"""What a sentence about a run says: words, and no key as the tables keep it."""

import pytest

from costs.rows import FileError
from costs.summary import failure, place

from .conftest import Take

A_LIST = "as_of 2026-01-02\n"


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("price", "line 3, column price, value 'x', expected a number"),
        ("(key)", "line 3, several columns, value 'x', expected a number"),
        ("(line)", "line 3, the line, value 'x', expected a number"),
        ("", "line 3, value 'x', expected a number"),
    ],
)
def test_a_name_in_parentheses_is_no_column(column: str, said: str) -> None:
    assert place(3, column, "x", "a number") == said


def test_what_is_wrong_with_a_file_is_said_in_words() -> None:
    error = FileError("columns_missing", "the columns a and b", column="a")
    assert failure("list.csv", error) == "list.csv: columns missing: column a, expected the columns a and b"


@pytest.mark.django_db
def test_two_lines_that_contradict_each_other_are_named_in_words(take: Take) -> None:
    run = take(A_LIST + "a,8,east,80\na,8,east,81\nb,1,east,9\n")
    assert (
        "2 held in quarantine, the first: acme a, 8 × H100, east, on demand: "
        "expected one line per fact; line 3 says otherwise, so neither is taken"
    ) in run.message
