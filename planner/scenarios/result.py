"""What one scenario costs: the answer, its totals in three views, its months, and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

import numpy as np

from planner.comparison.address import ONE_DATE
from planner.comparison.cards import card
from planner.comparison.explanations import result_explanations
from planner.comparison.figures import money_short
from planner.comparison.gather import Subject
from planner.comparison.origins import gap_lines, source_lines
from planner.comparison.price_dates import price_date
from planner.comparison.result import Card, Column, Figure, GapLine, Part, PriceDate, SourceLine, ViewName
from planner.comparison.rows import CORE_VIEWS, VIEW_LABELS
from planner.comparison.series import first_days, unmet_by_month
from planner.core.evaluate import evaluate
from planner.core.explain import Explanation
from planner.core.plan import Outcome, View
from planner.models import Revision, Scenario
from planner.queries import LoadedPlan
from planner.scenarios.assumption_lines import AssumptionLine, assumption_lines
from planner.scenarios.monthly_ledger import LedgerColumn, LedgerRow, monthly_ledger
from planner.scenarios.plan_cache import DataDate
from planner.templatetags.units import gpu_hours, month, usd_per_hour, usd_short


@dataclass(frozen=True)
class ViewTotal:
    """The total in one view, and per useful GPU-hour."""

    view: ViewName
    label: str
    is_current: bool
    total: Figure
    unit_cost: Figure
    href: str  # query string of the page in this view


@dataclass(frozen=True)
class ScenarioResult:
    """Everything that the result page and its files show."""

    scenario: Scenario
    revision: Revision
    view: ViewName
    as_of: datetime  # of the prices: that of the revision where it keeps one, else of the page
    is_frozen: bool  # as_of stands in the address, and prices are read at it
    prices: PriceDate
    is_kept_elsewhere: bool  # the revision keeps prices of another date, which the address passes over
    page_date: datetime | None  # that the address names and a scenario with kept prices does not follow
    corrections: tuple[str, ...]  # what the facts of a kept date say otherwise by now
    currency: str
    start: date
    months: int
    sentence: tuple[Part, ...]
    card: Card
    totals: tuple[ViewTotal, ...]
    columns: tuple[LedgerColumn, ...]
    ledger: tuple[LedgerRow, ...]
    gaps: tuple[GapLine, ...]
    notes: tuple[str, ...]
    sources: tuple[SourceLine, ...]
    runs: tuple[int, ...]
    assumptions: tuple[AssumptionLine, ...]
    explanations: Mapping[str, Explanation]
    query: str  # query string of the page as it stands: its files take the same
    own_query: str  # of the page at the scenario's own prices
    one_date_query: str  # of the page at the prices of its own date, whatever the scenario keeps

    @property
    def answer(self) -> str:
        """Return the sentence at the top of the page as plain text."""
        return "".join(part.text for part in self.sentence)


def scenario_result(
    scenario: Scenario,
    loaded: LoadedPlan,
    view: ViewName,
    as_of: DataDate,
    asked: dict[str, str],
) -> ScenarioResult:
    """Return the result of one revision at a data date; `asked` is the address besides the view."""
    outcome = evaluate(loaded.plan)
    subject = Subject("A", scenario, loaded, outcome)
    column = _column(subject, as_of)
    revision = loaded.revision
    plan, core_view = loaded.plan, CORE_VIEWS[view]
    columns, rows = monthly_ledger(outcome, core_view, plan.currency)
    return ScenarioResult(
        scenario=scenario,
        revision=revision,
        view=view,
        as_of=column.prices.moment,
        is_frozen=as_of.is_frozen and not column.prices.is_kept,
        prices=column.prices,
        is_kept_elsewhere=revision.prices_as_of is not None and not column.prices.is_kept,
        page_date=as_of.as_of if as_of.is_frozen and column.prices.is_kept else None,
        corrections=tuple(f"{text[:1].upper()}{text[1:]}." for text in loaded.prices.corrections),
        currency=plan.currency,
        start=plan.start,
        months=plan.months,
        sentence=_answer(subject, view),
        card=card(subject, column, subject, view, plan.currency),
        totals=tuple(
            _view_total(outcome, name, name == view, {**asked, "view": name}) for name in CORE_VIEWS
        ),
        columns=columns,
        ledger=rows,
        gaps=tuple(gap_lines(subject)),
        notes=outcome.notes,
        sources=tuple(source_lines(subject)),
        runs=loaded.runs,
        assumptions=tuple(assumption_lines(revision, loaded.gpu_power_w)),
        query=_query({**asked, "view": view}),
        own_query=_query({**asked, "view": view, "as_of": "", "prices": ""}) or "?",
        one_date_query=_query({**asked, "view": view, "prices": ONE_DATE}),
        explanations=result_explanations(subject, view),
    )


def _column(subject: Subject, date: DataDate) -> Column:
    return Column(
        letter="A",
        slug=subject.scenario.slug,
        name=subject.scenario.name,
        revision=subject.loaded.revision.number,
        is_base=True,
        is_cheapest=False,
        is_plan_of_record=subject.scenario.is_plan_of_record,
        is_sample=subject.scenario.is_sample,
        currency=subject.plan.currency,
        prices=price_date(subject.loaded, date),
    )


def _query(pairs: Mapping[str, str]) -> str:
    """Return a query string without what is the default."""
    kept = {name: value for name, value in pairs.items() if value and (name, value) != ("view", "cash")}
    return f"?{urlencode(kept)}" if kept else ""


def _view_total(outcome: Outcome, view: ViewName, is_current: bool, pairs: Mapping[str, str]) -> ViewTotal:
    core_view, currency = CORE_VIEWS[view], outcome.plan.currency
    reason = "; ".join(gap.text for gap in outcome.gaps)
    unit = outcome.usd_per_useful_gpu_hour[core_view]
    other = "" if is_current else f"_{view}"
    return ViewTotal(
        view,
        VIEW_LABELS[view],
        is_current,
        money_short(outcome.total[core_view], currency, reason=reason, explain=f"total{other}-A"),
        Figure(unit, usd_per_hour(unit, currency), reason, f"unit_cost{other}-A"),
        _query(pairs) or "?",
    )


def _answer(subject: Subject, view: ViewName) -> tuple[Part, ...]:
    """Return the sentence at the top of the page."""
    outcome, plan = subject.outcome, subject.plan
    core_view = CORE_VIEWS[view]
    total = outcome.total[core_view]
    over = f"over {plan.months} months from {month(plan.start)}"
    if total is None:
        gaps = "; ".join(gap.text.split(", so every total")[0] for gap in outcome.gaps)
        text = f"What {subject.scenario.name} costs {over} is unknown: {gaps or 'a price is missing'}."
        return (Part(text),)
    unit = outcome.usd_per_useful_gpu_hour[core_view]
    return (
        Part(f"{subject.scenario.name} costs "),
        Part(usd_short(total, plan.currency), explain="total-A"),
        Part(f" {over}"),
        *_per_hour(unit, plan.currency),
        *_against_on_demand(outcome, core_view),
        Part("."),
        *_unserved(outcome),
    )


def _per_hour(unit: float | None, currency: str) -> tuple[Part, ...]:
    if unit is None:
        return ()
    rate = Part(usd_per_hour(unit, currency), explain="unit_cost-A")
    return (Part(", "), rate, Part(" per useful GPU-hour"))


def _unserved(outcome: Outcome) -> tuple[Part, ...]:
    if not outcome.unmet_gpu_hours:
        return ()
    unmet = Part(gpu_hours(outcome.unmet_gpu_hours), explain="unmet-A")
    first = month(first_unmet_month(outcome))
    return (Part(" It leaves "), unmet, Part(f" of the demand unserved, first in {first}."))


def first_unmet_month(outcome: Outcome) -> date | None:
    """Return the first month in which some demand is not served, or None."""
    unmet = np.flatnonzero(unmet_by_month(outcome))
    if not len(unmet):
        return None
    return first_days(outcome.plan)[int(unmet[0])]


def _against_on_demand(outcome: Outcome, view: View) -> tuple[Part, ...]:
    """Return the difference to all demand at the reference price, only where both do the same work."""
    found, total = outcome.break_even[view], outcome.total[view]
    baseline = float(outcome.cumulative[f"baseline_{view}"].iloc[-1])
    if found is None or found.same_as_baseline or total is None or outcome.unmet_gpu_hours:
        return ()
    change = baseline - total
    word = "less" if change >= 0 else "more"
    amount = Part(usd_short(abs(change), outcome.plan.currency), explain="against_on_demand-A")
    return (Part(": "), amount, Part(f" {word} than renting all of it on demand"))
