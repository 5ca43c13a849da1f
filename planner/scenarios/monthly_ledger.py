"""The months of one plan: money by cost row, totals, hours served and not served."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.comparison.figures import money
from planner.comparison.rows import COST_ROWS, HOUR_LINES, row_key
from planner.comparison.series import first_days, known, unmet_by_month, useful_by_kind
from planner.core.calendar import FloatArray
from planner.core.plan import Outcome, View


@dataclass(frozen=True)
class LedgerColumn:
    """One column of the monthly ledger. `unit` is "money" or "gpu_hours"."""

    key: str
    label: str
    unit: str


@dataclass(frozen=True)
class LedgerRow:
    """One month: raw values in the order of the columns, None where unknown, and their texts."""

    month: date
    values: tuple[float | None, ...]
    texts: tuple[str, ...]


def monthly_ledger(
    outcome: Outcome, view: View, currency: str
) -> tuple[tuple[LedgerColumn, ...], tuple[LedgerRow, ...]]:
    """Return the columns and months of a plan's ledger in one view."""
    money_columns = _money_by_month(outcome, view)
    labels = dict(COST_ROWS)
    columns = [
        LedgerColumn(key, labels.get(key, key.replace("_", " ").capitalize()), "money")
        for key in money_columns
    ]
    useful = np.sum(list(useful_by_kind(outcome).values()), axis=0)
    total = outcome.cumulative[view].to_numpy(dtype=float)
    series = [
        *money_columns.values(),
        np.sum([np.zeros(outcome.plan.months), *money_columns.values()], axis=0),
        total,
        useful,
        unmet_by_month(outcome),
    ]
    columns += [
        LedgerColumn("total", "Total", "money"),
        LedgerColumn("cumulative", "Cumulative", "money"),
        LedgerColumn("useful_gpu_hours", "Served, GPU-h", "gpu_hours"),
        LedgerColumn("unmet_gpu_hours", "Not served, GPU-h", "gpu_hours"),
    ]
    by_month = list(zip(*(known(values) for values in series), strict=True))
    days = first_days(outcome.plan)
    rows = [
        LedgerRow(
            day, values, tuple(_text(v, c.unit, currency) for v, c in zip(values, columns, strict=True))
        )
        for day, values in zip(days, by_month, strict=True)
    ]
    return tuple(columns), tuple(rows)


def _texts(values: Sequence[float | None], columns: Sequence[LedgerColumn], currency: str) -> tuple[str, ...]:
    return tuple(_text(value, column.unit, currency) for value, column in zip(values, columns, strict=True))


def _text(value: float | None, unit: str, currency: str) -> str:
    if unit == "money":
        return money(value, currency).text
    return "unknown" if value is None else f"{value:,.0f}"


def _money_by_month(outcome: Outcome, view: View) -> dict[str, FloatArray]:
    """Return the amounts of each cost row by month; rows that are zero throughout are left out."""
    frame, months = outcome.monthly, outcome.plan.months
    lines, kinds, values = (
        frame["line"].to_numpy(),
        frame["kind"].to_numpy(),
        frame[view].to_numpy(dtype=float),
    )
    found: dict[str, FloatArray] = {}
    for first in range(0, len(frame), months):
        if lines[first] in HOUR_LINES:
            continue
        key = row_key(str(lines[first]), str(kinds[first]))
        found[key] = found.get(key, np.zeros(months)) + values[first : first + months]
    order = [key for key, _ in COST_ROWS]
    ordered = sorted(found, key=lambda key: (order.index(key) if key in order else len(order), key))
    return {key: found[key] for key in ordered if found[key].any()}
