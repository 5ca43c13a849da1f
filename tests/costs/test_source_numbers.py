"""State which texts are numbers, dates and hours, and that nothing is guessed."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.rows import RowError
from costs.sources.dates import day, day_in_name, hour
from costs.sources.decimals import number, optional_number, price, to_step


@given(
    st.decimals(
        min_value=Decimal("0.000000001"),
        max_value=Decimal(100_000),
        places=9,
        allow_nan=False,
        allow_infinity=False,
    )
)
def test_every_price_survives_the_way_through_text(amount: Decimal) -> None:
    assert price("Price", format(amount, "f")) == amount


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=6))
def test_every_plain_number_is_read_exactly(value: Decimal) -> None:
    assert number("n", format(value, "f")) == value


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("NaN", "not_a_number"),
        ("nan", "not_a_number"),
        ("Infinity", "not_a_number"),
        ("-inf", "not_a_number"),
        ("1_000", "not_a_number"),
        ("１２", "not_a_number"),
        ("١٢", "not_a_number"),
        ("1.234,56", "not_a_number"),
        ("1,234.56", "not_a_number"),
        ("1,5", "not_a_number"),
        ("1 000", "not_a_number"),
        ("$5", "not_a_number"),
        ("5 USD", "not_a_number"),
        ("0x10", "not_a_number"),
        ("1e400", "not_a_number"),
        ("", "not_a_number"),
        (".5", "not_a_number"),
        ("--5", "not_a_number"),
        ("1\n", "not_a_number"),
        ("9" * 400, "not_a_number"),
        ("-5", "negative_price"),
        ("0", "zero_price"),
        ("-0", "zero_price"),
        ("0.00", "zero_price"),
        ("1e9", "price_out_of_bounds"),
        ("1e99", "price_out_of_bounds"),
        ("100000.01", "price_out_of_bounds"),
        ("0.0000000001", "price_out_of_bounds"),
    ],
)
def test_what_is_no_price_is_refused_and_never_guessed(text: str, rule: str) -> None:
    with pytest.raises(RowError) as caught:
        price("Price", text)
    assert (caught.value.column, caught.value.value, caught.value.rule) == ("Price", text, rule)
    assert caught.value.expected


@pytest.mark.parametrize(
    ("text", "value"), [("5e-05", "0.00005"), (" 1.5 ", "1.5"), ("0.10000000004", "0.1")]
)
def test_exponents_blanks_and_far_decimals_are_read(text: str, value: str) -> None:
    assert price("Price", text) == Decimal(value)


def test_empty_is_unknown() -> None:
    assert optional_number("n", "") is None
    assert optional_number("n", " ") is None
    assert optional_number("n", "0") == 0


def test_rounding_to_a_step_is_half_to_even() -> None:
    assert to_step(Decimal("0.00005"), Decimal("0.0001")) == Decimal("0.0000")
    assert to_step(Decimal("0.00015"), Decimal("0.0001")) == Decimal("0.0002")


@pytest.mark.parametrize(
    "text", ["", "2026-13-01", "20261130", "30.11.2026", "2026-1-1", "1999-12-31", "2026-11-30T00:00:00Z"]
)
def test_only_a_plain_date_is_a_date(text: str) -> None:
    with pytest.raises(RowError, match="not_a_date"):
        day("source_date", text)
    assert day("source_date", "2026-11-30") == date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2026-11-30T13:00:00", "time_without_zone"),
        ("2026-11-30", "time_without_zone"),
        ("2026-11-30T13:30:00Z", "not_on_the_hour"),
        ("yesterday", "not_a_time"),
        ("", "not_a_time"),
    ],
)
def test_an_hour_names_its_zone_and_begins_on_the_hour(text: str, rule: str) -> None:
    with pytest.raises(RowError) as caught:
        hour("hour_utc", text)
    assert caught.value.rule == rule


def test_an_hour_of_another_zone_is_moved_to_utc() -> None:
    assert hour("hour_utc", "2026-11-30T13:00:00+02:00") == datetime(2026, 11, 30, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("skypilot_gcp_gpu_2026-05-20.csv", datetime(2026, 5, 20, tzinfo=UTC)),
        ("skypilot_do_v6.csv", None),
        ("series_2023-05_2026-08.csv", None),
        ("a_2026-02-31.csv", None),
    ],
)
def test_the_date_in_a_file_name(name: str, found: datetime | None) -> None:
    assert day_in_name(name) == found
