"""What the first page says: how busy the fleet is, against the plan that is followed, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from costs.models import Price
from costs.queries import runs, utilization
from costs.queries.runs import Freshness
from planner.comparison import Comparison, compare
from planner.comparison.explanations import Cases
from planner.comparison.gather import Subject, fleet_gpus_of
from planner.comparison.price_dates import price_date
from planner.comparison.result import BreakEvenLine, MeasuredUse, PriceDate
from planner.comparison.series import measured_use
from planner.core.evaluate import evaluate
from planner.core.explain import Explanation
from planner.core.plan import Outcome
from planner.models import Scenario
from planner.overview_explanations import overview_explanations
from planner.queries import newest_revisions
from planner.scenarios.plan_cache import FleetUse, data_date, fleet_use, loaded_plans
from planner.templatetags.units import percent

Data = Literal["own", "sample"]
DATA_NAMES: tuple[Data, ...] = ("own", "sample")
MOST_COMPARED = 4
FEWEST_COMPARED = 2


@dataclass(frozen=True)
class Week:
    """The last measured week against the one before. GPUs are means over its measured hours."""

    number: int
    first: datetime
    last: datetime
    share: float | None
    change: float | None
    idle_gpus: Decimal | None
    available_gpus: Decimal | None
    active_share: float | None
    shares: tuple[float | None, ...]  # of the last weeks, oldest first
    is_complete: bool
    hours_measured: Decimal
    hours_expected: Decimal


@dataclass(frozen=True)
class Followed:
    """The plan of record and what it comes to."""

    scenario: Scenario
    outcome: Outcome
    cases: Cases
    prices: PriceDate

    @property
    def pays_above(self) -> float | None:
        return self.outcome.break_even_utilization_of_available

    @property
    def planned_use(self) -> float | None:
        return self.outcome.planned_utilization_of_available

    @property
    def margin(self) -> float | None:
        above, planned = self.pays_above, self.planned_use
        return None if above is None or planned is None else planned - above


@dataclass(frozen=True)
class Step:
    """One thing to do before the page can answer; what it unlocks stands beside it."""

    title: str
    text: str
    route: str
    action: str
    is_done: bool
    for_planners: bool = True


@dataclass(frozen=True)
class Overview:
    """The whole page for one kind of data."""

    data: Data
    other_data: Data | None  # what else could be shown
    week: Week | None
    measured: MeasuredUse | None
    measured_until: datetime | None
    median_share: float | None
    followed: Followed | None
    comparison: Comparison | None
    break_evens: tuple[BreakEvenLine, ...]
    sources: Sequence[Freshness]
    steps: tuple[Step, ...]
    explanations: Mapping[str, Explanation]

    @property
    def is_empty(self) -> bool:
        return self.week is None and self.followed is None and self.comparison is None

    @property
    def margin(self) -> float | None:
        """Return how far the plan's use of what it pays for lies above its break-even.

        The measured share stands beside it: it is of today's fleet, which may be another than the plan's.
        """
        return None if self.followed is None else self.followed.margin

    @property
    def all_done(self) -> bool:
        return all(step.is_done for step in self.steps)

    @property
    def shown_steps(self) -> list[Step]:
        """Return all steps at the start, later only those that are left."""
        return [step for step in self.steps if self.is_empty or not step.is_done]

    @property
    def fresh_count(self) -> int:
        return len(self.used_sources) - len(self.late_sources)

    @property
    def used_sources(self) -> list[Freshness]:
        return [source for source in self.sources if source.state != "never"]

    @property
    def late_sources(self) -> list[Freshness]:
        return [source for source in self.used_sources if source.state != "fresh"]


def overview(now: datetime, asked: str = "") -> Overview:
    """Return the page; `asked` is "own", "sample" or "" for own where there is some, else sample."""
    loaded = [name for name in DATA_NAMES if utilization.has_data(sample=name == "sample")]
    data: Data = next((name for name in DATA_NAMES if name == asked), loaded[0] if loaded else "own")
    is_sample = data == "sample"
    date = data_date(now)
    use = fleet_use(sample=is_sample, date=date)
    scenarios = list(Scenario.objects.filter(is_sample=is_sample)[:MOST_COMPARED])
    followed = _followed([one for one in scenarios if one.is_plan_of_record], now)
    comparison = _comparison(scenarios, now)
    return Overview(
        data=data,
        other_data=next((name for name in loaded if name != data), None),
        week=_week(use),
        measured=measured_use(use, fleet_gpus_of(use), is_sample),
        measured_until=use.measured.until if use.measured else None,
        median_share=use.measured.share if use.measured else None,
        followed=followed,
        comparison=comparison,
        break_evens=_break_evens(comparison, followed),
        sources=runs.freshness(now),
        steps=_steps(use, scenarios),
        explanations=overview_explanations(use, None if followed is None else followed.cases, comparison),
    )


def _followed(plans_of_record: Sequence[Scenario], now: datetime) -> Followed | None:
    if not plans_of_record:
        return None
    scenario = plans_of_record[0]
    revisions = newest_revisions(Scenario.objects.filter(pk=scenario.pk))
    date = data_date(now)
    loaded = loaded_plans(list(revisions), date)[0]
    outcome = evaluate(loaded.plan)
    cases = Cases([Subject("A", scenario, loaded, outcome)])
    return Followed(scenario, outcome, cases, price_date(loaded, date))


def _comparison(scenarios: Sequence[Scenario], now: datetime) -> Comparison | None:
    if len(scenarios) < FEWEST_COMPARED:
        return None
    base = next((one.slug for one in scenarios if one.is_plan_of_record), "")
    return compare(scenarios, now=now, base=base)


def _break_evens(comparison: Comparison | None, followed: Followed | None) -> tuple[BreakEvenLine, ...]:
    if comparison is not None:
        return comparison.series.break_evens
    if followed is None or followed.pays_above is None:
        return ()
    return (BreakEvenLine("A", followed.pays_above, f"plan pays above {percent(followed.pays_above)}"),)


def _week(use: FleetUse) -> Week | None:
    if use.measured is None:
        return None
    *_, week = weeks = use.measured.weeks
    before = weeks[-2].share if len(weeks) > 1 and week.start - weeks[-2].start == utilization.WEEK else None
    hours = week.hours_measured
    available = week.available_gpu_hours / hours if week.available_gpu_hours and hours else None
    return Week(
        number=week.start.isocalendar().week,
        first=week.start,
        last=week.end - timedelta(days=1),
        share=week.share,
        change=None if week.share is None or before is None else week.share - before,
        idle_gpus=None if available is None else available - week.allocated_gpu_hours / hours,
        available_gpus=available,
        active_share=week.active_share,
        shares=tuple(each.share for each in weeks[-12:]),
        is_complete=week.is_complete,
        hours_measured=hours,
        hours_expected=week.hours_expected,
    )


def _steps(use: FleetUse, scenarios: Sequence[Scenario]) -> tuple[Step, ...]:
    return (
        Step(
            "Prices",
            "A table of list prices comes along; load your clouds' price lists for more.",
            "source_list",
            "Load prices",
            Price.objects.filter(effective_to__isnull=True).exists(),
        ),
        Step(
            "Use of the fleet",
            "An hourly CSV of installed, available and allocated GPUs. Puts measured use beside every plan.",
            "upload",
            "Upload use",
            use.measured is not None,
        ),
        Step(
            "First scenario",
            "How you supply GPUs today: what it costs, and above which utilization it pays.",
            "scenario_new",
            "New scenario",
            len(scenarios) >= 1,
        ),
        Step(
            "A second one to compare with",
            "Buy, reserve, rent: side by side, month by month.",
            "scenario_new",
            "New scenario",
            len(scenarios) >= FEWEST_COMPARED,
        ),
        Step(
            "Plan of record",
            "The plan that is followed. This page measures the fleet against it.",
            "scenario_list",
            "Choose a plan",
            any(one.is_plan_of_record for one in scenarios),
        ),
    )
