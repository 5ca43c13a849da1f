"""The hourly algorithm of plans that commit money."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core import savings
from planner.core.calendar import Horizon
from planner.core.commitments.savings_plan import apply_plans, hourly_use
from planner.core.commitments.usage import (
    FleetLine,
    SpendPlan,
    UsageItem,
    commitment_needed,
    order_of_application,
)
from planner.core.plan import OnDemand, PlanRate, SavingsPlan
from planner.core.slots import hourly_slots

FEW = settings(max_examples=50, deadline=None)
PRICES = st.floats(0.1, 10.0)
SHARES = st.floats(0.2, 1.0)


@st.composite
def uses(draw: st.DrawFn) -> tuple[list[UsageItem], np.ndarray, dict[str, float]]:
    """Draw items, their use by hour and plan prices."""
    prices = draw(st.lists(PRICES, min_size=1, max_size=4))
    items = [UsageItem(f"item {place}", usd) for place, usd in enumerate(prices)]
    rates = {item.name: item.usd_on_demand_per_unit * draw(SHARES) for item in items}
    hours = draw(st.integers(1, 5))
    amount = st.just(0.0) | st.floats(0.01, 20.0)
    row = st.lists(amount, min_size=len(items), max_size=len(items))
    return items, np.array([draw(row) for _ in range(hours)]), rates


def charge_of_hour(
    items: list[UsageItem], units: np.ndarray, rates: dict[str, float], committed: float
) -> tuple[float, list[float]]:
    """Cover one hour the plain way: item by item, as the guide tells it."""
    left, covered = committed, [0.0] * len(items)
    by_discount = sorted(
        range(len(items)),
        key=lambda place: rates[items[place].name] / items[place].usd_on_demand_per_unit,
    )
    for place in by_discount:
        usd = rates[items[place].name]
        covered[place] = min(units[place], left / usd)
        left -= covered[place] * usd
    rest = sum(
        (u - c) * item.usd_on_demand_per_unit for u, c, item in zip(units, covered, items, strict=True)
    )
    return committed + rest, covered


@FEW
@given(uses(), st.floats(0.0, 100.0))
def test_hours_at_once_are_hours_one_by_one(use: tuple, committed: float) -> None:
    items, units, rates = use
    applied = apply_plans(items, units, [SpendPlan("plan", committed, rates)])
    for hour, row in enumerate(units):
        charge, _ = charge_of_hour(items, row, rates, committed)
        assert applied.charge_usd[hour] == pytest.approx(charge)


@FEW
@given(uses(), st.floats(0.0, 100.0), st.floats(0.0, 100.0))
def test_two_plans_keep_the_balance_of_money_and_units(use: tuple, narrow: float, broad: float) -> None:
    items, units, rates = use
    deeper = {items[0].name: 0.8 * rates[items[0].name]}
    plans = [SpendPlan("broad", broad, rates), SpendPlan("narrow", narrow, deeper, narrow=True)]
    applied = apply_plans(items, units, plans)
    totals = applied.totals()
    assert (applied.unused_usd_by_plan >= 0.0).all()
    assert (applied.covered_units >= 0.0).all()
    assert applied.covered_units + applied.on_demand_units == pytest.approx(units)
    assert (applied.charge_usd >= narrow + broad - 1e-9).all()
    assert totals.usd_used + totals.usd_unused == pytest.approx(totals.usd_committed)
    assert totals.usd_charge == pytest.approx(totals.usd_committed + totals.usd_on_demand)
    worth = np.array([item.usd_on_demand_per_unit for item in items])
    assert totals.usd_saved == pytest.approx(float((units @ worth).sum()) - totals.usd_charge, abs=1e-6)


@FEW
@given(uses())
def test_the_charge_is_convex_in_the_commitment(use: tuple) -> None:
    items, units, rates = use
    levels = np.linspace(0.0, 60.0, 25)
    charges = [apply_plans(items, units, [SpendPlan("plan", c, rates)]).charge_usd.sum() for c in levels]
    assert (np.diff(charges, 2) >= -1e-7).all()


@FEW
@given(uses(), st.floats(0.0, 100.0))
def test_the_order_is_the_cheapest_of_the_hour(use: tuple, committed: float) -> None:
    """Highest discount first is optimal: no other order pays less (fractional knapsack)."""
    items, units, rates = use
    row = units[0]
    best = apply_plans(items, row, [SpendPlan("plan", committed, rates)]).charge_usd[0]
    for shift in range(len(items)):
        left, rest = committed, 0.0
        for place in np.roll(np.arange(len(items)), shift):
            covered = min(row[place], left / rates[items[place].name])
            left -= covered * rates[items[place].name]
            rest += (row[place] - covered) * items[place].usd_on_demand_per_unit
        assert best <= committed + rest + 1e-6


A, B = UsageItem("a", 1.0), UsageItem("b", 1.0)


def test_a_narrow_plan_comes_before_a_broad_one() -> None:
    plans = [
        SpendPlan("broad", 10.0, {"a": 0.5, "b": 0.9}),
        SpendPlan("narrow", 0.6, {"a": 0.6}, narrow=True),
    ]
    applied = apply_plans([A, B], np.array([1.0, 1.0]), plans)
    assert applied.covered_units_by_plan[:, 0].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert applied.order == {"broad": ("b",), "narrow": ("a",)}


def test_the_owner_s_account_comes_before_a_higher_discount_elsewhere() -> None:
    own, other = UsageItem("own", 1.0, account="1"), UsageItem("other", 1.0, account="2")
    plan = SpendPlan("plan", 1.3, {"own": 0.8, "other": 0.5}, owner="1")
    applied = apply_plans([other, own], np.array([1.0, 4.0]), [plan])
    assert applied.covered_units[0].tolist() == [0.0, pytest.approx(1.3 / 0.8)]
    plenty = SpendPlan("plan", 4.0, {"own": 0.8, "other": 0.5}, owner="1")
    shared = apply_plans([other, own], np.array([1.0, 4.0]), [plenty])
    assert shared.order["plan"] == ("own", "other")
    assert shared.covered_units[0] == pytest.approx([1.0, 4.0])


def test_a_plan_that_is_not_shared_stays_in_its_account() -> None:
    plan = SpendPlan("plan", 9.0, {"a": 0.5}, owner="1", shared=False)
    assert apply_plans([A], np.array([4.0]), [plan]).totals().usd_charge == pytest.approx(13.0)


def test_two_plans_cover_their_own_accounts_before_either_is_shared() -> None:
    items = [UsageItem("a", 1.0, account="1"), UsageItem("b", 1.0, account="2")]
    rates = {"a": 0.5, "b": 0.5}
    plans = [SpendPlan("first", 1.0, rates, owner="1"), SpendPlan("second", 0.5, rates, owner="2")]
    applied = apply_plans(items, np.array([1.0, 1.0]), plans)
    assert applied.covered_units_by_plan[:, 0].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_reserved_use_is_taken_out_first() -> None:
    applied = apply_plans(
        [A, B], np.array([3.0, 1.0]), [SpendPlan("plan", 1.0, {"a": 0.5, "b": 0.6})], np.array([2.0, 0.0])
    )
    # one a at 0.50 is left, then 0.50 of 0.60 of b
    assert applied.covered_units[0] == pytest.approx([1.0, 0.5 / 0.6])
    assert applied.totals().usd_on_demand == pytest.approx(1 / 6)


def test_what_is_not_eligible_pays_on_demand_and_is_not_in_coverage() -> None:
    totals = apply_plans([A, B], np.array([1.0, 5.0]), [SpendPlan("p", 0.5, {"a": 0.5, "b": None})]).totals()
    assert totals.usd_on_demand == 5.0
    assert totals.coverage == 1.0
    assert totals.effective_savings_rate == pytest.approx(0.5 / 6.0)


def test_nothing_carries_over_to_the_next_hour() -> None:
    item, plan = UsageItem("a", 2.0), SpendPlan("p", 10.0, {"a": 1.0})
    totals = apply_plans([item], np.array([[5.0], [15.0]]), [plan]).totals()
    assert (totals.usd_used, totals.usd_unused, totals.usd_on_demand) == (15.0, 5.0, 10.0)
    assert totals.utilization == hourly_use(np.array([5.0, 15.0]), 10.0).utilization == 0.75


def test_a_year_of_twenty_items_keeps_the_balance() -> None:
    rng = np.random.default_rng(4)
    items = [UsageItem(f"item {n}", 1.0 + n) for n in range(20)]
    units = rng.uniform(0.0, 5.0, (8760, 20))
    rates = {item.name: item.usd_on_demand_per_unit * (0.4 + 0.02 * n) for n, item in enumerate(items)}
    applied = apply_plans(items, units, [SpendPlan("p", 150.0, rates)])
    np.testing.assert_allclose(applied.covered_units + applied.on_demand_units, units)
    rate = np.array([rates[item.name] for item in items])
    np.testing.assert_allclose(applied.covered_units @ rate, applied.used_usd_by_plan[0])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.0, 40.0), st.floats(0.0, 8.0))
def test_a_whole_plan_covers_hours_in_the_same_way(seed: int, broad: float, narrow: float) -> None:
    start = date(2027, 2, 1)
    horizon = Horizon(start, 1)
    slots = hourly_slots(horizon)
    use = np.random.default_rng(seed).integers(0, 9, (3, len(slots.month))).astype(float)
    prices = {"a": 1.0, "b": 2.0, "c": 4.0}
    plans = [
        SpendPlan("broad", broad, {"a": 0.7, "b": 1.5, "c": 2.8}),
        SpendPlan("narrow", narrow, {"a": 0.6}, narrow=True),
    ]
    bought = [
        SavingsPlan(
            plan.name,
            plan.usd_per_hour,
            start,
            12,
            tuple(PlanRate(name, usd) for name, usd in plan.usd_per_unit.items()),
            narrow=plan.narrow,
        )
        for plan in plans
    ]
    supplies = [OnDemand(name, usd) for name, usd in prices.items()]
    by_month = {name: np.array([usd]) for name, usd in prices.items()}
    covered = savings.cover(bought, supplies, use, slots, horizon, by_month)
    applied = apply_plans([UsageItem(name, usd) for name, usd in prices.items()], use.T, plans)
    np.testing.assert_allclose(covered.gpus.T, applied.covered_units, atol=1e-12)
    np.testing.assert_allclose(covered.usd_per_hour, applied.used_usd_by_plan, atol=1e-12)


def test_an_unknown_price_makes_money_unknown_and_is_named() -> None:
    items = [A, UsageItem("b", None)]
    totals = apply_plans(items, np.array([1.0, 1.0]), [SpendPlan("p", 1.0, {"a": 0.5})]).totals()
    assert totals.missing == ("b",)
    assert totals.usd_charge is None
    assert totals.usd_on_demand is None
    assert totals.effective_savings_rate is None
    # b is not eligible: what the plan covers is known
    assert (totals.usd_used, totals.coverage, totals.usd_saved) == (0.5, 1.0, 0.0)


def test_an_unknown_price_leaves_the_order_open_only_where_money_runs_out() -> None:
    items = [A, UsageItem("b", None)]
    units = np.array([[1.0, 1.0], [10.0, 10.0]])
    applied = apply_plans(items, units, [SpendPlan("p", 2.0, {"a": 0.5, "b": 0.5})])
    assert applied.covered_units[0].tolist() == [1.0, 1.0]
    assert np.isnan(applied.covered_units[1]).all()
    assert applied.used_usd_by_plan.tolist() == [[1.0, 2.0]]
    assert applied.totals().utilization == 0.75
    assert applied.totals().coverage is None


def test_nothing_committed_or_used_has_no_shares() -> None:
    totals = apply_plans([A], np.array([0.0]), [SpendPlan("p", 0.0, {"a": 0.5})]).totals()
    assert (totals.utilization, totals.coverage, totals.effective_savings_rate) == (None, None, None)


def test_ties_go_to_the_lower_plan_price_even_where_floats_differ() -> None:
    items = [UsageItem("dear", 0.3), UsageItem("cheap", 0.1)]
    assert order_of_application(items, {"dear": 0.3 * 0.7, "cheap": 0.1 * 0.7}) == (1, 0)


def test_a_fleet_with_an_unknown_price_needs_an_unknown_commitment() -> None:
    lines = [FleetLine("one", 1.0, 2), FleetLine("two", None, 1), FleetLine("two", 1.0, 1)]
    assert commitment_needed(lines) == {"one": 2.0, "two": None}


def test_bad_input_is_refused_with_the_right_range() -> None:
    plan = SpendPlan("p", 1.0, {"a": 0.5})
    with pytest.raises(ValueError, match=r"units is .*; right would be a number from 0 up"):
        apply_plans([A], np.array([-1.0]), [plan])
    with pytest.raises(ValueError, match=r"of shape \(hours, 1\)"):
        apply_plans([A], np.array([1.0, 2.0]), [plan])
    with pytest.raises(ValueError, match="reserved_units"):
        apply_plans([A], np.array([1.0]), [plan], np.array([2.0]))
    with pytest.raises(ValueError, match="items is"):
        apply_plans([A, A], np.array([1.0, 2.0]), [plan])
    with pytest.raises(ValueError, match="p: usd_per_hour is nan"):
        SpendPlan("p", float("nan"), {})
    with pytest.raises(ValueError, match="p: usd_per_unit of a is 0"):
        SpendPlan("p", 1.0, {"a": 0.0})
    with pytest.raises(ValueError, match="a: usd_on_demand_per_unit is -1"):
        UsageItem("a", -1.0)
    with pytest.raises(ValueError, match="usd_per_hour is inf"):
        hourly_use(np.array([1.0]), float("inf"))


def test_a_plan_of_nobody_that_is_not_shared_is_refused() -> None:
    with pytest.raises(ValueError, match="p: owner is None; right would be an account"):
        SpendPlan("p", 1.0, {"a": 0.5}, owner=None, shared=False)
