"""State how a hand-kept list of neocloud offers is read, and which of its prices are none."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import gpu_offerings
from costs.sources.card_names import card_name

from .readings import Reading, packed, read_bytes, read_text

OFFER: dict[str, Any] = {
    "id": "example-h100-sxm-on-demand", "provider_id": "example", "gpu_model": "NVIDIA HGX H100",
    "gpu_brand": "NVIDIA", "vram_gb": 80, "interconnect": "SXM", "tier": "on-demand", "is_spot": False,
    "price_usd_hour": 2.95, "vcpu": None, "ram_gb": None, "notes": "Hopper",
    "source_url": "https://example.com/pricing", "collected_at": "2026-05-24",
}  # fmt: skip


def _read(*offers: Any) -> Reading:
    return read_text("gpu_offerings", json.dumps(offers), "offers.json")


def _one(**changes: Any) -> PriceRow:
    reading = _read({**OFFER, **changes})
    assert reading.by_rule == {}
    [row] = reading.rows
    assert isinstance(row, PriceRow)
    return row


def test_an_offer_is_the_price_of_one_gpu_for_one_hour() -> None:
    row = _one()
    assert (row.provider, row.sku, row.gpu_count) == ("example", "example-h100-sxm-on-demand", Decimal(1))
    assert (row.accelerator_name, row.term, row.region) == ("NVIDIA HGX H100", "on_demand", "global")
    assert (row.state, row.price_per_hour, row.currency) == ("priced", Decimal("2.95"), "USD")
    assert row.observed_on == date(2026, 5, 24)
    assert row.reference == "https://example.com/pricing (2026-05-24)"


def test_a_price_keeps_the_digits_it_is_written_with() -> None:
    text = json.dumps([OFFER]).replace("2.95", "2.949999999")
    [row] = read_text("gpu_offerings", text, "offers.json").rows
    assert isinstance(row, PriceRow)
    assert row.price_per_hour == Decimal("2.949999999")


def test_the_file_is_as_of_its_newest_offer() -> None:
    reading = _read(OFFER, {**OFFER, "id": "b", "collected_at": "2026-05-25"})
    assert reading.info.as_of == datetime(2026, 5, 25, tzinfo=UTC)


@pytest.mark.parametrize(
    ("tier", "is_spot", "term"),
    [
        ("on-demand", False, "on_demand"),
        ("secure", False, "on_demand"),
        ("production", False, "on_demand"),
        ("community", False, "on_demand"),
        ("spot", True, "spot"),
        ("marketplace", True, "spot"),
        ("community", True, "spot"),
        ("prototyping", True, "spot"),
    ],
)
def test_what_can_be_interrupted_is_spot_whatever_it_is_called(tier: str, is_spot: bool, term: str) -> None:
    assert _one(tier=tier, is_spot=is_spot).term == term


@pytest.mark.parametrize(
    "caveat",
    [
        "vCPU $0.01/h and RAM $0.005/GB/h billed separately",
        "vCPU/RAM billed separately: $0.004/vCPU/h + $0.001/GB/h.",
        "Serverless billing per second (idle-free); CPU/RAM/storage billed separately",
    ],
)
def test_a_gpu_whose_vcpus_are_billed_apart_is_not_the_price_of_a_machine(caveat: str) -> None:
    """Oddity 16: CoreWeave Classic bills vCPU and RAM apart."""
    row = _one(caveats=[caveat])
    assert (row.state, row.price_per_hour) == ("unknown", None)
    assert row.state_reason == f"2.95 USD per hour is for the GPU alone: {caveat}"
    assert caveat in row.reference


@pytest.mark.parametrize(
    "changes",
    [
        {"caveats": ["Spot price estimated (-56%); exact per-GPU price not published by provider"]},
        {"caveats": ["Cheapest host", "Interruptible estimated at ~50% of on-demand"]},
        {"notes": "Hopper, approximate price"},
    ],
)
def test_an_estimate_is_nobodys_price(changes: dict[str, Any]) -> None:
    """Oddity 12: a price that is not published is unknown, never guessed."""
    row = _one(**changes)
    assert (row.state, row.price_per_hour) == ("unknown", None)
    assert row.state_reason.startswith("2.95 USD per hour is an estimate: ")


def test_other_caveats_go_with_the_price() -> None:
    row = _one(caveats=["Provider page references July 2024; prices may be stale", "vCPU and RAM are FREE"])
    assert row.state == "priced"
    assert row.reference.endswith(
        "; Provider page references July 2024; prices may be stale; vCPU and RAM are FREE"
    )
    assert len(_one(caveats=["a long caveat"] * 60).reference) <= 400


@pytest.mark.parametrize(
    ("model", "memory", "name"),
    [
        ("NVIDIA A100 SXM4", 80, "NVIDIA A100 SXM4 80GB"),  # the bare name means 40 GB
        ("NVIDIA A100 SXM4", 40, "NVIDIA A100 SXM4"),
        ("NVIDIA A100 PCIe", 40, "NVIDIA A100 PCIe 40GB"),  # the bare name means 80 GB
        ("B300 SXM6", 262, "B300 SXM6"),  # what a driver leaves free of 288
        ("NVIDIA B300", 180, "NVIDIA B300 180GB"),  # no such part: a person has to look
        ("NVIDIA L40", 40, "NVIDIA L40 40GB"),
        ("GTX 1080 Ti", 8, "GTX 1080 Ti"),  # not in the table at all
    ],
)
def test_memory_tells_parts_of_one_name_apart(model: str, memory: int, name: str) -> None:
    assert _one(gpu_model=model, vram_gb=memory).accelerator_name == name


def test_a_name_without_memory_stays_as_it_is() -> None:
    assert card_name("A100 PCIe", None) == "A100 PCIe"


def test_sellers_have_one_name_in_all_sources() -> None:
    assert _one(provider_id="vast-ai").provider == "vast"
    assert _one(provider_id="jarvis-labs").provider == "jarvislabs"


def test_a_reservation_of_unstated_length_has_no_term() -> None:
    assert _read({**OFFER, "tier": "reserved"}).by_rule == {"reserved_term_unclear": 1}


@pytest.mark.parametrize(
    ("changes", "column", "rule"),
    [
        ({"tier": "gold"}, "tier", "word_unknown"),
        ({"is_spot": "no"}, "is_spot", "word_unknown"),
        ({"tier": "spot"}, "is_spot", "spot_contradicted"),
        ({"price_usd_hour": 0}, "price_usd_hour", "zero_price"),
        ({"price_usd_hour": -1}, "price_usd_hour", "negative_price"),
        ({"price_usd_hour": None}, "price_usd_hour", "empty"),
        ({"price_usd_hour": "call us"}, "price_usd_hour", "not_a_number"),
        ({"price_usd_hour": float("nan")}, "price_usd_hour", "not_a_number"),
        ({"vram_gb": "80 GB"}, "vram_gb", "not_a_number"),
        ({"collected_at": "24.05.2026"}, "collected_at", "not_a_date"),
        ({"gpu_model": ""}, "gpu_model", "empty"),
        ({"id": None}, "id", "empty"),
    ],
)
def test_a_wrong_offer_is_refused_by_name(changes: dict[str, Any], column: str, rule: str) -> None:
    reading = _read(OFFER, {**OFFER, **changes})
    assert [(error.column, error.rule) for error in reading.wrong.values()] == [(column, rule)]
    assert list(reading.wrong) == [2]


def test_what_is_no_offer_is_refused_in_its_place() -> None:
    reading = _read(OFFER, "H100", None, [1])
    assert reading.lines == 4
    assert reading.by_rule == {"not_an_object": 3}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[", "json_broken"),
        ("[" * 100_000, "json_broken"),
        ('{"offers": []}', "layout_unknown"),
        ("[]", "columns_missing"),
        (json.dumps([{**OFFER, "price_usd": 1}]).replace("price_usd_hour", "price"), "columns_missing"),
    ],
)
def test_a_file_that_is_no_such_list_is_refused_whole(text: str, code: str) -> None:
    with pytest.raises(FileError, match=code):
        read_text("gpu_offerings", text, "offers.json")


def test_a_packed_list_is_read_too() -> None:
    assert len(read_bytes("gpu_offerings", packed(json.dumps([OFFER])), "offers.json.gz").rows) == 1


def test_an_upload_is_recognised_by_its_keys() -> None:
    assert gpu_offerings.looks_like(json.dumps([OFFER], indent=1), "anything.json")
    assert not gpu_offerings.looks_like('[{"name": "p5.48xlarge", "pricing": {}}]', "offers.json")


def test_there_is_nothing_to_fetch() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(gpu_offerings.fetch({}, datetime(2026, 11, 30, tzinfo=UTC)))
