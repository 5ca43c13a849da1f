"""Draw plans that could be real: every kind of supply, odd dates, terms and lives that cross the horizon."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from planner.core.calendar import Horizon
from planner.core.plan import (
    Block,
    Contract,
    ContractStep,
    Loan,
    OnDemand,
    Owned,
    Plan,
    PlanRate,
    PowerLimit,
    Project,
    QuotaStep,
    Region,
    Reserved,
    SavingsPlan,
    Spot,
    Validation,
    Workload,
)
from planner.core.units import HOURS_PER_WEEK

START = date(2027, 11, 1)  # February 2028 has 29 days
REGIONS = ("", "us-east-2", "eu-west-1")
MODELS = ("", "H100", "B200")


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers of few digits, so that failures read well."""
    return st.floats(low, high, allow_nan=False).map(lambda x: round(x, 4))


def days(before: int, after: int) -> st.SearchStrategy[date]:
    """Return days around the plan's start, firsts of a month among them."""
    any_day = st.integers(-before, after).map(lambda offset: START + timedelta(days=offset))
    return any_day | any_day.map(lambda day: day.replace(day=1))


@st.composite
def profiles(draw: st.DrawFn) -> tuple[float, ...] | None:
    """Return nothing, or weekly factors with mean 1."""
    if draw(st.booleans()):
        return None
    day = draw(st.lists(st.integers(0, 9), min_size=24, max_size=24).filter(any))
    weekend = draw(st.integers(1, 9))
    week = [factor * 9 for factor in day] * 5 + [factor * weekend for factor in day] * 2
    mean = sum(week) / HOURS_PER_WEEK
    return tuple(factor / mean for factor in week)


@st.composite
def workloads(draw: st.DrawFn, limits: tuple[float, ...] = (0.0, 24.0, 100.0, 2000.0)) -> Any:
    """Return one to three workloads of both kinds."""
    drawn = []
    for number in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["inference", "training"]))
        is_training = kind == "training"
        drawn.append(
            Workload(
                name=f"workload {number}",
                kind=kind,
                gpus=draw(floats(0.5, 40.0)),
                growth_per_month=draw(floats(-0.05, 0.1)),
                profile=draw(profiles()),
                deferrable_hours=draw(st.sampled_from(limits)) if is_training else 0.0,
                interruptible=draw(st.booleans()) if is_training else False,
            )
        )
    return tuple(drawn)


@st.composite
def loans(draw: st.DrawFn) -> Loan | None:
    """Return no loan, or one."""
    if draw(st.booleans()):
        return None
    return Loan(draw(floats(0.0, 1.0)), draw(floats(0.0, 0.2)), draw(st.integers(1, 40)))


@st.composite
def owned(draw: st.DrawFn, **fixed: Any) -> Owned:
    """Return servers whose energy per GPU-hour stays below any rental price drawn here."""
    values = {
        "name": "Own",
        "servers": draw(st.integers(1, 4)),
        "gpus_per_server": 8,
        "order_date": draw(days(400, 300)),
        "lead_time_days": draw(st.integers(0, 200)),
        "burn_in_days": draw(st.integers(0, 40)),
        "usd_capex_per_server": draw(floats(50_000.0, 400_000.0)),
        "usd_other_capex_per_server": draw(floats(0.0, 50_000.0)),
        "deposit_share": draw(floats(0.0, 1.0)),
        "idle_kw_per_server": draw(floats(0.0, 3.0)),
        "max_kw_per_server": draw(floats(3.0, 11.0)),
        "pue": draw(floats(1.0, 1.6)),
        "usd_per_kwh": draw(floats(0.0, 0.2)),
        "usd_colocation_per_kw_month": draw(floats(0.0, 250.0)),
        "colocation_includes_energy": draw(st.booleans()),
        "warranty_months": draw(st.integers(0, 24)),
        "fte_minimum": draw(floats(0.0, 1.0)),
        "usd_staff_per_fte_year": draw(floats(0.0, 200_000.0)),
        "usd_software_per_server_month": draw(floats(0.0, 500.0)),
        "availability": draw(floats(0.8, 1.0)),
        "spare_servers": draw(st.integers(0, 2)),
        "accounting_life_months": draw(st.integers(3, 72)),
        "economic_life_months": draw(st.none() | st.integers(1, 30)),
        "residual_share": draw(st.none() | floats(0.0, 1.0)),
        "loan": draw(loans()),
    }
    return Owned(**{**values, **fixed})


@st.composite
def reserved(draw: st.DrawFn, **fixed: Any) -> Reserved:
    """Return a commitment that may begin before the plan, inside a month, and outlive the plan."""
    payment = draw(st.sampled_from(["no_upfront", "partial_upfront", "all_upfront"]))
    values = {
        "name": "Reserve",
        "gpus": draw(st.integers(1, 24)),
        "start": draw(days(200, 300)),
        "term_months": draw(st.integers(1, 24)),
        "payment": payment,
        "usd_per_gpu_hour": 0.0 if payment == "all_upfront" else draw(floats(0.5, 5.0)),
        "usd_upfront_per_gpu": 0.0 if payment == "no_upfront" else draw(floats(0.0, 30_000.0)),
        "salvage_share": draw(floats(0.0, 1.0)),
    }
    return Reserved(**{**values, **fixed})


@st.composite
def on_demand(draw: st.DrawFn, **fixed: Any) -> OnDemand:
    """Return on demand with or without a quota."""
    values = {
        "name": "On demand",
        "usd_per_gpu_hour": draw(floats(0.8, 8.0)),
        "quota_gpus": draw(st.none() | floats(0.0, 60.0)),
        "gpus_per_instance": draw(st.sampled_from([1, 8])),
    }
    return OnDemand(**{**values, **fixed})


@st.composite
def spot(draw: st.DrawFn, **fixed: Any) -> Spot:
    """Return spot with or without a quota."""
    values = {
        "name": "Spot",
        "usd_per_gpu_hour": draw(floats(0.8, 4.0)),
        "useful_work_factor": draw(floats(0.3, 1.0)),
        "quota_gpus": draw(st.none() | floats(0.0, 40.0)),
    }
    return Spot(**{**values, **fixed})


@st.composite
def blocks(draw: st.DrawFn, **fixed: Any) -> Block:
    """Return a capacity block bought on some day up to its start."""
    start = draw(days(60, 300))
    values = {
        "name": "Block",
        "gpus": draw(st.integers(1, 24)),
        "start": start,
        "days": draw(st.integers(1, 60)),
        "usd_per_gpu_hour": draw(floats(0.5, 6.0)),
        "purchased": start - timedelta(days=draw(st.integers(0, 90))),
        "lost_hours": draw(st.sampled_from([0, 1, 30])),
    }
    return Block(**{**values, **fixed})


@st.composite
def contracts(draw: st.DrawFn, **fixed: Any) -> Contract:
    """Return a contract of one to three steps, up or down."""
    edges = sorted(draw(st.lists(days(200, 400), min_size=2, max_size=4, unique=True)))
    steps = tuple(ContractStep(day, draw(st.integers(0, 24)), draw(floats(0.5, 5.0))) for day in edges[:-1])
    values = {
        "name": "Contract",
        "steps": steps,
        "end": edges[-1],
        "take_or_pay_share": draw(floats(0.0, 1.0)),
    }
    return Contract(**{**values, **fixed})


@st.composite
def savings_plans(draw: st.DrawFn, supplies: tuple[str, ...], **fixed: Any) -> SavingsPlan:
    """Return a savings plan on the on-demand supplies named."""
    values = {
        "name": "Savings plan",
        "usd_per_hour": draw(floats(0.5, 60.0)),
        "start": draw(days(200, 300)),
        "term_months": draw(st.integers(1, 24)),
        "rates": tuple(PlanRate(name, draw(floats(0.4, 4.0))) for name in supplies),
        "upfront_share": draw(floats(0.0, 1.0)),
        "narrow": draw(st.booleans()),
    }
    return SavingsPlan(**{**values, **fixed})


@st.composite
def quota_steps(draw: st.DrawFn) -> tuple[QuotaStep, ...]:
    """Return up to two dated changes of a quota."""
    return tuple(
        QuotaStep(draw(days(100, 300)), draw(st.none() | floats(0.0, 60.0)))
        for _ in range(draw(st.integers(0, 2)))
    )


@st.composite
def placed(draw: st.DrawFn, workload: Workload, hours: int, months: int) -> Workload:
    """Return a workload with regions, validated GPUs, a gang, factors of months or a series by the hour."""
    regions = st.tuples(st.just(Region("us-east-2", 0.0)), st.just(Region("eu-west-1", 2.0, 0.09)))
    ratio = draw(floats(0.5, 3.0))
    validations = (
        Validation("H100", 1.0, START - timedelta(days=30)),
        Validation("B200", ratio, draw(st.none() | days(100, 200))),
    )
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return replace(
        workload,
        regions=draw(st.none() | regions),
        validations=draw(st.sampled_from([None, validations])),
        gang_gpus=draw(st.sampled_from([1, 8, 16])),
        month_factors=draw(st.none() | st.just(tuple(rng.uniform(0.0, 2.0, months).tolist()))),
        hourly_gpus=tuple(rng.uniform(0.0, 20.0, hours).tolist()) if draw(st.integers(0, 9)) == 9 else None,
    )


@st.composite
def rich_plans(draw: st.DrawFn, months: int | None = None) -> Plan:
    """Return a plan of every kind of supply, gate and project."""
    plan = draw(plans() if months is None else plans(months=months))
    hours = int(Horizon(plan.start, plan.months).month_starts()[-1])
    supplies: list[Any] = list(plan.supplies)
    if draw(st.booleans()):
        supplies.append(draw(on_demand(name="Rented too")))
    supplies += [draw(kind()) for kind in (blocks, contracts) if draw(st.booleans())]
    supplies = [
        replace(each, region=draw(st.sampled_from(REGIONS)), gpu_model=draw(st.sampled_from(MODELS)))
        for each in supplies
    ]
    supplies = [
        replace(each, quota_steps=draw(quota_steps())) if isinstance(each, OnDemand | Spot) else each
        for each in supplies
    ]
    rented = tuple(each.name for each in supplies if isinstance(each, OnDemand))
    if rented:
        names = ["Savings plan", "Second savings plan"][: draw(st.integers(0, 2))]
        supplies += [draw(savings_plans(rented, name=name)) for name in names]
    limits = st.just((PowerLimit("", START, 20.0),)) | st.just(())
    return replace(
        plan,
        supplies=tuple(draw(st.permutations(supplies))),
        workloads=tuple(draw(placed(each, hours, plan.months)) for each in plan.workloads),
        projects=(Project("Move", draw(days(60, 300)), draw(floats(0.0, 1e6))),),
        power_limits=draw(limits),
    )


@st.composite
def plans(draw: st.DrawFn, **fixed: Any) -> Plan:
    """Return a plan of any supplies, each at most once."""
    drawn = [draw(kind()) for kind in (owned, reserved, spot, on_demand) if draw(st.booleans())]
    values = {
        "name": "Plan",
        "start": START,
        "months": draw(st.integers(1, 15)),
        "gpu_model": "H100",
        "workloads": draw(workloads()),
        "supplies": tuple(draw(st.permutations(drawn))),
        "discount_rate_per_year": draw(floats(0.0, 0.2)),
        "price_drift_per_month": draw(floats(-0.02, 0.03)),
    }
    return Plan(**{**values, **fixed})
