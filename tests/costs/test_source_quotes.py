"""State how sellers' quotes come in, and which lines are refused with what advice."""

import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from costs.rows import FileError, QuoteRow
from costs.sources import quotes_csv

from .readings import Reading, read_text

RENTAL = {
    "quote": "Q-1", "provider": "example-cloud", "kind": "rental", "item": "gpu-8x", "accelerator": "H100",
    "gpu_count": "8", "price_per_unit_hour": "17.20", "currency": "USD", "quoted_on": "2026-11-20",
}  # fmt: skip
SERVER = {
    "quote": "Q-2", "provider": "example-hardware", "kind": "server", "item": "HGX B200",
    "accelerator": "B200", "gpu_count": "8", "price_per_unit": "415000", "currency": "EUR",
    "quoted_on": "2026-11-20",
}  # fmt: skip
BLOCK = {
    **RENTAL, "quote": "Q-3", "kind": "capacity_block", "starts_on": "2027-02-01", "ends_on": "2027-02-15",
}  # fmt: skip


def _file(*lines: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, quotes_csv.COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _read(*lines: dict[str, str]) -> Reading:
    return read_text("quotes", _file(*lines), "quotes.csv")


def _one(line: dict[str, str]) -> QuoteRow:
    reading = _read(line)
    assert reading.by_rule == {}
    [row] = reading.rows
    assert isinstance(row, QuoteRow)
    return row


def test_the_template_shows_every_kind_and_is_taken_whole() -> None:
    reading = read_text("quotes", quotes_csv.TEMPLATE, "template.csv")
    assert reading.by_rule == {}
    rows = [row for row in reading.rows if isinstance(row, QuoteRow)]
    assert [row.kind for row in rows] == ["rental", "server", "capacity_block"]
    assert reading.scopes == {"example-cloud", "example-hardware", "aws"}


def test_a_rental_keeps_volume_term_deposit_and_what_is_due_unused() -> None:
    row = _one({
        **RENTAL, "units_min": "16", "units_max": "64", "starts_on": "2027-01-01", "ends_on": "2029-01-01",
        "term_months": "24", "upfront": "500000", "deposit": "250000", "take_or_pay_share": "0.8",
        "lead_time_days": "45", "valid_until": "2026-12-20",
    })  # fmt: skip
    assert (row.units_min, row.units_max, row.term_months) == (Decimal(16), Decimal(64), Decimal(24))
    assert (row.upfront, row.deposit, row.take_or_pay_share) == (500000, 250000, Decimal("0.8"))
    assert row.starts_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert row.ends_at == datetime(2029, 1, 1, tzinfo=UTC)
    assert (row.lead_time_days, row.valid_until) == (Decimal(45), date(2026, 12, 20))


def test_a_price_per_gpu_hour_becomes_that_of_the_machine() -> None:
    row = _one({**RENTAL, "price_per_unit_hour": "", "price_per_gpu_hour": "2.15"})
    assert row.price_per_hour == Decimal("2.15") * 8
    assert _one(RENTAL).price_per_hour == Decimal("17.20")


def test_a_server_keeps_price_warranty_power_and_lead_time() -> None:
    row = _one({**SERVER, "warranty_years": "3", "power_w": "14300", "lead_time_days": "120"})
    assert (row.price_per_unit, row.price_per_hour, row.currency) == (Decimal(415000), None, "EUR")
    assert (row.warranty_years, row.power_w, row.lead_time_days) == (Decimal(3), Decimal(14300), Decimal(120))


def test_a_capacity_block_has_its_days() -> None:
    row = _one(BLOCK)
    assert row.starts_at == datetime(2027, 2, 1, tzinfo=UTC)
    assert row.ends_at == datetime(2027, 2, 15, tzinfo=UTC)


def test_an_expired_quote_is_kept_with_its_date() -> None:
    row = _one({**RENTAL, "quoted_on": "2024-01-10", "valid_until": "2024-02-10"})
    assert row.valid_until == date(2024, 2, 10)


def test_what_is_left_empty_is_unknown_not_zero() -> None:
    row = _one(RENTAL)
    unknown = (row.units_min, row.term_months, row.deposit, row.take_or_pay_share, row.lead_time_days)
    assert unknown == (None,) * 5
    assert row.valid_until is None


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        ({**RENTAL, "kind": "lease"}, "kind", "word_unknown"),
        ({**RENTAL, "price_per_unit_hour": ""}, "price_per_unit_hour", "one_price"),
        ({**RENTAL, "price_per_gpu_hour": "2.15"}, "price_per_unit_hour", "one_price"),
        ({**RENTAL, "price_per_unit_hour": "0"}, "price_per_unit_hour", "zero_price"),
        ({**RENTAL, "price_per_unit_hour": "17,20"}, "price_per_unit_hour", "not_a_number"),
        ({**RENTAL, "price_per_unit": "415000"}, "price_per_unit", "not_of_this_kind"),
        ({**RENTAL, "warranty_years": "3"}, "warranty_years", "not_of_this_kind"),
        ({**SERVER, "price_per_gpu_hour": "2"}, "price_per_gpu_hour", "not_of_this_kind"),
        ({**SERVER, "price_per_unit": ""}, "price_per_unit", "no_price"),
        ({**SERVER, "price_per_unit": "0"}, "price_per_unit", "no_price"),
        ({**BLOCK, "starts_on": ""}, "starts_on", "empty"),
        ({**BLOCK, "ends_on": ""}, "ends_on", "empty"),
        ({**BLOCK, "ends_on": "2027-02-01"}, "ends_on", "ends_before_start"),
        ({**RENTAL, "units_min": "8", "units_max": "4"}, "units_max", "units_reversed"),
        ({**RENTAL, "take_or_pay_share": "80"}, "take_or_pay_share", "take_or_pay_share_out_of_bounds"),
        ({**RENTAL, "take_or_pay_share": "80%"}, "take_or_pay_share", "not_a_number"),
        ({**RENTAL, "valid_until": "2026-11-01"}, "valid_until", "ends_before_start"),
        ({**RENTAL, "quoted_on": "20.11.2026"}, "quoted_on", "not_a_date"),
        ({**RENTAL, "quoted_on": ""}, "quoted_on", "not_a_date"),
        ({**RENTAL, "currency": "$"}, "currency", "currency_unknown"),
        ({**RENTAL, "gpu_count": ""}, "gpu_count", "not_a_number"),
        ({**RENTAL, "quote": ""}, "quote", "empty"),
        ({**RENTAL, "provider": " "}, "provider", "empty"),
        ({**RENTAL, "lead_time_days": "5000"}, "lead_time_days", "lead_time_days_out_of_bounds"),
    ],
)
def test_a_wrong_line_is_refused_with_the_column_and_the_rule(
    line: dict[str, str], column: str, rule: str
) -> None:
    reading = _read(line)
    assert {(error.column, error.rule) for error in reading.wrong.values()} == {(column, rule)}
    assert all(error.expected for error in reading.wrong.values())


def test_a_quote_that_stands_twice_is_refused() -> None:
    assert _read(RENTAL, {**RENTAL, "price_per_unit_hour": "18"}).by_rule == {"repeated": 1}


def test_two_sellers_may_number_their_quotes_alike() -> None:
    assert _read(RENTAL, {**RENTAL, "provider": "other-cloud"}).by_rule == {}


def test_a_table_without_a_column_is_refused_whole() -> None:
    text = _file(RENTAL).replace("take_or_pay_share", "take_or_pay", 1)
    with pytest.raises(FileError, match="columns_missing"):
        read_text("quotes", text, "quotes.csv")


def test_there_is_nothing_to_fetch() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(quotes_csv.fetch({}, datetime(2026, 11, 30, tzinfo=UTC)))


def test_an_upload_is_recognised_by_its_columns() -> None:
    assert quotes_csv.looks_like(quotes_csv.TEMPLATE, "anything.csv")
    assert not quotes_csv.looks_like("provider,sku,accelerator,gpu_count,region\n", "quotes.csv")
