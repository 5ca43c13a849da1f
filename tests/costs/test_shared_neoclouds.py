"""Hold neocloud prices against the real samples: counts worked out from the raw files alone."""

import csv
import gzip
import json
import re
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from costs.gate import Known
from costs.ingest import ingest
from costs.models import Price
from costs.names import accelerator_key
from costs.rows import PriceRow
from costs.sources import (
    aliases,
    gpu_offerings,
    gpuhunt_catalogue,
    machine_types,
    market_history,
    quotes_csv,
)

from .conftest import A_MOMENT, Take
from .readings import Reading, read_path

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def data(shared: Path) -> Path:
    return shared / "data"


OFFERINGS = "neocloud_offerings_2026-05-24.json"


@pytest.fixture(scope="module")
def offers(data: Path) -> list[dict[str, object]]:
    found = json.loads((data / "prices" / OFFERINGS).read_text(encoding="utf-8"), parse_float=Decimal)
    assert len(found) == 310
    return list(found)


@pytest.fixture(scope="module")
def offerings(data: Path) -> Reading:
    return read_path("gpu_offerings", data / "prices" / OFFERINGS)


def _says(offer: dict[str, object], words: str) -> bool:
    return words in f"{offer.get('caveats')} {offer.get('notes')}"


def test_every_offer_is_kept_and_no_estimate_is_a_price(
    offers: list[dict[str, object]], offerings: Reading
) -> None:
    assert (offerings.lines, offerings.by_rule) == (310, {})
    assert offerings.info.as_of == datetime(2026, 5, 24, tzinfo=UTC)
    apart = {offer["id"] for offer in offers if _says(offer, "billed separately")}
    guessed = {
        offer["id"] for offer in offers if _says(offer, "estimated") or _says(offer, "approximate price")
    }
    # CoreWeave Classic 13, Salad 34, Modal 10
    assert (len(apart), len(guessed), apart & guessed) == (57, 14, set())
    rows = _prices(offerings)
    assert {row.sku for row in rows if row.state == "unknown"} == apart | guessed
    assert {row.sku: row.price_per_hour for row in rows if row.state == "priced"} == {
        offer["id"]: offer["price_usd_hour"] for offer in offers if offer["id"] not in apart | guessed
    }


def test_all_21_sellers_of_the_offers_are_there_under_our_names(
    offers: list[dict[str, object]], offerings: Reading
) -> None:
    theirs = {str(offer["provider_id"]) for offer in offers}
    assert len(theirs) == 21
    ours = {"vast-ai": "vast", "jarvis-labs": "jarvislabs"}
    assert offerings.scopes == {ours.get(name, name) for name in theirs}


def test_what_can_be_interrupted_is_spot(offers: list[dict[str, object]], offerings: Reading) -> None:
    spot = {offer["id"] for offer in offers if offer["is_spot"]}
    assert len(spot) == 119
    assert {row.sku for row in _prices(offerings) if row.term == "spot"} == spot


def test_names_of_the_offers_lead_to_the_card_of_the_stated_memory(
    offers: list[dict[str, object]], offerings: Reading
) -> None:
    """Left over are cards for games, altered ones, and two offers whose memory no such card has."""
    memory, known = _memory_by_slug(), _known()
    stated = {offer["id"]: Decimal(str(offer["vram_gb"])) for offer in offers}
    unknown = Counter[str]()
    for row in _prices(offerings):
        slug = known.slug_of(row.sku, row.accelerator_name)
        if slug is None:
            unknown[row.accelerator_name] += 1
        else:
            assert abs(stated[row.sku] - memory[slug]) <= memory[slug] / 8, row
    games = {name for name in unknown if re.match(r"(GTX|RTX) \d{4}|Quadro RTX [45]000", name)}
    assert set(unknown) - games == {"NVIDIA B300 180GB", "NVIDIA L40 40GB"}
    assert unknown.total() == 37


def _prices(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


def _accelerators() -> list[dict[str, str]]:
    path = Path(__file__).resolve().parents[2] / "costs" / "data" / "accelerators.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _memory_by_slug() -> dict[str, Decimal]:
    return {row["slug"]: Decimal(row["memory_gb"]) for row in _accelerators() if row["memory_gb"]}


def _known() -> Known:
    return Known({
        accelerator_key(name): row["slug"]
        for row in _accelerators()
        for name in (row["slug"], row["name"], *row["aliases"].split("|"))
        if name
    })  # fmt: skip


HISTORY = "neocloud_history_2025-10_2025-11"


def _snapshots(path: Path) -> list[dict[str, object]]:
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    return [json.loads(line, parse_float=Decimal) for line in lines]


@pytest.mark.parametrize(
    ("name", "card", "snapshots"),
    [
        ("A100_80GB_PCIe", "a100-pcie-80gb", 957),
        ("A100_80GB_SXM4", "a100-sxm-80gb", 957),
        ("B200_180GB", "b200-sxm-180gb", 957),
        ("GH200_96GB", "gh200-96gb", 752),
        ("H100_80GB_PCIe", "h100-pcie-80gb", 957),
        ("H100_80GB_SXM5", "h100-sxm-80gb", 957),
        ("H200_141GB", "h200-sxm-141gb", 957),
    ],
)
def test_every_snapshot_of_the_marketplace_gives_each_sellers_lowest_price(
    data: Path, name: str, card: str, snapshots: int
) -> None:
    """6,494 in all; a seller that was there the time before and is not now has none from then on."""
    path = data / "prices" / HISTORY / f"{name}.jsonl.gz"
    reading, raw = read_path("market_history", path), _snapshots(path)
    assert (reading.lines, len(raw), reading.by_rule) == (snapshots, snapshots, {})
    stated: list[tuple[datetime, Decimal | None]] = []
    before: set[str] = set()
    for snapshot in raw:
        sellers = snapshot["by_provider"]
        assert isinstance(sellers, dict)
        at = datetime.fromisoformat(str(snapshot["timestamp"]))
        stated += [(at, figures["min"]) for figures in sellers.values()]
        stated += [(at, None)] * len(before - set(sellers))
        before = set(sellers)
    rows = _prices(reading)
    found = [(row.effective_from, row.price_per_hour) for row in rows]
    assert Counter(found) == Counter(stated)
    assert len(reading.scopes) == 1
    known = _known()
    assert {known.slug_of(row.sku, row.accelerator_name) for row in rows} == {card}


def test_what_is_stored_of_a_recording_gives_every_snapshot_back(db: None, data: Path, take: Take) -> None:
    """752 snapshots, of which change points are kept: at each moment the sellers then listed."""
    path = data / "prices" / HISTORY / "GH200_96GB.jsonl.gz"
    run = ingest("market_history", file=path, name=path.name, params={}, requested_by="shell", now=A_MOMENT)
    assert (run.lines_read, run.lines_kept, run.lines_rejected) == (752, 752, 0)
    assert run.as_of == datetime.fromisoformat(str(_snapshots(path)[-1]["timestamp"]))
    steps = list(
        Price.objects.filter(source="market_history").values_list(
            "sku__provider", "effective_from", "effective_to", "price_per_hour"
        )
    )
    for snapshot in _snapshots(path):
        at = datetime.fromisoformat(str(snapshot["timestamp"]))
        sellers = snapshot["by_provider"]
        assert isinstance(sellers, dict)
        listed = {name.replace("lambdalabs", "lambda"): each["min"] for name, each in sellers.items()}
        assert listed == {
            provider: amount
            for provider, starts, ends, amount in steps
            if starts <= at and (ends is None or at < ends) and amount is not None
        }


def test_the_daily_sample_says_what_the_recording_says(data: Path) -> None:
    sample = read_path("market_history", data / "prices" / "neocloud_h100_sxm5_daily_sample.jsonl")
    whole = read_path("market_history", data / "prices" / HISTORY / "H100_80GB_SXM5.jsonl.gz")
    assert (sample.lines, sample.by_rule) == (29, {})

    def priced(reading: Reading) -> set[tuple[object, ...]]:
        return {
            (row.provider, row.zone, row.effective_from, row.price_per_hour)
            for row in _prices(reading)
            if row.state == "priced"
        }

    assert priced(sample) <= priced(whole)
    assert len(priced(sample)) == 162


def test_own_files_are_recognised_and_no_others(data: Path) -> None:
    ours = {
        "gpu_offerings": [data / "prices" / OFFERINGS],
        "market_history": [
            *sorted((data / "prices" / HISTORY).iterdir()),
            data / "prices" / "neocloud_h100_sxm5_daily_sample.jsonl",
        ],
    }
    sources = (aliases, gpu_offerings, gpuhunt_catalogue, machine_types, market_history, quotes_csv)
    folders = ("prices", "commitments", "spot", "quotas")
    files = [path for folder in folders for path in (data / folder).rglob("*") if path.is_file()]
    assert len(files) > 90
    for path in files:
        head = _head(path)
        wanted = {name for name, paths in ours.items() if path in paths}
        found = {source.NAME for source in sources if source.looks_like(head, path.name)}
        assert found == wanted, path.name


def _head(path: Path) -> str:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return data[: 64 << 10].decode("utf-8", "replace")
