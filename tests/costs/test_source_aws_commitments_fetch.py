"""State what is asked of AWS about commitments, and that one missing right closes one list only."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from costs.models import Commitment
from costs.rows import CommitmentRow, FileError
from costs.sources import aws_commitments, aws_commitments_fetch

from .conftest import Take
from .ec2_answers import ACCOUNT, asked_for, ec2_error, identity, play, use_keys, xml
from .feeds import CLOSE, Answer, Feed, Script
from .readings import Reading, read_bytes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
REGION = {"region": "us-east-1"}
_EC2 = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'
RESERVED, CAPACITY = "DescribeReservedInstances", "DescribeCapacityReservations"
PLANS_PATH = "/DescribeSavingsPlans"
NAMES = [
    "aws_reserved_instances_us-east-1_2026-11-30.json",
    "aws_capacity_reservations_us-east-1_2026-11-30.json",
    "aws_savings_plans_2026-11-30.json",
]


def reserved_answer() -> Answer:
    return xml(
        f"<DescribeReservedInstancesResponse {_EC2}><requestId>r</requestId><reservedInstancesSet><item>"
        "<reservedInstancesId>11111111-2222</reservedInstancesId><instanceType>p4d.24xlarge</instanceType>"
        "<instanceCount>2</instanceCount><start>2026-01-15T00:00:00.000Z</start>"
        "<end>2027-01-15T00:00:00.000Z</end><duration>31536000</duration><fixedPrice>0.0</fixedPrice>"
        "<usagePrice>0.0</usagePrice><productDescription>Linux/UNIX</productDescription>"
        "<state>active</state><currencyCode>USD</currencyCode><offeringClass>convertible</offeringClass>"
        "<offeringType>No Upfront</offeringType><recurringCharges><item><frequency>Hourly</frequency>"
        "<amount>14.0034</amount></item></recurringCharges><scope>Region</scope>"
        "</item></reservedInstancesSet></DescribeReservedInstancesResponse>"
    )


def capacity_page(*ids: str, token: str | None = None) -> Answer:
    items = "".join(
        f"<item><capacityReservationId>{each}</capacityReservationId><ownerId>{ACCOUNT}</ownerId>"
        "<instanceType>p5.48xlarge</instanceType><instancePlatform>Linux/UNIX</instancePlatform>"
        "<availabilityZone>us-east-1a</availabilityZone><totalInstanceCount>1</totalInstanceCount>"
        "<availableInstanceCount>1</availableInstanceCount><state>active</state>"
        "<startDate>2026-11-01T11:30:00.000Z</startDate><endDateType>unlimited</endDateType></item>"
        for each in ids
    )
    more = "" if token is None else f"<nextToken>{token}</nextToken>"
    return xml(
        f"<DescribeCapacityReservationsResponse {_EC2}><requestId>r</requestId>"
        f"<capacityReservationSet>{items}</capacityReservationSet>{more}</DescribeCapacityReservationsResponse>"
    )


def plans_page(*ids: str, **more: str) -> Answer:
    plans = [
        {
            "savingsPlanId": each,
            "savingsPlanArn": f"arn:aws:savingsplans::{ACCOUNT}:savingsplan/{each}",
            "start": "2026-01-01T00:00:00.000Z",
            "end": "2027-01-01T00:00:00.000Z",
            "state": "retired",
            "savingsPlanType": "Compute",
            "paymentOption": "No Upfront",
            "productTypes": ["EC2"],
            "currency": "USD",
            "commitment": "1.50000",
            "upfrontPaymentAmount": "0.0",
            "recurringPaymentAmount": "1.50000",
            "termDurationInSeconds": 31536000,
        }
        for each in ids
    ]
    return Answer(200, json={"savingsPlans": plans, **more})


def json_error(code: str, status: int) -> Answer:
    return Answer(status, json={"message": "no"}, headers={"x-amzn-ErrorType": code})


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, feed: Feed) -> None:
    use_keys(monkeypatch, feed)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAVINGSPLANS", feed.origin)
    # the SDK waits between attempts; what it waits is its own concern
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))
    play(feed, "GetCallerIdentity", identity())
    play(feed, RESERVED, reserved_answer())
    play(feed, CAPACITY, capacity_page("cr-1"))
    feed.play(PLANS_PATH, plans_page("sp-1"))


def fetched(params: Mapping[str, str] = REGION) -> dict[str, Reading]:
    """Return the reading of each file that is fetched, by its name."""
    pieces = aws_commitments.fetch(params, NOW)
    return {name: read_bytes("aws_commitments", b"".join(chunks), name) for name, chunks in pieces}


def chunks_of(name: str, params: Mapping[str, str] = REGION) -> Iterator[bytes]:
    return dict(aws_commitments.fetch(params, NOW))[name]


def test_each_list_comes_as_a_file_that_the_parser_reads() -> None:
    found = fetched()
    assert list(found) == NAMES
    rows = [row for reading in found.values() for row in reading.rows if isinstance(row, CommitmentRow)]
    assert [(row.kind, row.account, row.region, row.commitment, row.state) for row in rows] == [
        ("reserved_instance", ACCOUNT, "us-east-1", "11111111-2222", "active"),
        ("capacity_reservation", ACCOUNT, "us-east-1", "cr-1", "active"),
        ("savings_plan", ACCOUNT, "", "sp-1", "retired"),
    ]
    assert rows[0].recurring_per_hour == 2 * Decimal("14.0034")
    assert {reading.info.as_of for reading in found.values()} == {NOW}


def test_plans_of_every_state_are_asked_for(feed: Feed) -> None:
    b"".join(chunks_of(NAMES[2]))
    (request,) = [each for each in feed.requests if each.path.startswith(PLANS_PATH)]
    assert {"active", "retired", "queued", "payment-pending", "returned"} <= set(
        json.loads(request.body)["states"]
    )


def test_each_region_has_its_own_files_and_plans_have_one() -> None:
    names = [name for name, _ in aws_commitments.fetch({"region": "us-east-1, eu-west-1"}, NOW)]
    assert names == [*NAMES[:2], *(name.replace("us-east-1", "eu-west-1") for name in NAMES[:2]), NAMES[2]]


def test_nothing_is_asked_for_a_file_that_is_there_already(feed: Feed) -> None:
    b"".join(chunks_of(NAMES[1]))
    assert asked_for(feed, RESERVED) == []
    assert len(asked_for(feed, CAPACITY)) == 1
    assert not any(path.startswith(PLANS_PATH) for path in feed.paths())


def test_all_pages_come(feed: Feed) -> None:
    # EC2 closes a list with an empty token
    play(
        feed,
        CAPACITY,
        capacity_page("cr-1", token="a"),
        capacity_page("cr-2", token="b"),
        capacity_page("cr-3", token=""),
    )
    feed.play(PLANS_PATH, plans_page("sp-1", nextToken="a"), plans_page("sp-2"))
    found = fetched()
    held = [
        row.commitment for name in NAMES[1:] for row in found[name].rows if isinstance(row, CommitmentRow)
    ]
    assert held == ["cr-1", "cr-2", "cr-3", "sp-1", "sp-2"]


def test_an_account_without_commitments_has_none(feed: Feed) -> None:
    play(feed, CAPACITY, capacity_page())
    assert fetched()[NAMES[1]].by_rule == {"none_held": 1}


# --- rights ---


@pytest.mark.parametrize(
    ("answer", "name", "right"),
    [
        (RESERVED, NAMES[0], "ec2:DescribeReservedInstances"),
        (CAPACITY, NAMES[1], "ec2:DescribeCapacityReservations"),
        (PLANS_PATH, NAMES[2], "savingsplans:DescribeSavingsPlans"),
    ],
)
def test_a_missing_right_is_named_and_the_other_lists_come(
    feed: Feed, answer: str, name: str, right: str
) -> None:
    if answer == PLANS_PATH:
        feed.play(PLANS_PATH, json_error("AccessDeniedException", 403))
    else:
        play(feed, answer, ec2_error("UnauthorizedOperation", 403))
    found = fetched()
    (error,) = found[name].wrong.values()
    assert (error.rule, error.column) == ("right_missing", right)
    assert right in error.expected
    assert all(len(found[other].rows) == 1 for other in NAMES if other != name)
    assert right in aws_commitments.NEEDS
    assert right in aws_commitments.RIGHTS


def test_a_region_that_is_not_turned_on_is_said_by_name(feed: Feed) -> None:
    play(feed, RESERVED, ec2_error("OptInRequired", 403))
    assert fetched()[NAMES[0]].by_rule == {"region_not_enabled": 1}


def test_who_may_not_ask_for_the_account_gets_commitments_without_one(feed: Feed) -> None:
    play(feed, "GetCallerIdentity", ec2_error("AccessDenied", 403))
    (row,) = fetched()[NAMES[0]].rows
    assert isinstance(row, CommitmentRow)
    assert row.account == ""
    (row,) = fetched({**REGION, "account": "012345678901"})[NAMES[0]].rows
    assert isinstance(row, CommitmentRow)
    assert row.account == "012345678901"


def refusal(chunks: Iterator[bytes]) -> FileError:
    with pytest.raises(FileError) as caught:
        b"".join(chunks)
    return caught.value


@pytest.mark.parametrize("code", ["AuthFailure", "InvalidClientTokenId", "RequestExpired"])
@pytest.mark.parametrize("action", [RESERVED, "GetCallerIdentity"])
def test_wrong_keys_stop_all_of_it(feed: Feed, action: str, code: str) -> None:
    play(feed, action, ec2_error(code, 403))
    error = refusal(chunks_of(NAMES[0]))
    assert (error.code, error.expected) == ("auth_failed", aws_commitments.NEEDS)


def test_no_keys_at_all_are_said_before_anything_is_asked(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    error = refusal(chunks_of(NAMES[2]))
    assert (error.code, error.expected) == ("auth_failed", aws_commitments.NEEDS)
    assert feed.requests == []


# --- trouble ---


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([capacity_page("a", token="1"), capacity_page("b", token="1")], "page_repeated"),
        ([capacity_page("a", token="1"), capacity_page("a", token="2")], "page_repeated"),
        ([xml("<DescribeCapacityReservationsResponse/>")], "page_wrong"),
        ([capacity_page(f"{n}", token=f"{n}") for n in range(4)], "too_many_pages"),
    ],
)
def test_a_list_that_would_be_short_or_endless_is_refused(
    feed: Feed, monkeypatch: pytest.MonkeyPatch, answers: list[Script], code: str
) -> None:
    monkeypatch.setattr(aws_commitments_fetch, "_MOST_PAGES", 3)
    play(feed, CAPACITY, *answers)
    assert refusal(chunks_of(NAMES[1])).code == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [(Answer(200, json={}), "page_wrong")],
)
def test_plans_whose_last_page_is_in_doubt_are_refused(feed: Feed, answer: Answer, code: str) -> None:
    feed.play(PLANS_PATH, answer)
    assert refusal(chunks_of(NAMES[2])).code == code


def test_page_three_may_be_throttled_fail_and_break_off_and_every_record_comes_once(feed: Feed) -> None:
    pages = [capacity_page(f"cr-{n}", token=f"{n}" if n < 5 else "") for n in range(1, 6)]
    trouble = [ec2_error("RequestLimitExceeded", 429), ec2_error("InternalError", 500), CLOSE]
    play(feed, CAPACITY, *pages[:2], *trouble, *pages[2:])
    held = [row.commitment for row in fetched()[NAMES[1]].rows if isinstance(row, CommitmentRow)]
    assert held == [f"cr-{n}" for n in range(1, 6)]


def test_plans_are_asked_for_again_after_throttling(feed: Feed) -> None:
    trouble = [json_error("ThrottlingException", 429), json_error("InternalServerException", 500), CLOSE]
    feed.play(PLANS_PATH, plans_page("sp-1", nextToken="a"), *trouble, plans_page("sp-2"))
    assert len(fetched()[NAMES[2]].rows) == 2


# --- in the tables ---


def document(*records: dict[str, Any], refused: str = "") -> str:
    """Return a saved answer about the capacity reservations of a region."""
    head = {"Account": ACCOUNT, "Region": "us-east-1", "AsOf": "2026-11-30T12:00:00+00:00"}
    state = {"Refused": refused, "Right": "ec2:DescribeCapacityReservations"} if refused else {}
    return json.dumps({**head, **state, "CapacityReservations": list(records)})


def reservation(name: str) -> dict[str, Any]:
    return {
        "CapacityReservationId": name, "OwnerId": ACCOUNT, "InstanceType": "p5.48xlarge", "State": "active",
        "AvailabilityZone": "us-east-1a", "TotalInstanceCount": 1, "StartDate": "2026-11-01T11:30:00Z",
    }  # fmt: skip


def open_now() -> set[str]:
    return set(Commitment.objects.filter(effective_to=None).values_list("commitment", flat=True))


def test_a_whole_answer_closes_what_it_lacks_and_a_refusal_closes_nothing(take: Take) -> None:
    name = "capacity.json"
    take(document(reservation("cr-1"), reservation("cr-2")), "aws_commitments", name)
    take(document(refused="UnauthorizedOperation: no"), "aws_commitments", name)
    assert open_now() == {"cr-1", "cr-2"}
    take(document(reservation("cr-2")), "aws_commitments", name)
    assert open_now() == {"cr-2"}
