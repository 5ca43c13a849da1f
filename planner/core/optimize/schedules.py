"""The next best schedule of purchases: how flat the optimum is."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.program import Bounds, Program
from planner.core.optimize.solve import Built, Solution, solution_of
from planner.core.optimize.solver import DEFAULT, Effort, solve_program

# stands for "any number of units" beside a schedule that has fewer
MOST_UNITS = 1000.0


def next_best_schedule(solution: Solution, effort: Effort = DEFAULT) -> Solution | None:
    """Return the cheapest plan whose whole purchases differ in at least one unit; None where there is none.

    A cut on the distance of both schedules: y - above + below = y*, sum of above + below >= 1, with a binary
    per purchase so that only one of the two is above 0.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import solve
    >>> other = next_best_schedule(solve(two_months()))
    >>> other.units[1].tolist(), round(other.objective, 2)
    ([1.0, 0.0], 5110.0)
    """
    built = solution.built
    whole = np.flatnonzero(built.program.whole[: built.columns.first_held])
    if not solution.is_found or not len(whole):
        return None
    found = solve_program(_apart(built, solution.answer.x, whole), effort)
    if not found.is_found:
        return None
    lower, upper = built.program.lower.copy(), built.program.upper.copy()
    lower[whole] = upper[whole] = np.round(found.x[whole])
    other = solution_of(replace(built, program=replace(built.program, lower=lower, upper=upper)), effort)
    return other if other.is_found else None


def _apart(built: Built, best: FloatArray, whole: IntArray) -> Program:
    program, n = built.program, len(whole)
    chosen = np.round(best[whole])
    most = np.minimum(program.upper[whole], MOST_UNITS)
    wider = program
    for upper, is_whole in ((most, False), (chosen, False), (np.ones(n), True)):
        wider = wider.with_columns(
            sparse.csc_array((len(program.row_lower), n)), np.zeros(n), upper, is_whole
        )
    first = program.columns
    above, below, switch = (first + k * n + np.arange(n) for k in range(3))
    unit, ones = np.arange(n), np.ones(n)
    entries = [
        (unit, whole, ones), (unit, above, -ones), (unit, below, ones),  # y - above + below = y*
        (n + unit, above, ones), (n + unit, switch, -most),  # above <= most * switch
        (2 * n + unit, below, ones), (2 * n + unit, switch, chosen),  # below <= y* * (1 - switch)
        (np.full(n, 3 * n), above, ones), (np.full(n, 3 * n), below, ones),  # their sum is at least one unit
    ]  # fmt: skip
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    rows = sparse.csr_array((value, (row, column)), shape=(3 * n + 1, wider.columns))
    lower = np.concatenate([chosen, np.full(2 * n, -np.inf), [1.0]])
    return wider.with_rows(rows, Bounds(lower, np.concatenate([chosen, np.zeros(n), chosen, [np.inf]])))
