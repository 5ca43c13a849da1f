"""Explanations of figures, written only when one is read: a slider drag shows none of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from planner.comparison import differences, explained
from planner.comparison.figures import unit_words
from planner.comparison.gather import Subject
from planner.comparison.measured import measured_share, set_share
from planner.comparison.origins import source_lines, source_text
from planner.comparison.result import Card, Cell, Letter, Row, ViewName
from planner.comparison.rows import CORE_VIEWS
from planner.comparison.training import Training
from planner.core.explain import FIGURES, Case, Explanation, explain_one
from planner.core.plan import View
from planner.explanations import Explanations, Writers
from planner.scenarios.plan_cache import FleetUse

SAVING, SAVING_SHARE = "saving", "saving_share"
MEASURED, SET = "measured_use", "set_use"


@dataclass
class Cases:
    """The scenarios as the core explains them, each read once in each view that is asked for."""

    subjects: Sequence[Subject]
    _made: dict[tuple[Letter, View], Case] = field(default_factory=dict)
    _texts: dict[Letter, dict[str, str]] = field(default_factory=dict)

    def of(self, subject: Subject, view: View) -> Case:
        """Return one scenario in one view, with where its prices come from."""
        letter = subject.letter
        if letter not in self._texts:
            self._texts[letter] = {one.supply: source_text(one) for one in source_lines(subject)}
        if (letter, view) not in self._made:
            self._made[letter, view] = Case(subject.outcome, view, self._texts[letter])
        return self._made[letter, view]

    def headline(self, subject: Subject, view: View, figure: str) -> Explanation:
        """Return one of the core's figures explained."""
        return explain_one(self.of(subject, view), figure)  # type: ignore[arg-type] # of FIGURES


def scenario_writers(cases: Cases, view: ViewName, others: Sequence[tuple[str, ViewName]]) -> Writers:
    """Return the writers of every figure of every scenario; `others` are shown in another view too."""
    found: Writers = {}
    core_view = CORE_VIEWS[view]
    for one in cases.subjects:
        for figure in FIGURES:
            if figure == "unmet_by_break_even" and not one.outcome.unmet_gpu_hours:
                continue
            found[f"{figure}-{one.letter}"] = partial(cases.headline, one, core_view, figure)
        for name, other in others:
            if other != view:
                found[f"{name}_{other}-{one.letter}"] = partial(cases.headline, one, CORE_VIEWS[other], name)
    return found


def result_explanations(subject: Subject, view: ViewName) -> Explanations:
    """Return the explanations of one scenario's page."""
    cases = Cases([subject])
    others = [(name, other) for name in ("total", "unit_cost") for other in CORE_VIEWS]
    found = scenario_writers(cases, view, others)
    found["against_on_demand-A"] = partial(explained.against_on_demand, cases.of(subject, CORE_VIEWS[view]))
    return Explanations(found)


def comparison_explanations(
    subjects: Sequence[Subject],
    view: ViewName,
    saving: tuple[Subject, Subject] | None,
    use: FleetUse,
    set_to: float | None,
    fleet_gpus: float | None,
    runs: Mapping[Letter, Training],
    cards: Iterable[Card],
    rows: Iterable[Row],
) -> Explanations:
    """Return the explanations of a comparison: of its scenarios, its rows, its differences, its answer."""
    cases = Cases(subjects)
    found = scenario_writers(cases, view, [("total", "present_value")])
    for one in subjects:
        found[f"lead_time_days-{one.letter}"] = partial(explained.lead_time, one.plan)
    for letter, training in runs.items():
        found[f"days_per_run-{letter}"] = partial(explained.days_per_run, training)
        found[f"runs_a_month-{letter}"] = partial(explained.runs_a_month, training)
    for row in rows:
        found |= _row_writers(cases, view, row)
    for card in cards:
        found |= _card_writers(card)
    if saving is not None:
        found[SAVING] = partial(differences.saving, *saving, view)
        found[SAVING_SHARE] = partial(differences.saving_share, *saving, view)
    found[MEASURED] = partial(measured_share, use.measured)
    if set_to is not None:
        found[SET] = partial(set_share, set_to, fleet_gpus)
    return Explanations(found)


def _row_writers(cases: Cases, view: ViewName, row: Row) -> Writers:
    found: Writers = {}
    base = next((cell for cell in row.cells if cell.delta is None), None)
    for cell, one in zip(row.cells, cases.subjects, strict=True):
        if row.kind == "line":
            found[cell.figure.explain] = partial(
                explained.cost_row, cases, one, CORE_VIEWS[view], row.key, row.label
            )
        if cell.delta is not None:
            found[cell.delta.explain] = partial(
                _difference, row, cell, base, unit_words(row.unit, one.plan.currency)
            )
    return found


def _difference(row: Row, cell: Cell, base: Cell | None, unit: str) -> Explanation:
    if base is None or cell.delta is None:
        raise ValueError("a difference without a base")
    pair = (cell.letter, cell.figure), (base.letter, base.figure)
    return differences.difference(row.label, *pair, cell.delta, unit)


def _card_writers(card: Card) -> Writers:
    """Return the writer of the share on a card; the difference itself is that of the row of totals."""
    if card.delta is None or card.delta.share is None:
        return {}
    key = card.delta.explain.replace("delta_", "share_", 1)
    return {key: partial(differences.share, card.column.letter, card.total, card.delta)}
