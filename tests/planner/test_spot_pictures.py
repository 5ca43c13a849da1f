"""Claims about what the spot page draws of long histories, and about its sums over many steps."""

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.models import SpotPrice
from costs.queries.spot_statistics import Step, quantile
from planner.models import Person
from planner.spot.pictures import MOST_POINTS, _thinned
from planner.spot.zones import SHARES, quantiles
from tests.fact_builders import make_batch
from tests.planner.spot_facts import NOW, ago, make_machine, text_of


def step(price: int, starts: float, ends: float, follows_gap: bool = False) -> Step:
    at, end = NOW + timedelta(hours=starts), NOW + timedelta(hours=ends)
    return Step(at, end, Decimal(price), "USD", follows_gap, end)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 9)), min_size=1, max_size=30))
def test_quantiles_in_one_pass_are_those_of_one_by_one(lengths):
    steps, now = [], 0
    for price, length in lengths:
        steps.append(step(price, now, now + length))
        now += length
    if now:
        assert quantiles(steps, SHARES) == [quantile(steps, share) for share in SHARES]
    else:
        assert quantiles(steps, SHARES) == []


def test_a_long_history_keeps_every_extreme_and_every_gap():
    prices = [100 + (number * 7919) % 97 for number in range(3000)]
    prices[1234], prices[2345] = 1, 999
    steps = [step(price, n, n + 1, follows_gap=n in {700, 1500}) for n, price in enumerate(prices)]
    kept = _thinned(steps)
    assert len(kept) < MOST_POINTS * 2
    assert {1, 999} <= {int(each.price_per_hour) for each in kept}
    assert [each.starts_at for each in kept] == sorted(each.starts_at for each in kept)
    for number in (700, 1500):
        place = kept.index(steps[number])
        assert kept[place - 1] == steps[number - 1]
    assert _thinned(steps[:MOST_POINTS]) == steps[:MOST_POINTS]


@pytest.mark.django_db
def test_the_page_says_that_it_leaves_out_points(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    make_machine()
    batch = make_batch(source="aws_spot_history")
    SpotPrice.objects.bulk_create(
        SpotPrice(
            source="aws_spot_history", scope="us-east-1", provider="aws", sku="p5.48xlarge",
            region="us-east-1", zone="use1-az6", zone_kind="id", product="Linux/UNIX", line=number,
            price_per_hour=Decimal(8 + number % 3), follows_gap=number == 0, batch=batch,
            starts_at=ago(1000 - number), last_seen_at=ago(999 - number),
        )
        for number in range(1000)
    )  # fmt: skip
    text = text_of(client.get("/spot/"))
    assert "of each part of the window the lowest and highest price" in text
