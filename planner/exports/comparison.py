"""The file of a comparison: one row for each line of the page and scenario.

A value stands in the column of its unit, so that no column mixes money with hours.
"""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse
from django.utils.text import slugify

from planner.comparison.figures import unit_words
from planner.comparison.result import Cell, Column, Comparison, Letter, Row, Unit
from planner.csv_cells import Column as FileColumn
from planner.exports.files import (
    LONGEST_SLUGS,
    Style,
    as_csv,
    as_json,
    data_word,
    explanations_json,
    figure_json,
    source_json,
)

VALUE_COLUMNS: tuple[tuple[Unit, str], ...] = (
    ("money", "amount_{currency}"),
    ("money_per_gpu_hour", "rate_{currency}_per_gpu_h"),
    ("gpu_hours", "gpu_hours"),
    ("gpus", "gpus"),
    ("days", "days"),
    ("run_days", "run_days"),
    ("runs_a_month", "runs_a_month"),
)


def comparison_name(comparison: Comparison) -> str:
    """Return a name that says what the file holds: compare_a-b_cash_36m_usd_2026-11-30."""
    slugs = slugify("-".join(column.slug for column in comparison.columns))[:LONGEST_SLUGS].rstrip("-")
    return (
        f"compare_{slugs}_{comparison.view}_{comparison.months}m_{comparison.currency.lower()}"
        f"_{comparison.as_of:%Y-%m-%d}"
    )


def comparison_file(comparison: Comparison, fmt: str, style: Style) -> bytes:
    """Return the file of a comparison: what the page shows, for the browser and the shell alike."""
    if fmt == "json":
        return as_json(comparison_json(comparison))
    return as_csv(comparison_columns(comparison), comparison_rows(comparison), style)


def comparison_columns(comparison: Comparison) -> list[FileColumn]:
    """Return the columns of a comparison's CSV."""
    values = [name for _, name in _value_columns(comparison)]
    return [
        FileColumn("letter"),
        FileColumn("scenario"),
        FileColumn("name"),
        FileColumn("group"),
        FileColumn("line"),
        FileColumn("label"),
        *(FileColumn(name, "number") for name in values),
        *(FileColumn(f"delta_{name}", "number") for name in values),
        FileColumn("delta_share", "number"),
        FileColumn("unknown_because"),
        FileColumn("data"),
        FileColumn("address"),
        FileColumn("currency"),
        FileColumn("unit"),
        FileColumn("scenario_rev", "number"),
        FileColumn("as_of", "time"),
        FileColumn("source_run"),
    ]


def comparison_rows(comparison: Comparison) -> Iterator[list[Any]]:
    """Yield one row for each line of the page and scenario, in the order of the page."""
    address = comparison_address(comparison)
    units = [unit for unit, _ in _value_columns(comparison)]
    for row in comparison.rows:
        for cell in row.cells:
            column = comparison.column(cell.letter)
            yield [
                column.letter,
                column.slug,
                column.name,
                row.group,
                row.key,
                row.label,
                *(cell.figure.value if row.unit == unit else None for unit in units),
                *(_delta(cell) if row.unit == unit else None for unit in units),
                cell.delta.share if cell.delta is not None else None,
                cell.figure.reason if cell.figure.value is None else "",
                data_word(column.is_sample),
                address,
                column.currency,
                unit_words(row.unit, column.currency),
                column.revision,
                column.prices.moment,
                runs_of(comparison, column.letter),
            ]


def comparison_address(comparison: Comparison) -> str:
    """Return path and query that reproduce a comparison for good."""
    return f"{reverse('compare')}?{comparison.frozen_query}"


def runs_of(comparison: Comparison, letter: Letter) -> str:
    """Return the ingest runs behind one scenario's prices, "4812 4815"."""
    runs = {line.run_id for line in comparison.sources if line.letter == letter and line.run_id is not None}
    return " ".join(str(run) for run in sorted(runs))


def _value_columns(comparison: Comparison) -> list[tuple[Unit, str]]:
    currencies = {column.currency for column in comparison.columns}
    currency = currencies.pop().lower() if len(currencies) == 1 else "money"
    return [(unit, name.format(currency=currency)) for unit, name in VALUE_COLUMNS]


def _delta(cell: Cell) -> float | None:
    return None if cell.delta is None else cell.delta.value


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON: the same figures, and the series of the charts."""
    series = comparison.series
    return {
        "address": comparison_address(comparison),
        "as_of": comparison.as_of,
        "view": comparison.view,
        "base": comparison.base,
        "currency": comparison.currency,
        "start": comparison.start,
        "months": comparison.months,
        "data": data_word(comparison.is_sample),
        "overrides": dict(comparison.overrides),
        "answer": {
            "scenario": comparison.answer.letter,
            "sentence": comparison.answer.text,
            "detail": comparison.answer.detail_text,
        },
        "scenarios": [_column_json(comparison, column) for column in comparison.columns],
        "reference_run": _run_json(comparison),
        "lines": [_row_json(row) for row in comparison.rows],
        "cumulative": {
            "months": list(series.months),
            "by_scenario": {line.letter: list(line.values) for line in series.cumulative},
        },
        "served_gpus": {
            one.letter: {
                **{kind: list(values) for kind, values in one.kinds.items()},
                "unmet": list(one.unmet),
            }
            for one in series.served
        },
        "measured": _measured_json(comparison),
        "break_even_utilization": {line.letter: line.share for line in series.break_evens},
        "gaps": [
            {"scenario": gap.letter, "supply": gap.supply, "field": gap.field, "text": gap.text}
            for gap in comparison.gaps
        ],
        "notes": list(comparison.notes),
        "notices": [*comparison.notices, *filter(None, [comparison.dates_notice])],
        "sources": [{"scenario": line.letter} | source_json(line) for line in comparison.sources],
        "explanations": explanations_json(comparison.explanations),
    }


def _run_json(comparison: Comparison) -> dict[str, Any] | None:
    run = comparison.reference_run
    if run is None:
        return None
    return {"gpu_hours": run.gpu_hours, "name": run.name, "gpu": run.gpu, "source": run.source}


def _column_json(comparison: Comparison, column: Column) -> dict[str, Any]:
    card = next(card for card in comparison.cards if card.column.letter == column.letter)
    return {
        "letter": column.letter,
        "scenario": column.slug,
        "name": column.name,
        "scenario_rev": column.revision,
        "as_of": column.prices.moment,
        "keeps_prices": column.prices.is_kept,
        "currency": column.currency,
        "data": data_word(column.is_sample),
        "is_plan_of_record": column.is_plan_of_record,
        "is_cheapest": column.is_cheapest,
        "source_run": runs_of(comparison, column.letter),
        "total": figure_json(card.total),
        "break_even_month": figure_json(card.break_even),
        "pays_above_share": figure_json(card.pays_above),
        "planned_use_share": figure_json(card.planned_use),
        "peak_month_cash": figure_json(card.peak_cash),
        "served_share": figure_json(card.served),
        "mix": {part.kind: part.share for part in card.mix},
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "line": row.key,
        "label": row.label,
        "group": row.group,
        "unit": row.unit,
        "kind": row.kind,
        "values": {cell.letter: cell.figure.value for cell in row.cells},
        "explain": {cell.letter: cell.figure.explain for cell in row.cells},
        "deltas": {cell.letter: _delta(cell) for cell in row.cells if cell.delta is not None},
    }


def _measured_json(comparison: Comparison) -> dict[str, Any] | None:
    measured = comparison.series.measured
    if measured is None:
        return None
    return {
        "weeks": list(measured.weeks),
        "fleet_share": list(measured.fleet.shares),
        "pools": {pool.label: list(pool.shares) for pool in measured.pools},
        "fleet_gpus": measured.fleet_gpus,
        "source": measured.source,
        "data": data_word(measured.is_sample),
    }
