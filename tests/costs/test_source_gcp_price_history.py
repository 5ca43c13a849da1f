"""State how changes of Google Cloud prices are read. Amounts are ours, in the table's format."""

from datetime import UTC, datetime

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import gcp_price_history

from .readings import Reading, packed, read_bytes, read_text

HEADER = "date,machine_type,region,hour,hour_spot,month,month_1y,month_3y,month_spot"
NAME = "gcp_changes.csv"
A2 = "2025-01-30,a2-highgpu-1g,us-central1,3.6,1.5,2628,1657.1,919.8,1095"


def history(*lines: str) -> Reading:
    return read_text("gcp_price_history", "\n".join([HEADER, *lines, ""]), NAME)


def facts(reading: Reading, line: int) -> list[tuple[str, str, str, str | None]]:
    """Return day, term, state and price of each row of a line."""
    found = []
    for row in reading.kept[line]:
        assert isinstance(row, PriceRow)
        assert row.effective_from is not None
        price = None if row.price_per_hour is None else f"{row.price_per_hour.normalize():f}"
        found.append((f"{row.effective_from:%Y-%m-%d %H:%M %Z}", row.term, row.state, price))
    return found


def test_each_amount_is_an_observation_of_its_day() -> None:
    reading = history(A2)
    assert facts(reading, 2) == [
        ("2025-01-30 00:00 UTC", "on_demand", "priced", "3.6"),
        ("2025-01-30 00:00 UTC", "spot", "priced", "1.5"),
        ("2025-01-30 00:00 UTC", "reserved_1y", "priced", "2.27"),
        ("2025-01-30 00:00 UTC", "reserved_3y", "priced", "1.26"),
    ]
    row = reading.rows[0]
    assert isinstance(row, PriceRow)
    # GPUs, cores and memory come from the table of machine types
    assert (row.accelerator_name, row.gpu_count, row.vcpus, row.memory_gib) == ("a100-sxm-40gb", 1, 12, 85)
    assert reading.info.as_of == datetime(2025, 1, 30, tzinfo=UTC)
    assert reading.scopes == {"gcp"}
    assert read_bytes("gcp_price_history", packed(f"{HEADER}\n{A2}\n"), NAME + ".gz").rows == reading.rows


def test_before_may_2023_a_blank_spot_price_says_nothing() -> None:
    old = "2023-05-07,a2-highgpu-1g,us-central1,3.6,,2628,1657.1,919.8,"
    assert [term for _, term, _, _ in facts(history(old), 2)] == ["on_demand", "reserved_1y", "reserved_3y"]


def test_from_may_2023_on_a_blank_spot_price_means_not_sold_as_spot() -> None:
    new = "2023-05-08,g4-standard-48,asia-south1,4.5,,3285,,1445.4,"
    assert facts(history(new), 2)[1:3] == [
        ("2023-05-08 00:00 UTC", "spot", "not_sold", None),
        ("2023-05-08 00:00 UTC", "reserved_1y", "not_sold", None),
    ]


def test_a_commitment_that_is_withdrawn_is_not_sold_from_that_day_on() -> None:
    reading = history(A2, "2025-03-13,a2-highgpu-1g,us-central1,3.6,1.5,2628,,,1095")
    assert facts(reading, 3)[2:] == [
        ("2025-03-13 00:00 UTC", "reserved_1y", "not_sold", None),
        ("2025-03-13 00:00 UTC", "reserved_3y", "not_sold", None),
    ]


def test_of_two_lines_of_one_day_the_later_one_stands() -> None:
    """Two snapshots were made that day. The first had the 3-year amount at 0, which the second put right."""
    reading = history(
        A2.replace("919.8", "0"),
        A2.replace("us-central1", "us-east1"),
        A2,
    )
    assert {line: error.rule for line, error in reading.out_of_scope.items()} == {2: "changed_again_same_day"}
    assert "line 4" in reading.out_of_scope[2].expected
    assert not reading.wrong
    assert list(reading.kept) == [3, 4]


def test_a_difference_in_the_fifteenth_digit_is_the_same_price() -> None:
    reading = history(
        "2025-01-09,a2-ultragpu-1g,europe-west12,6.53505044849315,,4770.5868274,,,",
        "2025-01-16,a2-ultragpu-1g,europe-west12,6.53505044849314,,4770.5868274,,,",
    )
    assert facts(reading, 2)[0][3] == facts(reading, 3)[0][3] == "6.535050448"


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        (A2.replace("2025-01-30", "30.01.2025"), "date", "not_a_date"),
        (A2.replace("a2-highgpu-1g", "a9-highgpu-1g"), "machine_type", "machine_unknown"),
        (A2.replace("2628", "2629"), "month", "month_not_730_hours"),
        (A2.replace("919.8", "0"), "month_3y", "zero_price"),
        (A2.rpartition(",")[0], "(line)", "field_count"),
    ],
)
def test_a_wrong_line_is_refused_by_rule(line: str, column: str, rule: str) -> None:
    reading = history(line, A2.replace("us-central1", "us-east1"))
    assert [(error.column, error.rule) for error in reading.wrong.values()] == [(column, rule)]
    assert list(reading.kept) == [3]


def test_the_source_fetches_nothing() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        gcp_price_history.fetch({}, datetime(2026, 11, 30, tzinfo=UTC))


def test_the_table_is_recognised_by_its_header_and_its_sample_can_be_read() -> None:
    assert gcp_price_history.looks_like(f"{HEADER}\n", "x.csv.gz")
    assert not gcp_price_history.looks_like("machine_type,region,cpu,ram_gb,attached,hour\n", NAME)
    sample = read_text("gcp_price_history", gcp_price_history.TEMPLATE, NAME)
    assert len(sample.kept) == sample.lines == 2
