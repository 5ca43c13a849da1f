"""When to replace servers, against chains of replacements added up year by year."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.refresh import (
    Retirement,
    lowest_annual_cost,
    lowest_cost_of_work,
    maintenance_by_year,
    year_to_retire,
)
from planner.core.money import equivalent_annual_cost, npv_from_now, residual_share_by_age

few = settings(max_examples=50, deadline=None)
costs = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 0.5)), min_size=1, max_size=8)


def chain_present_value(
    life: int, residual: list[float], running: list[float], rate: float, cheaper: float, years: int = 900
) -> float:
    """Return the present value of replacing every `life` years, each for (1 + cheaper)^-life of the last."""
    flows = np.zeros(years + 1)
    for start in range(0, years, life):
        size = (1.0 + cheaper) ** -start
        end = min(start + life, years)
        flows[start] += size
        flows[start + 1 : end + 1] += size * np.array(running[: end - start])
        flows[end] -= size * residual[end - start - 1]
    return float(flows @ (1.0 + rate) ** -np.arange(years + 1.0))


@few
@given(costs, st.floats(0.03, 0.3))
def test_the_lowest_yearly_cost_is_that_of_the_cheapest_endless_chain(
    rows: list[tuple[float, float]], rate: float
) -> None:
    residual, running = [row[0] for row in rows], [row[1] for row in rows]
    best = lowest_annual_cost(1.0, np.array(residual), np.array(running), rate)
    chains = [chain_present_value(n, residual, running, rate, 0.0) for n in range(1, len(rows) + 1)]
    # a perpetuity of the yearly cost is worth cost / i
    assert best.usd_by_years == pytest.approx(np.array(chains) * rate, abs=1e-9)
    assert best.usd == pytest.approx(min(chains) * rate, abs=1e-9)
    assert best.is_last == (best.years == len(rows))


@few
@given(costs, st.floats(0.03, 0.2), st.floats(0.0, 0.5))
def test_with_progress_it_is_the_cheapest_chain_that_always_does_the_same_work(
    rows: list[tuple[float, float]], rate: float, better: float
) -> None:
    residual, running = [row[0] for row in rows], [row[1] for row in rows]
    best = lowest_cost_of_work(1.0, np.array(residual), np.array(running), rate, better)
    chains = [chain_present_value(n, residual, running, rate, better) for n in range(1, len(rows) + 1)]
    # the cost per unit is the chain's value over that of all work, each year's worth (1 + g)^-(t-1)
    all_work = 1.0 / (1.0 + rate) / (1.0 - 1.0 / ((1.0 + rate) * (1.0 + better)))
    assert best.usd_by_years * all_work == pytest.approx(np.array(chains), rel=1e-9, abs=1e-9)


@few
@given(costs, st.floats(0.0, 0.2))
def test_without_progress_work_costs_what_a_year_costs(rows: list[tuple[float, float]], rate: float) -> None:
    arrays = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    by_work = lowest_cost_of_work(1.0, *arrays, rate, 0.0)
    assert by_work.usd_by_years == pytest.approx(lowest_annual_cost(1.0, *arrays, rate).usd_by_years)


def test_without_running_cost_it_is_the_equivalent_annual_cost() -> None:
    # TCO-13: 280,000, 28,000 left after five years, 10 %
    residual = np.array([200_000.0, 150_000.0, 70_000.0, 49_000.0, 28_000.0])
    best = lowest_annual_cost(280_000.0, residual, np.zeros(5), 0.10)
    assert best.usd_by_years[4] == pytest.approx(69_276.9651602758)
    assert best.usd_by_years[2] == pytest.approx(equivalent_annual_cost(280_000.0, 70_000.0, 0.10, 3))


def test_the_warranty_cliff_shortens_the_life() -> None:
    """The same servers with maintenance of 25 % after three years, and with none."""
    residual = 280_000 * 0.75 ** np.arange(1, 8)
    energy = np.full(7, 9_000.0)
    cliff = maintenance_by_year(250_000.0, 0.25, 36, 7)
    assert cliff.tolist() == [0.0, 0.0, 0.0] + 4 * [62_500.0]
    with_cliff = lowest_annual_cost(280_000.0, residual, energy + cliff, 0.10)
    without = lowest_annual_cost(280_000.0, residual, energy, 0.10)
    assert (with_cliff.years, without.years) == (3, 7)
    # year 3 by hand: 280,000 - 0.75^3 of it + 9,000 a year, as a level amount over three years
    present = npv_from_now([280_000, 9_000, 9_000, 9_000 - 280_000 * 0.75**3], 0.10)
    assert with_cliff.usd_by_years[2] == pytest.approx(present * 0.1 / (1 - 1.1**-3))


def test_faster_progress_never_lengthens_the_life() -> None:
    residual = 280_000 * residual_share_by_age(12.0 * np.arange(1, 9))
    running = 20_000.0 + maintenance_by_year(250_000.0, 0.08, 36, 8)
    lives = [lowest_cost_of_work(280_000.0, residual, running, 0.10, g).years for g in (0.0, 0.3, 0.6, 1.0)]
    known = [life for life in lives if life is not None]
    assert known == sorted(known, reverse=True)
    assert known[-1] < known[0]


def test_a_year_in_which_the_warranty_ends_pays_for_the_rest_of_it() -> None:
    assert maintenance_by_year(100.0, 0.12, 18, 3).tolist() == [0.0, 6.0, 12.0]


def test_retire_when_running_the_old_costs_more_than_a_new_one_in_full() -> None:
    """Running costs 30, 30, 40 for 10 units; a new one costs 5 a unit, falling 30 % of itself a year."""
    running = np.array([30.0, 30.0, 40.0])
    assert [5.0 / 1.3**t for t in range(3)] == pytest.approx([5.0, 3.8462, 2.9586], abs=1e-4)
    assert year_to_retire(running, 10.0, 5.0, 0.30) == Retirement(3)
    assert year_to_retire(running, 10.0, 50.0, 0.30) == Retirement(None)
    assert year_to_retire(running, 10.0, 2.0, 0.0) == Retirement(1)


def test_unknown_costs_have_no_best_life() -> None:
    unknown = lowest_annual_cost(float("nan"), np.array([1.0]), np.array([1.0]), 0.1)
    assert (unknown.years, unknown.usd) == (None, None)
    assert year_to_retire(np.array([1.0]), 1.0, None, 0.1) == Retirement(None, is_known=False)
    assert not year_to_retire(np.array([np.nan]), 1.0, 1.0, 0.1).is_known


def test_refusals() -> None:
    with pytest.raises(
        ValueError, match="running_usd is 2 years; right would be as many as residual_usd has"
    ):
        lowest_annual_cost(1.0, np.array([1.0]), np.array([1.0, 1.0]), 0.1)
    with pytest.raises(ValueError, match="running_usd is 0 years"):
        lowest_annual_cost(1.0, np.array([]), np.array([]), 0.1)
    with pytest.raises(ValueError, match="rate_per_year is -1"):
        lowest_annual_cost(1.0, np.array([1.0]), np.array([1.0]), -1.0)
    with pytest.raises(ValueError, match="residual_usd is"):
        lowest_annual_cost(1.0, np.array([-1.0]), np.array([1.0]), 0.1)
    with pytest.raises(ValueError, match=r"share_per_year is 8\.0"):
        maintenance_by_year(1.0, 8.0, 36, 5)
    with pytest.raises(ValueError, match=r"work_per_year is 0\.0"):
        year_to_retire(np.array([1.0]), 0.0, 1.0, 0.1)
    for refused in (
        lambda: lowest_annual_cost(1.0, np.ones(1_200), np.ones(1_200), -0.5),
        lambda: lowest_cost_of_work(1.0, np.ones(1_200), np.ones(1_200), -0.5, 0.1),
    ):
        with pytest.raises(ValueError, match=r"rate_per_year is -0\.5; right would be a rate at which"):
            refused()
    with pytest.raises(ValueError, match="years is 1000000000000; right would be a whole number from 1"):
        maintenance_by_year(1.0, 0.1, 36, 10**12)
