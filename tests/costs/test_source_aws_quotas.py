"""Read limits of EC2 in every layout that people save them in."""

import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, QuotaRow
from costs.sources import SOURCES, aws_quotas
from costs.sources.aws_quotas_names import BUCKETS, bucket_of
from costs.sources.machines import machines_of

from .readings import Reading, read_text

ACCOUNT = "123456789012"
METRIC = {
    "MetricNamespace": "AWS/Usage",
    "MetricName": "ResourceCount",
    "MetricDimensions": {"Class": "P/OnDemand", "Resource": "vCPU", "Service": "EC2", "Type": "Resource"},
    "MetricStatisticRecommendation": "Maximum",
}


def quota(code: str, name: str, value: object, **changes: Any) -> dict[str, Any]:
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:us-east-1:{ACCOUNT}:ec2/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    } | changes


def default(code: str, name: str, value: object) -> dict[str, Any]:
    """Return a default as AWS lists it: its ARN names no account."""
    return quota(code, name, value, QuotaArn=f"arn:aws:servicequotas:us-east-1::ec2/{code}")


P = quota("L-417A185B", "Running On-Demand P instances", 384.0, UsageMetric=METRIC)
P5_SPOT = quota("L-C4BD4855", "All P5 Spot Instance Requests", 192)


def read(document: object, name: str = "quotas.json", **params: str) -> Reading:
    return read_text("aws_quotas", json.dumps(document), name, params)


def rows(reading: Reading) -> dict[str, QuotaRow]:
    return {row.code: row for row in reading.rows if isinstance(row, QuotaRow)}


def test_limits_are_vcpus_of_a_bucket_with_the_metric_that_counts_them() -> None:
    reading = read({"Quotas": [P, P5_SPOT]})
    assert reading.by_rule == {}
    assert reading.scopes == {f"{ACCOUNT}:us-east-1"}
    assert rows(reading)["L-417A185B"] == QuotaRow(
        provider="aws",
        account=ACCOUNT,
        region="us-east-1",
        code="L-417A185B",
        name="Running On-Demand P instances",
        bucket="P",
        purchase="on_demand",
        unit="vcpu",
        limit=Decimal("384.0"),
        is_unlimited=False,
        used=None,  # the list does not say it: unknown, not 0
        default_limit=None,
        is_adjustable=True,
        usage_metric="AWS/Usage ResourceCount (Class P/OnDemand, Resource vCPU, Service EC2, Type Resource), "
        "Maximum",
        reference="AWS Service Quotas",
    )


def test_p5_spot_has_a_quota_of_its_own() -> None:
    """Oddity 17: L-C4BD4855 is no part of what P4, P3 and P2 share."""
    found = rows(
        read({"Quotas": [P5_SPOT, quota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", 64)]})
    )
    assert {code: (row.bucket, row.purchase, row.limit) for code, row in found.items()} == {
        "L-C4BD4855": ("P5", "spot", 192),
        "L-7212CCBC": ("P4, P3 and P2", "spot", 64),
    }


@pytest.mark.parametrize(
    ("code", "old", "bucket"),
    [
        ("L-DB2E81BA", "Running On-Demand G instances", "G and VT"),
        ("L-3819A6DF", "All G Spot Instance Requests", "G and VT"),
        ("L-7212CCBC", "All P Spot Instance Requests", "P4, P3 and P2"),
    ],
)
def test_an_old_name_is_the_same_bucket_by_its_code(code: str, old: str, bucket: str) -> None:
    assert bucket_of(code, old)[0] == bucket


def test_a_known_code_needs_no_name() -> None:
    nameless = {name: value for name, value in P.items() if name != "QuotaName"}
    row = rows(read({"Quotas": [nameless]}))["L-417A185B"]
    assert (row.name, row.bucket) == ("L-417A185B", "P")


def test_a_new_quota_needs_no_release() -> None:
    assert bucket_of("L-0123ABCD", "All P6 Spot Instance Requests") == ("P6", "spot")
    assert bucket_of("L-0123ABCE", "Running On-Demand Trn and Inf instances") == ("Trn and Inf", "on_demand")


def test_every_code_of_the_machine_types_is_a_bucket_bought_in_that_way() -> None:
    for machine in machines_of("aws"):
        for code, purchase in ((machine.quota_on_demand, "on_demand"), (machine.quota_spot, "spot")):
            assert not code or BUCKETS[code][1] == purchase, machine.name


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("Running Dedicated p5 Hosts", "dedicated_hosts"),
        ("Running On-Demand inf1 hosts", "dedicated_hosts"),  # an old name
        ("Running On-Demand c3.large instances", "per_instance_type"),  # limits before vCPUs
        ("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "other_family"),
        ("All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "other_family"),
        ("Running On-Demand High Memory instances", "other_family"),
        ("Running On-Demand F instances", "other_family"),  # FPGAs
        ("All X Spot Instance Requests", "other_family"),
        ("EC2-VPC Elastic IPs", "not_instances"),
        ("New Reserved Instances per month", "not_instances"),
    ],
)
def test_other_limits_are_out_of_scope_by_name(name: str, rule: str) -> None:
    assert read({"Quotas": [P, quota("L-0263D0A3", name, 5)]}).by_rule == {rule: 1}


def test_other_services_and_single_resources_are_out_of_scope() -> None:
    ecs, resource = {**P, "ServiceCode": "ecs"}, {**P, "QuotaAppliedAtLevel": "RESOURCE"}
    assert read({"Quotas": [ecs, resource]}).by_rule == {"not_ec2": 1, "per_resource": 1}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"QuotaCode": "417A185B"}, "code_wrong"),
        ({"QuotaName": "Running Dedicated p5 Hosts"}, "code_contradicts_name"),
        ({"QuotaName": "All P5 Spot Instance Requests"}, "code_contradicts_name"),
        ({"Value": "12,800"}, "not_a_number"),
        ({"Value": -1}, "limit_out_of_bounds"),
        ({"Value": None}, "empty"),
        ({"UsageMetric": [1]}, "metric_unreadable"),
        ({"QuotaArn": "", "QuotaName": "Running On-Demand P instances"}, "empty"),  # no region anywhere
    ],
)
def test_wrong_records_are_refused_by_rule(changes: Mapping[str, Any], rule: str) -> None:
    reading = read({"Quotas": [{**P, **changes}]})
    assert {number: error.rule for number, error in reading.wrong.items()} == {1: rule}


def test_what_is_no_record_is_refused_where_it_stands() -> None:
    reading = read({"Quotas": [P, 7, None, [P]]})
    assert {number: error.rule for number, error in reading.wrong.items()} == dict.fromkeys(
        (2, 3, 4), "record_unreadable"
    )
    assert list(reading.kept) == [1]


def test_a_limit_that_aws_does_not_state_is_unknown_with_its_reason() -> None:
    error = {"ErrorCode": "DEPENDENCY_THROTTLING_ERROR", "ErrorMessage": "try later"}
    lacking = {name: value for name, value in P.items() if name != "Value"}
    row = rows(read({"Quotas": [{**lacking, "ErrorReason": error}]}))["L-417A185B"]
    assert (row.limit, row.is_unlimited) == (None, False)
    assert "DEPENDENCY_THROTTLING_ERROR" in row.reference


# --- defaults ---


def test_defaults_fill_the_default_and_replace_no_applied_limit() -> None:
    reading = read({"Quotas": [default("L-417A185B", "Running On-Demand P instances", 76.0)]})
    row = rows(reading)["L-417A185B"]
    assert (row.limit, row.default_limit, row.account) == (None, 76, "")
    assert reading.scopes == {"-:us-east-1:defaults"}


CSV = (
    "ServiceName,ServiceCode,QuotaName,QuotaCode,DefaultValue\n"
    "Amazon Elastic Compute Cloud (Amazon EC2),ec2,Running On-Demand P instances,L-417A185B,76.0\n"
    # a name with commas in quotes
    'Amazon EC2,ec2,"All P4, P3 and P2 Spot Instance Requests",L-7212CCBC,64.0\n'
    "Amazon Elastic Compute Cloud (Amazon EC2),ec2,AMIs,L-B665C33B,50000.0\n"
    "Amazon Elastic Compute Cloud (Amazon EC2),ec2,Running On-Demand Trn instances\n"  # cut
)


def test_a_csv_of_defaults_leaves_the_applied_limit_unknown() -> None:
    reading = read_text("aws_quotas", CSV, "defaults.csv", {"region": "eu-west-1", "account": ACCOUNT})
    found = rows(reading)
    assert {code: (row.limit, row.default_limit) for code, row in found.items()} == {
        "L-417A185B": (None, 76),
        "L-7212CCBC": (None, 64),
    }
    # what one account saw as its default says little of another's
    assert "new accounts often get 0 for P" in found["L-417A185B"].reference
    assert reading.by_rule == {"not_instances": 1, "field_count": 1}
    assert reading.scopes == {f"{ACCOUNT}:eu-west-1:defaults"}


def test_a_csv_of_defaults_needs_the_region_that_it_does_not_say() -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_quotas", CSV, "defaults.csv")
    assert caught.value.code == "region_missing"


# --- the command line's table ---

TABLE = """\
region us-west-2
---------------------------------------------------------------------------------------
|                                  ListServiceQuotas                                  |
+------------+-------------+----------------------------------------------+-----------+
| Adjustable |    Code     |                    Name                      |   Value   |
+------------+-------------+----------------------------------------------+-----------+
|  True      |  L-3819A6DF |  All G Spot Instance Requests                |  12800.0  |
|  True      |  L-7295265B |  Running On-Demand X instances               |  0.0      |
+------------+-------------+----------------------------------------------+-----------+
region sa-east-1
-------------------------------------------------------------------------------------
|                                 ListServiceQuotas                                 |
+------------+-------------+----------------------------------------------+---------+
| Adjustable |    Code     |                    Name                      |  Value  |
+------------+-------------+----------------------------------------------+---------+
|  False     |  L-3819A6DF |  All G Spot Instance Requests                |  32.0   |
|  True      |  L-417A185B |  Running On-Demand P instances               |
+------------+-------------+----------------------------------------------+---------+
"""


def test_a_text_table_of_many_regions_keeps_each_regions_limits() -> None:
    reading = read_text("aws_quotas", TABLE, "spot_limit.txt", {"account": ACCOUNT, "as_of": "2021-06-23"})
    found = [row for row in reading.rows if isinstance(row, QuotaRow)]
    assert [(row.region, row.code, row.limit, row.is_adjustable) for row in found] == [
        ("us-west-2", "L-3819A6DF", 12800, True),
        ("sa-east-1", "L-3819A6DF", 32, False),
    ]
    assert reading.lines == 4
    # by the number of the line in the file: one family of no interest, one row without its last cell
    assert {number: error.rule for number, error in reading.out_of_scope.items()} == {8: "other_family"}
    assert {number: error.rule for number, error in reading.wrong.items()} == {17: "field_count"}
    assert reading.info.as_of == datetime(2021, 6, 23, tzinfo=UTC)
    assert reading.scopes == {f"{ACCOUNT}:us-west-2", f"{ACCOUNT}:sa-east-1"}


def test_a_table_without_a_region_takes_the_parameters_or_is_refused() -> None:
    plain = TABLE.partition("\n")[2].partition("region")[0]
    reading = read_text("aws_quotas", plain, "table.txt", {"region": "us-west-2"})
    assert {row.region for row in reading.rows if isinstance(row, QuotaRow)} == {"us-west-2"}
    with pytest.raises(FileError, match="region_missing"):
        read_text("aws_quotas", plain, "table.txt")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("|  True      |  L-7295265B", "An error occurred (ThrottlingException)", "table_broken"),
        ("| Adjustable |    Code     |", "| Adjustable |    Kode     |", "columns_missing"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(old: str, new: str, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read_text("aws_quotas", TABLE.replace(old, new), "table.txt")
    assert caught.value.code == code
    assert caught.value.line


# --- recorded and joined answers ---


def test_a_recorded_answer_is_as_of_the_moment_it_was_given() -> None:
    """Oddity 18: placebo keeps the answer's own HTTP date beside the data."""
    headers = {"date": "Thu, 31 Oct 2019 17:52:31 GMT"}
    recorded = {"status_code": 200, "data": {"Quotas": [P], "ResponseMetadata": {"HTTPHeaders": headers}}}
    reading = read(recorded)
    assert reading.info.as_of == datetime(2019, 10, 31, 17, 52, 31, tzinfo=UTC)
    assert list(rows(reading)) == ["L-417A185B"]


def test_pages_in_order_are_one_list_and_a_cut_list_is_refused() -> None:
    whole = [{"Quotas": [P], "NextToken": "two"}, {"Quotas": [P5_SPOT]}]
    assert len(read(whole).rows) == 2
    for cut in (whole[:1], whole[0], [whole[1], whole[0]], [whole[1], whole[1]]):
        with pytest.raises(FileError, match="pages_missing"):
            read(cut)


JOINED = {
    "FetchedAt": "2026-11-30T12:00:00+00:00",
    "Region": "us-east-1",
    "UseNote": "use: highest of 24 hours",
    "Use": {"L-417A185B": 192.0},
    "Quotas": [P],
    "Defaults": [
        default("L-417A185B", "Running On-Demand P instances", 0.0),
        default("L-2C3B7624", "Running On-Demand Trn instances", 8.0),
    ],
}


def test_joined_answers_are_one_row_per_code_with_limit_default_and_use() -> None:
    reading = read(JOINED)
    found = rows(reading)
    assert reading.info.as_of == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert reading.scopes == {f"{ACCOUNT}:us-east-1"}  # no list of defaults beside it
    p, trn = found["L-417A185B"], found["L-2C3B7624"]
    assert (p.limit, p.default_limit, p.used) == (384, 0, 192)
    assert p.reference == "AWS Service Quotas; use: highest of 24 hours"
    # a quota that was never raised may have no applied value: the default stands, the limit is not known
    assert (trn.limit, trn.default_limit, trn.used) == (None, 8, None)
    assert trn.account == ACCOUNT
    assert "limit unknown" in trn.reference


# --- what is none ---


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"Datapoints": [{"Maximum": 20.0}], "Label": "ResourceCount"}, "quota_not_named"),
        ({"status_code": 200, "data": {"Datapoints": [], "Label": "ResourceCount"}}, "quota_not_named"),
        ({"RequestedQuotas": []}, "quota_requests"),
        ({"Quota": P}, "json_wrong"),
        ({"Quotas": P}, "json_wrong"),
        ([], "json_wrong"),
        ([1], "json_wrong"),
        ({**JOINED, "FetchedAt": "yesterday"}, "not_a_time"),
    ],
)
def test_other_answers_are_refused_with_the_reason(document: object, code: str) -> None:
    with pytest.raises(FileError) as caught:
        read(document)
    assert caught.value.code == code
    assert caught.value.expected


@pytest.mark.parametrize(
    "text", ['{"Quotas": [', '{"Quotas": [], "Quotas": []}', '{"Quotas": [NaN]}', "{" * 5000]
)
def test_broken_json_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="json_wrong"):
        read_text("aws_quotas", text, "quotas.json")


def test_a_table_of_quota_codes_holds_no_limit_and_its_known_error_is_named() -> None:
    text = "InstanceType,OnDemandInstanceCode,SpotInstanceCode\np3.2xlarge,L-DB2E81BA,L-3819A6DF\n"
    with pytest.raises(FileError) as caught:
        read_text("aws_quotas", text, "mapping.csv")
    assert caught.value.code == "no_limits"
    assert "line 2: p3.2xlarge counts against P (L-417A185B)" in caught.value.value


@pytest.mark.parametrize(("name", "value"), [("region", "us east"), ("account", "a/b"), ("as_of", "2021-06")])
def test_wrong_parameters_are_refused(name: str, value: str) -> None:
    with pytest.raises(FileError, match=f"{name}_wrong"):
        read({"Quotas": [P]}, **{name: value})


def test_the_source_is_told_by_its_content_alone() -> None:
    own = [json.dumps(JOINED), json.dumps({"Quotas": [P]}), CSV, TABLE, '{"Datapoints": []}']
    other = [json.dumps({"RequestedQuotas": [{"QuotaCode": "L-417A185B"}]}), "a,b\n1,2\n", "", "{}"]
    assert all(aws_quotas.looks_like(text, "file") for text in own)
    assert not any(aws_quotas.looks_like(text, "file") for text in other)


def test_the_source_is_registered() -> None:
    assert SOURCES["aws_quotas"] is aws_quotas
    info, _ = aws_quotas.read(io.BytesIO(b'{"Quotas": []}'), "q.json", {})
    with pytest.raises(TypeError, match="limits"):
        aws_quotas.scope(None, info)  # type: ignore[arg-type]
