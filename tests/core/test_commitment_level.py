"""How much to commit: convex, monotone in both prices, whole instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core.commitments.level import (
    best_level,
    break_even_utilization,
    break_even_utilization_with_decline,
    cost_of_level,
    layer_pays,
)

demands = st.lists(st.integers(0, 40), min_size=1, max_size=60).map(lambda xs: np.array(xs, dtype=float))
shares = st.floats(0.05, 0.95)


@given(demands, shares)
def test_cost_is_convex_in_the_level(demand: np.ndarray, share: float) -> None:
    costs = np.array([cost_of_level(k, demand, share, 1.0) for k in range(45)])
    assert (np.diff(costs, 2) >= -1e-9).all()


@given(demands, shares)
def test_the_best_level_is_no_dearer_than_nothing_mean_or_peak(demand: np.ndarray, share: float) -> None:
    best = best_level(demand, share, 1.0)
    for level in (0.0, np.round(demand.mean()), demand.max()):
        assert best.usd <= cost_of_level(float(level), demand, share, 1.0) + 1e-9


@given(demands, shares, st.floats(1.0, 5.0))
def test_a_dearer_on_demand_price_never_lowers_the_level(
    demand: np.ndarray, share: float, rise: float
) -> None:
    assert best_level(demand, share, rise).gpus >= best_level(demand, share, 1.0).gpus


@given(demands, shares, st.floats(1.0, 5.0))
def test_a_dearer_commitment_never_raises_the_level(demand: np.ndarray, share: float, rise: float) -> None:
    assert best_level(demand, share * rise, 1.0).gpus <= best_level(demand, share, 1.0).gpus


@given(demands, shares)
def test_the_level_is_the_last_layer_used_often_enough(demand: np.ndarray, share: float) -> None:
    """Layer rule for whole-number demand: k is committed iff it is used in at least c/p of the hours."""
    used = [float((demand >= k).mean()) for k in range(1, 41)]
    clear = [x for x in used if abs(x - share) > 1e-9]
    if len(clear) == len(used):
        assert best_level(demand, share, 1.0).gpus == sum(x >= share for x in used)


def test_on_a_flat_optimum_the_largest_level_is_taken() -> None:
    # half of the hours use 4, half use 8; at c/p = 0.5 every level from 4 to 8 costs the same
    assert best_level(np.array([4.0, 8.0]), 2.0, 4.0).gpus == 8


def test_whole_instances_only() -> None:
    # 10 GPUs always: 8 in one instance and 2 on demand cost 8 * 2 + 2 * 4 = 24; two cost 32
    best = best_level(np.array([10.0]), 2.0, 4.0, gpus_per_instance=8)
    assert (best.gpus, best.usd) == (8, 24.0)


def test_fractional_demand_is_sized_by_cost() -> None:
    # 1.5 GPUs: committing 2 at 1.00 costs 2.00, committing 1 costs 1 + 0.5 * 4 = 3.00
    assert best_level(np.array([1.5]), 1.0, 4.0).gpus == 2


def test_weights_count_hours() -> None:
    # 8 GPUs in 3 of 4 hours pay at c/p = 0.65, in 1 of 4 they do not
    demand = np.array([8.0, 0.0])
    assert best_level(demand, 2.6, 4.0, weights=np.array([3.0, 1.0])).gpus == 8
    assert best_level(demand, 2.6, 4.0, weights=np.array([1.0, 3.0])).gpus == 0


def test_break_even_utilization_with_salvage() -> None:
    # (2.6 - 0.6) / (4.6 - 0.6)
    assert break_even_utilization(2.6, 4.6, 0.6) == pytest.approx(0.5)


def test_without_decline_the_threshold_is_the_price_ratio() -> None:
    assert break_even_utilization_with_decline(0.55, 0.0, 3.0) == 0.55


def test_a_layer_pays_on_a_price_path() -> None:
    """Two months of 100 h, used in half of them, at 4.00 then 2.00: worth 200 + 100 at rate 0."""
    used, hours, price = np.array([0.5, 0.5]), np.array([100.0, 100.0]), np.array([4.0, 2.0])
    flat = np.array([1.0, 1.0])
    assert layer_pays(used, hours, price, flat, 100.0, flat)  # 100 + 200 = 300
    assert not layer_pays(used, hours, price, flat, 101.0, flat)
