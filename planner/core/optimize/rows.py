"""What must hold: demand, capacity, deferral, quotas and delivery. Limits of money and share: limit_rows.py.

Entries of a matrix are built whole arrays at a time. Every limit that could be eased has a name.
"""

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.columns import Columns, purchases
from planner.core.optimize.problem import Option, Problem
from planner.core.optimize.program import Rows
from planner.core.ranges import COUNT, takes

NONE = np.zeros(0, dtype=np.int64)
MOST_UNITS = 1000.0  # stands for "any number" where a switch needs one


def core_rows(problem: Problem, columns: Columns) -> list[Rows]:
    """Return the rows that every problem has."""
    rows = [
        _urgent(problem, columns),
        _deferrable(problem, columns),
        _holding(problem, columns),
        _capacity(problem, columns),
    ]
    rows += [_crew(problem, columns)] if problem.crew is not None else []
    return rows + ([_lots(problem, columns)] if len(columns.lots) else [])


def _urgent(problem: Problem, columns: Columns) -> Rows:
    """Each block of urgent work: sum over s of useful * x (+ undone) = GPUs wanted."""
    blocks, count = problem.blocks, len(problem.urgent) * problem.blocks
    mine = np.flatnonzero(columns.used_work < len(problem.urgent))
    row = columns.used_work[mine] * blocks + columns.used_block[mine]
    column, value = columns.first_used + mine, _useful(problem, columns)[mine]
    if columns.undone:
        row = np.concatenate([row, np.arange(count)])
        column = np.concatenate([column, columns.first_undone + np.arange(count)])
        value = np.concatenate([value, np.ones(count)])
    wanted = np.concatenate([work.gpus for work in problem.urgent] or [np.zeros(0)])
    labels = {"work": np.arange(count) // blocks, "block": np.arange(count) % blocks}
    return Rows("urgent", row, column, value, wanted, wanted, labels, ("",) * count)


def _useful(problem: Problem, columns: Columns) -> FloatArray:
    month = problem.month[columns.used_block]
    return np.asarray(problem.useful_per_paid[columns.used_work, columns.used_option, month])


def _deferrable(problem: Problem, columns: Columns) -> Rows:
    """Each month of deferrable work: sum of h * useful * x + late_t - late_(t-1) (+ undone) = GPU-hours."""
    months, first = problem.months, len(problem.urgent)
    count = len(problem.deferrable) * months
    mine = np.flatnonzero(columns.used_work >= first)
    block = columns.used_block[mine]
    late = np.arange(len(columns.late_work))
    late_row = columns.late_work * months + columns.late_month
    row = [(columns.used_work[mine] - first) * months + problem.month[block], late_row, late_row + 1]
    column = [columns.first_used + mine, columns.first_late + late, columns.first_late + late]
    value = [
        problem.hours[block] * _useful(problem, columns)[mine],
        np.ones(len(late)),
        -np.ones(len(late)),
    ]
    if columns.undone:
        row.append(np.arange(count))
        column.append(columns.first_undone + first * problem.blocks + np.arange(count))
        value.append(np.ones(count))
    wanted = np.concatenate([work.gpu_hours for work in problem.deferrable] or [np.zeros(0)])
    labels = {"work": first + np.arange(count) // months, "month": np.arange(count) % months}
    return Rows(
        "deferrable",
        np.concatenate(row),
        np.concatenate(column),
        np.concatenate(value),
        wanted,
        wanted,
        labels,
        ("",) * count,
    )


def _holding(problem: Problem, columns: Columns) -> Rows:
    """What is held in month m: held_m - sum over t of units_t * gpus_per_unit[t, m] = 0."""
    months, count = problem.months, columns.first_used - columns.first_held
    row, column, value = [np.arange(count)], [columns.first_held + np.arange(count)], [np.ones(count)]
    for place, (s, purchase) in enumerate(purchases(problem)):
        mine = np.flatnonzero(columns.bought_option == s)
        gives = purchase.gpus_per_unit[columns.bought_month[mine]]
        unit, month = np.nonzero(gives)
        row.append(place * months + month)
        column.append(mine[unit])
        value.append(-gives[unit, month])
    labels = {
        "option": np.repeat(columns.held_option, months),
        "month": np.tile(np.arange(months), len(columns.held_option)),
    }
    return Rows(
        "holding",
        np.concatenate(row),
        np.concatenate(column),
        np.concatenate(value),
        np.zeros(count),
        np.zeros(count),
        labels,
        ("",) * count,
    )


def _capacity(problem: Problem, columns: Columns) -> Rows:
    """Each option and block: sum over k of x - held <= GPUs there, where there is a limit at all."""
    is_held = np.isin(np.arange(len(problem.options)), columns.held_option)
    there = np.array([option.gpus for option in problem.options]).reshape(-1, problem.blocks)
    is_used = np.zeros(there.shape, dtype=np.bool_)
    is_used[columns.used_option, columns.used_block] = True
    option, block = np.nonzero(is_used & (np.isfinite(there)))
    place = np.full(there.shape, -1, dtype=np.int64)
    place[option, block] = np.arange(len(option))
    used_row = place[columns.used_option, columns.used_block]
    mine = np.flatnonzero(used_row >= 0)
    holds = np.flatnonzero(is_held[option])
    held_column = _held_columns(problem, columns)[option[holds], problem.month[block[holds]]]
    return Rows(
        "capacity",
        np.concatenate([used_row[mine], holds]),
        np.concatenate([columns.first_used + mine, held_column]),
        np.concatenate([np.ones(len(mine)), -np.ones(len(holds))]),
        np.full(len(option), -np.inf),
        there[option, block],
        {"option": option, "block": block},
        tuple(capacity_name(problem.options[s]) for s in option.tolist()),
    )


def _held_columns(problem: Problem, columns: Columns) -> IntArray:
    """Return the column of what is held by (option, month), -1 where nothing can be."""
    table = np.full((len(problem.options), problem.months), -1, dtype=np.int64)
    for place, s in enumerate(columns.held_option.tolist()):
        table[s] = columns.first_held + place * problem.months + np.arange(problem.months)
    return table


def capacity_name(option: Option) -> str:
    """Return what limits an option, in words: its quota, what can be delivered in time, what was reserved."""
    if option.kind in ("on_demand", "spot"):
        return f"quota of {option.name}"
    if option.purchase is None:
        return f"size of {option.name}"
    return f"delivery of {option.name}" if option.kind == "owned" else f"terms of {option.name}"


def _crew(problem: Problem, columns: Columns) -> Rows:
    """Staff: money >= what servers want; money >= minimum * switch; servers standing <= many * switch."""
    crew = problem.crew
    assert crew is not None  # noqa: S101  (the caller asks only where there is one)
    months, n = problem.months, len(crew.options)
    month, money, switch = np.arange(months), columns.first_crew, columns.first_switch
    row, column, value = [month], [money + month], [np.ones(months)]
    for i, s in enumerate(crew.options):
        mine = np.flatnonzero(columns.bought_option == s)
        standing = crew.present[i][columns.bought_month[mine]]
        unit, at = np.nonzero(standing)
        minimum_row, switch_row = months * (1 + i) + month, months * (1 + n + i) + month
        row += [at, minimum_row, minimum_row, months * (1 + n + i) + at, switch_row]
        column += [
            mine[unit],
            money + month,
            switch + i * months + month,
            mine[unit],
            switch + i * months + month,
        ]
        value += [
            -standing[unit, at] * crew.usd_per_unit[i][at],
            np.ones(months),
            -crew.minimum_usd[i],
            -standing[unit, at],
            np.full(months, float(np.minimum(problem_most(problem, s), MOST_UNITS).sum())),
        ]
    lower = np.concatenate([np.maximum(crew.standing_usd, 0.0), np.zeros(2 * n * months)])
    return Rows(
        "crew",
        np.concatenate(row),
        np.concatenate(column),
        np.concatenate(value),
        lower,
        np.full(len(lower), np.inf),
        {"month": np.tile(month, 1 + 2 * n)},
        ("",) * len(lower),
    )


def _lots(problem: Problem, columns: Columns) -> Rows:
    """Purchases with a least size: units <= most * switch and units >= least * switch."""
    n, unit = len(columns.lots), np.arange(len(columns.lots))
    option, month = columns.bought_option[columns.lots], columns.bought_month[columns.lots]
    bought = [problem.options[s].purchase for s in option.tolist()]
    least = np.array([0.0 if each is None else float(each.least_per_purchase) for each in bought])
    most = np.array(
        [problem_most(problem, s)[t] for s, t in zip(option.tolist(), month.tolist(), strict=True)]
    )
    most = np.maximum(np.minimum(most, MOST_UNITS), 0.0)
    return Rows(
        "lots",
        np.concatenate([unit, unit, n + unit, n + unit]),
        np.concatenate([columns.lots, columns.first_lot + unit] * 2),
        np.concatenate([np.ones(n), -most, np.ones(n), -least]),
        np.concatenate([np.full(n, -np.inf), np.zeros(n)]),
        np.concatenate([np.zeros(n), np.full(n, np.inf)]),
        {"option": np.tile(option, 2), "month": np.tile(month, 2)},
        ("",) * (2 * n),
    )


@takes(option=COUNT)
def problem_most(problem: Problem, option: int) -> FloatArray:
    """Return the most units of an option by month of purchase; zeros where it cannot be bought."""
    purchase = problem.options[option].purchase
    return np.zeros(problem.months) if purchase is None else purchase.most_per_month
