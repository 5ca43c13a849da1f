"""Claims about a GPU's price day by day. 24 / 8 = 3; 16 / 8 = 2; 8 / 8 = 1."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs.models import Accelerator, FxRate, Price
from costs.queries.fx_days import daily_rates
from costs.queries.price_history import best_of
from costs.queries.price_steps import Offer, origins, steps_of
from costs.queries.prices import price_on
from tests.fact_builders import make_accelerator, make_batch, make_price, make_sku

from .gpu_prices import FIRST, NOW, P5, SINCE, days, make_offer, on, read, swept

pytestmark = pytest.mark.django_db


# ---- steps ----


def test_a_step_says_what_one_source_stated_with_exact_amounts_and_where_from():
    batch = make_batch()
    make_price(batch=batch, effective_from=on(2), as_of=on(29), price_per_hour=Decimal("98.32"), line=7)
    (step,) = read()
    assert (step.offer, step.offer.key) == (P5, "aws/p5.48xlarge/us-east-1")
    assert (step.price_per_hour, step.gpu_count) == (Decimal("98.32"), Decimal(8))
    assert (step.starts_at, step.ends_at, step.seen_at) == (on(2), None, on(29))
    assert (step.run_id, step.line) == (batch.run_id, 7)
    origin = origins([step.batch_id])[batch.pk]
    assert (origin.sha256, origin.fetched_at) == (batch.raw.sha256, batch.raw.fetched_at)


def test_a_fraction_of_a_second_and_of_a_gpu_is_kept():
    moment = datetime(2026, 11, 3, 4, 5, 6, 727366, tzinfo=UTC)
    make_price(provider="azure", gpu_count=Decimal("0.167"), effective_from=moment)
    (step,) = read()
    assert (step.starts_at, step.gpu_count) == (moment, Decimal("0.167"))


def test_of_other_terms_only_what_holds_now_is_read_and_of_the_term_what_reaches_into_the_window():
    make_accelerator()
    make_offer("9", on(1) - timedelta(days=90), on(1) - timedelta(days=1), name="ended before")
    make_offer("8", on(1) - timedelta(days=90), on(2), name="reaches in")
    make_offer("7", on(3), on(4), name="other term, ended", term="spot")
    make_offer("6", on(3), name="other term", term="spot")
    assert {step.sku for step in read()} == {"reaches in", "other term"}


def test_a_price_counts_for_two_cadences_after_it_was_last_seen():
    make_offer("8", on(1), source="skypilot", as_of=on(16, 13), name="weekly, seen in time")
    make_offer("8", on(1), source="skypilot", as_of=on(16, 11), name="weekly, seen too long ago")
    stale = {step.sku: step.is_stale(NOW) for step in read()}
    assert stale == {"weekly, seen in time": False, "weekly, seen too long ago": True}


def test_what_a_list_of_changes_leaves_out_held_to_its_end():
    """Such a file names a price on the day that it changed, and no other day."""
    batch = make_batch(source="gcp_price_history", as_of=on(20))
    make_offer("8", on(1), source="gcp_price_history", batch=batch, as_of=on(1))
    (step,) = read()
    assert step.seen_at == on(20)


def test_reading_takes_one_query(django_assert_num_queries):
    make_price()
    accelerator = Accelerator.objects.get()
    with django_assert_num_queries(1):
        steps_of(accelerator.pk, term="spot", since=SINCE, now=NOW)


# ---- days ----


def test_the_lowest_and_the_median_change_on_the_day_on_which_a_price_does():
    sku = make_sku()
    make_offer("24", on(1), on(10), sku=sku, scope="a")
    make_offer("16", on(10), sku=sku, scope="a")
    make_offer("32", on(5), name="dear")
    assert days(swept()) == [("01", 3, 3, 1), ("05", 3, 3.5, 2), ("10", 2, 3, 2)]
    assert swept().now.lowest.step.price_per_hour == 16


def test_a_day_before_any_price_has_none_and_no_zero():
    make_offer("24", on(4))
    assert days(swept())[0] == ("01", None, None, 0)


def test_a_price_that_ended_counts_no_more_on_that_day():
    make_offer("24", on(1), on(10, 15))
    assert days(swept()) == [("01", 3, 3, 1), ("10", None, None, 0)]


def test_of_several_prices_of_one_day_the_last_counts():
    sku = make_sku()
    for price, start, end in (("24", on(3), on(5, 9)), ("40", on(5, 9), on(5, 17)), ("16", on(5, 17), None)):
        make_offer(price, start, end, sku=sku, scope="a")
    assert days(swept())[1:] == [("03", 3, 3, 1), ("05", 2, 2, 1)]


def test_where_nobody_watched_there_is_no_price():
    """The price before a gap is known to its last sight, the one after it from its first."""
    sku = make_sku()
    make_offer("24", on(2), on(20), sku=sku, scope="a", as_of=on(6, 8))
    make_offer("16", on(20), sku=sku, scope="a", follows_gap=True)
    assert days(swept()) == [("01", None, None, 0), ("02", 3, 3, 1), ("07", None, None, 0), ("20", 2, 2, 1)]


def test_a_price_that_is_stale_ends_and_is_not_the_lowest_now():
    make_offer("8", on(1), source="skypilot", as_of=on(10), name="stale")
    make_offer("24", on(1), name="fresh")
    found = swept()
    assert days(found) == [("01", 1, 2, 2), ("25", 3, 3, 1)]
    assert found.now.lowest.step.sku == "fresh"


def test_a_price_that_grew_too_old_this_morning_does_not_count_today():
    make_offer("8", on(1), source="skypilot", as_of=on(16, 11))
    assert days(swept())[-1] == ("30", None, None, 0)


def test_where_sources_disagree_what_was_stated_last_counts_as_in_prices_on():
    sku = make_sku()
    make_offer("16", on(1), sku=sku, source="list_prices", as_of=on(20))
    make_offer("24", on(1), sku=sku, source="skypilot", as_of=on(28))
    found = swept()
    assert days(found) == [("01", 3, 3, 1)], "one offer, whoever states it"
    quote = price_on("aws", "p5.48xlarge", "us-east-1", "on_demand", "", NOW)
    assert float(quote.usd_per_gpu_hour) == found.now.lowest.usd_per_gpu_hour


def test_zones_of_a_region_are_one_offer_at_the_cheapest():
    sku, batch = make_sku(), make_batch()
    for zone, price in (("use1-az1", 24), ("use1-az2", 16), ("use1-az4", 40)):
        make_price(sku=sku, batch=batch, zone=zone, price_per_hour=Decimal(price), as_of=on(29))
    assert days(swept())[-1][1:] == (2, 2, 1)


def test_ways_to_pay_are_offers_of_their_own():
    sku, batch = make_sku(), make_batch()
    for payment, price in (("no_upfront", 24), ("all_upfront", 16)):
        make_price(
            sku=sku,
            batch=batch,
            term="reserved_1y",
            payment=payment,
            price_per_hour=Decimal(price),
            as_of=NOW,
        )
    assert days(swept("reserved_1y"))[-1][1:] == (2, 2.5, 2)


def test_the_line_of_one_offer_has_gaps_where_it_is_not_known():
    sku = make_sku()
    make_offer("24", on(3), on(8), sku=sku, scope="a")
    make_offer("", on(8), on(12), sku=sku, scope="a", state="not_sold")
    make_offer("16", on(12), sku=sku, scope="a")
    make_offer("8", on(1), name="another")
    own = swept().of(P5)
    spans = [(f"{one.first:%d}", f"{one.last:%d}", one.price and one.price.usd_per_gpu_hour) for one in own]
    assert spans == [
        ("01", "02", None), ("03", "07", 3), ("08", "11", None), ("12", "30", 2),
    ]  # fmt: skip
    assert swept().of(Offer("aws", "nothing", "us-east-1", "")) == []


def test_the_last_sight_is_the_newest_of_any_price():
    make_offer("24", on(1), as_of=on(12))
    make_offer("16", on(1), as_of=on(17, 6))
    assert swept().seen_until == on(17, 6)


def test_prices_in_another_currency_take_the_rate_of_each_day():
    make_offer("80", on(1), currency="EUR")
    batch = make_batch(source="ecb_rates")
    for day, per_euro in ((1, "1.10"), (4, "1.20"), (20, "1.30")):
        FxRate.objects.create(currency="USD", on=date(2026, 11, day), per_euro=Decimal(per_euro), batch=batch)
    rates = daily_rates({"EUR", "USD"}, FIRST, NOW.date())
    found = swept(usd_by_day={"EUR": rates["EUR"].by_day})
    lowest = {one.first.day: one.lowest and round(one.lowest.usd_per_gpu_hour, 9) for one in found.stretches}
    assert [lowest[day] for day in (1, 3, 4, 11, 12, 19, 20)] == [11, 11, 12, 12, None, None, 13]
    assert rates["EUR"].latest is None, "ten days old: rates have stopped coming"


def test_without_a_rate_a_foreign_price_is_counted_and_not_drawn():
    make_offer("80", on(1), currency="CNY")
    make_offer("24", on(1))
    found = swept()
    assert (found.without_dollars, days(found)) == (1, [("01", 3, 3, 1)])


def test_no_currency_but_dollars_takes_no_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert daily_rates({"USD"}, FIRST, NOW.date()) == {}
    assert daily_rates({"XYZ"}, FIRST, NOW.date()) == {}


def test_what_counts_now_is_one_step_for_each_term_and_offer():
    sku = make_sku()
    make_offer("16", on(1), sku=sku, source="list_prices", as_of=on(20))
    make_offer("24", on(1), sku=sku, source="skypilot", as_of=on(28))
    make_offer("8", on(1), sku=sku, term="spot")
    found = best_of(read())
    assert {term: step.price_per_hour for (term, _), step in found.items()} == {"on_demand": 24, "spot": 8}


SPANS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 28), st.integers(1, 9), st.integers(1, 9)), max_size=12
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SPANS)
def test_every_day_is_that_of_a_look_at_each_price_by_itself(db: None, spans):
    """The sweep against the plain reading: for each day the prices that hold at its end."""
    Price.objects.all().delete()
    accelerator = Accelerator.objects.first() or make_accelerator()
    batch, taken = make_batch(), set()
    for name, start, length, price in spans:
        if any((name, day) in taken for day in range(start, start + length + 1)):
            continue
        taken |= {(name, day) for day in range(start, start + length + 1)}
        sku = accelerator.skus.filter(name=str(name)).first() or make_sku(name=str(name))
        end = on(start) + timedelta(days=length)
        make_price(
            sku=sku, batch=batch, scope="a", price_per_hour=Decimal(8 * price), effective_from=on(start),
            effective_to=end if end < NOW else None, as_of=min(end, NOW),
        )  # fmt: skip
    found = swept()
    rows = list(Price.objects.all())
    for stretch in found.stretches:
        for number in range((stretch.last - stretch.first).days + 1):
            day_end = datetime.combine(stretch.first, datetime.min.time(), UTC) + timedelta(days=number + 1)
            moment = min(day_end - timedelta(microseconds=1), NOW)
            known = [
                float(row.price_per_hour) / 8
                for row in rows
                if row.effective_from <= moment and (row.effective_to is None or row.effective_to > moment)
            ]
            assert stretch.offers == len(known)
            assert (stretch.lowest and stretch.lowest.usd_per_gpu_hour) == min(known, default=None)
            assert stretch.median == (float(np.median(known)) if known else None)
    assert (found.stretches[0].first, found.stretches[-1].last) == (FIRST, NOW.date())
