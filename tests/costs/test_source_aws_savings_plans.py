"""State what is kept of AWS savings plan rates, in each of their three layouts, and why the rest is not."""

import csv
import gzip
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import aws_prices, aws_savings_plans
from costs.sources.aws_facts import ACCELERATOR_BY_FAMILY, family_of
from costs.sources.aws_savings_plans_layouts import may_hold_accelerators
from costs.sources.machines import machines_of

from .readings import Reading, read_bytes, read_path, read_text

DATA = Path(__file__).resolve().parent.parent / "data"
OFFER_CSV, OFFER_JSON, ANSWER = (
    DATA / name
    for name in ("aws_savings_plans.csv", "aws_savings_plans_offer.json", "aws_savings_plans_rates.json")
)
LINES = OFFER_CSV.read_text().splitlines()


def rows_of(reading: Reading) -> list[PriceRow]:
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert len(rows) == len(reading.rows)
    return rows


def prices(reading: Reading) -> dict[tuple[str, str, str, str], Decimal | None]:
    """Return price by machine, region, term and payment."""
    found = {(row.sku, row.region, row.term, row.payment): row.price_per_hour for row in rows_of(reading)}
    assert len(found) == len(reading.rows)
    return found


def csv_with(**changes: str) -> Reading:
    """Return the reading of line 8 alone, with some columns changed."""
    header = LINES[5].split(",")
    row = dict(zip(header, LINES[7].split(","), strict=True))
    row.update({name.replace("_", " "): value for name, value in changes.items()})
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(row[name] for name in header)
    return read_text("aws_savings_plans", "\n".join([*LINES[:6], out.getvalue()]), "a.csv")


# --- what is kept ---


def test_every_line_of_the_offer_csv_ends_as_the_list_of_traps_says() -> None:
    reading = read_path("aws_savings_plans", OFFER_CSV)
    refused = {**reading.wrong, **reading.out_of_scope}
    assert {line: error.rule for line, error in refused.items()} == {
        11: "dedicated_tenancy",
        12: "unused_capacity_reservation",
        13: "windows",
        14: "other_operating_system",
        15: "preinstalled_software",
        16: "no_accelerator",
        17: "no_accelerator",
        18: "other_plan",
        21: "machine_unknown",
        22: "zero_price",
        23: "term_unknown",
        24: "unit_unknown",
        26: "allocated_capacity_reservation",
    }
    assert set(reading.kept) == {7, 8, 9, 10, 19, 20, 25}
    assert reading.lines == 20
    assert all(error.expected for error in refused.values())


def test_the_plan_says_the_term_and_the_option_the_payment() -> None:
    found = prices(read_path("aws_savings_plans", OFFER_CSV))
    p5 = {key[2:]: price for key, price in found.items() if key[0] == "p5.48xlarge"}
    assert p5 == {
        ("compute_plan_3y", "partial_upfront"): Decimal("30.5"),
        ("compute_plan_1y", "no_upfront"): Decimal("44.962"),
        ("instance_plan_1y", "no_upfront"): Decimal("34.6752"),
        ("instance_plan_3y", "all_upfront"): Decimal("23.777281"),
    }


def test_rates_of_one_decimal_and_of_ten_are_read_exactly() -> None:
    assert rows_of(csv_with(DiscountedRate="1.824"))[0].price_per_hour == Decimal("1.824")
    assert rows_of(csv_with(DiscountedRate="10.9760000000"))[0].price_per_hour == Decimal("10.976")
    assert rows_of(csv_with(DiscountedRate="10.976000001"))[0].price_per_hour == Decimal("10.976000001")


def test_the_table_of_machines_says_what_a_type_holds() -> None:
    by_sku = {row.sku: row for row in rows_of(read_path("aws_savings_plans", OFFER_CSV))}
    p5 = by_sku["p5.48xlarge"]
    assert (p5.accelerator_name, p5.gpu_count, p5.vcpus, p5.memory_gib) == ("H100", 8, 192, 2048)
    assert (by_sku["trn1.32xlarge"].gpu_count, by_sku["g6f.large"].gpu_count) == (16, Decimal("0.125"))
    assert by_sku["g6f.large"].region == "us-east-1-atl-1"


def test_a_plan_and_an_on_demand_price_speak_of_one_machine() -> None:
    """Else a plan of a type would stand beside its own type, not with it."""
    different = [
        (machine.name, machine.accelerator_name)
        for machine in machines_of("aws")
        if ACCELERATOR_BY_FAMILY.get(family_of(machine.name), machine.accelerator_name)
        != machine.accelerator_name
    ]
    assert different == []


def test_every_family_with_accelerators_is_called_so_that_its_lines_are_found() -> None:
    families = {*ACCELERATOR_BY_FAMILY, *(family_of(machine.name) for machine in machines_of("aws"))}
    assert [family for family in families if not may_hold_accelerators(family)] == []


def test_cny_stays_cny() -> None:
    (china,) = [row for row in rows_of(read_path("aws_savings_plans", OFFER_CSV)) if row.currency != "USD"]
    assert (china.currency, china.region, china.price_per_hour) == ("CNY", "cn-north-1", Decimal("2.9"))


def test_the_json_layout_says_the_same_as_the_csv() -> None:
    reading = read_path("aws_savings_plans", OFFER_JSON)
    of_csv = prices(read_path("aws_savings_plans", OFFER_CSV))
    assert prices(reading) == {key: price for key, price in of_csv.items() if key[0] == "p5.48xlarge"}
    assert reading.by_rule == {"dedicated_tenancy": 1, "no_accelerator": 1}
    assert reading.info.as_of == read_path("aws_savings_plans", OFFER_CSV).info.as_of


def test_answers_of_the_service_say_the_same_as_the_csv() -> None:
    reading = read_path("aws_savings_plans", ANSWER)
    of_csv = prices(read_path("aws_savings_plans", OFFER_CSV))
    assert prices(reading) == {key: price for key, price in of_csv.items() if key[0] == "p5.48xlarge"}
    assert reading.by_rule == {"unused_capacity_reservation": 1}


def test_an_offer_dates_itself_and_an_answer_is_dated_by_its_name() -> None:
    offer = read_path("aws_savings_plans", OFFER_CSV)
    assert offer.info.as_of is not None
    assert offer.info.as_of.isoformat() == "2026-09-11T18:44:47+00:00"
    first = rows_of(offer)[0]
    assert first.effective_from is not None
    assert first.effective_from.isoformat() == "2026-09-01T00:00:00+00:00"
    assert "20260911184447" in first.reference
    text = ANSWER.read_text()
    named = read_text("aws_savings_plans", text, "aws_savings_plans_rates_2026-09-12.json")
    assert named.info.as_of is not None
    assert f"{named.info.as_of:%Y-%m-%d}" == "2026-09-12"
    assert rows_of(named)[0].effective_from is None, "from the day of the answer"
    assert read_text("aws_savings_plans", text, "rates.json").info.as_of is None


def test_each_kind_of_plan_in_each_region_is_a_scope() -> None:
    scopes = read_path("aws_savings_plans", OFFER_CSV).scopes
    assert scopes == {
        "compute:us-east-1",
        "instance:us-east-1",
        "compute:us-east-1-atl-1",
        "compute:cn-north-1",
    }
    asked = read_path("aws_savings_plans", ANSWER, {"instance_types": "p5.48xlarge, p4d.24xlarge"})
    assert asked.scopes == {
        "compute:us-east-1:p4d.24xlarge+p5.48xlarge",
        "instance:us-east-1:p4d.24xlarge+p5.48xlarge",
    }


def test_packed_and_quoted_files_read_the_same() -> None:
    plain = prices(read_path("aws_savings_plans", OFFER_CSV))
    data = OFFER_CSV.read_bytes()
    assert prices(read_bytes("aws_savings_plans", gzip.compress(data), "a.csv.gz")) == plain
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(csv.reader(LINES))
    assert prices(read_text("aws_savings_plans", out.getvalue(), "a.csv")) == plain


# --- what is not ---


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("DiscountedServiceCode", "AmazonEKS", "not_ec2"),
        ("DiscountedUsageType", "APN1-HostUsage:p5", "dedicated_tenancy"),
        ("DiscountedUsageType", "USW2-UnusedDed:p5.48xlarge", "dedicated_tenancy"),
        ("DiscountedUsageType", "SomethingNew:p5.48xlarge", "not_a_machine"),
        ("DiscountedOperation", "RunInstances:0202", "windows"),
        ("DiscountedOperation", "RunInstances:0800", "windows"),
        ("DiscountedOperation", "RunInstances:0g00", "other_operating_system"),
        ("DiscountedOperation", "RunInstances:0100", "preinstalled_software"),
        ("DiscountedOperation", "RunInstances:CB", "capacity_block"),
        ("DiscountedOperation", "RunInstances:zzzz", "other_operation"),
    ],
)
def test_each_filter_sets_aside_by_its_own_name(column: str, value: str, rule: str) -> None:
    reading = csv_with(**{column: value})
    assert reading.by_rule == {rule: 1}
    (reason,) = reading.out_of_scope.values()
    assert (reason.column, reason.value) == (column, value)


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("DiscountedRate", "0.0000000000", "zero_price"),
        ("DiscountedRate", "-1", "negative_price"),
        ("DiscountedRate", "one", "not_a_number"),
        ("Currency", "usd", "currency_unknown"),
        ("Unit", "Lambda-GB-Second", "unit_unknown"),
        ("PurchaseOption", "Some Upfront", "payment_unknown"),
        ("LeaseContractLength", "2", "term_unknown"),
        ("LeaseContractLengthUnit", "month", "term_unknown"),
        ("DiscountedRegionCode", "", "region_unknown"),
        ("EffectiveDate", "1.9.2026", "not_a_time"),
        ("DiscountedInstanceType", "p5.1xlarge", "machine_unknown"),
    ],
)
def test_a_wrong_value_is_refused_by_name(column: str, value: str, rule: str) -> None:
    reading = csv_with(**{column: value})
    assert (reading.rows, reading.by_rule) == ([], {rule: 1})


def test_an_unknown_type_is_named_with_what_is_known_of_it() -> None:
    (new,) = csv_with(DiscountedInstanceType="p99.48xlarge").wrong.values()
    (size,) = csv_with(DiscountedInstanceType="p5.1xlarge").wrong.values()
    assert (new.value, size.value) == ("p99.48xlarge", "p5.1xlarge")
    assert "nothing is known" in new.expected
    assert "H100" in size.expected


def test_an_answer_about_a_machine_without_accelerators_is_set_aside() -> None:
    text = ANSWER.read_text().replace("p5.48xlarge", "m7i.large")
    reading = read_text("aws_savings_plans", text, "a.json")
    assert reading.by_rule == {"no_accelerator": 4, "unused_capacity_reservation": 1}


def test_lines_set_aside_together_are_all_counted() -> None:
    lines = [*LINES[:15], *[LINES[15]] * 500, "", *[LINES[17]] * 300, *LINES[18:]]
    reading = read_text("aws_savings_plans", "\n".join(lines) + "\n\n", "a.csv")
    assert reading.by_rule["no_accelerator"] == 500
    assert reading.by_rule["other_plan"] == 300
    assert reading.lines == 20 - 3 + 800


def test_other_plans_keep_nothing_and_say_why() -> None:
    text = OFFER_CSV.read_text()
    for plan in ("ComputeSavingsPlans", "EC2InstanceSavingsPlans", "SageMakerSavingsPlans"):
        text = text.replace(plan, "DatabaseSavingsPlans")
    reading = read_text("aws_savings_plans", text, "a.csv")
    assert (reading.rows, reading.by_rule) == ([], {"other_plan": 20})


# --- files ---


INDEX = {
    "disclaimer": "for informational purposes only",
    "publicationDate": "2026-09-11T18:44:47Z",
    "regions": [
        {
            "regionCode": "us-east-1",
            "versionUrl": "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/20260911184447/us-east-1/index.json",
        }
    ],
}


@pytest.mark.parametrize("source", ["aws_savings_plans", "aws_prices"])
def test_an_index_is_no_offer_and_is_told_so(source: str) -> None:
    with pytest.raises(FileError, match="index_not_offer") as caught:
        read_text(source, json.dumps(INDEX), "region_index.json")
    assert "index" in caught.value.expected


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (lambda lines: lines[:2] + lines[3:], "preamble_missing", 3),
        (lambda lines: [lines[0].replace("v1.0", "v2.0"), *lines[1:]], "format_unknown", 1),
        (lambda lines: [*lines[:2], "Publication Date,soon", *lines[3:]], "not_a_time", 3),
        (
            lambda lines: [*lines[:5], lines[5].replace("DiscountedRate,", "Rate,"), *lines[6:]],
            "columns_missing",
            6,
        ),
        (lambda lines: [*lines[:9], lines[9].rsplit(",", 3)[0]], "file_truncated", 10),
        (lambda lines: [*lines[:15], lines[15].rsplit(",", 3)[0]], "file_truncated", 16),
        (lambda lines: [*lines[:12], lines[12] + '"', *lines[13:]], "csv_broken", 13),
    ],
)
def test_an_offer_csv_that_is_not_whole_is_refused(change: Any, code: str, line: int) -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_savings_plans", "\n".join(change(LINES)), "a.csv")
    assert (caught.value.code, caught.value.line) == (code, line)


def test_a_line_of_the_wrong_length_in_the_middle_is_refused_alone() -> None:
    lines = [*LINES[:7], LINES[7] + ",extra", *LINES[8:]]
    reading = read_text("aws_savings_plans", "\n".join(lines), "a.csv")
    assert reading.wrong[8].rule == "field_count"
    assert len(reading.kept) == 6


ANSWERED = json.loads(ANSWER.read_text())["searchResults"]
OFFERED = json.loads(OFFER_JSON.read_text())


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"searchResults": []}, "empty_file"),
        ({"searchResults": ANSWERED, "nextToken": "more"}, "pages_missing"),
        ([{"searchResults": ANSWERED}, {"searchResults": ANSWERED}], "pages_missing"),
        ({"searchResults": {}}, "json_wrong"),
        ({"some": "thing"}, "json_wrong"),
        ({**OFFERED, "products": {}}, "json_wrong"),
        ({**OFFERED, "products": []}, "json_wrong"),  # terms of no product
        ({**OFFERED, "publicationDate": ""}, "not_a_time"),
    ],
)
def test_a_document_that_is_no_whole_list_is_refused(document: Any, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_savings_plans", json.dumps(document), "a.json")
    assert caught.value.code == code
    assert caught.value.expected


@pytest.mark.parametrize("path", [OFFER_JSON, ANSWER])
def test_one_unreadable_rate_is_refused_alone(path: Path) -> None:
    text = path.read_text().replace('"30.5"', "30.5")
    reading = read_text("aws_savings_plans", text, "a.json")
    assert [error.rule for error in reading.wrong.values()] == ["rate_unreadable"]
    assert len(reading.kept) == 3


def test_saved_pages_in_order_are_one_answer() -> None:
    pages = [{"searchResults": ANSWERED[:2], "nextToken": "one"}, {"searchResults": ANSWERED[2:]}]
    reading = read_text("aws_savings_plans", json.dumps(pages), "a.json")
    assert prices(reading) == prices(read_path("aws_savings_plans", ANSWER))


def test_its_files_are_known_from_price_lists_by_their_beginning() -> None:
    offer = json.dumps({"offerCode": "AmazonComputeSavingsPlan", **OFFERED})
    ours = [OFFER_CSV.read_text(), offer, ANSWER.read_text(), json.dumps(INDEX)]
    names = ("aws_bulk_ec2.csv", "aws_get_products.json", "aws_offer_ec2.json")
    theirs = [(DATA / name).read_text() for name in names]
    theirs.append(
        '{"offers": {"AmazonEC2": {"currentSavingsPlanIndexUrl": "/savingsPlan/x",'
        '"currentRegionIndexUrl": "/offers/v1.0/aws/AmazonEC2/current/region_index.json"}}}'
    )
    assert [aws_savings_plans.looks_like(text, "a") for text in ours + theirs] == [True] * 4 + [False] * 4
    assert [aws_prices.looks_like(text, "a") for text in ours + theirs] == [False] * 4 + [True] * 4
