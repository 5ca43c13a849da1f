"""What a plan uses at other demands and delivery states, in tables to be interpolated.

Each month is dispatched at a few multiples of its demand and with each set of servers that may be in service
then, all in one go: every combination is a month of its own to the dispatch. The merit order is that of the
plan's prices; draws change what use costs, not who serves.
"""

from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.contracts import due_usd, held_and_price
from planner.core.dispatch import Dispatch, Market, dispatch
from planner.core.ledger import Ledger
from planner.core.market import market_of
from planner.core.owned import gpus_available, life_of, load_usd_per_gpu_hour
from planner.core.plan import Contract, OnDemand, Owned, Plan, Spot
from planner.core.power import lit_shares
from planner.core.savings import cover
from planner.core.setting import Setting
from planner.core.slots import Demand, Slots

NODES = 33
# what a table holds, by column
ON_DEMAND, ON_DEMAND_FOREIGN, SPOT, SPOT_FOREIGN, LOAD_ENERGY, OTHER, USEFUL, UNMET = range(8)
COLUMNS = 8


@dataclass(frozen=True)
class Nodes:
    """The multiples of demand at which a month is dispatched, and where between two of them each draw lies.

    `multiples` by (month, node); `place` and `share` by (month, draw): the node below, and how far to the
    next.
    """

    multiples: FloatArray
    place: IntArray
    share: FloatArray


@dataclass(frozen=True)
class Use:
    """What a plan uses, by column; money is at the plan's prices. Columns without anything are None.

    `columns` and `steps` (the difference to the next node) run over combination * nodes + node; `first_row`
    by (state, month) is the row of the first node.
    """

    nodes: Nodes
    columns: tuple[FloatArray | None, ...]
    steps: tuple[FloatArray | None, ...]
    first_row: IntArray

    def at(self, month: int, states: IntArray) -> list[FloatArray | None]:
        """Return the columns for each draw: linear between the nodes around its demand."""
        row = self.first_row[states, month] + self.nodes.place[month]
        share = self.nodes.share[month]
        found: list[FloatArray | None] = []
        for column, step in zip(self.columns, self.steps, strict=True):
            if column is None or step is None:
                found.append(None)
                continue
            found.append(column.take(row) + share * step.take(row))
        return found


def demand_nodes(demand: FloatArray) -> Nodes:
    """Return the nodes for the draws' multiples of demand by (month, draw).

    They lie at quantiles of the draws, closer together towards both ends, so that they are where the draws
    are. One node is enough where nothing is uncertain.
    """
    if (demand == demand[:, :1]).all():
        return Nodes(np.array(demand[:, :1]), np.zeros(demand.shape, dtype=np.int64), np.zeros(demand.shape))
    ranks = (1.0 - np.cos(np.linspace(0.0, np.pi, NODES))) / 2.0
    nodes = np.quantile(demand, ranks, axis=1).T
    # a month without spread still needs rising nodes
    nodes = np.maximum.accumulate(nodes, axis=1) + np.arange(NODES) * 1e-12 * nodes[:, -1:]
    rows = zip(nodes, demand, strict=True)
    place = np.array([np.searchsorted(one, draws, side="right") for one, draws in rows])
    place = np.clip(place - 1, 0, NODES - 2)
    low, high = np.take_along_axis(nodes, place, axis=1), np.take_along_axis(nodes, place + 1, axis=1)
    return Nodes(nodes, place, np.clip((demand - low) / (high - low), 0.0, 1.0))


def use_of(base: Ledger, plans: tuple[Plan, ...], nodes: Nodes, foreign: frozenset[str]) -> Use:
    """Return the tables of a plan for its delivery states, `plans`, at the demand multiples of `nodes`."""
    lit = np.array([_lit(plan, base.setting) for plan in plans])  # (state, owned, month)
    combos = [np.unique(lit[:, :, month], axis=0, return_inverse=True) for month in range(base.plan.months)]
    counts = np.array([len(found) for found, _ in combos])
    offset = np.concatenate([[0], np.cumsum(counts)[:-1]])
    first = np.array([offset[m] + inverse.ravel() for m, (_, inverse) in enumerate(combos)]).T
    month_of_combo = np.repeat(np.arange(base.plan.months), counts)
    serving = np.concatenate([found for found, _ in combos])  # (combination, owned)
    table = _World(base, month_of_combo, serving, nodes.multiples).table(foreign)
    columns = tuple(np.ascontiguousarray(one) if one.any() else None for one in table.T)
    # the step behind a combination's last node leads nowhere, and is never taken
    steps = tuple(None if one is None else np.diff(one, append=one[-1]) for one in columns)
    return Use(nodes, columns, steps, first * nodes.multiples.shape[1])


def _lit(plan: Plan, setting: Setting) -> FloatArray:
    """Return the share of each purchase's servers that run, by (owned, month)."""
    fleet = [supply for supply in plan.supplies if isinstance(supply, Owned)]
    lives = [life_of(owned, setting.horizon) for owned in fleet]
    serving = [
        life.is_serving(setting.month) * setting.up.get(owned.name, 1.0)
        for owned, life in zip(fleet, lives, strict=True)
    ]
    if plan.power_limits:
        lit = lit_shares(fleet, lives, plan.power_limits, setting.horizon)
        serving = [one * other for one, other in zip(serving, lit, strict=True)]
    return np.array(serving).reshape(len(fleet), plan.months)


class _World:
    """Every combination of month, servers in service and demand as a month of one long dispatch."""

    def __init__(self, base: Ledger, month: IntArray, serving: FloatArray, nodes: FloatArray) -> None:
        self.base = base
        self.plan = base.plan
        per_combo = nodes.shape[1]
        self.month = np.repeat(month, per_combo)
        self.serving = np.repeat(serving, per_combo, axis=0)
        self.multiple = nodes[self.month, np.tile(np.arange(per_combo), len(month))]
        starts = np.searchsorted(base.slots.month, np.arange(self.plan.months + 1))
        lengths = np.diff(starts)[self.month]
        self.long_month = np.repeat(np.arange(len(self.month)), lengths)
        within = np.arange(len(self.long_month)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self.slot = np.repeat(starts[:-1][self.month], lengths) + within

    def table(self, foreign: frozenset[str]) -> FloatArray:
        """Return the columns of every long month."""
        demand, market = self._demand(), self._market()
        served = dispatch(demand, self.base.hours[self.month], self.plan.workloads, market)
        table = np.zeros((len(self.month), COLUMNS))
        billed = self._billed(served, demand.slots)
        for row, supply in enumerate(self.plan.supplies):
            if isinstance(supply, OnDemand | Spot):
                usd = billed[row] * self.base.setting.prices[supply.name][self.month]
                column = SPOT if isinstance(supply, Spot) else ON_DEMAND
                table[:, column + (supply.name in foreign)] += usd
            elif isinstance(supply, Owned):
                table[:, LOAD_ENERGY] += served.paid_hours[row] * load_usd_per_gpu_hour(supply)
            elif isinstance(supply, Contract):
                table[:, OTHER] += self._beyond_the_least(supply, served.paid_hours[row])
        table[:, OTHER] += self._data_usd(served, market)
        table[:, USEFUL] = served.useful_hours.sum(axis=0)
        table[:, UNMET] = served.unmet_hours.sum(axis=0)
        return table

    def _demand(self) -> Demand:
        base = self.base.demand
        only = base.slots.only(self.slot)
        slots = replace(only, month=self.long_month)
        return Demand(slots, base.gpus[:, self.slot] * self.multiple[self.long_month])

    def _market(self) -> Market:
        base, _ = market_of(self.base.setting, self.base.slots)
        gpus = base.gpus[:, self.slot]
        owned = [(row, s) for row, s in enumerate(self.plan.supplies) if isinstance(s, Owned)]
        for column, (row, supply) in enumerate(owned):
            gpus[row] = gpus_available(supply, self.serving[:, column])[self.long_month]
        sources = [
            replace(source, usd_per_paid_gpu_hour=source.usd_per_paid_gpu_hour[self.month])
            for source in base.sources
        ]
        useful = base.useful_per_paid[:, :, self.month]
        self._open_gangs(useful, owned)
        return Market(sources, gpus, base.pools[:, self.slot], useful, base.usd_data)

    def _open_gangs(self, useful: FloatArray, owned: list[tuple[int, Owned]]) -> None:
        """Let servers take a gang in the combinations in which their site is large enough."""
        for w, workload in enumerate(self.plan.workloads):
            if workload.gang_gpus == 1:
                continue
            for row, supply in owned:
                site = sum(
                    other.servers * other.gpus_per_server * self.serving[:, column]
                    for column, (_, other) in enumerate(owned)
                    if (other.region, other.gpu_model) == (supply.region, supply.gpu_model)
                )
                useful[w, row] = self.base.open_to.ratio[w, row][self.month] * (site >= workload.gang_gpus)

    def _billed(self, served: Dispatch, slots: Slots) -> FloatArray:
        """Return paid GPU-hours less what savings plans cover, by (supply, long month)."""
        plans = self.base.setting.savings_plans()
        if not plans:
            return served.paid_hours
        horizon, prices = self.base.horizon, self.base.setting.prices
        covered = cover(plans, self.plan.supplies, served.paid_gpus, slots, horizon, prices, self.month)
        hours = np.zeros_like(served.paid_hours)
        for row in range(len(self.plan.supplies)):
            weights = covered.gpus[row] * slots.hours
            hours[row] = np.bincount(slots.month, weights=weights, minlength=len(self.month))
        return np.maximum(served.paid_hours - hours, 0.0)

    def _beyond_the_least(self, contract: Contract, used: FloatArray) -> FloatArray:
        """Return what a contract costs above its take-or-pay minimum, which is fixed money."""
        held, price = (each[self.month] for each in held_and_price(contract, self.base.horizon))
        return due_usd(contract, used, held, price) - due_usd(contract, np.zeros_like(used), held, price)

    def _data_usd(self, served: Dispatch, market: Market) -> FloatArray:
        moved = np.where(
            served.useful_by_class > 0.0, served.useful_by_class * market.usd_data[:, :, None], 0.0
        )
        return np.asarray(moved.sum(axis=(0, 1)))
