"""State how spot price histories of AWS are read. Rows are ours, in the real formats."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costs.rows import FileError, SpotPriceRow
from costs.sources import aws_spot_history
from costs.sources.aws_spot_history_zones import REGION_BY_ID_START, place_of

from .readings import Reading, packed, read_bytes, read_text

CSV_HEADER = "Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice"


def record(**changes: object) -> dict[str, object]:
    """Return one row as the command line of AWS prints it."""
    return {
        "AvailabilityZone": "us-east-1a",
        "InstanceType": "p3.2xlarge",
        "ProductDescription": "Linux/UNIX",
        "SpotPrice": "0.918000",
        "Timestamp": "2021-05-30T21:17:08+00:00",
        **changes,
    }


def dump(*records: object, **more: object) -> Reading:
    text = json.dumps({"SpotPriceHistory": records, **more})
    return read_text("aws_spot_history", text, "p3.2xlarge.json")


def rows(reading: Reading) -> list[SpotPriceRow]:
    assert not reading.wrong, reading.by_rule
    return [row for row in reading.rows if isinstance(row, SpotPriceRow)]


def only_rule(reading: Reading) -> str:
    ((rule, count),) = reading.by_rule.items()
    assert count == 1
    return rule


# --- the three layouts ---


def test_a_row_of_a_dump_is_one_observation() -> None:
    reading = dump(record())
    assert rows(reading) == [
        SpotPriceRow(
            provider="aws",
            sku="p3.2xlarge",
            region="us-east-1",
            zone="us-east-1a",
            zone_kind="name",
            account="",
            product="Linux/UNIX",
            observed_at=datetime(2021, 5, 30, 21, 17, 8, tzinfo=UTC),
            price_per_hour=Decimal("0.918"),
        )
    ]
    assert reading.scopes == {"us-east-1"}


def test_a_packed_dump_says_the_same() -> None:
    text = json.dumps({"SpotPriceHistory": [record()]})
    reading = read_bytes("aws_spot_history", packed(text), "p3.2xlarge.json.gz")
    assert rows(reading) == rows(dump(record()))


def test_the_csv_layout_is_read_by_its_header() -> None:
    text = f"{CSV_HEADER}\n2021-05-30T21:17:08+00:00,us-east-1a,p3.2xlarge,Linux/UNIX,0.918000\n"
    assert rows(read_text("aws_spot_history", text, "history.csv")) == rows(dump(record()))


def test_the_layout_between_tabs_has_no_header_and_gives_ids() -> None:
    text = (
        "use1-az6\tp3.2xlarge\tLinux/UNIX\t0.918000\t2022-05-31T18:20:41+00:00\n"
        "euw3-az2\tg4dn.4xlarge\tWindows\t0.866400\t2022-05-31T18:20:41+00:00\n"
    )
    found = rows(read_text("aws_spot_history", text, "2022-05-31.tsv"))
    assert [(row.zone, row.zone_kind, row.region) for row in found] == [
        ("use1-az6", "id", "us-east-1"),
        ("euw3-az2", "id", "eu-west-3"),
    ]


def test_a_file_is_as_of_its_newest_price_however_late_it_is_loaded() -> None:
    reading = dump(record(), record(Timestamp="2021-05-31T00:00:01.000Z"), record(Timestamp="yesterday"))
    assert reading.info.as_of == datetime(2021, 5, 31, 0, 0, 1, tzinfo=UTC)
    assert reading.by_rule == {"not_a_time": 1}


def test_a_dump_without_rows_says_nothing_and_is_no_error() -> None:
    reading = dump()
    assert (reading.lines, reading.info.as_of) == (0, None)


def test_the_token_that_ends_a_cut_dump_is_no_matter() -> None:
    assert len(rows(dump(record(), NextToken=""))) == len(rows(dump(record(), NextToken="more"))) == 1


# --- prices ---


def test_a_price_keeps_its_digits() -> None:
    assert rows(dump(record(SpotPrice="21.9576420001")))[0].price_per_hour == Decimal("21.957642000")
    # a tool that wrote the price as a number
    assert rows(dump(record(SpotPrice=0.918)))[0].price_per_hour == Decimal("0.918")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"SpotPrice": "0.000000"}, "zero_price"),
        ({"SpotPrice": "-0.1"}, "negative_price"),
        ({"SpotPrice": "0,918"}, "not_a_number"),
        ({"SpotPrice": ""}, "empty"),
        ({"SpotPrice": None}, "empty"),
        ({"Timestamp": "2021-05-30T21:17:08"}, "time_without_zone"),
        ({"AvailabilityZone": "US East"}, "zone_unknown"),
        ({"AvailabilityZone": "xyz1-az1"}, "zone_unknown"),
        ({"InstanceType": ""}, "empty"),
        ({"InstanceType": "p99.48xlarge"}, "family_unknown"),
    ],
)
def test_a_row_that_is_wrong_is_refused_by_name(changes: dict[str, object], rule: str) -> None:
    assert only_rule(dump(record(**changes), record())) == rule


@pytest.mark.parametrize("broken", ["text", 7, None, ["list"], [], {}])
def test_what_is_no_row_is_refused_alone(broken: object) -> None:
    reading = dump(broken, record())
    assert (set(reading.wrong), set(reading.kept)) == ({1}, {2})


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"SpotPriceHistory": {}}',
        '{"SpotPriceHistory": [{"AvailabilityZone": "us-east-1a"',
        '{"Message": "no"}',
    ],
)
def test_json_that_is_no_history_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="json_wrong"):
        read_text("aws_spot_history", text, "a.json")


def test_a_line_between_tabs_with_a_field_too_few_is_refused_alone() -> None:
    text = "use1-az6\tp3.2xlarge\tLinux/UNIX\t0.9\t2022-05-31T18:20:41+00:00\nuse1-az6\tp3.2xlarge\n"
    reading = read_text("aws_spot_history", text, "a.tsv")
    assert (set(reading.kept), reading.by_rule) == ({1}, {"field_count": 1})


def test_a_renamed_column_is_refused_with_its_name() -> None:
    with pytest.raises(FileError, match="columns_missing") as caught:
        read_text("aws_spot_history", CSV_HEADER.replace("SpotPrice", "Price") + "\n", "a.csv")
    assert caught.value.column == "SpotPrice"


# --- which machines and products ---


def test_machines_without_accelerators_are_out_of_scope_by_name() -> None:
    reading = dump(record(InstanceType="m5.large"), record(InstanceType="vt1.3xlarge"), record())
    assert {error.rule for error in reading.out_of_scope.values()} == {"not_accelerated"}
    assert set(reading.out_of_scope) == {1, 2}


@pytest.mark.parametrize("product", ["Linux/UNIX", "Red Hat Enterprise Linux", "SUSE Linux", "Windows"])
def test_oddity_14_every_product_is_kept_as_it_is_named(product: str) -> None:
    assert rows(dump(record(ProductDescription=product)))[0].product == product


@pytest.mark.parametrize("product", ["Linux/UNIX", "Red Hat Enterprise Linux", "SUSE Linux", "Windows"])
def test_oddity_14_older_names_of_products_are_the_plain_ones(product: str) -> None:
    assert rows(dump(record(ProductDescription=f"{product} (Amazon VPC)")))[0].product == product


def test_beside_a_price_in_a_vpc_the_plain_one_is_that_of_ec2_classic() -> None:
    reading = dump(
        record(ProductDescription="Linux/UNIX", SpotPrice="0.70"),
        record(ProductDescription="Linux/UNIX (Amazon VPC)", SpotPrice="0.80"),
        record(ProductDescription="Linux/UNIX", AvailabilityZone="us-east-1b"),
    )
    assert [(row.zone, row.price_per_hour) for row in rows(reading)] == [
        ("us-east-1a", Decimal("0.80")),
        ("us-east-1b", Decimal("0.918")),
    ]
    assert {line: error.rule for line, error in reading.out_of_scope.items()} == {1: "ec2_classic"}


# --- zones: names and ids are never mixed ---


def test_oddity_13_a_name_without_a_mapping_stays_a_name() -> None:
    (row,) = rows(dump(record()))
    assert (row.zone, row.zone_kind) == ("us-east-1a", "name")


def test_oddity_13_a_name_becomes_an_id_only_by_the_list_of_the_same_answer() -> None:
    zones = [{"ZoneName": "us-east-1a", "ZoneId": "use1-az4", "RegionName": "us-east-1"}]
    reading = dump(
        record(), record(AvailabilityZone="us-east-1b"), Account="123456789012", AvailabilityZones=zones
    )
    assert [(row.zone, row.zone_kind, row.account) for row in rows(reading)] == [
        ("use1-az4", "id", ""),  # an id means the same for everybody
        ("us-east-1b", "name", "123456789012"),
    ]


def test_an_id_beside_the_name_is_what_counts() -> None:
    (row,) = rows(dump(record(AvailabilityZoneId="use1-az2")))
    assert (row.zone, row.zone_kind) == ("use1-az2", "id")


def test_names_of_an_upload_belong_to_the_account_that_is_given() -> None:
    text = json.dumps({"SpotPriceHistory": [record()]})
    reading = read_text("aws_spot_history", text, "a.json", {"account": "123456789012"})
    assert rows(reading)[0].account == "123456789012"
    with pytest.raises(FileError, match="account_wrong"):
        read_text("aws_spot_history", text, "a.json", {"account": "my account"})


@pytest.mark.parametrize(
    ("zone", "region", "kind"),
    [
        ("us-east-1a", "us-east-1", "name"),
        ("ap-northeast-1d", "ap-northeast-1", "name"),
        ("us-gov-west-1b", "us-gov-west-1", "name"),
        ("us-east-1-atl-2a", "us-east-1", "name"),  # a local zone
        ("us-east-1-wl1-atl-wlz-1", "us-east-1", "name"),  # a wavelength zone
        ("use1-az6", "us-east-1", "id"),
        ("apne1-az4", "ap-northeast-1", "id"),
        ("usgw1-az1", "us-gov-west-1", "id"),
        ("use1-atl2-az1", "us-east-1", "id"),
        ("use1-wl1-atl-wlz1", "us-east-1", "id"),
    ],
)
def test_a_zone_says_its_region_and_whether_it_is_an_id(zone: str, region: str, kind: str) -> None:
    assert place_of("AvailabilityZone", zone) == (region, kind)


def test_the_starts_of_ids_are_those_that_moto_lists() -> None:
    backend = pytest.importorskip("moto.ec2.models.availability_zones_and_regions").RegionsAndZonesBackend
    listed = {
        zone.zone_id.partition("-")[0]: region for region, zones in backend.zones.items() for zone in zones
    }
    assert len(listed) >= 35
    assert {start: REGION_BY_ID_START.get(start) for start in listed} == listed


# --- recognised ---


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        ('{\n    "SpotPriceHistory": [\n        {\n', True),
        ('{"Account": "1", "AvailabilityZones": [{"ZoneId": "use1-az1"}], "SpotPriceHistory": [', True),
        (f"{CSV_HEADER}\n", True),
        ("AvailabilityZone,InstanceType,ProductDescription,SpotPrice,Timestamp,More\n", True),
        ("euw3-az2\tg4dn.4xlarge\tLinux/UNIX\t0.466400\t2022-05-31T18:20:41+00:00\n", True),
        ("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n", False),
        ('{"AvailabilityZones": [{"ZoneId": "use1-az1"}]}', False),
        ("a\tb\tc\td\te\n", False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_start(head: str, is_ours: bool) -> None:
    assert aws_spot_history.looks_like(head, "file") is is_ours
