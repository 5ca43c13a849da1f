"""Claims about exchange rates: the last of the day or before, through the euro, never older than a week.

One euro bought 1.05 dollars and 7.5 yuan: a yuan was 1.05 / 7.5 = 0.14 dollars.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.models import Batch, FxRate, Price
from costs.queries import fx, prices
from costs.queries.offers import cheapest
from tests.fact_builders import make_batch, make_price, make_sku

pytestmark = pytest.mark.django_db
MONDAY = date(2026, 11, 30)
FRIDAY = date(2026, 11, 27)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
CENT = Decimal("0.000000000001")
numbers = count(1)


def publish(on: date, **per_euro: str) -> None:
    batch = Batch.objects.filter(source="ecb_rates").first() or make_batch(source="ecb_rates")
    for currency, rate in per_euro.items():
        FxRate.objects.create(currency=currency, on=on, per_euro=Decimal(rate), batch=batch)


def offer(currency: str, amount: str = "56", **changes):
    return make_price(
        name=f"sku-{next(numbers)}",
        currency=currency,
        price_per_hour=Decimal(amount),
        effective_from=LONG_AGO,
        **changes,
    )


def ask(price, as_of: datetime = NOON) -> prices.Quote:
    return prices.price_on(price.sku.provider, price.sku.name, price.region, price.term, price.payment, as_of)


def test_a_rate_goes_through_the_euro():
    publish(MONDAY, USD="1.05", CNY="7.5", JPY="150")
    assert fx.rates_on(MONDAY) == {
        "EUR": (Decimal("1.05"), MONDAY),
        "CNY": (Decimal("0.14"), MONDAY),
        "JPY": (Decimal("0.007"), MONDAY),
    }


@pytest.mark.parametrize(
    ("day", "rate"),
    [
        (FRIDAY - timedelta(days=1), None),
        (FRIDAY, "0.14"),
        (date(2026, 11, 29), "0.14"),  # no rates on a weekend: Friday's hold
        (MONDAY, "0.15"),
        (MONDAY + timedelta(days=7), "0.15"),
        (MONDAY + timedelta(days=8), None),  # a rate of last week is no rate of today
    ],
)
def test_the_last_rate_on_the_day_or_before_counts_for_a_week(day: date, rate: str | None):
    publish(FRIDAY, USD="1.05", CNY="7.5")
    publish(MONDAY, USD="1.05", CNY="7")
    found = fx.rates_on(day).get("CNY")
    assert (found and found.usd_per_unit) == (Decimal(rate) if rate else None)


def test_both_rates_are_of_one_date():
    """Monday has dollars and no yuan: the yuan's own last date counts for both."""
    publish(FRIDAY, USD="1.05", CNY="7.5", ISK="140")
    publish(MONDAY, USD="2", ISK="100")
    assert fx.rates_on(MONDAY)["CNY"] == (Decimal("0.14"), FRIDAY)
    assert fx.rates_on(MONDAY)["ISK"] == (Decimal("0.02"), MONDAY)
    assert fx.rates_on(MONDAY)["EUR"] == (Decimal(2), MONDAY)


def test_without_the_dollars_rate_there_is_none():
    publish(MONDAY, CNY="7.5")
    assert fx.rates_on(MONDAY) == {}


def test_rates_cost_one_query(django_assert_num_queries):
    for days in range(5):
        publish(MONDAY - timedelta(days=days), USD="1.05", CNY="7.5", JPY="150")
    with django_assert_num_queries(1):
        fx.rates_on(MONDAY)


# --- prices ---


def test_many_prices_in_many_currencies_take_two_queries(django_assert_num_queries):
    publish(MONDAY, USD="1.05", CNY="7.5", JPY="150")
    found = [offer(currency) for currency in ("CNY", "JPY", "EUR", "USD", "CNY")]
    keys = [prices.PriceKey("aws", price.sku.name, price.region, price.term) for price in found]
    with django_assert_num_queries(2):
        quotes = prices.prices_on(keys, NOON)
    assert [quotes[key].usd_per_hour for key in keys] == [
        Decimal("7.84"), Decimal("0.392"), Decimal("58.8"), Decimal(56), Decimal("7.84"),
    ]  # fmt: skip


def test_a_price_in_another_currency_keeps_both_figures_the_rate_and_its_date():
    publish(FRIDAY, USD="1.05", CNY="7.5")
    quote = ask(offer("CNY", "56", upfront=Decimal(1000)))
    assert (quote.state, quote.reason) == ("priced", "")
    assert (quote.currency, quote.price_per_hour) == ("CNY", Decimal(56))
    assert (quote.fx_rate, quote.fx_date) == (Decimal("0.14"), FRIDAY)
    # 56 yuan = 7.84 dollars, for 8 GPUs
    assert (quote.usd_per_hour, quote.usd_per_gpu_hour) == (Decimal("7.84"), Decimal("0.98"))
    assert quote.upfront == Decimal(140)


def test_a_price_in_euros_needs_the_dollars_rate_alone():
    publish(MONDAY, USD="1.05")
    quote = ask(offer("EUR", "80"))
    assert (quote.usd_per_hour, quote.fx_rate, quote.fx_date) == (Decimal(84), Decimal("1.05"), MONDAY)


def test_dollars_have_no_rate():
    publish(MONDAY, USD="1.05", CNY="7.5")
    quote = ask(offer("USD"))
    assert (quote.usd_per_hour, quote.fx_rate, quote.fx_date) == (Decimal(56), None, None)


@pytest.mark.parametrize("currency", ["CNY", "EUR", "XAU"])
def test_without_a_rate_of_that_week_the_price_is_unknown_and_says_so(currency: str):
    publish(MONDAY - timedelta(days=8), USD="1.05", CNY="7.5")
    quote = ask(offer(currency))
    assert (quote.state, quote.usd_per_hour, quote.upfront) == ("unknown", None, None)
    assert quote.reason == f"the price is in {currency} and no exchange rate is on file for 2026-11-30"
    assert (quote.price_per_hour, quote.fx_rate, quote.fx_date) == (Decimal(56), None, None)


def test_a_closed_month_keeps_its_rate():
    publish(date(2026, 6, 30), USD="1.05", CNY="7.5")
    price = offer("CNY")
    june = datetime(2026, 6, 30, 12, tzinfo=UTC)
    before = ask(price, june)
    publish(MONDAY, USD="1.05", CNY="7")
    assert ask(price, june) == before
    assert ask(price).usd_per_hour == Decimal("8.4")
    assert before.usd_per_hour == Decimal("7.84")


def test_a_stated_price_in_another_currency_competes_in_dollars():
    publish(MONDAY, USD="1.05", CNY="7.5")
    sku, batch = make_sku(), make_batch()
    for zone, currency, amount in (("a", "USD", "8"), ("b", "CNY", "56")):
        make_price(
            sku=sku, batch=batch, term="spot", zone=zone, currency=currency,
            price_per_hour=Decimal(amount), effective_from=LONG_AGO,
        )  # fmt: skip
    quote = prices.price_on("aws", sku.name, "us-east-1", "spot", "", NOON)
    assert (quote.zone, quote.usd_per_hour) == ("b", Decimal("7.84"))


def test_offers_sort_and_compare_in_dollars(django_assert_num_queries):
    publish(MONDAY, USD="1.05", CNY="7.5")
    for currency, amount in (("USD", "8"), ("CNY", "56"), ("EUR", "8"), ("XAU", "1")):
        offer(currency, amount)
    with django_assert_num_queries(2):  # the rates, and the prices
        rows = list(prices.offers(NOON).order_by("per_gpu_hour", "pk"))
    found = {row.currency: (prices.usd_per_hour(row), prices.usd_per_gpu_hour(row)) for row in rows}
    assert found == {
        "CNY": (Decimal("7.84"), Decimal("0.98")),
        "USD": (Decimal(8), Decimal(1)),
        "EUR": (Decimal("8.4"), Decimal("1.05")),
        "XAU": (None, None),
    }
    dollars = {row.currency: (row.usd_hour, row.per_gpu_hour) for row in rows if row.currency != "XAU"}
    assert dollars == {
        "CNY": (pytest.approx(7.84), pytest.approx(0.98)),
        "USD": (8, 1),
        "EUR": (pytest.approx(8.4), pytest.approx(1.05)),
    }
    assert [row.currency for row in rows if row.per_gpu_hour] == ["CNY", "USD", "EUR"]
    first, *_ = cheapest(prices.offers(NOON), prices.offers(NOON), NOON)
    assert Price.objects.get(pk=first.pk).currency == "CNY"
    assert first.usd_per_gpu_hour == pytest.approx(0.98)
    assert prices.in_dollars(prices.offers(NOON)).count() == 3


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # each example cleans up after itself
@given(
    per_euro=st.decimals(Decimal("0.01"), Decimal(30_000), places=9),
    usd=st.decimals(Decimal("0.5"), Decimal(2), places=4),
    amount=st.decimals(Decimal("0.01"), Decimal(99_999), places=6),
)
def test_every_way_to_dollars_gives_the_same_figure(per_euro: Decimal, usd: Decimal, amount: Decimal):
    FxRate.objects.all().delete()
    publish(MONDAY, USD=f"{usd}", CNY=f"{per_euro}")
    price = offer("CNY", f"{amount}")
    rate = (usd / per_euro).quantize(CENT)
    expected = (amount * rate).quantize(Decimal("0.000000001"))
    quote, (listed,) = ask(price), prices.offers(NOON).filter(pk=price.pk)
    assert fx.rates_on(MONDAY)["CNY"].usd_per_unit == quote.fx_rate == prices.fx_rate(listed) == rate
    assert quote.usd_per_hour == prices.usd_per_hour(listed) == expected
    assert listed.usd_hour == pytest.approx(float(expected), rel=1e-9, abs=1e-9)
