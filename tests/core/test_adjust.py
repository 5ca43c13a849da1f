"""What-if numbers replace those of a plan."""

import pytest

from planner.core.adjust import Overrides, adjust
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
