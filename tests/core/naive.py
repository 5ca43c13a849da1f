"""A dispatch written again, hour by hour, in plain loops: slow, and independent of the one under test."""

from datetime import datetime, timedelta

from planner.core.plan import OnDemand, Owned, Plan, Reserved, Spot, Supply, Workload

RANK = {"reserved": 0, "owned": 1, "spot": 2, "on_demand": 3}


def naive_dispatch(plan: Plan) -> tuple[dict[str, float], dict[str, float]]:
    """Return useful GPU-hours by supply and unmet GPU-hours by workload.

    Servers must be in service for the whole plan, commitments must start on or before it and outlive it.
    """
    useful = {supply.name: 0.0 for supply in plan.supplies}
    unmet = {workload.name: 0.0 for workload in plan.workloads}
    moment = datetime(plan.start.year, plan.start.month, 1)  # noqa: DTZ001 a plan's hours are UTC
    for month in range(plan.months):
        hours = []
        first_of_month = moment
        while moment.month == first_of_month.month:
            hours.append(moment)
            moment += timedelta(hours=1)
        left = {supply.name: [_useful_gpus(supply)] * len(hours) for supply in plan.supplies}
        for workload in _in_order(plan):
            _serve(plan, workload, month, hours, left, useful, unmet)
    return useful, unmet


def _serve(plan, workload, month, hours, left, useful, unmet) -> None:  # type: ignore[no-untyped-def]
    length = int(workload.deferrable_hours) or 1
    suppliers = _suppliers(plan, workload, month)
    for start in range(0, len(hours), length):
        window = range(start, min(start + length, len(hours)))
        rest = sum(_wanted(workload, month, hours[h]) for h in window)
        for supply in suppliers:
            # level by level: any hour of the window will do, so all of them are filled alike
            room = sum(left[supply.name][h] for h in window)
            taken = min(rest, room)
            for h in window:
                left[supply.name][h] -= taken * left[supply.name][h] / room if room else 0.0
            rest -= taken
            useful[supply.name] += taken
        unmet[workload.name] += rest


def _wanted(workload: Workload, month: int, moment: datetime) -> float:
    factor = workload.profile[moment.weekday() * 24 + moment.hour] if workload.profile else 1.0
    return workload.gpus * (1 + workload.growth_per_month) ** month * factor


def _in_order(plan: Plan) -> list[Workload]:
    def key(workload: Workload) -> tuple[int, float, int]:
        return (
            0 if workload.kind == "inference" else 1,
            workload.deferrable_hours,
            1 if workload.interruptible else 0,
        )

    return sorted(plan.workloads, key=key)


def _suppliers(plan: Plan, workload: Workload, month: int) -> list[Supply]:
    def cost(supply: Supply) -> float:
        drift = (1 + plan.price_drift_per_month) ** month
        if isinstance(supply, Owned):
            if supply.colocation_includes_energy:
                return 0.0
            kw = (supply.max_kw_per_server or 0) - (supply.idle_kw_per_server or 0)
            gpus = supply.gpus_per_server * supply.availability
            return kw * supply.pue * (supply.usd_per_kwh or 0) / gpus
        if isinstance(supply, Spot):
            return (supply.usd_per_gpu_hour or 0) * drift / supply.useful_work_factor
        if isinstance(supply, OnDemand):
            return (supply.usd_per_gpu_hour or 0) * drift
        return 0.0

    def key(supply: Supply) -> tuple[bool, float, int]:
        is_rented = isinstance(supply, OnDemand | Spot)
        return (is_rented if workload.deferrable_hours else False, cost(supply), RANK[supply.kind])

    allowed = [s for s in plan.supplies if s.kind != "spot" or workload.interruptible]
    return sorted(allowed, key=key)


def _useful_gpus(supply: Supply) -> float:
    if isinstance(supply, Owned):
        return supply.servers * supply.gpus_per_server * supply.availability
    if isinstance(supply, Reserved):
        return float(supply.gpus)
    factor = supply.useful_work_factor if isinstance(supply, Spot) else 1.0
    if supply.quota_gpus is None:
        return 1e6
    return supply.quota_gpus // supply.gpus_per_instance * supply.gpus_per_instance * factor
