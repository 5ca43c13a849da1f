"""Claims about sums of offers: what each source states, and the cheapest of each term, stale ones apart."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from costs.queries import offers, prices
from tests.fact_builders import make_batch, make_price, make_run, make_sku

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, tzinfo=UTC)
OLD = NOW - timedelta(days=400)


def cheapest(**options):
    every = prices.offers(NOW)
    return offers.cheapest(every, every, NOW, **options)


def dollars(found) -> dict[str, float]:
    return {term: offer.usd_per_gpu_hour for term, offer in found.items()}


def test_each_source_says_how_many_offers_it_states_and_of_which_dates():
    sku = make_sku()
    for source, days, region in (("skypilot", 1, "a"), ("skypilot", 9, "b"), ("vantage", 40, "a")):
        make_price(sku=sku, source=source, region=region, as_of=NOW - timedelta(days=days))
    make_price(sku=sku, source="vantage", region="gone", effective_to=NOW)
    first, second = offers.by_source(prices.held_on(NOW))
    assert (first.source, first.count) == ("skypilot", 2)
    assert (first.oldest, first.newest) == (NOW - timedelta(days=9), NOW - timedelta(days=1))
    assert (second.source, second.count, second.oldest) == ("vantage", 1, NOW - timedelta(days=40))


def test_the_cheapest_is_per_gpu_and_not_per_machine():
    """98 / 8 = 12.25, below 12.26 for one."""
    make_price(price_per_hour=Decimal(98))
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), price_per_hour=Decimal("12.26"))
    best = offers.recommended(cheapest())["on_demand"]
    assert (best.provider, best.usd_per_gpu_hour) == ("aws", 12.25)


def test_the_cheapest_ignores_other_currencies_and_stands_for_its_own_term(django_assert_num_queries):
    make_price(price_per_hour=Decimal(80))
    make_price(name="p5.cn", currency="CNY", price_per_hour=Decimal(8))
    make_price(name="p5.spot", term="spot", price_per_hour=Decimal(16))
    with django_assert_num_queries(2):  # the exchange rates, and the prices
        found = cheapest()
    assert dollars(offers.recommended(found)) == {"on_demand": 10, "spot": 2}


def test_a_stale_price_is_never_recommended_and_is_counted_where_it_would_be_cheaper():
    """Stale: 1 and 3 $/GPU-h on demand, 9 for three years; fresh on demand: 2."""
    sku = make_sku(gpu_count=Decimal(1))
    make_price(sku=sku, source="skypilot", as_of=NOW, price_per_hour=Decimal(2))
    for number, usd in enumerate((1, 3)):
        make_price(sku=sku, source="skypilot", region=f"old-{number}", as_of=OLD, price_per_hour=Decimal(usd))
    make_price(sku=sku, source="skypilot", term="reserved_3y", as_of=OLD, price_per_hour=Decimal(9))
    found = cheapest()
    assert dollars(offers.recommended(found)) == {"on_demand": 2}
    assert [offer.usd_per_gpu_hour for offer in offers.cheaper_but_stale(found)] == [1, 9]


def test_each_term_has_its_share_of_the_cheapest_and_stale_ones_take_none_of_it():
    sku, batch = make_sku(), make_batch(source="skypilot")
    for number in range(6):
        for term, as_of in (("on_demand", NOW), ("on_demand", OLD), ("spot", NOW)):
            make_price(
                sku=sku, batch=batch, source="skypilot", term=term, as_of=as_of,
                region=f"{number}-{as_of:%y}", price_per_hour=Decimal(8 + number),
            )  # fmt: skip
    found = cheapest(per_term=2)
    assert [(offer.term, offer.is_stale) for offer in found].count(("on_demand", True)) == 2
    assert [(offer.term, offer.is_stale) for offer in found].count(("on_demand", False)) == 2
    assert len(found) == 6
    assert max(offer.usd_per_gpu_hour for offer in found) == 9 / 8


def test_filters_narrow_the_cheapest():
    make_price()
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), price_per_hour=Decimal(1))
    every = prices.offers(NOW)
    found = offers.cheapest(prices.narrowed(every, cloud=["aws"]), every, NOW)
    assert [offer.provider for offer in found] == ["aws"]
    assert offers.cheapest(prices.narrowed(every, cloud=["gcp"]), every, NOW) == []


class TestOfListsWithoutADate:
    """A list that states no date is dated by the moment its run began: it is always the newest."""

    def undated(self, usd: int = 8, **changes):
        batch = make_batch(source="skypilot", run=make_run(source="skypilot", started_at=NOW), as_of=NOW)
        return make_price(batch=batch, source="skypilot", price_per_hour=Decimal(usd), **changes)

    def dated(self, usd: int = 8, days: int = 3, **changes):
        as_of = NOW - timedelta(days=days)
        batch = make_batch(source="aws_prices", as_of=as_of)
        return make_price(batch=batch, source="aws_prices", price_per_hour=Decimal(usd), **changes)

    def test_at_the_same_price_the_dated_one_is_named(self):
        first = self.undated()
        dated = self.dated(sku=first.sku)
        assert [offer.pk for offer in cheapest()] == [dated.pk]

    @pytest.mark.parametrize("usd", [6, 10])
    def test_a_dated_price_of_the_same_offer_wins_whichever_is_lower(self, usd: int):
        first = self.undated(8)
        dated = self.dated(usd, sku=first.sku)
        assert [offer.pk for offer in cheapest()] == [dated.pk]

    def test_the_same_machine_is_the_same_offer_however_its_gpu_is_spelt(self):
        self.undated()
        dated = self.dated(sku=make_sku(accelerator_name="NVIDIA H100"))
        assert [offer.pk for offer in cheapest()] == [dated.pk]

    @pytest.mark.parametrize(
        "other",
        [
            {"region": "elsewhere"}, {"zone": "us-east-1a"}, {"term": "spot"}, {"payment": "all_upfront"},
            {"name": "p5.other"},
        ],
    )  # fmt: skip
    def test_another_offer_leaves_it_where_it_is(self, other):
        first = self.undated()
        rival = self.dated(**({"sku": first.sku} if "name" not in other else {}) | other)
        assert {offer.pk for offer in cheapest()} == {first.pk, rival.pk}

    @pytest.mark.parametrize(
        "rival",
        [{"days": 400}, {"currency": "CNY"}, {"effective_to": NOW}, {"state": "not_sold", "usd": None}],
    )
    def test_what_is_stale_or_has_no_price_now_pushes_nothing_out(self, rival):
        first = self.undated()
        if "usd" in rival:
            batch = make_batch(source="aws_prices", as_of=NOW)
            make_price(batch=batch, source="aws_prices", sku=first.sku, state="not_sold", price_per_hour=None)
        else:
            self.dated(sku=first.sku, **rival)
        assert offers.recommended(cheapest())["on_demand"].pk == first.pk

    def test_two_without_a_date_stand_side_by_side_and_a_row_with_its_own_date_is_dated(self):
        first = self.undated()
        second = self.undated(sku=first.sku)
        assert {offer.pk for offer in cheapest()} == {first.pk, second.pk}
        own = self.undated(sku=first.sku, as_of=NOW - timedelta(days=1))
        assert [offer.pk for offer in cheapest()] == [own.pk]

    def test_what_a_filter_leaves_out_still_stands_for_the_offer(self):
        first = self.undated()
        self.dated(sku=first.sku)
        every = prices.offers(NOW)
        assert offers.cheapest(every.filter(source="skypilot"), every, NOW) == []
