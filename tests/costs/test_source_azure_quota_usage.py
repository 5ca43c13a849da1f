"""Read Azure's limits per family of GPU machines and the totals beside them."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.names import accelerator_key
from costs.rows import FileError, QuotaRow
from costs.sources import SOURCES, azure_usage
from costs.sources.azure_quota_families import family_of
from costs.sources.machines import machines_of

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SUBSCRIPTION = "00000000-1111-2222-3333-444444444444"
NAME = "azure_usage_eastus_2026-11-30.json"


def usage(name: str, used: object, limit: object, shown: str = "") -> dict[str, Any]:
    return {
        "currentValue": used,
        "limit": limit,
        "name": {"value": name, "localizedValue": shown or name},
        "unit": "Count",
    }


CORES = usage("cores", 96, 350, "Total Regional vCPUs")
H100 = usage("standardNDSH100v5Family", 96, 192, "Standard NDSH100v5 Family vCPUs")
SPOT = usage("lowPriorityCores", 0, 100, "Total Regional Low-priority vCPUs")


def read(*records: Any, name: str = NAME, **params: str) -> Reading:
    return read_text("azure_usage", json.dumps({"value": list(records)}), name, params)


def rows(reading: Reading) -> dict[str, QuotaRow]:
    return {row.code: row for row in reading.rows if isinstance(row, QuotaRow)}


def test_a_family_and_the_totals_that_hold_beside_it() -> None:
    """Oddity 17: vCPUs per family, and "cores" and "lowPriorityCores" over all of them."""
    reading = read(CORES, H100, SPOT, account=SUBSCRIPTION)
    assert reading.scopes == {f"{SUBSCRIPTION}:eastus"}
    assert reading.info.as_of == datetime(2026, 11, 30, tzinfo=UTC)
    assert rows(reading)["standardNDSH100v5Family"] == QuotaRow(
        provider="azure",
        account=SUBSCRIPTION,
        region="eastus",
        code="standardNDSH100v5Family",
        name="Standard NDSH100v5 Family vCPUs",
        bucket="h100-sxm-80gb",
        purchase="on_demand",
        unit="vcpu",
        limit=Decimal(192),
        is_unlimited=False,
        used=Decimal(96),
        default_limit=None,
        is_adjustable=None,
        reference="Azure Microsoft.Compute usages",
    )
    others = {code: (row.bucket, row.purchase, row.limit) for code, row in rows(reading).items()}
    assert others["cores"] == ("all vCPUs", "on_demand", 350)
    assert others["lowPriorityCores"] == ("all spot vCPUs", "spot", 100)


def test_the_command_line_writes_the_same_with_numbers_in_quotes() -> None:
    listed = [
        {
            "currentValue": "96",
            "limit": "192",
            "localName": "Standard NDSH100v5 Family vCPUs",
            "name": {"localizedValue": "Standard NDSH100v5 Family vCPUs", "value": "standardNDSH100v5Family"},
        },
        {"currentValue": "0", "limit": "10", "localName": "Total Regional vCPUs", "name": "cores"},
    ]
    found = rows(read_text("azure_usage", json.dumps(listed), NAME))
    assert found["standardNDSH100v5Family"] == rows(read(H100))["standardNDSH100v5Family"]
    assert (found["cores"].limit, found["cores"].name) == (10, "Total Regional vCPUs")


@pytest.mark.parametrize(
    ("spelled", "code", "accelerator"),
    [
        ("standardNCADSH100v5Family", "StandardNCadsH100v5Family", "h100-nvl-94gb"),
        ("StandardNCadsH100v5Family", "StandardNCadsH100v5Family", "h100-nvl-94gb"),
        ("Standard NDASv4_A100 Family", "Standard NDASv4_A100 Family", "a100-sxm-40gb"),
        ("standardNDASv4A100Family", "Standard NDASv4_A100 Family", "a100-sxm-40gb"),
        ("STANDARD NDAMSV4_A100FAMILY", "standard NDAMSv4_A100Family", "a100-sxm-80gb"),
    ],
)
def test_a_family_is_one_however_it_is_spelled(spelled: str, code: str, accelerator: str) -> None:
    """Oddity 11: case, blanks and underscores vary."""
    assert family_of(spelled) == (code, accelerator)


def test_two_spellings_in_one_file_are_one_limit() -> None:
    found = read(usage("standardNCADSH100v5Family", 0, 40), usage("StandardNCadsH100v5Family", 0, 40)).rows
    assert found[0] != found[1]  # another name for the eye
    assert {row.code for row in found if isinstance(row, QuotaRow)} == {"StandardNCadsH100v5Family"}


def test_every_family_of_the_machine_types_is_known() -> None:
    for machine in machines_of("azure"):
        if machine.quota_on_demand:
            code, _ = family_of(machine.quota_on_demand)
            assert accelerator_key(code) == accelerator_key(machine.quota_on_demand)


def test_a_new_gpu_family_needs_no_release() -> None:
    assert family_of("standardNDISRB300v9Family") == (
        "standardndisrb300v9family",
        "standardNDISRB300v9Family",
    )


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("standardDSv3Family", "other_family"),
        ("standardNPSFamily", "other_family"),  # FPGAs
        ("standardHBv4Family", "other_family"),
        ("availabilitySets", "not_vcpus"),
        ("virtualMachines", "not_vcpus"),
        ("PremiumDiskCount", "not_vcpus"),
    ],
)
def test_other_limits_are_out_of_scope(name: str, rule: str) -> None:
    assert read(CORES, usage(name, 0, 10)).by_rule == {rule: 1}


@pytest.mark.parametrize(
    ("record", "rule"),
    [
        (usage("cores", 1, "350,5"), "not_a_number"),
        (usage("cores", None, 350), "not_a_number"),
        (usage("cores", 1, None), "not_a_number"),
        (usage("cores", 1, -1), "limit_out_of_bounds"),  # what that would mean is not documented
        (usage("", 1, 1), "empty"),
        ({**CORES, "name": {"localizedValue": "x"}}, "name_unreadable"),
        ({**CORES, "unit": "Bytes"}, "not_counted"),
        ("cores", "record_unreadable"),
    ],
)
def test_wrong_records_are_refused_by_rule(record: object, rule: str) -> None:
    reading = read(H100, record)
    assert reading.by_rule == {rule: 1}
    assert list(reading.kept) == [1]


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("usage_eastus.json", "eastus"),
        ("azure-eastus2-2026-11-30.json", "eastus2"),
        ("azure_compute_usages_francecentral_team.json", "francecentral"),
    ],
)
def test_the_region_comes_from_the_name(name: str, region: str) -> None:
    assert {row.region for row in rows(read(CORES, name=name)).values()} == {region}


@pytest.mark.parametrize("name", ["usage.json", "eastus_and_westus.json", "eastusfoo.json"])
def test_without_one_region_the_parameter_is_needed(name: str) -> None:
    with pytest.raises(FileError, match="region_missing"):
        read(CORES, name=name)
    assert {row.region for row in rows(read(CORES, name=name, region="westus3")).values()} == {"westus3"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"error": {"code": "AuthorizationFailed"}}', "json_wrong"),
        ('{"value": [], "nextLink": "https://management.azure.com/x"}', "pages_missing"),
        ('{"value": {}}', "json_wrong"),
        ("{", "json_wrong"),
    ],
)
def test_files_that_are_no_usage_are_refused(text: str, code: str) -> None:
    with pytest.raises(FileError, match=code):
        read_text("azure_usage", text, NAME)


# --- over the network ---


@pytest.fixture
def azure(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Feed:
    monkeypatch.setenv("AZURE_ACCESS_TOKEN", "secret-token")
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION.upper())
    monkeypatch.setattr(azure_usage, "ADDRESS", feed.origin)
    return feed


def place(region: str = "eastus") -> str:
    return f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/{region}/usages"


def fetched(**params: str) -> dict[str, Reading]:
    pieces = azure_usage.fetch({"region": "eastus", **params}, NOW)
    return {name: read_bytes("azure_usage", b"".join(chunks), name) for name, chunks in pieces}


def test_a_region_is_fetched_with_the_token_and_read_by_the_same_parser(azure: Feed) -> None:
    azure.play(place(), Answer(json={"value": [CORES, H100]}))
    (found,) = fetched().items()
    name, reading = found
    assert name == f"azure_usage_{SUBSCRIPTION}_eastus_2026-11-30.json"
    assert reading.scopes == {f"{SUBSCRIPTION}:eastus"}
    assert rows(reading)["standardNDSH100v5Family"].used == 96
    (request,) = azure.requests
    assert request.query == {"api-version": "2024-07-01"}
    assert request.headers["Authorization"] == "Bearer secret-token"


def test_each_region_is_asked_for_when_it_is_read(azure: Feed) -> None:
    azure.play(place("westus3"), Answer(json={"value": [CORES]}))
    pieces = list(azure_usage.fetch({"region": "eastus, westus3"}, NOW))
    assert azure.requests == []
    b"".join(pieces[1][1])
    assert [path.partition("?")[0] for path in azure.paths()] == [place("westus3")]


def test_trouble_on_the_third_of_seven_pages_passes(azure: Feed) -> None:
    def page(number: int) -> Answer:
        more = {"nextLink": f"{azure.origin}{place()}?page={number + 1}"} if number < 7 else {}
        return Answer(json={"value": [usage(f"standardND{number}Family", 0, number)], **more})

    azure.play(place(), page(1))
    for number in range(2, 8):
        azure.play(f"{place()}?page={number}", page(number))
    throttled = Answer(429, headers={"Retry-After": "0"})
    azure.play(f"{place()}?page=3", throttled, Answer(500), CLOSE, page(3))
    (reading,) = fetched().values()
    assert [row.limit for row in reading.rows if isinstance(row, QuotaRow)] == [1, 2, 3, 4, 5, 6, 7]
    assert len(azure.requests) == 10


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_names_the_right_and_what_it_unlocks(azure: Feed, status: int) -> None:
    azure.play(place(), Answer(status, json={"error": {"code": "AuthorizationFailed"}}))
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched()
    assert "Reader (Microsoft.Compute/locations/usages/read)" in caught.value.expected
    assert "secret-token" not in str(caught.value.value)
    assert len(azure.requests) == 1


@pytest.mark.parametrize("name", ["AZURE_ACCESS_TOKEN", "AZURE_SUBSCRIPTION_ID"])
def test_a_missing_key_is_named(azure: Feed, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched()
    assert caught.value.column == name
    assert caught.value.expected == azure_usage.NEEDS
    assert azure.requests == []


def test_a_subscription_that_is_none_is_refused(azure: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "my/../subscription")
    with pytest.raises(FileError, match="auth_failed"):
        fetched()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"value": []}, "page_empty"),
        ({"items": []}, "page_wrong"),
        ([], "page_wrong"),
        ({"value": [CORES], "nextLink": "https://example.org/next"}, "page_elsewhere"),
    ],
)
def test_answers_that_would_give_a_short_list_are_refused(azure: Feed, answer: object, code: str) -> None:
    azure.play(place(), Answer(json=answer))
    with pytest.raises(FileError, match=code):
        fetched()


def test_the_same_page_again_is_refused(azure: Feed) -> None:
    azure.play(place(), Answer(json={"value": [CORES], "nextLink": f"{azure.origin}{place()}?page=2"}))
    with pytest.raises(FileError, match="page_repeated"):
        fetched()


def test_the_source_is_registered_and_told_by_its_content() -> None:
    assert SOURCES["azure_usage"] is azure_usage
    assert azure_usage.looks_like(json.dumps({"value": [CORES]}), "x.json")
    assert azure_usage.looks_like(json.dumps([CORES]), "x.json")
    assert not azure_usage.looks_like('{"quotas": [{"metric": "CPUS", "limit": 1}]}', "x.json")
