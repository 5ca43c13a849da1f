"""The optimizer says what limits are worth, why options lost, what is nearly as good, what conflicts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.core.money import discount_factors
from planner.core.optimize.alternatives import (
    capex_of,
    fewer_suppliers,
    less_capex,
    near_optimal,
    suppliers_used,
)
from planner.core.optimize.conflicts import conflict_of
from planner.core.optimize.examples import two_months
from planner.core.optimize.frontier import coverage_frontier
from planner.core.optimize.options import on_demand_option
from planner.core.optimize.prices import (
    marginal_usd_per_gpu_hour,
    months_in_words,
    shadow_prices,
    value_of_quota,
)
from planner.core.optimize.problem import Limits, Problem, Work
from planner.core.optimize.reasons import lost_options
from planner.core.optimize.rows import capacity_name
from planner.core.optimize.solve import Solution, relaxation, solve
from planner.core.optimize.solver import Effort
from tests.core.optimizer_cases import problem_of, random_case
from tests.core.worked.optimizer import EXAMPLES, twelve_month_problem

TIGHT = Effort(gap=1e-9)


def rented(demand: float, *offers: tuple[str, float, float], **limits: Any) -> Problem:
    """Return one month of 730 h in which offers (provider, price, quota) serve `demand` GPUs."""
    factors = discount_factors(0.0, 1)
    options = tuple(
        on_demand_option(f"{name} on demand", name, factors, usd_per_gpu_hour=usd, gpus=np.array([quota]))
        for name, usd, quota in offers
    )
    return Problem(
        hours=np.array([730.0]),
        month=np.array([0]),
        end_factors=factors.end,
        urgent=(Work("serving", np.array([demand]), critical=True),),
        deferrable=(),
        options=options,
        useful_per_paid=np.ones((1, len(options), 1)),
        limits=Limits(**limits),
    )


@pytest.fixture(scope="module")
def best() -> Solution:
    return solve(twelve_month_problem(next(e for e in EXAMPLES if e.id == "OPT-02").inputs), TIGHT)


def test_one_more_gpu_of_a_full_quota_saves_the_price_difference() -> None:
    found = solve(rented(10.0, ("A", 4.0, 6.0), ("B", 4.6, 64.0)))
    (price,) = shadow_prices(found)
    assert price.usd_by_month.tolist() == pytest.approx([0.6 * 730])
    assert price.sentence == "One more GPU of quota of A on demand is worth $438 a month in month 1."


def test_a_node_of_eight_is_worth_eight_gpus_until_the_need_ends() -> None:
    problem = rented(20.0, ("A", 4.0, 6.0), ("B", 4.6, 64.0))
    a = replace(problem.options[0], quota_unit="P-quota node in us-east-2", gpus_per_quota_unit=8)
    found = solve(replace(problem, options=(a, problem.options[1])))
    assert shadow_prices(found)[0].usd_by_month[0] == pytest.approx(8 * 438.0)
    node = value_of_quota(found, "A on demand")
    assert node.usd_per_month == pytest.approx(8 * 438.0)
    text = "One more P-quota node in us-east-2 is worth $3,504 a month."
    assert node.sentence == text
    # 14 GPUs run at B: of two nodes the second saves six GPUs only, which no dual can know
    assert value_of_quota(found, "A on demand", 2).usd_per_month == pytest.approx(14 * 438.0)


def test_the_marginal_gpu_costs_what_the_dearest_source_in_use_does() -> None:
    assert marginal_usd_per_gpu_hour(solve(rented(10.0, ("A", 4.0, 6.0), ("B", 4.6, 64.0)))).tolist() == [
        pytest.approx([4.6])
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_larger_quota_never_saves_more_than_its_price_says(seed: int) -> None:
    problem = problem_of(random_case(seed))
    found = solve(problem, TIGHT)
    worth = {price.limit: price.usd_present_value for price in shadow_prices(found)}
    for name in ("A on demand", "B on demand", "Spot"):
        saved = value_of_quota(found, name).usd_present_value
        assert saved <= worth.get(f"quota of {name}", 0.0) * (1 + 1e-6) + 1e-4


def test_a_dollar_more_of_capital_is_worth_its_return() -> None:
    problem = twelve_month_problem(next(e for e in EXAMPLES if e.id == "OPT-02").inputs)
    poor = replace(problem, limits=replace(problem.limits, capex_budget_usd=500_000.0))
    (price,) = (each for each in shadow_prices(solve(poor, TIGHT)) if each.limit == "capex budget")
    more = replace(problem, limits=replace(problem.limits, capex_budget_usd=501_000.0))
    saved = relaxation(poor).objective - relaxation(more).objective
    assert price.usd_present_value == pytest.approx(saved / 1_000.0, rel=1e-6)
    assert price.sentence.startswith("One more dollar of capex budget is worth $0.")
    assert not price.is_by_month


def test_quota_of_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="right would be On demand"):
        value_of_quota(solve(two_months()), "Term")


def test_months_are_named_in_runs() -> None:
    assert months_in_words([0]) == "month 1"
    assert months_in_words([6, 0, 1, 8]) == "months 1 to 2, 7 and 9"


def test_a_dearer_offer_lost_by_the_difference() -> None:
    found = solve(rented(10.0, ("A", 4.0, 64.0), ("B", 4.6, 64.0)))
    (lost,) = lost_options(found)
    assert lost.usd_per_gpu_hour == pytest.approx(0.6)
    text = "B on demand: $0.60 per GPU-hour dearer than what it would replace (first in month 1, block 1)."
    assert lost.sentence == text


@pytest.mark.parametrize("seed", range(6))
def test_a_smaller_price_cut_than_named_changes_nothing(seed: int) -> None:
    case = random_case(seed)
    case = replace(case, on_demand=(case.on_demand[0], case.on_demand[0] + 2.0), provider_share=1.0)
    problem = problem_of(replace(case, quota=(200.0, 200.0)))
    answer = relaxation(problem)
    found = solve(problem, TIGHT)
    (cut,) = (each.usd_per_gpu_hour for each in lost_options(found) if each.option == "B on demand")
    assert cut is not None
    assert cut > 0.0

    def after(usd: float) -> float:
        options = list(problem.options)
        options[3] = replace(
            options[3], usd_per_gpu_hour=options[3].usd_per_gpu_hour - usd * problem.end_factors
        )
        return relaxation(replace(problem, options=tuple(options))).objective

    assert after(cut * 0.999) == pytest.approx(answer.objective, rel=1e-12)
    assert after(cut * 1.01) < answer.objective * (1 - 1e-9)


def test_what_is_not_a_matter_of_price_is_said() -> None:
    problem = rented(10.0, ("A", 4.0, 64.0), ("B", 3.0, 64.0), ("C", 2.0, 0.0), ("D", float("nan"), 9.0))
    useful = problem.useful_per_paid.copy()
    useful[0, 1] = 0.0
    reasons = {("serving", "B on demand"): "may not run in us-east-2"}
    found = solve(replace(problem, useful_per_paid=useful, reasons=reasons))
    assert [each.sentence for each in lost_options(found)] == [
        "B on demand: may not run in us-east-2 (serving).",
        "C on demand: its quota holds no whole instance in any month in which it may be used.",
        "D on demand: not weighed, its price is unknown.",
    ]


def test_options_that_could_not_be_bought_say_why() -> None:
    case = replace(random_case(1), months=2, term=3, lead=5)
    case = replace(case, demand=case.demand[:2], work=case.work[:2], quota=(200.0, 200.0), provider_share=1.0)
    lost = {each.option: each.sentence for each in lost_options(solve(problem_of(case)))}
    assert lost["Own"].endswith("none may be bought, or none would be in service within the plan.")
    assert lost["Term"] == "Term: no term fits into the plan."


def test_fewer_suppliers_for_a_little_more() -> None:
    problem = rented(10.0, ("A", 4.0, 9.0), ("B", 3.99, 9.0), ("C", 4.01, 64.0))
    best = solve(problem)
    assert suppliers_used(best) == ("A", "B")
    other = fewer_suppliers(best)
    assert other is not None
    assert other.suppliers == ("C",)
    # 9 at 3.99 and 1 at 4.00 against 10 at 4.01
    assert other.dearer_share == pytest.approx(40.1 / 39.91 - 1.0)
    assert other.sentence == "For 0.48% more: 1 suppliers instead of 2 (without A, B)."
    assert fewer_suppliers(best, extra_share=0.004) is None


def test_less_capital_within_one_percent(best: Solution) -> None:
    other = less_capex(best, effort=TIGHT)
    assert other is not None
    assert other.capex_usd < capex_of(best) == 4 * 280_000
    assert 0.0 < other.dearer_share <= 0.01
    assert f"${other.capex_usd:,.0f} of capital instead of $1,120,000" in other.sentence
    # no plan of less capital is as cheap: one server fewer still is beyond one percent
    poorer = replace(best.problem.limits, capex_budget_usd=other.capex_usd - 280_000)
    without = solve(replace(best.problem, limits=poorer), TIGHT)
    assert without.objective > best.objective * 1.01


def test_near_optimal_plans_stay_within_the_share(best: Solution) -> None:
    for other in near_optimal(best, effort=TIGHT):
        assert best.objective <= other.solution.objective <= best.objective * 1.01


def test_a_shortage_is_named_with_the_quota_that_binds() -> None:
    conflict = conflict_of(rented(76.0, ("A", 4.0, 64.0)))
    assert conflict is not None
    assert conflict.limits == ("quota of A on demand",)
    assert conflict.short_gpu_hours == pytest.approx(12 * 730.0)
    text = "Month 1, block 1: 12.0 GPUs short of serving. In conflict: quota of A on demand."
    assert conflict.sentence == text
    assert conflict.eases[0].amount == pytest.approx(12.0)
    assert conflict.eases[0].sentence == "quota of A on demand: 12.0 GPUs more would do alone"


def test_a_limit_that_has_no_part_in_it_is_not_named() -> None:
    conflict = conflict_of(
        rented(100.0, ("A", 4.0, 64.0), ("B", 4.6, 30.0), most_spot_share=0.5, capex_budget_usd=1.0)
    )
    assert conflict is not None
    assert conflict.limits == ("quota of A on demand", "quota of B on demand")
    assert [ease.amount for ease in conflict.eases] == [pytest.approx(6.0), pytest.approx(6.0)]


def _only(problem: Problem, limits: set[str]) -> object:
    """Return the conflict that is left when only the named limits hold."""
    endless = np.full(problem.blocks, np.inf)
    options = [
        option if capacity_name(option) in limits else replace(option, gpus=endless)
        for option in problem.options
    ]
    kept = Limits(
        capex_budget_usd=problem.limits.capex_budget_usd if "capex budget" in limits else None,
        most_spot_share=problem.limits.most_spot_share if "share of spot" in limits else None,
        most_provider_share=(
            problem.limits.most_provider_share
            if {"share of provider A", "share of provider B"} & limits
            else None
        ),
    )
    found = conflict_of(replace(problem, options=tuple(options), limits=kept))
    # both providers' shares stand in one number here: where one of them was dropped nothing can be said
    shares = {"share of provider A", "share of provider B"} & limits
    return None if len(shares) == 1 else found


@pytest.mark.parametrize("seed", range(30))
def test_the_conflicting_limits_are_irreducible(seed: int) -> None:
    case = random_case(seed)
    problem = problem_of(replace(case, quota=(5.0, 5.0)))
    conflict = conflict_of(problem)
    if conflict is None:
        assert solve(problem).is_found
        return
    assert not solve(problem).is_found
    assert conflict.short_gpu_hours > 0.0
    assert conflict.limits
    for kept in conflict.limits:  # with the others alone there would be a plan
        assert _only(problem, set(conflict.limits) - {kept}) is None
    eased = [
        ease for ease in conflict.eases if ease.amount is not None and ease.limit.startswith("quota of B")
    ]
    for ease in eased:
        assert ease.amount is not None
        enough = problem_of(replace(case, quota=(5.0, 5.0 + ease.amount * (1 + 1e-6))))
        assert conflict_of(enough) is None
        short = problem_of(replace(case, quota=(5.0, 5.0 + ease.amount * 0.99)))
        assert conflict_of(short) is not None


def test_work_that_nothing_may_serve_is_said() -> None:
    problem = rented(10.0, ("A", 4.0, 64.0))
    conflict = conflict_of(replace(problem, useful_per_paid=np.zeros((1, 1, 1))))
    assert conflict is not None
    assert conflict.sentence.endswith("No option may serve this work.")


def test_coverage_costs_more_the_more_is_wanted(best: Solution) -> None:
    shares = [0.0, 0.2, 0.4, 0.6, 0.8]
    points = coverage_frontier(best.problem, shares, TIGHT)
    parts = coverage_frontier(best.problem, shares, by_the_part=True)
    usd = [point.usd for point in points]
    assert usd[0] == pytest.approx(best.objective)
    known = [each for each in usd if each is not None]
    assert known == sorted(known)
    for whole, part in zip(points, parts, strict=True):
        assert (whole.usd is None) == (part.usd is None)
        if whole.usd is not None and part.usd is not None:
            assert part.usd <= whole.usd * (1 + 1e-9)


def test_coverage_counts_what_is_left_when_the_largest_supplier_is_lost() -> None:
    # B's quota of 5 is half of the 10 that are critical; A's loss leaves no more
    problem = rented(10.0, ("A", 4.0, 64.0), ("B", 4.6, 5.0))
    points = coverage_frontier(problem, [0.5, 0.51])
    assert points[0].usd == pytest.approx(4.0 * 7_300)
    assert points[1].usd is None
    # a quota of which nothing is known cannot be relied on
    nobody_knows = rented(10.0, ("A", 4.0, 64.0), ("B", 4.6, np.inf))
    assert coverage_frontier(nobody_knows, [0.1])[0].usd is None
