"""State what a marketplace's snapshots say: each seller's lowest price, and when it ends."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from costs.rows import FileError, PriceRow
from costs.sources import market_history

from .readings import Reading, packed, read_bytes, read_text


def _snapshot(at: str, sellers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a snapshot with the statistics that the real ones carry beside the sellers."""
    return {
        "timestamp": at, "gpu_type": "H100_80GB", "socket_type": "SXM5",
        "price_stats": {"min": 1.0, "p10": 1.8, "median": 1.99, "max": 3.29, "mean": 2.13},
        "availability": {"total": 32, "available": 7, "low": 21, "medium": 2, "high": 2},
        "by_provider": sellers,
        "by_config": {"8x": {"count": 7, "min_per_gpu": 1.0, "min_total": 8.0}},
        **changes,
    }  # fmt: skip


def _offers(lowest: float, count: int = 1) -> dict[str, Any]:
    return {"count": count, "min": lowest, "avg": lowest + 0.5}


def _read(*snapshots: Any) -> Reading:
    text = "".join(json.dumps(snapshot) + "\n" for snapshot in snapshots)
    return read_text("market_history", text, "H100.jsonl")


def _rows(reading: Reading) -> list[PriceRow]:
    return [row for row in reading.rows if isinstance(row, PriceRow)]


FIRST, SECOND = "2025-10-19T21:01:58.727366+00:00", "2025-10-19T21:46:58.1+00:00"


def test_a_snapshot_gives_each_sellers_lowest_price_per_gpu_at_its_moment() -> None:
    reading = _read(_snapshot(FIRST, {"runpod": _offers(2.69), "lambdalabs": _offers(3.29)}))
    assert reading.by_rule == {}
    runpod, lambda_ = _rows(reading)
    assert (runpod.provider, runpod.price_per_hour) == ("runpod", Decimal("2.69"))
    assert (lambda_.provider, lambda_.price_per_hour) == ("lambda", Decimal("3.29"))
    at = datetime(2025, 10, 19, 21, 1, 58, 727366, tzinfo=UTC)
    for row in (runpod, lambda_):
        assert (row.sku, row.gpu_count) == ("marketplace 1x H100 SXM5 80GB", Decimal(1))
        assert (row.term, row.state, row.effective_from) == ("on_demand", "priced", at)
    assert reading.scopes == {"H100 SXM5 80GB"}


def test_the_recording_is_as_of_its_newest_snapshot() -> None:
    sellers = {"runpod": _offers(2.69)}
    reading = _read(_snapshot(SECOND, sellers), _snapshot(FIRST, sellers), _snapshot("soon", sellers))
    assert reading.info.as_of == datetime(2025, 10, 19, 21, 46, 58, 100000, tzinfo=UTC)
    assert reading.by_rule == {"not_a_time": 1}
    assert _read(_snapshot("soon", sellers)).info.as_of is None


def test_statistics_are_no_offers() -> None:
    """Percentiles, means and prices per machine size name no seller: no row has one of them."""
    reading = _read(_snapshot(FIRST, {"runpod": _offers(2.69)}))
    assert [row.price_per_hour for row in _rows(reading)] == [Decimal("2.69")]


def test_a_seller_that_does_not_want_to_be_known_stands_under_the_marketplace() -> None:
    [row] = _rows(_read(_snapshot(FIRST, {"dc_roan": _offers(1.99)})))
    assert (row.provider, row.zone) == ("primeintellect", "dc_roan")


def test_a_seller_under_two_names_is_one() -> None:
    """DataCrunch became Verda while the recording ran."""
    sellers = {"datacrunch": _offers(1.2), "crusoecloud": _offers(1.65)}
    assert [row.provider for row in _rows(_read(_snapshot(FIRST, sellers)))] == ["verda", "crusoe"]


def test_a_seller_that_is_gone_sells_none_from_then_on() -> None:
    """Oddity 12: a missing price is not a free one."""
    both = {"runpod": _offers(2.69), "dc_roan": _offers(1.99)}
    reading = _read(
        _snapshot(FIRST, both),
        _snapshot(SECOND, {"runpod": _offers(2.69)}),
        _snapshot("2025-10-19T22:31:58+00:00", {"runpod": _offers(2.69)}),
    )
    gone = [row for row in _rows(reading) if row.state == "not_sold"]
    assert [(row.provider, row.zone, row.price_per_hour) for row in gone] == [
        ("primeintellect", "dc_roan", None)
    ]
    assert gone[0].effective_from == datetime(2025, 10, 19, 21, 46, 58, 100000, tzinfo=UTC)
    assert gone[0].state_reason == "the marketplace lists no offer of this seller at this moment"


def test_a_price_that_stays_says_the_same_words_each_time() -> None:
    """Steps are merged where nothing changed: a reference with a moment in it would break them apart."""
    first, second = _rows(_read(*(_snapshot(at, {"runpod": _offers(2.69)}) for at in (FIRST, SECOND))))
    assert first.reference == second.reference


@pytest.mark.parametrize(
    ("gpu", "socket", "card"),
    [
        ("A100_80GB", "PCIe", "A100 PCIe 80GB"),
        ("A100_80GB", "SXM4", "A100 SXM4 80GB"),
        ("GH200_96GB", None, "GH200 96GB"),
        ("RTX_PRO_6000_96GB", None, "RTX PRO 6000 96GB"),
    ],
)
def test_the_card_is_written_as_in_other_catalogues(gpu: str, socket: str | None, card: str) -> None:
    snapshot = _snapshot(FIRST, {"runpod": _offers(1.5)}, gpu_type=gpu, socket_type=socket)
    assert [row.accelerator_name for row in _rows(_read(snapshot))] == [card]


def test_a_snapshot_without_sellers_is_out_of_scope_unless_some_have_gone() -> None:
    empty = _snapshot(FIRST, {})
    assert _read(empty).by_rule == {"no_offer": 1}
    after = _read(_snapshot(FIRST, {"runpod": _offers(2.69)}), _snapshot(SECOND, {}))
    assert [row.state for row in _rows(after)] == ["priced", "not_sold"]


@pytest.mark.parametrize(
    ("snapshot", "rule"),
    [
        (_snapshot(FIRST, {"runpod": {"count": 1, "min": 0}}), "zero_price"),
        (_snapshot(FIRST, {"runpod": {"count": 1}}), "not_a_number"),
        (_snapshot(FIRST, {"runpod": 2.69}), "not_an_object"),
        (_snapshot(FIRST, {"": _offers(2.69)}), "provider_wrong"),
        (_snapshot(FIRST, {}, by_provider=None), "not_an_object"),
        (_snapshot("2025-10-19T21:01:58", {"runpod": _offers(2.69)}), "time_without_zone"),
        (_snapshot("", {"runpod": _offers(2.69)}), "not_a_time"),
        (_snapshot(FIRST, {"runpod": _offers(2.69)}, gpu_type="H100"), "gpu_type_unreadable"),
        (_snapshot(FIRST, {"runpod": _offers(2.69)}, gpu_type=None), "gpu_type_unreadable"),
        ([1, 2], "not_an_object"),
    ],
)
def test_a_wrong_snapshot_is_refused_by_name(snapshot: Any, rule: str) -> None:
    assert _read(snapshot).by_rule == {rule: 1}


def test_a_line_that_is_no_json_is_refused_by_its_number() -> None:
    good = json.dumps(_snapshot(FIRST, {"runpod": _offers(2.69)}))
    reading = read_text("market_history", f'{good}\n{{"timestamp": \n\n{good}\n', "H100.jsonl")
    assert {line: error.rule for line, error in reading.wrong.items()} == {2: "json_broken"}
    assert list(reading.kept) == [1, 4]


def test_a_packed_recording_is_read_and_a_cut_one_is_not() -> None:
    data = packed("".join(json.dumps(_snapshot(FIRST, {"runpod": _offers(2.69)})) + "\n" for _ in range(99)))
    assert read_bytes("market_history", data, "H100.jsonl.gz").lines == 99
    with pytest.raises(FileError, match="gzip_truncated"):
        read_bytes("market_history", data[:-9], "H100.jsonl.gz")


def test_an_upload_is_recognised_by_its_first_line() -> None:
    text = json.dumps(_snapshot(FIRST, {"runpod": _offers(2.69)}))
    assert market_history.looks_like(text, "anything.jsonl")
    assert not market_history.looks_like('{"SpotPriceHistory": []}', "H100.jsonl")


def test_there_is_nothing_to_fetch() -> None:
    with pytest.raises(FileError, match="no_fetch"):
        list(market_history.fetch({}, datetime(2026, 11, 30, tzinfo=UTC)))
