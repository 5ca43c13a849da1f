"""Claims about CSV cells: numbers stay numbers, text is never a formula, and both come back exactly."""

import csv
import io
import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner.csv_cells import (
    Column,
    csv_lines,
    file_number,
    number_cell,
    original_text,
    text_cell,
    time_cell,
    write_rows,
)

NUMBER = re.compile(r"-?\d+(\.\d+)?")
TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (Decimal("-1250.500000000"), "-1250.5"),
        (Decimal("3.930000000"), "3.93"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-0.000"), "0"),
        (1e-7, "0.0000001"),
        (1e22, "10000000000000000000000"),
        (3420000.0000000005, "3420000"),
        (-0.1 - 0.2, "-0.3"),
        (123456789.123456789, "123456789.123"),
        (1.23456789012345e-9, "0.00000000123456789012"),
        (5e-324, "0." + "0" * 323 + "5"),
        (Decimal("1234567.123456789"), "1234567.123456789"),  # a fact is exact
        (-0.0, "0"),
        (7, "7"),
        (None, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (Decimal("NaN"), ""),
    ],
)
def test_a_number_is_written_in_full(value, cell):
    assert number_cell(value) == cell


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(allow_nan=False, allow_infinity=False, places=9),
    )
)
def test_any_number_is_bare_and_comes_back(value):
    cell = number_cell(value)
    assert NUMBER.fullmatch(cell)
    if isinstance(value, Decimal):
        assert Decimal(cell) == value
        return
    assert float(cell) == pytest.approx(value, rel=5e-12, abs=0)
    assert len(cell.lstrip("-0.").replace(".", "").rstrip("0")) <= 12
    assert number_cell(float(cell)) == cell  # a file read and written again is the same file


@given(st.lists(st.floats(-1e8, 1e8), max_size=60))
def test_lines_still_add_up_to_their_total_to_the_cent(values):
    lines = [Decimal(number_cell(value)) for value in values]
    assert abs(sum(lines) - Decimal(number_cell(math.fsum(values)))) < Decimal("0.005")


@given(st.floats())
def test_the_two_kinds_of_file_write_the_same_number(value):
    cell = number_cell(value)
    assert (float(cell) == file_number(value)) if cell else not math.isfinite(value)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-5",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n",
        "\0=1",
        "  =cmd|' /C calc'!A0",
        "＝1",
        "－1",
        "'x",
        " 'x",
    ],
)
def test_text_that_could_start_a_formula_is_disarmed(text):
    assert text_cell(text) == "'" + text
    assert original_text(text_cell(text)) == text


@pytest.mark.parametrize(
    "text", ["", "H100", "a=b", "us-east-1", "3 years", "12−4", "<script>alert(1)</script>"]
)
def test_other_text_is_left_alone(text):
    assert text_cell(text) == text


@given(TEXT)
def test_any_text_comes_back(text):
    assert original_text(text_cell(text)) == text
    assert text_cell(text)[:1] not in set("=+-@\t\r\n\0")


@example([("\r", None), ("a\rb", 1), ("a\nb", 2), ('a"b', 3)])
@given(st.lists(st.tuples(TEXT, st.none() | st.integers(-(10**9), 10**9)), max_size=5))
def test_a_file_read_by_the_csv_module_gives_the_rows_back(rows):
    columns = [Column("name"), Column("total_usd", "number")]
    out = io.StringIO(newline="")
    write_rows(columns, rows, out)
    header, *read = csv.reader(io.StringIO(out.getvalue(), newline=""))
    assert header == ["name", "total_usd"]
    assert [(original_text(name), int(total) if total else None) for name, total in read] == rows


def test_separator_decimal_mark_and_byte_order_mark_are_the_readers_choice():
    lines = list(csv_lines([Column("a"), Column("b_usd", "number")], [["x;y", 1.5]], ";", ",", bom=True))
    assert lines == ["\ufeffa;b_usd\n", '"x;y";1,5\n']


def test_an_unknown_separator_is_refused():
    with pytest.raises(ValueError, match="sep="):
        next(csv_lines([Column("a")], [], sep="x"))


def test_times_are_utc_in_iso_form():
    assert time_cell(datetime(2026, 11, 30, 9, 40, tzinfo=UTC)) == "2026-11-30T09:40:00Z"
    assert time_cell(date(2026, 11, 30)) == "2026-11-30"
    assert time_cell(None) == ""
