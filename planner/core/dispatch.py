"""Decide which supply serves which demand, hour by hour, and what stays unmet.

Order of demand: inference, then training by deferral limit, shortest first; at equal limits work that
cannot run on spot goes first, then the order of the plan. Order of supply: rising marginal cost per
useful GPU-hour, ties as reserved, owned, spot, on demand, then the order of the plan. Deferrable work
first takes capacity that is already paid for (reserved, owned), then the rest in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.plan import SupplyKind, Workload
from planner.core.slots import Slots, gpus_wanted, window_starts

KIND_RANK: dict[SupplyKind, int] = {"reserved": 0, "owned": 1, "spot": 2, "on_demand": 3}
PAID_FOR: tuple[SupplyKind, ...] = ("reserved", "owned")
# A remainder this small against the demand is the rounding of float sums, not work left undone.
NEGLIGIBLE_SHARE = 1e-12
# An unlimited supply gets room for a thousand peaks: never binding, and deferred work spreads evenly.
ROOM_OF_UNLIMITED = 1000.0


@dataclass(frozen=True)
class Source:
    """One supply as the dispatch sees it.

    `gpus` is its capacity per slot in paid GPUs (None: unlimited), `work_factor` the useful hours of
    one paid GPU-hour, `marginal_usd` its cost per useful GPU-hour by month (NaN: unknown).
    """

    kind: SupplyKind
    gpus: FloatArray | None
    work_factor: float
    marginal_usd: FloatArray


@dataclass(frozen=True)
class Dispatch:
    """What was served: by (supply, month), but `paid_gpus` by (supply, slot) and the last two by
    (workload, month)."""

    useful_hours: FloatArray
    paid_hours: FloatArray
    paid_gpus: FloatArray
    peak_paid_gpus: FloatArray
    unmet_hours: FloatArray
    demand_hours: FloatArray


class _Room:
    """Capacity not yet taken and capacity in use, by (supply, slot) in useful GPUs."""

    def __init__(self, capacity: FloatArray) -> None:
        self.left = capacity.copy()
        self.used = np.zeros_like(capacity)

    def take(self, row: int, gpus: FloatArray) -> None:
        """Move GPUs of one supply from left to used."""
        self.left[row] -= gpus
        self.used[row] += gpus


def dispatch(
    slots: Slots, hours_of_month: FloatArray, workloads: Sequence[Workload], sources: Sequence[Source]
) -> Dispatch:
    """Serve every workload from the sources; see the module's docstring for both orders."""
    months = len(hours_of_month)
    wanted = np.zeros((len(workloads), len(slots.month)))
    for row, workload in enumerate(workloads):
        wanted[row] = gpus_wanted(workload, slots)
    room = _Room(_capacity(slots, sources, wanted))
    unmet = np.zeros((len(workloads), months))
    orders = merit_orders(sources, months)
    groups = _groups(orders)
    for alike in groups:
        # Nearly always one order holds throughout; a slice then spares copying every hour.
        span = slice(None) if len(groups) == 1 else np.flatnonzero(np.isin(slots.month, alike))
        part, part_room = slots.only(span), _Room(room.left[:, span])
        for row in serving_order(workloads):
            rows = _eligible(workloads[row], orders[alike[0]], sources)
            unmet[row] += _serve(workloads[row], wanted[row, span], part, part_room, rows, hours_of_month)
        room.used[:, span] = part_room.used
    return _summed(slots, months, room.used, wanted, unmet, sources)


def _eligible(workload: Workload, order: IntArray, sources: Sequence[Source]) -> list[int]:
    """Return the sources a workload may use, in the order in which it uses them."""
    on_spot = workload.kind == "training" and workload.interruptible
    rows = [int(row) for row in order if on_spot or sources[row].kind != "spot"]
    if workload.deferrable_hours > 0:
        rows.sort(key=lambda row: sources[row].kind not in PAID_FOR)
    return rows


def _serve(
    workload: Workload,
    wanted: FloatArray,
    slots: Slots,
    room: _Room,
    rows: Sequence[int],
    hours_of_month: FloatArray,
) -> FloatArray:
    """Take what one workload needs from the room; return the hours it does not get, by month."""
    if workload.deferrable_hours > 0:
        starts = window_starts(workload, slots, hours_of_month)
        rest_hours = _serve_pooled(wanted, room, rows, slots.hours, starts)
        month = slots.month[starts]
    else:
        rest_hours = _serve_hourly(wanted, room, rows) * slots.hours
        month = slots.month
    return np.bincount(month, weights=rest_hours, minlength=len(hours_of_month)).astype(np.float64)


def _serve_hourly(wanted: FloatArray, room: _Room, rows: Sequence[int]) -> FloatArray:
    """Serve every slot in itself; return the GPUs that find no room."""
    rest = wanted.copy()
    negligible = wanted * NEGLIGIBLE_SHARE
    for row in rows:
        taken = np.minimum(rest, room.left[row])
        room.take(row, taken)
        rest -= taken
        rest[rest <= negligible] = 0.0
        if not rest.any():
            break
    return rest


def _serve_pooled(
    wanted: FloatArray, room: _Room, rows: Sequence[int], hours: FloatArray, starts: IntArray
) -> FloatArray:
    """Serve each window's work in any of its hours; return the GPU-hours that find no room, by window."""
    rest = np.add.reduceat(wanted * hours, starts)
    negligible = rest * NEGLIGIBLE_SHARE
    lengths = np.diff([*starts, len(wanted)])
    for row in rows:
        pool = np.add.reduceat(room.left[row] * hours, starts)
        taken = np.minimum(rest, pool)
        # Any hour of the window will do; taking the same share of each keeps the peak low.
        share = np.divide(taken, pool, out=np.zeros_like(pool), where=pool > 0)
        room.take(row, room.left[row] * np.repeat(share, lengths))
        rest -= taken
        rest[rest <= negligible] = 0.0
        if not rest.any():
            break
    return rest


def _summed(
    slots: Slots,
    months: int,
    used: FloatArray,
    wanted: FloatArray,
    unmet: FloatArray,
    sources: Sequence[Source],
) -> Dispatch:
    """Add slots up to months. The peak is the highest slot of each month."""
    starts = np.searchsorted(slots.month, np.arange(months))
    factors = np.array([source.work_factor for source in sources]).reshape(-1, 1)
    useful = np.add.reduceat(used * slots.hours, starts, axis=1)
    paid_gpus = used / factors
    return Dispatch(
        useful_hours=useful,
        paid_hours=useful / factors,
        paid_gpus=paid_gpus,
        peak_paid_gpus=np.maximum.reduceat(paid_gpus, starts, axis=1),
        unmet_hours=unmet,
        demand_hours=np.add.reduceat(wanted * slots.hours, starts, axis=1),
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


def merit_orders(sources: Sequence[Source], months: int) -> IntArray:
    """Return, for every month, the sources by rising marginal cost per useful GPU-hour.

    An unknown price goes last among rented supplies; owned servers with unknown energy count as 0.
    """
    if not sources:
        return np.zeros((months, 0), dtype=np.int64)
    marginal = np.array(
        [np.nan_to_num(s.marginal_usd, nan=0.0 if s.kind in PAID_FOR else np.inf) for s in sources]
    )
    rank = np.array([KIND_RANK[source.kind] for source in sources])[:, None] + np.zeros(months)
    return np.lexsort((rank, marginal), axis=0).T.astype(np.int64)


def _groups(orders: IntArray) -> list[IntArray]:
    """Return the months that share an order, so that each order is walked once."""
    if orders.shape[1] == 0:
        return [np.arange(orders.shape[0])]
    _, member = np.unique(orders, axis=0, return_inverse=True)
    return [np.flatnonzero(member.ravel() == group) for group in range(int(member.max()) + 1)]


def _capacity(slots: Slots, sources: Sequence[Source], wanted: FloatArray) -> FloatArray:
    """Return the capacity per source and slot in useful GPUs."""
    unlimited = ROOM_OF_UNLIMITED * (float(wanted.sum(axis=0).max()) if wanted.size else 0.0)
    capacity = np.empty((len(sources), len(slots.month)))
    for row, source in enumerate(sources):
        capacity[row] = unlimited if source.gpus is None else source.gpus * source.work_factor
    return capacity
