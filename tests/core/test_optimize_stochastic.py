"""Decide before demand is known: worth never below nothing, and what a cautious plan costs."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.optimize.examples import two_months
from planner.core.optimize.solve import solve, total_with_units
from planner.core.optimize.stochastic import (
    Scenario,
    conditional_value_at_risk,
    mean_problem,
    scaled_demand,
    scaled_prices,
    solve_stochastic,
    value_of_information,
)
from tests.core.optimizer_cases import problem_of, random_case

FEW = settings(max_examples=12, deadline=None)


def futures(seed: int, low: float, high: float) -> list[Scenario]:
    case = replace(random_case(seed), quota=(300.0, 300.0), provider_share=1.0)
    problem = problem_of(case)
    return [
        Scenario(0.25, scaled_prices(scaled_demand(problem, low), 0.7)),
        Scenario(0.5, problem),
        Scenario(0.25, scaled_prices(scaled_demand(problem, high), 1.3)),
    ]


@FEW
@given(seed=st.integers(0, 1_000), low=st.floats(0.3, 1.0), high=st.floats(1.0, 2.0))
def test_planning_for_the_spread_and_knowing_more_never_cost(seed: int, low: float, high: float) -> None:
    found = value_of_information(futures(seed, low, high))
    scale = abs(found.stochastic_usd)
    assert found.value_of_stochastic_solution_usd >= -1e-6 * scale
    assert found.value_of_perfect_information_usd >= -1e-6 * scale


def test_one_future_is_the_plain_problem() -> None:
    problem = problem_of(random_case(2))
    assert solve_stochastic([Scenario(1.0, problem)]).expected_usd == pytest.approx(
        solve(problem).objective, rel=1e-8
    )


def test_the_stochastic_plan_is_the_best_of_all_plans() -> None:
    both = [Scenario(0.5, two_months()), Scenario(0.5, scaled_demand(two_months(), 2.0))]
    found = solve_stochastic(both)
    by_hand = {}
    for first, second in itertools.product(range(6), range(1)):
        units = np.array([[0.0, 0.0], [float(first), float(second)]])
        by_hand[first] = sum(0.5 * total_with_units(each.problem, units) for each in both)
    assert found.units is not None
    assert by_hand[int(found.units[1, 0])] == min(by_hand.values()) == pytest.approx(found.expected_usd)
    # 2 committed: 4,380, and in the larger future two more at the busy half: 4 * 730 * 2
    assert found.usd_by_scenario.tolist() == pytest.approx([4_380.0, 10_220.0])


def test_values_of_the_two_futures_by_hand() -> None:
    both = [Scenario(0.5, two_months()), Scenario(0.5, scaled_demand(two_months(), 2.0))]
    found = value_of_information(both)
    # for the mean of 3 and 1.5 three are committed: 6,570; one future has one more busy half at 2,920
    assert found.expected_of_mean_plan_usd == pytest.approx(6_570.0 + 0.5 * 2_920.0)
    assert found.stochastic_usd == pytest.approx(7_300.0)
    assert found.perfect_information_usd == pytest.approx(0.5 * 4_380.0 + 0.5 * 8_760.0)


def test_caution_lowers_the_worst_and_raises_the_mean() -> None:
    both = [Scenario(0.9, two_months()), Scenario(0.1, scaled_demand(two_months(), 3.0))]
    plain = solve_stochastic(both, alpha=0.9)
    wary = solve_stochastic(both, cvar_weight=0.9, alpha=0.9)
    assert wary.cvar_usd < plain.cvar_usd
    assert wary.expected_usd > plain.expected_usd
    worst = solve_stochastic(both, cvar_weight=1.0, alpha=0.9).cvar_usd
    # the worst tenth is the large future alone: six committed serve all of it
    assert worst == pytest.approx(6 * 2_190.0)


def test_no_plan_for_all_futures() -> None:
    small = two_months(quota_gpus=0.0, most_provider_share=0.9)
    found = solve_stochastic([Scenario(1.0, small)])
    assert found.units is None
    assert found.expected_usd == math.inf


def test_the_mean_plan_may_not_serve_every_future() -> None:
    tight = replace(two_months(quota_gpus=0.0), urgent=two_months().urgent)
    found = value_of_information([Scenario(0.5, tight), Scenario(0.5, scaled_demand(tight, 2.0))])
    assert found.expected_of_mean_plan_usd == math.inf
    assert math.isfinite(found.stochastic_usd)


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, 2.3), (0.5, 3.6), (0.9, 10.0), (0.95, 10.0)])
def test_cvar_is_the_mean_of_the_worst(alpha: float, expected: float) -> None:
    # the worst half of 1 (0.5), 2 (0.4), 10 (0.1) holds 2 and 10: (0.4 * 2 + 0.1 * 10) / 0.5
    usd, probability = np.array([2.0, 10.0, 1.0]), np.array([0.4, 0.1, 0.5])
    assert conditional_value_at_risk(usd, probability, alpha) == pytest.approx(expected)


def test_the_mean_problem_has_mean_prices() -> None:
    cheap, dear = scaled_prices(two_months(), 0.5), scaled_prices(two_months(), 1.5)
    assert mean_problem([Scenario(0.5, cheap), Scenario(0.5, dear)]).options[0].usd_per_gpu_hour[0] == 4.0


def test_futures_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match="sum of probabilities is 0"):
        solve_stochastic([Scenario(0.5, two_months())])
    with pytest.raises(ValueError, match="probability is 0"):
        Scenario(0.0, two_months())
    other = problem_of(random_case(0))
    with pytest.raises(ValueError, match="options of a scenario"):
        solve_stochastic([Scenario(0.5, two_months()), Scenario(0.5, other)])
