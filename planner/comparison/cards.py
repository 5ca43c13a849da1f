"""One card for each scenario: its total and the figures by which a plan is judged at a glance."""

from collections.abc import Mapping

from planner.comparison.figures import (
    NOT_APPLICABLE,
    delta,
    money_short,
    not_applicable,
    of_unit,
    share_served,
)
from planner.comparison.gather import Subject
from planner.comparison.result import Card, Column, Figure, Letter, MixPart, ViewName
from planner.comparison.rows import CORE_VIEWS
from planner.comparison.series import STACK, useful_by_kind
from planner.core.plan import BreakEven, Outcome, SupplyKind
from planner.templatetags.units import NBSP, gpu_hours, month, percent

KIND_LABELS: Mapping[SupplyKind, str] = {
    "owned": "owned",
    "reserved": "reserved",
    "spot": "spot",
    "on_demand": "on demand",
}


COMMITTED_KINDS: frozenset[SupplyKind] = frozenset({"owned", "reserved"})


def card(subject: Subject, column: Column, base: Subject, view: ViewName, base_currency: str) -> Card:
    """Return the card of one scenario."""
    outcome, core_view, letter = subject.outcome, CORE_VIEWS[view], subject.letter
    reason = "; ".join(gap.text for gap in outcome.gaps)
    total = outcome.total[core_view]
    mix = mix_of(outcome)
    comparable = letter != base.letter and column.currency == base_currency
    return Card(
        column=column,
        total=money_short(total, column.currency, reason=reason, explain=f"total-{letter}"),
        total_note=f"over {outcome.plan.months} months",
        delta=delta(total, base.total(core_view), "money", column.currency, explain=f"total-{letter}")
        if comparable
        else None,
        mix=mix,
        mix_text=_mix_text(mix),
        break_even=break_even_figure(outcome, view, f"break_even-{letter}"),
        pays_above=_pays_above(outcome, letter),
        planned_use=_planned_use(outcome, letter),
        peak_cash=money_short(
            outcome.peak_month_cash_usd, column.currency, reason=reason, explain=f"peak_month-{letter}"
        ),
        served=_served(outcome, letter),
        unmet=Figure(outcome.unmet_gpu_hours, gpu_hours(outcome.unmet_gpu_hours), explain=f"unmet-{letter}"),
        unit_cost=of_unit(
            outcome.usd_per_useful_gpu_hour[core_view],
            "money_per_gpu_hour",
            column.currency,
            reason=reason,
            explain=f"unit_cost-{letter}",
        ),
    )


def mix_of(outcome: Outcome) -> tuple[MixPart, ...]:
    """Return the shares of the kinds of supply in the useful GPU-hours; nothing where nothing is served."""
    hours = {kind: float(values.sum()) for kind, values in useful_by_kind(outcome).items()}
    total = sum(hours.values())
    if total <= 0.0:
        return ()
    parts, x = [], 0.0
    for kind in STACK:
        share = hours[kind] / total
        if share > 0.0:
            parts.append(MixPart(kind, KIND_LABELS[kind], share, x, share * 100.0, percent(share)))
            x += share * 100.0
    return tuple(parts)


def _mix_text(mix: tuple[MixPart, ...]) -> str:
    if not mix:
        return "No GPU-hours served"
    return "GPU-hours served: " + ", ".join(f"{part.label} {part.text}" for part in mix)


def break_even_figure(outcome: Outcome, view: ViewName, explain: str = "") -> Figure:
    """Return the break-even month against staying on demand, resale not counted."""
    found = outcome.break_even[CORE_VIEWS[view]]
    if not _kinds(outcome) & COMMITTED_KINDS:
        return not_applicable("nothing is bought or committed to")
    if found is None:
        return Figure(None, "unknown", _why_unknown(outcome), explain)
    if found.same_as_baseline:
        return not_applicable("the plan costs what staying on demand costs")
    return Figure(
        None if found.month is None else float(found.month),
        break_even_text(found, outcome.plan.months),
        _warning(found),
        explain,
    )


def break_even_text(found: BreakEven, months: int) -> str:
    """Return the month of a break-even in words."""
    if found.month is None or found.date is None:
        return f"not in {months} months"
    text = "at once" if found.month == 1 else month(found.date)
    return text if found.until is None else f"{text}, until month {found.until}"


def _warning(found: BreakEven) -> str:
    if not found.unmet_gpu_hours:
        return ""
    return f"{gpu_hours(found.unmet_gpu_hours)} of the demand are left unserved by then"


def _why_unknown(outcome: Outcome) -> str:
    if outcome.gaps:
        return "; ".join(gap.text for gap in outcome.gaps)
    return "there is no on-demand price to be measured against"


def _pays_above(outcome: Outcome, letter: Letter) -> Figure:
    share = outcome.break_even_utilization_of_available
    explain = f"break_even_utilization-{letter}"
    if share is not None:
        text = f"{percent(share)}{NBSP}util." if share <= 1.0 else "no utilization"
        return Figure(share, text, "" if share <= 1.0 else f"break-even is at {percent(share)}", explain)
    if outcome.gaps and _kinds(outcome) & COMMITTED_KINDS:
        return Figure(None, "unknown", _why_unknown(outcome), explain)
    return Figure(None, NOT_APPLICABLE)


def _planned_use(outcome: Outcome, letter: Letter) -> Figure:
    share = outcome.planned_utilization_of_available
    if share is None:
        return not_applicable("nothing is bought or committed to")
    return Figure(share, percent(share), explain=f"planned_use-{letter}")


def _kinds(outcome: Outcome) -> set[SupplyKind]:
    return {supply.kind for supply in outcome.plan.supplies}


def _served(outcome: Outcome, letter: Letter) -> Figure:
    if outcome.demand_gpu_hours <= 0.0:
        return not_applicable("there is no demand")
    return share_served(1.0 - outcome.unmet_gpu_hours / outcome.demand_gpu_hours, f"served-{letter}")
