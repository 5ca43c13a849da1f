"""Why nothing fits: where how many GPUs are short, and which limits conflict.

An elastic program first: demand may go unserved at a penalty, and the least of it is found. Then a deletion
filter: limits are dropped one by one, those whose loss changes nothing for good; what is left is a conflict
in which every limit counts. A search cut short by `effort` counts as no plan found.
Source: J. W. Chinneck, Feasibility and Infeasibility in Optimization (2008).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.problem import Problem
from planner.core.optimize.program import Bounds, Program
from planner.core.optimize.solve import Built, build
from planner.core.optimize.solver import DEFAULT, Answer, Effort, Solver, solve_program
from planner.core.ranges import COUNT_FROM_1, takes

# less than this is the solver's tolerance
LEAST = 1e-6
UNITS = {"capacity": "GPUs", "capex": "dollars", "cash": "dollars", "power": "kW", "coverage": "GPUs"}


@dataclass(frozen=True)
class Shortage:
    """GPUs missing in one block (urgent work) or GPU-hours missing in one month (deferrable)."""

    work: str
    month: int
    where: str
    gpus: float
    gpu_hours: float


@dataclass(frozen=True)
class Ease:
    """How far one limit alone would have to give way; None where that alone does not help.

    `amount` is in `unit`; shares have no amount of their own, only that easing them would do.
    """

    limit: str
    amount: float | None
    unit: str
    sentence: str


@dataclass(frozen=True)
class Conflict:
    """Limits that cannot hold together, what is short, and what would help. `limits` is irreducible."""

    limits: tuple[str, ...]
    shortages: tuple[Shortage, ...]  # the worst first
    short_gpu_hours: float
    eases: tuple[Ease, ...]
    sentence: str


def conflict_of(problem: Problem, effort: Effort = DEFAULT) -> Conflict | None:
    """Return why a problem has no plan, None where it has one.

    >>> from planner.core.optimize.examples import two_months
    >>> conflict_of(two_months(quota_gpus=1.0, most_provider_share=0.4)).sentence
    'Month 1, block 1: 2.0 GPUs short of serving. In conflict: share of provider A, share of provider B.'
    >>> conflict_of(two_months()) is None
    True
    """
    built = build(replace(problem, usd_unmet_per_gpu_hour=None))
    test = _Feasibility(built.program, effort)
    if test.holds():
        return None
    shortages, total = _shortages(built, built.program, effort)
    limits = _irreducible(built, test)
    eases = tuple(_ease(built, built.program, name, effort) for name in limits)
    return Conflict(limits, shortages, total, eases, _sentence(shortages, limits))


class _Feasibility:
    """Says whether any plan fits, without looking at cost; rows can be dropped and put back.

    The linear relaxation is asked first: where it has no plan, whole units have none, and it is quick.
    """

    def __init__(self, program: Program, effort: Effort) -> None:
        free = replace(program, cost=np.zeros(program.columns), constant=0.0)
        self.program = program
        self.effort = effort
        self.solvers = [Solver(free.relaxed())] + ([Solver(free)] if program.whole.any() else [])

    def holds(self) -> bool:
        """Return whether some plan keeps all rows that are in force."""
        return all(solver.run(self.effort).is_found for solver in self.solvers)

    def drop(self, rows: IntArray) -> None:
        """Take rows out of force."""
        endless = np.full(len(rows), np.inf)
        for solver in self.solvers:
            solver.change_rows(rows, Bounds(-endless, endless))

    def put_back(self, rows: IntArray) -> None:
        """Put rows back into force."""
        for solver in self.solvers:
            solver.change_rows(rows, Bounds(self.program.row_lower[rows], self.program.row_upper[rows]))


def _shortages(built: Built, program: Program, effort: Effort) -> tuple[tuple[Shortage, ...], float]:
    """Return the least GPU-hours that must go unserved with every limit kept, and where they are."""
    problem = built.problem
    urgent, deferrable = built.places["urgent"], built.places["deferrable"]
    rows = np.r_[urgent, deferrable]
    hours = np.concatenate([np.tile(problem.hours, len(problem.urgent)), np.ones(len(rows))])[: len(rows)]
    shape = (len(program.row_lower), len(rows))
    slack = sparse.csc_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=shape)
    free = replace(program, cost=np.zeros(program.columns), constant=0.0)
    found = solve_program(free.with_columns(slack, hours, np.full(len(rows), np.inf)), effort)
    if not found.is_found:
        return (), float("inf")  # some limit cannot hold even with nothing served
    short = found.x[program.columns :]
    places = np.flatnonzero(short > LEAST)
    worst = sorted((_shortage(problem, int(place), float(short[place])) for place in places), key=_size)
    return tuple(worst), float(short @ hours)


def _size(shortage: Shortage) -> tuple[float, int]:
    return -shortage.gpus, shortage.month


def _shortage(problem: Problem, place: int, amount: float) -> Shortage:
    urgent = len(problem.urgent) * problem.blocks
    if place < urgent:
        block = place % problem.blocks
        name = problem.urgent[place // problem.blocks].name
        month = int(problem.month[block])
        return Shortage(name, month, problem.block_words(block), amount, amount * float(problem.hours[block]))
    row, month = divmod(place - urgent, problem.months)
    gpus = amount / float(problem.hours_of_month[month])
    return Shortage(problem.deferrable[row].name, month, f"month {month + 1}", gpus, amount)


def _irreducible(built: Built, test: _Feasibility) -> tuple[str, ...]:
    """Return limits that conflict, none of which can be left out of the conflict."""
    kept = []
    for name in dict.fromkeys(name for rows in built.rows for name in rows.limit if name):
        place = _rows_named(built, name)
        test.drop(place)
        if test.holds():
            test.put_back(place)
            kept.append(name)
    return tuple(kept)


def _rows_named(built: Built, name: str) -> IntArray:
    places = [
        built.places[rows.kind].start + np.flatnonzero(np.array(rows.limit) == name)
        for rows in built.rows
        if name in rows.limit
    ]
    return np.concatenate(places)


def _ease(built: Built, program: Program, name: str, effort: Effort) -> Ease:
    """Return by how much one limit, with all others kept, would have to give way."""
    kind = next(rows.kind for rows in built.rows if name in rows.limit)
    place = _rows_named(built, name)
    # an upper row gives way downwards, a lower one upwards
    sign = np.where(np.isfinite(program.row_upper[place]), -1.0, 1.0)
    shape = (len(program.row_lower), 1)
    slack = sparse.csc_array((sign, (place, np.zeros(len(place), dtype=np.int64))), shape=shape)
    free = replace(program, cost=np.zeros(program.columns), constant=0.0)
    found = solve_program(free.with_columns(slack, np.ones(1), np.full(1, np.inf)), effort)
    if not found.is_found:
        return Ease(name, None, "", f"{name}: easing it alone does not help")
    return _ease_in_words(name, kind, found)


def _ease_in_words(name: str, kind: str, found: Answer) -> Ease:
    amount = float(found.x[-1])
    unit = UNITS.get(kind, "")
    if not unit:
        return Ease(name, None, unit, f"{name}: easing it alone would do")
    if kind == "coverage":
        return Ease(name, amount, unit, f"{name}: {amount:,.1f} GPUs less to cover would do alone")
    return Ease(name, amount, unit, f"{name}: {amount:,.1f} {unit} more would do alone")


def _sentence(shortages: tuple[Shortage, ...], limits: tuple[str, ...]) -> str:
    if shortages:
        worst = shortages[0]
        start = f"{worst.where[0].upper()}{worst.where[1:]}: {worst.gpus:,.1f} GPUs short of {worst.work}. "
    else:
        start = ""
    if not limits:
        return f"{start}No option may serve this work."
    return f"{start}In conflict: {', '.join(limits)}."


@takes(months=COUNT_FROM_1)
def short_by_month(conflict: Conflict, months: int) -> FloatArray:
    """Return the GPU-hours short in each month.

    >>> short_by_month(Conflict((), (Shortage("a", 1, "month 2", 2.0, 10.0),), 10.0, (), ""), 3)
    array([ 0., 10.,  0.])
    """
    total = np.zeros(months)
    for shortage in conflict.shortages:
        total[shortage.month] += shortage.gpu_hours
    return total
