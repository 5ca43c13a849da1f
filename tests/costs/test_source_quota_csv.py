"""Read limits typed by hand, and requests kept by hand."""

from datetime import UTC, datetime
from decimal import Decimal
from types import ModuleType

import pytest

from costs.rows import FileError, QuotaRequestRow, QuotaRow
from costs.sources import SOURCES, quota_csv, quota_requests_csv

from .readings import Reading, read_text

LIMITS = (
    "provider,account,region,code,name,bucket,purchase,unit,limit,used,default_limit,adjustable,reference\n"
)
REQUESTS = (
    "provider,account,region,code,request,name,asked,status,requested_at,decided_at,granted,case,note\n"
)


def limits(*lines: str, name: str = "limits.csv", **params: str) -> Reading:
    return read_text("quota_csv", LIMITS + "\n".join(lines) + "\n", name, params)


def requests(*lines: str) -> Reading:
    return read_text("quota_requests_csv", REQUESTS + "\n".join(lines) + "\n", "requests.csv")


def one_request(line: str) -> QuotaRequestRow:
    (row,) = requests(line).rows
    assert isinstance(row, QuotaRequestRow)
    return row


@pytest.mark.parametrize("source", [quota_csv, quota_requests_csv])
def test_the_template_is_read_whole(source: ModuleType) -> None:
    reading = read_text(source.NAME, source.TEMPLATE, "template.csv")
    assert (reading.lines, len(reading.rows), reading.by_rule) == (2, 2, {})
    assert source.looks_like(source.TEMPLATE, "template.csv")
    assert SOURCES[source.NAME] is source


def test_neither_file_is_taken_for_the_other() -> None:
    assert not quota_csv.looks_like(quota_requests_csv.TEMPLATE, "x.csv")
    assert not quota_requests_csv.looks_like(quota_csv.TEMPLATE, "x.csv")


def test_a_typed_limit() -> None:
    line = "example-cloud,team-1,eu-north,h100,H100 GPUs,h100-sxm-80gb,any,gpu,64,16,0,no,mail of 2026-11-20"
    reading = limits(line, name="limits_2026-11-21.csv")
    assert reading.info.as_of == datetime(2026, 11, 21, tzinfo=UTC)
    assert reading.scopes == {"example-cloud"}
    assert reading.rows == [
        QuotaRow(
            provider="example-cloud",
            account="team-1",
            region="eu-north",
            code="h100",
            name="H100 GPUs",
            bucket="h100-sxm-80gb",
            purchase="any",
            unit="gpu",
            limit=Decimal(64),
            is_unlimited=False,
            used=Decimal(16),
            default_limit=Decimal(0),
            is_adjustable=False,
            reference="mail of 2026-11-20",
        )
    ]


def test_unlimited_unknown_and_zero_are_three_things() -> None:
    start, end = "aws,,us-east-1,L-417A185B,,P,on_demand,vcpu,", ",,8,,"
    found = limits(*(start + word + end for word in ("unlimited", "", "0"))).rows
    assert [(row.is_unlimited, row.limit) for row in found if isinstance(row, QuotaRow)] == [
        (True, None), (False, None), (False, 0),
    ]  # fmt: skip


def test_only_the_columns_that_say_something_are_needed() -> None:
    text = "provider,region,code,purchase,unit,limit\naws,us-east-1,L-417A185B,on_demand,vcpu,192\n"
    (row,) = read_text("quota_csv", text, "limits.csv").rows
    assert isinstance(row, QuotaRow)
    assert (row.name, row.used, row.account) == ("L-417A185B", None, "")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("AWS,,us-east-1,L-1,,P,on_demand,vcpu,1,,,,", "provider_wrong"),
        ("aws,,,L-1,,P,on_demand,vcpu,1,,,,", "empty"),
        ("aws,,us-east-1,L-1,,P,reserved,vcpu,1,,,,", "word_unknown"),
        ("aws,,us-east-1,L-1,,P,on_demand,vCPUs,1,,,,", "word_unknown"),
        ("aws,,us-east-1,L-1,,P,on_demand,vcpu,,,,,", "empty"),  # says nothing at all
        ("aws,,us-east-1,L-1,,P,on_demand,vcpu,many,,,,", "not_a_number"),
        ("aws,,us-east-1,L-1,,P,on_demand,vcpu,-1,,,,", "limit_out_of_bounds"),
        ("aws,,us-east-1,L-1,,P,on_demand,vcpu,1,,,maybe,", "word_unknown"),
        ("aws,,us-east-1,L-1,,P,on_demand,vcpu,1", "field_count"),
    ],
)
def test_wrong_limits_are_refused_by_rule(line: str, rule: str) -> None:
    assert {number: error.rule for number, error in limits(line).wrong.items()} == {2: rule}


# --- requests ---

QR = "azure,,eastus,standardNDSH100v5Family,QR-118,ND H100 v5,768,{},2026-10-20,{},{},2610200040001,note"


def test_a_request_granted_in_part() -> None:
    assert one_request(QR.format("partly_granted", "2026-11-10", "384")) == QuotaRequestRow(
        provider="azure",
        account="",
        region="eastus",
        code="standardNDSH100v5Family",
        request="QR-118",
        name="ND H100 v5",
        asked=Decimal(768),
        status="partly_granted",
        requested_at=datetime(2026, 10, 20, tzinfo=UTC),
        decided_at=datetime(2026, 11, 10, tzinfo=UTC),
        granted=Decimal(384),
        case="2610200040001",
        note="note",
    )


def test_a_grant_without_a_number_is_all_that_was_asked_and_says_so() -> None:
    row = one_request(QR.format("granted", "2026-11-10T08:00:00Z", ""))
    assert row.granted == 768
    assert row.note == "note; granted: taken as what was asked"
    assert one_request(QR.format("granted", "2026-11-10", "1000")).granted == 1000  # more than was asked


def test_an_answer_of_which_nobody_noted_the_day() -> None:
    row = one_request(QR.format("denied", "", "0"))
    assert (row.decided_at, row.granted) == (None, None)


@pytest.mark.parametrize(
    ("status", "decided", "granted", "rule"),
    [
        ("lost", "", "", "word_unknown"),
        ("open", "2026-11-10", "", "open_and_decided"),
        ("open", "", "5", "granted_contradicts_status"),
        ("granted", "2026-11-10", "384", "granted_contradicts_status"),
        ("partly_granted", "2026-11-10", "", "granted_contradicts_status"),
        ("partly_granted", "2026-11-10", "768", "granted_contradicts_status"),
        ("denied", "2026-11-10", "5", "granted_contradicts_status"),
        ("denied", "2026-10-01", "", "decided_before_asked"),
        ("denied", "10.11.2026", "", "not_a_time"),
        ("denied", "2026-11-31", "", "not_a_date"),
    ],
)
def test_wrong_requests_are_refused_by_rule(status: str, decided: str, granted: str, rule: str) -> None:
    reading = requests(QR.format(status, decided, granted))
    assert {number: error.rule for number, error in reading.wrong.items()} == {2: rule}


@pytest.mark.parametrize("source", [quota_csv, quota_requests_csv])
def test_nothing_is_fetched_and_nothing_needed(source: ModuleType) -> None:
    assert (source.HAS_NETWORK, source.NEEDS, source.RIGHTS) == (False, "", ())
    with pytest.raises(FileError, match="no_fetch"):
        next(source.fetch({}, datetime(2026, 11, 30, tzinfo=UTC)))


@pytest.mark.parametrize("source", [quota_csv, quota_requests_csv])
def test_a_missing_column_is_named(source: ModuleType) -> None:
    with pytest.raises(FileError, match="columns_missing") as caught:
        read_text(source.NAME, source.TEMPLATE.replace("region", "place"), "x.csv")
    assert caught.value.column == "region"
