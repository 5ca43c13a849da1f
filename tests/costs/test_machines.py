"""State what the packaged table of machine types promises."""

import csv
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from costs.gate import Known
from costs.names import accelerator_key
from costs.rows import MachineTypeRow
from costs.sources import machine_types
from costs.sources.aws_facts import ACCELERATOR_BY_FAMILY
from costs.sources.machines import machine_of, machines_of

from .readings import Reading, read_path, read_text

DATA = Path(__file__).resolve().parents[2] / "costs" / "data"
Line = dict[str, str]
HEADER = machine_types.TEMPLATE.partition("\n")[0]


def _rows(name: str) -> list[Line]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def table() -> list[Line]:
    return _rows("machine_types.csv")


@pytest.fixture(scope="module")
def known() -> Known:
    return Known({
        accelerator_key(name): row["slug"]
        for row in _rows("accelerators.csv")
        for name in (row["slug"], row["name"], *row["aliases"].split("|"))
        if name
    })  # fmt: skip


@pytest.fixture(scope="module")
def reading() -> Reading:
    return read_path("machine_types", DATA / "machine_types.csv")


def test_every_line_of_the_packaged_table_is_kept(table: list[Line], reading: Reading) -> None:
    assert reading.by_rule == {}
    assert len(reading.rows) == len(table) > 200
    assert reading.scopes == {"aws", "azure", "gcp", "oci", "lambda"}


def test_a_machine_type_is_stated_once_whatever_the_case(table: list[Line]) -> None:
    counts = Counter((row["provider"], row["name"].casefold()) for row in table)
    assert [key for key, count in counts.items() if count > 1] == []


def test_every_accelerator_of_it_is_in_the_accelerator_table(table: list[Line]) -> None:
    slugs = {row["slug"] for row in _rows("accelerators.csv")}
    assert {row["accelerator"] for row in table} - slugs == set()


def test_the_name_in_price_lists_leads_to_the_same_accelerator(table: list[Line], known: Known) -> None:
    """The gate looks the machine type up first: catalogues write H100 for Azure's NVL sizes too."""
    wrong = {
        row["name"]: known.slug_of(row["name"], row["accelerator_name"])
        for row in table
        if known.slug_of(row["name"], row["accelerator_name"]) != row["accelerator"]
    }
    assert wrong == {}


def test_every_line_says_which_page_states_it_and_when(table: list[Line]) -> None:
    for row in table:
        assert "https://" in row["reference"], row["name"]
        assert date(2024, 1, 1) <= date.fromisoformat(row["reference_date"]) <= date(2026, 11, 30)


def test_aws_names_accelerators_as_its_price_list_source_does(table: list[Line]) -> None:
    for row in table:
        if row["provider"] == "aws":
            family = row["name"].partition(".")[0]
            assert row["accelerator_name"] == ACCELERATOR_BY_FAMILY[family], row["name"]


@pytest.mark.parametrize(
    ("family", "on_demand", "spot"),
    [
        ("p3", "L-417A185B", "L-7212CCBC"),
        ("p4d", "L-417A185B", "L-7212CCBC"),
        ("p5", "L-417A185B", "L-C4BD4855"),  # P5 spot has a quota of its own
        ("p5en", "L-417A185B", "L-C4BD4855"),
        ("p6-b200", "L-417A185B", ""),
        ("g6f", "L-DB2E81BA", "L-3819A6DF"),
        ("dl1", "L-6E869C2A", "L-85EED4F7"),
        ("inf2", "L-1945791B", "L-B5D1601B"),
        ("trn1", "L-2C3B7624", "L-6B0D517C"),
    ],
)
def test_aws_families_count_against_their_quota(family: str, on_demand: str, spot: str) -> None:
    machines = [machine for machine in machines_of("aws") if machine.name.partition(".")[0] == family]
    assert machines
    assert {(machine.quota_on_demand, machine.quota_spot) for machine in machines} == {(on_demand, spot)}


@pytest.mark.parametrize(
    ("provider", "name", "slug", "count", "vcpus", "memory_gib"),
    [
        ("aws", "p5.48xlarge", "h100-sxm-80gb", "8", "192", "2048"),
        ("aws", "g6f.large", "l4-24gb", "0.125", "2", "8"),
        ("aws", "trn1.32xlarge", "trainium", "16", "128", "512"),
        ("aws", "u-p6e-gb200x72", "gb200-186gb", "72", "2592", "17280"),
        ("azure", "Standard_NC40ads_H100_v5", "h100-nvl-94gb", "1", "40", "320"),
        ("azure", "Standard_NV4as_v4", "mi25-16gb", "0.125", "4", "14"),
        ("azure", "Standard_NV6ads_A10_v5", "a10-24gb", "0.167", "6", "55"),
        ("azure", "Standard_NC24ads_A100_v4", "a100-pcie-80gb", "1", "24", "220"),
        ("gcp", "a3-highgpu-8g", "h100-sxm-80gb", "8", "208", "1872"),
        ("gcp", "g4-standard-6", "rtx-pro-6000-server-96gb", "0.125", "6", "22"),
        ("oci", "BM.GPU.H100.8", "h100-sxm-80gb", "8", "224", "2048"),
        ("lambda", "gpu_1x_h100_pcie", "h100-pcie-80gb", "1", "26", "200"),
    ],
)
def test_what_a_machine_holds(
    provider: str, name: str, slug: str, count: str, vcpus: str, memory_gib: str
) -> None:
    machine = machine_of(provider, name)
    assert machine is not None
    assert machine.accelerator == slug
    held = (machine.gpu_count, machine.vcpus, machine.memory_gib)
    assert held == (Decimal(count), Decimal(vcpus), Decimal(memory_gib))


def test_azure_sizes_are_found_in_any_case_and_others_only_as_written() -> None:
    found = machine_of("azure", "STANDARD_nd96isr_h100_V5")
    assert found is not None
    assert found.name == "Standard_ND96isr_H100_v5"
    assert machine_of("aws", "P5.48xlarge") is None
    assert machine_of("aws", "m7i.large") is None


def test_aws_counts_chips_and_fractions_of_a_gpu() -> None:
    """Oddity 7: a trn1.32xlarge has 16 chips, and g6f and gr6f hold an eighth, a quarter or half of an L4."""
    counts = {machine.name: machine.gpu_count for machine in machines_of("aws")}
    assert (counts["trn1.2xlarge"], counts["trn1.32xlarge"]) == (1, 16)
    fractions = {name: str(count) for name, count in counts.items() if count < 1}
    assert fractions == {
        "g6f.large": "0.125",
        "g6f.xlarge": "0.125",
        "g6f.2xlarge": "0.25",
        "g6f.4xlarge": "0.5",
        "gr6f.4xlarge": "0.5",
    }


def test_a_size_with_part_of_a_card_counts_the_part() -> None:
    """Oddity 8: catalogues count Azure's partitioned MI25 sizes as whole cards."""
    parts = {machine.name: machine.gpu_count for machine in machines_of("azure") if machine.gpu_count < 1}
    assert sorted(parts) == [
        "Standard_NG16ads_V620_v1",
        "Standard_NG8ads_V620_v1",
        "Standard_NV12ads_A10_v5",
        "Standard_NV12ads_V710_v5",
        "Standard_NV16as_v4",
        "Standard_NV18ads_A10_v5",
        "Standard_NV4ads_V710_v5",
        "Standard_NV4as_v4",
        "Standard_NV6ads_A10_v5",
        "Standard_NV8ads_V710_v5",
        "Standard_NV8as_v4",
    ]


def test_an_own_table_adds_machine_types() -> None:
    reading = read_text("machine_types", machine_types.TEMPLATE, "ours.csv")
    assert reading.by_rule == {}
    [row] = reading.rows
    assert isinstance(row, MachineTypeRow)
    assert (row.provider, row.name, row.gpu_count) == ("example-cloud", "gpu-8x-h100", Decimal(8))


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("Example,gpu,h100-sxm-80gb,H100,8,,,,,page,2026-11-30", "provider_wrong"),
        ("example,,h100-sxm-80gb,H100,8,,,,,page,2026-11-30", "empty"),
        ("example,gpu,h100-sxm-80gb,H100,0,,,,,page,2026-11-30", "gpu_count_out_of_bounds"),
        ("example,gpu,h100-sxm-80gb,H100,eight,,,,,page,2026-11-30", "not_a_number"),
        ("example,gpu,h100-sxm-80gb,H100,8,,,,,,2026-11-30", "empty"),
        ("example,gpu,h100-sxm-80gb,H100,8,,,,,page,30.11.2026", "not_a_date"),
        ("example,gpu,h100-sxm-80gb,H100,8,,,,,page", "field_count"),
    ],
)
def test_a_wrong_line_is_refused_by_name(line: str, rule: str) -> None:
    assert read_text("machine_types", f"{HEADER}\n{line}\n", "ours.csv").by_rule == {rule: 1}


def test_a_machine_type_that_stands_twice_is_refused() -> None:
    line = "example,gpu,h100-sxm-80gb,H100,8,,,,,page,2026-11-30\n"
    assert read_text("machine_types", f"{HEADER}\n{line}{line}", "ours.csv").by_rule == {"repeated": 1}


def test_an_upload_is_recognised_by_its_columns() -> None:
    assert machine_types.looks_like(machine_types.TEMPLATE, "anything.csv")
    assert not machine_types.looks_like("InstanceType,AcceleratorName\n", "machine_types.csv")
