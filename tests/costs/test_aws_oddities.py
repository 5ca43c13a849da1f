"""State, one by one, that the oddities of AWS price lists are read for what they mean."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import aws_prices

from .readings import Reading, read_path, read_text

DATA = Path(__file__).resolve().parent.parent / "data"
BULK_CSV, ANSWER = DATA / "aws_bulk_ec2.csv", DATA / "aws_get_products.json"
LINES = BULK_CSV.read_text().splitlines()
HEADER = next(csv.reader([LINES[5]]))
P5 = next(
    item
    for item in map(json.loads, json.loads(ANSWER.read_text())["PriceList"])
    if item["product"]["sku"] == "P500000000000001"
)


def rows_of(reading: Reading) -> list[PriceRow]:
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert len(rows) == len(reading.rows)
    return rows


def on_line(number: int, **changes: str) -> Reading:
    """Return the reading of one line of the bulk CSV alone, with some columns changed."""
    row = dict(zip(HEADER, next(csv.reader([LINES[number - 1]])), strict=True))
    row.update({name.replace("_", " "): value for name, value in changes.items()})
    line = ",".join(f'"{row[name]}"' if row[name] else "" for name in HEADER)
    return read_text("aws_prices", "\n".join([*LINES[:6], line, ""]), "a.csv")


def product_with(**attributes: str) -> Reading:
    """Return the reading of the p5 as one product on its own, with some attributes changed."""
    item = json.loads(json.dumps(P5))
    item["product"]["attributes"].update(attributes)
    return read_text("aws_prices", json.dumps(item), "p5.json")


# --- 1: one machine is priced a dozen ways ---


def test_without_the_market_option_a_p5_would_be_free() -> None:
    reading = on_line(17)
    assert reading.by_rule == {"capacity_block": 1}
    kept = on_line(17, MarketOption="OnDemand", operation="RunInstances")
    assert kept.by_rule == {"zero_price": 1}, "and even then no price of 0 gets through"


def test_without_the_licence_model_a_machine_would_have_several_windows_prices() -> None:
    assert [on_line(line).by_rule for line in (18, 24)] == [{"windows": 1}, {"licence_included": 1}]


# --- 2: reservations of capacity, bare metal, free tier ---


def test_an_unused_reservation_costs_the_same_and_is_no_second_price() -> None:
    assert on_line(22).by_rule == {"unused_capacity_reservation": 1}
    p5 = [row for row in rows_of(read_path("aws_prices", BULK_CSV)) if row.sku == "p5.48xlarge"]
    assert len([row for row in p5 if row.term == "on_demand"]) == 1


def test_an_allocated_reservation_at_no_price_is_no_free_machine() -> None:
    assert on_line(23).by_rule == {"allocated_capacity_reservation": 1}


def test_bare_metal_is_another_product_family_and_a_machine_all_the_same() -> None:
    (row,) = rows_of(on_line(28))
    assert row.sku.endswith(".metal")


@pytest.mark.parametrize("path", sorted(DATA.glob("aws_[bgo]*")), ids=lambda path: path.name)
def test_the_free_tier_is_no_machine(path: Path) -> None:
    assert read_path("aws_prices", path).by_rule["free_tier"] == 1


# --- 3: regions ---


@pytest.mark.parametrize(
    ("usage", "code", "location", "region"),
    [
        ("BoxUsage:p5.48xlarge", "us-east-1", "US East (N. Virginia)", "us-east-1"),  # no prefix at all
        ("USW2-BoxUsage:p5.48xlarge", "us-west-2", "US West (Oregon)", "us-west-2"),
        ("EU-BoxUsage:p5.48xlarge", "eu-west-1", "EU (Ireland)", "eu-west-1"),  # EU is one region of many
        ("EU-BoxUsage:p5.48xlarge", "", "EU (Ireland)", "eu-west-1"),  # a list from before codes
        ("USW2-BoxUsage:p5.48xlarge", "us-east-1", "", "us-east-1"),
    ],
)
def test_the_region_comes_from_its_code_never_from_the_usage_type(
    usage: str, code: str, location: str, region: str
) -> None:
    (row,) = rows_of(product_with(usagetype=usage, regionCode=code, location=location))
    assert row.region == region


# --- 4: strings of JSON, amounts as text ---


def test_products_are_strings_of_json_and_amounts_are_strings() -> None:
    document = json.loads(ANSWER.read_text())
    assert all(isinstance(item, str) for item in document["PriceList"])
    as_number = ANSWER.read_text().replace('\\"55.0400000000\\"', "55.04")
    assert as_number != ANSWER.read_text()
    reading = read_text("aws_prices", as_number, "a.json")
    assert "terms_unreadable" in reading.by_rule, "a number that went through binary is not taken"


def test_a_difference_in_the_sixth_place_is_kept() -> None:
    one, other = (rows_of(on_line(7, PricePerUnit=f"21.95764{digit}0000"))[0] for digit in "02")
    assert (one.price_per_hour, other.price_per_hour) == (Decimal("21.95764"), Decimal("21.957642"))


# --- 5: reserved terms ---


def test_a_term_that_is_not_sold_is_not_there_rather_than_guessed() -> None:
    (row,) = rows_of(product_with())
    assert (row.term, row.price_per_hour) == ("on_demand", Decimal("55.04"))


def reserved(option: str, hourly: str, fee: str, length: str) -> dict[str, Any]:
    dimensions = {
        "X.T.6YS6EN2CT7": {"unit": "Hrs", "pricePerUnit": {"USD": hourly}, "beginRange": "0"},
        "X.T.2TG2D8R56U": {"unit": "Quantity", "pricePerUnit": {"USD": fee}, "description": "Upfront Fee"},
    }
    attributes = {"LeaseContractLength": length, "PurchaseOption": option, "OfferingClass": "standard"}
    return {
        "effectiveDate": "2026-11-30T23:59:59Z",
        "priceDimensions": dimensions,
        "termAttributes": attributes,
    }


def test_an_effective_price_is_the_hours_price_and_the_fee_over_the_hours_of_the_years() -> None:
    terms = {
        "X.A": reserved("Partial Upfront", "12.5", "109500", "1yr"),
        "X.B": reserved("All Upfront", "0", "525600", "3yr"),
    }
    item = {**P5, "terms": {"OnDemand": P5["terms"]["OnDemand"], "Reserved": terms}}
    found = {
        (row.term, row.payment): (row.price_per_hour, row.upfront)
        for row in rows_of(read_text("aws_prices", json.dumps(item), "p5.json"))
    }
    assert found == {
        ("on_demand", ""): (Decimal("55.04"), None),
        ("reserved_1y", "partial_upfront"): (Decimal("12.5") + Decimal(109_500) / 8_760, Decimal(109_500)),
        ("reserved_3y", "all_upfront"): (Decimal(525_600) / (8_760 * 3), Decimal(525_600)),
    }


# --- one product on its own ---


def test_a_single_product_is_dated_by_the_list_or_by_its_newest_price() -> None:
    dated = read_text("aws_prices", json.dumps(P5), "p5.json")
    assert dated.info.as_of is not None
    assert f"{dated.info.as_of:%Y-%m-%d}" == "2026-09-10"
    bare = {"serviceCode": "AmazonEC2", "product": P5["product"], "terms": P5["terms"]}
    undated = read_text("aws_prices", json.dumps(bare), "p5.json")
    assert undated.info.as_of is not None
    assert f"{undated.info.as_of:%Y-%m-%d}" == "2026-09-01", "that it still holds today is not known"
    with pytest.raises(FileError, match="not_a_time"):
        read_text("aws_prices", json.dumps({**bare, "terms": {}}), "p5.json")


def test_a_single_product_replaces_no_prices_of_other_types() -> None:
    assert product_with().scopes == {"AmazonEC2:us-east-1:p5.48xlarge"}


def test_a_single_product_is_recognised() -> None:
    assert aws_prices.looks_like(json.dumps(P5), "p5.json")


# --- 7: China, and numbers as text ---


def test_prices_of_china_stay_in_yuan_also_in_local_zones() -> None:
    (row,) = rows_of(on_line(29, Region_Code="cn-north-1-pkx-1"))
    assert (row.currency, row.region) == ("CNY", "cn-north-1-pkx-1")


@pytest.mark.parametrize(
    ("memory", "gib"),
    [("1152 GiB", 1152), ("2,048 GiB", 2048), ("30.5 GiB", Decimal("30.5")), ("NA", None), ("1152 GB", None)],
)
def test_memory_is_text_with_a_unit(memory: str, gib: Decimal | int | None) -> None:
    assert rows_of(product_with(memory=memory))[0].memory_gib == gib


@pytest.mark.parametrize("text", ["16 GB", "320 GB HBM2", "640 GB HBM3", "NA", ""])
def test_the_text_about_gpu_memory_does_not_decide_what_the_gpu_is(text: str) -> None:
    assert rows_of(product_with(gpuMemory=text))[0].accelerator_name == "H100"


@pytest.mark.parametrize(
    ("machine", "text", "count"),
    [
        ("trn1.32xlarge", "16", 16),
        ("g6f.large", "0.125", Decimal("0.125")),
        ("gr6f.4xlarge", "0.5", Decimal("0.5")),
    ],
)
def test_the_count_is_text_may_be_of_chips_and_may_be_a_part(
    machine: str, text: str, count: Decimal | int
) -> None:
    (row,) = rows_of(product_with(instanceType=machine, gpu=text, normalizationSizeFactor="1.204771372"))
    assert row.gpu_count == count
