"""What holds for the money of every plan: scale, unknown prices, simulation without uncertainty."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.plan import VIEWS, Contract, Outcome, Plan, SavingsPlan
from planner.core.setting import Grid
from planner.core.uncertainty.draws import draw
from planner.core.uncertainty.factors import CERTAIN
from planner.core.uncertainty.simulate import simulate
from tests.core import strategies

SOME = settings(deadline=None, max_examples=25)
OWNED_PRICES = ("usd_capex_per_server", "idle_kw_per_server", "max_kw_per_server", "usd_per_kwh")


def scale(outcome: Outcome) -> float:
    return max(1.0, *(float(outcome.monthly[view].abs().sum()) for view in VIEWS))


def doubled(record: Any) -> Any:
    """Return a record with every price twice as high, inside its parts too."""
    changes: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in ("rates", "steps", "regions") and value is not None:
            changes[field.name] = tuple(doubled(part) for part in value)
        elif field.name.startswith("usd") and value is not None:
            changes[field.name] = 2 * value
    return replace(record, **changes)


@SOME
@given(strategies.rich_plans())
def test_doubling_every_price_doubles_the_cost(plan: Plan) -> None:
    twice = replace(
        plan,
        workloads=tuple(map(doubled, plan.workloads)),
        supplies=tuple(map(doubled, plan.supplies)),
        projects=tuple(map(doubled, plan.projects)),
    )
    one, other = evaluate(plan), evaluate(twice)
    for view in VIEWS:
        assert one.total[view] is not None
        assert other.total[view] == pytest.approx(2 * one.total[view], rel=1e-9, abs=1e-9 * scale(one))


@SOME
@given(strategies.rich_plans())
def test_a_simulation_without_uncertainty_is_the_evaluation(plan: Plan) -> None:
    outcome = evaluate(plan)
    draws = draw(np.random.default_rng(1), 2, plan.months, ())
    simulated = simulate([plan], draws, CERTAIN, Grid())[0]
    for view in VIEWS:
        assert simulated.total[view][0] == pytest.approx(outcome.total[view], abs=1e-9 * scale(outcome))
    assert simulated.unmet_gpu_hours[0] == pytest.approx(outcome.unmet_gpu_hours, rel=1e-9, abs=1e-6)


def without(supply: Any, name: str) -> Any:
    if isinstance(supply, Contract):
        return replace(supply, steps=tuple(replace(step, usd_per_gpu_hour=None) for step in supply.steps))
    return replace(supply, **{name: None})


@SOME
@given(strategies.rich_plans(), st.data())
def test_an_unknown_price_is_unknown_in_plan_and_simulation_and_spoils_no_other_supply(
    plan: Plan, data: st.DataObject
) -> None:
    priced = [supply for supply in plan.supplies if not isinstance(supply, SavingsPlan)]
    if not priced:
        return
    chosen = data.draw(st.sampled_from(priced))
    name = data.draw(st.sampled_from(OWNED_PRICES)) if chosen.kind == "owned" else "usd_per_gpu_hour"
    blind = tuple(without(each, name) if each is chosen else each for each in plan.supplies)
    plan = replace(plan, supplies=blind)
    outcome = evaluate(plan)
    is_missing = any(gap.supply == chosen.name for gap in outcome.gaps)
    simulated = simulate([plan], draw(np.random.default_rng(1), 2, plan.months, ()), CERTAIN, Grid())[0]
    for view in VIEWS:
        assert (outcome.total[view] is None) is is_missing
        assert bool(np.isnan(simulated.total[view]).all()) is is_missing
    unknown = outcome.monthly[outcome.monthly[list(VIEWS)].isna().any(axis=1)]
    assert set(unknown["supply"]) <= {chosen.name}
