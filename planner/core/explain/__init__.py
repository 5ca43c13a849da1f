"""Explain each headline figure of an Outcome: one sentence, the formula with this case's numbers, inputs.

`recompute` works a figure out again from its inputs alone.
"""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from planner.core.explain import hours, pays, totals
from planner.core.explain.case import Amounts, Case
from planner.core.explain.parts import Explanation, Input, context, numbered, sum_of
from planner.core.explain.recompute import agrees, recompute
from planner.core.explain.totals import line_total
from planner.core.plan import Outcome, View

Figure = Literal[
    "total",
    "break_even",
    "unmet_by_break_even",
    "break_even_utilization",
    "planned_use",
    "unit_cost",
    "peak_month",
    "demand",
    "unmet",
    "served",
    "peak_on_demand",
]
FIGURES: tuple[Figure, ...] = get_args(Figure)
_WRITERS: Mapping[Figure, Callable[[Case], Explanation]] = {
    "total": totals.total,
    "break_even": pays.break_even,
    "unmet_by_break_even": pays.unmet_by_break_even,
    "break_even_utilization": pays.break_even_utilization,
    "planned_use": pays.planned_use,
    "unit_cost": totals.unit_cost,
    "peak_month": totals.peak_month,
    "demand": hours.demand,
    "unmet": hours.unmet,
    "served": hours.served,
    "peak_on_demand": hours.peak_on_demand,
}

__all__ = [
    "FIGURES",
    "Amounts",
    "Case",
    "Explanation",
    "Figure",
    "Input",
    "agrees",
    "context",
    "explain",
    "explain_one",
    "line_total",
    "numbered",
    "recompute",
    "sum_of",
]


def explain(
    outcome: Outcome, view: View = "cash_usd", sources: Mapping[str, str] | None = None
) -> dict[Figure, Explanation]:
    """Return the explanation of every headline figure; `sources` says where a supply's price comes from."""
    case = Case(outcome, view, sources or {})
    return {figure: explain_one(case, figure) for figure in FIGURES}


def explain_one(case: Case, figure: Figure) -> Explanation:
    """Return the explanation of one headline figure."""
    return _WRITERS[figure](case)
