"""Why an option that could have been taken was not."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.problem import Option
from planner.core.optimize.program import Bounds, Program
from planner.core.optimize.solve import Built, Solution
from planner.core.optimize.solver import Solver

# use below this is the solver's tolerance
LEAST_GPUS = 1e-6
LEAST_USD = 1e-6
# so few discounted GPU-hours are forced on an option to learn what they cost
FORCED_GPU_HOURS = 1.0


@dataclass(frozen=True)
class Lost:
    """Why an option is not used.

    `usd_per_gpu_hour` is how much cheaper it would have to be, None where that is not the reason. It is
    levelized: present value / discounted GPU-hours.
    """

    option: str
    usd_per_gpu_hour: float | None
    sentence: str


def lost_options(solution: Solution) -> tuple[Lost, ...]:
    """Return every option that is neither bought nor used, with the reason.

    The price cut: what one more discounted GPU-hour on the option, rented or bought, adds to the cost of the
    linear relaxation, in which purchases give way too. It is the dual of a row that forces that hour. Where
    the relaxation takes some of it anyway, rented options are weighed against the purchases as they are.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import solve
    >>> [each.sentence for each in lost_options(solve(two_months()))]
    ['On demand: $1.00 per GPU-hour dearer than what it would replace (first in month 1, block 1).']
    """
    if not solution.is_found:
        return ()
    lost = [
        s
        for s in range(len(solution.problem.options))
        if solution.gpus[:, s].max(initial=0.0) <= LEAST_GPUS
        and solution.units[s].max(initial=0.0) <= LEAST_GPUS
    ]
    judge = _Judge(solution, lost)
    return tuple(judge.why(s) for s in lost)


@dataclass(frozen=True)
class _Weighed:
    """The columns of an option, with the discounted GPU-hours of one of each."""

    column: IntArray
    gpu_hours: FloatArray


class _Judge:
    """Weighs lost options one after the other in a solver that stays warm."""

    def __init__(self, solution: Solution, lost: list[int]) -> None:
        self.solution = solution
        self.problem = solution.problem
        self.columns = {s: _weighed(solution.built, s) for s in lost}
        self.place = {s: i for i, s in enumerate(lost)}
        self.relaxed = self._forcing(solution.built.program.relaxed())
        self.fixed: Solver | None = None

    def _forcing(self, program: Program) -> Solver:
        """Return a solver with a row per lost option, not yet in force."""
        count = len(self.columns)
        matrix = sparse.lil_array((count, program.columns))
        for i, weighed in enumerate(self.columns.values()):
            matrix[i, weighed.column] = weighed.gpu_hours
        endless = np.full(count, np.inf)
        return Solver(program.with_rows(sparse.csr_array(matrix), Bounds(-endless, endless)))

    def why(self, s: int) -> Lost:
        """Return why one option is not used."""
        option = self.problem.options[s]
        refusal = self._not_a_matter_of_price(s, option)
        if refusal:
            return Lost(option.name, None, f"{option.name}: {refusal}.")
        dearer, where = self._cost_of_one_hour(self.relaxed, s)
        if dearer is None:
            return Lost(option.name, None, f"{option.name}: the limits leave no room for it.")
        if dearer > LEAST_USD:
            return Lost(option.name, dearer, self._dearer(option, dearer, where))
        if option.purchase is not None:
            text = f"{option.name}: a part of one {option.purchase.unit} would pay, a whole one does not."
            return Lost(option.name, 0.0, text)
        return self._against_purchases(option, s)

    def _against_purchases(self, option: Option, s: int) -> Lost:
        if self.fixed is None:
            self.fixed = self._forcing(self.solution.built.program.fixed(self.solution.answer.x))
        dearer, where = self._cost_of_one_hour(self.fixed, s)
        if dearer is None or dearer <= LEAST_USD:
            return Lost(option.name, 0.0, f"{option.name}: no dearer; an equally cheap plan uses it.")
        return Lost(option.name, dearer, self._dearer(option, dearer, where))

    def _dearer(self, option: Option, dearer: float, where: str) -> str:
        price = f"${dearer:,.2f} per GPU-hour dearer"
        return f"{option.name}: {price} than what it would replace (first in {where})."

    def _not_a_matter_of_price(self, s: int, option: Option) -> str:
        if not option.is_priced:
            return "not weighed, its price is unknown"
        if not (self.problem.useful_per_paid[:, s] > 0.0).any():
            return _shut(self.problem.reasons, option)
        if len(self.columns[s].column):
            return ""
        if option.purchase is None:
            return "its quota holds no whole instance in any month in which it may be used"
        if option.kind == "owned":
            return "none may be bought, or none would be in service within the plan"
        return "no term fits into the plan"

    def _cost_of_one_hour(self, solver: Solver, s: int) -> tuple[float | None, str]:
        row = np.array([len(self.solution.built.program.row_lower) + self.place[s]])
        endless = np.array([np.inf])
        solver.change_rows(row, Bounds(np.array([FORCED_GPU_HOURS]), endless))
        answer = solver.run()
        solver.change_rows(row, Bounds(-endless, endless))
        if not answer.is_found:
            return None, ""
        column = self.columns[s].column
        used = answer.x[column] * self.columns[s].gpu_hours
        return max(float(answer.row_dual[row[0]]), 0.0), self._where(int(column[int(np.argmax(used))]))

    def _where(self, column: int) -> str:
        columns = self.solution.built.columns
        if column < columns.first_held:
            return f"month {int(columns.bought_month[column]) + 1}"
        return self.problem.block_words(int(columns.used_block[column - columns.first_used]))


def _weighed(built: Built, s: int) -> _Weighed:
    problem, columns = built.problem, built.columns
    purchase = problem.options[s].purchase
    if purchase is not None:
        mine = np.flatnonzero(columns.bought_option == s)
        gives = purchase.gpus_per_unit[columns.bought_month[mine]]
        hours = gives @ (problem.hours_of_month * problem.end_factors)
        return _Weighed(mine[hours > 0.0], hours[hours > 0.0])
    mine = np.flatnonzero(columns.used_option == s)
    block = columns.used_block[mine]
    return _Weighed(
        columns.first_used + mine, problem.hours[block] * problem.end_factors[problem.month[block]]
    )


def _shut(reasons: Mapping[tuple[str, str], str], option: Option) -> str:
    found = [f"{reason} ({work})" for (work, name), reason in reasons.items() if name == option.name]
    return "; ".join(found) or "may serve none of the work"
