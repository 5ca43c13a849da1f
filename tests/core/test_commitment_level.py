"""How much to commit: convex, monotone in both prices, whole instances, better than every other level."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.layers import layers_of
from planner.core.commitments.level import best_level, check_level, cost_of_level, costs_of_levels
from planner.core.commitments.load_curve import load_curve, scenario_weights

FEW = settings(max_examples=50, deadline=None)
whole_demand = st.lists(st.integers(0, 40), min_size=1, max_size=40).map(lambda xs: np.array(xs, dtype=float))
demands = st.lists(st.floats(0.0, 40.0), min_size=1, max_size=40).map(np.array) | whole_demand
shares = st.floats(0.02, 1.2)
sizes = st.sampled_from([1, 4, 8])
Hours = tuple[np.ndarray, np.ndarray]


@st.composite
def weighted_hours(draw: st.DrawFn) -> Hours:
    demand = draw(demands)
    weights = draw(
        st.lists(st.sampled_from([0.0, 0.25, 0.9, 1.0, 7.0]), min_size=len(demand), max_size=len(demand))
    )
    return demand, np.array(weights)


@FEW
@given(weighted_hours(), shares)
def test_cost_is_convex_in_the_level(hours: Hours, share: float) -> None:
    costs = costs_of_levels(np.arange(45.0), hours[0], share, 1.0, hours[1])
    assert (np.diff(costs, 2) >= -1e-9).all()


@FEW
@given(weighted_hours(), shares, st.lists(st.floats(0.0, 60.0), min_size=1, max_size=9))
def test_all_costs_at_once_are_those_hour_by_hour(hours: Hours, share: float, levels: list[float]) -> None:
    demand, weights = hours
    at_once = costs_of_levels(np.array(levels), demand, share, 1.0, weights)
    one_by_one = [cost_of_level(level, demand, share, 1.0, weights) for level in levels]
    assert at_once == pytest.approx(np.array(one_by_one), abs=1e-9)


@FEW
@given(weighted_hours(), shares, sizes)
def test_the_level_beats_every_other_one(hours: Hours, share: float, size: int) -> None:
    demand, weights = hours
    best = best_level(demand, share, 1.0, size, weights)
    costs = {k: cost_of_level(k, demand, share, 1.0, weights) for k in range(0, 49, size)}
    assert best.gpus in costs
    assert best.usd == pytest.approx(costs[best.gpus], abs=1e-9)
    assert best.usd <= min(costs.values()) + 1e-9
    assert best.check is None or best.check.holds


@FEW
@given(st.lists(st.integers(0, 24), min_size=8, max_size=8), st.integers(0, 8), sizes)
def test_of_equally_cheap_levels_the_largest_is_taken(demand: list[int], eighths: int, size: int) -> None:
    hours = np.array(demand, dtype=float)
    levels = np.arange(0, -(-max(demand) // size) * size + 1, size)
    # eight hours and prices in eighths: ties are exact
    costs = np.array([cost_of_level(int(k), hours, eighths / 8, 1.0) for k in levels])
    largest = int(levels[np.flatnonzero(costs == costs.min())[-1]])
    assert best_level(hours, eighths / 8, 1.0, size).gpus == largest


@FEW
@given(weighted_hours(), shares, sizes, st.floats(1.0, 5.0))
def test_a_dearer_on_demand_price_never_lowers_the_level(
    hours: Hours, share: float, size: int, rise: float
) -> None:
    dearer = best_level(hours[0], share, rise, size, hours[1])
    assert dearer.gpus >= best_level(hours[0], share, 1.0, size, hours[1]).gpus


@FEW
@given(weighted_hours(), shares, sizes, st.floats(1.0, 5.0))
def test_a_dearer_commitment_never_raises_the_level(
    hours: Hours, share: float, size: int, rise: float
) -> None:
    dearer = best_level(hours[0], share * rise, 1.0, size, hours[1])
    assert dearer.gpus <= best_level(hours[0], share, 1.0, size, hours[1]).gpus


@FEW
@given(weighted_hours(), shares, sizes)
def test_doubling_every_price_doubles_the_cost_and_keeps_the_level(
    hours: Hours, share: float, size: int
) -> None:
    once = best_level(hours[0], share, 1.0, size, hours[1])
    twice = best_level(hours[0], 2 * share, 2.0, size, hours[1])
    assert twice.gpus == once.gpus
    assert twice.usd == pytest.approx(2 * once.usd)


@FEW
@given(whole_demand, shares)
def test_for_whole_demand_the_level_is_the_quantile_and_the_last_layer_used_enough(
    demand: np.ndarray, share: float
) -> None:
    used = [float((demand >= k).mean()) for k in range(1, 41)]
    if all(abs(x - share) > 1e-9 for x in used):
        best = best_level(demand, share, 1.0)
        assert best.gpus == sum(x >= share for x in used)
        if share <= 1.0:
            assert best.gpus == load_curve(demand).level_used_in(share)


@FEW
@given(weighted_hours(), shares, sizes)
def test_layers_add_up_to_the_cost_of_the_level(hours: Hours, share: float, size: int) -> None:
    demand, weights = hours
    layers = layers_of(demand, share, 1.0, size, weights)
    best = best_level(demand, share, 1.0, size, weights)
    cheaper = np.where(layers.is_committed, layers.usd_committed, layers.usd_on_demand)
    assert cheaper.sum() == pytest.approx(best.usd, abs=1e-9)
    assert (np.diff(layers.used_share) <= 1e-9).all()  # the committed layers are the lowest ones


@FEW
@given(
    st.lists(demands.filter(lambda xs: len(xs) >= 3).map(lambda xs: xs[:3]), min_size=2, max_size=4), shares
)
def test_scenario_hours_are_weighted_observations(series: list[np.ndarray], share: float) -> None:
    table = np.array(series)
    chance, factors = np.full(len(series), 1.0 / len(series)), np.array([1.0, 0.9, 0.8])
    best = best_level(table, share, 1.0, weights=scenario_weights(chance, factors))
    expected = [np.mean([cost_of_level(k, each, share, 1.0, factors) for each in series]) for k in range(42)]
    assert best.usd == pytest.approx(min(expected), abs=1e-9)


def test_on_a_flat_optimum_the_largest_level_is_taken() -> None:
    # half of the hours use 4, half use 8; at c/p = 0.5 every level from 4 to 8 costs the same
    assert best_level(np.array([4.0, 8.0]), 2.0, 4.0).gpus == 8
    # ten hours, the last layer in seven of them: 0.7 is no exact binary number
    assert best_level(np.array([5.0] * 7 + [1.0] * 3), 0.7, 1.0).gpus == 5


def test_whole_instances_only() -> None:
    # 10 GPUs always: 8 in one instance and 2 on demand cost 8 * 2 + 2 * 4 = 24; two cost 32
    best = best_level(np.array([10.0]), 2.0, 4.0, gpus_per_instance=8)
    assert (best.gpus, best.usd) == (8, 24.0)


def test_fractional_demand_is_sized_by_cost() -> None:
    # 1.5 GPUs: committing 2 at 1.00 costs 2.00, committing 1 costs 1 + 0.5 * 4 = 3.00
    assert best_level(np.array([1.5]), 1.0, 4.0).gpus == 2
    # at 3.00 the second GPU costs 3 and saves 0.5 * 4; the quantile, 1.5, is no whole level
    assert best_level(np.array([1.5]), 3.0, 4.0).gpus == 1


def test_weights_count_hours() -> None:
    # 8 GPUs in 3 of 4 hours pay at c/p = 0.65, in 1 of 4 they do not
    demand = np.array([8.0, 0.0])
    assert best_level(demand, 2.6, 4.0, weights=np.array([3.0, 1.0])).gpus == 8
    assert best_level(demand, 2.6, 4.0, weights=np.array([1.0, 3.0])).gpus == 0


def test_a_free_commitment_covers_the_peak_and_no_more() -> None:
    assert best_level(np.array([3.0, 9.5]), 0.0, 4.0, gpus_per_instance=4).gpus == 12
    assert best_level(np.array([3.0, 8.0]), 0.0, 4.0, gpus_per_instance=4).gpus == 8


def test_the_check_names_the_shares_on_both_sides() -> None:
    demand = np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10])
    curve = load_curve(demand)
    right, wrong = check_level(4, demand, 2.6, 4.0), check_level(5, demand, 2.6, 4.0)
    assert (right.last_used_share, right.next_used_share) == (0.7, 0.5)
    assert (curve.share_at_or_above(4), curve.share_above(4)) == (0.7, 0.5)
    assert right.holds
    assert not wrong.holds
    assert not check_level(0, demand, 2.6, 4.0).holds


def test_a_layer_explains_itself() -> None:
    layers = layers_of(np.array([8.0, 16.0]), 2.0, 3.0, gpus_per_instance=8)
    # two hours: committed 2 * 8 * 2.00; the upper instance is wanted in one of them, 8 * 3.00
    assert layers.sentence(16) == (
        "Layer 9 to 16 is used in 50.0 % of the hours: committed it costs $32.00, on demand $24.00;"
        " do not commit it."
    )


def test_without_hours_nothing_is_committed() -> None:
    best = best_level(np.array([]), 1.0, 2.0)
    assert (best.gpus, best.usd, best.utilization, best.coverage, best.check) == (0, 0.0, None, None, None)
    assert best_level(np.array([4.0]), 1.0, 2.0, weights=np.array([0.0])).gpus == 0
    assert len(layers_of(np.array([]), 1.0, 2.0).top_gpus) == 0


def test_a_missing_price_gives_no_level_and_is_named() -> None:
    best = best_level(np.array([4.0]), None, 2.0)
    assert (best.gpus, best.usd, best.missing) == (None, None, ("committed_usd_per_gpu_hour",))


@pytest.mark.parametrize(
    ("demand", "weights", "name"),
    [
        ([-1.0], None, "demand_gpus"),
        ([float("nan")], None, "demand_gpus"),
        ([1.0], [-0.5], "weights"),
        ([1.0, 2.0], [1.0], "weights"),
    ],
)
def test_impossible_hours_are_refused(demand: list[float], weights: list[float] | None, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        best_level(np.array(demand), 1.0, 2.0, weights=None if weights is None else np.array(weights))


def test_impossible_prices_and_probabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="committed_usd_per_gpu_hour"):
        best_level(np.array([1.0]), -1.0, 2.0)
    with pytest.raises(ValueError, match="gpus_per_instance"):
        best_level(np.array([1.0]), 1.0, 2.0, gpus_per_instance=0)
    with pytest.raises(ValueError, match=r"a sum of 1, not 0\.8"):
        scenario_weights(np.array([0.4, 0.4]), np.ones(2))
    with pytest.raises(ValueError, match="top_gpus"):
        layers_of(np.array([3.0]), 1.0, 2.0).sentence(4)


def test_free_commitments_reach_the_peak_of_the_hours_that_count() -> None:
    demand, weights = np.array([9.0, 3.0, 2.0]), np.array([0.0, 1.0, 2.0])
    assert best_level(demand, 0.0, 1.0, weights=weights).gpus == 3
    assert layers_of(demand, 0.0, 1.0, weights=weights).top_gpus.tolist() == [1, 2, 3]


def test_utilization_and_coverage_never_pass_one() -> None:
    """Sums of weights are rounded, in one of twenty cases upwards."""
    for seed in range(100):
        weights = np.random.default_rng(seed).random(50)
        best = best_level(np.full(50, float(seed % 9 + 1)), 0.2, 1.0, weights=weights)
        assert best.utilization == pytest.approx(1.0)
        assert best.coverage == pytest.approx(1.0)
        assert max(best.utilization, best.coverage) <= 1.0


def test_a_level_is_checked_in_whole_instances() -> None:
    with pytest.raises(ValueError, match="gpus is 4; right would be a multiple of gpus_per_instance, 8"):
        check_level(4, np.array([0.0, 8.0]), 1.0, 2.0, 8)
    with pytest.raises(ValueError, match=r"gpus is 2\.5"):
        check_level(2.5, np.array([0.0, 8.0]), 1.0, 2.0)


def test_weights_of_one_level_must_have_the_shape_of_the_demand() -> None:
    with pytest.raises(ValueError, match="weights is of shape"):
        cost_of_level(1, np.array([1.0, 2.0]), 1.0, 2.0, np.array([2.0]))
