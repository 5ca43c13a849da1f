"""State that spot prices lie in the table the same, whatever order their windows are loaded in."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from costs.ingest import ingest
from costs.models import SpotPrice

from .conftest import Take
from .ec2_answers import asked_for, history_page, identity, play, use_keys, zones_answer
from .feeds import Feed

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
START = datetime(2026, 11, 1, tzinfo=UTC)
# (hour, zone, price): repeated each day where nothing changes, as AWS does
HISTORY = [
    (hour, zone, price)
    for zone, prices in {
        "us-east-1a": "20 20 24 24 20 20 20 28 28 20 20 20",
        "us-east-1b": "9 9 9 9 9 9 9 9 9 9 9 9",
    }.items()
    for hour, price in zip(range(0, 288, 24), prices.split(), strict=True)
]


def dump(hours: Sequence[int]) -> str:
    """Return the part of the history between two hours as the command line of AWS prints it."""
    first, last = hours
    rows = [
        {
            "AvailabilityZone": zone,
            "InstanceType": "p5.48xlarge",
            "ProductDescription": "Linux/UNIX",
            "SpotPrice": f"{price}.000000",
            "Timestamp": (START + timedelta(hours=hour)).isoformat(),
        }
        for hour, zone, price in HISTORY
        if first <= hour <= last
    ]
    return json.dumps({"SpotPriceHistory": sorted(rows, key=lambda row: row["Timestamp"], reverse=True)})


def table() -> list[tuple[Any, ...]]:
    """Return the table without the numbers that only say which file brought a row."""
    rows = SpotPrice.objects.order_by("zone", "starts_at")
    return [
        (
            row.zone,
            int((row.starts_at - START) / timedelta(hours=1)),
            int((row.last_seen_at - START) / timedelta(hours=1)),
            row.follows_gap,
            int(row.price_per_hour),
        )
        for row in rows
    ]


WHOLE = [
    ("us-east-1a", 0, 24, True, 20),
    ("us-east-1a", 48, 72, False, 24),
    ("us-east-1a", 96, 144, False, 20),
    ("us-east-1a", 168, 192, False, 28),
    ("us-east-1a", 216, 264, False, 20),
    ("us-east-1b", 0, 264, True, 9),
]
WINDOWS = ((0, 120), (96, 168), (168, 264))
APART = ((0, 72), (144, 264))


def load(take: Take, windows: Sequence[tuple[int, int]]) -> None:
    for number, hours in enumerate(windows):
        run = take(dump(hours), "aws_spot_history", f"{number}_{hours[0]}.json")
        assert run.status in ("done", "duplicate"), run.message


@pytest.mark.parametrize("order", list(permutations(WINDOWS)))
def test_overlapping_windows_in_any_order_give_the_whole_table(
    take: Take, order: Sequence[tuple[int, int]]
) -> None:
    load(take, order)
    assert table() == WHOLE


def test_a_window_that_is_loaded_again_changes_nothing(take: Take) -> None:
    load(take, [*WINDOWS, WINDOWS[0], (0, 264), (24, 48)])
    assert table() == WHOLE


@pytest.mark.parametrize("order", list(permutations(APART)))
def test_windows_apart_leave_a_gap_until_one_comes_that_closes_it(
    take: Take, order: Sequence[tuple[int, int]]
) -> None:
    load(take, order)
    assert [row for row in table() if row[0] == "us-east-1b"] == [
        ("us-east-1b", 0, 72, True, 9),
        ("us-east-1b", 144, 264, True, 9),
    ]
    load(take, [(72, 144)])
    assert table() == WHOLE


# --- continued over the network ---


def sent(hour: int, price: str) -> dict[str, str]:
    return {
        "instanceType": "p5.48xlarge",
        "productDescription": "Linux/UNIX",
        "spotPrice": price,
        "timestamp": f"{START + timedelta(hours=hour):%Y-%m-%dT%H:%M:%S}.000Z",
        "availabilityZone": "us-east-1a",
    }


def test_a_second_run_asks_from_the_newest_price_on_and_opens_no_gap(
    take: Take, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keys(monkeypatch, feed)
    play(feed, "GetCallerIdentity", identity())
    play(feed, "DescribeAvailabilityZones", zones_answer())
    play(
        feed,
        "DescribeSpotPriceHistory",
        history_page([sent(48, "24.0"), sent(0, "20.0")], "more"),
        history_page([], ""),
        # from hour 48 on; the price that held there comes again
        history_page([sent(96, "20.0"), sent(48, "24.0")], ""),
    )
    for hour in (60, 100):
        run = ingest(
            "aws_spot_history", file=None, name="", params={"region": "us-east-1"}, requested_by="shell",
            now=START + timedelta(hours=hour),
        )  # fmt: skip
        assert run.status == "done", run.message
    starts = [asked["StartTime"] for asked in asked_for(feed, "DescribeSpotPriceHistory")]
    assert starts == ["2026-08-05T12:00:00Z", "2026-08-05T12:00:00Z", "2026-11-03T00:00:00Z"]
    assert table() == [
        ("use1-az6", 0, 0, True, 20),
        ("use1-az6", 48, 48, False, 24),
        ("use1-az6", 96, 96, False, 20),
    ]
