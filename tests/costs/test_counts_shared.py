"""Compare what the sources keep and refuse of real files with counts worked out from the raw files alone.

The right-hand side of every comparison uses the csv and json modules and nothing of ours: what a line should
become is worked out here, from the columns and from facts that this file states itself.
"""

import csv
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from costs.rows import PriceRow, UtilizationRow

from .readings import Reading, read_path

pytestmark = pytest.mark.shared

Line = dict[str, str]
Counts = tuple[int, dict[str, int]]  # lines kept, lines refused by rule

SKYPILOT = [
    "skypilot_aws_p4-p6_v8.csv",
    "skypilot_azure_gpu_2026-05-20.csv",
    "skypilot_do_v6.csv",
    "skypilot_fluidstack_v9.csv",
    "skypilot_gcp_gpu_2026-05-20.csv",
    "skypilot_lambda_2026-05-20.csv",
    "skypilot_nebius_v9.csv",
    "skypilot_runpod_v8_a100_subset.csv",
    "skypilot_vast_2026-05-20.csv",
    "skypilot_verda_v8.csv",
]
UTILIZATION = [
    "alibaba_dlrm_v2025_hourly_by_app.csv",
    "alibaba_genai_v2026_hourly.csv",
    "alibaba_spot_v2026_hourly_by_gpu_model.csv",
    "helios_earth_hourly_by_vc_2020-05.csv",
    "philly_jobs_hourly_by_vc_2017.csv",
    "philly_nodes_hourly_2017-10_2017-12.csv",
    "uchicago_dsi_daily_2023-05_2026-08.csv",
    "uchicago_dsi_hourly_2023-05_2026-08.csv",
]
# a Google machine's GPUs: name and count
GPUS_OF_HOST = {
    **{f"a2-highgpu-{n}g": ("A100", n) for n in (1, 2, 4, 8)},
    "a2-megagpu-16g": ("A100", 16),
    **{f"a2-ultragpu-{n}g": ("A100-80GB", n) for n in (1, 2, 4, 8)},
    **{f"a3-highgpu-{n}g": ("H100", n) for n in (1, 2, 4, 8)},
    "a3-edgegpu-8g": ("H100", 8),
    "a3-edgegpu-8g-nolssd": ("H100", 8),
    "a3-megagpu-8g": ("H100-MEGA", 8),
    "a3-ultragpu-8g": ("H200", 8),
    "a3-ultragpu-8g-nolssd": ("H200", 8),
    "a4-highgpu-8g": ("B200", 8),
    **{f"g2-standard-{cores}": ("L4", 1) for cores in (4, 8, 12, 16, 32)},
    "g2-standard-24": ("L4", 2),
    "g2-standard-48": ("L4", 4),
    "g2-standard-96": ("L4", 8),
}
N1_GPUS = {"P4", "T4", "P100", "V100"}


def raw_lines(path: Path) -> list[Line]:
    """Return the lines by column; of a longer line (Azure's `V1,V2`) the header's columns."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    return [dict(zip(header, record, strict=False)) for record in records]


def settled(counts: Counter[str]) -> Counts:
    return counts.pop("kept", 0), dict(counts)


def of_reading(reading: Reading) -> Counts:
    assert reading.lines == len(reading.kept) + len(reading.wrong) + len(reading.out_of_scope)
    return len(reading.kept), reading.by_rule


def plain_counts(lines: list[Line]) -> Counts:
    return settled(Counter("kept" if line["AcceleratorName"] else "no_accelerator" for line in lines))


def azure_counts(lines: list[Line]) -> Counts:
    parts = {"Standard_NV4as_v4", "Standard_NV8as_v4", "Standard_NV16as_v4"}  # 1/8, 1/4, 1/2 of a card

    def fate(line: Line) -> str:
        if line["InstanceType"] in parts:
            assert line["AcceleratorCount"] == "1"
            return "gpu_count_wrong"
        return "kept" if line["AcceleratorName"] else "no_accelerator"

    return settled(Counter(map(fate, lines)))


def hosts_by_gpus(lines: list[Line]) -> dict[tuple[str, int, str], list[Line]]:
    """Return the hosts that take these GPUs, by GPU, count and zone."""
    found: dict[tuple[str, int, str], list[Line]] = defaultdict(list)
    for line in lines:
        if line["InstanceType"] in GPUS_OF_HOST:
            name, count = GPUS_OF_HOST[line["InstanceType"]]
            found[name, count, line["AvailabilityZone"]].append(line)
    return found


def gcp_counts(lines: list[Line]) -> Counts:
    hosts, seen = hosts_by_gpus(lines), set[tuple[str, ...]]()

    def fate(line: Line) -> str:
        name = line["AcceleratorName"]
        if line["InstanceType"] in GPUS_OF_HOST:
            return "host_price_zero" if float(line["Price"]) == 0 else "host_without_gpu"
        if not name:
            return "no_accelerator"
        key = tuple(line.values())
        if key in seen:
            return "duplicate_line"
        seen.add(key)
        if name in N1_GPUS or name.startswith("tpu-"):
            return "kept"
        fits = hosts.get((name, int(line["AcceleratorCount"]), line["AvailabilityZone"]))
        return "kept" if fits else "host_price_missing"

    return settled(Counter(map(fate, lines)))


COUNTS_OF = {"skypilot_azure_gpu_2026-05-20.csv": azure_counts, "skypilot_gcp_gpu_2026-05-20.csv": gcp_counts}


@pytest.mark.parametrize("name", SKYPILOT)
def test_skypilot_lines_are_kept_and_refused_as_the_raw_file_says(shared: Path, name: str) -> None:
    path = shared / "data" / "prices" / name
    reading = read_path("skypilot", path)
    assert of_reading(reading) == COUNTS_OF.get(name, plain_counts)(raw_lines(path))
    for error in [*reading.wrong.values(), *reading.out_of_scope.values()]:
        assert error.rule
        assert error.expected


def test_every_skypilot_file_is_in_this_test(shared: Path) -> None:
    assert sorted(path.name for path in (shared / "data" / "prices").glob("skypilot_*")) == SKYPILOT
    assert (
        sorted(path.name for path in (shared / "data" / "utilization" / "derived").iterdir()) == UTILIZATION
    )


@pytest.mark.parametrize("name", [name for name in SKYPILOT if "gcp" not in name])
def test_every_skypilot_price_is_the_price_in_the_raw_file(shared: Path, name: str) -> None:
    path = shared / "data" / "prices" / name
    reading, lines = read_path("skypilot", path), raw_lines(path)
    unknown_spot = "vast" in name
    for number, rows in reading.kept.items():
        line = lines[number - 2]
        on_demand, spot = rows
        assert isinstance(on_demand, PriceRow)
        assert isinstance(spot, PriceRow)
        assert on_demand.gpu_count == Decimal(line["AcceleratorCount"])
        assert on_demand.price_per_hour == (Decimal(line["Price"]) if line["Price"] else None)
        if unknown_spot:
            assert Decimal(line["SpotPrice"]) == 0
            assert (spot.state, spot.price_per_hour) == ("unknown", None)
        else:
            assert spot.price_per_hour == (Decimal(line["SpotPrice"]) if line["SpotPrice"] else None)


def test_every_google_machine_costs_its_gpus_and_its_host(shared: Path) -> None:
    path = shared / "data" / "prices" / "skypilot_gcp_gpu_2026-05-20.csv"
    lines = raw_lines(path)
    hosts, expected = hosts_by_gpus(lines), dict[tuple[str, str, str], Decimal | None]()
    for line in lines:
        name, count = line["AcceleratorName"], line["AcceleratorCount"]
        if not name or name in N1_GPUS or name.startswith("tpu-"):
            continue
        for host in hosts.get((name, int(count), line["AvailabilityZone"]), []):
            for column, term in (("Price", "on_demand"), ("SpotPrice", "spot")):
                known = line[column] and host[column] and float(host[column]) > 0
                total = Decimal(line[column]) + Decimal(host[column]) if known else None
                expected[host["InstanceType"], line["AvailabilityZone"], term] = total
    found = {
        (row.sku, row.zone, row.term): row.price_per_hour
        for row in read_path("skypilot", path).rows
        if isinstance(row, PriceRow) and row.sku in GPUS_OF_HOST
    }
    assert found == expected
    assert len(found) > 1000


def test_tpu_prices_are_those_of_the_raw_file_without_placeholders(shared: Path) -> None:
    path = shared / "data" / "prices" / "skypilot_gcp_gpu_2026-05-20.csv"
    chips = {"tpu-v5litepod-8": 8, "tpu-v6e-8": 8, "tpu-v5p-8": 4}
    expected = {}
    for line in raw_lines(path):
        if line["AcceleratorName"] in chips:
            for column, term in (("Price", "on_demand"), ("SpotPrice", "spot")):
                amount = None if line[column] == "700.0" else Decimal(line[column])
                key = (line["AcceleratorName"], line["AvailabilityZone"], term)
                expected[key] = (chips[line["AcceleratorName"]], amount)
    found = {
        (row.sku, row.zone, row.term): (row.gpu_count, row.price_per_hour)
        for row in read_path("skypilot", path).rows
        if isinstance(row, PriceRow) and row.sku in chips
    }
    assert found == expected


def test_the_eight_gpu_machine_of_azure_has_eight_in_every_region(shared: Path) -> None:
    path = shared / "data" / "prices" / "skypilot_azure_gpu_2026-05-20.csv"
    regions = sum(line["InstanceType"] == "Standard_ND96isr_H100_v5" for line in raw_lines(path))
    rows = [
        row
        for row in read_path("skypilot", path).rows
        if isinstance(row, PriceRow) and row.sku == "Standard_ND96isr_H100_v5"
    ]
    assert {row.gpu_count for row in rows} == {8}
    assert len(rows) == 2 * regions > 0


def test_ragged_azure_lines_are_read(shared: Path) -> None:
    path = shared / "data" / "prices" / "skypilot_azure_gpu_2026-05-20.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    ragged = {number for number, record in enumerate(records, 2) if len(record) == len(header) + 1}
    assert len(ragged) == 582
    reading = read_path("skypilot", path)
    assert ragged <= set(reading.kept) | {
        n for n, e in reading.out_of_scope.items() if e.rule == "gpu_count_wrong"
    }


# --- AWS ---


def product_fate(product: dict[str, object]) -> str:
    attributes = product["attributes"]
    assert isinstance(attributes, dict)
    if not attributes.get("instanceType"):
        return "free_tier"
    if not attributes.get("gpu"):
        return "no_accelerator"
    return "kept" if attributes["marketoption"] == "OnDemand" else "capacity_block"


def aws_products(path: Path) -> list[tuple[dict[str, object], Decimal]]:
    """Return each product with its one on-demand price."""
    document = json.loads(path.read_text())
    if "products" in document:
        terms = document["terms"]["OnDemand"]
        pairs = [(product, terms[sku]) for sku, product in document["products"].items()]
    else:
        items = [json.loads(text) for text in document["PriceList"]]
        pairs = [(item["product"], item["terms"]["OnDemand"]) for item in items]
    found = []
    for product, term_by_code in pairs:
        ((_, term),) = term_by_code.items()
        ((_, dimension),) = term["priceDimensions"].items()
        found.append((product, Decimal(dimension["pricePerUnit"]["USD"])))
    return found


@pytest.mark.parametrize(
    "name",
    ["aws_pricing_get_products_ec2_gpu_2026-09-10.json", "aws_offer_file_layout_ec2_gpu_2026-09-10.json"],
)
def test_aws_products_are_kept_and_refused_as_the_raw_file_says(shared: Path, name: str) -> None:
    path = shared / "data" / "prices" / name
    reading, products = read_path("aws_prices", path), aws_products(path)
    assert of_reading(reading) == settled(Counter(product_fate(product) for product, _ in products))
    expected = {}
    for product, price in products:
        if product_fate(product) == "kept":
            attributes = product["attributes"]
            assert isinstance(attributes, dict)
            key = (attributes["instanceType"], attributes["regionCode"])
            expected[key] = (Decimal(attributes["gpu"]), price)
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert {(row.sku, row.region): (row.gpu_count, row.price_per_hour) for row in rows} == expected
    assert all(price > 0 for _, price in expected.values())


def test_no_line_of_another_offer_is_kept(shared: Path) -> None:
    path = shared / "data" / "prices" / "aws_price_list_bulk_csv_comprehend_ap-south-1.csv"
    with path.open(encoding="utf-8", newline="") as file:
        records = [record for record in csv.reader(file) if record]
    reading = read_path("aws_prices", path)
    assert of_reading(reading) == (0, {"not_ec2": len(records) - 6})
    assert all(error.expected for error in reading.out_of_scope.values())


# --- use ---


@pytest.mark.parametrize("name", UTILIZATION)
def test_hours_are_kept_and_refused_as_the_raw_file_says(shared: Path, name: str) -> None:
    path = shared / "data" / "utilization" / "derived" / name
    daily = "date_local" in path.open(encoding="utf-8").readline()
    columns = (
        ("gpu_hours_reported", "gpu_hours_available", "gpu_hours_allocated")
        if daily
        else ("gpus_total", "gpus_allocated", "gpus_pending", "mean_gpu_utilization")
    )
    lines = raw_lines(path)
    fates = Counter("kept" if any(line[c] for c in columns) else "no_gpu_figures" for line in lines)
    reading = read_path("utilization_csv", path)
    assert of_reading(reading) == settled(fates)
    column = "gpu_hours_allocated" if daily else "gpus_allocated"
    rows = [row for row in reading.rows if isinstance(row, UtilizationRow)]
    gpu_hours = sum((row.gpus_allocated or Decimal(0)) * row.period_hours for row in rows)
    # a day's mean is rounded at the fourth place: at most 0.00005 GPUs times 25 hours, for each line
    tolerance = Decimal("0.00125") * len(lines) if daily else 0
    assert abs(gpu_hours - sum(Decimal(line[column] or 0) for line in lines)) <= tolerance


@pytest.mark.parametrize("year", [2024, 2025, 2026])
@pytest.mark.parametrize("name", [name for name in UTILIZATION if name.startswith("uchicago")])
def test_the_yearly_shares_of_the_chicago_series_are_those_published(
    shared: Path, name: str, year: int
) -> None:
    published = {2024: Decimal("56.9"), 2025: Decimal("59.3"), 2026: Decimal("78.5")}
    reading = read_path("utilization_csv", shared / "data" / "utilization" / "derived" / name)
    allocated = available = Decimal(0)
    for row in reading.rows:
        assert isinstance(row, UtilizationRow)
        if row.starts_at.year == year and row.gpus_available is not None and row.gpus_allocated is not None:
            allocated += row.gpus_allocated * row.period_hours
            available += row.gpus_available * row.period_hours
    assert abs(allocated / available * 100 - published[year]) <= Decimal("0.1")
