"""Draw plans that could be real: every kind of supply, odd dates, terms and lives that cross the horizon."""

from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

from planner.core.plan import Loan, OnDemand, Owned, Plan, Reserved, Spot, Workload
from planner.core.units import HOURS_PER_WEEK

START = date(2027, 11, 1)  # February 2028 has 29 days


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
