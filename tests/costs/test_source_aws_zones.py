"""State how lists of zones are read: names belong to an account, ids to everybody."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from moto.server import ThreadedMotoServer

from costs.rows import FileError, ZoneRow
from costs.sources import aws_zones

from .ec2_answers import ACCOUNT, asked_for, ec2_error, identity, play, use_keys, xml, zones_answer
from .feeds import Feed
from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZONE = {"RegionName": "us-east-1", "ZoneName": "us-east-1a", "ZoneId": "use1-az6", "State": "available"}
EMPTY_LISTS = {"Messages": [], "OptInStatus": "opt-in-not-required"}


def listed(*zones: object, account: str = ACCOUNT, **more: object) -> Reading:
    text = json.dumps({"AvailabilityZones": zones, **more})
    return read_text("aws_zones", text, "zones.json", {"account": account} if account else {})


def test_a_zone_is_what_an_account_calls_it_and_its_id() -> None:
    reading = listed({**ZONE, **EMPTY_LISTS})
    assert reading.rows == [ZoneRow("aws", ACCOUNT, "us-east-1", "us-east-1a", "use1-az6")]
    assert reading.scopes == {ACCOUNT}


def test_names_without_an_account_are_refused_with_the_parameter_to_give() -> None:
    with pytest.raises(FileError, match="account_missing") as caught:
        listed(ZONE, account="")
    assert caught.value.column == "account"
    with pytest.raises(FileError, match="account_wrong"):
        listed(ZONE, account="my account")


def test_the_account_that_the_document_names_is_what_counts() -> None:
    reading = listed(ZONE, account="", Account="999999999999")
    assert reading.rows == [ZoneRow("aws", "999999999999", "us-east-1", "us-east-1a", "use1-az6")]


@pytest.mark.parametrize("missing", ["RegionName", "ZoneName", "ZoneId"])
def test_a_zone_without_its_name_id_or_region_is_refused_alone(missing: str) -> None:
    reading = listed({name: value for name, value in ZONE.items() if name != missing}, ZONE)
    assert {line: error.column for line, error in reading.wrong.items()} == {1: missing}
    assert set(reading.kept) == {2}


@pytest.mark.parametrize("broken", ["text", 7, None, []])
def test_what_is_no_zone_is_refused_alone(broken: object) -> None:
    assert set(listed(broken, ZONE).wrong) == {1}


@pytest.mark.parametrize("text", ["{}", "[]", '{"AvailabilityZones": 1}', '{"AvailabilityZones": ['])
def test_what_is_no_list_of_zones_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="json_wrong"):
        read_text("aws_zones", text, "a.json", {"account": ACCOUNT})


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        ('{"AvailabilityZones": [{"ZoneName": "us-east-1a", "ZoneId": "use1-az1"}]}', True),
        ('{"AvailabilityZones": [{"ZoneId": "use1-az1"}], "SpotPriceHistory": [', False),
        ('{"AvailabilityZones": []}', False),
        ("", False),
    ],
)
def test_a_file_is_recognised_by_its_start(head: str, is_ours: bool) -> None:
    assert aws_zones.looks_like(head, "file") is is_ours


# --- fetched ---


def test_each_region_comes_as_a_file_that_names_its_account(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keys(monkeypatch, feed)
    play(feed, "GetCallerIdentity", identity())
    play(feed, "DescribeAvailabilityZones", zones_answer())
    ((name, chunks),) = aws_zones.fetch({"region": "us-east-1"}, NOW)
    assert name == "aws_zones_us-east-1_2026-11-30.json"
    reading = read_bytes("aws_zones", b"".join(chunks), name)
    assert [
        (row.account, row.zone_name, row.zone_id) for row in reading.rows if isinstance(row, ZoneRow)
    ] == [
        (ACCOUNT, "us-east-1a", "use1-az6"),
        (ACCOUNT, "us-east-1b", "use1-az1"),
        (ACCOUNT, "us-east-1-atl-2a", "use1-atl2-az1"),
    ]
    assert asked_for(feed, "DescribeAvailabilityZones")[0]["AllAvailabilityZones"] == "true"


def test_a_right_that_is_missing_is_said_by_name(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    use_keys(monkeypatch, feed)
    play(feed, "GetCallerIdentity", identity())
    play(feed, "DescribeAvailabilityZones", ec2_error("UnauthorizedOperation", 403))
    ((_, chunks),) = aws_zones.fetch({"region": "us-east-1"}, NOW)
    with pytest.raises(FileError, match="auth_failed") as caught:
        b"".join(chunks)
    assert "ec2:DescribeAvailabilityZones" in caught.value.expected


def test_a_region_without_zones_is_no_answer(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    use_keys(monkeypatch, feed)
    play(feed, "GetCallerIdentity", identity())
    play(feed, "DescribeAvailabilityZones", xml("<DescribeAvailabilityZonesResponse/>"))
    ((_, chunks),) = aws_zones.fetch({"region": "us-east-1"}, NOW)
    with pytest.raises(FileError, match="page_wrong"):
        b"".join(chunks)


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def _on_moto(moto: str, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    use_keys(monkeypatch, feed)
    for service in ("EC2", "STS"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", moto)
    monkeypatch.setenv("EGRESS_ALLOW", moto)


@pytest.mark.usefixtures("_on_moto")
def test_zones_come_from_a_server_that_speaks_the_whole_protocol() -> None:
    ((name, chunks),) = aws_zones.fetch({"region": "eu-west-1"}, NOW)
    reading = read_bytes("aws_zones", b"".join(chunks), name)
    assert {(row.zone_name, row.zone_id) for row in reading.rows if isinstance(row, ZoneRow)} == {
        ("eu-west-1a", "euw1-az3"),
        ("eu-west-1b", "euw1-az1"),
        ("eu-west-1c", "euw1-az2"),
    }
