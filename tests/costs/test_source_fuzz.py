"""State that no bytes at all make a source fail in any way but its own."""

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.rows import FileError
from costs.sources import (
    SOURCES,
    accelerators,
    aliases,
    list_prices,
    machine_types,
    quotes_csv,
    skypilot,
    utilization_csv,
)

from .gcp_skus import SEEDS as SEEDS_GCP
from .readings import Reading, read_bytes
from .seeds_aws_held import SEEDS as SEEDS_AWS_HELD
from .seeds_azure_fx import SEEDS as SEEDS_AZURE_FX
from .seeds_quotas import SEEDS as SEEDS_QUOTAS
from .seeds_spot import NAMES as NAMES_SPOT
from .seeds_spot import SEEDS as SEEDS_SPOT

DATA = Path(__file__).resolve().parent.parent / "data"
SEEDS = {
    "accelerators": [accelerators.TEMPLATE.encode()],
    "list_prices": [list_prices.TEMPLATE.encode()],
    "utilization_csv": [utilization_csv.TEMPLATE.encode()],
    "skypilot": [
        skypilot.TEMPLATE.encode(),
        b"InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n"
        b"a2-highgpu-8g,96.0,680.0,,,,us-central1,us-central1-a,5.91582,2.958\n"
        b",,,A100,8,,us-central1,us-central1-a,23.47126,11.4728\n"
        b",,,tpu-v6e-8,1,tpu-v6e-8,us-central1,us-central1-a,21.6,700.0\n",
    ],
    "aws_prices": [
        (DATA / name).read_bytes()
        for name in ("aws_bulk_ec2.csv", "aws_get_products.json", "aws_offer_ec2.json")
    ],
    "aws_savings_plans": [path.read_bytes() for path in sorted(DATA.glob("aws_savings_plans*"))],
}
SEEDS |= SEEDS_AZURE_FX
SEEDS |= {
    "aliases": [aliases.TEMPLATE.encode()],
    "machine_types": [machine_types.TEMPLATE.encode()],
    "quotes": [quotes_csv.TEMPLATE.encode()],
    "gpu_offerings": [
        b'[{"id": "a", "provider_id": "vast-ai", "gpu_model": "NVIDIA A100 PCIe", "vram_gb": 40, '
        b'"tier": "spot", "is_spot": true, "price_usd_hour": 1.25, "caveats": ["Spot price estimated"], '
        b'"source_url": "https://example.com", "collected_at": "2026-05-24"}]'
    ],
    "market_history": [
        b'{"timestamp": "2025-10-19T21:01:58+00:00", "gpu_type": "H100_80GB", "socket_type": "SXM5", '
        b'"by_provider": {"runpod": {"count": 4, "min": 2.69}, "dc_roan": {"count": 1, "min": 1.99}}}\n'
        b'{"timestamp": "2025-10-19T21:46:58+00:00", "gpu_type": "H100_80GB", "socket_type": "SXM5", '
        b'"by_provider": {"runpod": {"count": 4, "min": 2.69}}}\n'
    ],
    "gpuhunt_catalogue": [
        b"instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,gpu_vendor,flags\n"
        b"g4-standard-6,us-central1-a,0.56,6,22.0,1,RTXPRO6000,12.0,False,nvidia,gcp-g4\n"
        b"v5p-8,us-central1-a,16.8,208,448.0,1,v5p-8,95.0,True,google,\n"
    ],
}
SEEDS |= SEEDS_AWS_HELD
SEEDS |= SEEDS_QUOTAS
SEEDS |= SEEDS_SPOT
SEEDS |= SEEDS_GCP
NAMES = {
    "azure_usage": "usage_eastus.csv",
    "price_table": "aws.csv",
    "price_history_table": "aws_us-east-1.csv",
    "aws_capacity_block_offers": "of_2026-11-30.csv",
    "skypilot": "skypilot_gcp_2026-05-20.csv",
    "gpuhunt_catalogue": "gcp.csv",
}
NAMES |= NAMES_SPOT
CSVS = [
    *("quota_csv", "quota_requests_csv"),
    *("price_table", "price_history_table"),
    *("accelerators", "list_prices", "utilization_csv", "skypilot"),
    *("aliases", "machine_types", "quotes", "gpuhunt_catalogue"),
    *("gcp_machine_prices", "gcp_price_history", "catalogue_changes"),
]
CELLS = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "NaN",
        "1e400",
        "1e99",
        "9" * 50,
        "1_000",
        "１２",
        "1,5",
        '"',
        "\x1f",
        "|",
        "(verdict)",
        "é",
        "\u2028",
    ]
)
RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_or_refuse(source: str, data: bytes, name: str) -> None:
    try:
        reading = read_bytes(source, data, name)
    except FileError as caught:
        refusal = caught
    else:
        _check(reading)
        return
    assert refusal.code
    assert refusal.expected


def _check(reading: Reading) -> None:
    refused = [*reading.wrong.values(), *reading.out_of_scope.values()]
    assert len(reading.kept) + len(refused) == reading.lines
    assert all(error.rule for error in refused)
    assert all(error.expected for error in refused)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("ending", [".csv", ".json", ".csv.gz"])
@RELAXED
@given(data=st.binary(max_size=2000))
def test_random_bytes_are_refused(source: str, ending: str, data: bytes) -> None:
    read_or_refuse(source, data, NAMES.get(source, "file.csv").replace(".csv", ending))


@pytest.mark.parametrize("source", SOURCES)
@RELAXED
@given(seed=st.integers(0, 2**32), cuts=st.integers(1, 8), pick=st.integers(0, 10))
def test_garbled_files_are_read_or_refused(source: str, seed: int, cuts: int, pick: int) -> None:
    chance = random.Random(seed)
    data = bytearray(SEEDS[source][pick % len(SEEDS[source])])
    for _ in range(cuts):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + chance.randrange(1, 40)]
        elif kind == 2:
            data[at:at] = data[chance.randrange(len(data)) :][: chance.randrange(1, 40)]
        else:
            data[at:at] = chance.choice([b'"', b",", b"\n", b"\r", b"{", b"}", b"[", b"]", b":", b"\\"])
        if not data:
            break
    name = NAMES.get(source, "file.csv")
    read_or_refuse(source, bytes(data), name)
    packed = gzip.compress(bytes(data))
    read_or_refuse(source, packed[: chance.randrange(len(packed) + 1)], name + ".gz")


@pytest.mark.parametrize("source", CSVS)
@RELAXED
@given(column=st.integers(0, 30), cell=CELLS)
def test_any_cell_may_hold_anything(source: str, column: int, cell: str) -> None:
    for seed in SEEDS[source]:
        lines = seed.decode().splitlines()
        for at in range(1, len(lines)):
            fields = lines[at].split(",")
            fields[column % len(fields)] = '"' + cell.replace('"', '""') + '"'
            changed = [*lines[:at], ",".join(fields), *lines[at + 1 :], ""]
            read_or_refuse(source, "\n".join(changed).encode(), NAMES.get(source, "file.csv"))


@RELAXED
@given(st.text(max_size=200))
def test_any_text_in_place_of_a_product_is_refused_alone(text: str) -> None:
    items = json.loads((DATA / "aws_get_products.json").read_text())["PriceList"]
    answer = {"FormatVersion": "aws_v1", "PriceList": [text, *items]}
    reading = read_bytes("aws_prices", json.dumps(answer).encode(), "a.json")
    assert 1 in reading.wrong or 1 in reading.out_of_scope
    assert len(reading.kept) == 2, "the p4d and the p5 that follow"
