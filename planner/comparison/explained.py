"""Explanations of what the comparison works out beside the core: cost rows, lead times, reference runs."""

from collections.abc import Sequence
from typing import Protocol

from planner.comparison.figures import of_unit
from planner.comparison.gather import Subject
from planner.comparison.rows import ready_days, row_key
from planner.comparison.training import Training
from planner.core.explain import Case, Explanation, Input, context, line_total, numbered
from planner.core.plan import Plan, View
from planner.templatetags.units import count, usd


class CaseSource(Protocol):
    """Whoever holds the scenarios as the core explains them."""

    def of(self, subject: Subject, view: View) -> Case: ...


def cost_row(cases: CaseSource, subject: Subject, view: View, key: str, label: str) -> Explanation:
    """Return what a cost row holds: the lines of the ledger that it shows."""
    case = cases.of(subject, view)
    return line_total(case, label, [one for one in case.money_lines() if row_key(one.line, one.kind) == key])


def lead_time(plan: Plan) -> Explanation:
    """Return the days until the last of what is owned and reserved is there."""
    ready = ready_days(plan)
    parts = numbered((name, float(days), f"{count(days)} days") for name, days in ready.items())
    value = float(max(ready.values(), default=0))
    return Explanation(
        "Lead time to full capacity",
        "Days from the plan's start until the last of what is owned or reserved is there. Servers count from "
        "the first month that begins on or after the end of order, delivery and burn-in.",
        f"latest of {count(len(parts))}: {count(value)} days = {of_unit(value, 'days', '').text}",
        parts,
        value,
        "days",
        f"max(0, {', '.join(one.symbol for one in parts)})" if parts else "0",
    )


def against_on_demand(case: Case) -> Explanation:
    """Return what the plan costs less than all its demand on demand at the reference price."""
    total, currency = case.outcome.total[case.view], case.plan.currency
    rented = float(case.outcome.cumulative[f"baseline_{case.view}"].iloc[-1])
    rent = None if rented != rented else rented
    change = None if total is None or rent is None else rent - total
    return Explanation(
        "Against renting all of it on demand",
        "All demand at the reference price without quota, less the total of the plan.",
        f"{usd(rent, currency)} − {usd(total, currency)} = {usd(change, currency)}",
        (
            Input("All of it on demand", rent, usd(rent, currency), symbol="rent"),
            Input("Total of the plan", total, usd(total, currency), symbol="total"),
            *case.reference_inputs(),
        ),
        change,
        currency,
        "rent - total",
    )


def days_per_run(training: Training) -> Explanation:
    """Return the days of one reference run."""
    gpus = training.useful_gpu_hours / training.hours
    text = of_unit(training.days, "run_days", "").text
    return Explanation(
        "Days per reference run",
        "How long one run would take on the GPUs that serve training on average. The run's GPU-hours are "
        "those that its maker states for its own machines.",
        f"{_run_text(training)} / ({gpus:,.1f} GPUs × 24 h) = {text}",
        (*_inputs(training), *_why(training)),
        training.days,
        "days",
        "run / (served / hours * 24)",
    )


def runs_a_month(training: Training) -> Explanation:
    """Return the reference runs that a mean month holds."""
    text = of_unit(training.runs_a_month, "runs_a_month", "").text
    a_month = training.useful_gpu_hours / training.months
    return Explanation(
        "Reference runs a month",
        "The useful GPU-hours that training is served in the mean month of the plan, in runs.",
        f"{a_month:,.0f} GPU-hours a month / {_run_text(training)} = {text}",
        (*_inputs(training), *_why(training)),
        training.runs_a_month,
        "runs a month",
        "served / months / run",
    )


def _inputs(training: Training) -> tuple[Input, ...]:
    run = training.run
    served = training.useful_gpu_hours if training.trains else None
    return (
        Input(
            "Reference run", None if run is None else run.gpu_hours, _run_text(training),
            "" if run is None else run.source, "run",
        ),
        Input("Served to training", served, f"{training.useful_gpu_hours:,.0f} GPU-hours", symbol="served"),
        Input("Hours of the plan", training.hours, f"{training.hours:,.0f} h", symbol="hours"),
        Input("Months", float(training.months), count(training.months), symbol="months"),
    )  # fmt: skip


def _run_text(training: Training) -> str:
    return "unknown" if training.run is None else training.run.text


def _why(training: Training) -> Sequence[Input]:
    return (context("Why unknown", training.reason),) if training.reason else ()
