"""Refuse absurd plans, naming the field, its value and what would be right."""

import math
from collections import Counter
from collections.abc import Iterable

from planner.core.check_supplies import check_supply
from planner.core.limits import (
    EARLIEST,
    LATEST,
    MONTHLY_SHARE,
    MOST_GROWTH,
    MOST_MONTHS,
    USD,
    check_day,
    check_ranges,
    refuse_field,
)
from planner.core.plan import OnDemand, Outage, Plan, PlanRate, Project, SavingsPlan, Workload
from planner.core.ranges import SHARE, Range, optional
from planner.core.units import HOURS_PER_WEEK

PROFILE_MEAN_TOLERANCE = 0.001
GPUS = Range(0.0, 10_000_000.0)

PLAN = {
    "months": Range(1, MOST_MONTHS, whole=True),
    "discount_rate_per_year": SHARE,
    "price_drift_per_month": MONTHLY_SHARE,
    "usd_per_engineering_week": optional(Range(0.0, 1_000_000.0)),
}
WORKLOAD = {
    "gpus": GPUS,
    "growth_per_month": MONTHLY_SHARE,
    "deferrable_hours": Range(0, 100_000, whole=True),
    "gang_gpus": Range(1, 10_000_000, whole=True),
    "month_factors": optional(Range(0.0, 1_000.0)),
    "hourly_gpus": optional(GPUS),
}
REGION = {"gb_per_gpu_hour": Range(0.0, 1_000_000.0), "usd_per_gb": optional(Range(0.0, 1_000.0))}
VALIDATION = {
    "throughput_ratio": Range(0.0, 1_000.0, above=True),
    "weeks_to_validate": optional(Range(0.0, 1_000.0)),
    "usd_to_validate": optional(USD),
}
PROJECT = {"usd": optional(USD), "engineering_weeks": Range(0.0, 10_000.0)}
POWER = {"kw": Range(0.0, 1_000_000.0)}
OUTAGE = {"months": optional(Range(0, MOST_MONTHS, whole=True))}
PRICE_STEP = {"factor": Range(0.0, 1_000.0, above=True)}
BUDGET = {"usd": USD, "year": Range(EARLIEST.year, LATEST.year, whole=True)}


def check_plan(plan: Plan) -> None:
    """Raise ValueError for the first value that cannot be meant."""
    check_ranges("the plan", plan, PLAN)
    check_day("the plan", "start", plan.start)
    if plan.start.day != 1:
        refuse_field("the plan", "start", plan.start, "the first day of a month")
    _check_names("workloads", [workload.name for workload in plan.workloads])
    _check_names("supplies", [supply.name for supply in plan.supplies])
    _check_names("projects", [project.name for project in plan.projects])
    _check_compound("the plan", "price_drift_per_month", plan.price_drift_per_month, plan.months)
    for workload in plan.workloads:
        _check_workload(workload, plan)
    for supply in plan.supplies:
        check_supply(supply)
    _check_together(plan)


def _check_together(plan: Plan) -> None:
    """Check what several records must agree on, and the plan's limits."""
    marked = [s.name for s in plan.supplies if isinstance(s, OnDemand) and s.reference]
    if len(marked) > 1:
        refuse_field("the plan", "reference", ", ".join(marked), "one on-demand supply marked as reference")
    rented = {s.name for s in plan.supplies if isinstance(s, OnDemand)}
    for supply in plan.supplies:
        if isinstance(supply, SavingsPlan):
            for rate in supply.rates:
                _check_rate(supply, rate, rented)
    for project in plan.projects:
        _check_project(project)
    for limit in plan.power_limits:
        check_ranges(f"power limit of {limit.site!r}", limit, POWER)
        check_day(f"power limit of {limit.site!r}", "start", limit.start)
    for budget in plan.budgets:
        check_ranges(f"budget of {budget.year}", budget, BUDGET)
    for outage in plan.outages:
        _check_outage(outage)
    for step in plan.price_steps:
        check_day("the plan", "price_steps", step.start)
        check_ranges(f"the plan, prices from {step.start}", step, PRICE_STEP)


def _check_rate(plan: SavingsPlan, rate: PlanRate, rented: set[str]) -> None:
    if rate.supply not in rented:
        right = "the name of an on-demand supply of the plan"
        refuse_field(f"savings plan {plan.name!r}", "rates", repr(rate.supply), right)


def _check_outage(outage: Outage) -> None:
    owner = f"outage of {outage.supply or outage.region or outage.provider!r}"
    check_day(owner, "start", outage.start)
    check_ranges(owner, outage, OUTAGE)
    if not (outage.provider or outage.region or outage.supply):
        refuse_field(owner, "provider", "empty", "a provider, a region or a supply: one of them at least")


def _check_project(project: Project) -> None:
    check_ranges(f"project {project.name!r}", project, PROJECT)
    check_day(f"project {project.name!r}", "day", project.day)


def _check_compound(owner: str, field: str, share: float, months: int) -> None:
    if (1.0 + share) ** (months - 1) > MOST_GROWTH:
        most = MOST_GROWTH ** (1.0 / (months - 1)) - 1.0
        refuse_field(
            owner, field, share, f"at most {most:.4f}, which is {MOST_GROWTH:,g} times in {months} months"
        )


def _check_names(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if not name.strip():
            refuse_field("the plan", what, "a name left empty", "a name for each of them")
        if count > 1:
            refuse_field(
                "the plan", what, f"{name!r} named {count} times", "a different name for each of them"
            )


def _check_workload(workload: Workload, plan: Plan) -> None:
    owner = f"workload {workload.name!r}"
    check_ranges(owner, workload, WORKLOAD)
    _check_compound(owner, "growth_per_month", workload.growth_per_month, plan.months)
    if workload.kind not in ("inference", "training"):
        refuse_field(owner, "kind", workload.kind, "inference or training")
    if workload.kind == "inference" and workload.deferrable_hours:
        refuse_field(
            owner, "deferrable_hours", workload.deferrable_hours, "0: inference is served in its hour"
        )
    if workload.kind == "inference" and workload.interruptible:
        refuse_field(owner, "interruptible", True, "no: inference never runs on spot")
    if workload.profile is not None:
        _check_profile(owner, workload.profile)
    _check_factors(owner, workload, plan)
    for region in workload.regions or ():
        check_ranges(f"{owner}, region {region.name!r}", region, REGION)
    for validation in workload.validations or ():
        check_ranges(f"{owner}, validation of {validation.gpu_model!r}", validation, VALIDATION)


def _check_factors(owner: str, workload: Workload, plan: Plan) -> None:
    factors = workload.month_factors
    if factors is not None and len(factors) != plan.months:
        right = f"one for each of {plan.months} months"
        refuse_field(owner, "month_factors", f"{len(factors)} factors", right)


def _check_profile(owner: str, profile: tuple[float, ...]) -> None:
    if len(profile) != HOURS_PER_WEEK:
        refuse_field(owner, "profile", f"{len(profile)} factors", "168, hour 0 being Monday 00:00 UTC")
    for hour, factor in enumerate(profile):
        if not (math.isfinite(factor) and factor >= 0.0):
            refuse_field(owner, f"profile[{hour}]", factor, "a factor of 0 or more")
    mean = sum(profile) / HOURS_PER_WEEK
    if abs(mean - 1.0) > PROFILE_MEAN_TOLERANCE:
        refuse_field(owner, "profile", f"factors with mean {mean:.4f}", "factors with mean 1 over the week")
