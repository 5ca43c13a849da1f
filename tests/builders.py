"""Build values for tests: keyword defaults, nothing hidden. Change what the test is about."""

from datetime import date
from typing import Any

from planner.core.plan import OnDemand, Owned, Plan, Reserved, Spot, Workload


def make_workload(**changes: Any) -> Workload:
    """Return 8 GPUs of flat inference."""
    return Workload(**{"name": "serving", "kind": "inference", "gpus": 8.0, **changes})


def make_owned(**changes: Any) -> Owned:
    """Return one 8-GPU server, ordered on the plan's first day, in service at once, cost of purchase only."""
    defaults = {
        "name": "Own",
        "servers": 1,
        "gpus_per_server": 8,
        "order_date": date(2027, 1, 1),
        "lead_time_days": 0,
        "usd_capex_per_server": 280_000.0,
        "idle_kw_per_server": 0.0,
        "max_kw_per_server": 0.0,
        "usd_per_kwh": 0.0,
    }
    return Owned(**{**defaults, **changes})


def make_reserved(**changes: Any) -> Reserved:
    """Return 8 GPUs for a year at 2.00 an hour, nothing upfront."""
    defaults = {
        "name": "Reserve",
        "gpus": 8,
        "start": date(2027, 1, 1),
        "term_months": 12,
        "payment": "no_upfront",
        "usd_per_gpu_hour": 2.0,
    }
    return Reserved(**{**defaults, **changes})


def make_on_demand(**changes: Any) -> OnDemand:
    """Return on demand at 4.00 an hour, the reference, no quota."""
    return OnDemand(**{"name": "On demand", "usd_per_gpu_hour": 4.0, "reference": True, **changes})


def make_spot(**changes: Any) -> Spot:
    """Return spot at 1.20 an hour of which 80 % is useful work."""
    return Spot(**{"name": "Spot", "usd_per_gpu_hour": 1.2, "useful_work_factor": 0.8, **changes})


def make_plan(**changes: Any) -> Plan:
    """Return 12 months from January 2027: 8 GPUs of inference, all on demand, no discounting."""
    defaults = {
        "name": "Plan",
        "start": date(2027, 1, 1),
        "months": 12,
        "gpu_model": "H100",
        "workloads": (make_workload(),),
        "supplies": (make_on_demand(),),
        "discount_rate_per_year": 0.0,
    }
    return Plan(**{**defaults, **changes})
