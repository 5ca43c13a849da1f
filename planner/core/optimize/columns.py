"""What is chosen: units bought, GPUs held by them, GPUs used, work put off, work left undone."""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.problem import Problem, Purchase
from planner.core.optimize.program import BoolArray
from planner.core.ranges import COUNT, takes


@dataclass(frozen=True)
class Columns:
    """Where each choice stands. Every group is a run of columns that begins at its `first_...`.

    bought: units by (option, month); held: GPUs of bought units by (option, month); used: paid GPUs by (work,
    option, block); late: GPU-hours put off by (deferrable work, month); undone: by work and its block (GPUs)
    or month (GPU-hours); crew: money of staff by month, then whether servers stand by (option, month);
    last, whether a purchase is made that has a least size.
    """

    bought_option: IntArray
    bought_month: IntArray
    held_option: IntArray
    used_work: IntArray
    used_option: IntArray
    used_block: IntArray
    late_work: IntArray
    late_month: IntArray
    undone: int
    crews: int  # options that a crew looks after
    lots: IntArray  # purchases that have a least size; each has a switch
    months: int

    @property
    def first_held(self) -> int:
        """Return where the GPUs held begin."""
        return len(self.bought_option)

    @property
    def first_used(self) -> int:
        """Return where the GPUs used begin."""
        return self.first_held + len(self.held_option) * self.months

    @property
    def first_late(self) -> int:
        """Return where the work put off begins."""
        return self.first_used + len(self.used_work)

    @property
    def first_undone(self) -> int:
        """Return where the work left undone begins."""
        return self.first_late + len(self.late_work)

    @property
    def first_crew(self) -> int:
        """Return where the money of staff begins."""
        return self.first_undone + self.undone

    @property
    def first_switch(self) -> int:
        """Return where the switches of the crew begin."""
        return self.first_crew + (self.months if self.crews else 0)

    @property
    def first_lot(self) -> int:
        """Return where the switches of purchases with a least size begin."""
        return self.first_switch + self.crews * self.months

    @property
    def count(self) -> int:
        """Return how many columns there are."""
        return self.first_lot + len(self.lots)

    @property
    def used(self) -> slice:
        """Return the columns of the GPUs used."""
        return slice(self.first_used, self.first_late)

    @takes(option=COUNT)
    def held_at(self, option: int) -> IntArray:
        """Return the columns of the GPUs an option holds, by month; empty where nothing can be bought."""
        place = np.flatnonzero(self.held_option == option)
        if not len(place):
            return np.zeros(0, dtype=np.int64)
        return self.first_held + int(place[0]) * self.months + np.arange(self.months)


def columns_of(problem: Problem) -> Columns:
    """Return which choices there are: only those of options with known prices, where they are allowed."""
    bought = [
        (s, t)
        for s, purchase in purchases(problem)
        for t in np.flatnonzero(purchase.most_per_month > 0.0).tolist()
    ]
    may_use = _may_use(problem)
    work, option, block = np.nonzero(may_use)
    late_work, late_month = _late(problem)
    can_fail = problem.usd_unmet_per_gpu_hour is not None
    return Columns(
        bought_option=np.array([s for s, _ in bought], dtype=np.int64),
        bought_month=np.array([t for _, t in bought], dtype=np.int64),
        held_option=np.array([s for s, _ in purchases(problem)], dtype=np.int64),
        used_work=work,
        used_option=option,
        used_block=block,
        late_work=late_work,
        late_month=late_month,
        undone=(len(problem.urgent) * problem.blocks + len(problem.deferrable) * problem.months) * can_fail,
        crews=0 if problem.crew is None else len(problem.crew.options),
        lots=np.array([i for i, (s, _) in enumerate(bought) if _least(problem, s) > 1], dtype=np.int64),
        months=problem.months,
    )


def _least(problem: Problem, option: int) -> int:
    purchase = problem.options[option].purchase
    return 0 if purchase is None else purchase.least_per_purchase


def purchases(problem: Problem) -> list[tuple[int, Purchase]]:
    """Return the options that may be bought and have known prices, with their rows."""
    return [
        (s, option.purchase)
        for s, option in enumerate(problem.options)
        if option.purchase is not None and option.is_priced
    ]


def _may_use(problem: Problem) -> BoolArray:
    usd = problem.usd_per_use
    allowed = (problem.useful_per_paid > 0.0) & np.isfinite(usd)
    can_hold = np.zeros((len(problem.options), problem.blocks), dtype=np.bool_)
    for s, option in enumerate(problem.options):
        can_hold[s] = option.gpus > 0.0
    for s, purchase in purchases(problem):
        can_hold[s] |= purchase.gpus_per_unit.max(axis=0)[problem.month] > 0.0
    return np.asarray(allowed[:, :, problem.month] & can_hold[None, :, :], dtype=np.bool_)


def _late(problem: Problem) -> tuple[IntArray, IntArray]:
    """Return where work may be put off: not at the end of the last month, and not where it never may."""
    rows = [row for row, work in enumerate(problem.deferrable) if work.most_months_late > 0]
    month = np.arange(problem.months - 1, dtype=np.int64)
    return np.repeat(np.array(rows, dtype=np.int64), len(month)), np.tile(month, len(rows))


def cost_of(problem: Problem, columns: Columns) -> FloatArray:
    """Return the present value of one of each choice, the cost of being late included."""
    cost = np.zeros(columns.count)
    for s, purchase in purchases(problem):
        mine = np.flatnonzero(columns.bought_option == s)
        cost[mine] = purchase.usd_per_unit[columns.bought_month[mine]]
    month = problem.month[columns.used_block]
    per_hour = problem.usd_per_use[columns.used_work, columns.used_option, month]
    cost[columns.used] = per_hour * problem.hours[columns.used_block]
    cost[columns.first_late : columns.first_undone] = late_usd(problem, columns)
    if problem.usd_unmet_per_gpu_hour is not None:
        per_block = problem.usd_unmet_per_gpu_hour[problem.month] * problem.hours
        per_month = problem.usd_unmet_per_gpu_hour
        cost[columns.first_undone : columns.first_crew] = np.concatenate(
            [np.tile(per_block, len(problem.urgent)), np.tile(per_month, len(problem.deferrable))]
        )
    cost[columns.first_crew : columns.first_switch] = 1.0
    return cost


def late_usd(problem: Problem, columns: Columns) -> FloatArray:
    """Return the cost of one GPU-hour late at each month's end, discounted to it."""
    rates = np.array([work.usd_late_per_gpu_hour_month for work in problem.deferrable])
    if not len(rates):
        return np.zeros(0)
    return np.asarray(rates[columns.late_work] * problem.end_factors[columns.late_month])


def upper_of(problem: Problem, columns: Columns) -> FloatArray:
    """Return the most of each choice: units of a month, work of the last months that may still be late."""
    upper = np.full(columns.count, np.inf)
    for s, purchase in purchases(problem):
        mine = np.flatnonzero(columns.bought_option == s)
        upper[mine] = purchase.most_per_month[columns.bought_month[mine]]
    for row, work in enumerate(problem.deferrable):
        mine = np.flatnonzero(columns.late_work == row)
        if len(mine):
            done = np.concatenate([[0.0], np.cumsum(work.gpu_hours)])
            month = columns.late_month[mine]
            oldest = np.maximum(month + 1 - work.most_months_late, 0)
            upper[columns.first_late + mine] = done[month + 1] - done[oldest]
    upper[columns.first_switch :] = 1.0
    return upper


def whole_of(problem: Problem, columns: Columns) -> BoolArray:
    """Return which choices are whole numbers: units sold whole, and whether there is a crew."""
    whole = np.zeros(columns.count, dtype=np.bool_)
    for s, purchase in purchases(problem):
        whole[np.flatnonzero(columns.bought_option == s)] = purchase.whole
    whole[columns.first_switch :] = True
    return whole
