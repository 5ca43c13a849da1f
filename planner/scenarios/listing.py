"""The scenarios at a glance: one row each, at the prices that it keeps or at the newest."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.comparison.cards import break_even_figure
from planner.comparison.figures import money, of_unit
from planner.comparison.price_dates import price_date
from planner.comparison.result import Figure, PriceDate
from planner.core.evaluate import evaluate
from planner.core.plan import Owned, Plan, Reserved
from planner.models import Revision, Scenario
from planner.queries import LoadedPlan
from planner.scenarios.plan_cache import DataDate, PlanKey, Recent, loaded_plans
from planner.scenarios.result import first_unmet_month
from planner.templatetags.units import month


@dataclass(frozen=True)
class Summary:
    """What a row says of one revision; the money is cash over the horizon."""

    currency: str
    months: int
    owned_gpus: int
    reserved_gpus: int
    total: Figure
    unit_cost: Figure
    break_even: Figure
    feasible: str  # "yes", or the first month with unmet demand
    first_unmet: str  # that month in ISO form, "" where all demand is served
    runs: tuple[int, ...]
    prices: PriceDate
    sources: tuple[str, ...]  # names of the sources behind listed prices


@dataclass(frozen=True)
class ListRow:
    """One scenario of the list."""

    scenario: Scenario
    revision: Revision
    summary: Summary


_summaries: Recent[PlanKey, Summary] = Recent(512)


def list_rows(scenarios: Sequence[Scenario], date: DataDate) -> list[ListRow]:
    """Return a row for each scenario, at its newest revision; the count of queries is fixed."""
    newest: dict[int, Revision] = {}
    revisions = Revision.objects.filter(scenario__in=scenarios).order_by("number")
    for revision in revisions.only("pk", "uid", "number", "scenario", "prices_as_of"):
        newest[revision.scenario_id] = revision
    ordered = [newest[scenario.pk] for scenario in scenarios]
    by_key = {date.key_of(revision): revision for revision in ordered}

    def make(missing: list[PlanKey]) -> dict[PlanKey, Summary]:
        plans = loaded_plans([by_key[key] for key in missing], date)
        return {key: _summary(plan, date) for key, plan in zip(missing, plans, strict=True)}

    summaries = _summaries.get_all(list(by_key), make)
    return [
        ListRow(scenario, revision, summary)
        for scenario, revision, summary in zip(scenarios, ordered, summaries, strict=True)
    ]


def _summary(loaded: LoadedPlan, date: DataDate) -> Summary:
    plan = loaded.plan
    try:
        outcome = evaluate(plan)
    except ValueError as error:
        return _refused(loaded, date, str(error))
    reason = "; ".join(gap.text for gap in outcome.gaps)
    unmet = first_unmet_month(outcome)
    return Summary(
        currency=plan.currency,
        months=plan.months,
        owned_gpus=owned_gpus(plan),
        reserved_gpus=reserved_gpus(plan),
        total=money(outcome.total["cash_usd"], plan.currency, reason=reason),
        unit_cost=of_unit(
            outcome.usd_per_useful_gpu_hour["cash_usd"], "money_per_gpu_hour", plan.currency, reason=reason
        ),
        break_even=break_even_figure(outcome, "cash"),
        feasible="yes" if unmet is None else month(unmet),
        first_unmet="" if unmet is None else unmet.isoformat(),
        runs=loaded.runs,
        prices=price_date(loaded, date),
        sources=loaded.price_lists,
    )


def _refused(loaded: LoadedPlan, date: DataDate, reason: str) -> Summary:
    """Return the row of a plan that the model does not take: saved before a rule was there."""
    unknown = Figure(None, "unknown", reason)
    return Summary(
        currency=loaded.plan.currency,
        months=loaded.plan.months,
        owned_gpus=owned_gpus(loaded.plan),
        reserved_gpus=reserved_gpus(loaded.plan),
        total=unknown,
        unit_cost=unknown,
        break_even=unknown,
        feasible="unknown",
        first_unmet="",
        runs=loaded.runs,
        prices=price_date(loaded, date),
        sources=loaded.price_lists,
    )


def owned_gpus(plan: Plan) -> int:
    """Return the GPUs that a plan buys, spares not counted."""
    return sum(
        supply.servers * supply.gpus_per_server for supply in plan.supplies if isinstance(supply, Owned)
    )


def reserved_gpus(plan: Plan) -> int:
    """Return the GPUs that a plan commits to."""
    return sum(supply.gpus for supply in plan.supplies if isinstance(supply, Reserved))
