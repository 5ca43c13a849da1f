"""What the three charts draw: cumulative cost, who serves the demand, measured use against break-evens."""

import math
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from planner.comparison.figures import money_short
from planner.comparison.gather import Subject
from planner.comparison.result import (
    BreakEvenLine,
    Figure,
    Letter,
    Line,
    Mark,
    MeasuredUse,
    Series,
    Served,
    ViewName,
    WeekSeries,
)
from planner.comparison.rows import CORE_VIEWS
from planner.core.calendar import FloatArray, add_months, hours_between
from planner.core.plan import Outcome, Owned, Plan, SupplyKind
from planner.scenarios.plan_cache import FleetUse
from planner.templatetags.units import day, month, percent

STACK: tuple[SupplyKind, ...] = ("owned", "reserved", "spot", "on_demand")
WEEKS_SHOWN = 12


def series(
    subjects: Sequence[Subject],
    view: ViewName,
    currencies: Mapping[Letter, str],
    use: FleetUse,
    fleet_gpus: float | None,
    is_sample: bool,
) -> Series:
    """Return the series of all charts, on one axis of months."""
    plan = subjects[0].plan
    months = first_days(plan)
    return Series(
        months=months,
        cumulative=tuple(_line(one, view, currencies[one.letter]) for one in subjects),
        marks=tuple(mark for one in subjects for mark in _marks(one, view, months)),
        served=tuple(_served(one) for one in subjects),
        measured=measured_use(use, fleet_gpus, is_sample),
        break_evens=tuple(line for one in subjects for line in _break_even_lines(one)),
    )


def first_days(plan: Plan) -> tuple[date, ...]:
    """Return the first day of every month of a plan."""
    return tuple(add_months(plan.start, index) for index in range(plan.months))


def useful_by_kind(outcome: Outcome) -> dict[SupplyKind, FloatArray]:
    """Return useful GPU-hours by kind of supply and month."""
    frame, months = outcome.monthly, outcome.plan.months
    lines, kinds = frame["line"].to_numpy(), frame["kind"].to_numpy()
    hours = frame["useful_gpu_hours"].to_numpy(dtype=float)
    found: dict[SupplyKind, FloatArray] = {kind: np.zeros(months) for kind in STACK}
    for first in range(0, len(frame), months):
        if lines[first] == "served":
            found[kinds[first]] += hours[first : first + months]
    return found


def unmet_by_month(outcome: Outcome) -> FloatArray:
    """Return unmet GPU-hours by month."""
    frame = outcome.monthly
    hours: FloatArray = frame["useful_gpu_hours"].to_numpy(dtype=float)[frame["line"].to_numpy() == "unmet"]
    return hours


def known(values: FloatArray) -> tuple[float | None, ...]:
    """Return floats with None for NaN, which JSON cannot carry."""
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def _line(subject: Subject, view: ViewName, currency: str) -> Line:
    values = known(subject.outcome.cumulative[CORE_VIEWS[view]].to_numpy(dtype=float))
    return Line(subject.letter, subject.scenario.name, values, money_short(values[-1], currency))


def _marks(subject: Subject, view: ViewName, months: tuple[date, ...]) -> list[Mark]:
    cumulative = known(subject.outcome.cumulative[CORE_VIEWS[view]].to_numpy(dtype=float))
    marks = []
    found = subject.outcome.break_even[CORE_VIEWS[view]]
    if not subject.is_metered and found is not None and found.month is not None:
        value = cumulative[found.month - 1]
        if value is not None and found.month > 1:
            text = f"{subject.letter} pays from {month(months[found.month - 1])}"
            marks.append(Mark(subject.letter, months[found.month - 1], value, text))
    for supply in subject.plan.supplies:
        if isinstance(supply, Owned):
            live = _first_month_with_capacity(subject.outcome, supply.name)
            value = None if live is None else cumulative[live]
            if live is not None and value is not None:
                gpus = supply.servers * supply.gpus_per_server
                marks.append(Mark(subject.letter, months[live], value, f"{subject.letter}: {gpus} GPUs live"))
    return marks


def _first_month_with_capacity(outcome: Outcome, supply: str) -> int | None:
    frame = outcome.capacity
    hours = frame["available_gpu_hours"].to_numpy(dtype=float)[frame["supply"].to_numpy() == supply]
    live = np.flatnonzero(hours)
    return int(live[0]) if len(live) else None


def _served(subject: Subject) -> Served:
    plan = subject.plan
    hours = np.array([hours_between(day, add_months(day, 1)) for day in first_days(plan)], dtype=float)
    kinds = {kind: values / hours for kind, values in useful_by_kind(subject.outcome).items()}
    unmet = unmet_by_month(subject.outcome) / hours
    demand = np.sum([*kinds.values(), unmet], axis=0)
    return Served(
        letter=subject.letter,
        name=subject.scenario.name,
        kinds={kind: tuple(values.tolist()) for kind, values in kinds.items()},
        unmet=tuple(unmet.tolist()),
        demand=tuple(demand.tolist()),
    )


def _break_even_lines(subject: Subject) -> list[BreakEvenLine]:
    share = subject.outcome.break_even_utilization_of_available
    if share is None:
        return []
    return [BreakEvenLine(subject.letter, share, f"{subject.letter} pays above {percent(share)}")]


def measured_use(use: FleetUse, fleet_gpus: float | None, is_sample: bool) -> MeasuredUse | None:
    """Return the measured weeks that stand beside plans, or None where nothing is measured."""
    if use.measured is None or fleet_gpus is None:
        return None
    weeks = use.measured.weeks[-WEEKS_SHOWN:]
    starts = tuple(week.start.date() for week in weeks)
    pools = []
    for pool, periods in sorted(use.pools.items()):
        shares = {period.start.date(): period.share for period in periods}
        pools.append(WeekSeries(pool, tuple(shares.get(start) for start in starts)))
    last = weeks[-1].share
    clusters = ", ".join(use.measured.clusters)
    return MeasuredUse(
        weeks=starts,
        fleet=WeekSeries("fleet", tuple(week.share for week in weeks)),
        pools=tuple(pools) if len(pools) > 1 else (),
        busy_gpus=tuple(
            float(week.allocated_gpu_hours / week.hours_measured) if week.hours_measured else None
            for week in weeks
        ),
        last=Figure(last, percent(last)),
        fleet_gpus=fleet_gpus,
        source=f"{clusters}, {fleet_gpus:,.0f} GPUs, measured to {day(use.measured.until)}",
        is_sample=is_sample,
    )
