"""Hold the table of machine types against the real samples, which are read with csv and json alone."""

import csv
import gzip
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from costs.sources.machines import Machine, machine_of, machines_of

pytestmark = pytest.mark.shared
Stated = tuple[str, str, str, str, str]  # provider, name, count, vCPUs, GiB; "" where the file is silent


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data"


def _csv(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [dict(row) for row in csv.DictReader(file, delimiter=delimiter, restkey="more")]


def _json(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)


def _skypilot(data: Path) -> Iterator[Stated]:
    for provider, file in (
        ("aws", "skypilot_aws_p4-p6_v8"),
        ("azure", "skypilot_azure_gpu_2026-05-20"),
        ("gcp", "skypilot_gcp_gpu_2026-05-20"),
        ("lambda", "skypilot_lambda_2026-05-20"),
    ):
        for row in _csv(data / "prices" / f"{file}.csv"):
            name = row["InstanceType"]
            if machine_of(provider, name) or (name and row["AcceleratorName"]):
                yield provider, name, row["AcceleratorCount"], row["vCPUs"], row["MemoryGiB"]


def _aws_lists(data: Path) -> Iterator[Stated]:
    listed = _json(data / "prices" / "aws_gpu_instances_all_regions_2026-01-21.json")
    for entry in listed:  # type: ignore[attr-defined]
        memory = entry["memory"].split()[0]
        yield "aws", entry["name"], str(entry["gpuCount"]), str(entry["vcpu"]), memory
    listed = _json(data / "prices" / "aws_cn_gpu_instances_vantage_raw_cny.json")
    for entry in listed:  # type: ignore[attr-defined]
        yield "aws", entry["instance_type"], str(entry["GPU"]), str(entry["vCPU"]), str(entry["memory"])
    for day in ("2021-02-10", "2024-02-28", "2025-06-28"):
        advisor = _json(data / "spot" / f"aws_spot_advisor_accelerated_{day}.json")
        for name, entry in advisor["instance_types"].items():  # type: ignore[index]
            if not name.startswith("vt1."):  # video transcoders
                yield "aws", name, "", str(entry["cores"]), str(entry["ram_gb"])
    for day in ("2026-01-31", "2026-03-01", "2026-07-22"):
        blocks = _json(data / "commitments" / f"aws_capacity_blocks_ml_{day}.json")
        for name, entry in blocks["instance_types"].items():  # type: ignore[index]
            yield "aws", name, str(entry["accelerator_count"]), "", ""


def _gcp_lists(data: Path) -> Iterator[Stated]:
    table = data / "commitments" / "gcp_gpu_machine_types_ondemand_spot_cud_2026-07-30.csv"
    for row in _csv(table):
        count = row["attached"].partition(";")[0].partition("=")[2]
        yield "gcp", row["machine_type"], count, row["cpu"], row["ram_gb"]
    for row in _csv(data / "quotas" / "gcp_gpu_machine_type_zones_2023-05.csv", ";"):
        yield "gcp", row["NAME"], "", row["CPUS"], row["MEMORY_GB"]


# (machine type, what): what the sample says; why the table says otherwise stands beside it
DISAGREE = {
    # catalogues count a partitioned card as a whole one
    ("Standard_NV4as_v4", "count"): Decimal(1),
    ("Standard_NV8as_v4", "count"): Decimal(1),
    ("Standard_NV16as_v4", "count"): Decimal(1),
    # Microsoft's page states 1,900 GiB
    ("Standard_ND96amsr_A100_v4", "memory"): Decimal(1800),
    # boards with two GPUs each: Amazon's page states 8 and 16 GPUs
    ("p2.8xlarge", "count"): Decimal(4),
    ("p2.16xlarge", "count"): Decimal(8),
}


def _contradictions(stated: Iterator[Stated]) -> dict[tuple[str, str], Decimal]:
    found = {}
    for provider, name, count, vcpus, memory in stated:
        machine = machine_of(provider, name)
        assert machine is not None, f"{provider} {name} is not in the table"
        for what, text, ours in (
            ("count", count, machine.gpu_count),
            ("vcpus", vcpus, machine.vcpus),
            ("memory", memory, machine.memory_gib),
        ):
            if text and Decimal(text) != ours:
                found[name, what] = Decimal(text)
    return found


def test_the_machine_table_agrees_with_every_catalogue_but_for_named_cases(data: Path) -> None:
    stated = [*_skypilot(data), *_aws_lists(data), *_gcp_lists(data)]
    assert len({(provider, name) for provider, name, *_ in stated}) > 150
    assert _contradictions(iter(stated)) == DISAGREE


def test_every_type_of_the_price_lists_is_in_the_machine_table(data: Path) -> None:
    names = set()
    for name in ("ondemand_us-east-1", "us_gov_ondemand", "cn_ondemand_cny"):
        [path] = (data / "prices").glob(f"aws_{name}*accelerated*.csv")
        names |= {row["instance_type"] for row in _csv(path)}
    assert {name for name in names if machine_of("aws", name) is None} == {
        "vt1.3xlarge",
        "vt1.6xlarge",
        "vt1.24xlarge",
    }
    changes = data / "spot" / "azure_gcp_lambda_gpu_price_changes_2026-04-02_2026-05-20.csv.gz"
    with gzip.open(changes, "rt", encoding="utf-8", newline="") as file:
        changed = {(row["cloud"], row["instance_type"]) for row in csv.DictReader(file)}
    unknown = {(cloud, name) for cloud, name in changed if name and machine_of(cloud, name) is None}
    assert unknown == set()


def test_quota_codes_of_aws_are_those_that_accounts_see(data: Path) -> None:
    """The published mapping sends p3.2xlarge to the G codes: its own list of quotas says P."""
    quotas = _csv(data / "quotas" / "aws_ec2_default_quotas_2024-02.csv")
    names = {row["QuotaCode"]: row["QuotaName"] for row in quotas}
    for machine in machines_of("aws"):
        for code, start in ((machine.quota_on_demand, "Running On-Demand "), (machine.quota_spot, "All ")):
            assert not code or names[code].startswith(start), machine.name
    mapping = _csv(data / "quotas" / "skypilot_aws_instance_quota_mapping_v5.csv")
    others = {
        row["InstanceType"]: (row["OnDemandInstanceCode"], row["SpotInstanceCode"])
        for row in mapping
        if _codes(machine_of("aws", row["InstanceType"]))
        != (row["OnDemandInstanceCode"], row["SpotInstanceCode"])
    }
    assert others == {"p3.2xlarge": ("L-DB2E81BA", "L-3819A6DF")}
    assert names["L-417A185B"] == "Running On-Demand P instances"


def _codes(machine: Machine | None) -> tuple[str, str]:
    return (machine.quota_on_demand, machine.quota_spot) if machine else ("", "")


def test_quota_metrics_of_gcp_are_those_that_projects_see(data: Path) -> None:
    regions = _json(data / "quotas" / "gcp_compute_regions_quotas_gcpdiag_gce5.json")
    items = regions["items"] if isinstance(regions, dict) else regions
    metrics = {quota["metric"] for region in items for quota in region["quotas"]}  # type: ignore[attr-defined]
    ours = {code for machine in machines_of("gcp") for code in _codes(machine) if code}
    # the sample is of 2024-07, before these had metrics of their own
    newer = {metric for metric in ours if any(part in metric for part in ("H100", "H200", "B200"))}
    assert ours - newer <= metrics
    mapping = _csv(data / "quotas" / "skypilot_gcp_accelerator_quota_mapping_v9.csv")
    codes = {row["Accelerator"]: (row["OnDemandInstanceCode"], row["SpotInstanceCode"]) for row in mapping}
    for machine in machines_of("gcp"):
        if machine.accelerator_name in codes:
            assert _codes(machine) == codes[machine.accelerator_name]
