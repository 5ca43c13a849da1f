"""Compare what is kept of real files of Google and Oracle prices with what csv and json alone say of them."""

import csv
import gzip
import json
from collections import Counter, defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources.gcp_billing_skus import Category, Sku, meter_of

from .readings import Reading, read_path

pytestmark = pytest.mark.shared

Line = dict[str, str]
MACHINES = "commitments/gcp_gpu_machine_types_ondemand_spot_cud_2026-07-30.csv"
HISTORY = "spot/gcp_gpu_machine_price_changes_2022-02_2026-07.csv.gz"
CHANGES = "spot/azure_gcp_lambda_gpu_price_changes_2026-04-02_2026-05-20.csv.gz"
NINE = Decimal("0.000000001")
# which GPUs of the catalogue stand in which host of it
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


def raw_lines(path: Path) -> list[Line]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8", newline="") as packed:
            return list(csv.DictReader(packed))
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counts(reading: Reading) -> tuple[int, int, dict[str, int]]:
    assert reading.lines == len(reading.kept) + len(reading.wrong) + len(reading.out_of_scope)
    return reading.lines, len(reading.kept), reading.by_rule


def price_rows(reading: Reading) -> list[PriceRow]:
    rows = [row for row in reading.rows if isinstance(row, PriceRow)]
    assert len(rows) == len(reading.rows)
    return rows


def states(reading: Reading) -> Counter[tuple[str, str]]:
    return Counter((row.term, row.state) for row in price_rows(reading))


# --- Cloud Billing Catalog ---


def money(sku: dict[str, Any]) -> Decimal:
    amount = sku["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]
    return int(amount["units"]) + Decimal(amount["nanos"]) / 10**9


def test_seven_real_skus_make_a2_machines_and_leave_the_rest_by_name(shared: Path) -> None:
    path = shared / "data" / "prices" / "gcp_billing_skus_a100_opencost.json"
    skus = {sku["description"]: sku for sku in json.loads(path.read_text())["skus"]}
    gpu, core, ram = (
        skus[f"{words} running in Americas"]
        for words in ("Nvidia Tesla A100 GPU", "A2 Instance Core", "A2 Instance Ram")
    )
    # a2-highgpu-1g by hand: one GPU, 12 cores, 85 GiB
    by_hand = money(gpu) + 12 * money(core) + 85 * money(ram)
    assert by_hand == Decimal("2.933908") + 12 * Decimal("0.031611") + 85 * Decimal("0.004237")
    reading = read_path("gcp_billing", path)
    others = sum(1 for words in skus if words.startswith(("E2 ", "T2D ")))
    assert counts(reading) == (7, 1, {"part_of_machine": 2, "not_gpu_machine": others})
    found = {(row.sku, row.region): row.price_per_hour for row in price_rows(reading)}
    assert len(found) == 5 * len(gpu["serviceRegions"]) == 15
    for region in gpu["serviceRegions"]:
        assert found["a2-highgpu-1g", region] == by_hand == Decimal("3.673385")
        assert found["a2-megagpu-16g", region] == 16 * money(gpu) + 96 * money(core) + 1360 * money(ram)
    assert reading.scopes == {"gcp:part"}, "its last page names another"
    # the price of the calculator's table three years later is the same
    later = {(line["machine_type"], line["region"]): line for line in raw_lines(shared / "data" / MACHINES)}
    assert Decimal(later["a2-highgpu-1g", "us-central1"]["hour"]) == by_hand


def test_the_skus_of_kubernetes_are_not_machines(shared: Path) -> None:
    path = shared / "data" / "prices" / "gcp_billing_skus_gke_35rows_2025-08.json"
    services = Counter(s["category"]["serviceDisplayName"] for s in json.loads(path.read_text())["skus"])
    assert services == {"Kubernetes Engine": 35}
    assert counts(read_path("gcp_billing", path)) == (35, 0, {"not_compute_engine": 35})


def test_a_table_of_descriptions_holds_no_price_and_is_refused_for_that(shared: Path) -> None:
    path = shared / "data" / "prices" / "gcp_sku_description_mapping_cyclenerd.csv"
    assert not any("price" in column.lower() for column in raw_lines(path)[0])
    with pytest.raises(FileError) as caught:
        read_path("gcp_billing", path)
    assert caught.value.code == "patterns_without_prices"


def test_the_words_of_that_table_are_known_to_our_meters(shared: Path) -> None:
    path = shared / "data" / "prices" / "gcp_sku_description_mapping_cyclenerd.csv"
    ours = ("gpu.a100", "gpu.l4", "gpu.h100", "gpu.rtx6000")
    starts = [f"gce.compute.{name}" for name in ours]
    found = Counter[str]()
    for line in raw_lines(path):
        words, is_spot, _ = line["SKU_DESCRIPTION"].partition(" attached to Spot")
        words, is_on_demand, _ = words.partition(" running")
        if line["MAPPING"].startswith(tuple(starts)) and (is_spot or is_on_demand):
            tail = " attached to Spot Preemptible VMs" if is_spot else ""
            category = Category("Compute Engine", usageType="Preemptible" if is_spot else "OnDemand")
            meter = meter_of(Sku("X", f"{words}{tail} running in Iowa", category))
            assert meter.resource.startswith("GPU")
            found[meter.term] += 1
    # A100, A100 80GB, L4, H100, H100 Mega, RTX 6000
    assert found == {"on_demand": 6, "spot": 6}


# --- the table of machine prices ---


def test_every_machine_of_the_table_is_kept_with_the_terms_that_it_has(shared: Path) -> None:
    path = shared / "data" / MACHINES
    raw = raw_lines(path)
    reading = read_path("gcp_machine_prices", path)
    assert counts(reading) == (984, 984, {})
    missing = Counter(column for line in raw for column in ("month_1y", "month_3y") if not line[column])
    assert missing == {"month_1y": 167, "month_3y": 160}
    assert states(reading) == {
        ("on_demand", "priced"): 984,
        ("spot", "priced"): 984,
        ("reserved_1y", "priced"): 984 - 167,
        ("reserved_1y", "not_sold"): 167,
        ("reserved_3y", "priced"): 984 - 160,
        ("reserved_3y", "not_sold"): 160,
    }
    assert reading.info.as_of == datetime(2026, 7, 30, tzinfo=UTC)
    found = {(row.sku, row.region, row.term): row for row in price_rows(reading)}
    for line in raw:
        place = (line["machine_type"], line["region"])
        on_demand = found[(*place, "on_demand")]
        assert on_demand.price_per_hour == Decimal(line["hour"]).quantize(NINE)
        count = line["attached"].partition("=")[2].partition(";")[0]
        assert (on_demand.gpu_count, on_demand.vcpus) == (Decimal(count), Decimal(line["cpu"]))
        if line["month_1y"]:
            hourly = (Decimal(line["month_1y"]) / 730).quantize(NINE)
            assert found[(*place, "reserved_1y")].price_per_hour == hourly
    one_year = found["a3-highgpu-8g", "us-central1", "reserved_1y"].price_per_hour
    assert one_year == Decimal("61.383672143")


# --- the history ---


def test_every_change_is_kept_but_those_that_their_own_day_put_right(shared: Path) -> None:
    path = shared / "data" / HISTORY
    raw = raw_lines(path)
    last = {(line["date"], line["machine_type"], line["region"]): line for line in raw}
    reading = read_path("gcp_price_history", path)
    superseded = len(raw) - len(last)
    assert superseded == 17
    assert counts(reading) == (17_448, len(last), {"changed_again_same_day": superseded})
    expected = Counter[tuple[str, str]]()
    for line in last.values():
        expected["on_demand", "priced"] += 1
        if line["hour_spot"] or line["date"] >= "2023-05-08":
            expected["spot", "priced" if line["hour_spot"] else "not_sold"] += 1
        for term in ("1y", "3y"):
            expected[f"reserved_{term}", "priced" if line[f"month_{term}"] else "not_sold"] += 1
    assert states(reading) == expected
    assert expected["spot", "not_sold"] == 14


def test_blank_spot_prices_end_on_one_day_and_come_back_only_where_a_machine_is_new(shared: Path) -> None:
    """The evidence for reading a blank as unknown before 2023-05-08 and as not sold after it."""
    raw = raw_lines(shared / "data" / HISTORY)
    assert not any(line["hour_spot"] for line in raw if line["date"] < "2023-05-08")
    by_offer = defaultdict(list)
    for line in raw:
        by_offer[line["machine_type"], line["region"]].append(line)
    blank_later = [line for line in raw if not line["hour_spot"] and line["date"] >= "2023-05-08"]
    assert {(line["machine_type"][:2], line["date"]) for line in blank_later} == {("g4", "2026-05-14")}
    for line in blank_later:
        first, second = by_offer[line["machine_type"], line["region"]][:2]
        assert first is line
        assert (second["date"], bool(second["hour_spot"])) == ("2026-05-16", True)
    for lines in by_offer.values():
        known = [bool(line["hour_spot"]) for line in lines]
        assert known == sorted(known), "no price is followed by a blank"


def test_the_spot_price_of_an_h100_machine_more_than_doubled(shared: Path) -> None:
    reading = read_path("gcp_price_history", shared / "data" / HISTORY)
    spot = {
        f"{row.effective_from:%Y-%m-%d}": row.price_per_hour
        for row in price_rows(reading)
        if (row.sku, row.region, row.term) == ("a3-highgpu-8g", "us-central1", "spot")
    }
    assert spot["2025-11-06"] == Decimal("20.390156932")
    assert spot["2026-07-22"] == Decimal("50.609540822")


# --- catalogue changes ---


def half_of(line: Line) -> tuple[str, int, str]:
    return line["accelerator"], int(line["accelerator_count"] or 0), line["zone"]


def sums_of(raw: list[Line]) -> tuple[dict[tuple[str, str, str, str], Decimal | None], Counter[str]]:
    """Return what each machine costs at each moment that changes it, and what becomes of Google's lines."""
    moments = defaultdict(list)
    for line in raw:
        if line["cloud"] == "gcp":
            moments[line["observed_at"]].append(line)
    hosts: dict[tuple[str, str], Line] = {}
    gpus: dict[tuple[str, int, str], Line] = {}
    sums: dict[tuple[str, str, str, str], Decimal | None] = {}
    lines_of = Counter[str]()
    for at, group in moments.items():
        touched: dict[tuple[str, str], int] = {}
        for number, line in enumerate(group):
            if line["instance_type"]:
                hosts[line["instance_type"], line["zone"]] = line
                touched[line["instance_type"], line["zone"]] = number
            else:
                gpus[half_of(line)] = line
                for name, gpu in GPUS_OF_HOST.items():
                    if gpu == half_of(line)[:2]:
                        touched[name, line["zone"]] = number
        whole = {
            (name, zone): number
            for (name, zone), number in touched.items()
            if (name, zone) in hosts and (*GPUS_OF_HOST[name], zone) in gpus
        }
        for name, zone in whole:
            host, gpu = hosts[name, zone], gpus[(*GPUS_OF_HOST[name], zone)]
            for column in ("price", "spot_price"):
                parts = [Decimal(half[column] or 0) for half in (host, gpu)]
                sums[at, name, zone, column] = sum(parts) if all(parts) else None
        for number, line in enumerate(group):
            lines_of[fate(number, line, whole)] += 1
    return sums, lines_of


def fate(number: int, line: Line, whole: dict[tuple[str, str], int]) -> str:
    if number in whole.values():
        return "kept"
    if line["accelerator"] in ("T4", "V100", "P100", "P4"):
        return "gpu_without_host"
    names = (
        [line["instance_type"]]
        if line["instance_type"]
        else [name for name, gpu in GPUS_OF_HOST.items() if gpu == half_of(line)[:2]]
    )
    if any((name, line["zone"]) in whole for name in names):
        return "part_of_machine"
    return "gpu_price_missing" if line["instance_type"] else "host_price_missing"


def test_googles_halves_become_the_sums_that_they_make_at_each_moment(shared: Path) -> None:
    path = shared / "data" / CHANGES
    raw = raw_lines(path)
    sums, lines_of = sums_of(raw)
    partial = {"Standard_NV4as_v4", "Standard_NV8as_v4", "Standard_NV16as_v4"}
    wrong_counts = sum(1 for line in raw if line["instance_type"] in partial)
    others = sum(1 for line in raw if line["cloud"] != "gcp")
    reading = read_path("catalogue_changes", path)
    assert wrong_counts == 560
    kept = others - wrong_counts + lines_of.pop("kept")
    assert counts(reading) == (11_308, kept, {**lines_of, "gpu_count_wrong": wrong_counts})
    columns = {"on_demand": "price", "spot": "spot_price"}
    found = {
        (row.effective_from, row.sku, row.zone, columns[row.term]): row.price_per_hour
        for row in price_rows(reading)
        if row.provider == "gcp"
    }
    assert found == {(datetime.fromisoformat(at), *place): amount for (at, *place), amount in sums.items()}


def test_lines_of_the_other_clouds_are_observations_as_they_stand(shared: Path) -> None:
    path = shared / "data" / CHANGES
    partial = {"Standard_NV4as_v4", "Standard_NV8as_v4", "Standard_NV16as_v4"}
    raw = [
        line for line in raw_lines(path) if line["cloud"] != "gcp" and line["instance_type"] not in partial
    ]
    expected = {
        (datetime.fromisoformat(line["observed_at"]), line["instance_type"], line["region"], term): (
            Decimal(line[column]) if line[column] else None
        )
        for line in raw
        for term, column in (("on_demand", "price"), ("spot", "spot_price"))
    }
    reading = read_path("catalogue_changes", path)
    rows = [row for row in price_rows(reading) if row.provider != "gcp"]
    found = {(row.effective_from, row.sku, row.region, row.term): row.price_per_hour for row in rows}
    assert found == expected
    assert len(rows) == len(found), "no offer has two prices at one moment"
    assert {row.state for row in rows if row.price_per_hour is None} == {"not_sold"}
    removed = sum(1 for line in raw if line["event"] == "removed")
    reasons = Counter(row.state_reason for row in rows)
    assert reasons["the catalogue lists the offer no longer"] == 2 * removed
    assert reading.info.as_of == datetime(2026, 5, 20, 4, 50, 10, tzinfo=UTC)


def test_the_flapping_of_azure_meters_is_read_as_it_stands(shared: Path) -> None:
    reading = read_path("catalogue_changes", shared / "data" / CHANGES)
    steps = [
        row.price_per_hour
        for row in price_rows(reading)
        if (row.sku, row.region, row.term) == ("Standard_NC24ads_A100_v4", "westus2", "on_demand")
        and row.state == "priced"
    ]
    assert Decimal("4.777") in steps
    assert (steps[0], steps[-1]) == (Decimal("3.673"), Decimal("3.673"))


# --- Oracle ---


def test_seven_parts_of_oracles_list_become_twelve_machines(shared: Path) -> None:
    path = shared / "data" / "prices" / "oci_price_list_compute_2024-01.json"
    items = json.loads(path.read_text(), parse_float=Decimal)["items"]
    per_gpu = {
        item["partNumber"]: item["currencyCodeLocalizations"][0]["prices"][0]["value"]
        for item in items
        if item["metricName"] == "GPU Per Hour"
    }
    assert (len(items), len(per_gpu)) == (74, 7)
    reading = read_path("oci_prices", path)
    assert counts(reading) == (74, 7, {"not_gpu_hour": 74 - 7})
    found = {row.sku: row.price_per_hour for row in price_rows(reading)}
    assert found == {
        "BM.GPU2.2": 2 * per_gpu["B88517"],
        "VM.GPU2.1": per_gpu["B88518"],
        **{f"VM.GPU3.{count}": count * per_gpu["B89734"] for count in (1, 2, 4)},
        "BM.GPU3.8": 8 * per_gpu["B89734"],
        "BM.GPU4.8": 8 * per_gpu["B92740"],
        "BM.GPU.A100-v2.8": 8 * per_gpu["B95907"],
        **{f"VM.GPU.A10.{count}": count * per_gpu["B95909"] for count in (1, 2)},
        "BM.GPU.A10.4": 4 * per_gpu["B95909"],
        "BM.GPU.H100.8": 8 * per_gpu["B98415"],
    }
    assert found["BM.GPU.H100.8"] == 80
    assert reading.info.as_of == datetime(2024, 1, 1, tzinfo=UTC)
