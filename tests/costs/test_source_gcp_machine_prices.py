"""State how the table of Google Cloud machine prices is read. Amounts are ours, in the table's format."""

from datetime import UTC, datetime

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import gcp_machine_prices

from .readings import Reading, packed, read_bytes, read_text

HEADER = "machine_type,region,cpu,ram_gb,attached,hour,hour_spot,month,month_1y,month_3y,month_spot"
NAME = "gcp_gpu_machine_types_2026-07-30.csv"
A2 = "a2-highgpu-1g,us-central1,12,85,a100=1,3.6,1.5,2628,1657.1,919.8,1095"


def table(*lines: str, name: str = NAME) -> Reading:
    return read_text("gcp_machine_prices", "\n".join([HEADER, *lines, ""]), name)


def facts(reading: Reading) -> list[tuple[str, str, str, str | None]]:
    """Return term, payment, state and price of each row."""
    found = []
    for row in reading.rows:
        assert isinstance(row, PriceRow)
        price = None if row.price_per_hour is None else f"{row.price_per_hour.normalize():f}"
        found.append((row.term, row.payment, row.state, price))
    return found


def only_error(reading: Reading) -> tuple[str, str]:
    ((_, error),) = reading.wrong.items()
    assert not reading.rows
    return error.column, error.rule


def test_a_line_gives_four_terms_and_a_month_has_730_hours() -> None:
    reading = table(A2)
    assert facts(reading) == [
        ("on_demand", "", "priced", "3.6"),
        ("spot", "", "priced", "1.5"),
        ("reserved_1y", "no_upfront", "priced", "2.27"),  # 1657.1 / 730
        ("reserved_3y", "no_upfront", "priced", "1.26"),  # 919.8 / 730
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    assert (row.provider, row.sku, row.region) == ("gcp", "a2-highgpu-1g", "us-central1")
    assert (row.accelerator_name, row.gpu_count) == ("a100-sxm-40gb", 1)
    assert (row.vcpus, row.memory_gib, row.currency) == (12, 85, "USD")
    assert reading.info.as_of == datetime(2026, 7, 30, tzinfo=UTC)
    assert reading.scopes == {"gcp"}
    assert read_bytes("gcp_machine_prices", packed(f"{HEADER}\n{A2}\n"), NAME + ".gz").rows == reading.rows


def test_a_term_without_an_amount_is_not_sold_and_says_so() -> None:
    line = "a2-ultragpu-1g,us-central1,12,170,a100-80gb=1;local-ssd=375,5,2.5,3650,,,1825"
    reading = table(line)
    assert facts(reading)[2:] == [
        ("reserved_1y", "no_upfront", "not_sold", None),
        ("reserved_3y", "no_upfront", "not_sold", None),
    ]
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert [row.state_reason for row in rows[2:]] == [
        "the table gives no commitment of 1 year",
        "the table gives no commitment of 3 years",
    ]
    assert {(row.accelerator_name, row.gpu_count) for row in rows} == {("a100-sxm-80gb", 1)}


def test_a_blank_spot_price_is_not_sold_as_spot() -> None:
    reading = table("g2-standard-4,us-central1,4,16,l4=1,0.7,,511,321.2,226.3,")
    assert facts(reading)[1] == ("spot", "", "not_sold", None)


def test_the_tables_rtx6000_is_the_rtx_pro_6000_and_not_the_old_quadro() -> None:
    reading = table("g4-standard-6,us-central1,6,22,rtx6000=0.125,0.5,,365,,,")
    assert {
        (row.accelerator_name, str(row.gpu_count)) for row in reading.rows if isinstance(row, PriceRow)
    } == {("rtx-pro-6000-server-96gb", "0.125")}


def test_the_wider_network_of_a_mega_machine_is_no_other_gpu() -> None:
    line = "a3-megagpu-8g,us-central1,208,1872,h100-80gb-mega=8;local-ssd=6000,93,46,67890,,,33580"
    assert {row.accelerator_name for row in table(line).rows if isinstance(row, PriceRow)} == {
        "h100-sxm-80gb"
    }


def test_an_hour_that_was_cut_behind_its_twelfth_digit_agrees_with_its_month() -> None:
    amounts = "5.06879789041096,2.75954630136986,3700.22246,,,2014.4688"
    line = f"a2-ultragpu-1g,us-central1,12,170,a100-80gb=1,{amounts}"
    assert [price for *_, price in facts(table(line))][:2] == ["5.06879789", "2.759546301"]


def test_a_whole_month_may_cost_more_than_any_hour() -> None:
    line = "a3-highgpu-8g,europe-west10,208,1872,h100-80gb=8,140,,102200,101470,,"
    assert facts(table(line))[2] == ("reserved_1y", "no_upfront", "priced", "139")


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        (A2.replace("2628", "2628.1"), "month", "month_not_730_hours"),
        (A2.replace("1095", "3.6"), "month_spot", "month_not_730_hours"),
        (A2.replace(",1095", ","), "month_spot", "hour_without_month"),
        (A2.replace(",1.5,", ",,"), "month_spot", "hour_without_month"),
        (A2.replace(",3.6,", ",0,").replace("2628", "0"), "hour", "zero_price"),
        (A2.replace("1657.1", "0"), "month_1y", "zero_price"),
        (A2.replace("919.8", "-919.8"), "month_3y", "negative_price"),
        (A2.replace("919.8", "919,8").replace("919,8", '"919,8"'), "month_3y", "not_a_number"),
        (A2.replace("a100=1", ""), "attached", "attached_unreadable"),
        (A2.replace("a100=1", "a100=1;l4=1"), "attached", "attached_unreadable"),
        (A2.replace("a100=1", "a100=one"), "attached", "not_a_number"),
        (A2.replace("us-central1", ""), "region", "empty"),
        (A2 + ",7", "(line)", "field_count"),
    ],
)
def test_a_wrong_line_is_refused_by_rule(line: str, column: str, rule: str) -> None:
    assert only_error(table(line)) == (column, rule)


def test_a_name_that_the_table_of_accelerators_lacks_is_handed_on_as_it_is() -> None:
    """The gate refuses it by its name, and the list of unknown names shows it."""
    row = table(A2.replace("a100=1", "c900=1")).rows[0]
    assert isinstance(row, PriceRow)
    assert row.accelerator_name == "c900"


def test_a_renamed_column_is_refused() -> None:
    with pytest.raises(FileError, match="columns_missing"):
        read_text("gcp_machine_prices", HEADER.replace("month_1y", "cud_1y") + f"\n{A2}\n", NAME)


def test_the_source_fetches_nothing() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        gcp_machine_prices.fetch({}, datetime(2026, 11, 30, tzinfo=UTC))


def test_the_table_is_recognised_by_its_header_and_its_sample_can_be_read() -> None:
    assert gcp_machine_prices.looks_like(f"{HEADER}\n{A2}\n", "x.csv")
    assert not gcp_machine_prices.looks_like("date,machine_type,region,hour\n", NAME)
    sample = read_text("gcp_machine_prices", gcp_machine_prices.TEMPLATE, NAME)
    assert len(sample.kept) == sample.lines == 2
