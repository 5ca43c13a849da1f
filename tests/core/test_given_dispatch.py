"""A dispatch that is given is priced as it is; the plan's own, given back, costs the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.calendar import Horizon
from planner.core.evaluate import evaluate, outcome_of
from planner.core.ledger import Given, settle
from planner.core.plan import VIEWS, Plan
from planner.core.setting import Grid
from planner.core.slots import Demand, build_demand
from tests.builders import make_on_demand, make_plan, make_reserved, make_workload
from tests.core import strategies
from tests.core.reading import unmet


def grid_of(plan: Plan) -> Demand:
    return build_demand(Horizon(plan.start, plan.months), plan.workloads, [], each_hour=True)


def test_money_follows_the_given_hours() -> None:
    plan = make_plan(months=2, supplies=(make_reserved(gpus=4), make_on_demand()))
    demand = grid_of(plan)
    paid = np.zeros((1, 2, len(demand.slots.month)))
    paid[0, 1] = 8.0  # all on demand, although 4 are reserved
    outcome = evaluate(plan, served=Given(demand, paid, np.zeros((1, 2))))
    assert outcome.total["cash_usd"] == pytest.approx((4 * 2.0 + 8 * 4.0) * (744 + 672))
    assert unmet(outcome) == [0.0, 0.0]


def test_work_may_be_carried_into_the_next_month() -> None:
    plan = make_plan(months=2, workloads=(make_workload(kind="training", deferrable_hours=2000.0),))
    demand = grid_of(plan)
    paid = np.zeros((1, 1, len(demand.slots.month)))
    paid[0, 0, demand.slots.month == 0] = 6.0
    paid[0, 0, demand.slots.month == 1] = 8.0 + 2.0 * 744 / 672
    carried = np.array([[2.0 * 744, 0.0]])
    outcome = evaluate(plan, served=Given(demand, paid, carried))
    assert unmet(outcome) == [0.0, 0.0]
    assert outcome.useful_gpu_hours == pytest.approx(outcome.demand_gpu_hours)
    with pytest.raises(ValueError, match=r"1,488.000 GPU-hours too many for workload 0 in month 1"):
        evaluate(plan, served=Given(demand, paid, np.zeros((1, 2))))


def test_more_than_a_supply_has_is_refused() -> None:
    plan = make_plan(months=1, supplies=(make_on_demand(quota_gpus=4),))
    demand = grid_of(plan)
    with pytest.raises(
        ValueError, match=r"8.000 GPUs of supply 0 in slot 0; right would be at most the 4.000"
    ):
        evaluate(plan, served=Given(demand, np.full((1, 1, 744), 8.0), np.zeros((1, 1))))


@pytest.mark.parametrize("shape", [(1, 1, 5), (2, 1, 1416)])
def test_arrays_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    plan = make_plan(months=2)
    with pytest.raises(ValueError, match="paid_gpus is of shape"):
        evaluate(plan, served=Given(grid_of(plan), np.zeros(shape), np.zeros((1, 2))))


@settings(deadline=None, max_examples=15)
@given(strategies.plans(workloads=(make_workload(),)), st.integers(1, 4))
def test_a_plans_own_dispatch_given_back_costs_the_same(plan: Plan, months: int) -> None:
    plan = replace(plan, months=months)
    ledger = settle(plan, Grid(each_hour=True))
    own = outcome_of(ledger)
    given_back = Given(ledger.demand, ledger.served.paid_gpus[None], np.zeros((1, months)))
    again = evaluate(plan, served=given_back)
    for view in VIEWS:
        if own.total[view] is not None:
            scale = float(own.monthly[view].abs().sum())
            assert again.total[view] == pytest.approx(own.total[view], rel=1e-9, abs=1e-9 * scale)
    assert again.unmet_gpu_hours == pytest.approx(own.unmet_gpu_hours, abs=1e-6)
