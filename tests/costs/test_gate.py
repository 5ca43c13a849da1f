"""What the gate asks of a row by itself, which accelerator an offer holds, and what it may cost at all."""

import csv
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from costs.gate import SCALE, Known, check_row
from costs.names import accelerator_key
from costs.quarantine_rules.bounds import TABLE, bounds_of, table
from costs.rows import AcceleratorRow, RowError
from costs.wrong_prices.catalogues import packaged_rows

from .prices_said import KNOWN as KNOWN_PRICES
from .prices_said import row

KNOWN = Known(
    {
        accelerator_key(name): slug
        for name, slug in [
            ("A100-80GB", "a100-sxm-80gb"),
            ("a100-sxm-80gb", "a100-sxm-80gb"),
            ("a100-pcie-80gb", "a100-pcie-80gb"),
            ("Standard_NC24ads_A100_v4", "a100-pcie-80gb"),
        ]
    }
)


@pytest.mark.parametrize(
    ("sku", "name", "slug"),
    [
        ("Standard_ND96amsr_A100_v4", "A100-80GB", "a100-sxm-80gb"),  # the name alone
        ("Standard_NC24ads_A100_v4", "A100-80GB", "a100-pcie-80gb"),  # the type knows better
        ("Standard_NC24ads_A100_v4", "a100-sxm-80gb", "a100-sxm-80gb"),  # a slug is meant as it stands
        ("Standard_NC24ads_A100_v4", "unheard of", "a100-pcie-80gb"),
        ("m5.xlarge", "unheard of", None),
    ],
)
def test_a_slug_says_most_then_the_machine_type_then_the_name(sku: str, name: str, slug: str | None) -> None:
    assert KNOWN.slug_of(sku, name) == slug


# a price row by itself


@pytest.mark.parametrize(
    ("changes", "column", "rule"),
    [
        ({"accelerator_name": "H1000"}, "accelerator_name", "accelerator_unknown"),
        ({"currency": "XAU"}, "currency", "currency_unknown"),
        ({"sku": "x" * 161}, "sku", "text_too_long"),
        ({"region": "east\u202e"}, "region", "text_unreadable"),
    ],
)
def test_a_row_that_no_table_may_hold_is_refused(changes: dict[str, str], column: str, rule: str) -> None:
    with pytest.raises(RowError) as caught:
        check_row(row("80", **changes), KNOWN_PRICES)
    assert (caught.value.column, caught.value.rule) == (column, rule)


def test_whether_a_price_is_right_is_not_asked_of_the_row_alone() -> None:
    check_row(row("0.01"), KNOWN_PRICES)
    check_row(row("99999"), KNOWN_PRICES)


# the table of bounds


def test_every_accelerator_has_bounds_of_its_own_and_no_row_is_for_none() -> None:
    slugs = {
        each.slug
        for each in packaged_rows("accelerators", datetime(2026, 11, 30, tzinfo=UTC))
        if isinstance(each, AcceleratorRow)
    }
    assert set(table()) == slugs | {"*"}


def test_each_row_of_bounds_is_dated_apart_and_gives_its_reason() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(each["accelerator"], each["from"]) for each in rows}) == len(rows)
    for each in rows:
        low, high = Decimal(each["low_usd_per_gpu_hour"]), Decimal(each["high_usd_per_gpu_hour"])
        assert Decimal("0.01") <= low < high <= 60, each
        assert len(each["why"]) > 10, each


def test_an_h100_could_cost_more_in_2023_than_it_can_now_and_not_as_little() -> None:
    then, now = bounds_of("h100-sxm-80gb", date(2023, 10, 1)), bounds_of("h100-sxm-80gb", date(2026, 5, 1))
    assert then.high > now.high
    assert then.low > now.low
    # AWS 12.29 until 2025-06-04 and 6.88 after; Azure's South Africa West 23.33; Verda's spot 0.80 (2026-05)
    assert all(then.low <= Decimal(price) <= then.high for price in ("12.29", "6.88"))
    assert all(now.low <= Decimal(price) <= now.high for price in ("6.88", "23.33", "0.80"))


def test_the_day_of_a_row_is_in_it_and_before_the_first_row_the_first_holds() -> None:
    change = date(2025, 6, 5)
    assert bounds_of("h100-sxm-80gb", change).from_ == change
    assert bounds_of("h100-sxm-80gb", date(2025, 6, 4)).from_ == date(2022, 10, 1)
    assert bounds_of("h100-sxm-80gb", date(2001, 1, 1)).from_ == date(2022, 10, 1)


def test_an_accelerator_without_rows_has_the_bounds_of_any() -> None:
    assert bounds_of("nobody-knows", date(2026, 1, 1)).accelerator == "*"
    assert bounds_of(None, date(2026, 1, 1)).accelerator == "*"


def test_bounds_scale_to_every_currency_that_a_row_may_have() -> None:
    assert SCALE["USD"] == 1
    assert all(scale >= 1 for scale in SCALE.values())
