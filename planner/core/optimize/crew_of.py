"""Staff of a fleet that may grow: the plan's own rule (owned.py), as the optimizer needs it."""

from dataclasses import replace

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.optimize.choices import OwnedChoice
from planner.core.optimize.probe import Bought, Probed, staff_by_month
from planner.core.optimize.problem import Crew
from planner.core.owned import life_of, staff_usd_by_supply
from planner.core.plan import Owned, Plan


def crew_of(plan: Plan, probe: Probed) -> Crew | None:
    """Return the crew where some fleet has a minimum; without one, staff is a cost of each server."""
    choices = [(i, each) for i, each in enumerate(probe.bought) if isinstance(each.choice, OwnedChoice)]
    fleet = [supply for supply in plan.supplies if isinstance(supply, Owned)]
    all_owned = fleet + [each.choice.template for _, each in choices if isinstance(each.choice, OwnedChoice)]
    if not choices or not any(owned.fte_minimum * owned.usd_staff_per_fte_year > 0.0 for owned in all_owned):
        return None
    ledger, months = probe.idle, plan.months
    end = ledger.factors.end
    lives = [life_of(owned, ledger.horizon) for owned in fleet]
    standing = [staff_by_month(each.lines, months) for each in ledger.supplies[: len(plan.supplies)]]
    at_least = staff_usd_by_supply(fleet, lives, ledger.setting.month) if fleet else []
    return Crew(
        options=tuple(len(plan.supplies) + i for i, _ in choices),
        usd_per_unit=np.array([_per_unit(probe, each, months) for _, each in choices]),
        minimum_usd=np.array([_minimum(probe, each) * end for _, each in choices]),
        present=np.array([_present(probe, each, months) for _, each in choices]),
        standing_usd=np.sum([np.zeros(months), *standing], axis=0),
        standing_minimum_usd=np.sum([np.zeros(months), *at_least], axis=0) * end,
    )


def _per_unit(probe: Probed, bought: Bought, months: int) -> FloatArray:
    staff = [staff_by_month(probe.idle.supplies[row].lines, months) for row in bought.rows.tolist()]
    return np.asarray(np.max([np.zeros(months), *staff], axis=0))


def _minimum(probe: Probed, bought: Bought) -> FloatArray:
    """Return the staff of one server alone: its minimum, since one server is part of every fleet."""
    horizon, month = probe.idle.horizon, probe.idle.setting.month
    least = [np.zeros_like(month)]
    template = bought.choice.template
    for row in bought.rows.tolist():
        probe_unit = probe.idle.supplies[row].supply
        if isinstance(probe_unit, Owned) and isinstance(template, Owned):
            unit = _with_minimum(probe_unit, template)
            least += staff_usd_by_supply([unit], [life_of(unit, horizon)], month)
    return np.asarray(np.max(least, axis=0))


def _with_minimum(unit: Owned, template: Owned) -> Owned:
    return replace(unit, fte_minimum=template.fte_minimum)


def _present(probe: Probed, bought: Bought, months: int) -> FloatArray:
    present = np.zeros((months, months))
    setting = probe.idle.setting
    for row, month in zip(bought.rows.tolist(), bought.month.tolist(), strict=True):
        present[month] = setting.lives[probe.idle.supplies[row].supply.name].is_present(setting.month)
    return present
