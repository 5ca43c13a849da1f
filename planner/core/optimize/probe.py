"""The coefficients of a plan's problem, read off the plan's own cost functions.

Every unit that could be bought is put into the plan once, for each month of purchase, and the plan is settled
with nothing used; then with one GPU used of everything. What the lines of money say is the coefficient. So
evaluate() and the optimizer cannot disagree about what a thing costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.ledger import Given, Ledger, settle
from planner.core.lines import RESIDUAL, Line
from planner.core.market import market_of
from planner.core.optimize.choices import Choices, OwnedChoice, ReservedChoice
from planner.core.plan import GateName, Owned, Plan, Reserved, Supply
from planner.core.ranges import COUNT_FROM_1, takes
from planner.core.setting import Grid
from planner.core.slots import Demand

STAFF = "staff"
# more than all probes together can serve
PLENTY_GPUS = 1e6


@dataclass(frozen=True)
class Bought:
    """One choice with its probes: the months of purchase that are open, and the probe of each."""

    choice: OwnedChoice | ReservedChoice
    days: tuple[date, ...]
    month: IntArray  # index of each day
    rows: IntArray  # of each probe among the supplies of the probing plan

    @property
    def name(self) -> str:
        """Return the name of the choice."""
        return self.choice.template.name


@dataclass(frozen=True)
class Probed:
    """The probing plan with nothing used; what a paid GPU-hour costs by (workload, supply, month)."""

    idle: Ledger
    bought: tuple[Bought, ...]
    usd_per_use: FloatArray  # present value
    gpus: FloatArray  # least of each month, by (supply, month)
    blocked: dict[tuple[int, int], GateName]


def probed(plan: Plan, choices: Choices, grid: Grid, demand: Demand) -> Probed:
    """Return the plan with one unit of everything that may be bought, settled without and with use.

    Gangs and power limits are left out: both concern all units together. So is the least size of a crew.
    """
    probing, bought = _probing_plan(plan, choices)
    plenty = Demand(demand.slots, np.full(demand.gpus.shape, PLENTY_GPUS))
    nothing = np.zeros((len(plan.workloads), len(probing.supplies), len(demand.slots.month)))
    carried = np.zeros((len(plan.workloads), plan.months))
    idle = settle(probing, grid, Given(plenty, nothing, carried))
    market, _ = market_of(idle.setting, demand.slots)
    usd = np.zeros((len(plan.workloads), len(probing.supplies), plan.months))
    for w in range(len(plan.workloads)):
        paid = nothing.copy()
        paid[w] = np.minimum(market.gpus, 1.0)
        usd[w] = _usd_per_hour(settle(probing, grid, Given(plenty, paid, carried)), idle)
    starts = np.searchsorted(demand.slots.month, np.arange(plan.months))
    gpus = np.minimum.reduceat(market.gpus, starts, axis=1)
    return Probed(idle, bought, usd, gpus, idle.open_to.blocked)


def _usd_per_hour(busy: Ledger, idle: Ledger) -> FloatArray:
    """Return what one GPU-hour adds by (supply, month), 0 where there is nothing to use."""
    usd = [
        _difference(one.lines, other.lines) for one, other in zip(busy.supplies, idle.supplies, strict=True)
    ]
    used = busy.served.paid_hours
    return np.divide(np.array(usd).reshape(used.shape), used, out=np.zeros_like(used), where=used > 0.0)


def _difference(busy: Sequence[Line], idle: Sequence[Line]) -> FloatArray:
    """Return the present value that use adds, line by line, so that large fixed lines leave no rounding."""
    parts = [one.present_value_usd - other.present_value_usd for one, other in zip(busy, idle, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _probing_plan(plan: Plan, choices: Choices) -> tuple[Plan, tuple[Bought, ...]]:
    # where no server may be bought the crew is what it is, and stays among the fixed costs
    supplies: list[Supply] = [
        _without_minimum(supply) if choices.owned else supply for supply in plan.supplies
    ]
    bought = []
    every: list[OwnedChoice | ReservedChoice] = [*choices.owned, *choices.reserved]
    for choice in every:
        days = _days(plan, choice)
        rows = len(supplies) + np.arange(len(days))
        supplies += [_without_minimum(unit_of(choice, day, 1)) for day in days]
        months = [(day.year - plan.start.year) * 12 + day.month - plan.start.month for day in days]
        bought.append(Bought(choice, days, np.array(months, dtype=np.int64), rows))
    workloads = tuple(replace(workload, gang_gpus=1) for workload in plan.workloads)
    probing = replace(plan, supplies=tuple(supplies), workloads=workloads, power_limits=())
    return probing, tuple(bought)


def _without_minimum(supply: Supply) -> Supply:
    return replace(supply, fte_minimum=0.0) if isinstance(supply, Owned) else supply


@takes(units=COUNT_FROM_1)
def unit_of(choice: OwnedChoice | ReservedChoice, day: date, units: int) -> Owned | Reserved:
    """Return `units` of a choice bought on a day, as a supply of a plan."""
    template = choice.template
    name = f"{template.name} {day:%b %Y}"
    if isinstance(template, Owned):
        return replace(template, name=name, servers=units, order_date=day)
    return replace(template, name=name, gpus=units * template.gpus_per_instance, start=day)


def _days(plan: Plan, choice: OwnedChoice | ReservedChoice) -> tuple[date, ...]:
    """Return the days inside the plan on which a choice is open, in order."""
    horizon_days = _firsts(plan)
    if isinstance(choice, OwnedChoice):
        wanted = choice.order_dates if choice.order_dates is not None else horizon_days
        return tuple(sorted(day for day in wanted if _is_inside(plan, day)))
    starts = choice.starts if choice.starts is not None else horizon_days
    inside = sorted(day for day in starts if _is_inside(plan, day))
    if not choice.must_end_inside:
        return tuple(inside)
    last = plan.months - choice.template.term_months
    return tuple(day for day in inside if _index(plan, day) <= last)


def _firsts(plan: Plan) -> tuple[date, ...]:
    number = plan.start.year * 12 + plan.start.month - 1
    return tuple(date(n // 12, n % 12 + 1, 1) for n in range(number, number + plan.months))


def _index(plan: Plan, day: date) -> int:
    return (day.year - plan.start.year) * 12 + day.month - plan.start.month


def _is_inside(plan: Plan, day: date) -> bool:
    return 0 <= _index(plan, day) < plan.months


def present_value(lines: Sequence[Line], without_staff: bool) -> float:
    """Return the present value of lines (NaN: unknown)."""
    kept = [line for line in lines if not (without_staff and line.name == STAFF)]
    return float(sum(float(line.present_value_usd.sum()) for line in kept))


@takes(months=COUNT_FROM_1)
def cash_by_month(lines: Sequence[Line], months: int) -> FloatArray:
    """Return the cash of lines, without the credit for what is left at the end: no budget may count on it."""
    total = np.zeros(months)
    for line in lines:
        if line.name != RESIDUAL:
            total = total + line.cash_usd
    return total


@takes(months=COUNT_FROM_1)
def staff_by_month(lines: Sequence[Line], months: int) -> FloatArray:
    """Return the present value of the staff line by month."""
    total = np.zeros(months)
    for line in lines:
        if line.name == STAFF:
            total = total + line.present_value_usd
    return total
