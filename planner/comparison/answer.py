"""The sentence that answers the page: which plan costs less, by how much, and when that holds."""

from collections.abc import Sequence

from planner.comparison.cards import break_even_text
from planner.comparison.gather import Subject
from planner.comparison.result import Answer, Part, ViewName
from planner.comparison.rows import CORE_VIEWS
from planner.scenarios.plan_cache import FleetUse
from planner.templatetags.units import count, gpu_hours, percent, percent_signed, usd_short

IN_VIEW = {"cash": "", "amortized": ", amortized", "present_value": " in present value"}
NUMBER_WORDS = {2: "two", 3: "three", 4: "four"}


def comparable(subjects: Sequence[Subject], base: Subject, view: ViewName) -> list[Subject]:
    """Return the scenarios that may be ranked with the base: totals known, one currency, the same work."""
    return [
        one
        for one in subjects
        if one.total(CORE_VIEWS[view]) is not None
        and one.plan.currency == base.plan.currency
        and one.plan.months == base.plan.months
        and one.does_the_work_of(base)
    ]


def cheapest(subjects: Sequence[Subject], base: Subject, view: ViewName) -> Subject | None:
    """Return the cheapest of the comparable scenarios, or None where no plan may be called cheapest."""
    ranked = comparable(subjects, base, view)
    if base not in ranked or len(ranked) < 2:
        return None
    # the base wins a tie: staying costs nothing to do
    return min(ranked, key=lambda one: (one.total(CORE_VIEWS[view]) or 0.0, one is not base))


def second_of(subjects: Sequence[Subject], base: Subject, view: ViewName) -> Subject:
    """Return the cheapest that may be ranked besides the base."""
    others = [one for one in comparable(subjects, base, view) if one is not base]
    return min(others, key=lambda one: one.total(CORE_VIEWS[view]) or 0.0)


def answer(
    subjects: Sequence[Subject], base: Subject, view: ViewName, use: FleetUse, set_share: float | None
) -> Answer:
    """Return the answer; `set_share` is the utilization that a slider sets, None where it is not moved."""
    best = cheapest(subjects, base, view)
    if best is None:
        return _no_ranking(subjects, base, view)
    extra = _left_out(subjects, base, view)
    if best is base:
        return _base_is_cheapest(subjects, base, view, use, set_share, extra)
    return Answer(
        letter=best.letter,
        meaning="better",
        sentence=_saving_sentence(best, base, view),
        detail=(*_detail(best, view, use, set_share), *extra),
    )


def _named(subject: Subject) -> tuple[Part, ...]:
    return (
        Part(subject.letter, strong=True, letter=subject.letter),
        Part(f", {subject.scenario.name},"),
    )


def _saving_sentence(best: Subject, base: Subject, view: ViewName) -> tuple[Part, ...]:
    cost, against = best.total(CORE_VIEWS[view]) or 0.0, base.total(CORE_VIEWS[view]) or 0.0
    saving = against - cost
    share = (
        (Part(", "), Part(percent_signed(saving / against).lstrip("+"), explain="saving_share"))
        if against > 0.0
        else ()
    )
    staying = (
        "staying on demand"
        if base.is_metered and not best.is_metered
        else f"{base.letter}, {base.scenario.name},"
    )
    return (
        *_named(best),
        Part(" costs "),
        Part(usd_short(saving, best.plan.currency), strong=True, explain="saving"),
        Part(f" less than {staying} over {best.plan.months} months{IN_VIEW[view]}"),
        *share,
        Part("."),
    )


def _base_is_cheapest(
    subjects: Sequence[Subject],
    base: Subject,
    view: ViewName,
    use: FleetUse,
    set_share: float | None,
    extra: tuple[Part, ...],
) -> Answer:
    ranked = comparable(subjects, base, view)
    core_view = CORE_VIEWS[view]
    second = second_of(subjects, base, view)
    more = (second.total(core_view) or 0.0) - (base.total(core_view) or 0.0)
    how_many = f"of the {NUMBER_WORDS[len(ranked)]} " if len(ranked) > 2 else ""
    sentence = (
        *_named(base),
        Part(f" is the cheapest {how_many}over {base.plan.months} months{IN_VIEW[view]}; next is "),
        Part(second.letter, strong=True, letter=second.letter),
        Part(f", {second.scenario.name}, at "),
        Part(usd_short(more, base.plan.currency), strong=True, explain="saving"),
        Part(" more."),
    )
    return Answer(base.letter, "same", sentence, (*_detail(second, view, use, set_share), *extra))


def _detail(subject: Subject, view: ViewName, use: FleetUse, set_share: float | None) -> tuple[Part, ...]:
    return (*_utilization_part(subject, use, set_share), *_month_part(subject, view))


def _utilization_part(subject: Subject, use: FleetUse, set_share: float | None) -> tuple[Part, ...]:
    share = subject.outcome.break_even_utilization_of_available
    if share is None:
        return ()
    if share > 1.0:
        return (
            Part(subject.letter, letter=subject.letter),
            Part(" would pay at no utilization: its break-even is at "),
            Part(percent(share), strong=True, explain=f"break_even_utilization-{subject.letter}"),
            Part(" of the available hours. "),
        )
    above = percent(share)
    return (
        Part(subject.letter, letter=subject.letter),
        Part(" pays above "),
        Part(above, strong=True, explain=f"break_even_utilization-{subject.letter}"),
        Part(f" utilization of what it {_paid_for(subject)}"),
        *_planned_part(subject),
        *_measured_part(use, set_share),
    )


def _paid_for(subject: Subject) -> str:
    """Name the capacity that the break-even is about: the core's headline capacity."""
    return "owns" if any(supply.kind == "owned" for supply in subject.plan.supplies) else "reserves"


def _planned_part(subject: Subject) -> tuple[Part, ...]:
    """Say how much of that capacity the plan uses: the measured share is of another fleet's hours."""
    share = subject.outcome.planned_utilization_of_available
    if share is None:
        return ()
    return (
        Part(" and plans "),
        Part(percent(share), strong=True, explain=f"planned_use-{subject.letter}"),
    )


def _measured_part(use: FleetUse, set_share: float | None) -> tuple[Part, ...]:
    measured = None if use.measured is None else use.measured.share
    if measured is None:
        return (Part("; no utilization is measured yet. "),)
    if set_share is not None:
        return (
            Part("; set here is "),
            Part(percent(set_share), strong=True, explain="set_use"),
            Part(", measured "),
            Part(percent(measured), explain="measured_use"),
            Part(". "),
        )
    return (
        Part("; today's fleet runs at "),
        Part(percent(measured), strong=True, explain="measured_use"),
        Part(". "),
    )


def _month_part(subject: Subject, view: ViewName) -> tuple[Part, ...]:
    found = subject.outcome.break_even[CORE_VIEWS[view]]
    if found is None or found.same_as_baseline or subject.is_metered:
        return ()
    text = break_even_text(found, subject.plan.months)
    unmet: tuple[Part, ...] = ()
    if found.unmet_gpu_hours:
        hours = Part(gpu_hours(found.unmet_gpu_hours), explain=f"unmet_by_break_even-{subject.letter}")
        unmet = (Part(", with "), hours, Part(" unserved by then"))
    return (
        Part("Cumulative break-even: "),
        Part(text, strong=True, explain=f"break_even-{subject.letter}"),
        *unmet,
        Part(". "),
    )


def _no_ranking(subjects: Sequence[Subject], base: Subject, view: ViewName) -> Answer:
    """Say why no plan is called cheaper, with what is known."""
    core_view = CORE_VIEWS[view]
    if len(subjects) == 1 and base.total(core_view) is not None:
        total = Part(usd_short(base.total(core_view), base.plan.currency), explain=f"total-{base.letter}")
        text = f" over {base.plan.months} months{IN_VIEW[view]}; nothing stands beside it."
        return Answer(None, "none", (*_named(base), Part(" costs "), total, Part(text)), ())
    if base.total(core_view) is None:
        return Answer(None, "none", _unknown_sentence(base), _left_out(subjects, base, view))
    others = [one for one in subjects if one is not base]
    unknown = [one for one in others if one.total(core_view) is None]
    if unknown and len(unknown) == len(others):
        return Answer(
            None, "none", _unknown_sentence(unknown[0]), _left_out(subjects, base, view, skip=unknown[0])
        )
    if any(one.plan.currency != base.plan.currency for one in others):
        sentence = (
            Part("The plans are in different currencies without an exchange rate: none is called cheaper."),
        )
        return Answer(None, "none", sentence, ())
    return Answer(None, "none", _different_work(subjects, view), _left_out(subjects, base, view))


def _unknown_sentence(subject: Subject) -> tuple[Part, ...]:
    gaps = "; ".join(gap.text.split(", so every total")[0] for gap in subject.outcome.gaps)
    return (
        Part("The total of "),
        *_named(subject)[:1],
        Part(f", {subject.scenario.name}, is unknown: {gaps or 'a price is missing'}."),
    )


def _different_work(subjects: Sequence[Subject], view: ViewName) -> tuple[Part, ...]:
    parts = [Part("The plans do not do the same work, so none is called cheaper: ")]
    for place, one in enumerate(subjects):
        total = usd_short(one.total(CORE_VIEWS[view]), one.plan.currency)
        unmet = one.outcome.unmet_gpu_hours
        parts += [
            Part(", " if place else ""),
            Part(one.letter, strong=True, letter=one.letter),
            Part(" "),
            Part(total, explain=f"total-{one.letter}"),
            Part(" with "),
            Part(count(unmet), explain=f"unmet-{one.letter}"),
            Part(" of "),
            Part(gpu_hours(one.outcome.demand_gpu_hours), explain=f"demand-{one.letter}"),
            Part(" unserved"),
        ]
    return (*parts, Part("."))


def _left_out(
    subjects: Sequence[Subject], base: Subject, view: ViewName, skip: Subject | None = None
) -> tuple[Part, ...]:
    """Name the scenarios that are not ranked, each with its reason."""
    ranked = comparable(subjects, base, view)
    parts: list[Part] = []
    for one in subjects:
        if one in ranked or one is base or one is skip:
            continue
        parts += [
            Part(one.letter, letter=one.letter),
            Part(" is not ranked: "),
            *_why_left_out(one, base, view),
            Part(". "),
        ]
    return tuple(parts)


def _why_left_out(subject: Subject, base: Subject, view: ViewName) -> tuple[Part, ...]:
    if subject.total(CORE_VIEWS[view]) is None:
        gaps = "; ".join(gap.text.split(", so every total")[0] for gap in subject.outcome.gaps)
        return (Part(f"its total is unknown ({gaps or 'a price is missing'})"),)
    if subject.plan.currency != base.plan.currency:
        return (Part(f"it is in {subject.plan.currency} and no exchange rate is on file"),)
    if subject.outcome.unmet_gpu_hours != base.outcome.unmet_gpu_hours:
        return (
            Part("it leaves "),
            Part(gpu_hours(subject.outcome.unmet_gpu_hours), explain=f"unmet-{subject.letter}"),
            Part(f" unserved, {base.letter} "),
            Part(gpu_hours(base.outcome.unmet_gpu_hours), explain=f"unmet-{base.letter}"),
        )
    demand = Part(gpu_hours(subject.outcome.demand_gpu_hours), explain=f"demand-{subject.letter}")
    return (Part("it plans for "), demand, Part(" of demand"))
