"""What holds for every plan."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.lines import RESIDUAL
from planner.core.plan import VIEWS, OnDemand, Owned, Plan, Spot
from tests.core import strategies
from tests.core.reading import by_month, closing, opening
from tests.core.strategies import START

MANY = settings(deadline=None, max_examples=40)

LAST_DAY = 500  # days after the start at which no drawn plan runs any more


def close(value: Any, scale: float = 1.0) -> Any:
    """Compare to 1e-9 of the value or of the amounts that were added."""
    return pytest.approx(value, rel=1e-9, abs=1e-9 * max(1.0, scale))


@MANY
@given(strategies.rich_plans())
def test_parts_add_up_to_totals(plan: Plan) -> None:
    outcome = evaluate(plan)
    frame = outcome.monthly
    for view in VIEWS:
        scale = float(frame[view].abs().sum())
        assert outcome.total[view] == close(frame[view].sum(), scale)
        assert outcome.cumulative[view].iloc[-1] == close(outcome.total[view], scale)
        assert by_month(outcome, view).sum() == close(outcome.total[view], scale)
    served = frame[frame["line"] == "served"]["useful_gpu_hours"].sum()
    assert outcome.useful_gpu_hours == close(served)


@MANY
@given(strategies.rich_plans())
def test_served_and_unmet_make_the_demand(plan: Plan) -> None:
    outcome = evaluate(plan)
    assert outcome.useful_gpu_hours + outcome.unmet_gpu_hours == close(outcome.demand_gpu_hours)
    assert outcome.monthly["useful_gpu_hours"].sum() == close(outcome.demand_gpu_hours)
    assert (outcome.monthly["useful_gpu_hours"] >= 0).all()


@MANY
@given(strategies.rich_plans())
def test_no_supply_gives_more_than_it_has(plan: Plan) -> None:
    outcome = evaluate(plan)
    served = outcome.monthly[outcome.monthly["line"] == "served"]
    paid = served.groupby(["supply", "month"])["paid_gpu_hours"].sum()
    room = outcome.capacity.groupby(["supply", "month"])["available_gpu_hours"].sum(min_count=1)
    both = paid.to_frame().join(room).dropna()
    assert (both["paid_gpu_hours"] <= both["available_gpu_hours"] * (1 + 1e-9) + 1e-6).all()


@MANY
@given(strategies.rich_plans())
def test_rows_carry_hours_or_money_and_stand_once(plan: Plan) -> None:
    frame = evaluate(plan).monthly
    assert not frame.duplicated(["month", "supply", "line"]).any()
    carries_hours = frame["line"].isin(["served", "unmet"])
    assert (frame.loc[carries_hours, list(VIEWS)] == 0).all().all()
    assert (frame.loc[~carries_hours, ["paid_gpu_hours", "useful_gpu_hours"]] == 0).all().all()
    assert (frame.groupby(["supply", "line"]).size() == plan.months).all()


@MANY
@given(strategies.rich_plans())
def test_cash_is_amortized_plus_what_the_books_gained_at_the_end_of_every_month(plan: Plan) -> None:
    outcome = evaluate(plan)
    cash = np.cumsum(by_month(outcome, "cash_usd", (RESIDUAL,)))
    amortized = np.cumsum(by_month(outcome, "amortized_usd"))
    held = closing(outcome) - opening(outcome)
    assert cash.tolist() == close((amortized + held).tolist(), float(outcome.monthly["cash_usd"].abs().sum()))


@MANY
@given(strategies.rich_plans())
def test_present_value_without_discounting_is_cash(plan: Plan) -> None:
    outcome = evaluate(replace(plan, discount_rate_per_year=0.0))
    scale = float(outcome.monthly["cash_usd"].abs().sum())
    assert outcome.total["present_value_usd"] == close(outcome.total["cash_usd"], scale)


@MANY
@given(strategies.plans(supplies=()), strategies.owned(order_date=START, lead_time_days=0, burn_in_days=0))
def test_over_a_full_life_cash_and_amortized_are_the_same(plan: Plan, servers: Owned) -> None:
    life = min(plan.months, servers.economic_life_months or plan.months)
    outcome = evaluate(replace(plan, supplies=(replace(servers, economic_life_months=life),)))
    scale = float(outcome.monthly["cash_usd"].abs().sum())
    assert outcome.total["cash_usd"] == close(outcome.total["amortized_usd"], scale)


@MANY
@given(strategies.plans(months=12), st.integers(1, 11))
def test_a_shorter_plan_is_the_beginning_of_the_longer_one(plan: Plan, months: int) -> None:
    at_the_end = (RESIDUAL, "loan_payoff")
    long, short = evaluate(plan), evaluate(replace(plan, months=months))
    for view in VIEWS:
        beginning = by_month(long, view, at_the_end)[:months]
        scale = float(np.abs(beginning).sum())
        assert by_month(short, view, at_the_end).tolist() == close(beginning.tolist(), scale)


@MANY
@given(strategies.rich_plans(), strategies.owned(name="Late"))
def test_a_purchase_not_in_service_by_the_horizon_never_makes_a_view_cheaper(plan: Plan, late: Owned) -> None:
    late = replace(late, order_date=START + timedelta(days=20), burn_in_days=LAST_DAY)
    before, after = evaluate(plan).total, evaluate(replace(plan, supplies=(*plan.supplies, late))).total
    for view in VIEWS:
        one, other = before[view], after[view]
        assert one is not None
        assert other is not None
        assert other >= one - 1e-9 * max(1.0, abs(one), 1e6)


@MANY
@given(
    strategies.plans(supplies=()),
    strategies.owned(),
    strategies.spot(),
    strategies.on_demand(gpus_per_instance=1),
    strategies.floats(0.0, 60.0),
    strategies.floats(0.0, 60.0),
    st.booleans(),
)
def test_cost_plus_unmet_at_the_dearest_price_never_rises_with_quota(
    plan: Plan, servers: Owned, spot: Spot, rented: OnDemand, one: float, other: float, is_spot: bool
) -> None:
    def cost(quota: float) -> float:
        changed: tuple[Any, ...] = (
            (servers, replace(spot, quota_gpus=quota), rented)
            if is_spot
            else (servers, spot, replace(rented, quota_gpus=quota))
        )
        outcome = evaluate(replace(plan, supplies=changed))
        assert outcome.total["cash_usd"] is not None
        drift = max(1.0, (1.0 + plan.price_drift_per_month) ** plan.months)
        dearest = drift * max(
            rented.usd_per_gpu_hour or 0, (spot.usd_per_gpu_hour or 0) / spot.useful_work_factor
        )
        return outcome.total["cash_usd"] + dearest * outcome.unmet_gpu_hours

    less, more = cost(min(one, other)), cost(max(one, other))
    assert more <= less + 1e-9 * max(1.0, abs(less))


@MANY
@given(strategies.plans(), st.data())
def test_the_total_is_unknown_iff_a_price_is_missing(plan: Plan, data: st.DataObject) -> None:
    hourly = [row for row in plan.supplies if not isinstance(row, Owned)]
    missing = data.draw(st.sets(st.sampled_from([row.name for row in hourly]))) if hourly else set()
    supplies = tuple(
        replace(row, usd_per_gpu_hour=None) if row.name in missing else row  # type: ignore[call-arg]
        for row in plan.supplies
    )
    outcome = evaluate(replace(plan, supplies=supplies))
    # a commitment paid all upfront has no hourly price that could be missing
    needed = {
        row.name for row in supplies if row.name in missing and getattr(row, "payment", "") != "all_upfront"
    }
    assert {gap.supply for gap in outcome.gaps} == needed
    for view in VIEWS:
        assert (outcome.total[view] is None) == bool(needed)


@MANY
@given(strategies.plans())
def test_whole_months_of_hours_and_hours_of_the_week_give_the_same(plan: Plan) -> None:
    """A second of training that waits a day forces real hours; it must change nothing."""
    workloads = tuple(
        replace(row, deferrable_hours=2000.0 if row.deferrable_hours else 0.0) for row in plan.workloads
    )
    nothing = replace(
        workloads[0], name="nothing", kind="training", gpus=0.0, deferrable_hours=24.0, profile=None,
        interruptible=False,
    )  # fmt: skip
    weekly = evaluate(replace(plan, workloads=workloads))
    hourly = evaluate(replace(plan, workloads=(*workloads, nothing)))
    assert hourly.unmet_gpu_hours == close(weekly.unmet_gpu_hours, weekly.demand_gpu_hours)
    for view in VIEWS:
        assert hourly.total[view] == close(weekly.total[view], float(weekly.monthly[view].abs().sum()))


@MANY
@given(strategies.rich_plans())
def test_found_break_even_months_are_where_own_reaches_rent(plan: Plan) -> None:
    outcome = evaluate(plan)
    for view in VIEWS:
        found = outcome.break_even[view]
        if found is None or found.same_as_baseline:
            continue
        own = np.cumsum(by_month(outcome, view, (RESIDUAL,)))
        rent = outcome.cumulative[f"baseline_{view}"].to_numpy()
        slack = 1e-6 * max(1.0, float(np.abs(rent).max()), float(np.abs(own).max()))
        if found.month is None:
            assert (own - rent > -slack).all()
            continue
        assert own[found.month - 1] <= rent[found.month - 1] + slack
        assert (own - rent > -slack)[: found.month - 1].all()
        assert found.date == outcome.cumulative["month"].iloc[found.month - 1]
        if found.until is not None:
            assert found.until > found.month
            assert own[found.until - 1] > rent[found.until - 1]
