"""From scenarios to evaluated plans that may stand side by side: overrides in place, months in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.comparison.result import LETTERS, Letter
from planner.core.adjust import Overrides, adjust
from planner.core.calendar import add_months
from planner.core.check import check_plan
from planner.core.evaluate import evaluate
from planner.core.money import monthly_rate
from planner.core.plan import OnDemand, Outcome, Plan, Spot, View
from planner.core.units import MONTHS_PER_YEAR
from planner.models import Scenario
from planner.queries import LoadedPlan
from planner.scenarios.plan_cache import FleetUse
from planner.templatetags.units import count, month

RELATIVE_SAME = 1e-6  # of the demand: hours closer than this are the same work


@dataclass(frozen=True)
class Subject:
    """One scenario of a comparison, evaluated; `loaded` holds its plan without the overrides."""

    letter: Letter
    scenario: Scenario
    loaded: LoadedPlan
    outcome: Outcome

    @property
    def plan(self) -> Plan:
        return self.outcome.plan

    @property
    def is_metered(self) -> bool:
        """Return whether everything is rented by the hour: "staying on demand"."""
        return all(isinstance(supply, OnDemand | Spot) for supply in self.plan.supplies)

    def total(self, view: View) -> float | None:
        return self.outcome.total[view]

    def does_the_work_of(self, other: "Subject") -> bool:
        """Return whether both face the same demand and leave the same hours of it unmet."""
        mine, its = self.outcome, other.outcome
        near = RELATIVE_SAME * max(mine.demand_gpu_hours, its.demand_gpu_hours, 1.0)
        return (
            abs(mine.demand_gpu_hours - its.demand_gpu_hours) <= near
            and abs(mine.unmet_gpu_hours - its.unmet_gpu_hours) <= near
        )


class NothingToCompareError(ValueError):
    """The model takes none of the scenarios; `notices` say why."""

    def __init__(self, notices: Sequence[str]) -> None:
        super().__init__(" ".join(notices))
        self.notices = tuple(notices)


def gather(
    scenarios: Sequence[Scenario],
    loaded: Sequence[LoadedPlan],
    overrides: Mapping[str, float],
    fleet_gpus: float | None,
    notices: list[str],
) -> list[Subject]:
    """Return the evaluated subjects; what had to be changed for the comparison stands in `notices`."""
    plans = [_overridden(one.plan, overrides, fleet_gpus, notices) for one in loaded]
    aligned = align(plans, notices)
    try:
        outcomes = [evaluate(plan) for plan in aligned]
    except ValueError as error:
        # growth up to the first common month can carry a plan beyond what the model takes
        raise NothingToCompareError([*notices, str(error)]) from None
    return [
        Subject(letter, scenario, one, outcome)
        for letter, scenario, one, outcome in zip(LETTERS, scenarios, loaded, outcomes, strict=False)
    ]


def sound_overrides(
    loaded: Sequence[LoadedPlan],
    overrides: Mapping[str, float],
    fleet_gpus: float | None,
    notices: list[str],
) -> dict[str, float]:
    """Return the overrides that the model takes; the others are named in a notice.

    The bounds of an address know nothing of a plan's months: growth of 20 % a month is a plan for a
    year and none for ten.
    """
    kept: dict[str, float] = {}
    for key, value in overrides.items():
        refused = _refusal(loaded, {**kept, key: value}, fleet_gpus)
        if refused:
            notices.append(f"{key} is not used: {refused}.")
        else:
            kept[key] = value
    return kept


def _refusal(loaded: Sequence[LoadedPlan], overrides: Mapping[str, float], fleet_gpus: float | None) -> str:
    """Return why the model refuses some plan with these overrides, "" where it takes them all."""
    for one in loaded:
        try:
            check_plan(_overridden(one.plan, overrides, fleet_gpus, []))
        except ValueError as error:
            return str(error)
    return ""


def core_overrides(overrides: Mapping[str, float], fleet_gpus: float | None) -> Overrides:
    """Return what-if values of an address (62, %) as the core takes them (GPUs, shares)."""
    demand = overrides.get("demand")
    if "util" in overrides and fleet_gpus is not None:
        demand = overrides["util"] / 100.0 * fleet_gpus
    growth, drift = overrides.get("growth"), overrides.get("drift_year")
    return Overrides(
        demand_gpus=demand,
        growth_per_month=None if growth is None else growth / 100.0,
        price_drift_per_month=None if drift is None else monthly_rate(drift / 100.0),
        usd_capex_per_gpu=overrides.get("capex_gpu"),
        usd_per_kwh=overrides.get("kwh"),
    )


def fleet_gpus_of(use: FleetUse) -> float | None:
    """Return the mean GPUs available in the last measured weeks, or None: what 100 % utilization means."""
    if use.measured is None:
        return None
    weeks = [week for week in use.measured.weeks[-8:] if week.available_gpu_hours and week.hours_measured]
    if not weeks:
        return None
    gpu_hours = sum(week.available_gpu_hours for week in weeks)
    return float(gpu_hours / sum(week.hours_measured for week in weeks))


def _overridden(
    plan: Plan, overrides: Mapping[str, float], fleet_gpus: float | None, notices: list[str]
) -> Plan:
    try:
        return adjust(plan, core_overrides(overrides, fleet_gpus))
    except ValueError:
        # the one thing that adjust refuses: there is no demand that could be scaled
        notices.append(f"{plan.name} has no demand, so the GPUs busy in month 1 are not changed there.")
        rest = {key: value for key, value in overrides.items() if key not in ("util", "demand")}
        return adjust(plan, core_overrides(rest, fleet_gpus))


def within_reach(
    scenarios: Sequence[Scenario], loaded: Sequence[LoadedPlan], notices: list[str]
) -> tuple[list[Scenario], list[LoadedPlan]]:
    """Return the scenarios that the model takes and that have months in common with each other."""
    kept: list[tuple[Scenario, LoadedPlan]] = []
    for scenario, one in zip(scenarios, loaded, strict=True):
        try:
            check_plan(one.plan)
        except ValueError as error:
            notices.append(f"{scenario.name} is left out: {error}.")
            continue
        start, end = _common([*(other.plan for _, other in kept), one.plan])
        if start < end:
            kept.append((scenario, one))
        else:
            notices.append(f"{scenario.name} has no month in common with the others and is left out.")
    return [scenario for scenario, _ in kept], [one for _, one in kept]


def align(plans: Sequence[Plan], notices: list[str]) -> list[Plan]:
    """Return the plans over the months that all of them have."""
    start, end = _common(plans)
    months = _months_between(start, end)
    if all((plan.start, plan.months) == (start, months) for plan in plans):
        return list(plans)
    notices.append(
        f"The scenarios cover different months. Compared are the {count(months)} that they have in "
        f"common, {month(start)} to {month(add_months(end, -1))}; what is paid before or after is left out."
    )
    return [_from_month(plan, start, months) for plan in plans]


def _common(plans: Sequence[Plan]) -> tuple[date, date]:
    return max(plan.start for plan in plans), min(add_months(plan.start, plan.months) for plan in plans)


def _months_between(start: date, end: date) -> int:
    return (end.year - start.year) * MONTHS_PER_YEAR + end.month - start.month


def _from_month(plan: Plan, start: date, months: int) -> Plan:
    """Return the plan from a later month on: demand and prices as they are by then."""
    later = _months_between(plan.start, start)
    drifted = (1.0 + plan.price_drift_per_month) ** later
    return replace(
        plan,
        start=start,
        months=months,
        workloads=tuple(
            replace(one, gpus=one.gpus * (1.0 + one.growth_per_month) ** later) for one in plan.workloads
        ),
        supplies=tuple(
            replace(one, usd_per_gpu_hour=one.usd_per_gpu_hour * drifted)
            if isinstance(one, OnDemand | Spot) and one.usd_per_gpu_hour is not None
            else one
            for one in plan.supplies
        ),
    )
