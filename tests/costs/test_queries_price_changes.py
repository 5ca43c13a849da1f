"""Claims about twelve months of a price: what it was, what it is, and when nobody knows."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from costs.queries import offers, prices
from costs.queries.price_changes import changes
from tests.fact_builders import make_batch, make_price, make_sku

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 8, 30, tzinfo=UTC)
CUT = datetime(2026, 6, 5, tzinfo=UTC)
LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def key():
    """The fields that make two rows the same price."""
    batch = make_batch(source="price_history_table")
    return {"batch": batch, "source": batch.source, "sku": make_sku()}


def change_of(price, until=NOW):
    return changes([price], until).get(price.pk)


def test_a_cut_is_the_last_price_against_the_first(key):
    """55.04 / 98.32 - 1 = -0.4402."""
    make_price(**key, price_per_hour=Decimal("98.32"), effective_from=LONG_AGO, effective_to=CUT)
    change = change_of(make_price(**key, price_per_hour=Decimal("55.04"), effective_from=CUT))
    assert round(change.share, 4) == Decimal("-0.4402")
    assert (change.is_whole, change.moved) == (True, True)
    assert change.first_seen == NOW - timedelta(days=365)
    values = change.samples(13)
    assert (values[0], values[-1], set(values)) == (98.32, 55.04, {98.32, 55.04})


def test_what_ended_before_the_window_is_no_part_of_it(key):
    make_price(
        **key, price_per_hour=Decimal(500), effective_from=LONG_AGO, effective_to=NOW - timedelta(days=366)
    )
    since = NOW - timedelta(days=366)
    change = change_of(make_price(**key, price_per_hour=Decimal(50), effective_from=since))
    assert (change.share, change.moved, change.is_whole) == (0, False, True)


def test_a_price_that_is_known_for_some_months_alone_says_since_when(key):
    change = change_of(make_price(**key, effective_from=CUT))
    assert (change.is_whole, change.first_seen) == (False, CUT)
    assert change.samples(13)[0] is None
    assert change.samples(13)[-1] == 31.44


def test_a_time_in_which_nothing_was_sold_is_a_gap_and_not_a_price(key):
    sold_out = CUT + timedelta(days=30)
    make_price(**key, price_per_hour=Decimal(10), effective_from=LONG_AGO, effective_to=CUT)
    make_price(**key, state="not_sold", price_per_hour=None, effective_from=CUT, effective_to=sold_out)
    change = change_of(make_price(**key, price_per_hour=Decimal(15), effective_from=sold_out))
    assert change.share == Decimal("0.5")
    assert None in change.samples(50)[1:]


def test_a_price_that_is_gone_has_no_change(key):
    make_price(**key, price_per_hour=Decimal(10), effective_from=LONG_AGO, effective_to=CUT)
    change = change_of(make_price(**key, state="not_sold", price_per_hour=None, effective_from=CUT))
    assert change.share is None


def test_a_change_of_currency_has_no_share(key):
    make_price(**key, currency="EUR", effective_from=LONG_AGO, effective_to=CUT)
    assert change_of(make_price(**key, effective_from=CUT)) is None


def test_other_sources_regions_zones_and_payments_are_other_prices(key):
    make_price(
        **key, region="eu-west-1", price_per_hour=Decimal(1), effective_from=LONG_AGO, effective_to=CUT
    )
    make_price(**key, zone="use1-az1", price_per_hour=Decimal(1), effective_from=LONG_AGO, effective_to=CUT)
    make_price(
        **key, payment="all_upfront", price_per_hour=Decimal(1), effective_from=LONG_AGO, effective_to=CUT
    )
    make_price(sku=key["sku"], price_per_hour=Decimal(1), effective_from=LONG_AGO, effective_to=CUT)
    assert not change_of(make_price(**key, effective_from=CUT)).moved


def test_a_page_of_a_past_date_sees_no_later_change(key):
    before = make_price(**key, price_per_hour=Decimal(98), effective_from=LONG_AGO, effective_to=CUT)
    make_price(**key, price_per_hour=Decimal(55), effective_from=CUT)
    change = change_of(before, until=CUT - timedelta(days=1))
    assert (change.share, change.moved) == (0, False)


def test_many_prices_and_the_cheapest_offer_cost_one_query(key, django_assert_num_queries):
    rows = []
    for number in range(20):
        region = f"region-{number}"
        make_price(
            **key, region=region, price_per_hour=Decimal(20), effective_from=LONG_AGO, effective_to=CUT
        )
        rows.append(make_price(**key, region=region, price_per_hour=Decimal(10), effective_from=CUT))
    every = prices.offers(NOW)
    cheapest = offers.cheapest(every, every, NOW)[:1]
    with django_assert_num_queries(1):
        found = changes([row for row in rows if row.pk != cheapest[0].pk], NOW, cheapest)
    assert len(found) == 20
    assert {change.share for change in found.values()} == {Decimal("-0.5")}
