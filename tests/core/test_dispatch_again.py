"""The dispatch agrees with one written again in plain loops over real hours."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.plan import Plan
from tests.core import strategies
from tests.core.naive import naive_dispatch
from tests.core.strategies import START

BEFORE = date(2027, 1, 1)
STANDING = {"order_date": BEFORE, "lead_time_days": 0, "burn_in_days": 0, "economic_life_months": None}


@settings(deadline=None, max_examples=20)
@given(
    strategies.plans(supplies=()),
    st.tuples(
        strategies.owned(**STANDING),
        strategies.reserved(start=BEFORE, term_months=60),
        strategies.spot(),
        strategies.on_demand(),
    ),
    # windows that divide each other, so that the hours chosen inside a window cannot matter
    strategies.workloads(limits=(0.0, 12.0, 24.0, 2000.0)),
    st.integers(1, 2),
)
def test_hours_by_supply_and_unmet_hours_agree(plan: Plan, supplies, workloads, months) -> None:  # type: ignore[no-untyped-def]
    plan = Plan(
        name="Plan",
        start=START,
        months=months,
        gpu_model="H100",
        workloads=workloads,
        supplies=supplies,
        price_drift_per_month=plan.price_drift_per_month,
    )
    useful, unmet = naive_dispatch(plan)
    outcome = evaluate(plan)
    served = outcome.monthly[outcome.monthly["line"] == "served"]
    by_supply = served.groupby("supply")["useful_gpu_hours"].sum().to_dict()
    assert by_supply == pytest.approx(useful, rel=1e-7, abs=1e-4)
    assert outcome.unmet_gpu_hours == pytest.approx(sum(unmet.values()), rel=1e-7, abs=1e-4)
