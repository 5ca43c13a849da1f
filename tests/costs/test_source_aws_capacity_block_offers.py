"""State what is asked of AWS about Capacity Blocks on offer, and what is kept of its answers."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from costs.rows import FileError, QuoteRow
from costs.sources import aws_capacity_blocks_offers as offers

from .ec2_answers import asked_for, ec2_error, play, use_keys, xml
from .feeds import CLOSE, Answer, Feed
from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ACTION = "DescribeCapacityBlockOfferings"
ONE = {"region": "us-east-2", "instance_types": "p5.48xlarge"}
_EC2 = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'


def offer(**changes: Any) -> dict[str, Any]:
    """Return an offer as the command line prints it: two machines for a week."""
    return {
        "CapacityBlockOfferingId": "cb-0123456789abcdef0",
        "InstanceType": "p5.48xlarge",
        "AvailabilityZone": "us-east-2a",
        "InstanceCount": 2,
        "StartDate": "2026-12-04T11:30:00+00:00",
        "EndDate": "2026-12-11T11:30:00+00:00",
        "CapacityBlockDurationHours": 168,
        "UpfrontFee": "13953.41",
        "CurrencyCode": "USD",
        "Tenancy": "default",
        **changes,
    }


def reading_of(*records: Any, name: str = "offers_2026-11-30.json", **params: str) -> Reading:
    return read_text(offers.NAME, json.dumps({"CapacityBlockOfferings": list(records)}), name, params)


def quotes(reading: Reading) -> list[QuoteRow]:
    assert not reading.by_rule, reading.wrong
    return [row for row in reading.rows if isinstance(row, QuoteRow)]


# --- what is kept ---


def test_the_fee_is_for_the_whole_block_and_the_price_for_one_machine_and_hour() -> None:
    (row,) = quotes(reading_of(offer()))
    assert row.upfront == Decimal("13953.41")
    exact = Decimal("13953.41") / (168 * 2)
    assert row.price_per_hour == exact.quantize(Decimal("0.000000001"))
    assert (row.kind, row.quote, row.item) == ("capacity_block", "cb-0123456789abcdef0", "p5.48xlarge")
    assert (row.accelerator_name, row.gpu_count) == ("H100", 8)
    assert (row.units_min, row.units_max, row.take_or_pay_share) == (2, 2, 1)
    assert (row.region, row.zone) == ("us-east-2", "us-east-2a")
    assert row.starts_at == datetime(2026, 12, 4, 11, 30, tzinfo=UTC)
    assert row.ends_at == datetime(2026, 12, 11, 11, 30, tzinfo=UTC)
    assert row.quoted_on == date(2026, 11, 30)


def test_a_block_may_last_minutes_beyond_its_hours() -> None:
    (row,) = quotes(
        reading_of(offer(CapacityBlockDurationHours=23, CapacityBlockDurationMinutes=30, InstanceCount=1))
    )
    assert row.price_per_hour == (Decimal("13953.41") / Decimal("23.5")).quantize(Decimal("0.000000001"))


def test_an_ultraserver_is_one_unit_with_all_its_accelerators() -> None:
    (row,) = quotes(
        reading_of(
            offer(
                InstanceType="p6e-gb200.36xlarge", InstanceCount=18, UltraserverType="u-p6e-gb200x72",
                UltraserverCount=1, UpfrontFee="100000", CapacityBlockDurationHours=24,
            )
        )
    )  # fmt: skip
    assert (row.item, row.gpu_count, row.units_min) == ("u-p6e-gb200x72", 72, 1)
    assert row.price_per_hour == (Decimal(100_000) / 24).quantize(Decimal("0.000000001"))


def test_a_local_zone_belongs_to_its_region() -> None:
    (row,) = quotes(reading_of(offer(AvailabilityZone="us-east-1-dfw-2a")))
    assert (row.region, row.zone) == ("us-east-1", "us-east-1-dfw-2a")


def test_a_new_answer_replaces_the_one_to_the_same_question() -> None:
    first = reading_of(offer())
    again = reading_of(offer(CapacityBlockOfferingId="cb-other", UpfrontFee="1", StartDate=None))
    longer = reading_of(offer(CapacityBlockDurationHours=336))
    assert first.scopes == again.scopes == {"us-east-2:2x p5.48xlarge:168 hours"}
    assert first.scopes != longer.scopes


def test_nothing_on_offer_is_a_line_that_says_so() -> None:
    reading = reading_of()
    assert (reading.lines, reading.by_rule) == (1, {"none_offered": 1})


def test_the_day_of_an_offer_is_a_parameter_or_in_the_name() -> None:
    (row,) = quotes(reading_of(offer(), name="offers.json", as_of="2026-11-29"))
    assert row.quoted_on == date(2026, 11, 29)


# --- refused ---


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        (offer(UpfrontFee="0"), "zero_price"),
        (offer(UpfrontFee="0.0000"), "zero_price"),
        (offer(UpfrontFee="-1"), "price_out_of_bounds"),
        (offer(UpfrontFee=None), "empty"),
        (offer(UpfrontFee="13,953.41"), "not_a_number"),
        (offer(InstanceCount=0), "count_out_of_bounds"),
        (offer(CapacityBlockDurationHours=0), "duration_out_of_bounds"),
        (offer(InstanceType="p9.48xlarge"), "machine_unknown"),
        (offer(CapacityBlockOfferingId=None), "empty"),
        (offer(StartDate="2026-12-04T11:30:00"), "time_without_zone"),
        (offer(AvailabilityZone=None), "region_unknown"),
        (7, "record_unreadable"),
    ],
)
def test_an_offer_that_is_wrong_is_refused_and_the_others_stay(bad: Any, rule: str) -> None:
    reading = reading_of(bad, offer())
    assert reading.by_rule == {rule: 1}
    assert set(reading.kept) == {2}


@pytest.mark.parametrize(
    ("name", "params", "code"),
    [("offers.json", {}, "date_missing"), ("offers.json", {"as_of": "soon"}, "not_a_date")],
)
def test_an_answer_that_does_not_say_when_it_was_given_is_refused(
    name: str, params: Mapping[str, str], code: str
) -> None:
    with pytest.raises(FileError) as caught:
        reading_of(offer(), name=name, **params)
    assert caught.value.code == code


def test_only_an_answer_about_offers_looks_like_one() -> None:
    assert offers.looks_like(json.dumps({"CapacityBlockOfferings": [offer()]}, indent=2), "a.json")
    assert not offers.looks_like('{"CapacityReservations": []}', "a.json")
    assert not offers.looks_like('{"instance_types": {}, "accelerator_hourly_rate_usd": 1}', "a.json")


# --- fetched ---


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> Feed:
    """Return the server that stands for AWS."""
    use_keys(monkeypatch, feed)
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))
    return feed


def page(*ids: str, token: str | None = None) -> Answer:
    items = "".join(
        f"<item><capacityBlockOfferingId>{each}</capacityBlockOfferingId><instanceType>p5.48xlarge</instanceType>"
        "<availabilityZone>us-east-2a</availabilityZone><instanceCount>1</instanceCount>"
        "<startDate>2026-12-04T11:30:00.000Z</startDate><endDate>2026-12-05T11:30:00.000Z</endDate>"
        "<capacityBlockDurationHours>24</capacityBlockDurationHours><upfrontFee>996.67</upfrontFee>"
        "<currencyCode>USD</currencyCode><tenancy>default</tenancy></item>"
        for each in ids
    )
    more = "" if token is None else f"<nextToken>{token}</nextToken>"
    return xml(
        f"<{ACTION}Response {_EC2}><requestId>r</requestId>"
        f"<capacityBlockOfferingSet>{items}</capacityBlockOfferingSet>{more}</{ACTION}Response>"
    )


def fetched(**params: str) -> Reading:
    ((name, chunks),) = offers.fetch({**ONE, **params}, NOW)
    return read_bytes(offers.NAME, b"".join(chunks), name)


def test_what_is_on_offer_comes_with_the_moment_it_was_asked(aws: Feed) -> None:
    play(aws, ACTION, page("cb-1", "cb-2", token="a"), page("cb-3", token=""))
    rows = quotes(fetched())
    assert [row.quote for row in rows] == ["cb-1", "cb-2", "cb-3"]
    assert rows[0].upfront == Decimal("996.67")
    assert {row.quoted_on for row in rows} == {date(2026, 11, 30)}
    asked = asked_for(aws, ACTION)[0]
    assert (asked["InstanceType"], asked["InstanceCount"], asked["CapacityDurationHours"]) == (
        "p5.48xlarge",
        "1",
        "24",
    )


def test_ultraservers_are_asked_for_by_their_own_name(aws: Feed) -> None:
    play(aws, ACTION, page())
    fetched(instance_types="u-p6e-gb200x72", instance_count="2", duration_hours="48")
    (asked,) = asked_for(aws, ACTION)
    assert (asked["UltraserverType"], asked["UltraserverCount"]) == ("u-p6e-gb200x72", "2")
    assert "InstanceType" not in asked


def test_each_question_is_a_file_and_nothing_is_asked_before_it_is_read(aws: Feed) -> None:
    params = {
        "region": "us-east-1,us-east-2", "instance_types": "p5.48xlarge,p5en.48xlarge",
        "instance_count": "1,4", "duration_hours": "24,168",
    }  # fmt: skip
    names = [name for name, _ in offers.fetch(params, NOW)]
    assert len(names) == len(set(names)) == 16
    assert "aws_capacity_block_offers_us-east-2_4x_p5en.48xlarge_168h_2026-11-30.json" in names
    assert aws.requests == []


def test_a_missing_right_is_named_with_what_it_unlocks(aws: Feed) -> None:
    play(aws, ACTION, ec2_error("UnauthorizedOperation", 403))
    (error,) = fetched().wrong.values()
    assert (error.rule, error.column) == ("right_missing", "ec2:DescribeCapacityBlockOfferings")


def test_a_machine_that_a_region_does_not_have_is_one_refused_question(aws: Feed) -> None:
    play(aws, ACTION, ec2_error("InvalidParameterValue", 400))
    assert fetched().by_rule == {"question_refused": 1}


def test_no_keys_at_all_are_said_by_name(aws: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(FileError) as caught:
        fetched()
    assert (caught.value.code, caught.value.expected) == ("auth_failed", offers.NEEDS)


def test_throttling_errors_and_broken_connections_pass(aws: Feed) -> None:
    trouble = [ec2_error("RequestLimitExceeded", 429), ec2_error("InternalError", 500), CLOSE]
    play(aws, ACTION, page("cb-1", token="a"), page("cb-2", token="b"), *trouble, page("cb-3"))
    assert [row.quote for row in quotes(fetched())] == ["cb-1", "cb-2", "cb-3"]


@pytest.mark.parametrize("text", ["some", "0", "-1", "1.5", "1,two"])
def test_counts_and_hours_are_whole_numbers(text: str) -> None:
    for name in ("instance_count", "duration_hours"):
        with pytest.raises(FileError, match="parameter_wrong"):
            list(offers.fetch({**ONE, name: text}, NOW))
