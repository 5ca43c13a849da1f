"""State what is kept of the scraped list of Capacity Block rates."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import aws_capacity_blocks

from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def rate(code: str, hourly: Any, accelerator: Any, region: str = "A region") -> dict[str, Any]:
    return {
        "region": region,
        "region_code": code,
        "hourly_rate_usd": hourly,
        "accelerator_hourly_rate_usd": accelerator,
    }


def machine(kind: str, count: Any, *rates: Any) -> dict[str, Any]:
    return {
        "instance_family": "X",
        "accelerator_type": kind,
        "accelerator_count": count,
        "pricing": list(rates),
    }


def file_of(updated: Any = "2026-07-22T07:13:52Z", **machines: Any) -> str:
    """Return a file; names are written with _ for . and -."""
    return json.dumps(
        {
            "metadata": {
                "last_updated": updated,
                "source_url": "https://aws.amazon.com/x",
                "version": "1.0.0",
            },
            "instance_types": machines,
        }
    )


def reading_of(*rates: Any, name: str = "p5.48xlarge", kind: str = "H100", count: Any = 8) -> Reading:
    return read_text("aws_capacity_blocks", file_of(**{name: machine(kind, count, *rates)}), "a.json")


def rows(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def test_a_rate_is_that_of_the_whole_instance() -> None:
    reading = reading_of(rate("us-west-2", 41.528, 5.191))
    (row,) = rows(reading)
    assert row.price_per_hour == Decimal("41.528")
    assert (row.gpu_count, row.accelerator_name, row.sku) == (8, "H100", "p5.48xlarge")
    assert (row.term, row.payment, row.state, row.currency) == (
        "capacity_block",
        "all_upfront",
        "priced",
        "USD",
    )
    assert row.reference == "https://aws.amazon.com/x"
    assert reading.info.as_of == datetime(2026, 7, 22, 7, 13, 52, tzinfo=UTC)
    assert reading.scopes == {"list"}


def test_one_line_is_one_machine_in_one_region() -> None:
    text = file_of(
        **{
            "p5.4xlarge": machine(
                "H100", 1, rate("us-east-1", 5.191, 5.191), rate("us-east-2", 5.191, 5.191)
            ),
            "trn1.32xlarge": machine("Trainium", 16, rate("eu-north-1", 9.532, 0.596)),
        }
    )
    reading = read_text("aws_capacity_blocks", text, "a.json")
    assert [(row.sku, row.region) for row in rows(reading)] == [
        ("p5.4xlarge", "us-east-1"),
        ("p5.4xlarge", "us-east-2"),
        ("trn1.32xlarge", "eu-north-1"),
    ]
    assert set(reading.kept) == {1, 2, 3}


@pytest.mark.parametrize(
    ("hourly", "accelerator", "count"),
    [(39.33, 4.916, 8), (14.7663, 1.845, 8), (35.7608, 2.235, 16), (9.532, 0.596, 16), (761.904, 10.582, 72)],
)
def test_the_rate_of_an_accelerator_may_be_rounded_or_cut_off(
    hourly: float, accelerator: float, count: int
) -> None:
    assert rows(reading_of(rate("us-east-1", hourly, accelerator), count=count))


def test_an_accelerators_rate_in_the_place_of_an_ultraservers_is_refused() -> None:
    """10.582 beside an accelerator rate of 0.0 would be 0.147 per GPU-hour; it is the rate of one of 72."""
    reading = reading_of(rate("us-east-1-dfw-2a", 10.582, 0.0), name="u-p6e-gb200x72", kind="GB200", count=72)
    assert reading.rows == []
    (error,) = reading.wrong.values()
    assert error.rule == "rate_contradicts_accelerator_rate"
    assert error.value == "10.582 for 72 accelerators at 0.0"
    assert "72 times" in error.expected


def test_a_rate_that_contradicts_that_of_an_accelerator_is_refused() -> None:
    assert reading_of(rate("us-east-1", 41.528, 4.72)).by_rule == {"rate_contradicts_accelerator_rate": 1}


def test_a_rate_stands_alone_where_none_of_an_accelerator_is_given() -> None:
    assert rows(reading_of(rate("us-east-1", 41.528, None)))


def test_a_local_zone_is_a_place_of_its_own() -> None:
    (row,) = rows(reading_of(rate("us-east-1-atl-2a", 41.528, 5.191)))
    assert (row.region, row.zone) == ("us-east-1-atl-2", "us-east-1-atl-2a")
    (row,) = rows(reading_of(rate("us-gov-west-1", 41.528, 5.191)))
    assert (row.region, row.zone) == ("us-gov-west-1", "")


def test_a_place_without_a_code_is_refused_although_it_has_a_name() -> None:
    """A name such as Dallas has several Local Zones, and another edition breaks it over two lines."""
    reading = reading_of(
        rate("unknown", 41.528, 5.191, "US East (Atlanta) Local Zone"),
        rate("unknown", 41.528, 5.191, "Dallas Local Zone\n(US East N. Virginia)"),
    )
    assert reading.by_rule == {"region_unknown": 2}
    assert reading.wrong[2].value == "unknown (Dallas Local Zone (US East N. Virginia))"


def test_a_machine_that_is_not_in_the_table_keeps_the_lists_own_name() -> None:
    (row,) = rows(reading_of(rate("us-east-1", 80, 10), name="p9.48xlarge", kind="R100"))
    assert (row.accelerator_name, row.gpu_count, row.vcpus) == ("R100", 8, None)


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (rate("us-east-1", 0.0, 0.0), "zero_price"),
        (rate("us-east-1", None, 5.191), "not_a_number"),
        (rate("us-east-1", "ask us", 5.191), "not_a_number"),
        (rate("", 41.528, 5.191), "region_unknown"),
        ("free", "record_unreadable"),
    ],
)
def test_a_rate_that_is_wrong_is_refused_and_the_others_stay(bad: Any, rule: str) -> None:
    reading = reading_of(bad, rate("us-east-2", 41.528, 5.191))
    assert reading.by_rule == {rule: 1}
    assert set(reading.kept) == {2}


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (machine("H100", 8), "record_unreadable"),
        ("p5", "record_unreadable"),
        (machine("H100", None, rate("us-east-1", 1, 1)), "not_a_number"),
        (machine("H100", 0, rate("us-east-1", 1, 1)), "gpu_count_out_of_bounds"),
        (machine("H100", 5000, rate("us-east-1", 1, 1)), "gpu_count_out_of_bounds"),
    ],
)
def test_a_machine_without_rates_or_count_is_a_line_that_is_refused(entry: Any, rule: str) -> None:
    reading = read_text("aws_capacity_blocks", file_of(**{"p5.48xlarge": entry}), "a.json")
    assert (reading.lines, reading.by_rule) == (1, {rule: 1})


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (file_of(updated=None), "not_a_time"),
        (file_of(updated="2026-07-22T07:13:52"), "time_without_zone"),
        ('{"instance_types": {}}', "json_wrong"),
        ('{"metadata": {}, "instance_types": []}', "json_wrong"),
        ("[]", "json_wrong"),
    ],
)
def test_a_file_without_date_or_machines_is_refused(text: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_capacity_blocks", text, "a.json")
    assert caught.value.code == code


def test_a_date_that_is_no_text_is_refused() -> None:
    data = file_of().encode().replace(b"2026", b"20\xff6")
    with pytest.raises(FileError, match="json_wrong"):
        read_bytes("aws_capacity_blocks", data, "a.json")


def test_the_list_is_not_fetched() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(aws_capacity_blocks.fetch({}, NOW))


def test_only_the_list_looks_like_it() -> None:
    assert aws_capacity_blocks.looks_like(file_of(x=machine("H100", 8, rate("us-east-1", 1, 1))), "a.json")
    assert not aws_capacity_blocks.looks_like('{"CapacityBlockOfferings": []}', "a.json")
