"""What-if numbers replace those of a plan."""

from dataclasses import replace

import pytest

from planner.core.adjust import Overrides, adjust
from planner.core.evaluate import evaluate
from planner.core.plan import Owned
from tests.builders import make_on_demand, make_owned, make_plan, make_workload

PLAN = make_plan(
    workloads=(make_workload(gpus=30.0), make_workload(name="training", kind="training", gpus=10.0)),
    supplies=(make_owned(), make_on_demand()),
)


def test_nothing_given_changes_nothing() -> None:
    assert adjust(PLAN, Overrides()) == PLAN


def test_demand_scales_all_workloads_in_proportion() -> None:
    assert [workload.gpus for workload in adjust(PLAN, Overrides(demand_gpus=100.0)).workloads] == [
        75.0,
        25.0,
    ]
    assert [workload.gpus for workload in PLAN.workloads] == [30.0, 10.0]


def test_demand_of_month_1_counts_a_series_by_the_hour_and_the_factor_of_the_month() -> None:
    """10 GPUs in January's 744 hours and 20 after, and 8 at half: 14 in month 1, scaled to 28."""
    series = (10.0,) * 744 + (20.0,) * 672
    plan = make_plan(
        months=2,
        workloads=(
            make_workload(name="measured", gpus=0.0, hourly_gpus=series),
            make_workload(gpus=8.0, month_factors=(0.5, 1.0)),
        ),
    )
    measured, other = adjust(plan, Overrides(demand_gpus=28.0)).workloads
    assert measured.hourly_gpus == (20.0,) * 744 + (40.0,) * 672
    assert (other.gpus, other.month_factors) == (16.0, (0.5, 1.0))
    demanded = evaluate(replace(plan, workloads=(measured, other))).monthly
    first = demanded[demanded["month"] == plan.start]
    assert first["useful_gpu_hours"].sum() == pytest.approx(28.0 * 744)


def test_growth_and_drift() -> None:
    changed = adjust(PLAN, Overrides(growth_per_month=0.02, price_drift_per_month=-0.01))
    assert {workload.growth_per_month for workload in changed.workloads} == {0.02}
    assert changed.price_drift_per_month == -0.01


def test_prices_of_servers() -> None:
    owned = adjust(PLAN, Overrides(usd_capex_per_gpu=40_000.0, usd_per_kwh=0.2)).supplies[0]
    assert isinstance(owned, Owned)
    assert (owned.usd_capex_per_server, owned.usd_per_kwh) == (320_000.0, 0.2)


def test_zero_is_a_number() -> None:
    assert adjust(PLAN, Overrides(demand_gpus=0.0)).workloads[0].gpus == 0.0


def test_no_demand_cannot_be_scaled() -> None:
    with pytest.raises(ValueError, match="demand_gpus is 8, but Plan has no demand to scale"):
        adjust(make_plan(workloads=()), Overrides(demand_gpus=8.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("demand_gpus", -1.0),
        ("demand_gpus", float("nan")),
        ("growth_per_month", -1.0),
        ("price_drift_per_month", float("inf")),
        ("usd_capex_per_gpu", -0.01),
        ("usd_per_kwh", float("nan")),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_by_its_own_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} is {value}; right would be a number"):
        Overrides(**{name: value})
