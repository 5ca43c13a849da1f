"""Rows of the limits: capital, cash of a year, power, shares of providers and of spot, coverage."""

from collections.abc import Callable

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.optimize.columns import Columns, purchases
from planner.core.optimize.problem import Problem, Purchase
from planner.core.optimize.program import Rows
from planner.core.ranges import SHARE, takes


def limit_rows(problem: Problem, columns: Columns) -> list[Rows]:
    """Return the rows of the limits that are set."""
    limits = problem.limits
    builders: list[tuple[bool, Callable[[Problem, Columns], Rows]]] = [
        (limits.capex_budget_usd is not None, _capex),
        (bool(limits.cash_usd_by_year), _cash),
        (bool(limits.power_kw), _power),
        (limits.most_provider_share is not None, _provider_share),
        (limits.most_spot_share is not None, _spot_share),
        (limits.least_coverage is not None, _coverage),
    ]
    return [build(problem, columns) for is_set, build in builders if is_set]


def _capex(problem: Problem, columns: Columns) -> Rows:
    """Sum of capex * units <= budget."""
    capex = np.zeros(len(problem.options))
    for s, purchase in purchases(problem):
        capex[s] = purchase.capex_usd_per_unit
    value = capex[columns.bought_option]
    column = np.flatnonzero(value)
    budget = np.array([float(problem.limits.capex_budget_usd or 0.0)])
    return _upper_rows("capex", np.zeros_like(column), column, value[column], budget, {}, ("capex budget",))


def _cash(problem: Problem, columns: Columns) -> Rows:
    """Per year: cash of units + usage at undiscounted prices <= budget less what is spent in any case."""
    years = problem.years if problem.years is not None else np.arange(problem.months) // 12
    wanted = sorted(problem.limits.cash_usd_by_year)
    fixed = np.zeros(problem.months) if problem.fixed_cash_usd is None else problem.fixed_cash_usd
    month = problem.month[columns.used_block]
    usd = problem.usd_per_use[columns.used_work, columns.used_option, month] / problem.end_factors[month]
    row, column, value = [], [], []
    for place, year in enumerate(wanted):
        is_in = years == year
        mine = np.flatnonzero(is_in[month])
        row.append(np.full(len(mine), place))
        column.append(columns.first_used + mine)
        value.append(usd[mine] * problem.hours[columns.used_block[mine]])
        for s, purchase in purchases(problem):
            units = np.flatnonzero(columns.bought_option == s)
            cash = _cash_of(purchase, problem)[columns.bought_month[units]] @ is_in
            row.append(np.full(len(units), place))
            column.append(units)
            value.append(cash)
    spent = np.array([fixed[years == year].sum() for year in wanted])
    most = np.array([problem.limits.cash_usd_by_year[year] for year in wanted]) - spent
    return _upper_rows(
        "cash",
        np.concatenate(row),
        np.concatenate(column),
        np.concatenate(value),
        most,
        {"year": np.array(wanted, dtype=np.int64)},
        tuple(f"cash budget of {year}" for year in wanted),
    )


def _cash_of(purchase: Purchase, problem: Problem) -> FloatArray:
    if purchase.cash_usd_per_unit is not None:
        return purchase.cash_usd_per_unit
    return np.diag(np.full(problem.months, purchase.capex_usd_per_unit))


def _power(problem: Problem, columns: Columns) -> Rows:
    """Per site and month: sum of kW of the units that stand <= power."""
    sites, months = sorted(problem.limits.power_kw), problem.months
    row, column, value = [], [], []
    for s, purchase in purchases(problem):
        site = problem.options[s].region
        if purchase.kw_per_unit is None or site not in sites:
            continue
        mine = np.flatnonzero(columns.bought_option == s)
        draws = purchase.kw_per_unit[columns.bought_month[mine]]
        unit, month = np.nonzero(draws)
        row.append(sites.index(site) * months + month)
        column.append(mine[unit])
        value.append(draws[unit, month])
    nothing = np.zeros(0, dtype=np.int64)
    count = len(sites) * months
    return _upper_rows(
        "power",
        np.concatenate([*row, nothing]),
        np.concatenate([*column, nothing]),
        np.concatenate([*value, np.zeros(0)]),
        np.concatenate([problem.limits.power_kw[site] for site in sites]),
        {"month": np.arange(count) % months},
        tuple(f"power of {site or 'the site'}" for site in sites for _ in range(months)),
    )


def _provider_share(problem: Problem, columns: Columns) -> Rows:
    """Per provider and month: its paid GPU-hours - share * all paid GPU-hours <= 0."""
    share = float(problem.limits.most_provider_share or 1.0)
    named = sorted({option.provider for option in problem.options if _counts(option.provider, option.kind)})
    of_option = np.array(
        [
            named.index(option.provider) if _counts(option.provider, option.kind) else -1
            for option in problem.options
        ]
    )
    month = problem.month[columns.used_block]
    hours = problem.hours[columns.used_block] / problem.hours_of_month[month]
    mine = np.arange(len(columns.used_work))
    row, value = [], []
    for place in range(len(named)):
        row.append(place * problem.months + month)
        value.append(hours * ((of_option[columns.used_option] == place) - share))
    count = len(named) * problem.months
    return _upper_rows(
        "provider_share",
        np.concatenate([*row, np.zeros(0, dtype=np.int64)]),
        np.tile(columns.first_used + mine, len(named)),
        np.concatenate([*value, np.zeros(0)]),
        np.zeros(count),
        {"provider": np.arange(count) // problem.months, "month": np.arange(count) % problem.months},
        tuple(f"share of provider {name}" for name in named for _ in range(problem.months)),
    )


def _counts(provider: str, kind: str) -> bool:
    return bool(provider) and kind != "owned"


def _spot_share(problem: Problem, columns: Columns) -> Rows:
    """Per month: useful GPU-hours of deferrable work on spot - share * all of them <= 0."""
    share = float(problem.limits.most_spot_share or 0.0)
    mine = np.flatnonzero(columns.used_work >= len(problem.urgent))
    option, block = columns.used_option[mine], columns.used_block[mine]
    month = problem.month[block]
    is_spot = np.array([each.kind == "spot" for each in problem.options])[option]
    useful = problem.useful_per_paid[columns.used_work[mine], option, month]
    hours = problem.hours[block] / problem.hours_of_month[month]
    return _upper_rows(
        "spot_share",
        month,
        columns.first_used + mine,
        hours * useful * (is_spot - share),
        np.zeros(problem.months),
        {"month": np.arange(problem.months)},
        ("share of spot",) * problem.months,
    )


def _coverage(problem: Problem, columns: Columns) -> Rows:
    """Per supplier and month: what critical work can use without it >= share * critical demand.

    Quota of which nothing is known counts as nothing: it cannot be relied on. Spot does not count either.
    """
    suppliers, supplier = _suppliers(problem)
    ports = portability(problem)
    row, column, value = [], [], []
    for place in range(len(suppliers)):
        others = supplier != place
        for s in columns.held_option[others[columns.held_option]].tolist():
            row.append(place * problem.months + np.arange(problem.months))
            column.append(columns.held_at(s))
            value.append(ports[s])
    nothing = np.zeros(0, dtype=np.int64)
    count = len(suppliers) * problem.months
    return Rows(
        "coverage",
        np.concatenate([*row, nothing]),
        np.concatenate([*column, nothing]),
        np.concatenate([*value, np.zeros(0)]),
        coverage_floor(problem, float(problem.limits.least_coverage or 0.0)),
        np.full(count, np.inf),
        {"supplier": np.arange(count) // problem.months, "month": np.arange(count) % problem.months},
        tuple(f"coverage if {name} is lost" for name in suppliers for _ in range(problem.months)),
    )


def _suppliers(problem: Problem) -> tuple[list[str], IntArray]:
    names = sorted({option.supplier for option in problem.options})
    return names, np.array([names.index(option.supplier) for option in problem.options], dtype=np.int64)


@takes(share=SHARE)
def coverage_floor(problem: Problem, share: float) -> FloatArray:
    """Return the GPUs that bought units must add, by (supplier lost, month), as one row of numbers.

    share * critical demand - what is there without the supplier * what critical work can use of it.

    >>> from planner.core.optimize.examples import two_months
    >>> coverage_floor(two_months(quota_gpus=1.0), 0.75).tolist()
    [1.5, 1.5, 0.5, 0.5]
    """
    suppliers, supplier = _suppliers(problem)
    base = dependable_gpus(problem) * portability(problem)
    floors = [
        share * problem.critical_gpus - base[supplier != place].sum(axis=0) for place in range(len(suppliers))
    ]
    return np.concatenate([*floors, np.zeros(0)])


def portability(problem: Problem) -> FloatArray:
    """Return the share of critical work, 0..1, that each option could serve by month: (options, months).

    sum of critical work * min(1, useful per paid) / critical work. A faster GPU counts as one.

    >>> from planner.core.optimize.examples import two_months
    >>> portability(two_months()).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    is_critical = np.array(
        [work.critical for work in problem.urgent] + [late.critical for late in problem.deferrable],
        dtype=np.bool_,
    )
    size = np.array(
        [(work.gpus * problem.hours).sum() for work in problem.urgent]
        + [late.gpu_hours.sum() for late in problem.deferrable]
    )
    weight = size * is_critical
    useful = np.minimum(problem.useful_per_paid, 1.0)
    total = float(weight.sum())
    if total == 0.0:
        return np.zeros(useful.shape[1:])
    return np.asarray(np.tensordot(weight / total, useful, axes=1))


def dependable_gpus(problem: Problem) -> FloatArray:
    """Return the least GPUs of each month that are there without buying, 0 where unknown or spot.

    >>> from planner.core.optimize.examples import two_months
    >>> dependable_gpus(two_months(quota_gpus=8.0)).tolist()
    [[8.0, 8.0], [0.0, 0.0]]
    """
    there = np.array([option.gpus for option in problem.options]).reshape(-1, problem.blocks)
    there = np.where(np.isfinite(there), there, 0.0)
    starts = np.searchsorted(problem.month, np.arange(problem.months))
    least = np.minimum.reduceat(there, starts, axis=1)
    is_spot = np.array([option.kind == "spot" for option in problem.options])
    return np.asarray(np.where(is_spot[:, None], 0.0, least))


def _upper_rows(
    kind: str,
    row: IntArray,
    column: IntArray,
    value: FloatArray,
    upper: FloatArray,
    labels: dict[str, IntArray],
    limit: tuple[str, ...],
) -> Rows:
    return Rows(kind, row, column, value, np.full(len(upper), -np.inf), upper, labels, limit)
