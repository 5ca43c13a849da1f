"""What one more unit of a limit is worth, and what one more GPU-hour costs: duals, in words.

A dual holds for a small change. `value_of_quota` solves again with the whole unit added.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.problem import Problem
from planner.core.optimize.program import Rows
from planner.core.optimize.solve import Solution
from planner.core.optimize.solver import Answer, solve_program
from planner.core.ranges import COUNT_FROM_1, refuse, takes

# below this a dual is the solver's rounding
LEAST_USD = 1e-6
# what servers decide as a whole is priced where they may be bought by the part
BY_THE_PART = ("capex", "cash", "power", "coverage")
UNITS = {
    "provider_share": "GPU beyond the share of",
    "spot_share": "GPU beyond the share of",
    "capex": "dollar of",
    "cash": "dollar of",
    "power": "kW of",
    "coverage": "GPU less of",
}


@dataclass(frozen=True)
class ShadowPrice:
    """What one more unit of a limit saves; `usd_by_month` in the money of the month, 0 where it is slack.

    Limits without a month (capital, a year's cash) have one number: present value.
    """

    limit: str
    unit: str
    usd_by_month: FloatArray
    usd_present_value: float
    is_by_month: bool
    sentence: str


def shadow_prices(solution: Solution) -> tuple[ShadowPrice, ...]:
    """Return the limits that bind, the most valuable first.

    Quota and shares: duals of the linear program with the purchases fixed. Capital, cash, power, coverage:
    duals of the linear relaxation, since purchases are what these limits act on.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import solve
    >>> [each.sentence for each in shadow_prices(solve(two_months(most_provider_share=0.8)))]
    []
    """
    built = solution.built
    relaxed = solve_program(built.program.relaxed()) if built.program.whole.any() else solution.answer
    found: list[ShadowPrice] = []
    for rows in built.rows:
        answer = relaxed if rows.kind in BY_THE_PART else solution.answer
        if any(rows.limit) and len(answer.row_dual):
            found += _of_kind(solution.problem, rows, _worth(answer, built.places[rows.kind], rows))
    return tuple(sorted(found, key=lambda each: -each.usd_present_value))


def _worth(answer: Answer, place: slice, rows: Rows) -> FloatArray:
    """Return what easing each row by one saves: never negative."""
    dual = answer.row_dual[place]
    return np.asarray(np.maximum(np.where(np.isfinite(rows.upper), -dual, dual), 0.0))


def _of_kind(problem: Problem, rows: Rows, worth: FloatArray) -> list[ShadowPrice]:
    month = _months_of(problem, rows)
    names = np.array(rows.limit)
    prices = []
    for name in dict.fromkeys(rows.limit):
        mine = (names == name) & (worth > LEAST_USD)
        if not mine.any() or _is_bought(problem, rows, int(np.flatnonzero(mine)[0])):
            continue
        unit, size = _unit(problem, rows, int(np.flatnonzero(mine)[0]))
        total = float(worth[mine].sum()) * size
        by_month = np.zeros(problem.months)
        if month is not None:
            np.add.at(by_month, month[mine], worth[mine] * size)
            by_month = by_month / problem.end_factors
        text = _sentence(unit, by_month, total, month is not None)
        prices.append(ShadowPrice(name, unit, by_month, total, month is not None, text))
    return prices


def _is_bought(problem: Problem, rows: Rows, row: int) -> bool:
    """Return whether a row is the capacity of what can be bought: that is a choice, not a limit."""
    return rows.kind == "capacity" and problem.options[int(rows.labels["option"][row])].purchase is not None


def _months_of(problem: Problem, rows: Rows) -> IntArray | None:
    if "block" in rows.labels:
        return np.asarray(problem.month[rows.labels["block"]])
    return rows.labels.get("month")


def _unit(problem: Problem, rows: Rows, row: int) -> tuple[str, float]:
    if rows.kind != "capacity":
        return f"{UNITS[rows.kind]} {rows.limit[row].removeprefix('share of ')}", 1.0
    option = problem.options[int(rows.labels["option"][row])]
    if option.kind in ("on_demand", "spot"):
        return option.quota_words, float(option.gpus_per_quota_unit)
    return f"GPU of {option.name}", 1.0


def _sentence(thing: str, by_month: FloatArray, total: float, is_by_month: bool) -> str:
    if not is_by_month:
        return f"One more {thing} is worth ${total:,.2f} of present value."
    binding = np.flatnonzero(by_month)
    usd = by_month[binding].mean()
    return f"One more {thing} is worth ${usd:,.0f} a month in {months_in_words(binding)}."


def months_in_words(months: Iterable[int]) -> str:
    """Return month indexes as a reader counts them: runs, from 1.

    >>> months_in_words([0, 1, 2, 6]), months_in_words([4])
    ('months 1 to 3 and 7', 'month 5')
    """
    numbers = sorted(int(month) + 1 for month in months)
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1]
    runs = [numbers[a:b] for a, b in pairwise([0, *breaks, len(numbers)])]
    words = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    start = "month " if len(numbers) == 1 else "months "
    return start + (words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1])


def marginal_usd_per_gpu_hour(solution: Solution) -> FloatArray:
    """Return the price of one more GPU in each block of urgent work, in the money of the month.

    Dual of the block's demand / (hours * ve). Shape (urgent work, blocks); empty without a solution.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import solve
    >>> marginal_usd_per_gpu_hour(solve(two_months(quota_gpus=1.0))).shape
    (1, 4)
    """
    problem = solution.problem
    if not len(solution.answer.row_dual):
        return np.zeros((0, 0))
    dual = solution.answer.row_dual[solution.built.places["urgent"]]
    worth = problem.hours * problem.end_factors[problem.month]
    return np.asarray(dual.reshape(len(problem.urgent), problem.blocks) / worth)


@dataclass(frozen=True)
class QuotaValue:
    """What a larger quota saves, with the purchases as they are."""

    usd_present_value: float
    usd_per_month: float
    sentence: str


@takes(units=COUNT_FROM_1)
def value_of_quota(solution: Solution, option_name: str, units: int = 1) -> QuotaValue:
    """Return what `units` more quota units of an option are worth in every month, by solving again.

    usd_per_month = saved present value / sum of ve_t. Purchases stay. Raises ValueError where the option is
    unknown or has no quota.

    >>> from planner.core.optimize.examples import two_months
    >>> from planner.core.optimize.solve import solve
    >>> value_of_quota(solve(two_months()), "On demand").sentence
    'One more GPU of quota of On demand is worth $0 a month.'
    """
    problem, built = solution.problem, solution.built
    names = [option.name for option in problem.options if option.kind in ("on_demand", "spot")]
    if option_name not in names:
        refuse("option_name", repr(option_name), " or ".join(names) or "a rented option")
    rows = built.row_labels("capacity")
    place = next(s for s, option in enumerate(problem.options) if option.name == option_name)
    option = problem.options[place]
    upper = built.program.row_upper.copy()
    if rows is not None:
        mine = np.flatnonzero(rows.labels["option"] == place) + built.places["capacity"].start
        upper[mine] += units * option.gpus_per_quota_unit
    fixed = built.program.fixed(solution.answer.x)
    saved = solution.known_objective - solve_program(replace(fixed, row_upper=upper)).objective
    saved = max(saved, 0.0)
    monthly = saved / float(problem.end_factors.sum())
    many = "One more" if units == 1 else f"{units} times one more"
    return QuotaValue(saved, monthly, f"{many} {option.quota_words} is worth ${monthly:,.0f} a month.")
