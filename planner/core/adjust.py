"""Change a plan by a few numbers, as the what-if sliders do. Pure: the plan given stays as it is."""

from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import Horizon
from planner.core.plan import Owned, Plan, Supply, Workload
from planner.core.ranges import AT_LEAST_0, RATE, optional, require_fields


@dataclass(frozen=True)
class Overrides:
    """Numbers that replace those of a plan; None keeps the plan's own.

    `demand_gpus` is the mean of month 1 of all workloads together, which keep their proportions. Growth does
    nothing to a workload that is given by the hour.
    `usd_capex_per_gpu` is the price of servers alone, without network and installation.
    """

    demand_gpus: float | None = None
    growth_per_month: float | None = None
    price_drift_per_month: float | None = None
    usd_capex_per_gpu: float | None = None
    usd_per_kwh: float | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be meant; evaluate() checks them again in their plan."""
        require_fields(
            self,
            demand_gpus=optional(AT_LEAST_0),
            growth_per_month=optional(RATE),
            price_drift_per_month=optional(RATE),
            usd_capex_per_gpu=optional(AT_LEAST_0),
            usd_per_kwh=optional(AT_LEAST_0),
        )


def adjust(plan: Plan, overrides: Overrides) -> Plan:
    """Return the plan with the overrides in place.

    Raises ValueError for demand to scale where there is none.

    >>> from datetime import date
    >>> plan = Plan("p", date(2027, 1, 1), 12, "H100", workloads=(), supplies=())
    >>> adjust(plan, Overrides(price_drift_per_month=-0.01)).price_drift_per_month
    -0.01
    """
    plan = _with_demand(plan, overrides.demand_gpus)
    if overrides.growth_per_month is not None:
        growth = overrides.growth_per_month
        plan = replace(
            plan, workloads=tuple(replace(workload, growth_per_month=growth) for workload in plan.workloads)
        )
    if overrides.price_drift_per_month is not None:
        plan = replace(plan, price_drift_per_month=overrides.price_drift_per_month)
    return replace(plan, supplies=tuple(_with_prices(supply, overrides) for supply in plan.supplies))


def _with_demand(plan: Plan, gpus: float | None) -> Plan:
    if gpus is None:
        return plan
    hours = int(Horizon(plan.start, 1).hours()[0])
    now = sum(_gpus_of_month_1(workload, hours) for workload in plan.workloads)
    if now == 0.0:
        raise ValueError(
            f"demand_gpus is {gpus:g}, but {plan.name} has no demand to scale; "
            "right would be a plan with at least one workload above 0 GPUs"
        )
    return replace(plan, workloads=tuple(_scaled(workload, gpus / now) for workload in plan.workloads))


def _gpus_of_month_1(workload: Workload, hours: int) -> float:
    series, factors = workload.hourly_gpus, workload.month_factors
    mean = workload.gpus if series is None else float(np.mean(series[:hours]))
    return mean if factors is None else mean * factors[0]


def _scaled(workload: Workload, scale: float) -> Workload:
    series = workload.hourly_gpus
    scaled = None if series is None else tuple(gpus * scale for gpus in series)
    return replace(workload, gpus=workload.gpus * scale, hourly_gpus=scaled)


def _with_prices(supply: Supply, overrides: Overrides) -> Supply:
    if not isinstance(supply, Owned):
        return supply
    if overrides.usd_capex_per_gpu is not None:
        per_server = overrides.usd_capex_per_gpu * supply.gpus_per_server
        supply = replace(supply, usd_capex_per_server=per_server)
    if overrides.usd_per_kwh is not None:
        supply = replace(supply, usd_per_kwh=overrides.usd_per_kwh)
    return supply
