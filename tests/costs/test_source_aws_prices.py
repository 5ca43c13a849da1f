"""State what is kept of the AWS price list, in each of its three layouts, and why the rest is not."""

import csv
import gzip
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.names import accelerator_key
from costs.rows import FileError, PriceRow
from costs.sources.aws_facts import ACCELERATOR_BY_FAMILY
from costs.sources.packaged import DATA as BUNDLED

from .readings import Reading, read_bytes, read_path, read_text

DATA = Path(__file__).resolve().parent.parent / "data"
BULK_CSV, BULK_JSON, ANSWER = (
    DATA / name for name in ("aws_bulk_ec2.csv", "aws_offer_ec2.json", "aws_get_products.json")
)


def prices(reading: Reading) -> dict[tuple[str, str, str], Decimal | None]:
    """Return price by machine, term and payment."""
    found: dict[tuple[str, str, str], Decimal | None] = {}
    for row in reading.rows:
        assert isinstance(row, PriceRow)
        found[row.sku, row.term, row.payment] = row.price_per_hour
    assert len(found) == len(reading.rows)
    return found


def machine(reading: Reading, sku: str) -> PriceRow:
    row = next(row for row in reading.rows if isinstance(row, PriceRow) and row.sku == sku)
    assert isinstance(row, PriceRow)
    return row


def csv_with(**changes: str) -> Reading:
    """Return the reading of the p5's line alone, with some columns changed."""
    lines = BULK_CSV.read_text().splitlines()
    header = next(csv.reader([lines[5]]))
    row = dict(zip(header, next(csv.reader([lines[15]])), strict=True))
    row.update({name.replace("_", " "): value for name, value in changes.items()})
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(row[name] for name in header)
    return read_text("aws_prices", "\n".join([*lines[:6], out.getvalue()]), "a.csv")


def answer_with(changes: dict[str, Any] | None = None, **attributes: str | None) -> Reading:
    """Return the reading of an answer with the p5 alone, with some attributes or other parts changed."""
    items = [json.loads(text) for text in json.loads(ANSWER.read_text())["PriceList"]]
    item = next(each for each in items if each["product"]["sku"] == "P500000000000001")
    item.update(changes or {})
    for name, value in attributes.items():
        item["product"]["attributes"].pop(name, None)
        if value is not None:
            item["product"]["attributes"][name] = value
    page = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(item)]}
    return read_text("aws_prices", json.dumps(page), "a.json")


# --- what is kept ---


def test_every_line_of_the_bulk_csv_ends_as_the_list_of_traps_says() -> None:
    reading = read_path("aws_prices", BULK_CSV)
    refused = {**reading.wrong, **reading.out_of_scope}
    assert {line: error.rule for line, error in refused.items()} == {
        9: "joined_line",
        11: "joined_line",
        12: "no_accelerator",
        14: "joined_line",
        17: "capacity_block",
        18: "windows",
        19: "other_operating_system",
        20: "dedicated_tenancy",
        21: "preinstalled_software",
        22: "unused_capacity_reservation",
        23: "allocated_capacity_reservation",
        24: "licence_included",
        25: "free_tier",
        30: "family_unknown",
        31: "empty",
        32: "zero_price",
        33: "upfront_fee_wrong",
    }
    assert set(reading.kept) == {7, 8, 10, 13, 15, 16, 26, 27, 28, 29}
    assert reading.lines == 27
    assert all(error.expected for error in refused.values())


def test_a_reserved_price_is_the_hourly_amount_and_the_fee_over_the_hours_of_the_term() -> None:
    found = prices(read_path("aws_prices", BULK_CSV))
    step = Decimal("0.000000001")
    assert found["p4d.24xlarge", "reserved_1y", "no_upfront"] == Decimal("13.921094")
    assert found["p4d.24xlarge", "reserved_1y", "partial_upfront"] == (
        Decimal("6.63") + Decimal(58079) / 8760
    ).quantize(step)
    assert found["p4d.24xlarge", "reserved_3y", "all_upfront"] == (Decimal(227000) / (8760 * 3)).quantize(
        step
    )
    upfronts = [row.upfront for row in read_path("aws_prices", BULK_CSV).rows if isinstance(row, PriceRow)]
    assert upfronts[:5] == [None, None, 58079, 227000, 66000]


def test_a_convertible_reservation_has_terms_of_its_own() -> None:
    found = prices(read_path("aws_prices", BULK_CSV))
    expected = (Decimal("7.6") + Decimal(66000) / 8760).quantize(Decimal("0.000000001"))
    assert found["p4d.24xlarge", "convertible_1y", "partial_upfront"] == expected
    assert found["p4d.24xlarge", "reserved_1y", "partial_upfront"] != expected


@pytest.mark.parametrize("path", [BULK_JSON, ANSWER], ids=["bulk JSON", "GetProducts"])
def test_the_json_layouts_say_the_same_as_the_csv(path: Path) -> None:
    reading = read_path("aws_prices", path)
    ours = {"p4d.24xlarge", "p5.48xlarge"}
    expected = {
        key: price for key, price in prices(read_path("aws_prices", BULK_CSV)).items() if key[0] in ours
    }
    assert prices(reading) == expected
    assert reading.by_rule == {"capacity_block": 1, "no_accelerator": 1, "free_tier": 1}
    assert reading.lines == 5


@pytest.mark.parametrize("path", [BULK_CSV, BULK_JSON, ANSWER])
def test_the_file_dates_itself_and_each_region_is_a_scope(path: Path) -> None:
    reading = read_path("aws_prices", path)
    assert reading.info.as_of is not None
    assert reading.info.as_of.isoformat() == "2026-09-10T19:55:14+00:00"
    assert reading.info.params["version"] == "20260910195514"
    assert "AmazonEC2:us-east-1" in reading.scopes
    p5 = machine(reading, "p5.48xlarge")
    assert p5.effective_from is not None
    assert p5.effective_from.isoformat() == "2026-09-01T00:00:00+00:00"
    assert "P500000000000001" in p5.reference


def test_no_p5_is_free() -> None:
    for path in (BULK_CSV, BULK_JSON, ANSWER):
        assert prices(read_path("aws_prices", path))["p5.48xlarge", "on_demand", ""] == Decimal("55.04")


def test_counts_sizes_and_regions_come_from_the_attributes() -> None:
    reading = read_path("aws_prices", BULK_CSV)
    assert (machine(reading, "trn1.32xlarge").gpu_count, machine(reading, "g6f.large").gpu_count) == (
        16,
        Decimal("0.125"),
    )
    assert machine(reading, "p5.48xlarge").memory_gib == 2048
    assert machine(reading, "g6f.large").region == "eu-west-1", "by the old name of its location"
    assert machine(reading, "trn1.32xlarge").region == "us-west-2"


def test_each_price_keeps_its_own_currency() -> None:
    reading = read_path("aws_prices", BULK_CSV)
    china = machine(reading, "g4dn.xlarge")
    assert (china.currency, china.price_per_hour, china.region) == ("CNY", Decimal("3.711"), "cn-north-1")
    assert machine(reading, "p5.48xlarge").currency == "USD"


def test_amounts_are_exact_to_the_last_place() -> None:
    assert prices(csv_with(PricePerUnit="21.9576400000")) != prices(csv_with(PricePerUnit="21.9576420000"))


@pytest.mark.parametrize(
    ("family", "part"),
    [
        ("g4dn", "T4"),
        ("g5", "A10G"),
        ("g6", "L4"),
        ("p4d", "A100"),
        ("p4de", "A100-80GB"),
        ("p5", "H100"),
        ("p5e", "H200"),
        ("p5en", "H200"),
        ("p6-b200", "B200"),
        ("trn1", "Trainium"),
        ("inf2", "Inferentia2"),
    ],
)
def test_the_family_names_the_accelerator(family: str, part: str) -> None:
    row = answer_with(instanceType=f"{family}.48xlarge").rows[0]
    assert isinstance(row, PriceRow)
    assert row.accelerator_name == part


def test_every_accelerator_of_aws_is_in_the_bundled_table() -> None:
    with (BUNDLED / "accelerators.csv").open(encoding="utf-8", newline="") as file:
        names = [(row["slug"], row["name"], *row["aliases"].split("|")) for row in csv.DictReader(file)]
    known = {accelerator_key(name) for row in names for name in row}
    assert [part for part in ACCELERATOR_BY_FAMILY.values() if accelerator_key(part) not in known] == []


# --- what is not ---


@pytest.mark.parametrize(
    ("attribute", "value", "rule"),
    [
        ("operatingSystem", "Windows", "windows"),
        ("operatingSystem", "SUSE", "other_operating_system"),
        ("licenseModel", "Bring your own license", "licence_included"),
        ("tenancy", "Dedicated", "dedicated_tenancy"),
        ("tenancy", "Host", "dedicated_tenancy"),
        ("preInstalledSw", "SQL Std", "preinstalled_software"),
        ("capacitystatus", "UnusedCapacityReservation", "unused_capacity_reservation"),
        ("capacitystatus", "AllocatedCapacityReservation", "allocated_capacity_reservation"),
        ("marketoption", "CapacityBlock", "capacity_block"),
        ("operation", "RunInstances:CB", "other_operation"),
        ("servicecode", "AmazonSageMaker", "not_ec2"),
    ],
)
def test_each_filter_sets_aside_by_its_own_name(attribute: str, value: str, rule: str) -> None:
    reading = answer_with(**{attribute: value})
    assert reading.by_rule == {rule: 1}
    (error,) = reading.out_of_scope.values()
    assert (error.column, error.value) == (attribute, value)
    assert error.expected


def test_lists_from_before_capacity_blocks_lack_some_attributes() -> None:
    reading = answer_with(marketoption=None, regionCode=None)
    assert machine(reading, "p5.48xlarge").region == "us-east-1"


@pytest.mark.parametrize(
    ("attribute", "value", "rule"),
    [
        ("instanceType", "p99.48xlarge", "family_unknown"),
        ("gpu", None, "empty"),
        ("gpu", "eight", "not_a_number"),
        ("gpu", "0", "gpu_count_out_of_bounds"),
        ("vcpu", "many", "not_a_number"),
    ],
)
def test_a_wrong_attribute_is_refused_with_the_sku(attribute: str, value: str | None, rule: str) -> None:
    (error,) = answer_with(**{attribute: value}).wrong.values()
    assert error.rule == rule
    assert "P500000000000001" in error.column


def test_a_region_without_code_or_known_location_is_refused() -> None:
    (error,) = answer_with(regionCode=None, location="Atlantis").wrong.values()
    assert (error.rule, error.value) == ("region_unknown", "Atlantis")


def _on_demand(*dimensions: dict[str, Any], **more: Any) -> dict[str, Any]:
    term = {"priceDimensions": {f"X.{n}": dimension for n, dimension in enumerate(dimensions)}, **more}
    return {"terms": {"OnDemand": {"X": term}}}


HOURLY = {"unit": "Hrs", "pricePerUnit": {"USD": "55.0400000000"}, "beginRange": "0"}


@pytest.mark.parametrize(
    ("terms", "rule"),
    [
        (_on_demand({**HOURLY, "pricePerUnit": {"USD": "0.0000000000"}}), "zero_price"),
        (_on_demand({**HOURLY, "pricePerUnit": {"USD": "-1"}}), "negative_price"),
        (_on_demand({**HOURLY, "pricePerUnit": {"USD": "NaN"}}), "not_a_number"),
        (_on_demand({**HOURLY, "pricePerUnit": {"USD": "1", "CNY": "7"}}), "currencies"),
        (_on_demand({**HOURLY, "pricePerUnit": {}}), "currencies"),
        (_on_demand({**HOURLY, "pricePerUnit": {"usd": "1"}}), "currency_unknown"),
        (_on_demand({**HOURLY, "unit": "Mo"}), "unit_unknown"),
        (_on_demand({**HOURLY, "unit": "Quantity"}), "unit_unknown"),
        (_on_demand(), "unit_unknown"),
        (_on_demand(HOURLY, {**HOURLY, "beginRange": "750"}), "price_tiers"),
        (_on_demand(HOURLY, effectiveDate="1.9.2026"), "not_a_time"),
        ({"terms": {"OnDemand": {"X": []}}}, "terms_unreadable"),
        ({"terms": {"OnDemand": {"X": {"priceDimensions": {"Y": {"unit": 1}}}}}}, "terms_unreadable"),
        ({"terms": {}}, "no_terms"),
    ],
)
def test_terms_that_give_no_plain_hourly_price_are_refused(terms: dict[str, Any], rule: str) -> None:
    reading = answer_with(terms)
    assert (reading.rows, reading.by_rule) == ([], {rule: 1})


def _reserved(
    option: str, hourly: str | None, fee: str | None, length: str = "1yr", offering: str = "standard"
) -> dict[str, Any]:
    dimensions = {}
    if hourly is not None:
        dimensions["h"] = {"unit": "Hrs", "pricePerUnit": {"USD": hourly}}
    if fee is not None:
        dimensions["f"] = {"unit": "Quantity", "pricePerUnit": {"USD": fee}}
    attributes = {"LeaseContractLength": length, "PurchaseOption": option, "OfferingClass": offering}
    return {"terms": {"Reserved": {"X": {"priceDimensions": dimensions, "termAttributes": attributes}}}}


@pytest.mark.parametrize("offering", ["standard", "convertible"])
@pytest.mark.parametrize(
    ("option", "hourly", "fee", "length", "payment", "price"),
    [
        ("No Upfront", "30", None, "1yr", "no_upfront", 30),
        ("No Upfront", "30", None, "3yr", "no_upfront", 30),
        ("Partial Upfront", "10", "87600", "1yr", "partial_upfront", 20),  # 87,600 over 8,760 hours is 10
        ("Partial Upfront", "10", "262800", "3yr", "partial_upfront", 20),  # over 26,280 hours
        ("All Upfront", "0", "87600", "1yr", "all_upfront", 10),
        ("All Upfront", None, "87600", "1yr", "all_upfront", 10),
        ("All Upfront", "0", "262800", "3yr", "all_upfront", 10),
    ],
)
def test_the_effective_price_of_each_way_to_pay(
    offering: str, option: str, hourly: str, fee: str | None, length: str, payment: str, price: int
) -> None:
    (row,) = answer_with(_reserved(option, hourly, fee, length, offering)).rows
    assert isinstance(row, PriceRow)
    kind = "reserved" if offering == "standard" else "convertible"
    assert (row.term, row.payment) == (f"{kind}_{length[0]}y", payment)
    assert (row.price_per_hour, row.upfront) == (price, None if fee is None else Decimal(fee))


@pytest.mark.parametrize(
    ("terms", "rule"),
    [
        (_reserved("Partial Upfront", "10", None), "upfront_fee_wrong"),
        (_reserved("Partial Upfront", "10", "-5"), "upfront_fee_wrong"),
        (_reserved("No Upfront", "10", "500"), "upfront_fee_wrong"),
        (_reserved("All Upfront", "10", "500"), "hourly_price_wrong"),
        (_reserved("No Upfront", None, None), "hourly_price_wrong"),
        (_reserved("Partial Upfront", "0", "500"), "hourly_price_wrong"),
        (_reserved("Some Upfront", "10", "500"), "payment_unknown"),
        (_reserved("No Upfront", "10", None, "5yr"), "term_unknown"),
        (_reserved("No Upfront", "10", None, "1yr", "exotic"), "offering_unknown"),
        (_reserved("All Upfront", "0", "1e12"), "price_out_of_bounds"),
    ],
)
def test_reserved_terms_that_do_not_add_up_are_refused(terms: dict[str, Any], rule: str) -> None:
    reading = answer_with(terms)
    assert (reading.rows, reading.by_rule) == ([], {rule: 1})


# --- files ---


def page(*products: str, **more: Any) -> dict[str, Any]:
    return {"FormatVersion": "aws_v1", "PriceList": list(products), **more}


ITEMS = json.loads(ANSWER.read_text())["PriceList"]


def test_a_list_of_saved_pages_is_one_answer() -> None:
    pages = [page(*ITEMS[:2], NextToken="abc"), page(*ITEMS[2:])]
    whole = read_path("aws_prices", ANSWER)
    assert prices(read_text("aws_prices", json.dumps(pages), "pages.json")) == prices(whole)


def test_one_unreadable_product_is_refused_alone() -> None:
    reading = read_text("aws_prices", json.dumps(page("{not json", *ITEMS)), "a.json")
    assert reading.wrong[1].rule == "product_unreadable"
    assert prices(reading) == prices(read_path("aws_prices", ANSWER))


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (page(*ITEMS, NextToken="abc"), "pages_missing"),  # the first page of several
        ([page(*ITEMS[:2]), page(*ITEMS[2:])], "pages_missing"),  # one between them is lost
        ([page(*ITEMS[:2], NextToken="abc")], "pages_missing"),
        ([], "empty_file"),
        (page(), "empty_file"),
        (page("{}"), "not_a_time"),
        (page(json.dumps({"publicationDate": "soon"})), "not_a_time"),
        ({"FormatVersion": "aws_v2", "PriceList": ITEMS}, "format_unknown"),
        ({"FormatVersion": "aws_v1", "PriceList": [{"product": {}}]}, "json_wrong"),
        ({"FormatVersion": "aws_v1"}, "json_wrong"),
        ({"products": {}}, "json_wrong"),
        ({"some": "thing"}, "json_wrong"),
        ({**json.loads(BULK_JSON.read_text()), "formatVersion": "v9"}, "format_unknown"),
        ({**json.loads(BULK_JSON.read_text()), "publicationDate": ""}, "not_a_time"),
        ({**json.loads(BULK_JSON.read_text()), "products": []}, "json_wrong"),
    ],
)
def test_a_document_that_is_no_whole_price_list_is_refused(document: Any, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_prices", json.dumps(document), "a.json")
    assert caught.value.code == code
    assert caught.value.expected


@pytest.mark.parametrize("path", [BULK_JSON, ANSWER])
def test_json_cut_anywhere_is_refused(path: Path) -> None:
    text = path.read_text()
    for share in (0.1, 0.5, 0.9, 0.999):
        with pytest.raises(FileError):
            read_text("aws_prices", text[: int(len(text) * share)].rstrip(), "a.json")


def test_deeply_nested_json_is_refused() -> None:
    with pytest.raises(FileError):
        read_text("aws_prices", '{"PriceList":' + "[" * 100_000, "a.json")


@pytest.mark.parametrize("path", [BULK_CSV, BULK_JSON, ANSWER])
def test_packed_marked_and_plain_files_read_the_same(path: Path) -> None:
    plain = prices(read_path("aws_prices", path))
    data = path.read_bytes()
    assert prices(read_bytes("aws_prices", gzip.compress(data), path.name + ".gz")) == plain
    assert prices(read_bytes("aws_prices", b"\xef\xbb\xbf" + data, path.name)) == plain


def test_a_mapped_file_and_a_held_one_read_the_same(tmp_path: Path) -> None:
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + BULK_JSON.read_bytes())
    assert prices(read_path("aws_prices", marked)) == prices(
        read_bytes("aws_prices", BULK_JSON.read_bytes(), "a.json")
    )


def test_an_offer_that_is_not_ec2_keeps_nothing_and_says_why() -> None:
    text = (
        '"FormatVersion","v1.0"\n"Disclaimer","x"\n"Publication Date","2026-01-16T16:02:58Z"\n'
        '"Version","20260116160258"\n"OfferCode","comprehend"\n'
        '"SKU","OfferTermCode","RateCode","TermType","PriceDescription","EffectiveDate","StartingRange",'
        '"EndingRange","Unit","PricePerUnit","Currency","Product Family","serviceCode","usageType",'
        '"operation"\n'
        '"A","B","A.B.C","OnDemand","tier","2025-04-01","0","10","Unit","0.0001","USD","F","comprehend","u","o"\n'
    )
    reading = read_text("aws_prices", text + "\n", "a.csv")
    assert (reading.lines, reading.rows, reading.by_rule) == (1, [], {"not_ec2": 1})
    assert reading.info.params["offer"] == "comprehend"


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        (lambda lines: lines[:2] + lines[3:], "preamble_missing", 3),
        (lambda lines: lines[5:], "preamble_missing", 1),
        (lambda lines: [lines[0].replace("v1.0", "v2.0"), *lines[1:]], "format_unknown", 1),
        (lambda lines: [*lines[:2], '"Publication Date","soon"', *lines[3:]], "not_a_time", 3),
        (
            lambda lines: [*lines[:5], lines[5].replace('"MarketOption"', '"Market"'), *lines[6:]],
            "columns_missing",
            6,
        ),
        (lambda lines: [*lines[:9], lines[9].rsplit(",", 3)[0]], "file_truncated", 10),
        (lambda lines: [*lines[:9], lines[9][:-4]], "csv_broken", 10),  # inside a quoted field
        (lambda lines: [*lines[:12], lines[12] + '"', *lines[13:]], "csv_broken", 13),
    ],
)
def test_a_bulk_csv_that_is_not_whole_is_refused(change: Any, code: str, line: int) -> None:
    text = "\n".join(change(BULK_CSV.read_text().splitlines()))
    with pytest.raises(FileError) as caught:
        read_text("aws_prices", text, "a.csv")
    assert (caught.value.code, caught.value.line) == (code, line)


def test_a_file_cut_inside_a_line_without_accelerator_is_refused_too() -> None:
    lines = BULK_CSV.read_text().splitlines()
    cut = lines[11][: lines[11].index('"General purpose"') + len('"General purpose"')]
    with pytest.raises(FileError, match="file_truncated"):
        read_text("aws_prices", "\n".join([*lines[:11], cut]), "a.csv")


def test_a_line_of_the_wrong_length_in_the_middle_is_refused_alone() -> None:
    lines = BULK_CSV.read_text().splitlines()
    lines[15] += ',"extra"'
    reading = read_text("aws_prices", "\n".join(lines), "a.csv")
    assert reading.wrong[16].rule == "field_count"
    assert ("p5.48xlarge", "on_demand", "") not in prices(reading)


def test_a_question_about_some_types_replaces_only_what_it_asked_about() -> None:
    reading = read_path("aws_prices", ANSWER, {"instance_types": "p5.48xlarge, p4d.24xlarge"})
    assert reading.scopes == {"AmazonEC2:us-east-1:p4d.24xlarge+p5.48xlarge"}
