"""Near-optimal plans: optima are flat, so a little more money often buys fewer suppliers or less capital."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from planner.core.calendar import FloatArray
from planner.core.optimize.columns import purchases
from planner.core.optimize.program import Bounds, Program
from planner.core.optimize.reasons import LEAST_GPUS
from planner.core.optimize.solve import Built, Solution, solution_of, solve
from planner.core.optimize.solver import DEFAULT, Effort, solve_program
from planner.core.ranges import Range, takes

EXTRA = Range(0.0, 1.0)
# a supplier weighs more than all the extra money that may be spent
SUPPLIER_WEIGHT = 2.0


@dataclass(frozen=True)
class Alternative:
    """Another plan: what it is better at, how much dearer it is as a share, and both in words."""

    solution: Solution
    suppliers: tuple[str, ...]
    capex_usd: float
    dearer_share: float
    sentence: str


def suppliers_used(solution: Solution) -> tuple[str, ...]:
    """Return who supplies a plan: providers, and options that name none, in order of name.

    >>> from planner.core.optimize.examples import two_months
    >>> suppliers_used(solve(two_months()))
    ('B',)
    """
    used = set()
    for s, option in enumerate(solution.problem.options):
        if max(solution.gpus[:, s].max(initial=0.0), solution.units[s].max(initial=0.0)) > LEAST_GPUS:
            used.add(option.supplier)
    return tuple(sorted(used))


def capex_of(solution: Solution) -> float:
    """Return the undiscounted capital of a plan's purchases.

    >>> from planner.core.optimize.examples import two_months
    >>> capex_of(solve(two_months()))
    0.0
    """
    return 0.0 + sum(
        float(solution.units[s].sum()) * purchase.capex_usd_per_unit
        for s, purchase in purchases(solution.problem)
    )


@takes(extra_share=EXTRA)
def fewer_suppliers(
    solution: Solution, extra_share: float = 0.01, effort: Effort = DEFAULT
) -> Alternative | None:
    """Return the cheapest plan of the fewest suppliers that costs at most (1 + extra) times the best.

    None where the best has no more suppliers than that. One binary per supplier, a big M per supplier and
    month.

    >>> from planner.core.optimize.examples import two_months
    >>> fewer_suppliers(solve(two_months())) is None
    True
    """
    if not solution.is_found:
        return None
    built = solution.built
    names = sorted({option.supplier for option in built.problem.options})
    program = _with_switches(built, names, abs(solution.known_objective) * extra_share * SUPPLIER_WEIGHT)
    program = _below(program, built, _allowed(solution, extra_share))
    found = solve_program(program, effort)
    if not found.is_found:
        return None
    switch = found.x[built.columns.count :] > 0.5
    closed = {name for name, is_on in zip(names, switch.tolist(), strict=True) if not is_on}
    other = solution_of(_without(built, closed), effort)
    before, after = suppliers_used(solution), suppliers_used(other)
    if not other.is_found or len(after) >= len(before):
        return None
    gone = ", ".join(sorted(set(before) - set(after)))
    text = f"{len(after)} suppliers instead of {len(before)} (without {gone})"
    return _alternative(solution, other, text)


def _alternative(best: Solution, other: Solution, text: str) -> Alternative:
    best_usd = best.known_objective
    dearer = (other.known_objective - best_usd) / abs(best_usd) if best_usd else 0.0
    return Alternative(
        other, suppliers_used(other), capex_of(other), dearer, f"For {dearer:.2%} more: {text}."
    )


def _allowed(best: Solution, extra_share: float) -> float:
    usd = best.known_objective
    return usd + abs(usd) * extra_share


def _with_switches(built: Built, names: list[str], usd: float) -> Program:
    """Return the program with one binary per supplier that costs `usd` and opens its options."""
    problem, columns = built.problem, built.columns
    of_option = np.array([names.index(option.supplier) for option in problem.options])
    months, count = problem.months, columns.count
    block = columns.used_block
    use_row = of_option[columns.used_option] * months + problem.month[block]
    most = _most_hours(built)
    buy_row = len(names) * months + np.arange(columns.first_held)
    row = np.concatenate([use_row, np.arange(len(names) * months), buy_row, buy_row])
    column = np.concatenate(
        [
            columns.first_used + np.arange(len(block)),
            count + np.repeat(np.arange(len(names)), months),
            np.arange(columns.first_held),
            count + of_option[columns.bought_option],
        ]
    )
    value = np.concatenate(
        [
            problem.hours[block] / problem.hours_of_month[problem.month[block]],
            -np.tile(most / problem.hours_of_month, len(names)),
            np.ones(columns.first_held),
            -_most_units(built, most),
        ]
    )
    rows = len(names) * months + columns.first_held
    matrix = sparse.csr_array((value, (row, column)), shape=(rows, count + len(names)))
    nothing = sparse.csc_array((len(built.program.row_lower), len(names)))
    wider = built.program.with_columns(nothing, np.full(len(names), usd), np.ones(len(names)), whole=True)
    return wider.with_rows(matrix, Bounds(np.full(rows, -np.inf), np.zeros(rows)))


def _most_hours(built: Built) -> FloatArray:
    """Return more paid GPU-hours than a month can want of one supplier."""
    problem = built.problem
    useful = problem.useful_per_paid
    least = np.where(useful > 0.0, useful, np.inf).min(axis=(1, 2))
    least = np.where(np.isfinite(least), least, 1.0)
    most = np.zeros(problem.months)
    for k, work in enumerate(problem.urgent):
        most += np.bincount(problem.month, weights=work.gpus * problem.hours) / least[k]
    for k, late in enumerate(problem.deferrable):
        carried = np.cumsum(late.gpu_hours) if late.most_months_late else late.gpu_hours
        most += carried / least[len(problem.urgent) + k]
    return most


def _most_units(built: Built, most_hours: FloatArray) -> FloatArray:
    """Return more units than can be of use: twice what the largest month wants."""
    problem, columns = built.problem, built.columns
    upper = built.program.upper[: columns.first_held]
    size = np.ones(columns.first_held)
    for s, purchase in purchases(problem):
        largest = float(purchase.gpus_per_unit.max(initial=0.0))
        size[columns.bought_option == s] = largest if largest > 0.0 else 1.0
    busiest = max([float(work.gpus.max()) for work in problem.urgent] + [0.0])
    wanted = 2.0 * (
        busiest * max(len(problem.urgent), 1) + float((most_hours / problem.hours_of_month).max())
    )
    return np.asarray(np.minimum(upper, np.ceil(wanted / size) + 1.0))


def _below(program: Program, built: Built, usd: float) -> Program:
    """Return the program with its cost, switches apart, at most `usd`."""
    cost = np.zeros(program.columns)
    cost[: built.columns.count] = built.program.cost
    row = sparse.csr_array(cost[None, :])
    return program.with_rows(row, Bounds(np.array([-np.inf]), np.array([usd - program.constant])))


def _without(built: Built, closed: set[str]) -> Built:
    """Return the same problem in which some suppliers give nothing."""
    columns, problem = built.columns, built.problem
    is_closed = np.array([option.supplier in closed for option in problem.options])
    upper = built.program.upper.copy()
    upper[: columns.first_held][is_closed[columns.bought_option]] = 0.0
    upper[columns.used][is_closed[columns.used_option]] = 0.0
    return replace(built, program=replace(built.program, upper=upper))


@takes(extra_share=EXTRA)
def less_capex(solution: Solution, extra_share: float = 0.01, effort: Effort = DEFAULT) -> Alternative | None:
    """Return the cheapest plan of the least capital that costs at most (1 + extra) times the best.

    None where the best has no capital, or no less will do.

    >>> from planner.core.optimize.examples import two_months
    >>> less_capex(solve(two_months())) is None
    True
    """
    if not solution.is_found or capex_of(solution) == 0.0:
        return None
    built, problem = solution.built, solution.problem
    capex = np.zeros(built.columns.count)
    for s, purchase in purchases(problem):
        capex[np.flatnonzero(built.columns.bought_option == s)] = purchase.capex_usd_per_unit
    dear = _below(built.program, built, _allowed(solution, extra_share))
    found = solve_program(replace(dear, cost=capex, constant=0.0), effort)
    if not found.is_found:
        return None
    least = max(found.objective, 0.0) * (1.0 + 1e-9)
    if least >= capex_of(solution) * (1.0 - 1e-6):
        return None
    other = solve(replace(problem, limits=replace(problem.limits, capex_budget_usd=least)), effort)
    if not other.is_found:
        return None
    text = f"${capex_of(other):,.0f} of capital instead of ${capex_of(solution):,.0f}"
    return _alternative(solution, other, text)


@takes(extra_share=EXTRA)
def near_optimal(
    solution: Solution, extra_share: float = 0.01, effort: Effort = DEFAULT
) -> tuple[Alternative, ...]:
    """Return what a little more money buys: fewer suppliers, less capital, as far as there is such a plan.

    >>> from planner.core.optimize.examples import two_months
    >>> near_optimal(solve(two_months()))
    ()
    """
    found = (fewer_suppliers(solution, extra_share, effort), less_capex(solution, extra_share, effort))
    return tuple(each for each in found if each is not None)
