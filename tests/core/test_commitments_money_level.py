"""The best commitment of money per hour: exact against brute force over every candidate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.level import best_level
from planner.core.commitments.money_level import best_money_level, cost_curve, value_at_plan_prices
from planner.core.commitments.savings_plan import apply_plans
from planner.core.commitments.second_opinion import hourly_optima, recommended
from planner.core.commitments.usage import SpendPlan, UsageItem, order_of_application

FEW = settings(max_examples=50, deadline=None)
Use = tuple[list[UsageItem], np.ndarray, dict[str, float], np.ndarray]


@st.composite
def uses(draw: st.DrawFn) -> Use:
    """Draw items, use by hour, plan prices (the last item is not always eligible) and weights."""
    count, hours = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    items = [UsageItem(f"item {place}", draw(st.floats(0.5, 10.0))) for place in range(count)]
    rates = {item.name: item.usd_on_demand_per_unit * draw(st.floats(0.2, 1.0)) for item in items}
    if count > 1 and draw(st.booleans()):
        rates.pop(items[-1].name)
    amount = st.just(0.0) | st.floats(0.01, 20.0)
    units = [draw(st.lists(amount, min_size=count, max_size=count)) for _ in range(hours)]
    weights = draw(st.lists(st.floats(0.1, 3.0), min_size=hours, max_size=hours))
    return items, np.array(units), rates, np.array(weights)


def simulated(use: Use, level: float) -> float:
    """Return the weighted charge of a level by the hourly algorithm itself."""
    items, units, rates, weights = use
    return float(weights @ apply_plans(items, units, [SpendPlan("p", level, rates)]).charge_usd)


def candidates(use: Use) -> list[float]:
    """Return all partial sums of plan-valued use in falling discount, and 0, the plain way."""
    items, units, rates, _ = use
    eligible = [place for place, item in enumerate(items) if item.name in rates]
    eligible.sort(key=lambda place: rates[items[place].name] / items[place].usd_on_demand_per_unit)
    found = {0.0}
    for row in units:
        total = 0.0
        for place in eligible:
            total += row[place] * rates[items[place].name]
            found.add(total)
    return sorted(found)


@FEW
@given(uses())
def test_the_level_is_the_best_of_all_candidates_by_simulation(use: Use) -> None:
    best = best_money_level(*use)
    costs = [simulated(use, level) for level in candidates(use)]
    assert best.usd_total == pytest.approx(min(costs), rel=1e-7)
    assert simulated(use, best.usd_per_hour) == pytest.approx(min(costs), rel=1e-7)


@FEW
@given(uses(), st.floats(0.0, 200.0))
def test_the_curve_is_what_the_hourly_algorithm_charges(use: Use, level: float) -> None:
    curve = cost_curve(*use)
    change = simulated(use, level) - simulated(use, 0.0)
    assert float(curve.at(np.array([level]))[0]) == pytest.approx(change, rel=1e-7, abs=1e-6)


@FEW
@given(uses())
def test_the_cost_is_convex_in_the_commitment(use: Use) -> None:
    curve = cost_curve(*use)
    assert (np.diff(curve.displaced_after) <= 1e-9).all()
    levels = np.linspace(0.0, 1.5 * curve.usd_per_hour[-1] + 1.0, 40)
    assert (np.diff(curve.at(levels), 2) >= -1e-6).all()


@FEW
@given(uses())
def test_the_best_is_no_dearer_than_nothing_the_mean_or_the_peak(use: Use) -> None:
    items, units, rates, _ = use
    best, value = best_money_level(*use), value_at_plan_prices(items, units, rates)
    for level in (0.0, float(value.mean()), float(value.max())):
        assert best.usd_total <= simulated(use, level) * (1 + 1e-9) + 1e-9


@FEW
@given(uses())
def test_the_mean_displaced_amount_crosses_one_at_the_level(use: Use) -> None:
    best = best_money_level(*use)
    assert best.displaced_by_next <= 1.0 + 1e-9
    if best.usd_per_hour:
        assert best.displaced_by_last > 1.0
    else:
        assert best.displaced_by_last is None


@FEW
@given(st.lists(st.integers(0, 20), min_size=1, max_size=40), st.floats(0.1, 0.95))
def test_one_item_is_the_quantile_rule(demand: list[int], share: float) -> None:
    """Money at plan price c is the same decision as units at c, but for the end of a flat stretch."""
    hours = np.array(demand, dtype=float)
    money = best_money_level([UsageItem("gpu", 1.0)], hours[:, None], {"gpu": share})
    units = best_level(hours, share, 1.0)
    assert money.usd_total == pytest.approx(units.usd)
    assert money.usd_per_hour <= units.gpus * share + 1e-9


@FEW
@given(uses(), st.floats(1.0, 4.0))
def test_dearer_on_demand_never_lowers_the_level(use: Use, rise: float) -> None:
    items, units, rates, weights = use
    dearer = [UsageItem(item.name, item.usd_on_demand_per_unit * rise) for item in items]
    assert (
        best_money_level(dearer, units, rates, weights).usd_per_hour
        >= best_money_level(*use).usd_per_hour - 1e-9
    )


@FEW
@given(st.lists(st.floats(0.1, 20.0), min_size=1, max_size=20), st.floats(0.2, 0.9), st.floats(1.0, 2.0))
def test_a_dearer_plan_never_covers_more_units(hours: list[float], share: float, rise: float) -> None:
    item, units = [UsageItem("gpu", 1.0)], np.array(hours)[:, None]
    cheap = best_money_level(item, units, {"gpu": share}).usd_per_hour / share
    dear = best_money_level(item, units, {"gpu": share * rise}).usd_per_hour / (share * rise)
    assert dear <= cheap + 1e-9


def test_two_hours_by_hand() -> None:
    # 0 to 0.60: both hours displace 1/0.6; on to 1.80 one of two does: 0.83 < 1
    best = best_money_level([UsageItem("a", 1.0)], np.array([[1.0], [3.0]]), {"a": 0.6})
    assert best.usd_per_hour == pytest.approx(0.6)
    assert best.displaced_by_last == pytest.approx(1 / 0.6)
    assert best.displaced_by_next == pytest.approx(0.5 / 0.6)
    assert best.usd_total == pytest.approx(2 * 0.6 + 2.0)
    assert best.usd_saved == pytest.approx(4.0 - 3.2)
    assert best.utilization == 1.0


def test_a_flat_optimum_takes_the_smallest_commitment() -> None:
    # half of the hours at half the price: every C from 0.5 to 1.5 costs the same
    best = best_money_level([UsageItem("a", 1.0)], np.array([[1.0], [3.0]]), {"a": 0.5})
    assert best.usd_per_hour == 0.5
    assert best.displaced_by_next == pytest.approx(1.0)
    whole = best_level(np.array([1.0, 3.0]), 0.5, 1.0)
    assert whole.gpus == 3  # a quantity takes the largest


def test_a_plan_without_discount_is_not_bought() -> None:
    best = best_money_level([UsageItem("a", 1.0)], np.array([[2.0]]), {"a": 1.0})
    assert (best.usd_per_hour, best.usd_saved) == (0.0, 0.0)


def test_sizing_to_the_mean_loses_what_does_not_roll_over() -> None:
    # 5 and 15 at plan prices, discount 20 %: the mean, 10, saves nothing of its second half
    item, units, rate = [UsageItem("a", 1.25)], np.array([[5.0], [15.0]]), {"a": 1.0}
    best, curve = best_money_level(item, units, rate), cost_curve(item, units, rate)
    assert best.usd_per_hour == 5.0
    assert best.usd_saved == pytest.approx(2.5)
    assert curve.at(np.array([10.0]))[0] == pytest.approx(20.0 + 6.25 - 25.0)  # dearer than nothing


def test_weights_are_repeated_hours() -> None:
    item, rate = [UsageItem("a", 1.0), UsageItem("b", 2.0)], {"a": 0.6, "b": 0.9}
    units = np.array([[1.0, 2.0], [4.0, 0.0], [2.0, 2.0]])
    weighted = best_money_level(item, units, rate, np.array([3.0, 1.0, 2.0]))
    repeated = best_money_level(item, np.repeat(units, [3, 1, 2], axis=0), rate)
    assert weighted.usd_per_hour == repeated.usd_per_hour
    assert weighted.usd_total == pytest.approx(repeated.usd_total)


def test_hours_of_no_weight_leave_nothing_to_decide() -> None:
    best = best_money_level([UsageItem("a", 1.0)], np.array([[1.0]]), {"a": 0.5}, np.array([0.0]))
    assert (best.usd_per_hour, best.usd_total, best.displaced_by_next) == (0.0, 0.0, None)


def test_nothing_eligible_or_used_is_not_committed_to() -> None:
    assert best_money_level([UsageItem("a", 1.0)], np.array([[2.0]]), {"a": None}).usd_per_hour == 0.0
    assert best_money_level([UsageItem("a", 1.0)], np.array([[0.0]]), {"a": 0.5}).usd_per_hour == 0.0


def test_a_missing_price_makes_the_level_unknown_where_it_matters() -> None:
    items = [UsageItem("a", 1.0), UsageItem("b", None)]
    units = np.array([[1.0, 1.0]])
    eligible = best_money_level(items, units, {"a": 0.5, "b": 0.5})
    assert (eligible.usd_per_hour, eligible.usd_total, eligible.missing) == (None, None, ("b",))
    assert np.isnan(cost_curve(items, units, {"a": 0.5, "b": 0.5}).usd_over_none[1:]).all()
    other = best_money_level(items, units, {"a": 0.5})
    assert (other.usd_per_hour, other.usd_saved) == (0.5, 0.5)
    assert (other.usd_total, other.usd_without, other.missing) == (None, None, ("b",))


def test_bad_input_is_refused_with_the_right_range() -> None:
    item = [UsageItem("a", 1.0)]
    with pytest.raises(ValueError, match=r"units is .* from 0 up"):
        best_money_level(item, np.array([[np.nan]]), {"a": 0.5})
    with pytest.raises(ValueError, match=r"weights is .* 1 numbers"):
        best_money_level(item, np.array([[1.0]]), {"a": 0.5}, np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match=r"weights is .* from 0 up"):
        cost_curve(item, np.array([[1.0]]), {"a": 0.5}, np.array([-1.0]))
    with pytest.raises(ValueError, match="usd_per_hour is"):
        cost_curve(item, np.array([[1.0]]), {"a": 0.5}).at(np.array([-1.0]))


@pytest.mark.parametrize("usd", [-0.5, 0.0, np.inf])
def test_an_impossible_plan_price_is_refused_wherever_prices_are_given(usd: float) -> None:
    items, units = [UsageItem("a", 1.0)], np.array([[1.0]])
    calls = (
        lambda: cost_curve(items, units, {"a": usd}),
        lambda: best_money_level(items, units, {"a": usd}),
        lambda: value_at_plan_prices(items, units, {"a": usd}),
        lambda: order_of_application(items, {"a": usd}),
        lambda: hourly_optima(items, units, {"a": usd}),
        lambda: recommended("aws", items, np.ones((168, 1)), {"a": usd}, 7),
    )
    for call in calls:
        with pytest.raises(
            ValueError, match=r"usd_plan_per_unit of a is .*; right would be a number above 0"
        ):
            call()
