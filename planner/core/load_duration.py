"""Load-duration blocks: the hours of a month in a few steps, from the busiest to the quietest.

Hours are sorted by the demand that cannot wait; neighbours in that order form a block, which wants their
mean. GPU-hours are kept exactly; what is lost is which of two neighbouring hours was the higher one.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray
from planner.core.plan import Workload
from planner.core.ranges import COUNT_FROM_1, takes
from planner.core.slots import Demand, Slots, build_demand, stretch_edges


@takes(blocks_per_month=COUNT_FROM_1)
def build_blocks(
    horizon: Horizon, workloads: Sequence[Workload], cut_hours: Iterable[int], blocks_per_month: int
) -> Demand:
    """Return the demand in at most `blocks_per_month` blocks per stretch of a month.

    A stretch is a month, or its part between two of the `cut_hours`. Hours that want the same make one block;
    where a stretch has no more than `blocks_per_month` different ones, the blocks are exact. Otherwise each
    holds about the same number of hours. Raises ValueError for less than one block.
    """
    cuts = list(cut_hours)
    fine = build_demand(horizon, workloads, cuts)
    waits = np.array([workload.deferrable_hours > 0 for workload in workloads], dtype=bool)
    edges = stretch_edges(horizon, cuts)
    stretch = np.searchsorted(edges, fine.slots.first_hour, side="right") - 1
    urgent = fine.gpus[~waits] if (~waits).any() else fine.gpus
    # one number that tells rows of equal sum apart sorts faster than all their columns
    mixed = np.sqrt(np.arange(2.0, 2.0 + len(fine.gpus))) @ fine.gpus
    order = np.lexsort((mixed, -urgent.sum(axis=0), stretch))
    block = _block_of(stretch[order], fine.slots.hours[order], fine.gpus[:, order], blocks_per_month)
    return _merged(fine, order, block, edges[:-1])


def _block_of(stretch: IntArray, hours: FloatArray, gpus: FloatArray, most: int) -> IntArray:
    """Return the running number of the block of each slot; slots are sorted within their stretches."""
    is_new_stretch = np.diff(stretch, prepend=-1) != 0
    differs = np.concatenate([[True], (np.diff(gpus, axis=1) != 0).any(axis=0)]) | is_new_stretch
    begins = np.flatnonzero(is_new_stretch)
    which = np.cumsum(is_new_stretch) - 1
    run = np.cumsum(differs) - 1
    run_in_stretch = run - run[begins][which]
    runs = np.maximum.reduceat(run_in_stretch, begins) + 1
    done = np.cumsum(hours) - hours
    done_in_stretch = done - done[begins][which]
    length = np.add.reduceat(hours, begins)
    middle = (done_in_stretch + hours / 2.0) / length[which]
    by_hours = np.minimum((middle * most).astype(np.int64), most - 1)
    part = np.where(runs[which] <= most, run_in_stretch, by_hours)
    return np.asarray(np.cumsum((np.diff(part, prepend=-1) != 0) | is_new_stretch) - 1, dtype=np.int64)


def _merged(fine: Demand, order: IntArray, block: IntArray, stretch_first_hours: IntArray) -> Demand:
    begins = np.flatnonzero(np.diff(block, prepend=-1))
    hours = fine.slots.hours[order]
    total = np.add.reduceat(hours, begins)
    gpus = np.add.reduceat(fine.gpus[:, order] * hours, begins, axis=1) / total
    first = fine.slots.first_hour[order][begins]
    stretch = np.searchsorted(stretch_first_hours, first, side="right") - 1
    nothing = np.zeros(len(begins), dtype=np.int64)
    slots = Slots(
        month=fine.slots.month[order][begins],
        hours=total,
        hour_of_week=nothing,
        first_hour=stretch_first_hours[stretch],
        hour_in_month=nothing,
    )
    return Demand(slots, gpus)
