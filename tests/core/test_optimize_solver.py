"""The search can be watched and stopped, and says how far it came."""

import math

import pytest

from planner.core.optimize.examples import two_months
from planner.core.optimize.problem import Problem
from planner.core.optimize.solve import build, solve
from planner.core.optimize.solver import Answer, Effort, Progress, Solver
from tests.core.worked.optimizer import EXAMPLES, twelve_month_problem


def twelve_months() -> Problem:
    return twelve_month_problem(next(e for e in EXAMPLES if e.id == "OPT-02").inputs)


def test_progress_is_told_and_ends_at_the_optimum() -> None:
    heard: list[Progress] = []
    found = solve(twelve_months(), Effort(gap=1e-9, progress=heard.append))
    assert heard
    assert min(each.best for each in heard) == pytest.approx(found.objective, rel=1e-6)
    assert all(each.bound <= each.best for each in heard)
    assert found.status == "optimal"


def test_a_search_that_is_stopped_at_once_has_nothing_or_something_and_says_so() -> None:
    found = solve(twelve_months(), Effort(gap=0.0, stop=lambda: True))
    assert found.status == "stopped"
    assert found.gap >= 0.0
    if found.is_found:
        assert found.bound <= found.objective


def test_a_search_stopped_after_its_first_plan_keeps_it() -> None:
    heard: list[Progress] = []

    def has_plan() -> bool:
        return any(math.isfinite(each.best) for each in heard)

    found = solve(twelve_months(), Effort(gap=0.0, progress=heard.append, stop=has_plan))
    assert found.status in {"stopped", "optimal"}
    assert found.is_found
    assert found.objective >= 1_441_222.2982 * (1 - 1e-9)
    assert found.bound <= 1_441_222.2983


def test_time_that_is_over_ends_the_search() -> None:
    found = solve(twelve_months(), Effort(gap=0.0, seconds=1e-9))
    assert found.status == "time_limit"


def test_an_error_of_the_listener_comes_out() -> None:
    def fails(_: Progress) -> None:
        raise RuntimeError("the page is gone")

    with pytest.raises(RuntimeError, match="the page is gone"):
        solve(twelve_months(), Effort(progress=fails))


def test_a_larger_gap_may_end_sooner_and_is_reported() -> None:
    found = solve(twelve_months(), Effort(gap=0.05))
    assert found.gap <= 0.05


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    solve(two_months())
    assert capfd.readouterr().out == ""


def test_a_program_that_falls_for_ever_is_unbounded() -> None:
    program = build(two_months(quota_gpus=math.inf)).program.relaxed()
    solver = Solver(program)
    solver.change_costs(-program.cost)
    answer = solver.run()
    assert answer.status in {"unbounded", "optimal", "infeasible"}


def test_the_gap_of_nothing_is_endless() -> None:
    import numpy as np

    none = np.zeros(0)
    assert Answer("infeasible", math.inf, 0.0, none, none, none).gap == math.inf
    assert Answer("optimal", 0.0, 0.0, np.zeros(1), none, none).gap == 0.0
    assert Answer("stopped", 110.0, 99.0, np.zeros(1), none, none).gap == pytest.approx(0.1)


@pytest.mark.parametrize("wrong", [{"gap": -0.1}, {"seconds": 0.0}, {"gap": math.nan}])
def test_an_impossible_effort_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="right would be a number"):
        Effort(**wrong)  # type: ignore[arg-type]
