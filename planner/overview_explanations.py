"""What stands behind the figures of the first page: measured weeks, the plan that is followed, the others."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial

from costs.queries.utilization import WEEK, Period
from planner.comparison import Comparison
from planner.comparison.explanations import MEASURED, SAVING, SAVING_SHARE, Cases
from planner.comparison.measured import OF_AVAILABLE, measured_share
from planner.core.explain import Explanation, Input
from planner.core.plan import View
from planner.explanations import Explanations, Writers
from planner.scenarios.plan_cache import FleetUse
from planner.templatetags.units import count, day, percent, points

CASH: View = "cash_usd"
OF_PLAN = ("total", "unit_cost", "unmet", "break_even_utilization", "planned_use")
OF_COMPARED = ("total", "break_even_utilization", "delta_total")


def overview_explanations(
    use: FleetUse, followed: Cases | None, comparison: Comparison | None
) -> Explanations:
    """Return the explanations of the page; those of compared plans carry their letters."""
    found: Writers = {}
    if use.measured is not None:
        found[MEASURED] = partial(measured_share, use.measured)
        found |= _week_writers(use.measured.weeks, ", ".join(use.measured.clusters))
    if followed is not None:
        for figure in OF_PLAN:
            found[figure] = partial(followed.headline, followed.subjects[0], CASH, figure)
        found["margin"] = partial(_margin, followed)
    if comparison is not None:
        found |= _compared(comparison)
    return Explanations(found)


def _compared(comparison: Comparison) -> Writers:
    """Return those of the comparison that this page shows: its answer, and a row for each plan."""
    told: Mapping[str, Explanation] = comparison.explanations
    keys = [SAVING, SAVING_SHARE, *(part.explain for part in comparison.answer.sentence if part.explain)]
    keys += [f"{name}-{column.letter}" for column in comparison.columns for name in OF_COMPARED]
    return {key: partial(told.__getitem__, key) for key in keys if key in told}


def _margin(followed: Cases) -> Explanation:
    outcome = followed.subjects[0].outcome
    planned, above = outcome.planned_utilization_of_available, outcome.break_even_utilization_of_available
    value = None if planned is None or above is None else planned - above
    return Explanation(
        "To spare",
        "How far the planned use of what the plan pays for lies above the use above which that pays.",
        f"{percent(planned)} − {percent(above)} = {points(value)}",
        (
            Input("Planned use", planned, percent(planned), symbol="planned"),
            Input("Pays above", above, percent(above), symbol="above"),
        ),
        value,
        "points of share",
        "planned - above",
    )


def _week_writers(weeks: Sequence[Period], clusters: str) -> Writers:
    last = weeks[-1]
    found: Writers = {
        "week_share": partial(_share, last, clusters),
        "active_share": partial(_active, last, clusters),
        "idle_gpus": partial(_idle, last, clusters),
        "available_gpus": partial(_available, last, clusters),
    }
    if len(weeks) > 1 and last.start - weeks[-2].start == WEEK:
        found["week_change"] = partial(_change, last, weeks[-2], clusters)
    return found


def _hours(name: str, value: Decimal | None, symbol: str, clusters: str) -> Input:
    number = None if value is None else float(value)
    return Input(name, number, f"{count(number)} GPU-hours", clusters, symbol)


def _share(week: Period, clusters: str) -> Explanation:
    return Explanation(
        f"Fleet utilization, week from {day(week.start)}",
        "Allocated over available GPU-hours, in the hours in which both were reported.",
        f"{count(week.paired_allocated)} / {count(week.paired_available)} GPU-hours = {percent(week.share)}",
        (
            _hours("Allocated", week.paired_allocated, "allocated", clusters),
            _hours("Available", week.paired_available, "available", clusters),
        ),
        week.share,
        OF_AVAILABLE,
        "per(allocated, available)",
    )


def _active(week: Period, clusters: str) -> Explanation:
    return Explanation(
        f"Active share, week from {day(week.start)}",
        "The part of allocated GPU-hours in which the GPUs worked, where their activity was reported.",
        f"{count(week.active_gpu_hours)} / {count(week.watched_gpu_hours)} GPU-hours "
        f"= {percent(week.active_share)}",
        (
            _hours("Active", week.active_gpu_hours, "active", clusters),
            _hours("Allocated and watched", week.watched_gpu_hours, "watched", clusters),
        ),
        week.active_share,
        "share of allocated GPU-hours",
        "per(active, watched)",
    )


def _change(week: Period, before: Period, clusters: str) -> Explanation:
    value = None if week.share is None or before.share is None else week.share - before.share
    return Explanation(
        "Change on the week before",
        "The share of this week less that of the week before, in points.",
        f"{percent(week.share)} − {percent(before.share)} = {points(value)}",
        (
            Input(f"Week from {day(week.start)}", week.share, percent(week.share), clusters, "now"),
            Input(f"Week from {day(before.start)}", before.share, percent(before.share), clusters, "before"),
        ),
        value,
        "points of share",
        "now - before",
    )


def _available(week: Period, clusters: str) -> Explanation:
    gpus = _mean_available(week)
    return Explanation(
        f"Available GPUs, week from {day(week.start)}",
        "The mean over the hours of the week that were reported.",
        f"{count(week.available_gpu_hours)} GPU-hours / {count(week.hours_measured)} h = {count(gpus)} GPUs",
        _week_inputs(week, clusters),
        None if gpus is None else float(gpus),
        "GPUs",
        "available / hours",
    )


def _idle(week: Period, clusters: str) -> Explanation:
    available = _mean_available(week)
    idle = None if available is None else available - week.allocated_gpu_hours / week.hours_measured
    return Explanation(
        f"Idle GPUs, week from {day(week.start)}",
        "Available GPUs that were not allocated, as a mean over the hours of the week that were reported.",
        f"({count(week.available_gpu_hours)} − {count(week.allocated_gpu_hours)}) GPU-hours "
        f"/ {count(week.hours_measured)} h = {count(idle)} GPUs",
        (*_week_inputs(week, clusters), _hours("Allocated", week.allocated_gpu_hours, "allocated", clusters)),
        None if idle is None else float(idle),
        "GPUs",
        "available / hours - allocated / hours",
    )


def _mean_available(week: Period) -> Decimal | None:
    hours = week.hours_measured
    return week.available_gpu_hours / hours if week.available_gpu_hours and hours else None


def _week_inputs(week: Period, clusters: str) -> tuple[Input, ...]:
    available = week.available_gpu_hours or None  # nothing reported is unknown, never 0
    return (
        _hours("Available", available, "available", clusters),
        Input("Hours", float(week.hours_measured) or None, f"{count(week.hours_measured)} h", symbol="hours"),
    )
