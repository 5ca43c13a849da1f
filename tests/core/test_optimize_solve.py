"""The least-cost mix: against enumeration, against the formulation written twice, and its laws."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.optimize.examples import two_months
from planner.core.optimize.problem import Crew, DeferrableWork, Limits, Problem, Work
from planner.core.optimize.program import Bounds
from planner.core.optimize.schedules import next_best_schedule
from planner.core.optimize.solve import WarmProblem, build, relaxation, solve, total_with_units
from planner.core.optimize.solver import Effort, Solver
from planner.core.optimize.stochastic import scaled_demand
from tests.core.optimizer_cases import dense_optimum, problem_of, random_case
from tests.core.worked.optimizer import EXAMPLES, twelve_month_problem

TIGHT = Effort(gap=1e-9)
FEW = settings(max_examples=15, deadline=None)


def twelve_months() -> Problem:
    return twelve_month_problem(next(e for e in EXAMPLES if e.id == "OPT-02").inputs)


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_the_best_of_all_order_schedules(seed: int) -> None:
    case = random_case(seed)
    by_hand = min(
        dense_optimum(case, orders)
        for orders in itertools.product(range(case.most + 1), repeat=case.months)
        if sum(orders) * case.capex <= case.budget
    )
    found = solve(problem_of(case), TIGHT)
    if math.isinf(by_hand):
        assert not found.is_found
        assert found.status == "infeasible"
    else:
        assert found.objective == pytest.approx(by_hand, rel=1e-8)
        assert found.bound <= found.objective


@pytest.mark.parametrize("seed", range(12, 32))
def test_the_relaxation_is_that_of_a_formulation_written_independently(seed: int) -> None:
    case = random_case(seed)
    answer = relaxation(problem_of(case))
    by_hand = dense_optimum(case)
    if math.isinf(by_hand):
        assert not answer.is_found
    else:
        assert answer.objective == pytest.approx(by_hand, rel=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_of_given_orders_is_that_of_the_other_formulation(seed: int) -> None:
    case = random_case(seed)
    units = np.zeros((5, case.months))
    units[0, 0] = 1.0
    orders = (1, *([0] * (case.months - 1)))
    # commitments stay free in the other formulation, so they are only compared at none
    by_hand = dense_optimum(replace(case, committed=1e4), orders)
    here = total_with_units(problem_of(replace(case, committed=1e4)), units)
    assert here == pytest.approx(by_hand, rel=1e-8)


def test_no_plan_costs_less_than_the_bound() -> None:
    best = solve(twelve_months(), TIGHT)
    assert relaxation(twelve_months()).objective <= best.bound <= best.objective
    assert best.objective == pytest.approx(best.usd + best.late_usd, rel=1e-12)
    assert best.gap <= 1e-9


def test_what_is_served_is_what_was_wanted() -> None:
    problem = twelve_months()
    best = solve(problem, TIGHT)
    useful = best.gpus * problem.useful_per_paid[:, :, problem.month]
    assert useful[0].sum(axis=0) == pytest.approx(problem.urgent[0].gpus)
    done = np.bincount(problem.month, weights=useful[1].sum(axis=0) * problem.hours)
    late = best.late_gpu_hours[0]
    assert done == pytest.approx(problem.deferrable[0].gpu_hours + np.append(0.0, late[:-1]) - late)
    assert late[-1] == 0.0
    assert (late <= problem.deferrable[0].gpu_hours * (1 + 1e-9)).all()  # nothing is older than a month


def test_limits_hold() -> None:
    problem = twelve_months()
    best = solve(problem, TIGHT)
    paid = best.paid_gpu_hours
    assert best.units[0].sum() * 280_000 <= 1_200_000
    of_a = paid[[1, 2, 3, 5]].sum(axis=0)
    assert (of_a <= 0.8 * paid.sum(axis=0) + 1e-6).all()
    assert best.gpus[0, 5].max() == 0.0  # no serving on spot
    assert (best.gpus[:, 3].sum(axis=0) <= problem.options[3].gpus + 1e-9).all()


def test_the_second_best_schedule_is_hardly_worse() -> None:
    second = next_best_schedule(solve(twelve_months(), TIGHT), TIGHT)
    assert second is not None
    assert second.objective == pytest.approx(1_441_466.7247, rel=1e-8)
    assert second.units[0].tolist() != [3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]


@FEW
@given(seed=st.integers(0, 10_000), factor=st.floats(1.0, 3.0))
def test_relaxing_a_bound_never_raises_the_optimum(seed: int, factor: float) -> None:
    case = random_case(seed)
    tight = problem_of(case)
    loose = [
        problem_of(replace(case, quota=(case.quota[0] * factor, case.quota[1]))),
        problem_of(replace(case, budget=case.budget * factor)),
        problem_of(replace(case, spot_gpus=case.spot_gpus * factor)),
        problem_of(replace(case, provider_share=min(case.provider_share * factor, 1.0))),
        problem_of(replace(case, late=case.late + 1)),
    ]
    before = solve(tight, TIGHT).objective
    for problem in loose:
        assert solve(problem, TIGHT).objective <= before * (1 + 1e-8)


@FEW
@given(seed=st.integers(0, 10_000))
def test_the_relaxation_is_a_bound_and_doubles_with_demand_and_caps(seed: int) -> None:
    case = random_case(seed)
    once = relaxation(problem_of(case))
    assert once.objective <= solve(problem_of(case), TIGHT).objective * (1 + 1e-9)
    twice = replace(
        case,
        demand=case.demand * 2,
        work=case.work * 2,
        quota=(case.quota[0] * 2, case.quota[1] * 2),
        spot_gpus=case.spot_gpus * 2,
        budget=case.budget * 2,
        most=case.most * 2,
    )
    assert relaxation(problem_of(twice)).objective == pytest.approx(2 * once.objective, rel=1e-9)


@FEW
@given(seed=st.integers(0, 10_000))
def test_zero_demand_costs_nothing(seed: int) -> None:
    case = random_case(seed)
    nothing = scaled_demand(problem_of(replace(case, loss=0.3)), 0.0)
    assert solve(nothing).objective == pytest.approx(0.0, abs=1e-9)


@FEW
@given(seed=st.integers(0, 10_000), most=st.integers(1, 2))
def test_no_hand_made_plan_is_cheaper(seed: int, most: int) -> None:
    case = random_case(seed)
    problem = problem_of(case)
    best = solve(problem, TIGHT)
    for month in range(case.months):
        units = np.zeros((5, case.months))
        units[0, month] = most
        assert total_with_units(problem, units) >= best.objective * (1 - 1e-9)


@FEW
@given(seed=st.integers(0, 10_000), more=st.floats(1.0, 40.0))
def test_cost_with_undone_work_priced_never_rises_with_quota(seed: int, more: float) -> None:
    case = random_case(seed)
    price = np.full(case.months, 5.0)

    def total(quota: float) -> float:
        of = problem_of(replace(case, quota=(quota, case.quota[1])))
        return solve(replace(of, usd_unmet_per_gpu_hour=price), TIGHT).objective

    assert total(case.quota[0] + more) <= total(case.quota[0]) * (1 + 1e-8)


def test_undone_work_is_what_could_not_be_served() -> None:
    problem = replace(two_months(quota_gpus=1.0), usd_unmet_per_gpu_hour=np.array([2.0, 2.0]))
    without_terms = replace(problem, options=problem.options[:1], useful_per_paid=np.ones((1, 1, 2)))
    found = solve(without_terms)
    # renting at 4.00 is dearer than leaving the work undone at 2.00
    assert found.undone_gpus[0].tolist() == [2.0, 1.0, 2.0, 1.0]
    assert found.undone_usd == pytest.approx(2.0 * 365 * 6)
    assert found.usd == 0.0


def test_work_that_may_not_be_late_is_done_in_its_month() -> None:
    problem = replace(
        two_months(),
        urgent=(),
        deferrable=(DeferrableWork("training", np.array([730.0, 1460.0])),),
    )
    found = solve(replace(problem, options=problem.options[:1], useful_per_paid=np.ones((1, 1, 2))))
    assert found.objective == pytest.approx(4.0 * 2190.0)
    assert found.paid_gpu_hours[0].tolist() == pytest.approx([730.0, 1460.0])


def test_a_crew_costs_its_minimum_while_servers_stand() -> None:
    problem = problem_of(random_case(3))
    months = problem.months
    present = np.triu(np.ones((months, months)))
    crew = Crew(
        options=(0,),
        usd_per_unit=np.full((1, months), 100.0),
        minimum_usd=np.full((1, months), 1_000.0),
        present=present[None],
        standing_usd=np.zeros(months),
        standing_minimum_usd=np.zeros(months),
    )
    units = np.zeros((5, months))
    units[0, 1] = 2.0
    free = total_with_units(problem, units)
    # two servers want 200 a month, a crew is 1,000, in the months from the second on
    assert total_with_units(replace(problem, crew=crew), units) == pytest.approx(
        free + 1_000.0 * (months - 1)
    )
    many = replace(crew, usd_per_unit=np.full((1, months), 900.0))
    assert total_with_units(replace(problem, crew=many), units) == pytest.approx(
        free + 1_800.0 * (months - 1)
    )
    assert total_with_units(replace(problem, crew=crew), np.zeros((5, months))) == pytest.approx(
        total_with_units(problem, np.zeros((5, months)))
    )


def test_a_purchase_holds_at_least_a_gang() -> None:
    problem = two_months()
    term = problem.options[1]
    assert term.purchase is not None
    lots = replace(term, purchase=replace(term.purchase, least_per_purchase=3))
    found = solve(replace(problem, options=(problem.options[0], lots)))
    assert found.units[1].tolist() == [3.0, 0.0]  # 6,570 against 8,760 on demand
    four = replace(term, purchase=replace(term.purchase, least_per_purchase=7))
    assert solve(replace(problem, options=(problem.options[0], four))).units[1].sum() == 0.0


def test_an_unknown_price_is_not_weighed_and_an_unknown_fixed_cost_makes_the_total_unknown() -> None:
    problem = two_months()
    nobody_knows = replace(problem.options[1].purchase, usd_per_unit=np.array([np.nan, np.nan]))  # type: ignore[type-var]
    found = solve(
        replace(problem, options=(problem.options[0], replace(problem.options[1], purchase=nobody_knows)))
    )
    assert found.not_weighed == ("Term",)
    assert found.objective == pytest.approx(8_760.0)
    unknown = solve(replace(problem, fixed_usd=math.nan))
    assert math.isnan(unknown.objective)
    assert math.isnan(unknown.usd)
    assert unknown.units[1].tolist() == [2.0, 0.0]


@pytest.mark.parametrize(("price", "demand"), [(1.01, 1.0), (1.0, 1.01), (0.97, 1.02)])
def test_a_warm_solve_finds_what_a_cold_one_does(price: float, demand: float) -> None:
    problem = twelve_months()
    warm = WarmProblem(problem)
    assert warm.total() == pytest.approx(1_438_073.9135, rel=1e-9)
    options = tuple(replace(o, usd_per_gpu_hour=o.usd_per_gpu_hour * price) for o in problem.options)
    moved = replace(scaled_demand(problem, demand), options=options)
    assert warm.total_with(moved) == pytest.approx(relaxation(moved).objective, rel=1e-9)


def test_a_warm_solve_refuses_another_problem() -> None:
    with pytest.raises(ValueError, match="the problem is another one"):
        WarmProblem(two_months()).total_with(two_months(most_provider_share=0.5))


def test_the_same_problem_gives_the_same_bytes() -> None:
    once, again = solve(twelve_months()), solve(twelve_months())
    assert once.gpus.tobytes() == again.gpus.tobytes()
    assert once.objective == again.objective


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hours": np.array([365.0, 0.0, 365.0, 365.0])}, "hours is"),
        ({"month": np.array([0, 0, 0, 0])}, "every month index from 0 to 1"),
        ({"month": np.array([1, 1, 0, 0])}, "ascending"),
        ({"useful_per_paid": np.ones((1, 1, 2))}, "useful_per_paid is an array of shape"),
        ({"useful_per_paid": -np.ones((1, 2, 2))}, "useful_per_paid is"),
        ({"urgent": (Work("serving", np.ones(3)),)}, "serving: gpus is an array of shape"),
        (
            {
                "deferrable": (DeferrableWork("training", np.ones(3)),),
                "useful_per_paid": np.ones((2, 2, 2)),
            },
            "training: gpu_hours is an array",
        ),
    ],
)
def test_a_problem_that_does_not_fit_together_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(two_months(), **change)  # type: ignore[arg-type]


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="gpus is"):
        Work("serving", np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="usd_late_per_gpu_hour_month is 0"):
        DeferrableWork("training", np.ones(2), most_months_late=1)
    with pytest.raises(ValueError, match="most_spot_share is 1"):
        Limits(most_spot_share=1.5)
    with pytest.raises(ValueError, match="kind is 'rented'"):
        replace(two_months().options[0], kind="rented")  # type: ignore[arg-type]


def test_all_1820_affordable_schedules_of_the_published_case_are_dearer() -> None:
    problem = twelve_months()
    built = build(problem)
    solver = Solver(built.program.relaxed())
    orders = np.flatnonzero(built.columns.bought_option == 0)
    totals = []
    for bought in range(5):  # 1,200,000 buys four servers
        for months in itertools.combinations_with_replacement(range(12), bought):
            units = np.bincount(np.array(months, dtype=np.int64), minlength=12).astype(float)
            solver.change_columns(orders, Bounds(units, units))
            totals.append((solver.run().objective, tuple(months)))
    assert len(totals) == 1820
    (first, schedule), (second, _) = sorted(totals)[:2]
    assert first == pytest.approx(1_441_222.2982, rel=1e-9)
    assert schedule == (0, 0, 0, 4)
    assert second == pytest.approx(1_441_466.7247, rel=1e-9)
