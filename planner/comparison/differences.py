"""Explanations of differences: of a figure to the baseline's, and of the totals that the answer names."""

from planner.comparison.gather import Subject
from planner.comparison.result import Delta, Figure, Letter, ViewName
from planner.comparison.rows import CORE_VIEWS, VIEW_LABELS
from planner.core.explain import Explanation, Input
from planner.templatetags.units import percent_signed, usd

Told = tuple[Letter, Figure]


def difference(title: str, mine: Told, its: Told, delta: Delta, unit: str) -> Explanation:
    """Return what a cell's figure is less that of the baseline."""
    (letter, figure), (base, other) = mine, its
    return Explanation(
        f"{title}: {letter} against {base}",
        f"{letter} less {base}, the scenario that deltas are against.",
        f"{figure.text} − {other.text} = {delta.text if delta.value else '0'}",
        (
            Input(f"{title}, {letter}", figure.value, figure.text, symbol="mine"),
            Input(f"{title}, {base}", other.value, other.text, symbol="its"),
        ),
        delta.value,
        unit,
        "mine - its",
    )


def share(letter: Letter, total: Figure, delta: Delta) -> Explanation:
    """Return the difference of a card's total as a share of the baseline's."""
    mine, change = total.value, delta.value
    its = None if mine is None or change is None else mine - change
    return Explanation(
        f"Total of {letter}, change in share of the baseline",
        "The difference to the baseline over what the baseline costs.",
        f"{delta.text} / total of the baseline = {delta.share_text}",
        (
            Input(f"Difference, {letter} to the baseline", change, delta.text, symbol="change"),
            Input("Total of the baseline", its, usd(its, ""), symbol="its"),
        ),
        delta.share,
        "share",
        "change / abs(its)",
    )


def saving(one: Subject, other: Subject, view: ViewName) -> Explanation:
    """Return the difference between the totals of two scenarios, as the answer names it: never below 0."""
    core_view, currency = CORE_VIEWS[view], one.plan.currency
    cost, against = one.total(core_view), other.total(core_view)
    change = None if cost is None or against is None else against - cost
    return Explanation(
        f"{one.letter} against {other.letter}",
        f"Total of {other.letter} less total of {one.letter}, {VIEW_LABELS[view].lower()}, "
        f"over {one.plan.months} months. Both serve the same demand.",
        f"{usd(against, currency)} − {usd(cost, currency)} = {usd(change, currency)}",
        _totals(one, other, view),
        change,
        currency,
        "against - cost",
    )


def saving_share(one: Subject, other: Subject, view: ViewName) -> Explanation:
    """Return that difference as a share of what the other scenario costs."""
    core_view, currency = CORE_VIEWS[view], one.plan.currency
    cost, against = one.total(core_view), other.total(core_view)
    found = None if cost is None or not against else (against - cost) / against
    return Explanation(
        f"{one.letter} against {other.letter}, in share",
        f"What {one.letter} costs less, over the total of {other.letter}.",
        f"({usd(against, currency)} − {usd(cost, currency)}) / {usd(against, currency)} "
        f"= {percent_signed(found).lstrip('+')}",
        _totals(one, other, view),
        found,
        "share",
        "(against - cost) / against",
    )


def _totals(one: Subject, other: Subject, view: ViewName) -> tuple[Input, ...]:
    core_view, currency = CORE_VIEWS[view], one.plan.currency
    cost, against = one.total(core_view), other.total(core_view)
    return (
        Input(f"Total of {one.letter}", cost, usd(cost, currency), symbol="cost"),
        Input(f"Total of {other.letter}", against, usd(against, currency), symbol="against"),
    )
