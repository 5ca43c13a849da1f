"""Three grids of one plan: the coarsest exact one, every hour, load-duration blocks. The flat calendar."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.calendar import Horizon
from planner.core.evaluate import evaluate
from planner.core.load_duration import build_blocks
from planner.core.plan import Plan
from planner.core.setting import Grid
from planner.core.slots import build_demand
from tests.builders import make_on_demand, make_plan, make_reserved, make_workload
from tests.core import strategies
from tests.core.reading import line, served

HOURLY, FLAT = Grid(each_hour=True), Grid(hours_per_month=730)
NIGHT_AND_DAY = tuple(0.5 if h % 24 < 12 else 1.5 for h in range(168))


def test_blocks_keep_every_gpu_hour() -> None:
    horizon = Horizon(date(2027, 1, 1), 14)
    week = tuple(float(1 + h % 24) / 12.5 for h in range(168))
    works = (make_workload(profile=week, growth_per_month=0.05), make_workload(name="b", gpus=3.0))
    fine, coarse = build_demand(horizon, works, [1000]), build_blocks(horizon, works, [1000], 5)
    for month in range(14):
        one, other = fine.slots.month == month, coarse.slots.month == month
        total = fine.gpus[:, one] @ fine.slots.hours[one]
        assert coarse.gpus[:, other] @ coarse.slots.hours[other] == pytest.approx(total)
        assert coarse.slots.hours[other].sum() == fine.slots.hours[one].sum()
    # February is cut in two stretches by hour 1000
    assert np.bincount(coarse.slots.month)[:3].tolist() == [5, 10, 5]


def test_blocks_run_from_the_busiest_to_the_quietest() -> None:
    horizon = Horizon(date(2027, 1, 1), 1)
    week = tuple(float(1 + h % 24) / 12.5 for h in range(168))
    blocks = build_blocks(horizon, (make_workload(profile=week),), [], 6)
    assert (np.diff(blocks.gpus[0]) < 0).all()
    assert blocks.slots.hours.tolist() == [124.0] * 6


def test_few_different_hours_make_exact_blocks() -> None:
    blocks = build_blocks(Horizon(date(2027, 1, 1), 1), (make_workload(profile=NIGHT_AND_DAY),), [], 24)
    assert blocks.gpus[0].tolist() == [12.0, 4.0]
    assert blocks.slots.hours.tolist() == [372.0, 372.0]


def test_less_than_one_block_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks_per_month is 0; right would be a whole number from 1"):
        evaluate(make_plan(), Grid(blocks_per_month=0))


@settings(deadline=None, max_examples=25)
@given(strategies.plans(), strategies.workloads(limits=(0.0, 2000.0)), st.integers(1, 3), st.integers(24, 60))
def test_hourly_and_block_dispatch_agree(plan: Plan, workloads, months: int, blocks: int) -> None:  # type: ignore[no-untyped-def]
    changed = {**vars(plan), "workloads": workloads, "months": months}
    plan = Plan(**changed)
    exact, hourly, coarse = (
        evaluate(plan),
        evaluate(plan, HOURLY),
        evaluate(plan, Grid(blocks_per_month=blocks)),
    )
    assert hourly.useful_gpu_hours == pytest.approx(exact.useful_gpu_hours, rel=1e-9)
    assert coarse.useful_gpu_hours == pytest.approx(exact.useful_gpu_hours, rel=1e-2)
    for outcome in (exact, hourly, coarse):
        assert outcome.demand_gpu_hours == pytest.approx(exact.demand_gpu_hours, rel=1e-9)
        assert outcome.useful_gpu_hours + outcome.unmet_gpu_hours == pytest.approx(
            outcome.demand_gpu_hours, rel=1e-9
        )
    for view, total in exact.total.items():
        if total is None:
            continue
        scale = exact.monthly[view].abs().sum()
        assert hourly.total[view] == pytest.approx(total, rel=1e-9, abs=1e-9 * scale)
        assert coarse.total[view] == pytest.approx(total, rel=1e-2, abs=1e-2 * scale)


def measured(hours: int, seed: int) -> tuple[float, ...]:
    """Return a series as a fleet's might be: days and nights, a trend, noise."""
    generator = np.random.default_rng(seed)
    hour = np.arange(hours)
    shape = 20.0 + 8.0 * np.sin(2 * np.pi * hour / 24) + hour / 400.0
    return tuple(np.maximum(shape + generator.normal(0.0, 2.0, hours), 0.0).tolist())


@pytest.mark.parametrize("seed", range(4))
def test_a_measured_series_goes_through_both_dispatches(seed: int) -> None:
    series = measured(2160, seed)
    plan = make_plan(
        months=3,
        workloads=(make_workload(hourly_gpus=series),),
        supplies=(make_reserved(gpus=16), make_on_demand(quota_gpus=30)),
    )
    hourly, blocks = evaluate(plan, HOURLY), evaluate(plan, Grid(blocks_per_month=24))
    wanted = np.array(series)
    assert hourly.demand_gpu_hours == pytest.approx(wanted.sum())
    assert sum(served(hourly, "Reserve")) == pytest.approx(np.minimum(wanted, 16).sum())
    assert hourly.unmet_gpu_hours == pytest.approx(np.maximum(wanted - 46, 0).sum(), abs=1e-6)
    assert blocks.total["cash_usd"] == pytest.approx(hourly.total["cash_usd"], rel=1e-2)
    assert blocks.demand_gpu_hours == pytest.approx(wanted.sum())


def test_a_series_needs_a_value_for_every_hour_of_the_plan() -> None:
    plan = make_plan(months=1, workloads=(make_workload(hourly_gpus=(1.0,) * 730),))
    with pytest.raises(ValueError, match="hourly_gpus is 730 values; right would be one for each of the 744"):
        evaluate(plan)
    assert evaluate(plan, FLAT).demand_gpu_hours == pytest.approx(730.0)


def test_factors_of_months_multiply_the_demand() -> None:
    plan = make_plan(months=3, workloads=(make_workload(month_factors=(1.0, 0.5, 2.0)),))
    assert served(evaluate(plan), "On demand") == pytest.approx([8 * 744, 4 * 672, 16 * 744])


def test_the_flat_calendar_has_730_hours_in_every_month() -> None:
    plan = make_plan(months=12, supplies=(make_reserved(gpus=4), make_on_demand()))
    outcome = evaluate(plan, FLAT)
    assert line(outcome, "Reserve", "recurring") == pytest.approx([4 * 2.0 * 730] * 12)
    assert outcome.demand_gpu_hours == pytest.approx(8 * 8760)
    assert outcome.capacity["hours"].tolist() == [730] * 24


def test_a_term_in_the_flat_calendar_is_a_count_of_months() -> None:
    plan = make_plan(
        months=6, supplies=(make_reserved(start=date(2027, 2, 15), term_months=2), make_on_demand())
    )
    # 14 of February's 28 days, all of March, 14 of April's 30
    hours = [0, 365, 730, round(730 * 14 / 30), 0, 0]
    assert served(evaluate(plan, FLAT), "Reserve") == pytest.approx([8 * h for h in hours])
