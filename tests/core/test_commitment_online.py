"""The rule without a forecast never costs more than 2 - a times the best plan in hindsight."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.online import ReservationPrice, buy_online

FEW = settings(max_examples=80, deadline=None)


def best_in_hindsight(demand: list[int], price: ReservationPrice) -> float:
    """Return the lowest cost over all purchases, by trying each number of GPUs in each hour."""
    term, highest = price.term_hours, max(demand)

    @cache
    def cost(hour: int, bought: tuple[int, ...]) -> float:
        """Return the cost from an hour on; `bought` holds the purchases of the last term - 1 hours."""
        if hour == len(demand):
            return 0.0
        found = []
        for more in range(max(highest - sum(bought), 0) + 1):
            reserved = min(demand[hour], sum(bought) + more)
            here = more * price.usd_per_term + reserved * price.usd_per_used_gpu_hour
            here += (demand[hour] - reserved) * price.on_demand_usd_per_gpu_hour
            after = (*bought, more)[1:] if term > 1 else ()
            found.append(here + cost(hour + 1, after))
        return min(found)

    return cost(0, (0,) * (term - 1))


@FEW
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=9),
    st.integers(1, 4),
    st.floats(0.1, 6.0),
    st.sampled_from([0.0, 0.25, 0.5, 0.9]),
)
def test_the_bound_holds_against_every_plan(demand: list[int], term: int, usd: float, ratio: float) -> None:
    price = ReservationPrice(usd, term, 1.0, ratio)
    best = best_in_hindsight(demand, price)
    found = buy_online(np.array(demand), price)
    assert best - 1e-9 <= found.usd <= price.competitive_ratio * best + 1e-9


@FEW
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 8), st.floats(0.5, 8.0))
def test_each_hour_is_decided_without_the_later_ones(demand: list[int], term: int, usd: float) -> None:
    price = ReservationPrice(usd, term, 1.0)
    whole = buy_online(np.array(demand), price)
    half = buy_online(np.array(demand[: len(demand) // 2]), price)
    assert whole.gpus_bought[: len(half.gpus_bought)].tolist() == half.gpus_bought.tolist()
    assert (whole.on_demand_gpus == np.maximum(np.array(demand) - whole.active_gpus, 0)).all()


def test_the_worst_case_comes_near_the_bound() -> None:
    """Demand that ends once the unit is bought: 9 hours on demand, then a term of 10.00 for one hour."""
    found = buy_online(np.array([1] * 10), ReservationPrice(10.0, 20, 1.0))
    assert found.usd == 9.0 + 10.0  # the best plan pays 10


def test_steady_demand_is_reserved_after_the_break_even() -> None:
    # a = 0.5: 2.00 / (1 - 0.5) is 4 hours on demand; the fourth is the first reserved one
    found = buy_online(np.array([2] * 6), ReservationPrice(2.0, 8, 1.0, 0.5))
    assert found.gpus_bought.tolist() == [0, 0, 0, 2, 0, 0]
    # 3 hours * 2 GPUs on demand, 2 terms, 3 hours * 2 GPUs at the reserved rate
    assert found.usd == pytest.approx(6.0 + 4.0 + 3.0)


def test_a_unit_that_is_rarely_used_is_never_reserved() -> None:
    found = buy_online(np.array([1, 0, 0, 0] * 6), ReservationPrice(3.0, 8, 1.0))
    assert (found.gpus_bought.sum(), found.usd) == (0, 6.0)


def test_a_longer_past_than_a_term_is_forgotten() -> None:
    # two hours within a term of 3 would pay; the two are further apart
    assert buy_online(np.array([1, 0, 0, 1]), ReservationPrice(2.0, 3, 1.0)).gpus_bought.sum() == 0


def test_no_hours_cost_nothing() -> None:
    assert buy_online(np.array([], dtype=np.int64), ReservationPrice(2.0, 3, 1.0)).usd == 0.0


def test_impossible_reservations_are_refused() -> None:
    with pytest.raises(ValueError, match="usd_per_used_gpu_hour"):
        ReservationPrice(1.0, 3, 1.0, 1.0)
    with pytest.raises(ValueError, match="usd_per_term"):
        ReservationPrice(0.0, 3, 1.0)
    with pytest.raises(ValueError, match="demand_gpus"):
        buy_online(np.array([1.5]), ReservationPrice(1.0, 3, 1.0))
