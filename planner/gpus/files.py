"""The files of a GPU's page: for each table its columns, its rows and the page that shows them."""

from collections.abc import Callable, Sequence
from typing import Any

from costs.queries.fleet_share import fleet_share
from costs.queries.price_steps import origins
from costs.queries.spot_now import spot_now
from planner.gpus import alternatives, history_tables, regions, term_tables
from planner.gpus.subject import Subject
from planner.gpus.tables import TableColumn
from planner.gpus.terms import term_rows

Content = tuple[Sequence[TableColumn[Any]], Sequence[Any], str]


def _changes(subject: Subject) -> Content:
    rows = history_tables.change_rows(subject)
    return history_tables.change_columns(origins(row.new.batch_id for row in rows)), rows, "gpu_detail"


def _history(subject: Subject) -> Content:
    rows = history_tables.step_rows(subject)
    return history_tables.step_columns(origins(row.step.batch_id for row in rows)), rows, "gpu_detail"


def _lines(subject: Subject) -> Content:
    rows = subject.history.stretches
    batches = (row.lowest.step.batch_id for row in rows if row.lowest is not None)
    return history_tables.line_columns(origins(batches)), rows, "gpu_detail"


def _terms(subject: Subject) -> Content:
    rows = term_rows(subject, spot_now(subject.accelerator.slug), fleet_share(subject.now))
    batches = (row.batch_id for row in rows if row.batch_id is not None)
    return term_tables.term_columns(origins(batches)), rows, "gpu_detail"


def _regions(subject: Subject) -> Content:
    rows = regions.region_rows(subject)
    batches = (row.batch_id for row in rows if row.batch_id is not None)
    return regions.region_columns(origins(batches)), rows, "gpu_regions"


def _alternatives(subject: Subject) -> Content:
    rows = alternatives.beside(subject.accelerator.slug, subject.chosen.term, subject.now)
    batches = (row.best.batch_id for row in rows if row.best is not None)
    return alternatives.gpu_columns(origins(batches)), rows, "gpu_alternatives"


FILES: dict[str, Callable[[Subject], Content]] = {
    "history": _history,
    "changes": _changes,
    "lines": _lines,
    "terms": _terms,
    "regions": _regions,
    "alternatives": _alternatives,
}
