"""What a level costs at other demand, and the level that is regretted least."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.level import best_level, cost_of_level
from planner.core.commitments.regret import best_expected_level, minimax_regret_level, regret_of_level

FEW = settings(max_examples=50, deadline=None)
Scenarios = dict[str, np.ndarray]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenarios:
    hours = draw(st.integers(1, 12))
    series = st.lists(st.floats(0.0, 30.0), min_size=hours, max_size=hours).map(np.array)
    return {name: draw(series) for name in ("P10", "P50", "P90")}


def test_regret_by_hand() -> None:
    """Two hours, c 2.6, p 4.0: 4 GPUs committed are idle at P10, and too few at P90."""
    demand = {"P10": np.array([2.0, 2.0]), "P50": np.array([4.0, 4.0]), "P90": np.array([6.0, 6.0])}
    low, middle, high = regret_of_level(4, demand, 2.6, 4.0)
    assert (low.usd, low.usd_best) == (pytest.approx(20.8), pytest.approx(10.4))
    assert middle.usd_regret == pytest.approx(0.0)
    assert (high.usd, high.usd_best) == (pytest.approx(20.8 + 16.0), pytest.approx(31.2))
    assert high.sentence == ("At P90 demand 4 GPUs cost $36.80, $5.60 more than the best level there, 6.")


@FEW
@given(scenarios(), st.floats(0.05, 1.1), st.integers(0, 35), st.sampled_from([1, 8]))
def test_no_regret_is_negative_and_the_best_level_has_none(
    demand: Scenarios, share: float, gpus: int, size: int
) -> None:
    for each in regret_of_level(gpus * size, demand, share, 1.0, size):
        assert each.usd + 1e-9 >= each.usd_best
        assert each.usd == pytest.approx(cost_of_level(gpus * size, demand[each.scenario], share, 1.0))
        again = regret_of_level(each.best_gpus, {"it": demand[each.scenario]}, share, 1.0, size)
        assert again[0].usd_regret == 0.0


@FEW
@given(scenarios(), st.floats(0.05, 1.1), st.sampled_from([1, 4]))
def test_no_level_has_a_lower_worst_regret(demand: Scenarios, share: float, size: int) -> None:
    found = minimax_regret_level(demand, share, 1.0, size)
    worst = [
        max(each.usd_regret for each in regret_of_level(k, demand, share, 1.0, size))
        for k in range(0, 33, size)
    ]
    assert found.usd_worst_regret == pytest.approx(min(worst), abs=1e-9)
    assert found.usd_worst_regret == pytest.approx(worst[found.gpus // size], abs=1e-9)


@FEW
@given(scenarios(), st.floats(0.05, 1.1))
def test_no_level_has_a_lower_expected_cost(demand: Scenarios, share: float) -> None:
    chance = np.array([0.1, 0.6, 0.3])
    best = best_expected_level(demand, chance, share, 1.0)
    expected = [
        sum(p * cost_of_level(k, each, share, 1.0) for p, each in zip(chance, demand.values(), strict=True))
        for k in range(32)
    ]
    assert best.usd == pytest.approx(min(expected), abs=1e-9)


def test_one_certain_scenario_leaves_nothing_to_regret() -> None:
    demand = np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10])
    found = minimax_regret_level({"measured": demand}, 2.6, 4.0)
    assert (found.gpus, found.usd_worst_regret) == (best_level(demand, 2.6, 4.0).gpus, 0.0)
    assert best_expected_level({"measured": demand}, np.array([1.0]), 2.6, 4.0).gpus == 4


def test_the_expected_level_is_not_the_level_of_mean_demand() -> None:
    # 0 or 10 GPUs, evens: at c/p = 0.6 a layer is used half of the time and none is committed
    demand = {"low": np.array([0.0]), "high": np.array([10.0])}
    assert best_expected_level(demand, np.array([0.5, 0.5]), 0.6, 1.0).gpus == 0
    assert best_level(np.array([5.0]), 0.6, 1.0).gpus == 5


def test_a_missing_price_is_named() -> None:
    best = best_expected_level({"one": np.array([1.0])}, np.array([1.0]), 0.6, None)
    assert (best.gpus, best.missing) == (None, ("on_demand_usd_per_gpu_hour",))


def test_impossible_scenarios_are_refused() -> None:
    one = {"one": np.array([1.0, 2.0])}
    with pytest.raises(ValueError, match="demand of one"):
        regret_of_level(1, {"one": np.array([-1.0])}, 0.5, 1.0)
    with pytest.raises(ValueError, match="demand_by_scenario"):
        minimax_regret_level({}, 0.5, 1.0)
    with pytest.raises(ValueError, match="demand_by_scenario"):
        best_expected_level({**one, "two": np.array([1.0])}, np.array([0.5, 0.5]), 0.5, 1.0)
    with pytest.raises(ValueError, match="probabilities"):
        best_expected_level(one, np.array([0.5, 0.5]), 0.5, 1.0)


def test_the_regret_of_a_part_of_an_instance_is_refused() -> None:
    with pytest.raises(ValueError, match="gpus is 4; right would be a multiple of gpus_per_instance, 8"):
        regret_of_level(4, {"P10": np.array([8.0])}, 1.0, 2.0, 8)
