"""State what is kept of the commitments that an account holds at AWS, in each wrapping of the answers."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import CommitmentRow, FileError
from costs.sources import aws_commitments

from .readings import Reading, packed, read_bytes, read_text

ACCOUNT = "012345678901"  # begins with a zero
HERE = {"region": "us-east-1", "account": ACCOUNT}


def reserved(**changes: Any) -> dict[str, Any]:
    """Return a reserved instance as the command line prints it."""
    return {
        "ReservedInstancesId": "11111111-2222-3333-4444-555555555555",
        "InstanceType": "p4d.24xlarge",
        "InstanceCount": 3,
        "ProductDescription": "Linux/UNIX",
        "State": "active",
        "Start": "2026-01-15T00:00:00+00:00",
        "End": "2027-01-15T00:00:00+00:00",
        "Duration": 31536000,
        "FixedPrice": 58079.5,
        "UsagePrice": 0.0,
        "CurrencyCode": "USD",
        "InstanceTenancy": "default",
        "OfferingClass": "standard",
        "OfferingType": "Partial Upfront",
        "RecurringCharges": [{"Amount": 6.63, "Frequency": "Hourly"}],
        "Scope": "Region",
        **changes,
    }


def plan(**changes: Any) -> dict[str, Any]:
    """Return a savings plan as the command line prints it: small first letters, numbers as text."""
    return {
        "offeringId": "o",
        "savingsPlanId": "aaaaaaaa-1111",
        "savingsPlanArn": f"arn:aws:savingsplans::{ACCOUNT}:savingsplan/aaaaaaaa-1111",
        "start": "2026-01-01T00:00:00.000Z",
        "end": "2027-01-01T00:00:00.000Z",
        "state": "active",
        "savingsPlanType": "Compute",
        "paymentOption": "Partial Upfront",
        "productTypes": ["EC2", "Fargate", "Lambda"],
        "currency": "USD",
        "commitment": "12.50000",
        "upfrontPaymentAmount": "54750.0",  # half of 12.5 x 8760
        "recurringPaymentAmount": "6.25",
        "termDurationInSeconds": 31536000,
        "tags": {"Team": "research"},
        **changes,
    }


def capacity(**changes: Any) -> dict[str, Any]:
    """Return a capacity reservation as the command line prints it."""
    return {
        "CapacityReservationId": "cr-0123456789abcdef0",
        "OwnerId": ACCOUNT,
        "InstanceType": "p5.48xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-west-2b",
        "AvailabilityZoneId": "usw2-az1",
        "Tenancy": "default",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 0,
        "State": "active",
        "StartDate": "2026-11-01T11:30:00+00:00",
        "EndDateType": "unlimited",
        "ReservationType": "default",
        "CapacityAllocations": [{"AllocationType": "used", "Count": 2}],
        **changes,
    }


def reading_of(answer: Any, name: str = "a.json", **params: str) -> Reading:
    return read_text("aws_commitments", json.dumps(answer), name, {**HERE, **params})


def held(key: str, *records: Any, **params: str) -> list[CommitmentRow]:
    reading = reading_of({key: list(records)}, **params)
    assert not reading.by_rule, reading.wrong
    return [row for row in reading.rows if isinstance(row, CommitmentRow)]


# --- what is kept ---


def test_a_reserved_instance_is_priced_for_all_its_machines_together() -> None:
    (row,) = held("ReservedInstances", reserved())
    assert row.upfront == 3 * Decimal("58079.5")
    assert row.recurring_per_hour == 3 * Decimal("6.63")
    assert (row.count, row.spend_per_hour, row.term_hours) == (3, None, 8760)
    assert (row.kind, row.plan, row.payment) == ("reserved_instance", "standard", "partial_upfront")
    assert (row.sku, row.family, row.product) == ("p4d.24xlarge", "p4d", "Linux/UNIX")
    assert (row.starts_at, row.ends_at) == (
        datetime(2026, 1, 15, tzinfo=UTC),
        datetime(2027, 1, 15, tzinfo=UTC),
    )
    assert row.account == ACCOUNT  # leading zero and all


def test_what_is_due_each_hour_is_0_where_aws_says_so_and_unknown_where_it_says_nothing() -> None:
    (row,) = held("ReservedInstances", reserved(RecurringCharges=[], OfferingType="All Upfront"))
    assert row.recurring_per_hour == 0
    (row,) = held("ReservedInstances", reserved(RecurringCharges=None))
    assert row.recurring_per_hour is None


def test_a_reservation_in_a_zone_says_its_region_itself() -> None:
    (row,) = held("ReservedInstances", reserved(AvailabilityZone="eu-west-1c"))
    assert (row.region, row.zone) == ("eu-west-1", "eu-west-1c")
    (row,) = held("CapacityReservations", capacity(AvailabilityZone="us-west-2-lax-1a"))
    assert (row.region, row.zone) == ("us-west-2", "us-west-2-lax-1a")
    (row,) = held("CapacityReservations", capacity(AvailabilityZone="us-gov-west-1a"))
    assert row.region == "us-gov-west-1"


def test_a_compute_plan_holds_everywhere_and_on_any_machine() -> None:
    # the answer may name a region beside it, which is that of whoever bought it
    (row,) = held("savingsPlans", plan(region="us-east-1"))
    assert (row.kind, row.plan, row.region, row.sku, row.family) == ("savings_plan", "Compute", "", "", "")
    assert (row.spend_per_hour, row.count) == (Decimal("12.5"), None)
    assert (row.upfront, row.recurring_per_hour) == (Decimal(54750), Decimal("6.25"))
    assert (row.payment, row.term_hours, row.product) == ("partial_upfront", 8760, "EC2, Fargate, Lambda")


def test_an_instance_plan_holds_for_a_family_in_a_region() -> None:
    (row,) = held(
        "savingsPlans", plan(savingsPlanType="EC2Instance", region="us-east-2", ec2InstanceFamily="p5")
    )
    assert (row.plan, row.region, row.family) == ("EC2Instance", "us-east-2", "p5")


def test_the_account_of_a_plan_is_that_of_its_name() -> None:
    (row,) = held("savingsPlans", plan(), account="999999999999")
    assert row.account == ACCOUNT


def test_a_capacity_reservation_states_no_price_and_may_have_no_end() -> None:
    (row,) = held("CapacityReservations", capacity())
    assert (row.kind, row.count, row.zone) == ("capacity_reservation", 2, "us-west-2b")
    assert (row.upfront, row.recurring_per_hour, row.spend_per_hour) == (None, None, None)
    assert (row.ends_at, row.term_hours) == (None, None)


def test_a_capacity_block_is_one_by_its_reservation_type() -> None:
    (row,) = held(
        "CapacityReservations",
        capacity(ReservationType="capacity-block", EndDateType="limited", EndDate="2026-11-08T11:30:00Z"),
    )
    assert (row.kind, row.term_hours, row.payment) == ("capacity_block", 7 * 24, "all_upfront")


@pytest.mark.parametrize(
    ("key", "record"),
    [
        *(
            ("ReservedInstances", reserved(State=state))
            for state in (
                "payment-pending",
                "active",
                "payment-failed",
                "retired",
                "queued",
                "queued-deleted",
            )
        ),
        *(
            ("savingsPlans", plan(state=state))
            for state in ("payment-pending", "retired", "queued", "pending-return", "returned")
        ),
        *(
            ("CapacityReservations", capacity(State=state))
            for state in (
                "expired",
                "cancelled",
                "pending",
                "failed",
                "scheduled",
                "assessing",
                "unsupported",
            )
        ),
    ],
)
def test_every_state_is_kept_as_aws_writes_it(key: str, record: dict[str, Any]) -> None:
    (row,) = held(key, record)
    assert row.state == record.get("State", record.get("state"))


def test_a_machine_without_gpu_is_kept_too() -> None:
    (row,) = held("ReservedInstances", reserved(InstanceType="m5.large"))
    assert row.family == "m5"


def test_numbers_may_be_text_or_numbers() -> None:
    (as_text,) = held("savingsPlans", plan())
    (as_number,) = held(
        "savingsPlans", plan(commitment=12.5, upfrontPaymentAmount=54750, recurringPaymentAmount=6.25)
    )
    assert as_text == as_number


def test_no_amount_passes_through_a_binary_number() -> None:
    text = json.dumps({"savingsPlans": [plan()]}).replace('"12.50000"', "0.100000000000000005")
    (row,) = read_text("aws_commitments", text, "a.json", HERE).rows
    assert isinstance(row, CommitmentRow)
    assert row.spend_per_hour == Decimal("0.1")  # to nine decimals; the float is 0.1000000000000000055…


def test_payments_that_do_not_make_the_commitment_are_left_out_with_the_reason() -> None:
    """A recorded answer says 2.08 per hour for a plan of 25.00 without upfront payment."""
    (row,) = held(
        "savingsPlans",
        plan(
            commitment="25.00", upfrontPaymentAmount="0.00", recurringPaymentAmount="2.08",
            paymentOption="No Upfront",
        ),
    )  # fmt: skip
    assert row.spend_per_hour == 25
    assert (row.upfront, row.recurring_per_hour) == (None, None)
    assert "2.08 per hour and 0 upfront do not make 25 per hour of 8760 hours" in row.reference


def test_payments_may_be_rounded() -> None:
    (row,) = held("savingsPlans", plan(upfrontPaymentAmount="54749", recurringPaymentAmount="6.25"))
    assert row.upfront == 54749


def test_an_offer_of_before_2015_says_how_much_a_machine_would_run_and_not_how_it_is_paid() -> None:
    (row,) = held("ReservedInstances", reserved(OfferingType="Heavy Utilization"))
    assert row.payment == ""


# --- wrappings ---


def placebo_moment(year: int, month: int, day: int, hour: int = 0) -> dict[str, Any]:
    rest = {"minute": 25, "second": 3, "microsecond": 340000}
    return {"__class__": "datetime", "year": year, "month": month, "day": day, "hour": hour, **rest}


def test_a_recorded_call_is_read_with_its_dates_as_objects_and_dated_by_its_headers() -> None:
    record = reserved(Start=placebo_moment(2026, 1, 15, 11), End=placebo_moment(2027, 1, 15, 11))
    headers = {"date": "Sat, 24 Jan 2026 11:45:27 GMT", "server": "AmazonEC2"}
    answer = {
        "status_code": 200,
        "data": {"ReservedInstances": [record], "ResponseMetadata": {"HTTPHeaders": headers}},
    }
    reading = reading_of(answer)
    (row,) = reading.rows
    assert isinstance(row, CommitmentRow)
    assert row.starts_at == datetime(2026, 1, 15, 11, 25, 3, 340000, tzinfo=UTC)
    assert reading.info.as_of == datetime(2026, 1, 24, 11, 45, 27, tzinfo=UTC)


def test_recorded_plans_with_capitals_say_the_same() -> None:
    by_name = {"ec2InstanceFamily": "EC2InstanceFamily", "currency": "CurrencyCode"}
    record = {by_name.get(name, name[0].upper() + name[1:]): value for name, value in plan().items()}
    record["Tags"] = [{"Key": "Team", "Value": "research"}]
    (row,) = reading_of({"status_code": 200, "data": {"SavingsPlans": [record]}}).rows
    assert [row] == held("savingsPlans", plan())


def test_a_saved_answer_dates_itself_and_says_whose_it_is() -> None:
    answer = {
        "Account": ACCOUNT, "Region": "eu-central-1", "AsOf": "2026-11-30T12:00:00+00:00",
        "Right": "ec2:DescribeReservedInstances", "ReservedInstances": [reserved()],
    }  # fmt: skip
    reading = read_text("aws_commitments", json.dumps(answer), "a.json")
    (row,) = reading.rows
    assert isinstance(row, CommitmentRow)
    assert (row.account, row.region) == (ACCOUNT, "eu-central-1")
    assert reading.info.as_of == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert reading.scopes == {f"{ACCOUNT}:eu-central-1:reserved_instance"}


def test_a_printed_answer_is_dated_by_its_name_and_may_be_packed() -> None:
    data = packed(json.dumps({"savingsPlans": [plan()]}))
    reading = read_bytes("aws_commitments", data, "plans_2026-11-30.json.gz")
    assert reading.info.as_of == datetime(2026, 11, 30, tzinfo=UTC)


def test_an_answer_replaces_what_the_same_question_brought() -> None:
    plans = [plan(), plan(savingsPlanId="b", savingsPlanType="EC2Instance", region="us-east-2")]
    assert reading_of({"savingsPlans": plans}).scopes == {f"{ACCOUNT}::savings_plan"}
    blocks = [capacity(), capacity(CapacityReservationId="cr-2", ReservationType="capacity-block")]
    assert reading_of({"CapacityReservations": blocks}).scopes == {
        f"{ACCOUNT}:us-west-2:capacity_reservation"
    }


def test_an_empty_answer_is_a_line_that_says_so() -> None:
    reading = reading_of({"CapacityReservations": []})
    assert reading.lines == 1
    assert reading.by_rule == {"none_held": 1}


# --- refused ---


@pytest.mark.parametrize(
    ("refused", "rule"),
    [
        ("UnauthorizedOperation: You are not authorized", "right_missing"),
        ("AccessDeniedException: no", "right_missing"),
        ("OptInRequired: You are not subscribed", "region_not_enabled"),
        ("InvalidParameterValue: no", "question_refused"),
    ],
)
def test_a_refusal_is_a_wrong_line_that_names_the_right(refused: str, rule: str) -> None:
    right = "ec2:DescribeReservedInstances"
    reading = reading_of({"Right": right, "Refused": refused, "ReservedInstances": []})
    (error,) = reading.wrong.values()
    assert (error.rule, error.column, error.value) == (rule, right, refused)
    assert "us-east-1" in error.expected


@pytest.mark.parametrize(
    ("key", "record", "rule"),
    [
        ("ReservedInstances", reserved(InstanceCount="three"), "not_a_number"),
        ("ReservedInstances", reserved(InstanceType=None), "empty"),
        ("ReservedInstances", reserved(OfferingType="Some Upfront"), "payment_unknown"),
        ("ReservedInstances", reserved(RecurringCharges=[{"Frequency": "Daily"}]), "frequency_unknown"),
        ("ReservedInstances", reserved(RecurringCharges="none"), "record_unreadable"),
        ("ReservedInstances", reserved(Start="2026-01-15T00:00:00"), "time_without_zone"),
        ("ReservedInstances", reserved(Start={"year": "soon"}), "not_a_time"),
        ("ReservedInstances", reserved(Start={"year": 10**30}), "not_a_time"),
        ("ReservedInstances", reserved(End="2025-01-15T00:00:00Z"), "ends_before_start"),
        ("ReservedInstances", reserved(FixedPrice=-1), "upfront_out_of_bounds"),
        ("savingsPlans", plan(commitment=None), "empty"),
        ("savingsPlans", plan(savingsPlanType="EC2Instance"), "region_unknown"),
        ("savingsPlans", plan(currency="dollars"), "currency_unknown"),
        ("savingsPlans", "a plan", "record_unreadable"),
        ("CapacityReservations", capacity(State=""), "empty"),
    ],
)  # fmt: skip
def test_a_record_that_is_wrong_is_refused_by_name_and_the_others_stay(
    key: str, record: Any, rule: str
) -> None:
    sound = {"ReservedInstances": reserved(), "savingsPlans": plan(), "CapacityReservations": capacity()}[key]
    reading = reading_of({key: [record, sound]})
    assert reading.by_rule == {rule: 1}
    assert set(reading.wrong) == {1}
    assert set(reading.kept) == {2}


@pytest.mark.parametrize("region", ["", "us-east-1, eu-west-1"])
def test_a_reservation_for_a_region_that_nobody_names_is_refused(region: str) -> None:
    """Empty would say that it holds in all regions."""
    reading = reading_of({"ReservedInstances": [reserved()]}, region=region)
    assert reading.by_rule == {"region_unknown": 1}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"ReservedInstances": [], "NextToken": "more"}, "pages_missing"),
        ({"savingsPlans": [], "nextToken": "more"}, "pages_missing"),
        ({"status_code": 403, "data": {"ReservedInstances": []}}, "answer_failed"),
        ({"Reservations": []}, "json_wrong"),
        ({"ReservedInstances": {}}, "json_wrong"),
        ([], "json_wrong"),
        ({"ReservedInstances": [], "AsOf": "yesterday"}, "not_a_time"),
        ({"ReservedInstances": [], "Account": "12345"}, "account_wrong"),
    ],
)
def test_a_file_that_is_not_the_whole_answer_is_refused(answer: Any, code: str) -> None:
    with pytest.raises(FileError) as caught:
        reading_of(answer)
    assert caught.value.code == code
    assert caught.value.expected


def test_only_answers_about_commitments_look_like_ones() -> None:
    for key in ("ReservedInstances", "CapacityReservations", "savingsPlans", "SavingsPlans"):
        assert aws_commitments.looks_like(json.dumps({key: []}, indent=1), "x.json")
    for other in (
        '{"CapacityBlockOfferings": []}',
        '{"savingsPlansOfferingRates": []}',
        '{"Reservations": []}',
        "SavingsPlans,x\n",
    ):
        assert not aws_commitments.looks_like(other, "x.json")
