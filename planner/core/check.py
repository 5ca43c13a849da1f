"""Refuse absurd plans, naming the field, its value and what would be right."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from planner.core.plan import Loan, OnDemand, Owned, Plan, Reserved, Spot, Supply, Workload
from planner.core.units import HOURS_PER_WEEK

PROFILE_MEAN_TOLERANCE = 0.001
# Growth and drift compound: a share that is harmless over a year can be absurd over ten.
MOST_GROWTH = 1_000.0
MOST_MONTHS = 360
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 1, 1)


@dataclass(frozen=True)
class _Range:
    """What a number may be; `optional` allows None, `whole` wants an integer, `above` excludes `low`."""

    low: float
    high: float
    optional: bool = False
    whole: bool = False
    above: bool = False

    def text(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        start = f"above {self.low:,g} and up to" if self.above else f"from {self.low:,g} to"
        return f"{kind} {start} {self.high:,g}" + (", or none where unknown" if self.optional else "")

    def allows(self, value: object) -> bool:
        if value is None:
            return self.optional
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        if self.whole and value != int(value):
            return False
        return self.low <= value <= self.high and not (self.above and value == self.low)


SHARE = _Range(0.0, 1.0)
MONTHLY_SHARE = _Range(-0.5, 1.0)
USD_PER_GPU_HOUR = _Range(0.0, 10_000.0, optional=True)
GPUS = _Range(0.0, 10_000_000.0)
GPUS_PER_INSTANCE = _Range(1, 1024, whole=True)
QUOTA = _Range(0.0, 10_000_000.0, optional=True)
USD_PER_SERVER = _Range(0.0, 100_000_000.0, optional=True)
USD_PER_MONTH = _Range(0.0, 10_000_000.0)
KW_PER_SERVER = _Range(0.0, 1_000.0, optional=True)

PLAN = {
    "months": _Range(1, MOST_MONTHS, whole=True),
    "discount_rate_per_year": SHARE,
    "price_drift_per_month": MONTHLY_SHARE,
}
WORKLOAD = {
    "gpus": GPUS,
    "growth_per_month": MONTHLY_SHARE,
    "deferrable_hours": _Range(0, 100_000, whole=True),
}
LOAN = {
    "share": SHARE,
    "rate_per_year": SHARE,
    "months": _Range(1, MOST_MONTHS, whole=True),
}
OWNED = {
    "servers": _Range(1, 1_000_000, whole=True),
    "gpus_per_server": _Range(1, 1024, whole=True),
    "lead_time_days": _Range(0, 3_650, whole=True),
    "burn_in_days": _Range(0, 3_650, whole=True),
    "usd_capex_per_server": USD_PER_SERVER,
    "usd_other_capex_per_server": USD_PER_SERVER,
    "deposit_share": SHARE,
    "idle_kw_per_server": KW_PER_SERVER,
    "max_kw_per_server": KW_PER_SERVER,
    "pue": _Range(1.0, 5.0),
    "usd_per_kwh": _Range(0.0, 10.0, optional=True),
    "usd_colocation_per_kw_month": _Range(0.0, 10_000.0),
    "maintenance_share_per_year": SHARE,
    "warranty_months": _Range(0, MOST_MONTHS, whole=True),
    "fte_minimum": _Range(0.0, 10_000.0),
    "servers_per_fte": _Range(0.0, 1_000_000.0, above=True),
    "usd_staff_per_fte_year": _Range(0.0, 10_000_000.0),
    "usd_software_per_server_month": USD_PER_MONTH,
    "usd_insurance_per_server_month": USD_PER_MONTH,
    "availability": _Range(0.0, 1.0, above=True),
    "spare_servers": _Range(0, 1_000_000, whole=True),
    "accounting_life_months": _Range(1, MOST_MONTHS, whole=True),
    "economic_life_months": _Range(1, MOST_MONTHS, optional=True, whole=True),
    "residual_share": _Range(0.0, 1.0, optional=True),
}
RESERVED = {
    "gpus": _Range(1, 10_000_000, whole=True),
    "gpus_per_instance": GPUS_PER_INSTANCE,
    "term_months": _Range(1, 120, whole=True),
    "usd_per_gpu_hour": USD_PER_GPU_HOUR,
    "usd_upfront_per_gpu": _Range(0.0, 100_000_000.0, optional=True),
    "salvage_share": SHARE,
}
ON_DEMAND = {
    "usd_per_gpu_hour": USD_PER_GPU_HOUR,
    "quota_gpus": QUOTA,
    "gpus_per_instance": GPUS_PER_INSTANCE,
}
SPOT = {**ON_DEMAND, "useful_work_factor": _Range(0.0, 1.0, above=True)}


def check_plan(plan: Plan) -> None:
    """Raise ValueError for the first value that cannot be meant."""
    _check_ranges("the plan", plan, PLAN)
    _check_day("the plan", "start", plan.start)
    if plan.start.day != 1:
        _refuse("the plan", "start", plan.start, "the first day of a month")
    _check_names("workloads", [workload.name for workload in plan.workloads])
    _check_names("supplies", [supply.name for supply in plan.supplies])
    _check_compound("the plan", "price_drift_per_month", plan.price_drift_per_month, plan.months)
    for workload in plan.workloads:
        _check_workload(workload)
        owner = f"workload {workload.name!r}"
        _check_compound(owner, "growth_per_month", workload.growth_per_month, plan.months)
    for supply in plan.supplies:
        _check_supply(supply)
    marked = [s.name for s in plan.supplies if isinstance(s, OnDemand) and s.reference]
    if len(marked) > 1:
        _refuse("the plan", "reference", ", ".join(marked), "one on-demand supply marked as reference")


def _refuse(owner: str, field: str, value: object, right: str) -> None:
    raise ValueError(f"{owner}: {field} is {value}; right would be {right}")


def _check_ranges(owner: str, values: object, ranges: dict[str, _Range]) -> None:
    for field, allowed in ranges.items():
        value = getattr(values, field)
        if not allowed.allows(value):
            _refuse(owner, field, value, allowed.text())


def _check_compound(owner: str, field: str, share: float, months: int) -> None:
    if (1.0 + share) ** (months - 1) > MOST_GROWTH:
        most = MOST_GROWTH ** (1.0 / (months - 1)) - 1.0
        _refuse(
            owner, field, share, f"at most {most:.4f}, which is {MOST_GROWTH:,g} times in {months} months"
        )


def _check_day(owner: str, field: str, day: date) -> None:
    if not EARLIEST <= day < LATEST:
        _refuse(owner, field, day, f"a day from {EARLIEST} to before {LATEST}")


def _check_names(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if not name.strip():
            _refuse("the plan", what, "a name left empty", "a name for each of them")
        if count > 1:
            _refuse("the plan", what, f"{name!r} named {count} times", "a different name for each of them")


def _check_workload(workload: Workload) -> None:
    owner = f"workload {workload.name!r}"
    _check_ranges(owner, workload, WORKLOAD)
    if workload.kind not in ("inference", "training"):
        _refuse(owner, "kind", workload.kind, "inference or training")
    if workload.kind == "inference" and workload.deferrable_hours:
        _refuse(owner, "deferrable_hours", workload.deferrable_hours, "0: inference is served in its hour")
    if workload.kind == "inference" and workload.interruptible:
        _refuse(owner, "interruptible", True, "no: inference never runs on spot")
    if workload.profile is not None:
        _check_profile(owner, workload.profile)


def _check_profile(owner: str, profile: tuple[float, ...]) -> None:
    if len(profile) != HOURS_PER_WEEK:
        _refuse(owner, "profile", f"{len(profile)} factors", "168, hour 0 being Monday 00:00 UTC")
    for hour, factor in enumerate(profile):
        if not (math.isfinite(factor) and factor >= 0.0):
            _refuse(owner, f"profile[{hour}]", factor, "a factor of 0 or more")
    mean = sum(profile) / HOURS_PER_WEEK
    if abs(mean - 1.0) > PROFILE_MEAN_TOLERANCE:
        _refuse(owner, "profile", f"factors with mean {mean:.4f}", "factors with mean 1 over the week")


def _check_supply(supply: Supply) -> None:
    owner = f"{supply.kind.replace('_', '-')} supply {supply.name!r}"
    match supply:
        case Owned():
            _check_owned(owner, supply)
        case Reserved():
            _check_reserved(owner, supply)
        case OnDemand():
            _check_ranges(owner, supply, ON_DEMAND)
        case Spot():
            _check_ranges(owner, supply, SPOT)


def _check_owned(owner: str, owned: Owned) -> None:
    _check_ranges(owner, owned, OWNED)
    _check_day(owner, "order_date", owned.order_date)
    idle, most = owned.idle_kw_per_server, owned.max_kw_per_server
    if idle is not None and most is not None and idle > most:
        _refuse(owner, "idle_kw_per_server", idle, f"at most max_kw_per_server, {most:g}")
    if owned.loan is not None:
        _check_loan(owner, owned.loan)


def _check_loan(owner: str, loan: Loan) -> None:
    _check_ranges(f"{owner}, loan", loan, LOAN)


def _check_reserved(owner: str, reserved: Reserved) -> None:
    _check_ranges(owner, reserved, RESERVED)
    _check_day(owner, "start", reserved.start)
    size = reserved.gpus_per_instance
    if reserved.gpus % size:
        below = reserved.gpus // size * size
        right = f"a multiple of gpus_per_instance, such as {below or size} or {below + size}"
        _refuse(owner, "gpus", reserved.gpus, right)
    if reserved.payment not in ("no_upfront", "partial_upfront", "all_upfront"):
        _refuse(owner, "payment", reserved.payment, "no_upfront, partial_upfront or all_upfront")
    if reserved.payment == "no_upfront" and reserved.usd_upfront_per_gpu:
        _refuse(owner, "usd_upfront_per_gpu", reserved.usd_upfront_per_gpu, "0 with payment no_upfront")
    if reserved.payment == "all_upfront" and reserved.usd_per_gpu_hour:
        _refuse(owner, "usd_per_gpu_hour", reserved.usd_per_gpu_hour, "0 with payment all_upfront")
