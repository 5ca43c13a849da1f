"""The same numbers as a table, for people who read rather than look: one for each chart."""

from dataclasses import dataclass

from planner.charts.supply import SUPPLY_LABELS
from planner.comparison.result import Comparison, MeasuredUse, Series
from planner.templatetags.units import count, day, month, percent, usd


@dataclass(frozen=True)
class Table:
    """A head for every column; each row is a name and its cells as text."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def cumulative_table(comparison: Comparison) -> Table:
    """Return the cumulative cost by month, one column for each scenario."""
    lines = comparison.series.cumulative
    columns = [[usd(value, comparison.currency) for value in line.values] for line in lines]
    months = [month(first) for first in comparison.series.months]
    return Table(
        f"Cumulative cost by month, {comparison.view_label.lower()}, {comparison.currency}",
        ("Month", *(f"{line.letter} {line.name}" for line in lines)),
        _rows(months, columns),
    )


def use_table(measured: MeasuredUse) -> Table:
    """Return the measured share by week, one column for the fleet and each pool."""
    series = (measured.fleet, *measured.pools)
    columns = [[percent(share) for share in each.shares] for each in series]
    return Table(
        "Measured utilization by week, share of available GPU-hours",
        ("Week of", *(each.label for each in series)),
        _rows([day(week) for week in measured.weeks], columns),
    )


def served_table(series: Series) -> Table:
    """Return the useful GPUs by month: for each scenario every kind of supply, and what is not served."""
    heads, columns = ["Month"], []
    for each in series.served:
        for kind, values in each.kinds.items():
            if any(values):
                heads.append(f"{each.letter} {SUPPLY_LABELS[kind]}")
                columns.append([count(value) for value in values])
        heads.append(f"{each.letter} not served")
        columns.append([count(value) for value in each.unmet])
    months = [month(first) for first in series.months]
    return Table("Useful GPUs by month and source", tuple(heads), _rows(months, columns))


def _rows(names: list[str], columns: list[list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, cells) for name, cells in zip(names, zip(*columns, strict=True), strict=True))
