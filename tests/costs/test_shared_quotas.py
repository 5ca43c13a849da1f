"""Every real file of limits: what is kept and what is refused, counted here from the raw files alone."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from costs.models import IngestRun, Quota
from costs.queries.quota_allowances import allowances
from costs.rows import FileError, QuotaRow
from costs.sources import SOURCES
from costs.sources.aws_quotas_names import BUCKETS

from .readings import Reading, read_path

pytestmark = pytest.mark.shared
US = {"region": "us-east-1"}


@pytest.fixture
def quotas(shared: Path) -> Path:
    return shared / "data" / "quotas"


def aws_rule(name: str) -> str:
    """Return what becomes of an EC2 quota, by the plain words of its name."""
    if re.search(r"Dedicated|hosts$", name):
        return "dedicated_hosts"
    family = re.sub(r"^(Running On-Demand|All) | (instances|Spot Instance Requests)$", "", name)
    if family == name:
        return "not_instances"
    if "." in family:
        return "per_instance_type"
    accelerated = {"P", "G", "G and VT", "Inf", "Trn", "DL", "P5", "P4, P3 and P2"}
    return "kept" if family in accelerated else "other_family"


def outcome(reading: Reading) -> dict[str, int]:
    return dict(Counter({"kept": len(reading.kept), **reading.by_rule}))


def limits(reading: Reading) -> dict[tuple[str, str], QuotaRow]:
    return {(row.region, row.code): row for row in reading.rows if isinstance(row, QuotaRow)}


def test_the_recorded_list_of_us_east_1(quotas: Path) -> None:
    path = quotas / "aws_ListServiceQuotas_ec2_us-east-1_recorded.json"
    raw = json.loads(path.read_text())["Quotas"]
    reading = read_path("aws_quotas", path)
    expected = Counter(aws_rule(each["QuotaName"]) for each in raw)
    assert (len(raw), expected["kept"]) == (48, 3)
    assert outcome(reading) == expected
    # an old name, and no spot quotas at all
    found = limits(reading)
    assert {code: (row.name, row.bucket, row.limit) for (_, code), row in found.items()} == {
        "L-DB2E81BA": ("Running On-Demand G instances", "G and VT", 768),
        "L-1945791B": ("Running On-Demand Inf instances", "Inf", 128),
        "L-417A185B": ("Running On-Demand P instances", "P", 76),
    }
    assert "Class P/OnDemand, Resource vCPU" in found["us-east-1", "L-417A185B"].usage_metric
    assert reading.scopes == {"000000000000:us-east-1"}


def test_the_csv_of_defaults(quotas: Path) -> None:
    path = quotas / "aws_ec2_default_quotas_2024-02.csv"
    raw = list(csv.DictReader(io.StringIO(path.read_text())))
    reading = read_path("aws_quotas", path, US)
    assert len(raw) == 147
    assert outcome(reading) == Counter(aws_rule(each["QuotaName"]) for each in raw)
    kept = {each["QuotaCode"]: each for each in raw if aws_rule(each["QuotaName"]) == "kept"}
    # our table of codes is this file's, code by code
    assert set(kept) == set(BUCKETS)
    for (_, code), row in limits(reading).items():
        assert (row.limit, str(row.default_limit)) == (None, kept[code]["DefaultValue"])
        bought = "spot" if "Spot" in kept[code]["QuotaName"] else "on_demand"
        assert BUCKETS[code] == (row.bucket, bought)
    assert limits(reading)["us-east-1", "L-C4BD4855"].default_limit == 192
    with pytest.raises(FileError, match="region_missing"):
        read_path("aws_quotas", path)


def test_the_text_table_of_twelve_regions(quotas: Path) -> None:
    path = quotas / "aws_ec2_quotas_12_regions_cli_table_2021-06.txt"
    region, raw = "", {}
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("region "):
            region = line.split()[1]
        elif len(cells) == 4 and cells[1].startswith("L-"):
            raw[region, cells[1]] = (cells[2], cells[3])
    reading = read_path("aws_quotas", path)
    assert (len(raw), reading.lines, len({region for region, _ in raw})) == (751, 751, 12)
    assert outcome(reading) == Counter(aws_rule(name) for name, _ in raw.values())
    found = limits(reading)
    assert {key: str(row.limit) for key, row in found.items()} == {
        key: value for key, (name, value) in raw.items() if aws_rule(name) == "kept"
    }
    assert found["us-west-2", "L-3819A6DF"].limit == 12800
    assert found["sa-east-1", "L-3819A6DF"].limit == 32
    assert len(reading.scopes) == 12


def test_recorded_answers_of_other_limits_are_out_of_scope(quotas: Path) -> None:
    old = read_path("aws_quotas", quotas / "placebo" / "aws_ListServiceQuotas_1.json")
    assert outcome(old) == {"kept": 0, "per_instance_type": 2}
    assert old.info.as_of == datetime(2019, 10, 31, 17, 52, 31, tzinfo=UTC)
    other = read_path("aws_quotas", quotas / "placebo" / "aws_ListAWSDefaultServiceQuotas_1.json")
    assert outcome(other) == {"kept": 0, "not_ec2": 6}
    history = quotas / "placebo" / "aws_ListRequestedServiceQuotaChangeHistoryByQuota.json"
    asked = read_path("aws_quota_requests", history)
    assert outcome(asked) == {"kept": 0, "per_instance_type": 1}
    assert asked.info.as_of == datetime(2019, 10, 31, 17, 41, 22, tzinfo=UTC)


def test_the_regions_of_a_google_project(quotas: Path) -> None:
    path = quotas / "gcp_compute_regions_quotas_gcpdiag_gce5.json"
    raw = {
        (region["name"], quota["metric"]): quota
        for region in json.loads(path.read_text())["items"]
        for quota in region["quotas"]
    }
    reading = read_path("gcp_quotas", path)

    def rule(metric: str) -> str:
        if metric.endswith("_GPUS") or "TPU" in metric:
            return "kept"
        return "cpus" if metric.endswith("CPUS") else "not_accelerators"

    assert outcome(reading) == Counter(rule(metric) for _, metric in raw)
    assert (len(raw), len(reading.scopes)) == (reading.lines, 42)
    for key, row in limits(reading).items():
        is_unlimited = raw[key]["limit"] > 9e18
        assert (row.is_unlimited, row.limit) == (is_unlimited, None if is_unlimited else raw[key]["limit"])
        assert (row.used, row.account) == (raw[key]["usage"], "gcpdiag-gce5-aaaa")
        assert is_unlimited == (row.purchase == "committed")
    unlimited = sum(quota["limit"] > 9e18 and rule(metric) == "kept" for (_, metric), quota in raw.items())
    assert sum(row.is_unlimited for row in limits(reading).values()) == unlimited == 8 * 42
    a100 = limits(reading)["us-central1", "NVIDIA_A100_GPUS"]
    assert (a100.bucket, a100.unit, a100.limit) == ("a100-sxm-40gb", "gpu", 16)
    assert not [code for _, code in limits(reading) if "H100" in code]  # none at that date


def test_the_compute_usage_of_azure(quotas: Path) -> None:
    path = quotas / "azure_compute_usages_francecentral_azscout.json"
    raw = json.loads(path.read_text())["value"]
    reading = read_path("azure_usage", path)
    assert len(raw) == 4
    assert outcome(reading) == {"kept": 1, "other_family": 3}  # no family with GPUs in it
    row = limits(reading)["francecentral", "cores"]
    assert (row.limit, row.used) == (350, 12)


@pytest.mark.parametrize(
    ("source", "name", "code", "said"),
    [
        ("aws_quotas", "skypilot_aws_instance_quota_mapping_v5.csv", "no_limits", "not how much"),
        ("gcp_quotas", "skypilot_gcp_accelerator_quota_mapping_v9.csv", "no_limits", "not how much"),
        ("gcp_quotas", "gcp_gpu_machine_type_zones_2023-05.csv", "no_limits", "in which zones"),
        ("aws_quotas", "placebo/aws_GetMetricStatistics_usage.json", "quota_not_named", "which quota"),
    ],
)
def test_files_without_limits_are_refused_with_the_reason(
    quotas: Path, source: str, name: str, code: str, said: str
) -> None:
    with pytest.raises(FileError) as caught:
        read_path(source, quotas / name)
    assert caught.value.code == code
    assert said in caught.value.expected


def test_the_known_error_of_the_mapping_is_named(quotas: Path) -> None:
    path = quotas / "skypilot_aws_instance_quota_mapping_v5.csv"
    lines = path.read_text().splitlines()
    number = lines.index("p3.2xlarge,L-DB2E81BA,L-3819A6DF") + 1  # the codes of G
    with pytest.raises(FileError) as caught:
        read_path("aws_quotas", path)
    assert caught.value.value.startswith(f"line {number}: p3.2xlarge counts against P (L-417A185B)")


def test_every_file_is_recognised_by_one_source_alone(quotas: Path) -> None:
    known: list[ModuleType] = [source for source in SOURCES.values() if hasattr(source, "looks_like")]
    found = {}
    for path in sorted(quotas.rglob("*.*")):
        head = path.read_bytes()[: 64 << 10].decode()
        found[path.name] = [source.NAME for source in known if source.looks_like(head, path.name)]
    assert found == {
        "aws_ListServiceQuotas_ec2_us-east-1_recorded.json": ["aws_quotas"],
        "aws_ec2_default_quotas_2024-02.csv": ["aws_quotas"],
        "aws_ec2_quotas_12_regions_cli_table_2021-06.txt": ["aws_quotas"],
        "azure_compute_usages_francecentral_azscout.json": ["azure_usage"],
        "gcp_compute_regions_quotas_gcpdiag_gce5.json": ["gcp_quotas"],
        "gcp_gpu_machine_type_zones_2023-05.csv": ["gcp_quotas"],
        "aws_GetMetricStatistics_usage.json": ["aws_quotas"],
        "aws_ListAWSDefaultServiceQuotas_1.json": ["aws_quotas"],
        "aws_ListRequestedServiceQuotaChangeHistoryByQuota.json": ["aws_quota_requests"],
        "aws_ListServiceQuotas_1.json": ["aws_quotas"],
        "skypilot_aws_instance_quota_mapping_v5.csv": ["aws_quotas"],
        "skypilot_gcp_accelerator_quota_mapping_v9.csv": ["gcp_quotas"],
    }


def test_no_other_real_file_is_taken_for_limits(shared: Path) -> None:
    folders = ("prices", "commitments", "spot", "hardware", "spend", "utilization")
    files = [
        path
        for folder in folders
        for path in sorted((shared / "data" / folder).rglob("*"))
        if path.suffix in (".json", ".csv", ".txt", ".tsv", ".jsonl")
    ]
    ours = ["aws_quotas", "aws_quota_requests", "azure_usage", "gcp_quotas"]
    taken = []
    for path in files:
        with path.open("rb") as file:
            head = file.read(64 << 10).decode("utf-8", "replace")
        names = (*ours, "quota_csv", "quota_requests_csv")
        taken += [(path.name, name) for name in names if SOURCES[name].looks_like(head, path.name)]
    assert len(files) > 50
    assert taken == []


def test_real_limits_come_into_the_table(take: Callable[..., IngestRun], quotas: Path) -> None:
    table = (quotas / "aws_ec2_quotas_12_regions_cli_table_2021-06.txt").read_text()
    run = take(table, "aws_quotas", "table.txt", as_of="2021-06-23")
    assert (run.status, run.lines_read, run.lines_kept, run.added) == ("done", 751, 72, 72)
    assert set(Quota.objects.values_list("as_of", flat=True)) == {datetime(2021, 6, 23, tzinfo=UTC)}
    regions = (quotas / "gcp_compute_regions_quotas_gcpdiag_gce5.json").read_text()
    run = take(regions, "gcp_quotas", "regions.json")
    assert (run.status, run.lines_kept, run.added) == ("done", 1428, 1428)
    assert Quota.objects.filter(provider="gcp", is_unlimited=True).count() == 336
    assert Quota.objects.filter(is_unlimited=True).exclude(limit=None).count() == 0


def test_a_real_limit_in_whole_machines(take: Callable[..., IngestRun], quotas: Path) -> None:
    """76 vCPUs of P in us-east-1: two p3.8xlarge of 32 vCPUs and 4 GPUs, no p4d of 96, no p5 of 192."""
    assert take(None, "machine_types").status == "done"
    recorded = (quotas / "aws_ListServiceQuotas_ec2_us-east-1_recorded.json").read_text()
    assert take(recorded, "aws_quotas", "recorded.json").lines_kept == 3
    regions = (quotas / "gcp_compute_regions_quotas_gcpdiag_gce5.json").read_text()
    take(regions, "gcp_quotas", "regions.json")
    found = {
        (each.machine, each.region): each
        for each in allowances(datetime(2100, 1, 1, tzinfo=UTC), purchases=["on_demand"])
    }
    gpus = {name: found[name, "us-east-1"].gpus for name in ("p3.8xlarge", "p4d.24xlarge", "p5.48xlarge")}
    assert gpus == {"p3.8xlarge": 8, "p4d.24xlarge": 0, "p5.48xlarge": 0}
    # 16 A100 in the region; the limit of all GPUs of the project is not in the file: at most two machines
    a2 = found["a2-highgpu-8g", "us-central1"]
    assert (a2.instances, a2.free_instances, a2.missing) == (2, 2, ("GPUS_ALL_REGIONS",))
