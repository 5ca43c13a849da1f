"""Claims about the changes of a GPU's prices. 98.32 / 8 = 12.29; 55.04 / 8 = 6.88."""

import csv
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from costs.models import Accelerator
from costs.queries.price_moves import cuts, moves
from costs.queries.prices import price_on
from tests.fact_builders import make_batch, make_sku

from .conftest import Take
from .gpu_prices import P5, SINCE, make_offer, on, read, swept

pytestmark = pytest.mark.django_db


def a_cut(source: str = "list_prices", region: str = "us-east-1", zone: str = "", **changes: Any) -> None:
    """Make the price of one region fall from 98.32 to 55.04 on the 10th, as one source saw it."""
    seen, at = changes.pop("seen", on(9, 7)), changes.pop("at", on(10, 7))
    sku = make_sku() if not Accelerator.objects.exists() else Accelerator.objects.get().skus.get()
    batch = make_batch(source=source)
    options = {"sku": sku, "source": source, "batch": batch, "region": region, "zone": zone} | changes
    make_offer("98.32", on(1), at, as_of=seen, **options)
    make_offer("55.04", at, **options)


def test_a_cut_is_one_change_with_the_times_between_which_it_lies():
    a_cut()
    (move,) = moves(read(), term="on_demand", since=SINCE)
    assert (move.offer, move.seen_before, move.at) == (P5, on(9, 7), on(10, 7))
    assert (move.old.price_per_hour, move.new.price_per_hour) == (Decimal("98.32"), Decimal("55.04"))
    assert move.share == Decimal("-0.440195"), "55.04 / 98.32 - 1"


def test_a_cut_that_two_sources_and_several_zones_saw_is_one_change_at_the_first_sight():
    a_cut()
    a_cut(source="skypilot", zone="use1-az1", seen=on(8), at=on(12))
    a_cut(source="skypilot", zone="use1-az2", seen=on(8), at=on(12))
    (move,) = moves(read(), term="on_demand", since=SINCE)
    assert (move.at, move.seen_before) == (on(10, 7), on(9, 7))
    assert move.sources == ("list_prices", "skypilot")
    assert move.zones == ("use1-az1", "use1-az2")


def test_the_same_cut_seen_at_times_that_cannot_be_one_is_two_changes():
    a_cut()
    a_cut(source="skypilot", seen=on(15), at=on(16))
    assert len(moves(read(), term="on_demand", since=SINCE)) == 2


def test_two_sources_that_disagree_are_no_change():
    sku = make_sku()
    make_offer("98.32", on(1), on(10), sku=sku, source="list_prices")
    make_offer("55.04", on(10), sku=sku, source="skypilot")
    assert moves(read(), term="on_demand", since=SINCE) == []


def test_a_price_that_comes_back_after_it_was_not_sold_is_compared_with_the_last_one():
    sku = make_sku()
    make_offer("24", on(1), on(5), sku=sku, scope="a")
    make_offer("", on(5), on(9), sku=sku, scope="a", state="not_sold")
    make_offer("16", on(9), sku=sku, scope="a")
    (move,) = moves(read(), term="on_demand", since=SINCE)
    assert (move.seen_before, move.at) == (on(5), on(9))


def test_the_same_price_after_a_gap_is_no_change():
    sku = make_sku()
    make_offer("24", on(1), on(20), sku=sku, scope="a", as_of=on(6))
    make_offer("24", on(20), sku=sku, scope="a", follows_gap=True)
    assert moves(read(), term="on_demand", since=SINCE) == []


def test_a_price_in_another_currency_than_before_is_no_change():
    sku = make_sku()
    make_offer("24", on(1), on(10), sku=sku, scope="a")
    make_offer("170", on(10), sku=sku, scope="a", currency="CNY")
    assert moves(read(), term="on_demand", since=SINCE) == []


def test_the_cuts_named_are_the_biggest_that_stood_for_a_week():
    for name, before, after, start, end in (
        ("big", "80", "40", on(10), None),
        ("small", "80", "78", on(10), None),
        ("rise", "40", "60", on(12), None),
        ("short before", "80", "20", on(5), None),
        ("short after", "80", "20", on(10), on(13)),
    ):
        sku = make_sku(name=name, provider=name)
        make_offer(before, on(1), start, sku=sku, scope=name)
        make_offer(after, start, end, sku=sku, scope=name)
        if end is not None:
            make_offer("80", end, sku=sku, scope=name)
    found = cuts(moves(read(), term="on_demand", since=SINCE), most=5)
    assert [cut.move.offer.provider for cut in found] == ["big", "rise"]
    assert len(cuts(moves(read(), term="on_demand", since=SINCE), most=1)) == 1


def test_what_a_provider_does_on_one_day_is_one_cut_with_its_skus_and_regions():
    for region in ("us-east-1", "us-west-2"):
        a_cut(region=region)
    (cut,) = cuts(moves(read(), term="on_demand", since=SINCE), most=3)
    assert (cut.skus, cut.regions) == (("p5.48xlarge",), ("us-east-1", "us-west-2"))


# ---- the daily file of p5.48xlarge, from the bytes on ----

# as somebody writes it down: blank days, dates and moments mixed, lines in any order
DAILY = """timestamp,instance,price_usd
2025-04-23T18:52:57,p5.48xlarge,98.32
2025-04-01,p5.48xlarge,
2025-06-06T07:23:15,p5.48xlarge,55.04
2025-06-04T07:23:25,p5.48xlarge,98.32
2025-06-05T07:22:36,p5.48xlarge,55.04
2025-05-01,p5.48xlarge,98.32
2025-09-01,p5.48xlarge,55.04
"""
DAILY_NAME = "aws_p5_48xlarge_us-east-1_daily.csv"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def assert_one_cut_on_5_june() -> None:
    """State that the tables hold 98.32 to 55.04 on 2025-06-05 as one change, and both as prices of a date."""
    found = moves(read(since=LONG_AGO), term="on_demand", since=LONG_AGO)
    assert [(move.offer, move.at, move.old.price_per_hour, move.new.price_per_hour) for move in found] == [
        (P5, datetime(2025, 6, 5, 7, 22, 36, tzinfo=UTC), Decimal("98.32"), Decimal("55.04"))
    ]
    assert len(cuts(found, most=3)) == 1
    before, after = (
        price_on("aws", "p5.48xlarge", "us-east-1", "on_demand", "", datetime(2025, 6, day, tzinfo=UTC))
        for day in (5, 6)
    )
    assert (before.usd_per_gpu_hour, after.usd_per_gpu_hour) == (Decimal("12.29"), Decimal("6.88"))
    own = swept(first=date(2025, 6, 1)).of(P5)
    assert [one.price and one.price.usd_per_gpu_hour for one in own][:2] == [12.29, 6.88]
    assert own[0].last == date(2025, 6, 4)


def test_a_daily_file_shows_a_cut_as_one_change_from_the_bytes_on(take: Take):
    run = take(DAILY, "price_history_table", DAILY_NAME)
    assert (run.lines_kept, run.lines_rejected) == (6, 1)
    assert_one_cut_on_5_june()


@pytest.mark.shared
def test_the_real_daily_file_shows_the_cut_as_one_change(take: Take, shared):
    path = shared / "data/prices/aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv"
    lines = sorted(
        (row["timestamp"], row["price_usd"]) for row in csv.DictReader(path.open()) if row["price_usd"]
    )
    amounts = [float(amount) for _, amount in lines]
    assert sum(a != b for a, b in pairwise(amounts)) == 1
    take(path.read_text(), "price_history_table", path.name)
    assert_one_cut_on_5_june()
    assert swept(first=date(2025, 6, 1)).seen_until.date().isoformat() == lines[-1][0][:10]
