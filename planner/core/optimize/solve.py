"""Problem in, Solution out."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.optimize.columns import Columns, columns_of, cost_of, late_usd, upper_of, whole_of
from planner.core.optimize.limit_rows import limit_rows
from planner.core.optimize.problem import Problem
from planner.core.optimize.program import Bounds, Program, Rows, stacked
from planner.core.optimize.rows import core_rows
from planner.core.optimize.solver import DEFAULT, Answer, Effort, Solver, Status, solve_program
from planner.core.ranges import AT_LEAST_0, takes


@dataclass(frozen=True)
class Built:
    """A problem with its program: where the columns stand, which rows are what."""

    problem: Problem
    columns: Columns
    program: Program
    rows: tuple[Rows, ...]
    places: dict[str, slice]

    def row_labels(self, kind: str) -> Rows | None:
        """Return the rows of one kind, None where there are none."""
        return next((rows for rows in self.rows if rows.kind == kind), None)


def build(problem: Problem) -> Built:
    """Return the program of a problem, in sparse arrays built whole.

    >>> from planner.core.optimize.examples import two_months
    >>> build(two_months()).program.matrix.shape
    (14, 11)
    """
    columns = columns_of(problem)
    parts = core_rows(problem, columns) + limit_rows(problem, columns)
    matrix, lower, upper, places = stacked(parts, columns.count)
    crew = problem.crew
    least = np.zeros(columns.count)
    if crew is not None:
        least[columns.first_crew : columns.first_switch] = crew.standing_minimum_usd
    program = Program(
        cost=cost_of(problem, columns),
        lower=least,
        upper=upper_of(problem, columns),
        whole=whole_of(problem, columns),
        matrix=matrix,
        row_lower=lower,
        row_upper=upper,
        # an unknown amount that is paid in any case cannot change the choice
        constant=0.0 if math.isnan(problem.fixed_usd) else problem.fixed_usd,
    )
    return Built(problem, columns, program, tuple(parts), places)


@dataclass(frozen=True)
class Solution:
    """The least-cost mix. Arrays are empty where `is_found` is False.

    objective: present value with the cost of being late (late_usd) and of work left undone (undone_usd);
    usd is the money alone; all NaN where a price that is paid in any case is unknown. bound: no plan costs
    less. gap: (objective - bound) / |objective|.
    units: bought by (option, month). gpus: paid GPUs in use by (work, option, block). held: GPUs of
    bought units by (option, month). late_gpu_hours: put off past each month's end, by
    (deferrable work, month).
    undone_gpus by (urgent work, block) and undone_gpu_hours by (deferrable work, month).
    not_weighed: options left out because a price of theirs is unknown.
    """

    status: Status
    objective: float
    bound: float
    gap: float
    usd: float
    late_usd: float
    undone_usd: float
    units: FloatArray
    held: FloatArray
    gpus: FloatArray
    late_gpu_hours: FloatArray
    undone_gpus: FloatArray
    undone_gpu_hours: FloatArray
    not_weighed: tuple[str, ...]
    built: Built
    answer: Answer  # of the linear program in which the whole numbers are fixed: its duals are prices

    @property
    def is_found(self) -> bool:
        """Return whether there is a plan at all."""
        return self.answer.is_found

    @property
    def problem(self) -> Problem:
        """Return what was solved."""
        return self.built.problem

    @property
    def known_objective(self) -> float:
        """Return the objective without what is paid in any case and unknown."""
        program = self.built.program
        return float(program.cost[: self.built.columns.count] @ self.answer.x) + program.constant

    @cached_property
    def paid_gpu_hours(self) -> FloatArray:
        """Return paid GPU-hours by (option, month)."""
        problem = self.problem
        by_block = self.gpus.sum(axis=0) * problem.hours
        starts = np.searchsorted(problem.month, np.arange(problem.months))
        return np.asarray(np.add.reduceat(by_block, starts, axis=1))


def solve(problem: Problem, effort: Effort = DEFAULT) -> Solution:
    """Return the least-cost mix of a problem.

    Whole units make it a mixed-integer program. Once they are found they are fixed and the linear program
    that is left is solved again: it gives the exact use and the prices of the limits. A search that is
    stopped gives the best mix so far, with its bound. Formulation: docs/model.md.

    >>> from planner.core.optimize.examples import two_months
    >>> found = solve(two_months())
    >>> round(found.objective, 2), found.units.tolist()
    (4380.0, [[0.0, 0.0], [2.0, 0.0]])
    """
    return solution_of(build(problem), effort)


def solution_of(built: Built, effort: Effort = DEFAULT) -> Solution:
    """Return the least-cost mix of a problem whose program is already built, or was changed."""
    first = solve_program(built.program, effort)
    if not first.is_found or not built.program.whole.any():
        return read_solution(built, first, first)
    fixed = solve_program(built.program.fixed(first.x))
    # with numbers rounded from within the solver's tolerance the rest may just miss a bound
    return read_solution(built, first, fixed if fixed.is_found else first)


def relaxation(problem: Problem) -> Answer:
    """Return the linear relaxation: servers by the part. Its objective is a bound on every plan's cost.

    >>> from planner.core.optimize.examples import two_months
    >>> round(relaxation(two_months()).objective, 2)
    4380.0
    """
    return solve_program(build(problem).program.relaxed())


@takes(units=AT_LEAST_0)
def total_with_units(problem: Problem, units: FloatArray) -> float:
    """Return the least cost when the purchases are given by (option, month); infinite where they cannot do.

    >>> from planner.core.optimize.examples import two_months
    >>> round(total_with_units(two_months(), np.zeros((2, 2))), 2)
    8760.0
    """
    built = build(problem)
    columns = built.columns
    bought = units[columns.bought_option, columns.bought_month]
    lower, upper = built.program.lower.copy(), built.program.upper.copy()
    lower[: len(bought)], upper[: len(bought)] = bought, bought
    return solve_program(replace(built.program, lower=lower, upper=upper)).objective


class WarmProblem:
    """A problem kept in the solver without whole numbers: the next total starts from the last one's basis.

    >>> from planner.core.optimize.examples import two_months
    >>> round(WarmProblem(two_months()).total(), 2)
    4380.0
    """

    def __init__(self, problem: Problem) -> None:
        self.built = build(problem)
        self._solver = Solver(self.built.program.relaxed())

    def total(self) -> float:
        """Return the least cost of the linear relaxation, infinite where there is no plan."""
        return self._solver.run().objective

    def total_with(self, problem: Problem) -> float:
        """Return the least cost after prices or demand have moved; what is allowed must have stayed."""
        other = build(problem)
        mine, program = self.built.program, other.program
        if program.matrix.shape != mine.matrix.shape or abs(program.matrix - mine.matrix).sum() > 0.0:
            raise ValueError("the problem is another one; right would be the same options, hours and limits")
        self._solver.change_costs(program.cost)
        moved = np.flatnonzero((program.row_lower != mine.row_lower) | (program.row_upper != mine.row_upper))
        self._solver.change_rows(moved, Bounds(program.row_lower[moved], program.row_upper[moved]))
        every = np.arange(program.columns)
        self._solver.change_columns(every, Bounds(program.lower, program.upper))
        self.built = other
        return self.total()


def read_solution(built: Built, searched: Answer, exact: Answer) -> Solution:
    """Return the solution that an answer stands for: bounds from the search, choices from the exact one."""
    problem, columns = built.problem, built.columns
    left_out = tuple(option.name for option in problem.options if not option.is_priced)
    if not exact.is_found:
        nothing = np.zeros((0, 0))
        return Solution(
            searched.status, math.inf, searched.bound, math.inf, math.inf, 0.0, 0.0,
            nothing, nothing, nothing, nothing, nothing, nothing, left_out, built, exact,
        )  # fmt: skip
    # what lies below zero is the solver's tolerance
    x = np.maximum(exact.x[: columns.count], 0.0)
    exact = replace(exact, x=x)
    late = x[columns.first_late : columns.first_undone]
    undone = x[columns.first_undone : columns.first_crew]
    late_money = float(late @ late_usd(problem, columns))
    undone_money = float(undone @ built.program.cost[columns.first_undone : columns.first_crew])
    known = float(built.program.cost[: columns.count] @ x) + built.program.constant
    objective = math.nan if math.isnan(problem.fixed_usd) else known
    bound = min(searched.bound, known)
    urgent = len(problem.urgent) * problem.blocks
    return Solution(
        status=searched.status,
        objective=objective,
        bound=bound if objective == known else math.nan,
        gap=replace(exact, objective=known, bound=bound).gap,
        usd=objective - late_money - undone_money,
        late_usd=late_money,
        undone_usd=undone_money,
        units=_units(built, x),
        held=_held(built, x),
        gpus=_gpus(built, x),
        late_gpu_hours=_late(built, late),
        undone_gpus=_table(undone[:urgent], len(problem.urgent), problem.blocks),
        undone_gpu_hours=_table(undone[urgent:], len(problem.deferrable), problem.months),
        not_weighed=left_out,
        built=built,
        answer=exact,
    )


def _units(built: Built, x: FloatArray) -> FloatArray:
    columns = built.columns
    units = np.zeros((len(built.problem.options), columns.months))
    bought = x[: columns.first_held]
    whole = built.program.whole[: columns.first_held]
    units[columns.bought_option, columns.bought_month] = np.where(whole, np.round(bought), bought)
    return units


def _held(built: Built, x: FloatArray) -> FloatArray:
    columns = built.columns
    held = np.zeros((len(built.problem.options), columns.months))
    held[columns.held_option] = x[columns.first_held : columns.first_used].reshape(-1, columns.months)
    return held


def _gpus(built: Built, x: FloatArray) -> FloatArray:
    problem, columns = built.problem, built.columns
    gpus = np.zeros((len(problem.work_names), len(problem.options), problem.blocks))
    gpus[columns.used_work, columns.used_option, columns.used_block] = x[columns.used]
    return gpus


def _late(built: Built, late: FloatArray) -> FloatArray:
    columns = built.columns
    table = np.zeros((len(built.problem.deferrable), columns.months))
    table[columns.late_work, columns.late_month] = late
    return table


def _table(values: FloatArray, rows: int, width: int) -> FloatArray:
    return values.reshape(rows, width) if len(values) else np.zeros((rows, width))
