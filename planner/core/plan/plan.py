"""A plan: demand and the supplies that are to serve it."""

from dataclasses import dataclass
from datetime import date

from planner.core.plan.supplies import Supply
from planner.core.plan.workloads import Project, Workload


@dataclass(frozen=True)
class PowerLimit:
    """The IT power of a site, from the month that begins on or after `start`: servers beyond it stay dark."""

    site: str  # the region of owned servers; "" is theirs that name none
    start: date
    kw: float


@dataclass(frozen=True)
class Budget:
    """Money that a calendar year of the plan may take out of the account, in cash."""

    year: int
    usd: float


@dataclass(frozen=True)
class Outage:
    """Supplies that give nothing from the month that begins on or after `start`; what they cost is still due.

    It hits what is of that provider and in that region and of that name; "" leaves one of them open. A supply
    that names no region is in none. `months` None is for good.
    """

    start: date
    months: int | None = None
    provider: str = ""
    region: str = ""
    supply: str = ""


@dataclass(frozen=True)
class PriceStep:
    """Rental prices in multiples of their path, from the month that begins on or after `start`."""

    start: date
    factor: float


@dataclass(frozen=True)
class Plan:
    """Demand and supplies over `months` calendar months from `start` (a first of a month, 00:00 UTC).

    `price_drift_per_month` is a share, applied from month 2 to on-demand and spot prices. Of `price_steps`
    the last one begun holds.
    """

    name: str
    start: date
    months: int
    gpu_model: str
    workloads: tuple[Workload, ...]
    supplies: tuple[Supply, ...]
    discount_rate_per_year: float = 0.10
    price_drift_per_month: float = 0.0
    currency: str = "USD"
    projects: tuple[Project, ...] = ()
    usd_per_engineering_week: float | None = None
    power_limits: tuple[PowerLimit, ...] = ()
    budgets: tuple[Budget, ...] = ()
    outages: tuple[Outage, ...] = ()
    price_steps: tuple[PriceStep, ...] = ()
