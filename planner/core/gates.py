"""What binds in each month: quota, capacity, power, lead time, budget; or region, validation, gang.

A month with unmet demand names what would have served it: servers that are ordered and not there yet,
servers that stand dark, a quota that is full, else plainly too little capacity. Where no supply at all may
take the work, the gate is why. A month that serves everything names a full quota that sends work to a
dearer supply, or a year's budget that is used up; else "none".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.eligibility import work_factor
from planner.core.ledger import Ledger
from planner.core.plan import Gate, GateName, OnDemand, Owned, Spot

# In this order a gate is named where several bind: what time or a request alone would open comes first.
ORDER: tuple[GateName, ...] = ("lead_time", "power", "quota", "capacity", "gang", "validation", "region")
FULL_SHARE = 1e-9  # a use this close to a limit is at it


@dataclass(frozen=True)
class _Bound:
    gate: GateName
    supply: str
    text: str


def gates_of(ledger: Ledger, cash_usd: FloatArray) -> tuple[Gate, ...]:
    """Return one gate per month; `cash_usd` is the plan's cash by month (NaN: unknown, no budget binds)."""
    over, full = _over_budget(ledger, cash_usd), _full_and_dearer_used(ledger)
    is_short = ledger.served.unmet_hours.sum(axis=0) > 0.0
    return tuple(
        _gate_of_unmet(ledger, month, day)
        if is_short[month]
        else _gate_of_served(day, over.get(month, ""), full.get(month, ()))
        for month, day in enumerate(ledger.horizon.first_days())
    )


def _gate_of_served(day: date, over_budget: str, full: Sequence[str]) -> Gate:
    if over_budget:
        return Gate(day, "budget", (), 0.0, 0.0, over_budget)
    if full:
        text = f"the quota of {', '.join(full)} is full; what is over runs on dearer supply"
        return Gate(day, "quota", tuple(full), 0.0, 0.0, text)
    return Gate(day, "none", (), 0.0, 0.0, "nothing binds")


def _gate_of_unmet(ledger: Ledger, month: int, day: date) -> Gate:
    served, plan = ledger.served, ledger.plan
    short = np.flatnonzero(served.unmet_hours[:, month] > 0.0)
    bounds = [bound for w in short for bound in _bounds(ledger, int(w), month)]
    found = {bound.gate for bound in bounds}
    gate = next((each for each in ORDER if each in found), ORDER[3])
    names = tuple(dict.fromkeys(bound.supply for bound in bounds if bound.gate == gate and bound.supply))
    hours = float(served.unmet_hours[short, month].sum())
    gpus = float(served.unmet_peak_gpus[short, month].sum())
    reasons = "; ".join(dict.fromkeys(bound.text for bound in bounds)) or "the plan has no supply for it"
    who = ", ".join(plan.workloads[int(w)].name for w in short)
    text = f"{who}: {gpus:,.1f} GPUs short at the worst hour, {hours:,.0f} GPU-hours unmet; {reasons}"
    return Gate(day, gate, names, gpus, hours, text)


def _bounds(ledger: Ledger, workload: int, month: int) -> list[_Bound]:
    """Return what keeps each supply from taking more of one workload in one month."""
    found = []
    for row, supply in enumerate(ledger.plan.supplies):
        if _is_out(ledger, supply.name, month) and ledger.open_to.ratio[workload, row, month] > 0.0:
            found.append(_Bound("capacity", supply.name, f"{supply.name} is out of service"))
            continue
        blocked = ledger.open_to.blocked.get((workload, row))
        if blocked == "gang" and isinstance(supply, Owned):
            blocked = _closed(ledger, supply, month) or blocked
        if ledger.open_to.useful_per_paid[workload, row, month] <= 0.0:
            if blocked is not None:
                found.append(_Bound(blocked, supply.name, _words(blocked, supply.name)))
            continue
        if isinstance(supply, OnDemand | Spot):
            quota = float(ledger.setting.quotas[supply.name][month])
            if not np.isinf(quota):
                found.append(_Bound("quota", supply.name, f"the quota of {supply.name} is {quota:g} GPUs"))
            continue
        gate = (_closed(ledger, supply, month) if isinstance(supply, Owned) else None) or "capacity"
        found.append(_Bound(gate, supply.name, _words(gate, supply.name)))
    return found


def _is_out(ledger: Ledger, name: str, month: int) -> bool:
    return name in ledger.setting.up and ledger.setting.up[name][month] == 0.0


def _closed(ledger: Ledger, owned: Owned, month: int) -> GateName | None:
    """Return why servers give nothing, or less than all, in a month."""
    life = ledger.setting.lives[owned.name]
    if life.ordered <= month < life.in_service:
        return "lead_time"
    if month < life.retired and ledger.setting.lit[owned.name][month] < 1.0:
        return "power"
    return None


def _words(gate: GateName, supply: str) -> str:
    return {
        "lead_time": f"{supply} is ordered and not in service yet",
        "power": f"servers of {supply} have no power",
        "region": f"{supply} is in a region in which it may not run",
        "validation": f"the GPU of {supply} is not validated for it",
        "gang": f"{supply} cannot hold its GPUs at once",
    }.get(gate, f"{supply} is busy")


def _full_and_dearer_used(ledger: Ledger) -> dict[int, list[str]]:
    """Return, by month, the metered supplies whose quota is full while a dearer one is in use."""
    metered = [
        (row, supply)
        for row, supply in enumerate(ledger.plan.supplies)
        if isinstance(supply, OnDemand | Spot)
    ]
    if not metered:
        return {}
    rows = [row for row, _ in metered]
    quotas = np.array([ledger.setting.quotas[supply.name] for _, supply in metered])
    usd = np.array([ledger.setting.prices[supply.name] / work_factor(supply) for _, supply in metered])
    is_used = ledger.served.paid_hours[rows] > 0.0
    is_full = is_used & (ledger.served.peak_paid_gpus[rows] >= quotas * (1.0 - FULL_SHARE))
    dearest = np.where(is_used & ~np.isnan(usd), usd, -np.inf).max(axis=0)
    found: dict[int, list[str]] = {}
    for place, month in zip(*np.nonzero(is_full & (dearest > usd)), strict=True):
        found.setdefault(int(month), []).append(metered[place][1].name)
    return found


def _over_budget(ledger: Ledger, cash_usd: FloatArray) -> dict[int, str]:
    """Return the months, with words, in which a calendar year's cash is beyond its budget."""
    days = ledger.horizon.first_days()
    found: dict[int, str] = {}
    for budget in ledger.plan.budgets:
        spent = 0.0
        for month, day in enumerate(days):
            if day.year != budget.year:
                continue
            spent += float(cash_usd[month])
            if spent > budget.usd:
                over = f"{spent - budget.usd:,.0f} {ledger.plan.currency}"
                found[month] = f"the budget of {budget.year} is exceeded by {over}"
    return found
