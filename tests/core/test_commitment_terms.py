"""For how long to commit: break-even utilization, falling prices, terms on one price path."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.terms import (
    TermOffer,
    break_even_against_spot,
    break_even_utilization,
    break_even_utilization_with_decline,
    compare_terms,
    falling_price_path,
    layer_over_term,
)
from planner.core.money import discount_factors

FEW = settings(max_examples=50, deadline=None)
TWO_MONTHS, FLAT = np.array([100.0, 100.0]), np.array([1.0, 1.0])


def test_break_even_utilization_with_salvage() -> None:
    # (2.6 - 0.6) / (4.6 - 0.6)
    assert break_even_utilization(2.6, 4.6, 0.6) == pytest.approx(0.5)


def test_break_even_is_unknown_without_a_price() -> None:
    assert break_even_utilization(None, 4.0) is None
    assert break_even_utilization(2.6, None) is None
    assert break_even_against_spot(2.0, None, 0.8) is None


def test_without_decline_the_threshold_is_the_price_ratio() -> None:
    assert break_even_utilization_with_decline(0.55, 0.0, 3.0) == 0.55


def test_against_spot_the_threshold_is_the_effective_price() -> None:
    # spot at 1.00 does 0.8 of the work: 1.25 per useful GPU-hour; 2.00 committed never pays against it
    assert break_even_against_spot(2.0, 1.0, 0.8) == pytest.approx(1.6)
    assert break_even_against_spot(1.0, 1.0, 0.8) == pytest.approx(0.8)


def test_a_layer_pays_on_a_price_path() -> None:
    """Two months of 100 h, used in half of them, at 4.00 then 2.00: worth 200 + 100 at rate 0."""
    used, price = np.array([0.5, 0.5]), np.array([4.0, 2.0])
    even = layer_over_term(used, TWO_MONTHS, price, FLAT, 100.0, FLAT)  # 100 + 200 = 300
    assert (even.usd_committed, even.usd_on_demand, even.pays) == (300.0, 300.0, True)
    assert even.break_even_utilization == 0.5
    dearer = layer_over_term(used, TWO_MONTHS, price, FLAT, 101.0, FLAT)
    assert (dearer.pays, dearer.usd_saved) == (False, -1.0)


def test_an_upfront_payment_is_not_discounted_and_hours_are() -> None:
    # at 100 % a month money halves each month; U = 10 today, 100 h of 0.20 at ends: 10 + 10 + 5
    factors = np.array([0.5, 0.25])
    test = layer_over_term(FLAT, TWO_MONTHS, FLAT, 0.2, 10.0, factors)
    assert test.usd_committed == pytest.approx(25.0)
    assert test.usd_on_demand == pytest.approx(75.0)


def test_by_months_the_break_even_comes_near_the_continuous_one() -> None:
    """The published case: 45 % off for three years, prices falling 25 % a year: 0.7818."""
    path = falling_price_path(4.0, 0.25, 36)
    hours = np.full(36, 730.0)
    test = layer_over_term(np.ones(36), hours, path, 0.55 * 4.0, 0.0, np.ones(36))
    # month prices stand from the begin of each month, half a month above the continuous path
    assert test.break_even_utilization == pytest.approx(0.7817927 * math.exp(-0.25 / 24), rel=1e-4)


@FEW
@given(st.floats(0.1, 3.9), st.floats(0.0, 0.6), st.floats(0.0, 0.3), st.integers(1, 36))
def test_a_layer_used_at_break_even_costs_the_same(
    committed: float, decline: float, rate: float, months: int
) -> None:
    path, hours = falling_price_path(4.0, decline, months), np.full(months, 730.0)
    factors = discount_factors(rate, months).end
    threshold = layer_over_term(np.ones(months), hours, path, committed, 50.0, factors).break_even_utilization
    assert threshold is not None
    if threshold <= 1.0:
        at = layer_over_term(np.full(months, threshold), hours, path, committed, 50.0, factors)
        assert at.usd_saved == pytest.approx(0.0, abs=1e-6)
        assert at.pays


def test_an_unknown_price_leaves_the_test_open_and_is_named() -> None:
    gap = np.array([4.0, np.nan])
    test = layer_over_term(FLAT, TWO_MONTHS, gap, 1.0, None, FLAT)
    assert (test.pays, test.usd_saved) == (None, None)
    assert test.missing == ("on_demand_usd_per_gpu_hour", "usd_upfront_per_gpu")


def test_terms_on_flat_and_on_falling_prices() -> None:
    """1 year at 3.00, 3 years at 2.20, on demand 4.00; 36 months of 100 h, always used, at rate 0."""
    offers = [TermOffer("1 year", 12, 3.0), TermOffer("3 years", 36, 2.2)]
    always, hours = np.ones(36), np.full(36, 100.0)
    flat = compare_terms(offers, np.full(36, 4.0), always, hours)
    assert [(each.name, each.usd_present_value, each.terms) for each in flat] == [
        ("3 years", pytest.approx(7920.0), 1),
        ("1 year", pytest.approx(10800.0), 3),
        ("on demand", pytest.approx(14400.0), 0),
    ]
    # prices halve each year: 4, 2, 1; yearly terms follow them: 1200 * (3 + 1.5 + 0.75)
    halving = compare_terms(offers, np.repeat([4.0, 2.0, 1.0], 12), always, hours)
    assert [(each.name, each.usd_present_value) for each in halving] == [
        ("1 year", pytest.approx(6300.0)),
        ("3 years", pytest.approx(7920.0)),
        ("on demand", pytest.approx(8400.0)),
    ]


def test_months_after_the_last_whole_term_go_on_demand() -> None:
    # 12 months at 3.00 and 3 at 4.00, 100 h each
    costs = compare_terms([TermOffer("1 year", 12, 3.0)], np.full(15, 4.0), np.ones(15), np.full(15, 100.0))
    assert costs[0].usd_present_value == pytest.approx(3600.0 + 1200.0)


def test_renewals_are_discounted_from_their_own_begin() -> None:
    """Two terms of 12 months, upfront only, at 10 % a year: 100 + 100 / 1.1."""
    offer = TermOffer("1 year", 12, 0.0, 100.0)
    costs = compare_terms([offer], np.full(24, 4.0), np.ones(24), np.full(24, 100.0), rate_per_year=0.1)
    assert costs[0].usd_present_value == pytest.approx(100.0 + 100.0 / 1.1)


def test_an_offer_without_a_price_stands_last_and_says_why() -> None:
    costs = compare_terms([TermOffer("quote", 2, None)], FLAT, FLAT, TWO_MONTHS)
    assert [each.name for each in costs] == ["on demand", "quote"]
    assert costs[-1].missing == ("committed_usd_per_gpu_hour",)
    gap = compare_terms([TermOffer("quote", 1, 0.5, 3.0)], np.array([1.0, np.nan]), FLAT, TWO_MONTHS)
    assert all(each.usd_present_value is None and each.missing for each in gap)


@FEW
@given(st.floats(0.5, 4.0), st.floats(0.0, 0.5), st.floats(0.0, 1.0))
def test_doubling_every_price_doubles_every_cost(committed: float, decline: float, used: float) -> None:
    path, hours = falling_price_path(4.0, decline, 24), np.full(24, 730.0)
    share = np.full(24, used)
    once = compare_terms([TermOffer("1 year", 12, committed, 9.0)], path, share, hours, 0.08)
    twice = compare_terms([TermOffer("1 year", 12, 2 * committed, 18.0)], 2 * path, share, hours, 0.08)
    doubled = {each.name: each.usd_present_value for each in twice}
    assert {each.name: pytest.approx(2 * each.usd_present_value) for each in once} == doubled


@pytest.mark.parametrize(("committed", "on_demand", "salvage"), [(1.0, 2.0, 1.5), (3.0, 2.0, 2.0)])
def test_salvage_above_a_price_is_refused(committed: float, on_demand: float, salvage: float) -> None:
    with pytest.raises(ValueError, match="salvage_usd_per_gpu_hour"):
        break_even_utilization(committed, on_demand, salvage)


def test_impossible_terms_are_refused() -> None:
    with pytest.raises(ValueError, match="years"):
        break_even_utilization_with_decline(0.55, 0.25, 0.0)
    with pytest.raises(ValueError, match="used_share"):
        layer_over_term(np.array([1.2, 0.5]), TWO_MONTHS, FLAT, 1.0, 0.0, FLAT)
    with pytest.raises(ValueError, match="end_factors"):
        layer_over_term(FLAT, TWO_MONTHS, FLAT, 1.0, 0.0, np.array([1.0]))
    with pytest.raises(ValueError, match="term_months"):
        TermOffer("none", 0, 1.0)
    with pytest.raises(ValueError, match="on_demand_usd_per_gpu_hour"):
        compare_terms([], np.ones(3), FLAT, TWO_MONTHS)


def test_a_renewal_at_an_unknown_price_names_the_on_demand_price_alone() -> None:
    path = np.array([4.0] * 12 + [np.nan] + [2.0] * 11)
    held = compare_terms([TermOffer("a year", 12, 3.0)], path, np.ones(24), np.full(24, 100.0))[0]
    assert held.usd_present_value is None
    assert held.missing == ("on_demand_usd_per_gpu_hour",)


def test_an_unknown_price_after_the_last_whole_term_is_named() -> None:
    path = np.array([4.0] * 12 + [np.nan])
    offers = [TermOffer("a year", 12, 3.0), TermOffer("two years", 24, 2.0)]
    for cost in compare_terms(offers, path, np.ones(13), np.full(13, 100.0)):
        assert cost.usd_present_value is None
        assert cost.missing == ("on_demand_usd_per_gpu_hour",)


def test_a_steep_rise_of_prices_needs_next_to_no_use() -> None:
    assert break_even_utilization_with_decline(0.5, -10.0, 100.0) == pytest.approx(0.0, abs=1e-300)
    rise = break_even_utilization_with_decline(0.5, -0.2, 3.0)
    assert rise == pytest.approx(0.5 * 0.6 / (np.exp(0.6) - 1.0))
