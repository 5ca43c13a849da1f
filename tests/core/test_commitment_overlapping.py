"""Commitments over time: what is active, the layer above it, what to buy, ladders and cliffs."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.ladder import ladder_purchases, standing_of
from planner.core.commitments.level import best_level
from planner.core.commitments.overlapping import (
    DemandByMonth,
    Purchase,
    active_gpus,
    greedy_plan,
    next_unit,
)
from planner.core.commitments.terms import TermOffer

FEW = settings(max_examples=50, deadline=None)


def months_of(*gpus: float, hours: int = 100) -> DemandByMonth:
    """Return months of constant demand."""
    return DemandByMonth(np.repeat(np.array(gpus, dtype=float), hours), np.full(len(gpus), hours))


def cost_of(
    plan: tuple[Purchase, ...] | list[Purchase], demand: DemandByMonth, offers: list[TermOffer]
) -> float:
    """Return committed money and on-demand at 1.00 for the rest, at rate 0."""
    by_name = {offer.name: offer for offer in offers}
    active = np.repeat(active_gpus(plan, demand.months), demand.month_hours)
    usd = float(np.maximum(demand.gpus - active, 0.0).sum())
    for bought in plan:
        hours = demand.month_hours[bought.start_month : bought.end_month].sum()
        offer = by_name[bought.name]
        usd += bought.gpus * (offer.usd_upfront_per_gpu + offer.usd_per_gpu_hour * hours)
    return usd


def test_active_is_the_sum_of_running_terms() -> None:
    held = [Purchase(-3, 4, 8), Purchase(0, 2, 4), Purchase(2, 6, 1)]
    assert active_gpus(held, 4).tolist() == [12, 4, 1, 1]


def test_the_layer_above_sinks_as_terms_expire() -> None:
    """4 GPUs wanted, 4 held for one more month: idle in month 1, then used in two of three months."""
    demand, price = months_of(4, 4, 4), np.ones(3)
    held = [Purchase(-11, 12, 4)]
    test = next_unit(demand, held, TermOffer("3 months", 3, 0.66), 0, price)
    assert test.usd_on_demand == pytest.approx(200.0)
    assert test.pays  # 198
    assert not next_unit(demand, held, TermOffer("3 months", 3, 0.67), 0, price).pays


def test_the_test_of_an_instance_is_its_mean_use() -> None:
    # 8 GPUs in one instance, 6 of them wanted: 0.75 per GPU
    test = next_unit(months_of(6), [], TermOffer("1 month", 1, 0.7), 0, np.ones(1), gpus_per_instance=8)
    assert test.usd_on_demand == pytest.approx(75.0)


@FEW
@given(st.lists(st.integers(0, 12), min_size=4, max_size=30), st.floats(0.05, 0.95), st.sampled_from([1, 4]))
def test_with_one_term_over_all_months_the_plan_is_the_best_level(
    hourly: list[int], share: float, size: int
) -> None:
    demand = DemandByMonth(np.array(hourly, dtype=float), np.array([3, len(hourly) - 3]))
    plan = greedy_plan(demand, [TermOffer("all", 2, share)], np.ones(2), gpus_per_instance=size)
    at_begin = sum(each.gpus for each in plan if each.start_month == 0)
    assert at_begin == best_level(demand.gpus, share, 1.0, size).gpus


@FEW
@given(st.lists(st.integers(0, 5), min_size=4, max_size=4), st.floats(0.3, 0.95), st.floats(0.3, 0.95))
def test_a_plan_never_costs_more_than_on_demand(monthly: list[int], short: float, long: float) -> None:
    demand = months_of(*monthly)
    offers = [TermOffer("2 months", 2, short), TermOffer("4 months", 4, long)]
    plan = greedy_plan(demand, offers, np.ones(4))
    assert cost_of(plan, demand, offers) <= demand.gpus.sum() + 1e-6


@FEW
@given(st.lists(st.integers(0, 1), min_size=5, max_size=5), st.floats(0.3, 0.95))
def test_the_plan_is_never_below_the_optimum_and_is_it_at_constant_demand(
    monthly: list[int], share: float
) -> None:
    """Against every plan of at most one purchase a month."""
    demand, offers = months_of(*monthly), [TermOffer("2 months", 2, share)]
    every = [
        cost_of([Purchase(s, 2, n, "2 months") for s, n in enumerate(counts)], demand, offers)
        for counts in product(range(2), repeat=4)
    ]
    greedy = cost_of(greedy_plan(demand, offers, np.ones(5)), demand, offers)
    assert greedy >= min(every) - 1e-6
    if len(set(monthly)) == 1:
        assert greedy == pytest.approx(min(every))


def test_of_two_offers_the_one_that_saves_most_per_month_is_bought() -> None:
    demand = months_of(2, 2, 2, 0)
    offers = [TermOffer("1 month", 1, 0.8), TermOffer("3 months", 3, 0.6)]
    assert greedy_plan(demand, offers, np.ones(4)) == (Purchase(0, 3, 2, "3 months"),)


def test_a_renewal_waits_until_the_old_term_ends() -> None:
    """Bought two months early the new term would still pay, with two idle months in it."""
    demand = months_of(*[4] * 14)
    plan = greedy_plan(demand, [TermOffer("6 months", 6, 0.3)], np.ones(14), held=[Purchase(-4, 6, 4)])
    assert plan == (Purchase(2, 6, 4, "6 months"), Purchase(8, 6, 4, "6 months"))


def test_what_is_held_is_not_bought_again() -> None:
    demand = months_of(4, 4)
    plan = greedy_plan(demand, [TermOffer("2 months", 2, 0.6)], np.ones(2), held=[Purchase(-1, 3, 3)])
    assert plan == (Purchase(0, 2, 1, "2 months"),)


def test_offers_without_a_price_or_past_the_demand_are_not_bought() -> None:
    offers = [TermOffer("quote", 1, None), TermOffer("year", 12, 0.1)]
    assert greedy_plan(months_of(4, 4), offers, np.ones(2)) == ()


def test_a_free_offer_is_bought_for_what_is_wanted_only() -> None:
    assert greedy_plan(months_of(3), [TermOffer("gift", 1, 0.0)], np.ones(1)) == (Purchase(0, 1, 3, "gift"),)


def test_a_ladder_has_a_quarter_expire_each_quarter() -> None:
    ladder = ladder_purchases(16, 12, 36, gpus_per_instance=2)
    found = standing_of(ladder, 36)
    assert found.active_gpus[9:].tolist() == [16] * 27  # full from the fourth rung on, renewed
    assert [found.expiring_gpus[m] for m in range(12, 36, 3)] == [4] * 8
    assert found.expiring_gpus.sum() == 32


def test_a_ladder_takes_a_cliff_apart() -> None:
    """16 GPUs end at once in month 3; from month 15 on a quarter ends in each quarter."""
    held = [Purchase(-9, 12, 16)]
    ladder = ladder_purchases(16, 12, 36, held=held)
    found = standing_of([*held, *ladder], 36)
    assert (found.cliff, found.cliff_month) == (0.75, 3)  # 4 of 16 are bought in the month of the cliff
    assert found.active_gpus[3:15].tolist() == [4] * 3 + [8] * 3 + [12] * 3 + [16] * 3
    assert [found.expiring_gpus[m] for m in range(15, 36, 3)] == [4] * 7
    assert found.active_gpus[12:].tolist() == [16] * 24


def test_rungs_that_do_not_divide_evenly_add_up() -> None:
    assert [each.gpus for each in ladder_purchases(24, 12, 12, gpus_per_instance=4)] == [8, 8, 4, 4]


def test_the_cliff_is_measured_against_today() -> None:
    # 4 until month 3, 12 until month 6: of 16 today, 12 go at once
    found = standing_of([Purchase(-9, 12, 4), Purchase(-6, 12, 12)], 12)
    assert (found.cliff, found.cliff_month) == (0.75, 6)
    assert found.weighted_remaining_months == (4 * 3 + 12 * 6) / 16


def test_a_renewal_fills_the_cliff() -> None:
    found = standing_of([Purchase(-6, 12, 12), Purchase(6, 12, 12)], 12)
    assert (found.cliff, found.cliff_month) == (0.0, None)


def test_without_commitments_there_is_no_cliff() -> None:
    found = standing_of([], 3)
    assert (found.cliff, found.weighted_remaining_months) == (None, None)


def test_impossible_plans_are_refused() -> None:
    demand = months_of(4, 4)
    with pytest.raises(ValueError, match="start_month"):
        next_unit(demand, [], TermOffer("2 months", 2, 0.5), 1, np.ones(2))
    with pytest.raises(ValueError, match="on_demand_usd_per_gpu_hour"):
        next_unit(demand, [], TermOffer("2 months", 2, 0.5), 0, np.ones(3))
    with pytest.raises(ValueError, match="month_hours"):
        DemandByMonth(np.ones(5), np.array([2, 2]))
    with pytest.raises(ValueError, match="gpus"):
        Purchase(0, 12, -1)
    with pytest.raises(ValueError, match="rungs"):
        ladder_purchases(8, 12, 24, rungs=5)
    with pytest.raises(ValueError, match="gpus"):
        ladder_purchases(9, 12, 24, gpus_per_instance=8)


def test_a_ladder_leaves_room_for_what_starts_later() -> None:
    """Four GPUs are agreed from month 1 on: a ladder of one rung may buy only the other four now."""
    agreed = [Purchase(1, 12, 4)]
    bought = ladder_purchases(8, 12, 17, rungs=1, held=agreed)
    assert active_gpus([*agreed, *bought], 17).max() == 8
    assert [(each.start_month, each.gpus) for each in bought] == [(0, 4), (12, 4)]
