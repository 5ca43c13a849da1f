"""Read Google's limits of GPUs and TPUs from regions, projects and the Cloud Quotas API."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, QuotaRow
from costs.sources import SOURCES, gcp_quotas, gcp_quotas_fetch
from costs.sources.gcp_quota_metrics import what_counts

from .feeds import CLOSE, Answer, Feed
from .readings import Reading, read_bytes, read_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PROJECT = "example-project"
BASE = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}"
UNLIMITED = 9.223372036854776e18


def quota(metric: str, limit: object, usage: object = 0) -> dict[str, Any]:
    return {"metric": metric, "limit": limit, "usage": usage}


def region(name: str, *quotas: Any) -> dict[str, Any]:
    return {
        "kind": "compute#region",
        "name": name,
        "status": "UP",
        "zones": [f"{BASE}/zones/{name}-a"],
        "selfLink": f"{BASE}/regions/{name}",
        "quotas": list(quotas),
    }


A100, H100_SPOT = quota("NVIDIA_A100_GPUS", 16, 8), quota("PREEMPTIBLE_NVIDIA_H100_GPUS", 64.0)
PROJECT_INFO = {
    "kind": "compute#project",
    "name": PROJECT,
    "selfLink": BASE,
    "quotas": [quota("GPUS_ALL_REGIONS", 8, 8), quota("SNAPSHOTS", 5000)],
}


def value(limit: object, *places: str, **dimensions: str) -> dict[str, Any]:
    return {"dimensions": dimensions, "details": {"value": limit}, "applicableLocations": list(places)}


def info(*values: Any, metric: str = "compute.googleapis.com/gpus_per_gpu_family") -> dict[str, Any]:
    return {
        "name": f"projects/{PROJECT}/locations/global/services/compute.googleapis.com/quotaInfos/GPUS-PER",
        "quotaId": "GPUS-PER-GPU-FAMILY-per-project-region",
        "metric": metric,
        "service": "compute.googleapis.com",
        "dimensions": ["region", "gpu_family"],
        "quotaDisplayName": "GPUs per GPU family",
        "dimensionsInfos": list(values),
    }  # fmt: skip


def read(document: object, **params: str) -> Reading:
    return read_text("gcp_quotas", json.dumps(document), "regions.json", params)


def rows(reading: Reading) -> list[QuotaRow]:
    return [row for row in reading.rows if isinstance(row, QuotaRow)]


def test_gpus_are_counted_per_type_and_region() -> None:
    """Oddity 17: Google counts GPUs, not vCPUs."""
    reading = read(
        [region("us-central1", A100, H100_SPOT), region("europe-west4", quota("NVIDIA_L4_GPUS", 1))]
    )
    assert reading.scopes == {f"{PROJECT}:us-central1", f"{PROJECT}:europe-west4"}
    assert rows(reading)[0] == QuotaRow(
        provider="gcp",
        account=PROJECT,
        region="us-central1",
        code="NVIDIA_A100_GPUS",
        name="NVIDIA_A100_GPUS",
        bucket="a100-sxm-40gb",
        purchase="on_demand",
        unit="gpu",
        limit=Decimal(16),
        is_unlimited=False,
        used=Decimal(8),
        default_limit=None,
        is_adjustable=None,
        reference="Compute Engine quotas",
    )
    assert [(row.region, row.bucket, row.purchase, row.limit) for row in rows(reading)[1:]] == [
        ("us-central1", "h100-sxm-80gb", "spot", 64),
        ("europe-west4", "l4-24gb", "on_demand", 1),
    ]


@pytest.mark.parametrize("limit", [UNLIMITED, "9223372036854775807", 2**63 - 1])
def test_the_largest_number_means_that_there_is_no_limit(limit: object) -> None:
    (row,) = rows(read([region("us-central1", quota("COMMITTED_NVIDIA_A100_GPUS", limit))]))
    assert (row.is_unlimited, row.limit, row.purchase) == (True, None, "committed")


def test_a_limit_of_zero_is_a_limit() -> None:
    (row,) = rows(read([region("us-central1", quota("NVIDIA_A100_80GB_GPUS", 0))]))
    assert (row.is_unlimited, row.limit) == (False, 0)


def test_one_limit_of_all_gpus_holds_in_every_region() -> None:
    reading = read(PROJECT_INFO)
    (row,) = rows(reading)
    assert (row.region, row.code, row.bucket, row.purchase, row.limit, row.used) == (
        "global", "GPUS_ALL_REGIONS", "all GPUs", "any", 8, 8,
    )  # fmt: skip
    assert reading.scopes == {f"{PROJECT}:global"}
    assert reading.by_rule == {"not_accelerators": 1}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("NVIDIA_A100_80GB_GPUS", ("a100-sxm-80gb", "on_demand", "gpu")),
        ("NVIDIA_H100_MEGA_GPUS", ("h100-sxm-80gb", "on_demand", "gpu")),
        ("NVIDIA_T4_GPUS", ("t4-16gb", "on_demand", "gpu")),
        # a virtual workstation counts apart
        ("PREEMPTIBLE_NVIDIA_T4_VWS_GPUS", ("NVIDIA_T4_VWS", "spot", "gpu")),
        ("NVIDIA_X900_GPUS", ("NVIDIA_X900", "on_demand", "gpu")),  # a new GPU needs no release
        ("GPUS_PER_GPU_FAMILY/NVIDIA_H200", ("h200-sxm-141gb", "on_demand", "gpu")),
        ("TPU_LITE_PODSLICE_V5", ("tpu-v5e", "on_demand", "chip")),
        ("PREEMPTIBLE_TPU_LITE_DEVICE_V5", ("tpu-v5e", "spot", "chip")),
        ("V3_TPUS", ("V3_TPUS", "on_demand", "other")),  # what it counts is not said
    ],
)
def test_what_counts_against_a_metric(metric: str, expected: tuple[str, str, str]) -> None:
    assert what_counts(metric) == expected


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("CPUS", "cpus"),
        ("A2_CPUS", "cpus"),
        ("COMMITTED_A2_CPUS", "cpus"),
        ("INSTANCES", "not_accelerators"),
        ("PREEMPTIBLE_LOCAL_SSD_GB", "not_accelerators"),
        ("COMMITTED_LICENSES", "not_accelerators"),
    ],
)
def test_other_metrics_are_out_of_scope(metric: str, rule: str) -> None:
    assert read([region("us-central1", A100, quota(metric, 5))]).by_rule == {rule: 1}


def test_the_api_and_the_command_line_say_the_same() -> None:
    """`gcloud compute regions list --format json` is a list, the API's answer an object with items."""
    regions = [region("us-central1", A100), region("us-east1", A100)]
    whole = {"kind": "compute#regionList", "id": f"projects/{PROJECT}/regions", "items": regions}
    assert rows(read(whole)) == rows(read(regions))
    assert rows(read(regions[0])) == rows(read(regions))[:1]  # gcloud compute regions describe


# --- limits per GPU family ---


def test_newer_gpus_have_their_limits_in_the_quotas_api() -> None:
    reading = read(info(value("8", "us-central1", gpu_family="NVIDIA_H100", region="us-central1")))
    (row,) = rows(reading)
    assert (row.code, row.bucket, row.region, row.limit, row.unit, row.name) == (
        "GPUS_PER_GPU_FAMILY/NVIDIA_H100", "h100-sxm-80gb", "us-central1", 8, "gpu",
        "GPUs per GPU family: NVIDIA_H100",
    )  # fmt: skip
    assert row.used is None  # the API states no use: unknown, not 0
    # a list of its own, so that neither closes what the other says
    assert reading.scopes == {f"{PROJECT}:us-central1:api"}


def test_the_value_with_more_dimensions_holds() -> None:
    reading = read(
        info(
            value(30, "us-central1", region="us-central1", gpu_family="NVIDIA_H200"),
            value(10, "us-central1", "us-east1", gpu_family="NVIDIA_H200"),
            value(100, "us-central1", region="us-central1"),
            value(50, "us-central1", "us-east1"),
        )
    )
    assert {(row.code, row.region): row.limit for row in rows(reading)} == {
        ("GPUS_PER_GPU_FAMILY/NVIDIA_H200", "us-central1"): 30,
        ("GPUS_PER_GPU_FAMILY/NVIDIA_H200", "us-east1"): 10,
        ("GPUS_PER_GPU_FAMILY", "us-central1"): 100,
        ("GPUS_PER_GPU_FAMILY", "us-east1"): 50,
    }
    assert reading.lines == 4


def test_a_value_that_holds_nowhere_is_out_of_scope() -> None:
    both = info(value(30, "us-east1", region="us-east1"), value(50, "us-east1"))
    assert read(both).by_rule == {"overridden": 1}


def test_minus_one_means_unlimited_in_the_quotas_api_alone() -> None:
    (row,) = rows(read(info(value("-1", "us-central1", gpu_family="NVIDIA_H100"))))
    assert row.is_unlimited
    assert read([region("us-central1", quota("NVIDIA_A100_GPUS", -1))]).by_rule == {"limit_out_of_bounds": 1}


def test_lists_of_quota_infos_hold_other_quotas_too() -> None:
    l4 = info(value("4", "us-east1", region="us-east1"), metric="compute.googleapis.com/nvidia_l4_gpus")
    everywhere = info(value("8", "global"), metric="compute.googleapis.com/gpus_all_regions")
    zonal = info(value(1, "us-east1-b", zone="us-east1-b"), metric="compute.googleapis.com/nvidia_l4_gpus")
    other = info(value(1, "global"), metric="bigquery.googleapis.com/quota/query/gpus")
    reading = read({"quotaInfos": [l4, everywhere, zonal, other]})
    assert [(row.code, row.region, row.limit) for row in rows(reading)] == [
        ("NVIDIA_L4_GPUS", "us-east1", 4),
        ("GPUS_ALL_REGIONS", "global", 8),
    ]
    assert reading.by_rule == {"per_zone": 1, "not_compute": 1}
    older = json.loads(
        json.dumps(info(value(30, "us-east1", gpu_family="NVIDIA_H200"))).replace('"value"', '"quotaValue"')
    )
    assert rows(read(older))[0].limit == 30  # as older pages of the documentation have it


# --- what is wrong ---


@pytest.mark.parametrize(
    ("record", "rule"),
    [
        (quota("NVIDIA_A100_GPUS", "16,5"), "not_a_number"),
        (quota("NVIDIA_A100_GPUS", None), "not_a_number"),
        (quota("NVIDIA_A100_GPUS", 10**13), "limit_out_of_bounds"),
        (quota("NVIDIA_A100_GPUS", 1, "many"), "not_a_number"),
        (quota("", 1), "empty"),
        (7, "record_unreadable"),
    ],
)
def test_wrong_records_are_refused_by_rule(record: object, rule: str) -> None:
    reading = read([region("us-central1", A100, record)])
    assert {number: error.rule for number, error in reading.wrong.items()} == {2: rule}


def test_a_usage_that_is_missing_is_unknown() -> None:
    (row,) = rows(read([region("us-central1", {"metric": "NVIDIA_A100_GPUS", "limit": 16})]))
    assert row.used is None


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"items": [], "nextPageToken": "more"}, "pages_missing"),
        ({"items": {}}, "json_wrong"),
        ({"error": {"code": 403}}, "json_wrong"),
        ([{"name": "us-central1"}], "json_wrong"),
        ({"FetchedAt": "yesterday"}, "not_a_time"),
    ],
)
def test_other_documents_are_refused(document: object, code: str) -> None:
    with pytest.raises(FileError, match=code):
        read(document)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Accelerator,OnDemandInstanceCode,SpotInstanceCode\r\nA100,NVIDIA_A100_GPUS,X\r\n", "metric"),
        ("NAME;CPUS;SHARED_CPU;MEMORY_GB;DEPRECATED;ZONE\na2-highgpu-1g;12;False;85.00;;us-a\n", "zones"),
    ],
)
def test_tables_without_limits_are_refused_with_the_reason(text: str, word: str) -> None:
    assert gcp_quotas.looks_like(text, "x.csv")
    with pytest.raises(FileError, match="no_limits") as caught:
        read_text("gcp_quotas", text, "x.csv")
    assert word in caught.value.expected


def test_any_other_text_is_refused() -> None:
    assert not gcp_quotas.looks_like("a,b\n", "x.csv")
    with pytest.raises(FileError, match="json_wrong"):
        read_text("gcp_quotas", "a,b\n", "x.csv")


# --- over the network ---

COMPUTE = f"/compute/v1/projects/{PROJECT}"
QUOTAS = f"/v1/projects/{PROJECT}/locations/global/services/compute.googleapis.com/quotaInfos/"


@pytest.fixture
def google(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Feed:
    monkeypatch.setenv("GCP_ACCESS_TOKEN", "secret-token")
    monkeypatch.setenv("GCP_PROJECT", PROJECT)
    monkeypatch.setattr(gcp_quotas_fetch, "COMPUTE", feed.origin)
    monkeypatch.setattr(gcp_quotas_fetch, "QUOTAS", feed.origin)
    secret = {"commonInstanceMetadata": {"items": [{"key": "ssh-keys", "value": "ada:ssh-ed25519 AAAA"}]}}
    feed.play(COMPUTE, Answer(json={**PROJECT_INFO, **secret}))
    feed.play(f"{COMPUTE}/regions", Answer(json={"items": [region("us-central1", A100)]}))
    feed.play(QUOTAS, Answer(json=info(value("8", "us-central1", gpu_family="NVIDIA_H100"))))
    return feed


def fetched() -> tuple[str, bytes]:
    ((name, chunks),) = gcp_quotas.fetch({}, NOW)
    return name, b"".join(chunks)


def test_all_three_answers_come_as_one_file(google: Feed) -> None:
    name, data = fetched()
    assert name == f"gcp_quotas_{PROJECT}_2026-11-30.json"
    reading = read_bytes("gcp_quotas", data, name)
    assert reading.info.as_of == NOW
    assert {(row.code, row.region, row.limit, row.account) for row in rows(reading)} == {
        ("NVIDIA_A100_GPUS", "us-central1", 16, PROJECT),
        ("GPUS_ALL_REGIONS", "global", 8, PROJECT),
        ("GPUS_PER_GPU_FAMILY/NVIDIA_H100", "us-central1", 8, PROJECT),
    }
    # a project's page also holds its machines' keys and scripts
    assert b"ssh-ed25519" not in data
    assert {request.headers["Authorization"] for request in google.requests} == {"Bearer secret-token"}


@pytest.mark.parametrize("status", [403, 404])
def test_without_the_quotas_api_the_others_are_read_and_the_gap_is_listed(google: Feed, status: int) -> None:
    google.play(QUOTAS, Answer(status, json={"error": {"message": "API has not been used"}}))
    name, data = fetched()
    reading = read_bytes("gcp_quotas", data, name)
    assert len(reading.rows) == 2
    (gap,) = [error for error in reading.out_of_scope.values() if error.rule == "right_missing"]
    assert "cloudquotas.quotas.get" in gap.expected


def test_trouble_on_the_third_of_seven_pages_passes(google: Feed) -> None:
    def page(number: int) -> Answer:
        more = {"nextPageToken": f"p={number + 1}"} if number < 7 else {}
        return Answer(json={"items": [region(f"region-{number}", A100)], **more})

    first = f"{COMPUTE}/regions?maxResults=500"
    google.play(first, page(1))
    for number in range(2, 8):
        google.play(f"{first}&pageToken=p%3D{number}", page(number))
    throttled = Answer(429, headers={"Retry-After": "0"})
    google.play(f"{first}&pageToken=p%3D3", throttled, Answer(500), CLOSE, page(3))
    name, data = fetched()
    found = {row.region for row in rows(read_bytes("gcp_quotas", data, name))}
    assert found >= {f"region-{number}" for number in range(1, 8)}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_names_the_rights_and_what_they_unlock(google: Feed, status: int) -> None:
    google.play(f"{COMPUTE}/regions", Answer(status, json={"error": {"code": status}}))
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched()
    assert caught.value.expected == gcp_quotas.NEEDS
    assert all(right in gcp_quotas.NEEDS for right in gcp_quotas.RIGHTS)
    assert "secret-token" not in caught.value.value


@pytest.mark.parametrize("name", ["GCP_ACCESS_TOKEN", "GCP_PROJECT"])
def test_a_missing_key_is_named(google: Feed, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(FileError, match="auth_failed") as caught:
        fetched()
    assert caught.value.column == name
    assert google.requests == []


def test_a_project_that_is_none_is_refused(google: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GCP_PROJECT", "a/../b")
    with pytest.raises(FileError, match="auth_failed"):
        fetched()


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([{"items": []}], "page_wrong"),
        ([{"kind": "compute#regionList"}], "page_wrong"),
        ([[]], "page_wrong"),
        ([{"items": [region("us-a", A100)], "nextPageToken": "x"}] * 3, "page_repeated"),
    ],
)
def test_answers_that_would_give_a_short_list_are_refused(
    google: Feed, answers: list[Any], code: str
) -> None:
    google.play(f"{COMPUTE}/regions", *(Answer(json=answer) for answer in answers))
    with pytest.raises(FileError, match=code):
        fetched()


def test_the_source_is_registered() -> None:
    assert SOURCES["gcp_quotas"] is gcp_quotas
    assert gcp_quotas.looks_like(json.dumps([region("us-central1", A100)]), "x.json")
