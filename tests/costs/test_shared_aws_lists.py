"""State what becomes of each real AWS list, counted from the raw files with csv and json alone."""

import csv
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import aws_prices, aws_savings_plans

from .readings import read_path, read_text

pytestmark = pytest.mark.shared
PRICES = (
    "prices/aws_pricing_get_products_ec2_gpu_2026-09-10.json",
    "prices/aws_offer_file_layout_ec2_gpu_2026-09-10.json",
    "prices/aws_price_list_bulk_csv_comprehend_ap-south-1.csv",
    "prices/aws_pricing_get_products_ebs_awscli_example_2018.json",
    "commitments/aws_offer_c4large_ondemand_reserved_2016-12.json",
)
PLANS = (
    "commitments/aws_price_list_AWSDatabaseSavingsPlans-ap-south-2-index.csv",
    "commitments/aws_price_list_AWSDatabaseSavingsPlans-region_index.json",
)
YEARS = {"1yr": 1, "3yr": 3}


def head_of(path: Path) -> str:
    return path.read_bytes()[: 64 << 10].decode("utf-8", "replace")


@pytest.mark.parametrize("name", PRICES)
def test_price_lists_are_recognised(shared: Path, name: str) -> None:
    head = head_of(shared / "data" / name)
    assert aws_prices.looks_like(head, name)
    assert not aws_savings_plans.looks_like(head, name)


@pytest.mark.parametrize("name", PLANS)
def test_savings_plan_lists_are_recognised(shared: Path, name: str) -> None:
    head = head_of(shared / "data" / name)
    assert aws_savings_plans.looks_like(head, name)
    assert not aws_prices.looks_like(head, name)


# --- savings plans ---


def test_a_list_of_database_plans_is_read_whole_and_none_of_it_is_ours(shared: Path) -> None:
    path = shared / "data" / PLANS[0]
    with path.open(encoding="utf-8", newline="") as file:
        records = list(csv.reader(file))
    plan = records[5].index("Product Family")
    assert Counter(record[plan] for record in records[6:]) == {"DatabaseSavingsPlans": 455}
    reading = read_path("aws_savings_plans", path)
    assert (reading.lines, reading.rows, reading.by_rule) == (455, [], {"other_plan": 455})
    assert reading.info.params["version"] == "20260422194203"
    assert all("ComputeSavingsPlans" in reason.expected for reason in reading.out_of_scope.values())


def test_real_lines_of_that_layout_are_kept_once_they_are_about_machines(shared: Path) -> None:
    """No list of Compute plans is at hand: only plan, service and machine of a real line are changed."""
    lines = (shared / "data" / PLANS[0]).read_text(encoding="utf-8").splitlines()
    header = lines[5].split(",")
    changes = {
        "DiscountedServiceCode": "AmazonEC2",
        "DiscountedUsageType": "APS5-BoxUsage:p5.48xlarge",
        "DiscountedOperation": "RunInstances",
        "ServiceCode": "ComputeSavingsPlans",
        "Product Family": "ComputeSavingsPlans",
        "DiscountedInstanceType": "p5.48xlarge",
    }
    rows = [dict(zip(header, record, strict=True)) for record in csv.reader(lines[6:])]
    rows = [row for row in rows if row["Unit"] == "Hrs"]
    text = "\n".join([*lines[:6], *(",".join({**row, **changes}.values()) for row in rows[:20])])
    reading = read_text("aws_savings_plans", text, "a.csv")
    found = [row.price_per_hour for row in reading.rows if isinstance(row, PriceRow)]
    assert found == [Decimal(row["DiscountedRate"]) for row in rows[:20]]
    assert {(row.term, row.payment, row.region) for row in reading.rows if isinstance(row, PriceRow)} == {
        ("compute_plan_1y", "no_upfront", "ap-south-2")
    }


@pytest.mark.parametrize("source", ["aws_savings_plans", "aws_prices"])
def test_an_index_of_regions_is_told_that_it_is_no_offer(shared: Path, source: str) -> None:
    with pytest.raises(FileError, match="index_not_offer") as caught:
        read_path(source, shared / "data" / PLANS[1])
    assert "index" in caught.value.expected


# --- products ---


def c4_large(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "data" / PRICES[4]).read_text())
    return found


def test_a_single_product_without_accelerator_is_set_aside_by_that_name(shared: Path) -> None:
    reading = read_path("aws_prices", shared / "data" / PRICES[4])
    assert (reading.lines, reading.rows, reading.by_rule) == (1, [], {"no_accelerator": 1})
    begun = [term["effectiveDate"] for terms in c4_large(shared)["terms"].values() for term in terms.values()]
    assert reading.info.as_of is not None
    assert f"{reading.info.as_of:%Y-%m-%dT%H:%M:%SZ}" == max(begun)


def test_real_reserved_terms_add_up_once_the_machine_holds_an_accelerator(shared: Path) -> None:
    item = c4_large(shared)
    expected = {("on_demand", ""): Decimal("0.1000000000")}
    for term in item["terms"]["Reserved"].values():
        amounts = {
            each["unit"]: Decimal(each["pricePerUnit"]["USD"]) for each in term["priceDimensions"].values()
        }
        attributes = term["termAttributes"]
        years = YEARS[attributes["LeaseContractLength"]]
        payment = attributes["PurchaseOption"].lower().replace(" ", "_")
        hourly = amounts.get("Hrs", Decimal(0)) + amounts.get("Quantity", Decimal(0)) / (8_760 * years)
        kind = "reserved" if attributes["OfferingClass"] == "standard" else "convertible"
        expected[f"{kind}_{years}y", payment] = hourly.quantize(Decimal("0.000000001"))
    assert len(expected) == 5
    item["product"]["attributes"].update(instanceType="p2.xlarge", instanceFamily="GPU instance", gpu="1")
    reading = read_text("aws_prices", json.dumps(item), "p2.json")
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert {(row.term, row.payment): row.price_per_hour for row in rows} == expected


def test_the_first_page_of_several_is_refused_as_such(shared: Path) -> None:
    path = shared / "data" / PRICES[3]
    assert json.loads(path.read_text())["NextToken"]
    with pytest.raises(FileError, match="pages_missing"):
        read_path("aws_prices", path)


@pytest.mark.parametrize("name", PRICES[:2])
def test_each_machine_has_one_on_demand_price_in_each_region(shared: Path, name: str) -> None:
    reading = read_path("aws_prices", shared / "data" / name)
    found = Counter((row.sku, row.region, row.term) for row in reading.rows if isinstance(row, PriceRow))
    assert set(found.values()) == {1}
    assert {term for _, _, term in found} == {"on_demand"}, "no reserved price of these types is made up"


def test_two_regions_differ_in_the_sixth_place_of_the_p4d(shared: Path) -> None:
    reading = read_path("aws_prices", shared / "data" / PRICES[0])
    found = {
        row.region: row.price_per_hour
        for row in reading.rows
        if isinstance(row, PriceRow) and row.sku == "p4d.24xlarge"
    }
    assert found["us-east-1"] != found["us-west-2"]
    assert {str(price) for price in found.values()} >= {"21.9576420000", "21.9576400000"}
