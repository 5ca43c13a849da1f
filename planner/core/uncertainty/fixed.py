"""The money of a plan that does not depend on what is used, by delivery state, view and month.

Split by what scales it: `plain` by nothing, `residual` by the factor on what servers fetch, `power` by the
factor on electricity; and each again into home money and that of foreign supplies.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.ledger import Given, Ledger, settle
from planner.core.lines import RESIDUAL, Line, LineMaker
from planner.core.owned import Life, life_of, running_lines, staff_usd_by_supply
from planner.core.owned_capital import capital_of
from planner.core.plan import VIEWS, Owned, Plan, View
from planner.core.setting import Grid, Setting
from planner.core.slots import Demand

HOME, FOREIGN = 0, 1
PLAIN, SOLD, POWER = 0, 1, 2  # nothing, the residual factor, the power factor
FOREIGN_AND_SCALE = (2, 3)
# the money of purchases by what it hangs on, so that plans of one study that buy the same share it
Known = dict[tuple[Owned, Life, Horizon, float], FloatArray]


@dataclass(frozen=True)
class Fixed:
    """Fixed money by (view, home or foreign, scale, state, month)."""

    usd: FloatArray


def fixed_money(base: Ledger, plans: tuple[Plan, ...], foreign: frozenset[str], known: Known) -> Fixed:
    """Return the fixed money of every state; `base` is the plan settled with nothing used.

    `known` keeps what was worked out, for the next plan.
    """
    months = base.plan.months
    usd = np.zeros((len(VIEWS), *FOREIGN_AND_SCALE, len(plans), months))
    for settled in base.supplies:
        if not isinstance(settled.supply, Owned):
            side = FOREIGN if settled.supply.name in foreign else HOME
            for line in settled.lines:
                usd[:, side, PLAIN] += _by_view(line)[:, None, :]
    for line in base.projects:
        usd[:, HOME, PLAIN] += _by_view(line)[:, None, :]
    for state, plan in enumerate(plans):
        _add_owned(usd[:, :, :, state], plan, base.setting, foreign, known)
    return Fixed(usd)


def nothing_used(plan: Plan, grid: Grid, demand: Demand) -> Ledger:
    """Settle a plan with nothing used at all."""
    paid = np.zeros((len(plan.workloads), len(plan.supplies), len(demand.slots.month)))
    return settle(plan, grid, Given(demand, paid, np.zeros((len(plan.workloads), plan.months))))


def _by_view(line: Line) -> FloatArray:
    return np.array([getattr(line, view) for view in VIEWS])


def _add_owned(
    usd: FloatArray,
    plan: Plan,
    setting: Setting,
    foreign: frozenset[str],
    known: Known,
) -> None:
    fleet = [supply for supply in plan.supplies if isinstance(supply, Owned)]
    lives = [life_of(owned, setting.horizon) for owned in fleet]
    planned = {s.name: s for s in setting.plan.supplies if isinstance(s, Owned)}
    staff_by_supply = staff_usd_by_supply(fleet, lives, setting.month)
    for owned, life, staff in zip(fleet, lives, staff_by_supply, strict=True):
        side = FOREIGN if owned.name in foreign else HOME
        # lead times count only through the months they lead to
        key = (planned[owned.name], life, setting.horizon, setting.plan.discount_rate_per_year)
        if key not in known:
            known[key] = _of_owned(owned, life, setting)
        usd[:, side] += known[key]
        make = LineMaker(owned.name, owned.kind, setting.factors)
        usd[:, side, PLAIN] += _by_view(make.running("staff", staff))


def _of_owned(owned: Owned, life: Life, setting: Setting) -> FloatArray:
    """Return one purchase's money without staff by (view, scale, month)."""
    make = LineMaker(owned.name, owned.kind, setting.factors)
    nothing = np.zeros(setting.plan.months)
    capital = capital_of(owned, life, setting.month, make)
    running = running_lines(owned, life, setting.month, setting.hours, nothing, nothing, make)
    usd = np.zeros((len(VIEWS), 3, setting.plan.months))
    for line in (*capital.lines, *running):
        amounts = _by_view(line)
        if line.name == RESIDUAL:
            usd[:, SOLD] += amounts
        elif line.name == "energy":
            usd[:, POWER] += amounts
        elif line.name == "retirement":
            proceeds = _proceeds(line, amounts)
            usd[:, SOLD] += proceeds
            usd[:, PLAIN] += amounts - proceeds
        else:
            usd[:, PLAIN] += amounts
    return usd


def _proceeds(line: Line, amounts: FloatArray) -> FloatArray:
    """Return what a sale brings in every view: the books show book value less it, so the same amount."""
    place: View = "amortized_usd"
    proceeds = amounts.copy()
    proceeds[VIEWS.index(place)] = line.cash_usd
    return proceeds
