"""Absurd plans are refused with the field, the value and what is right."""

import math
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from planner.core.check import check_plan
from planner.core.evaluate import evaluate
from planner.core.plan import Loan, Plan
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot, make_workload


def with_supply(supply: Any) -> Plan:
    return make_plan(supplies=(supply,))


def with_workload(**changes: Any) -> Plan:
    return make_plan(workloads=(make_workload(**changes),))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (make_plan(months=0), "the plan: months is 0; right would be a whole number from 1 to 360"),
        (make_plan(start=date(2027, 1, 2)), "start is 2027-01-02; right would be the first day of a month"),
        (
            make_plan(discount_rate_per_year=10.0),
            "discount_rate_per_year is 10.0; right would be a number from 0",
        ),
        (make_plan(price_drift_per_month=-0.9), "price_drift_per_month is -0.9"),
        (make_plan(supplies=(make_on_demand(), make_on_demand())), "'On demand' named 2 times"),
        (
            make_plan(months=120, workloads=(make_workload(growth_per_month=0.5),)),
            "growth_per_month is 0.5; right would be at most 0.0598, which is 1,000 times in 120 months",
        ),
        (
            make_plan(months=120, price_drift_per_month=0.1),
            "price_drift_per_month is 0.1; right would be at most",
        ),
        (with_workload(name=" "), "workloads is a name left empty"),
        (with_workload(gpus=-1.0), "workload 'serving': gpus is -1.0; right would be a number from 0"),
        (with_workload(gpus=math.nan), "gpus is nan"),
        (with_workload(gpus=math.inf), "gpus is inf"),
        (with_workload(profile=(1.0,) * 24), "profile is 24 factors; right would be 168"),
        (with_workload(profile=(2.0,) * 168), "factors with mean 2.0000"),
        (with_workload(profile=(-1.0, 3.0) * 84), r"profile\[0\] is -1.0"),
        (with_workload(deferrable_hours=5.0), "inference is served in its hour"),
        (with_workload(interruptible=True), "inference never runs on spot"),
        (with_workload(kind="batch"), "right would be inference or training"),
        (
            with_workload(kind="training", deferrable_hours=1.5),
            "deferrable_hours is 1.5; right would be a whole",
        ),
        (with_supply(make_owned(servers=0)), "owned supply 'Own': servers is 0"),
        (with_supply(make_owned(servers=True)), "servers is True"),
        (with_supply(make_owned(usd_capex_per_server=-1.0)), "usd_capex_per_server is -1.0"),
        (with_supply(make_owned(pue=0.9)), "pue is 0.9; right would be a number from 1 to 5"),
        (with_supply(make_owned(availability=0.0)), "availability is 0.0; right would be a number above 0"),
        (
            with_supply(make_owned(deposit_share=30.0)),
            "deposit_share is 30.0; right would be a number from 0 to 1",
        ),
        (
            with_supply(make_owned(idle_kw_per_server=3.0, max_kw_per_server=2.0)),
            "idle_kw_per_server is 3.0; right would be at most max_kw_per_server, 2",
        ),
        (with_supply(make_owned(order_date=date(1970, 1, 1))), "order_date is 1970-01-01"),
        (with_supply(make_owned(loan=Loan(0.5, 0.05, 0))), "'Own', loan: months is 0"),
        (
            with_supply(make_reserved(gpus=12, gpus_per_instance=8)),
            "gpus is 12; right would be a multiple of gpus_per_instance, such as 8 or 16",
        ),
        (with_supply(make_reserved(payment="monthly")), "payment is monthly"),
        (with_supply(make_reserved(usd_upfront_per_gpu=5.0)), "usd_upfront_per_gpu is 5.0; right would be 0"),
        (with_supply(make_reserved(payment="all_upfront")), "usd_per_gpu_hour is 2.0; right would be 0"),
        (with_supply(make_spot(useful_work_factor=0.0)), "spot supply 'Spot': useful_work_factor is 0.0"),
        (with_supply(make_spot(useful_work_factor=1.1)), "useful_work_factor is 1.1"),
        (with_supply(make_on_demand(quota_gpus=-8)), "on-demand supply 'On demand': quota_gpus is -8"),
        (
            make_plan(supplies=(make_on_demand(name="A"), make_on_demand(name="B"))),
            "reference is A, B; right would be one on-demand supply",
        ),
    ],
)
def test_absurd_values_are_refused(plan: Plan, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_plan(plan)
    with pytest.raises(ValueError, match=message):
        evaluate(plan)


def test_unknown_is_not_absurd() -> None:
    check_plan(with_supply(make_owned(usd_capex_per_server=None, usd_per_kwh=None)))
    check_plan(with_supply(make_on_demand(usd_per_gpu_hour=None, quota_gpus=None)))


def test_a_plan_as_built_is_right() -> None:
    check_plan(replace(make_plan(), workloads=(), supplies=()))
