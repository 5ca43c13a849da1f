"""Files of one scenario, its months, and of the list of scenarios."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from planner.comparison.address import ONE_DATE, moment_text
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
from planner.scenarios.listing import ListRow
from planner.scenarios.result import ScenarioResult


def result_name(result: ScenarioResult) -> str:
    """Return a name that says what the file holds: scenario_own-96_cash_36m_usd_2026-11-30."""
    return (
        f"scenario_{result.scenario.slug[:LONGEST_SLUGS].rstrip('-')}_{result.view}_{result.months}m"
        f"_{result.currency.lower()}_{result.as_of:%Y-%m-%d}"
    )


def result_file(result: ScenarioResult, fmt: str, style: Style) -> bytes:
    """Return the monthly ledger of a scenario, as on its page."""
    if fmt == "json":
        return as_json(result_json(result))
    return as_csv(result_columns(result), result_rows(result), style)


def result_columns(result: ScenarioResult) -> list[FileColumn]:
    """Return the columns of a ledger's CSV."""
    currency = result.currency.lower()
    return [
        FileColumn("scenario"),
        FileColumn("name"),
        FileColumn("month", "time"),
        *(
            FileColumn(f"{column.key}_{currency}" if column.unit == "money" else column.key, "number")
            for column in result.columns
        ),
        FileColumn("data"),
        FileColumn("address"),
        FileColumn("currency"),
        FileColumn("unit"),
        FileColumn("scenario_rev", "number"),
        FileColumn("as_of", "time"),
        FileColumn("source_run"),
    ]


def result_rows(result: ScenarioResult) -> Iterator[list[Any]]:
    """Yield one row for each month."""
    tail = [
        data_word(result.scenario.is_sample),
        result_address(result),
        result.currency,
        f"{result.currency} and GPU-hours, {result.view}",
        result.revision.number,
        result.as_of,
        " ".join(str(run) for run in result.runs),
    ]
    for row in result.ledger:
        yield [result.scenario.slug, result.scenario.name, row.month, *row.values, *tail]


def result_address(result: ScenarioResult) -> str:
    """Return path and query that reproduce a result for good.

    A revision that keeps its prices needs no date; one that is read at another says so.
    """
    pairs: dict[str, Any] = {"view": result.view, "rev": result.revision.number}
    if not result.prices.is_kept:
        pairs["as_of"] = moment_text(result.as_of)
        pairs |= {"prices": ONE_DATE} if result.revision.prices_as_of else {}
    return f"{reverse('scenario_detail', args=[result.scenario.slug])}?{urlencode(pairs)}"


def result_json(result: ScenarioResult) -> dict[str, Any]:
    """Return a scenario's result as JSON."""
    return {
        "address": result_address(result),
        "scenario": result.scenario.slug,
        "name": result.scenario.name,
        "scenario_rev": result.revision.number,
        "data": data_word(result.scenario.is_sample),
        "as_of": result.as_of,
        "keeps_prices": result.prices.is_kept,
        "currency": result.currency,
        "start": result.start,
        "months": result.months,
        "view": result.view,
        "answer": result.answer,
        "totals": {
            one.view: {"total": figure_json(one.total), "per_useful_gpu_hour": figure_json(one.unit_cost)}
            for one in result.totals
        },
        "ledger": [
            {"month": row.month}
            | {column.key: value for column, value in zip(result.columns, row.values, strict=True)}
            for row in result.ledger
        ],
        "gaps": [{"supply": gap.supply, "field": gap.field, "text": gap.text} for gap in result.gaps],
        "notes": list(result.notes),
        "assumptions": [
            {
                "supply": one.supply,
                "label": one.label,
                "value": one.value,
                "unit": one.unit,
                "source": one.source,
            }
            for one in result.assumptions
        ],
        "sources": [source_json(line) for line in result.sources],
        "explanations": explanations_json(result.explanations),
    }


LIST_COLUMNS = (
    FileColumn("scenario"),
    FileColumn("name"),
    FileColumn("is_plan_of_record"),
    FileColumn("owned_gpus", "number"),
    FileColumn("reserved_gpus", "number"),
    FileColumn("months", "number"),
    FileColumn("total_cash", "number"),
    FileColumn("cash_per_useful_gpu_h", "number"),
    FileColumn("break_even_month", "number"),
    FileColumn("break_even"),
    FileColumn("first_month_with_unmet_demand"),
    FileColumn("updated_at", "time"),
    FileColumn("owner"),
    FileColumn("unknown_because"),
    FileColumn("data"),
    FileColumn("currency"),
    FileColumn("unit"),
    FileColumn("scenario_rev", "number"),
    FileColumn("as_of", "time"),
    FileColumn("source_run"),
)


def list_file_rows(rows: Sequence[ListRow]) -> Iterator[list[Any]]:
    """Yield one row for each scenario of the list; `as_of` is the date of its prices."""
    for row in rows:
        scenario, summary = row.scenario, row.summary
        yield [
            scenario.slug,
            scenario.name,
            "yes" if scenario.is_plan_of_record else "no",
            summary.owned_gpus,
            summary.reserved_gpus,
            summary.months,
            summary.total.value,
            summary.unit_cost.value,
            summary.break_even.value,
            summary.break_even.text,
            summary.first_unmet,
            scenario.updated_at,
            str(scenario.owner or ""),
            summary.total.reason,
            data_word(scenario.is_sample),
            summary.currency,
            f"{summary.currency} and GPUs",
            row.revision.number,
            summary.prices.moment,
            " ".join(str(run) for run in summary.runs),
        ]
