"""State what the two bundled tables promise: facts with a unit, a reference and a date in every row."""

import csv
import json
import re
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal
from pathlib import Path
from statistics import median

import pytest

DATA = Path(__file__).resolve().parents[2] / "costs" / "data"
Row = dict[str, str]

RATES = ["fp32_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "int8_tops", "fp4_tflops"]
FIGURES = ["memory_gb", "memory_bandwidth_gb_s", "power_w", "link_gb_s_per_direction", *RATES]
ACCELERATOR_COLUMNS = [
    *["slug", "name", "vendor", "form_factor"],
    *FIGURES,
    *["launch_date", "reference", "reference_date", "aliases", "notes"],
]
PRICE_COLUMNS = [
    *["provider", "sku", "accelerator", "gpu_count", "region", "zone", "term", "payment", "usd_per_hour"],
    *["price_state", "effective_from", "source", "source_date", "notes"],
]
DESKTOP = {"workstation", "consumer"}
HYPERSCALERS = {"aws", "azure", "gcp"}
NEOCLOUDS = {"coreweave", "lambda", "nebius", "crusoe", "runpod", "together", "verda", "digitalocean"}
NEOCLOUDS |= {"vultr", "hyperstack"}
TERMS = {"on_demand", "spot", "reserved_1y", "reserved_3y"}
SPARSE_FIGURES_OF_MAKERS = [
    ("a100-sxm-80gb", "fp16_tflops", 624),
    ("a100-sxm-80gb", "int8_tops", 1248),
    ("h100-sxm-80gb", "fp16_tflops", 1979),
    ("h100-sxm-80gb", "fp8_tflops", 3958),
    ("h100-nvl-94gb", "fp16_tflops", 1671),
    ("l4-24gb", "fp16_tflops", 242),
    ("l4-24gb", "fp8_tflops", 485),
    ("l40s-48gb", "tf32_tflops", 366),
    ("l40s-48gb", "fp8_tflops", 1466),
    ("b200-sxm-180gb", "fp8_tflops", 9000),
    ("b200-sxm-180gb", "fp4_tflops", 18000),
]
NVLINK_BOTH_WAYS = [  # GB/s, as NVIDIA advertises it
    ("p100-sxm-16gb", 160),
    ("v100-sxm-16gb", 300),
    ("a100-sxm-80gb", 600),
    ("h100-sxm-80gb", 900),
    ("b200-sxm-180gb", 1800),
]


def _read(name: str, columns: list[str]) -> list[Row]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    assert reader.fieldnames == columns
    ragged = [row for row in rows if None in row or None in row.values()]
    assert ragged == []
    return rows


@pytest.fixture(scope="module")
def accelerators() -> list[Row]:
    return _read("accelerators.csv", ACCELERATOR_COLUMNS)


@pytest.fixture(scope="module")
def prices() -> list[Row]:
    return _read("list_prices.csv", PRICE_COLUMNS)


@pytest.fixture(scope="module")
def by_slug(accelerators: list[Row]) -> dict[str, Row]:
    return {row["slug"]: row for row in accelerators}


def _folded(name: str) -> str:
    """Return a name as the import compares it: no case, blanks, hyphens or underscores."""
    return re.sub(r"[\s_-]", "", name).lower()


def _names(row: Row) -> set[str]:
    return {_folded(name) for name in [row["slug"], row["name"], *row["aliases"].split("|")] if name}


@pytest.fixture(scope="module")
def slug_of(accelerators: list[Row]) -> dict[str, str]:
    return {name: row["slug"] for row in accelerators for name in _names(row)}


def _usd_per_gpu_hour(row: Row) -> Decimal:
    return Decimal(row["usd_per_hour"]) / Decimal(row["gpu_count"])


def test_a_slug_is_unique_and_fit_for_an_address(accelerators: list[Row]) -> None:
    slugs = [row["slug"] for row in accelerators]
    assert len(slugs) == len(set(slugs))
    assert [slug for slug in slugs if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)] == []


def test_a_spelling_belongs_to_one_accelerator_only(accelerators: list[Row]) -> None:
    owners = Counter(name for row in accelerators for name in _names(row))
    assert [name for name, count in owners.items() if count > 1] == []


def test_an_alias_is_written_once(accelerators: list[Row]) -> None:
    for row in accelerators:
        aliases = [_folded(alias) for alias in row["aliases"].split("|") if alias]
        assert len(aliases) == len(set(aliases)), row["slug"]


def test_every_accelerator_has_a_reference_read_on_a_day(accelerators: list[Row]) -> None:
    for row in accelerators:
        assert 10 <= len(row["reference"]) <= 400, row["slug"]
        assert date.fromisoformat(row["reference_date"]) >= date(2026, 1, 1), row["slug"]


def test_a_figure_is_positive_or_blank(accelerators: list[Row]) -> None:
    for row in accelerators:
        for column in FIGURES:
            if row[column]:
                assert Decimal("0") < Decimal(row[column]) < Decimal("100000"), (row["slug"], column)


def test_a_launch_comes_before_the_reading(accelerators: list[Row]) -> None:
    for row in accelerators:
        if row["launch_date"]:
            launch = date.fromisoformat(row["launch_date"])
            assert date(2012, 1, 1) <= launch <= date.fromisoformat(row["reference_date"]), row["slug"]


def test_forty_data_centre_cards_of_all_makers(accelerators: list[Row], by_slug: dict[str, Row]) -> None:
    data_centre = [row for row in accelerators if row["form_factor"] not in DESKTOP]
    assert len(data_centre) >= 40
    assert {"NVIDIA", "AMD", "Intel", "Google", "AWS"} <= {row["vendor"] for row in data_centre}
    expected = ["mi300x-192gb", "tpu-v5e", "trainium2", "inferentia2", "gaudi2", "gaudi3", "l4-24gb"]
    assert [slug for slug in expected if slug not in by_slug] == []


def test_forty_of_them_state_memory_bandwidth_power_and_a_rate(accelerators: list[Row]) -> None:
    needed = ["memory_gb", "memory_bandwidth_gb_s", "power_w"]
    stated = [
        row["slug"]
        for row in accelerators
        if row["form_factor"] not in DESKTOP
        and all(row[column] for column in needed)
        and any(row[column] for column in RATES)
    ]
    assert len(stated) >= 40


@pytest.mark.parametrize(("slug", "column", "with_sparsity"), SPARSE_FIGURES_OF_MAKERS)
def test_rates_are_dense(by_slug: dict[str, Row], slug: str, column: str, with_sparsity: int) -> None:
    assert float(by_slug[slug][column]) * 2 == pytest.approx(with_sparsity, rel=0.02)


def test_a_narrower_format_is_never_slower(accelerators: list[Row]) -> None:
    order = ["fp32_tflops", "tf32_tflops", "fp16_tflops", "fp8_tflops", "fp4_tflops"]
    for row in accelerators:
        rates = [float(row[column]) for column in order if row[column]]
        assert rates == sorted(rates), row["slug"]


def test_nvidia_doubles_its_tensor_rate_with_each_halving(accelerators: list[Row]) -> None:
    """A dense figure beside one with sparsity would show as a factor of 4 or 1."""
    for row in accelerators:
        if row["vendor"] != "NVIDIA" or not row["fp16_tflops"]:
            continue
        half = float(row["fp16_tflops"])
        for column in ("fp8_tflops", "int8_tops"):
            if row[column]:
                assert float(row[column]) / half == pytest.approx(2, rel=0.03), (row["slug"], column)
        if row["tf32_tflops"]:
            assert half / float(row["tf32_tflops"]) == pytest.approx(2, rel=0.03), row["slug"]


@pytest.mark.parametrize(("slug", "both_ways"), NVLINK_BOTH_WAYS)
def test_links_count_one_direction(by_slug: dict[str, Row], slug: str, both_ways: int) -> None:
    assert Decimal(by_slug[slug]["link_gb_s_per_direction"]) * 2 == both_ways


def test_a_package_counts_all_its_dies(by_slug: dict[str, Row]) -> None:
    """Public tables list one of two dies for Blackwell, and wrong memory for the MI300 series."""
    wrong = {"b200-sxm-180gb": 90, "b300-sxm-288gb": 144, "mi325x-256gb": 288, "mi300a-128gb": 192}
    right = {"b200-sxm-180gb": 180, "b300-sxm-288gb": 288, "mi325x-256gb": 256, "mi300a-128gb": 128}
    for slug, memory in right.items():
        assert Decimal(by_slug[slug]["memory_gb"]) == memory != wrong[slug]
    assert Decimal(by_slug["mi300x-192gb"]["memory_bandwidth_gb_s"]) == 5300  # not 10,300


def test_a_short_name_means_what_the_notes_say(slug_of: dict[str, str]) -> None:
    meant = {
        "A100": "a100-sxm-40gb",
        "A100-80GB": "a100-sxm-80gb",
        "H100": "h100-sxm-80gb",
        "H100-MEGA": "h100-sxm-80gb",
        "Standard_NC40ads_H100_v5": "h100-nvl-94gb",
        "gpu_1x_h100_pcie": "h100-pcie-80gb",
        "p5.48xlarge": "h100-sxm-80gb",
        "g6f.large": "l4-24gb",
        "tpu-v5p-8": "tpu-v5p",
    }
    assert {name: slug_of[_folded(name)] for name in meant} == meant


def test_an_offer_states_one_price_per_term(prices: list[Row]) -> None:
    columns = ["provider", "sku", "region", "zone", "term", "payment"]
    keys = Counter(tuple(row[column] for column in columns) for row in prices)
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_sku_always_holds_the_same_accelerators(prices: list[Row], by_slug: dict[str, Row]) -> None:
    held = defaultdict(set)
    for row in prices:
        assert row["accelerator"] in by_slug, row
        assert 0 < Decimal(row["gpu_count"]) <= 1024, row
        held[row["provider"], row["sku"]].add((row["accelerator"], row["gpu_count"]))
    assert {sku: what for sku, what in held.items() if len(what) > 1} == {}


def test_a_price_row_uses_the_known_words(prices: list[Row]) -> None:
    for row in prices:
        assert re.fullmatch(r"[a-z]+", row["provider"]), row
        assert row["region"], row
        assert row["term"] in TERMS, row
        committed_and_priced = row["term"].startswith("reserved") and row["price_state"] == "priced"
        payments = {"no_upfront", "partial_upfront", "all_upfront"} if committed_and_priced else {""}
        assert row["payment"] in payments, row


def test_a_price_stands_only_where_the_state_says_so(prices: list[Row]) -> None:
    for row in prices:
        assert row["price_state"] in {"priced", "not_sold", "reservation_only", "unknown"}, row
        assert bool(row["usd_per_hour"]) == (row["price_state"] == "priced"), row
        assert row["usd_per_hour"] or 5 <= len(row["notes"]) <= 200, f"no price and no reason: {row}"


def test_every_price_has_a_source_and_a_date(prices: list[Row]) -> None:
    for row in prices:
        assert 10 <= len(row["source"]) <= 400, row
        assert date(2024, 1, 1) <= date.fromisoformat(row["effective_from"]), row
        assert date.fromisoformat(row["effective_from"]) <= date.fromisoformat(row["source_date"]), row
    fresh = [row for row in prices if row["source_date"] >= "2026"]
    assert len(fresh) / len(prices) > 0.95


def test_forty_offers_over_the_clouds(prices: list[Row]) -> None:
    offers = {(row["provider"], row["sku"], row["region"]) for row in prices if row["usd_per_hour"]}
    assert len(offers) >= 40
    providers = {provider for provider, _, _ in offers}
    assert providers >= HYPERSCALERS
    assert len(providers & NEOCLOUDS) >= 6


def test_every_term_is_there_and_spot_on_each_hyperscaler(prices: list[Row]) -> None:
    priced = {(row["provider"], row["term"]) for row in prices if row["usd_per_hour"]}
    assert {(cloud, term) for cloud in HYPERSCALERS for term in ("on_demand", "spot")} <= priced
    assert {("aws", "reserved_1y"), ("gcp", "reserved_1y"), ("gcp", "reserved_3y")} <= priced


def test_a_gpu_hour_costs_between_cents_and_25_dollars(prices: list[Row]) -> None:
    for row in prices:
        if row["usd_per_hour"]:
            assert Decimal("0.03") <= _usd_per_gpu_hour(row) <= Decimal("25"), row


def test_on_demand_prices_of_one_accelerator_are_of_one_size(prices: list[Row]) -> None:
    """A price per GPU where one per instance belongs, or the reverse, is off by the GPU count (mostly 8)."""
    found = defaultdict(list)
    for row in prices:
        if row["usd_per_hour"] and row["term"] == "on_demand":
            found[row["accelerator"]].append(_usd_per_gpu_hour(row))
    compared = {slug: costs for slug, costs in found.items() if len(costs) >= 3}
    assert len(compared) >= 8
    for slug, costs in compared.items():
        assert max(costs) < 5 * median(costs), slug
        assert min(costs) > median(costs) / 5, slug


def test_interruption_and_commitment_make_it_cheaper(prices: list[Row]) -> None:
    costs = defaultdict(list)
    for row in prices:
        if row["usd_per_hour"]:
            offer = (row["provider"], row["sku"], row["region"], row["term"])
            costs[offer].append(Decimal(row["usd_per_hour"]))
    pairs = [("spot", "on_demand"), ("reserved_1y", "on_demand"), ("reserved_3y", "reserved_1y")]
    compared = 0
    for provider, sku, region, term in list(costs):
        for cheaper, dearer in pairs:
            other = (provider, sku, region, dearer)
            if term == cheaper and other in costs:
                compared += 1
                assert max(costs[provider, sku, region, cheaper]) < min(costs[other]), (sku, region, cheaper)
    assert compared >= 60


def test_the_prices_that_the_sample_scenarios_need(prices: list[Row]) -> None:
    costs = {
        (row["provider"], row["sku"], row["region"], row["zone"], row["term"]): Decimal(row["usd_per_hour"])
        for row in prices
        if row["usd_per_hour"]
    }
    assert costs["aws", "p5.48xlarge", "us-east-1", "", "on_demand"] == Decimal("55.04")
    assert any(key[:3] == ("aws", "p5.48xlarge", "us-east-1") and key[4] == "spot" for key in costs)
    # Google states a month of 730 hours: 44,810.08 and 28,371.00 USD
    h100 = ("gcp", "a3-highgpu-8g", "us-central1", "")
    assert costs[*h100, "reserved_1y"] * 730 == pytest.approx(Decimal("44810.08"), abs=Decimal("0.01"))
    assert costs[*h100, "reserved_3y"] * 730 == pytest.approx(Decimal("28371.00"), abs=Decimal("0.01"))


def test_the_tables_name_public_places_only() -> None:
    for name in ("accelerators.csv", "list_prices.csv"):
        text = (DATA / name).read_text(encoding="utf-8")
        assert not re.search(r"\.\./|localhost|file:|(?<![:\w/])/\w+/", text)
        assert not re.search(r'(^|,|\n)"?[=+@\t]', text), "a cell could start a spreadsheet formula"


@pytest.mark.shared
def test_every_name_of_the_catalogues_is_known(shared: Path, slug_of: dict[str, str]) -> None:
    unknown = set()
    files = sorted((shared / "data" / "prices").glob("skypilot_*.csv"))
    assert len(files) >= 10
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            names = {(row["AcceleratorName"] or "").strip() for row in csv.DictReader(file)}
        unknown |= {(path.name, name) for name in names if name and _folded(name) not in slug_of}
    assert unknown == set()


@pytest.mark.shared
def test_every_accelerated_instance_of_aws_is_known(shared: Path, slug_of: dict[str, str]) -> None:
    prices_folder = shared / "data" / "prices"
    listed = json.loads((prices_folder / "aws_gpu_instances_all_regions_2026-01-21.json").read_text())
    on_demand = prices_folder / "aws_ondemand_us-east-1_accelerated_2026-07-20.csv"
    with on_demand.open(encoding="utf-8", newline="") as file:
        types = {row["instance_type"] for row in csv.DictReader(file)}
    types |= {entry["name"] for entry in listed}
    # vt1 holds video transcoders, which are no accelerators for this product
    assert {name for name in types if _folded(name) not in slug_of and not name.startswith("vt1.")} == set()
