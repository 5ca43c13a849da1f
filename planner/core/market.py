"""Every supply as the dispatch sees it: GPUs by slot, money of savings plans, merit, eligibility."""

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.committed import term_of
from planner.core.contracts import contract_gpus, usable_gpus
from planner.core.dispatch import Market, Source
from planner.core.eligibility import Eligibility, eligibility_of
from planner.core.owned import gpus_available, load_usd_per_gpu_hour
from planner.core.plan import Block, Contract, OnDemand, Owned, Reserved, SavingsPlan, Spot, Supply
from planner.core.savings import applied_first, rates_by_discount, term_of_plan
from planner.core.setting import Setting
from planner.core.slots import Slots


def market_of(setting: Setting, slots: Slots) -> tuple[Market, Eligibility]:
    """Return what can be taken in every slot, and who may take it."""
    plan = setting.plan
    gpus = np.zeros((len(plan.supplies), len(slots.month)))
    for row, supply in enumerate(plan.supplies):
        gpus[row] = _gpus_by_slot(supply, setting, slots)
        if supply.name in setting.up:
            gpus[row] *= setting.up[supply.name][slots.month]
    open_to = eligibility_of(plan, setting.horizon, _largest(setting, slots, gpus))
    plans = setting.savings_plans()
    pools = np.zeros((len(plans), len(slots.month)))
    for place, one in enumerate(plans):
        pools[place] = one.usd_per_hour * term_of_plan(one, setting.horizon).is_active(slots)
    sources = [*_paid_by_plans(setting), *(_source(row, setting) for row in _rows(setting))]
    return Market(sources, gpus, pools, open_to.useful_per_paid, open_to.usd_data), open_to


def _rows(setting: Setting) -> list[int]:
    return [row for row, supply in enumerate(setting.plan.supplies) if not isinstance(supply, SavingsPlan)]


def _source(row: int, setting: Setting) -> Source:
    supply = setting.plan.supplies[row]
    marginal = np.zeros(setting.plan.months)
    if isinstance(supply, Owned):
        marginal = marginal + load_usd_per_gpu_hour(supply)
    elif isinstance(supply, OnDemand | Spot):
        marginal = setting.prices[supply.name]
    return Source(supply.kind, row, marginal)


def _paid_by_plans(setting: Setting) -> list[Source]:
    """Return the part of on-demand supplies that committed money pays for, in the provider's order."""
    plans, supplies = setting.savings_plans(), setting.plan.supplies
    nothing = np.zeros(setting.plan.months)
    return [
        Source("savings_plan", row, nothing, place, usd)
        for place in applied_first(plans)
        for row, usd in rates_by_discount(plans[place], supplies, setting.prices, 0)
    ]


def _gpus_by_slot(supply: Supply, setting: Setting, slots: Slots) -> FloatArray:
    match supply:
        case Reserved():
            return supply.gpus * term_of(supply, setting.horizon).is_active(slots)
        case Block():
            return usable_gpus(supply, slots, setting.horizon)
        case Contract():
            return contract_gpus(supply, slots, setting.horizon)
        case Owned():
            serving = setting.lives[supply.name].is_serving(setting.month) * setting.lit[supply.name]
            return gpus_available(supply, serving)[slots.month]
        case OnDemand() | Spot():
            return setting.quotas[supply.name][slots.month]
        case SavingsPlan():
            return np.zeros(len(slots.month))


def _largest(setting: Setting, slots: Slots, gpus: FloatArray) -> FloatArray:
    """Return the most GPUs each supply can give at once, by month; servers of one site work together."""
    plan = setting.plan
    largest = np.zeros((len(plan.supplies), plan.months))
    starts = np.searchsorted(slots.month, np.arange(plan.months))
    for row, supply in enumerate(plan.supplies):
        if isinstance(supply, Owned):
            largest[row] = sum(
                _installed(other, setting)
                for other in plan.supplies
                if isinstance(other, Owned)
                and (other.region, other.gpu_model) == (supply.region, supply.gpu_model)
            )
        else:
            largest[row] = np.maximum.reduceat(gpus[row], starts)
    return largest


def _installed(owned: Owned, setting: Setting) -> FloatArray:
    serving = setting.lives[owned.name].is_serving(setting.month) * setting.lit[owned.name]
    return owned.servers * owned.gpus_per_server * serving * setting.up.get(owned.name, 1.0)
