"""Name the inputs that are missing. A plan with a gap has unknown totals, never smaller ones."""

from collections.abc import Iterable

from planner.core.calendar import add_months
from planner.core.plan import (
    Block,
    Contract,
    Gap,
    OnDemand,
    Owned,
    Plan,
    Reserved,
    SavingsPlan,
    Spot,
    Supply,
)

PRICE_TEXT = {
    "usd_capex_per_server": "price per server",
    "usd_other_capex_per_server": "price of network, storage and installation per server",
    "idle_kw_per_server": "idle power per server",
    "max_kw_per_server": "maximum power per server",
    "usd_per_kwh": "electricity price",
    "usd_per_gpu_hour": "price per GPU-hour",
    "usd_upfront_per_gpu": "upfront price per GPU",
    "usd": "its cost",
    "usd_per_engineering_week": "the price of a week of engineering",
}


def gaps_of(plan: Plan) -> tuple[Gap, ...]:
    """Return a gap for every input that some total needs and nobody gave."""
    return (
        *(
            _gap(supply.name, field)
            for supply in plan.supplies
            for field in needed_fields(supply)
            if _is_missing(supply, field, plan)
        ),
        *_gaps_of_data(plan),
        *_gaps_of_projects(plan),
    )


def _gap(name: str, field: str) -> Gap:
    return Gap(name, field, f"{name}: {PRICE_TEXT[field]} is unknown, so every total is unknown")


def _is_missing(supply: Supply, field: str, plan: Plan) -> bool:
    if isinstance(supply, Contract):
        return _misses_a_price(supply, plan)
    return getattr(supply, field) is None


def _misses_a_price(contract: Contract, plan: Plan) -> bool:
    """Return whether a step that holds GPUs inside the plan has no price."""
    ends = [*(step.start for step in contract.steps[1:]), contract.end]
    plan_end = add_months(plan.start, plan.months)
    return any(
        step.usd_per_gpu_hour is None and step.gpus > 0 and step.start < plan_end and end > plan.start
        for step, end in zip(contract.steps, ends, strict=True)
    )


def _gaps_of_data(plan: Plan) -> Iterable[Gap]:
    """Yield where data has to move at a price nobody gave, into a region some supply is in."""
    used = {supply.region for supply in plan.supplies if not isinstance(supply, SavingsPlan)}
    for workload in plan.workloads:
        for region in workload.regions or ():
            if region.gb_per_gpu_hour and region.usd_per_gb is None and region.name in used:
                text = f"{workload.name}: the price of moving data to {region.name} is unknown"
                yield Gap(workload.name, "usd_per_gb", f"{text}, so totals that hold it are unknown")


def _gaps_of_projects(plan: Plan) -> Iterable[Gap]:
    for project in plan.projects:
        if not plan.start <= project.day < add_months(plan.start, plan.months):
            continue  # paid before the plan, or after it
        if project.usd is None:
            yield _gap(project.name, "usd")
        if project.engineering_weeks and plan.usd_per_engineering_week is None:
            yield _gap(project.name, "usd_per_engineering_week")


def needed_fields(supply: Supply) -> Iterable[str]:
    """Return the names of the inputs without which the supply's cost is unknown."""
    match supply:
        case Owned():
            return _needed_by_owned(supply)
        case Reserved():
            return _needed_by_reserved(supply)
        case OnDemand() | Spot() | Block() | Contract():
            return ("usd_per_gpu_hour",)
        case SavingsPlan():
            return ()


def _needed_by_owned(owned: Owned) -> list[str]:
    needed = ["usd_capex_per_server", "usd_other_capex_per_server"]
    pays_energy = not owned.colocation_includes_energy
    if pays_energy:
        needed.append("idle_kw_per_server")
    if pays_energy or owned.usd_colocation_per_kw_month:
        needed.append("max_kw_per_server")
    if pays_energy:
        needed.append("usd_per_kwh")
    return needed


def _needed_by_reserved(reserved: Reserved) -> list[str]:
    needed = []
    if reserved.payment != "all_upfront":
        needed.append("usd_per_gpu_hour")
    if reserved.payment != "no_upfront":
        needed.append("usd_upfront_per_gpu")
    return needed
