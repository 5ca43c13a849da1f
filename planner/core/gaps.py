"""Name the inputs that are missing. A plan with a gap has unknown totals, never smaller ones."""

from collections.abc import Iterable

from planner.core.plan import Gap, OnDemand, Owned, Plan, Reserved, Spot, Supply

PRICE_TEXT = {
    "usd_capex_per_server": "price per server",
    "usd_other_capex_per_server": "price of network, storage and installation per server",
    "idle_kw_per_server": "idle power per server",
    "max_kw_per_server": "maximum power per server",
    "usd_per_kwh": "electricity price",
    "usd_per_gpu_hour": "price per GPU-hour",
    "usd_upfront_per_gpu": "upfront price per GPU",
}


def gaps_of(plan: Plan) -> tuple[Gap, ...]:
    """Return a gap for every input that some total needs and nobody gave."""
    return tuple(
        Gap(supply.name, field, f"{supply.name}: {PRICE_TEXT[field]} is unknown, so every total is unknown")
        for supply in plan.supplies
        for field in needed_fields(supply)
        if getattr(supply, field) is None
    )


def needed_fields(supply: Supply) -> Iterable[str]:
    """Return the names of the inputs without which the supply's cost is unknown."""
    match supply:
        case Owned():
            return _needed_by_owned(supply)
        case Reserved():
            return _needed_by_reserved(supply)
        case OnDemand() | Spot():
            return ("usd_per_gpu_hour",)


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
