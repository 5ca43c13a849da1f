"""Ask for limits, defaults, use and requests over the network: whole lists, or a refusal that says why."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from costs.egress import aws_config
from costs.rows import FileError, QuotaRequestRow, QuotaRow
from costs.sources import aws_quota_requests, aws_quotas, aws_quotas_fetch

from .ec2_answers import use_keys
from .feeds import CLOSE, Answer, Feed, Request
from .readings import Reading, read_bytes
from .test_source_aws_quotas import ACCOUNT, METRIC, P5_SPOT, P, default, quota

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ONE = {"region": "us-east-1"}
DEFAULTS = [default("L-417A185B", "Running On-Demand P instances", 0.0)]
IPS = quota("L-0263D0A3", "EC2-VPC Elastic IPs", 5.0)
REQUEST = {
    "Id": "d187537d15254312a9609aa51bbf7624u7W49tPO",
    "CaseId": "6780195351",
    "ServiceCode": "ec2",
    "QuotaCode": "L-417A185B",
    "QuotaName": "Running On-Demand P instances",
    "DesiredValue": 384.0,
    "Status": "APPROVED",
    "Created": 1795000000.5,
    "LastUpdated": 1795172800.5,  # two days later
    "Requester": json.dumps({"accountId": ACCOUNT, "callerArn": "arn:aws:iam::123456789012:user/ada"}),
    "QuotaArn": f"arn:aws:servicequotas:us-east-1:{ACCOUNT}:ec2/L-417A185B",
    "GlobalQuota": False,
}


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """Return a server that has CloudWatch; of Service Quotas it has the defaults of VPC alone."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, feed: Feed, moto: str) -> None:
    use_keys(monkeypatch, feed)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SERVICE_QUOTAS", feed.origin)
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH", moto)
    monkeypatch.setenv("EGRESS_ALLOW", f"{feed.origin},{moto}")
    # the SDK waits between attempts; what it waits is its own concern
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))


def asks(operation: str) -> Callable[[Request], bool]:
    return lambda request: request.headers.get("X-Amz-Target", "").endswith(f".{operation}")


def error(code: str, status: int = 400) -> Answer:
    return Answer(status, json={"__type": code, "message": "no"})


def play(feed: Feed, operation: str, *answers: Answer) -> None:
    feed.play("/", *answers, where=asks(operation))


def quotas(*items: Any, **more: str) -> Answer:
    return Answer(200, json={"Quotas": list(items), **more})


def requests(*items: Any, **more: str) -> Answer:
    return Answer(200, json={"RequestedQuotas": list(items), **more})


def play_lists(feed: Feed, *applied: Any) -> None:
    play(feed, "ListServiceQuotas", quotas(*applied))
    play(feed, "ListAWSDefaultServiceQuotas", quotas(*DEFAULTS))


def fetched(source: ModuleType, **params: str) -> dict[str, Reading]:
    pieces = source.fetch(ONE | params, NOW)
    return {name: read_bytes(source.NAME, b"".join(chunks), name) for name, chunks in pieces}


def only(source: ModuleType) -> Reading:
    (reading,) = fetched(source).values()
    return reading


def row_of(reading: Reading, code: str = "L-417A185B") -> QuotaRow:
    (row,) = [row for row in reading.rows if isinstance(row, QuotaRow) and row.code == code]
    return row


def put_use(*values: float, hours_ago: float = 1.0) -> None:
    client = boto3.Session().client("cloudwatch", region_name="us-east-1", config=aws_config())
    dimensions = [{"Name": name, "Value": value} for name, value in METRIC["MetricDimensions"].items()]  # type: ignore[attr-defined]
    at = NOW - timedelta(hours=hours_ago)
    data = [
        {"MetricName": "ResourceCount", "Dimensions": dimensions, "Timestamp": at, "Value": value}
        for value in values
    ]
    client.put_metric_data(Namespace="AWS/Usage", MetricData=data)


def test_limit_default_and_use_come_as_one_row(feed: Feed) -> None:
    """Limits from scripted answers, use from a server that speaks CloudWatch's own protocol."""
    play_lists(feed, P, P5_SPOT, IPS)
    put_use(96.0, 192.0, 0.0)
    put_use(5_000.0, hours_ago=30)  # before the day that is looked at
    (found,) = fetched(aws_quotas).items()
    name, reading = found
    assert name == "aws_quotas_us-east-1_2026-11-30.json"
    assert reading.info.as_of == NOW
    row = row_of(reading)
    assert (row.limit, row.default_limit, row.used) == (384, 0, 192)  # the highest of the day, not the last
    assert "2026-11-30 12:00 UTC" in row.reference
    # AWS names no metric for it: unknown, not 0
    assert row_of(reading, "L-C4BD4855").used is None
    assert reading.by_rule == {"not_instances": 1}


def test_use_that_nobody_published_is_unknown(feed: Feed) -> None:
    other = {**METRIC, "MetricDimensions": {**METRIC["MetricDimensions"], "Class": "DL/OnDemand"}}  # type: ignore[dict-item]
    play_lists(feed, {**P, "UsageMetric": other})
    assert row_of(only(aws_quotas)).used is None


def test_without_the_right_to_metrics_use_is_unknown_and_the_row_says_so(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH", feed.origin)
    play(feed, "GetMetricData", error("AccessDenied", 403))
    play_lists(feed, P)
    row = row_of(only(aws_quotas))
    assert (row.limit, row.used) == (384, None)
    assert "cloudwatch:GetMetricData" in row.reference


def test_each_region_is_asked_for_when_it_is_read(feed: Feed) -> None:
    play_lists(feed, P)
    pieces = list(aws_quotas.fetch({"region": "us-east-1, eu-west-1"}, NOW))
    assert [name for name, _ in pieces] == [
        "aws_quotas_us-east-1_2026-11-30.json",
        "aws_quotas_eu-west-1_2026-11-30.json",
    ]
    assert feed.requests == []
    b"".join(pieces[1][1])
    assert {"eu-west-1" in request.headers["Authorization"] for request in feed.requests} == {True}


def test_all_pages_are_asked_for_and_trouble_on_the_third_of_seven_passes(feed: Feed) -> None:
    pages = [quotas({**IPS, "QuotaCode": f"L-{n:08X}"}, NextToken=f"page {n + 1}") for n in range(1, 7)]
    throttled, broken = error("TooManyRequestsException"), Answer(500, text="<html>500</html>")
    play(feed, "ListServiceQuotas", *pages[:2], throttled, broken, CLOSE, *pages[2:], quotas(P))
    play(feed, "ListAWSDefaultServiceQuotas", quotas(*DEFAULTS))
    reading = only(aws_quotas)
    assert reading.lines == 7
    assert row_of(reading).limit == 384
    asked = [json.loads(request.body) for request in feed.requests if asks("ListServiceQuotas")(request)]
    tokens = [body.get("NextToken") for body in asked]
    assert tokens == [None, "page 2", *["page 3"] * 4, "page 4", "page 5", "page 6", "page 7"]
    assert {(body["ServiceCode"], body["MaxResults"]) for body in asked} == {("ec2", 100)}


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([Answer(200, json={})], "page_wrong"),  # the list is missing: not an empty page
        ([quotas(P, NextToken="")], "page_token_empty"),
        ([quotas(P, NextToken="a"), quotas(P, NextToken="a")], "page_repeated"),
    ],
)
def test_a_list_that_would_be_short_or_endless_is_refused(
    feed: Feed, answers: list[Answer], code: str
) -> None:
    play(feed, "ListServiceQuotas", *answers)
    with pytest.raises(FileError) as caught:
        fetched(aws_quotas)
    assert caught.value.code == code


def test_pages_without_end_are_refused(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_quotas_fetch, "_MOST_PAGES", 2)
    play(feed, "ListServiceQuotas", *(quotas(P, NextToken=str(n)) for n in range(4)))
    with pytest.raises(FileError, match="too_many_pages"):
        fetched(aws_quotas)


def test_a_region_without_any_quota_is_no_answer(feed: Feed) -> None:
    play(feed, "ListServiceQuotas", quotas())
    play(feed, "ListAWSDefaultServiceQuotas", quotas())
    with pytest.raises(FileError, match="page_empty"):
        fetched(aws_quotas)


@pytest.mark.parametrize(
    ("source", "operation", "right"),
    [
        (aws_quotas, "ListServiceQuotas", "servicequotas:ListServiceQuotas"),
        (aws_quotas, "ListAWSDefaultServiceQuotas", "servicequotas:ListAWSDefaultServiceQuotas"),
        (
            aws_quota_requests,
            "ListRequestedServiceQuotaChangeHistory",
            "servicequotas:ListRequestedServiceQuotaChangeHistory",
        ),
    ],
)
def test_a_missing_right_is_named(feed: Feed, source: ModuleType, operation: str, right: str) -> None:
    play_lists(feed, P)
    play(feed, operation, error("AccessDeniedException"))
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched(source)
    assert caught.value.expected.startswith(f"{right}: ")
    assert right in source.RIGHTS
    assert sum(asks(operation)(request) for request in feed.requests) == 1  # asking again does not help


@pytest.mark.parametrize("source", [aws_quotas, aws_quota_requests])
def test_missing_keys_are_said_with_what_they_would_unlock(
    source: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched(source)
    assert caught.value.expected == source.NEEDS


def test_requests_come_with_their_dates_and_without_the_person(feed: Feed) -> None:
    play(feed, "ListRequestedServiceQuotaChangeHistory", requests(REQUEST))
    ((name, chunks),) = aws_quota_requests.fetch(ONE, NOW)
    data = b"".join(chunks)
    assert name == "aws_quota_requests_us-east-1_2026-11-30.json"
    assert b"user/ada" not in data
    (row,) = read_bytes("aws_quota_requests", data, name).rows
    assert isinstance(row, QuotaRequestRow)
    assert row.requested_at == datetime.fromtimestamp(1795000000.5, UTC)
    assert row.decided_at == row.requested_at + timedelta(days=2)
    assert (row.status, row.asked, row.granted) == ("granted", 384, 384)


def test_an_account_that_asked_for_nothing_is_an_answer(feed: Feed) -> None:
    play(feed, "ListRequestedServiceQuotaChangeHistory", requests())
    reading = only(aws_quota_requests)
    assert (reading.rows, reading.by_rule) == ([], {"no_requests": 1})
