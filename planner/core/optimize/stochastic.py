"""Servers and commitments now, the rest when demand and prices are known: the two-stage form.

    minimise  (1 - weight) * E[cost_s] + weight * CVaR_alpha[cost_s]
    CVaR_alpha = min over eta of eta + E[max(0, cost_s - eta)] / (1 - alpha)

Purchases are the same in every scenario; use, deferral and what is left undone are each scenario's own.
Sources: Birge and Louveaux, Introduction to Stochastic Programming (2011), ch. 4; Rockafellar and
Uryasev (2000).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from planner.core.calendar import FloatArray
from planner.core.optimize.problem import DeferrableWork, Option, Problem, Work
from planner.core.optimize.program import Bounds, Program
from planner.core.optimize.solve import Built, build, total_with_units
from planner.core.optimize.solver import DEFAULT, Effort, Status, solve_program
from planner.core.ranges import (
    ANY,
    SHARE,
    SHARE_ABOVE_0,
    SHARE_BELOW_1,
    Range,
    endless,
    refuse,
    require_fields,
    takes,
)

FACTOR = Range(0.0, 1_000.0)
SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Scenario:
    """One future: its problem and how likely it is. Options, hours and limits are those of the others."""

    probability: float
    problem: Problem

    def __post_init__(self) -> None:
        require_fields(self, probability=SHARE_ABOVE_0)


@dataclass(frozen=True)
class StochasticSolution:
    """The purchases that do best on the whole: `units` by (option, month), None where none fit.

    `expected_usd` is the mean of `usd_by_scenario`; `cvar_usd` the mean of the worst (1 - alpha) share.
    """

    status: Status
    units: FloatArray | None
    expected_usd: float
    cvar_usd: float
    usd_by_scenario: FloatArray
    bound: float


@takes(cvar_weight=SHARE, alpha=SHARE_BELOW_1)
def solve_stochastic(
    scenarios: Sequence[Scenario], cvar_weight: float = 0.0, alpha: float = 0.9, effort: Effort = DEFAULT
) -> StochasticSolution:
    """Return the purchases with the least expected cost, or the least mix of mean and CVaR.

    The deterministic equivalent: one column per purchase, a block of rows and columns per scenario. Raises
    ValueError where probabilities do not add to 1 or the scenarios have other options.

    >>> from planner.core.optimize.examples import two_months
    >>> both = [Scenario(0.5, two_months()), Scenario(0.5, scaled_demand(two_months(), 2.0))]
    >>> found = solve_stochastic(both)
    >>> found.units[1].tolist(), round(found.expected_usd, 2)
    ([2.0, 0.0], 7300.0)
    """
    _check(scenarios)
    built = [build(each.problem) for each in scenarios]
    program = _equivalent(built, _probabilities(scenarios), cvar_weight, alpha)
    answer = solve_program(program, effort)
    if not answer.is_found:
        return StochasticSolution(answer.status, None, math.inf, math.inf, np.zeros(0), answer.bound)
    columns = built[0].columns
    bought = answer.x[: columns.first_held]
    units = np.zeros((len(built[0].problem.options), columns.months))
    is_whole = built[0].program.whole[: columns.first_held]
    units[columns.bought_option, columns.bought_month] = np.where(is_whole, np.round(bought), bought)
    usd = _costs(scenarios, units)
    return StochasticSolution(
        status=answer.status,
        units=units,
        expected_usd=float(_probabilities(scenarios) @ usd),
        cvar_usd=conditional_value_at_risk(usd, _probabilities(scenarios), alpha),
        usd_by_scenario=usd,
        bound=answer.bound,
    )


def _costs(scenarios: Sequence[Scenario], units: FloatArray) -> FloatArray:
    return np.array([total_with_units(each.problem, units) for each in scenarios])


def _probabilities(scenarios: Sequence[Scenario]) -> FloatArray:
    return np.array([each.probability for each in scenarios])


def _check(scenarios: Sequence[Scenario]) -> None:
    total = sum(each.probability for each in scenarios)
    if abs(total - 1.0) > SUM_TOLERANCE:
        refuse("sum of probabilities", total, "1")
    first = scenarios[0].problem
    for each in scenarios[1:]:
        names = [option.name for option in each.problem.options]
        if names != [option.name for option in first.options] or each.problem.months != first.months:
            refuse("options of a scenario", names, "the options and months of the first scenario")


def _equivalent(built: list[Built], probability: FloatArray, weight: float, alpha: float) -> Program:
    """Return one program: purchases, then each scenario's own columns, then eta and the excesses over it."""
    shared = built[0].columns.first_held
    own = [each.program.columns - shared for each in built]
    offset = shared + np.concatenate([[0], np.cumsum(own)])
    matrix = _block_matrix(built, shared)
    programs = [each.program for each in built]
    cost = np.concatenate(
        [sum(p * each.cost[:shared] for p, each in zip(probability, programs, strict=True))]
        + [p * each.cost[shared:] for p, each in zip(probability, programs, strict=True)]
    )
    joined = Program(
        cost=cost,
        lower=np.concatenate([programs[0].lower[:shared], *(each.lower[shared:] for each in programs)]),
        upper=np.concatenate([programs[0].upper[:shared], *(each.upper[shared:] for each in programs)]),
        whole=np.concatenate([programs[0].whole[:shared], *(each.whole[shared:] for each in programs)]),
        matrix=matrix,
        row_lower=np.concatenate([each.row_lower for each in programs]),
        row_upper=np.concatenate([each.row_upper for each in programs]),
        constant=float(probability @ [each.constant for each in programs]),
    )
    return joined if weight == 0.0 else _with_cvar(joined, programs, offset, probability, weight, alpha)


def _block_matrix(built: list[Built], shared: int) -> sparse.csc_array:
    left = sparse.vstack([each.program.matrix[:, :shared] for each in built], format="csc")
    right = sparse.block_diag([each.program.matrix[:, shared:] for each in built], format="csc")
    return sparse.csc_array(sparse.hstack([left, right], format="csc"))


def _with_cvar(
    joined: Program,
    programs: list[Program],
    offset: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    probability: FloatArray,
    weight: float,
    alpha: float,
) -> Program:
    """Add eta and one excess per scenario: cost_s - eta - excess_s <= 0, weighed in the objective."""
    count, shared = len(programs), int(offset[0])
    rows = sparse.lil_array((count, joined.columns + 1 + count))
    for s, program in enumerate(programs):
        rows[s, :shared] = program.cost[:shared]
        rows[s, offset[s] : offset[s + 1]] = program.cost[shared:]
        rows[s, joined.columns] = -1.0
        rows[s, joined.columns + 1 + s] = -1.0
    nothing = sparse.csc_array((len(joined.row_lower), 1 + count))
    extra = np.concatenate([[weight], weight * probability / (1.0 - alpha)])
    mean = replace(joined, cost=(1.0 - weight) * joined.cost, constant=(1.0 - weight) * joined.constant)
    wider = mean.with_columns(nothing, extra, np.full(1 + count, np.inf))
    # eta may be below zero, where a plan earns money
    wider.lower[joined.columns] = -np.inf
    upper = -np.array([program.constant for program in programs])
    return wider.with_rows(sparse.csr_array(rows), Bounds(np.full(count, -np.inf), upper))


@takes(usd=endless(ANY), probability=SHARE, alpha=SHARE_BELOW_1)
def conditional_value_at_risk(usd: FloatArray, probability: FloatArray, alpha: float) -> float:
    """Return the mean of the worst (1 - alpha) share of costs; `alpha` 0 is the plain mean.

    >>> round(conditional_value_at_risk(np.array([1.0, 2.0, 10.0]), np.array([0.5, 0.4, 0.1]), 0.8), 9)
    6.0
    """
    if not np.isfinite(usd).all():
        return math.inf
    order = np.argsort(-usd)
    before = np.concatenate([[0.0], np.cumsum(probability[order])[:-1]])
    taken = np.clip(1.0 - alpha - before, 0.0, probability[order])
    return float(taken @ usd[order] / (1.0 - alpha))


@dataclass(frozen=True)
class ValueOfInformation:
    """What knowing is worth, in expected costs of three plans: for the mean (EEV), for all futures (RP), and
    one for each future (WS: wait and see).

    EEV is infinite where the plan for the mean cannot serve some future; price work left undone then.
    """

    expected_of_mean_plan_usd: float
    stochastic_usd: float
    perfect_information_usd: float

    @property
    def value_of_stochastic_solution_usd(self) -> float:
        """Return EEV - RP, never below 0: what planning for the spread saves."""
        return self.expected_of_mean_plan_usd - self.stochastic_usd

    @property
    def value_of_perfect_information_usd(self) -> float:
        """Return RP - WS, never below 0: the most that a perfect forecast is worth."""
        return self.stochastic_usd - self.perfect_information_usd


def value_of_information(scenarios: Sequence[Scenario], effort: Effort = DEFAULT) -> ValueOfInformation:
    """Return EEV, RP and WS (Birge and Louveaux 2011, ch. 4).

    >>> from planner.core.optimize.examples import two_months
    >>> both = [Scenario(0.5, two_months()), Scenario(0.5, scaled_demand(two_months(), 2.0))]
    >>> found = value_of_information(both)
    >>> found.value_of_stochastic_solution_usd >= 0.0, found.value_of_perfect_information_usd
    (True, 730.0)
    """
    _check(scenarios)
    probability = _probabilities(scenarios)
    plan_for_mean = solve_stochastic([Scenario(1.0, mean_problem(scenarios))], effort=effort)
    best = [solve_stochastic([Scenario(1.0, each.problem)], effort=effort) for each in scenarios]
    expected = math.inf
    if plan_for_mean.units is not None:
        expected = float(probability @ _costs(scenarios, plan_for_mean.units))
    return ValueOfInformation(
        expected_of_mean_plan_usd=expected,
        stochastic_usd=solve_stochastic(scenarios, effort=effort).expected_usd,
        perfect_information_usd=float(probability @ [each.expected_usd for each in best]),
    )


def mean_problem(scenarios: Sequence[Scenario]) -> Problem:
    """Return the problem of mean demand and mean prices; all else is the first scenario's.

    >>> from planner.core.optimize.examples import two_months
    >>> both = [Scenario(0.5, two_months()), Scenario(0.5, scaled_demand(two_months(), 2.0))]
    >>> mean_problem(both).urgent[0].gpus
    array([3. , 1.5, 3. , 1.5])
    """
    first, weights = scenarios[0].problem, _probabilities(scenarios)

    def mean(values: list[FloatArray]) -> FloatArray:
        return np.asarray(np.tensordot(weights, np.array(values), axes=1))

    urgent = tuple(
        replace(work, gpus=mean([each.problem.urgent[k].gpus for each in scenarios]))
        for k, work in enumerate(first.urgent)
    )
    deferrable = tuple(
        replace(late, gpu_hours=mean([each.problem.deferrable[k].gpu_hours for each in scenarios]))
        for k, late in enumerate(first.deferrable)
    )
    options = tuple(
        replace(
            option, usd_per_gpu_hour=mean([each.problem.options[s].usd_per_gpu_hour for each in scenarios])
        )
        for s, option in enumerate(first.options)
    )
    return replace(first, urgent=urgent, deferrable=deferrable, options=options)


@takes(factor=FACTOR)
def scaled_demand(problem: Problem, factor: float) -> Problem:
    """Return the same problem with all demand times `factor`.

    >>> from planner.core.optimize.examples import two_months
    >>> scaled_demand(two_months(), 3.0).urgent[0].gpus
    array([6., 3., 6., 3.])
    """
    urgent: tuple[Work, ...] = tuple(replace(work, gpus=work.gpus * factor) for work in problem.urgent)
    deferrable: tuple[DeferrableWork, ...] = tuple(
        replace(late, gpu_hours=late.gpu_hours * factor) for late in problem.deferrable
    )
    return replace(problem, urgent=urgent, deferrable=deferrable)


@takes(factor=FACTOR)
def scaled_prices(problem: Problem, factor: float, kinds: Sequence[str] = ("on_demand", "spot")) -> Problem:
    """Return the same problem with the hourly prices of some kinds of options times `factor`.

    >>> from planner.core.optimize.examples import two_months
    >>> scaled_prices(two_months(), 0.5).options[0].usd_per_gpu_hour
    array([2., 2.])
    """

    def scaled(option: Option) -> Option:
        if option.kind not in kinds:
            return option
        return replace(option, usd_per_gpu_hour=option.usd_per_gpu_hour * factor)

    return replace(problem, options=tuple(scaled(option) for option in problem.options))
