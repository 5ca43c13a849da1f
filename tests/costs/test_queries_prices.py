"""Claims about the reading of prices. 31.44 / 8 = 3.93; 98.32 / 8 = 12.29; 98 / 8 = 12.25."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from costs.models import MachineType
from costs.queries import prices
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)


def ask(as_of=NOW, **changes):
    key = {"provider": "aws", "sku": "p5.48xlarge", "region": "us-east-1", "term": "on_demand", "payment": ""}
    return prices.price_on(**key | changes, as_of=as_of)


def test_a_price_is_given_per_hour_and_per_gpu_with_its_origin():
    price = make_price(reference="https://example.com/list")
    quote = ask()
    assert (quote.state, quote.usd_per_hour, quote.usd_per_gpu_hour) == (
        "priced",
        Decimal("31.44"),
        Decimal("3.93"),
    )
    assert (quote.source, quote.run_id, quote.as_of) == ("list_prices", price.batch.run_id, NOVEMBER)
    assert quote.reference == "https://example.com/list"


def test_the_price_that_held_on_the_date_is_given():
    sku = make_sku()
    old = make_batch(as_of=OCTOBER)
    make_price(sku=sku, batch=old, price_per_hour=Decimal(98), effective_from=OCTOBER, effective_to=NOVEMBER)
    make_price(sku=sku, scope=old.scope, effective_from=NOVEMBER)
    assert ask(as_of=datetime(2026, 10, 15, tzinfo=UTC)).usd_per_gpu_hour == Decimal("12.25")
    assert ask(as_of=NOVEMBER).usd_per_gpu_hour == Decimal("3.93")


@pytest.mark.parametrize("as_of", [datetime(2026, 9, 1, tzinfo=UTC), NOW])
def test_no_price_on_the_date_is_unknown_and_says_so(as_of):
    make_price(effective_from=OCTOBER, effective_to=NOVEMBER)
    quote = ask(as_of=as_of)
    assert (quote.state, quote.usd_per_gpu_hour) == ("unknown", None)
    assert f"no price of aws p5.48xlarge in us-east-1 is on file for {as_of:%Y-%m-%d}" == quote.reason


@pytest.mark.parametrize("state", ["not_sold", "reservation_only", "unknown"])
def test_a_row_without_a_price_keeps_its_state_and_reason(state):
    make_price(state=state, state_reason="sold in blocks only", price_per_hour=None)
    quote = ask()
    assert (quote.state, quote.reason, quote.usd_per_hour) == (state, "sold in blocks only", None)


def test_a_price_in_another_currency_is_unknown_in_dollars():
    make_price(currency="CNY")
    quote = ask()
    assert (quote.state, quote.usd_per_gpu_hour, quote.currency) == ("unknown", None, "CNY")
    assert "CNY" in quote.reason


def test_a_stated_price_wins_over_none_then_the_newest_list_wins():
    sku = make_sku()
    make_price(sku=sku, batch=make_batch(as_of=NOW), state="unknown", price_per_hour=None)
    make_price(sku=sku, batch=make_batch(as_of=OCTOBER), price_per_hour=Decimal(8))
    make_price(sku=sku, batch=make_batch(as_of=NOVEMBER), price_per_hour=Decimal(16))
    assert ask().usd_per_gpu_hour == Decimal(2)


def test_without_a_zone_the_cheapest_zone_answers_and_is_named():
    sku, batch = make_sku(), make_batch()
    for zone, price in (("use1-az1", 24), ("use1-az2", 16)):
        make_price(sku=sku, batch=batch, term="spot", zone=zone, price_per_hour=Decimal(price))
    assert (ask(term="spot").zone, ask(term="spot").usd_per_gpu_hour) == ("use1-az2", Decimal(2))
    assert ask(term="spot", zone="use1-az1").usd_per_gpu_hour == Decimal(3)
    assert ask(term="spot", zone="use1-az9").state == "unknown"


def test_payment_forms_are_different_prices():
    sku, batch = make_sku(), make_batch()
    for payment, price in (("no_upfront", 24), ("all_upfront", 16)):
        make_price(sku=sku, batch=batch, term="reserved_3y", payment=payment, price_per_hour=Decimal(price))
    assert ask(term="reserved_3y", payment="all_upfront").usd_per_gpu_hour == Decimal(2)
    assert ask(term="reserved_3y", payment="no_upfront").usd_per_gpu_hour == Decimal(3)
    assert ask(term="reserved_3y").state == "unknown"


def test_many_keys_cost_one_query(django_assert_num_queries):
    make_price()
    keys = [prices.PriceKey("aws", "p5.48xlarge", f"us-east-{n}", "on_demand") for n in range(1, 9)]
    with django_assert_num_queries(1):
        quotes = prices.prices_on(keys, NOW)
    assert [quotes[key].state for key in keys] == ["priced"] + ["unknown"] * 7


def test_offers_filter_by_every_parameter():
    a100 = make_accelerator(slug="a100-80gb", name="A100 80 GB", link_gb_s_per_direction=Decimal(300))
    make_accelerator(link_gb_s_per_direction=Decimal(450))
    make_price()
    make_price(
        provider="gcp", name="a2-ultragpu-1g", gpu_count=Decimal(1), accelerator=a100, region="us-central1"
    )
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), region="us-east-1", term="spot")

    def found(**filters):
        return {row.sku.provider for row in prices.offers(NOW, **filters)}

    assert found() == {"aws", "gcp", "lambda"}
    assert found(gpu=["a100-80gb"]) == {"gcp"}
    assert found(cloud=["aws", "gcp"]) == {"aws", "gcp"}
    assert found(region="US-EAST") == {"aws", "lambda"}
    assert found(term=["spot"]) == {"lambda"}
    assert found(state=["unknown"]) == set()
    assert found(min_gpus=8) == {"aws"}
    assert found(link=450) == {"aws", "lambda"}
    assert found(q="a2 gcp") == {"gcp"}
    assert found(q="a2 aws") == set()


def test_a_price_in_another_currency_has_no_dollars():
    price = make_price(currency="CNY")
    assert (prices.usd_per_hour(price), prices.usd_per_gpu_hour(price)) == (None, None)
    assert prices.offers(NOW).get().per_gpu_hour is None


def test_choices_list_what_is_offered_now():
    make_accelerator(slug="never-sold", name="Never sold")
    make_price()
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1))
    make_price(provider="gcp", name="gone", region="old-region", effective_to=NOW)
    assert prices.on_offer() == [
        prices.Offered("aws", "h100-sxm-80gb", "H100 SXM 80 GB"),
        prices.Offered("lambda", "h100-sxm-80gb", "H100 SXM 80 GB"),
    ]


def test_choices_of_a_past_date_are_what_was_sold_then():
    make_price(provider="lambda", name="gpu_1x_h100", effective_from=NOVEMBER)
    make_price(provider="gcp", name="gone", effective_from=OCTOBER, effective_to=NOVEMBER)
    assert [row.provider for row in prices.on_offer(OCTOBER)] == ["gcp"]
    assert [row.provider for row in prices.on_offer(NOVEMBER)] == ["lambda"]


def test_the_oldest_price_says_from_when_on_there_is_any():
    assert prices.oldest_price() is None
    make_price(effective_from=NOVEMBER)
    make_price(name="older", effective_from=OCTOBER, effective_to=NOVEMBER)
    assert prices.oldest_price() == OCTOBER


def test_bare_prices_are_the_same_as_the_offers():
    a100 = make_accelerator(slug="a100-80gb", name="A100 80 GB")
    make_price()
    make_price(provider="gcp", name="a2", accelerator=a100)
    make_price(name="gone", effective_from=OCTOBER, effective_to=NOVEMBER)
    for filters in ({}, {"gpu": ["a100-80gb"]}, {"q": "aws"}):
        bare = prices.narrowed(prices.held_on(NOW), **filters)
        assert {price.pk for price in bare} == {price.pk for price in prices.offers(NOW, **filters)}
    assert len(prices.held_on(NOW)) == 2


def test_a_sku_that_states_no_vcpus_has_those_of_the_table_of_machine_types():
    own = {"accelerator": "h100-sxm-80gb", "gpu_count": 8, "reference": "x", "batch": make_batch()}
    MachineType.objects.create(provider="aws", name="p5.48xlarge", vcpus=192, memory_gib=2048, **own)
    sku = make_sku()
    make_price(sku=sku)
    (price,) = prices.listed(prices.offers(NOW))
    assert (price.vcpus, price.memory_gib) == (192, 2048)
    sku.vcpus = Decimal(96)
    sku.save()
    (price,) = prices.listed(prices.offers(NOW))
    assert (price.vcpus, price.memory_gib) == (96, 2048)


def test_all_terms_of_a_place_come_in_one_query(django_assert_num_queries):
    sku, batch = make_sku(), make_batch()
    make_price(sku=sku, batch=batch)
    make_price(sku=sku, batch=batch, term="reserved_3y", payment="all_upfront", price_per_hour=Decimal(16))
    make_price(sku=sku, batch=batch, term="spot", zone="use1-az1", price_per_hour=Decimal(8))
    make_price(sku=sku, batch=batch, term="spot", zone="use1-az2", price_per_hour=Decimal(4))
    make_price(sku=sku, batch=batch, region="eu-west-1")
    place = prices.Place("aws", "p5.48xlarge", "us-east-1")
    with django_assert_num_queries(1):
        quotes = prices.terms_at([place, place], NOW)
    found = {(quote.key.term, quote.key.payment): (quote.usd_per_gpu_hour, quote.zone) for quote in quotes}
    assert found == {
        ("on_demand", ""): (Decimal("3.93"), ""),
        ("reserved_3y", "all_upfront"): (Decimal(2), ""),
        ("spot", ""): (Decimal("0.5"), "use1-az2"),
    }
    assert prices.terms_at([], NOW) == []
