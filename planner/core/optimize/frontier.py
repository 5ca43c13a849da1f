"""What security costs: the least cost for each share of critical demand that a lost supplier must leave."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.optimize.limit_rows import coverage_floor
from planner.core.optimize.problem import Problem
from planner.core.optimize.program import Bounds
from planner.core.optimize.solve import Built, build, read_solution
from planner.core.optimize.solver import DEFAULT, Answer, Effort, Solver
from planner.core.ranges import SHARE, takes


@dataclass(frozen=True)
class Point:
    """One plan of the frontier. `usd` and `units` (option, month) are None where it cannot be had."""

    coverage: float
    usd: float | None
    bound: float
    units: FloatArray | None


@takes(coverages=SHARE)
def coverage_frontier(
    problem: Problem, coverages: Sequence[float], effort: Effort = DEFAULT, by_the_part: bool = False
) -> tuple[Point, ...]:
    """Return the least cost at each coverage, in the order given.

    The model stays in the solver; only the bounds of the coverage rows move. `by_the_part` solves the linear
    relaxation, each time from the last basis: a lower bound of the frontier in a fraction of the time.

    >>> from planner.core.optimize.examples import two_months
    >>> points = coverage_frontier(two_months(quota_gpus=1.0), [0.0, 0.5, 1.0])
    >>> [point.usd for point in points]
    [4380.0, 4380.0, None]
    """
    least = min(coverages, default=0.0)
    built = build(replace(problem, limits=replace(problem.limits, least_coverage=least)))
    program = built.program.relaxed() if by_the_part else built.program
    solver, place = Solver(program), built.places["coverage"]
    rows = np.arange(place.start, place.stop)
    points = []
    for share in coverages:
        solver.change_rows(rows, Bounds(coverage_floor(problem, share), np.full(len(rows), np.inf)))
        points.append(_point(built, share, solver.run(effort)))
    return tuple(points)


def _point(built: Built, share: float, answer: Answer) -> Point:
    if not answer.is_found:
        return Point(share, None, answer.bound, None)
    found = read_solution(built, answer, answer)
    return Point(share, found.objective, found.bound, found.units)
