"""Read the history of requests to raise EC2 limits."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, QuotaRequestRow
from costs.sources import SOURCES, aws_quota_requests

from .readings import Reading, read_text

ACCOUNT = "123456789012"
REQUEST: dict[str, Any] = {
    "Id": "d187537d15254312a9609aa51bbf7624u7W49tPO",
    "CaseId": "6780195351",
    "ServiceCode": "ec2",
    "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "QuotaCode": "L-417A185B",
    "QuotaName": "Running On-Demand P instances",
    "DesiredValue": 384.0,
    "Status": "PENDING",
    "Created": "2026-10-31T10:41:21.761000-08:00",
    "LastUpdated": "2026-11-12T18:41:21.761000+00:00",
    "Requester": '{"accountId":"123456789012"}',
    "QuotaArn": f"arn:aws:servicequotas:us-east-1:{ACCOUNT}:ec2/L-417A185B",
    "GlobalQuota": False,
    "Unit": "None",
}
# limits of one instance type, before AWS counted vCPUs
OLD_LIMIT = {"QuotaCode": "L-355B2B67", "QuotaName": "Running On-Demand c3.large instances"}


def read(*changes: dict[str, Any], **params: str) -> Reading:
    document = {"RequestedQuotas": [{**REQUEST, **change} for change in changes]}
    return read_text("aws_quota_requests", json.dumps(document), "history.json", params)


def row_of(**change: Any) -> QuotaRequestRow:
    (row,) = read(change).rows
    assert isinstance(row, QuotaRequestRow)
    return row


def test_an_open_request_has_no_answer_yet() -> None:
    reading = read({})
    assert reading.scopes == {f"{ACCOUNT}:us-east-1"}
    assert reading.rows == [
        QuotaRequestRow(
            provider="aws",
            account=ACCOUNT,
            region="us-east-1",
            code="L-417A185B",
            request="d187537d15254312a9609aa51bbf7624u7W49tPO",
            name="Running On-Demand P instances",
            asked=Decimal(384),
            status="open",
            requested_at=datetime(2026, 10, 31, 18, 41, 21, 761000, UTC),  # written eight hours behind
            decided_at=None,  # LastUpdated of an open request is no answer
            granted=None,
            case="6780195351",
            note="",
        )
    ]


@pytest.mark.parametrize(
    ("status", "ours", "granted", "is_decided"),
    [
        ("PENDING", "open", None, False),
        ("CASE_OPENED", "open", None, False),
        ("APPROVED", "granted", 384, True),
        ("DENIED", "denied", None, True),
        ("NOT_APPROVED", "denied", None, True),
        ("CASE_CLOSED", "cancelled", None, True),
        ("INVALID_REQUEST", "cancelled", None, True),
    ],
)
def test_every_status_of_aws_has_its_meaning(
    status: str, ours: str, granted: int | None, is_decided: bool
) -> None:
    row = row_of(Status=status)
    assert (row.status, row.granted) == (ours, granted)
    assert (row.decided_at is not None) == is_decided


def test_what_was_granted_is_what_was_asked_and_the_row_says_that_aws_does_not_state_it() -> None:
    assert "taken as what was asked" in row_of(Status="APPROVED").note
    # a closed case may have been granted or not: only its letters say
    assert "letters" in row_of(Status="CASE_CLOSED").note


@pytest.mark.parametrize(
    "created",
    [
        "2019-10-31T10:41:21.761Z",
        "2019-10-31T11:41:21.761+01:00",
        1572518481.761,
        {
            "__class__": "datetime", "year": 2019, "month": 10, "day": 31, "hour": 10, "minute": 41,
            "second": 21, "microsecond": 761000,
        },
    ],
)  # fmt: skip
def test_dates_of_every_tool_mean_one_moment(created: object) -> None:
    """Oddity 18: with Z, with an offset, as seconds since 1970, and as placebo records them."""
    assert row_of(Created=created).requested_at == datetime(2019, 10, 31, 10, 41, 21, 761000, UTC)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"Created": "2026-10-31T10:41:21"}, "time_without_zone"),
        ({"Created": "yesterday"}, "not_a_time"),
        ({"Created": {"__class__": "datetime", "year": 2019}}, "not_a_time"),
        ({"Status": "APPROVED", "LastUpdated": "2026-10-01T00:00:00Z"}, "decided_before_asked"),
        ({"Status": "LOST"}, "status_unknown"),
        ({"DesiredValue": None}, "not_a_number"),
        ({"DesiredValue": "-3"}, "asked_out_of_bounds"),
        ({"Id": ""}, "empty"),
        ({"QuotaCode": "P"}, "code_wrong"),
    ],
)
def test_wrong_requests_are_refused_by_rule(change: dict[str, Any], rule: str) -> None:
    reading = read({}, change)
    assert {number: error.rule for number, error in reading.wrong.items()} == {2: rule}
    assert list(reading.kept) == [1]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"ServiceCode": "ecs"}, "not_ec2"),
        ({"QuotaRequestedAtLevel": "RESOURCE"}, "per_resource"),
        (
            {"QuotaCode": "L-355B2B67", "QuotaName": "Running On-Demand c3.large instances"},
            "per_instance_type",
        ),
        ({"QuotaCode": "L-0263D0A3", "QuotaName": "EC2-VPC Elastic IPs"}, "not_instances"),
    ],
)
def test_requests_for_other_limits_teach_nothing_about_gpus(change: dict[str, Any], rule: str) -> None:
    assert read({}, change).by_rule == {rule: 1}


def test_a_request_by_automatic_management_says_so() -> None:
    assert "automatic management" in row_of(RequestType="AutomaticManagement").note


def test_a_code_that_is_known_needs_no_name() -> None:
    assert row_of(QuotaName="").code == "L-417A185B"


def test_region_and_account_come_from_the_arn_or_from_parameters() -> None:
    reading = read({"QuotaArn": ""}, region="eu-west-1", account=ACCOUNT)
    assert reading.scopes == {f"{ACCOUNT}:eu-west-1"}
    assert read({"QuotaArn": ""}).by_rule == {"empty": 1}


def test_limits_are_not_requests_and_a_cut_history_is_refused() -> None:
    for document, code in (
        ({"Quotas": []}, "json_wrong"),
        ({"RequestedQuotas": [REQUEST], "NextToken": "more"}, "pages_missing"),
        ([{"RequestedQuotas": [REQUEST]}, {"RequestedQuotas": []}], "pages_missing"),
    ):
        with pytest.raises(FileError, match=code):
            read_text("aws_quota_requests", json.dumps(document), "history.json")


def test_the_source_is_registered_and_told_by_its_content() -> None:
    assert SOURCES["aws_quota_requests"] is aws_quota_requests
    assert aws_quota_requests.looks_like(json.dumps({"RequestedQuotas": []}), "x.json")
    assert not aws_quota_requests.looks_like(json.dumps({"Quotas": []}), "x.json")
