"""State what is asked of AWS for spot prices, and that every page comes or none."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from costs.rows import FileError, SpotPriceRow
from costs.sources import aws_spot_history, aws_spot_history_fetch

from .ec2_answers import (
    ACCOUNT,
    asked_for,
    ec2_error,
    history_page,
    identity,
    play,
    use_keys,
    xml,
    zones_answer,
)  # fmt: skip
from .feeds import CLOSE, Feed
from .readings import read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HISTORY, ZONES = "DescribeSpotPriceHistory", "DescribeAvailabilityZones"
ONE_REGION = {"region": "us-east-1"}


def row(hour: int, **changes: str) -> dict[str, str]:
    """Return one row as EC2 sends it, some hours before now."""
    return {
        "instanceType": "p5.48xlarge",
        "productDescription": "Linux/UNIX",
        "spotPrice": "21.500000",
        "timestamp": f"{NOW - timedelta(hours=hour):%Y-%m-%dT%H:%M:%S}.000Z",
        "availabilityZone": "us-east-1a",
        **changes,
    }


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    use_keys(monkeypatch, feed)
    play(feed, "GetCallerIdentity", identity())
    play(feed, ZONES, zones_answer())


def fetched(**params: str) -> dict[str, Any]:
    ((name, chunks),) = aws_spot_history.fetch({**ONE_REGION, **params}, NOW)
    assert name == "aws_spot_history_us-east-1_2026-11-30.json"
    return json.loads(b"".join(chunks))


def test_all_pages_come_as_one_document_that_the_parser_reads(feed: Feed) -> None:
    # a short page, an empty page and an empty token at the end are all as AWS gives them
    play(
        feed,
        HISTORY,
        history_page([row(1), row(2)], "one"),
        history_page([], "two"),
        history_page([row(3)], ""),
    )
    ((name, chunks),) = aws_spot_history.fetch(ONE_REGION, NOW)
    reading = read_bytes("aws_spot_history", b"".join(chunks), name)
    assert [row.observed_at for row in reading.rows if isinstance(row, SpotPriceRow)] == [
        NOW - timedelta(hours=hour) for hour in (1, 2, 3)
    ]
    assert [asked.get("NextToken") for asked in asked_for(feed, HISTORY)] == [None, "one", "two"]


def test_zone_ids_come_from_the_list_that_the_same_keys_see(feed: Feed) -> None:
    play(feed, HISTORY, history_page([row(1), row(2, availabilityZone="us-east-1-atl-2a")]))
    document = fetched()
    assert (document["Region"], document["Account"]) == ("us-east-1", ACCOUNT)
    reading = read_bytes("aws_spot_history", json.dumps(document).encode(), "a.json")
    assert [(row.zone, row.zone_kind) for row in reading.rows if isinstance(row, SpotPriceRow)] == [
        ("use1-az6", "id"),
        ("use1-atl2-az1", "id"),
    ]
    assert asked_for(feed, ZONES)[0]["AllAvailabilityZones"] == "true"


def test_without_anything_stored_ninety_days_are_asked_for(feed: Feed) -> None:
    play(feed, HISTORY, history_page([]))
    fetched()
    (asked,) = asked_for(feed, HISTORY)
    assert (asked["StartTime"], asked["EndTime"]) == ("2026-09-01T12:00:00Z", "2026-11-30T12:00:00Z")
    assert asked["MaxResults"] == "1000"
    assert asked["Filter.1.Name"] == "instance-type"
    values = {value for name, value in asked.items() if name.startswith("Filter.1.Value.")}
    assert {"p5.*", "g6.*", "trn1.*", "inf2.*", "p6-b200.*"} <= values
    assert not any(name.startswith("ProductDescription") for name in asked)  # every product


def test_what_is_stored_of_a_region_is_continued_from_its_newest_price(feed: Feed) -> None:
    play(feed, HISTORY, history_page([]))
    fetched(**{"since.us-east-1": "2026-11-29T23:00:00+00:00", "since.eu-west-1": "2026-11-01T00:00:00Z"})
    assert asked_for(feed, HISTORY)[0]["StartTime"] == "2026-11-29T23:00:00Z"


def test_a_day_that_is_given_counts_more_than_what_is_stored(feed: Feed) -> None:
    play(feed, HISTORY, history_page([]))
    fetched(starts_on="2026-10-15", **{"since.us-east-1": "2026-11-29T23:00:00+00:00"})
    assert asked_for(feed, HISTORY)[0]["StartTime"] == "2026-10-15T00:00:00Z"
    with pytest.raises(FileError, match="not_a_date"):
        fetched(starts_on="15.10.2026")


def test_no_more_is_asked_for_than_aws_keeps(feed: Feed) -> None:
    play(feed, HISTORY, history_page([]))
    fetched(**{"since.us-east-1": "2025-01-01T00:00:00Z"})
    assert asked_for(feed, HISTORY)[0]["StartTime"] == "2026-09-01T12:00:00Z"


def test_types_and_products_that_are_given_are_what_is_asked_for(feed: Feed) -> None:
    play(feed, HISTORY, history_page([]))
    fetched(instance_types="p5.48xlarge, g6.xlarge", products="Linux/UNIX")
    (asked,) = asked_for(feed, HISTORY)
    assert (asked["InstanceType.1"], asked["InstanceType.2"]) == ("p5.48xlarge", "g6.xlarge")
    assert asked["ProductDescription.1"] == "Linux/UNIX"
    assert "Filter.1.Name" not in asked


def test_each_region_is_a_file_and_nothing_is_asked_before_it_is_read(feed: Feed) -> None:
    pieces = list(aws_spot_history.fetch({"region": "us-east-1, eu-west-1"}, NOW))
    assert [name for name, _ in pieces] == [
        "aws_spot_history_us-east-1_2026-11-30.json",
        "aws_spot_history_eu-west-1_2026-11-30.json",
    ]
    assert feed.requests == []


# --- refused ---


def refusal(chunks: Iterator[bytes]) -> FileError:
    with pytest.raises(FileError) as caught:
        b"".join(chunks)
    return caught.value


def refused_history(feed: Feed, *answers: Any) -> FileError:
    play(feed, HISTORY, *answers)
    ((_, chunks),) = aws_spot_history.fetch(ONE_REGION, NOW)
    return refusal(chunks)


def test_a_page_that_comes_again_is_refused(feed: Feed) -> None:
    error = refused_history(feed, history_page([row(1)], "one"), history_page([row(2)], "one"))
    assert (error.code, error.column) == ("page_repeated", "us-east-1 page 2")


def test_the_same_rows_under_another_token_are_refused(feed: Feed) -> None:
    error = refused_history(feed, history_page([row(1)], "one"), history_page([row(1)], "two"))
    assert error.code == "page_repeated"


def test_pages_without_end_are_refused(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_spot_history_fetch, "_MOST_PAGES", 3)
    error = refused_history(feed, *[history_page([row(n)], f"{n}") for n in range(4)])
    assert error.code == "too_many_pages"


def test_an_answer_without_its_list_is_no_empty_page(feed: Feed) -> None:
    assert refused_history(feed, xml("<DescribeSpotPriceHistoryResponse/>")).code == "page_wrong"


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AuthFailure", "OptInRequired"])
def test_a_right_that_is_missing_is_said_by_name(feed: Feed, code: str) -> None:
    error = refused_history(feed, ec2_error(code, 403))
    assert error.code == "auth_failed"
    assert "ec2:DescribeSpotPriceHistory" in error.expected
    assert error.column == "us-east-1"
    assert len(asked_for(feed, HISTORY)) == 1


def test_no_keys_at_all_are_said_before_anything_is_asked(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ((_, chunks),) = aws_spot_history.fetch(ONE_REGION, NOW)
    error = refusal(chunks)
    assert (error.code, error.expected) == ("auth_failed", aws_spot_history.NEEDS)
    assert feed.requests == []


# --- passing trouble ---


def test_page_three_may_be_throttled_fail_and_break_off_and_all_rows_come_once(feed: Feed) -> None:
    pages = [history_page([row(n)], f"{n}" if n < 7 else "") for n in range(1, 8)]
    trouble = [ec2_error("RequestLimitExceeded", 429), ec2_error("InternalError", 500), CLOSE]
    play(feed, HISTORY, *pages[:2], *trouble, *pages[2:])
    found = [each["Timestamp"] for each in fetched()["SpotPriceHistory"]]
    assert found == [(NOW - timedelta(hours=n)).isoformat() for n in range(1, 8)]
    assert [asked.get("NextToken") for asked in asked_for(feed, HISTORY)][2:6] == ["2"] * 4
