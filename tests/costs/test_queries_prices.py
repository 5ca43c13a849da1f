"""Claims about the reading of prices. 31.44 / 8 = 3.93; 98.32 / 8 = 12.29; 98 / 8 = 12.25."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

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
    a100 = make_accelerator(slug="a100-80gb", name="A100 80 GB")
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
    assert found(q="a2 gcp") == {"gcp"}
    assert found(q="a2 aws") == set()


def test_the_cheapest_is_per_gpu_and_not_per_machine():
    make_price(price_per_hour=Decimal(98))
    make_price(provider="lambda", name="gpu_1x_h100", gpu_count=Decimal(1), price_per_hour=Decimal("12.26"))
    cheapest = prices.cheapest_by_term(prices.offers(NOW))["on_demand"]
    assert (cheapest.sku.provider, prices.usd_per_gpu_hour(cheapest)) == ("aws", Decimal("12.25"))


def test_the_cheapest_ignores_other_currencies_and_stands_for_its_own_term(django_assert_num_queries):
    make_price(price_per_hour=Decimal(80))
    make_price(name="p5.cn", currency="CNY", price_per_hour=Decimal(8))
    make_price(name="p5.spot", term="spot", price_per_hour=Decimal(16))
    with django_assert_num_queries(2):  # the exchange rates, and the prices
        cheapest = prices.cheapest_by_term(prices.offers(NOW))
    found = {term: prices.usd_per_gpu_hour(price) for term, price in cheapest.items()}
    assert found == {"on_demand": Decimal(10), "spot": Decimal(2)}
    assert prices.cheapest_by_term(prices.offers(NOW, cloud=["gcp"])) == {}


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
