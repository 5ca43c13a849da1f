"""Decide which supply serves which demand, hour by hour, and what stays unmet.

Order of demand: inference, then training by deferral limit, shortest first; at equal limits work that
cannot run on spot goes first, then the order of the plan. Order of supply: rising marginal cost per
useful GPU-hour, ties as reserved, what a savings plan has paid for, owned, spot, on demand, then the order
of the plan. Deferrable work first takes capacity that is already paid for, then the rest in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.plan import SupplyKind, Workload
from planner.core.ranges import refuse
from planner.core.slots import Demand, Slots, window_starts

KIND_RANK: dict[SupplyKind, int] = {
    "reserved": 0,
    "block": 0,
    "contract": 0,
    "savings_plan": 1,
    "owned": 2,
    "spot": 3,
    "on_demand": 4,
}
PAID_FOR: tuple[SupplyKind, ...] = ("reserved", "block", "contract", "savings_plan", "owned")
# A remainder this small against the demand is the rounding of float sums, not work left undone.
NEGLIGIBLE_SHARE = 1e-12
# An unlimited supply gets room for a thousand peaks: never binding, and deferred work spreads evenly.
ROOM_OF_UNLIMITED = 1000.0
SOLVER_ROUNDING = 1e-6  # how far a solver's sums may be off, as a share


@dataclass(frozen=True)
class Source:
    """One way to take GPUs: a supply, or the part of an on-demand supply that a savings plan has paid for.

    `supply` is the row of the supply whose GPUs it takes, `usd_per_paid_gpu_hour` its marginal cost by month
    (NaN: unknown). `pool` is the row of the money that pays for it, spent at `usd_per_gpu_hour_of_pool`.
    """

    kind: SupplyKind
    supply: int
    usd_per_paid_gpu_hour: FloatArray
    pool: int | None = None
    usd_per_gpu_hour_of_pool: float = 0.0


@dataclass(frozen=True)
class Market:
    """All that can be taken. `gpus` by (supply, slot) are paid GPUs, infinite where no limit is known.

    `pools` by (pool, slot) is money per hour; `useful_per_paid` is by (workload, supply, month),
    `usd_data` by (workload, supply).
    """

    sources: Sequence[Source]
    gpus: FloatArray
    pools: FloatArray
    useful_per_paid: FloatArray
    usd_data: FloatArray


@dataclass(frozen=True)
class Dispatch:
    """What was served. By (supply, month) where not said otherwise; unmet and demand by (workload, month)."""

    useful_hours: FloatArray
    paid_hours: FloatArray
    paid_gpus: FloatArray  # (supply, slot)
    peak_paid_gpus: FloatArray
    unmet_hours: FloatArray
    demand_hours: FloatArray
    useful_by_class: FloatArray  # (workload, supply, month)
    paid_by_class: FloatArray  # (workload, supply, month)
    unmet_peak_gpus: FloatArray  # (workload, month): at the worst hour, or the mean of the worst window
    carried_hours: FloatArray  # (workload, month): put off into the next month by a given dispatch


class _Room:
    """Capacity and committed money not yet taken, and what was taken, in paid GPUs by (supply, slot)."""

    def __init__(self, market: Market, most: float) -> None:
        self.left = np.minimum(market.gpus, most)
        self.money = market.pools.copy()
        self.used = np.zeros_like(self.left)

    def free(self, source: Source, span: slice | IntArray) -> FloatArray:
        """Return the paid GPUs a source still has in some slots."""
        left = self.left[source.supply, span]
        if source.pool is None:
            return left
        return np.minimum(left, self.money[source.pool, span] / source.usd_per_gpu_hour_of_pool)

    def take(self, source: Source, span: slice | IntArray, gpus: FloatArray) -> None:
        """Move paid GPUs of one source from left to used."""
        self.left[source.supply, span] -= gpus
        self.used[source.supply, span] += gpus
        if source.pool is not None:
            # rounding must not leave a debt
            money = self.money[source.pool, span] - gpus * source.usd_per_gpu_hour_of_pool
            self.money[source.pool, span] = np.maximum(money, 0.0)


class _Tally:
    """What is served and what is not, by class, as the walk goes on."""

    def __init__(self, demand: Demand, market: Market, months: int) -> None:
        workloads, supplies = market.usd_data.shape
        self.demand = demand
        self.months = months
        self.useful = np.zeros((workloads, supplies, months))
        self.paid = np.zeros((workloads, supplies, months))
        self.unmet = np.zeros((workloads, months))
        self.unmet_peak = np.zeros((workloads, months))
        self.starts = np.searchsorted(demand.slots.month, np.arange(months))

    def by_month(self, month: IntArray, hours: FloatArray) -> FloatArray:
        """Return sums by month."""
        if len(hours) == len(self.demand.slots.month):
            # all slots, which lie in the order of months
            return np.add.reduceat(hours, self.starts)
        return np.bincount(month, weights=hours, minlength=self.months).astype(np.float64)


def dispatch(
    demand: Demand, hours_of_month: FloatArray, workloads: Sequence[Workload], market: Market
) -> Dispatch:
    """Serve every workload from the market; see the module's docstring for both orders."""
    months = len(hours_of_month)
    peak = float(demand.gpus.sum(axis=0).max()) if demand.gpus.size else 0.0
    room, tally = _Room(market, _unlimited(peak, market)), _Tally(demand, market, months)
    for row in serving_order(workloads):
        orders = merit_orders(market, row, workloads[row].deferrable_hours > 0, months)
        groups = _groups(orders)
        for alike in groups:
            # Nearly always one order holds throughout; a slice then spares copying every hour.
            one = len(groups) == 1
            span = slice(None) if one else np.flatnonzero(np.isin(demand.slots.month, alike))
            sources = [market.sources[place] for place in orders[alike[0]]]
            _Server(row, workloads[row], sources, market, room, tally).serve(span, hours_of_month)
    return _summed(demand, room.used, tally)


def _unlimited(peak: float, market: Market) -> float:
    """Return the paid GPUs that stand for no limit: a thousand peaks, more where a GPU does little work."""
    yields = market.useful_per_paid[market.useful_per_paid > 0]
    return ROOM_OF_UNLIMITED * peak / min(1.0, float(yields.min()) if yields.size else 1.0)


@dataclass(frozen=True)
class _Server:
    """Serves one workload from sources in the order given."""

    row: int
    workload: Workload
    sources: Sequence[Source]
    market: Market
    room: _Room
    tally: _Tally

    def serve(self, span: slice | IntArray, hours_of_month: FloatArray) -> None:
        """Take what the workload needs in some slots; book what it gets and what it does not."""
        slots = self.tally.demand.slots.only(span)
        wanted = self.tally.demand.gpus[self.row, span]
        if self.workload.deferrable_hours > 0:
            starts = window_starts(self.workload, slots, hours_of_month)
            rest_hours = self._pooled(wanted, span, slots, starts)
            month, length = slots.month[starts], np.add.reduceat(slots.hours, starts)
        else:
            rest_hours = self._hourly(wanted, span, slots) * slots.hours
            month, length = slots.month, slots.hours
        if rest_hours.any():
            self.tally.unmet[self.row] += np.bincount(month, weights=rest_hours, minlength=self.tally.months)
            np.maximum.at(self.tally.unmet_peak[self.row], month, rest_hours / length)

    def _hourly(self, wanted: FloatArray, span: slice | IntArray, slots: Slots) -> FloatArray:
        """Serve every slot in itself; return the GPUs that find no room."""
        rest = wanted.copy()
        negligible = wanted * NEGLIGIBLE_SHARE
        for source in self.sources:
            useful, free = self._useful(source, slots), self.room.free(source, span)
            if useful is None:
                paid = taken = np.minimum(rest, free)
            else:
                paid = np.minimum(_divided(rest, useful), free * (useful > 0))
                taken = paid * useful
            self._book(source, span, slots, paid)
            rest -= taken
            rest[rest <= negligible] = 0.0
            if not rest.any():
                break
        return rest

    def _pooled(
        self, wanted: FloatArray, span: slice | IntArray, slots: Slots, starts: IntArray
    ) -> FloatArray:
        """Serve each window's work in any of its hours; return the GPU-hours that find no room, by window."""
        rest = np.add.reduceat(wanted * slots.hours, starts)
        negligible = rest * NEGLIGIBLE_SHARE
        lengths = np.diff([*starts, len(wanted)])
        for source in self.sources:
            useful, free = self._useful(source, slots), self.room.free(source, span)
            open_gpus = free if useful is None else free * (useful > 0)
            work = free if useful is None else free * useful
            pool = np.add.reduceat(work * slots.hours, starts)
            taken = np.minimum(rest, pool)
            # Any hour of the window will do; taking the same share of each keeps the peak low.
            paid = open_gpus * np.repeat(_divided(taken, pool), lengths)
            self._book(source, span, slots, paid)
            rest -= taken
            rest[rest <= negligible] = 0.0
            if not rest.any():
                break
        return rest

    def _useful(self, source: Source, slots: Slots) -> FloatArray | None:
        """Return the work of a paid GPU-hour by slot; None where it is one throughout, as it mostly is."""
        by_month = self.market.useful_per_paid[self.row, source.supply]
        return None if (by_month == 1.0).all() else by_month[slots.month]

    def _book(self, source: Source, span: slice | IntArray, slots: Slots, paid: FloatArray) -> None:
        self.room.take(source, span, paid)
        hours = self.tally.by_month(slots.month, paid * slots.hours)
        useful = self.market.useful_per_paid[self.row, source.supply]
        self.tally.paid[self.row, source.supply] += hours
        self.tally.useful[self.row, source.supply] += hours * useful


def _divided(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)


def given_dispatch(
    demand: Demand, paid_gpus: FloatArray, market: Market, carried_hours: FloatArray, months: int
) -> Dispatch:
    """Take a dispatch as given: `paid_gpus` by (workload, supply, slot), `carried_hours` by month.

    What is carried is put off into the next month; unmet is demand + carried in - carried out - served.
    """
    tally = _Tally(demand, market, months)
    _check_capacity(paid_gpus.sum(axis=0), market)
    for row in range(paid_gpus.shape[0]):
        for supply in range(paid_gpus.shape[1]):
            hours = tally.by_month(demand.slots.month, paid_gpus[row, supply] * demand.slots.hours)
            tally.paid[row, supply] = hours
            tally.useful[row, supply] = hours * market.useful_per_paid[row, supply]
    wanted = _hours_by_month(demand, months)
    carried_in = np.concatenate([np.zeros((len(wanted), 1)), carried_hours[:, :-1]], axis=1)
    rest = wanted + carried_in - carried_hours - tally.useful.sum(axis=1)
    negligible = SOLVER_ROUNDING * np.maximum(wanted + carried_in, 1.0)
    if (rest < -negligible).any():
        row, month = (int(each) for each in np.argwhere(rest < -negligible)[0])
        value = f"{-rest[row, month]:,.3f} GPU-hours too many for workload {row} in month {month}"
        refuse("paid_gpus", value, "what it wants and was carried over")
    tally.unmet[:] = np.where(rest <= negligible, 0.0, rest)
    return replace(_summed(demand, paid_gpus.sum(axis=0), tally), carried_hours=carried_hours)


def _check_capacity(paid_gpus: FloatArray, market: Market) -> None:
    over = paid_gpus - market.gpus - SOLVER_ROUNDING * np.maximum(paid_gpus, 1.0)
    if (over > 0.0).any():
        row, slot = (int(each) for each in np.argwhere(over > 0.0)[0])
        value = f"{paid_gpus[row, slot]:,.3f} GPUs of supply {row} in slot {slot}"
        refuse("paid_gpus", value, f"at most the {market.gpus[row, slot]:,.3f} that it has")


def _hours_by_month(demand: Demand, months: int) -> FloatArray:
    starts = np.searchsorted(demand.slots.month, np.arange(months))
    return np.add.reduceat(demand.gpus * demand.slots.hours, starts, axis=1)


def _summed(demand: Demand, paid_gpus: FloatArray, tally: _Tally) -> Dispatch:
    """Add slots up to months. The peak is the highest slot of each month."""
    starts = np.searchsorted(demand.slots.month, np.arange(tally.months))
    return Dispatch(
        useful_hours=tally.useful.sum(axis=0),
        paid_hours=tally.paid.sum(axis=0),
        paid_gpus=paid_gpus,
        peak_paid_gpus=np.maximum.reduceat(paid_gpus, starts, axis=1),
        unmet_hours=tally.unmet,
        demand_hours=_hours_by_month(demand, tally.months),
        useful_by_class=tally.useful,
        paid_by_class=tally.paid,
        unmet_peak_gpus=tally.unmet_peak,
        carried_hours=np.zeros_like(tally.unmet),
    )


def serving_order(workloads: Sequence[Workload]) -> list[int]:
    """Return the rows of the workloads in the order in which they choose."""

    def key(row: int) -> tuple[bool, float, bool, int]:
        workload = workloads[row]
        return (
            workload.kind != "inference",
            workload.deferrable_hours,
            workload.interruptible,
            row,
        )

    return sorted(range(len(workloads)), key=key)


def merit_orders(market: Market, workload: int, may_wait: bool, months: int) -> IntArray:
    """Return, for every month, the sources by rising marginal cost per useful GPU-hour of one workload.

    An unknown price goes last among rented supplies; owned servers with unknown energy count as 0. Work that
    may wait takes what is paid for first. Sources that may never serve the workload are left out.
    """
    open_to = [
        place
        for place, source in enumerate(market.sources)
        if market.useful_per_paid[workload, source.supply].any()
    ]
    if not open_to:
        return np.zeros((months, 0), dtype=np.int64)
    sources = [market.sources[place] for place in open_to]
    rank = np.array([KIND_RANK[source.kind] for source in sources])[:, None] + np.zeros(months)
    first = np.array([may_wait and source.kind not in PAID_FOR for source in sources])[:, None]
    marginal = _marginal_usd(sources, market, workload)
    order = np.lexsort((rank, marginal, first + np.zeros(months)), axis=0).T
    return np.asarray(open_to, dtype=np.int64)[order]


def _marginal_usd(sources: Sequence[Source], market: Market, workload: int) -> FloatArray:
    """Return the marginal cost per useful GPU-hour by (source, month), unknown ones as said above."""
    rows = [source.supply for source in sources]
    usd = np.array([source.usd_per_paid_gpu_hour for source in sources])
    with np.errstate(divide="ignore", invalid="ignore"):
        usd = usd / market.useful_per_paid[workload, rows] + market.usd_data[workload, rows, None]
    unknown = np.array([0.0 if source.kind in PAID_FOR else np.inf for source in sources])[:, None]
    return np.where(np.isnan(usd), unknown, usd)


def _groups(orders: IntArray) -> list[IntArray]:
    """Return the months that share an order, so that each order is walked once."""
    if orders.shape[1] == 0 or (orders == orders[0]).all():
        return [np.arange(orders.shape[0])]
    _, member = np.unique(orders, axis=0, return_inverse=True)
    return [np.flatnonzero(member.ravel() == group) for group in range(int(member.max()) + 1)]
