"""The sentence that opens a GPU's page: what it costs at the least, in the middle, and what it last did."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from costs.queries.price_history import Priced
from costs.queries.price_moves import Cut
from planner.core.explain import Explanation
from planner.gpus.lines import place_of, source_title, what_moved
from planner.gpus.subject import Subject
from planner.gpus.terms import TermRow
from planner.templatetags.units import NBSP, age, count, day, moment, percent, usd_per_hour

NO_BREAK_HYPHEN = "\u2011"
# provider, SKU and region do not break at their hyphens
_PER_GPU = f"/GPU{NO_BREAK_HYPHEN}h"


@dataclass(frozen=True)
class Part:
    """A piece of the sentence; with a key it opens an explanation."""

    text: str
    why: str = ""


@dataclass(frozen=True)
class Answer:
    main: tuple[Part, ...]
    more: str
    whys: dict[str, Explanation]


def answer_of(subject: Subject, rows: Sequence[TermRow]) -> Answer:
    """Return the answer for the chosen term and what the filters let through."""
    term = subject.term_words
    now = subject.history.now
    more = " ".join(sentence for sentence in (_extent(subject), _commitment(rows)) if sentence)
    change = _change(subject)
    if now.lowest is None or now.median is None:
        return Answer((Part(f"{subject.name}, {term}: {_last_sight(subject)}{change}"),), more, {})
    lowest = now.lowest
    main = (
        Part(f"{subject.name}, {term}: lowest "),
        Part(f"{usd_per_hour(lowest.usd_per_gpu_hour)}{_PER_GPU}", "lowest"),
        Part(f" at {_unbroken(lowest.step.provider)} {_unbroken(lowest.step.region)}, median "),
        Part(usd_per_hour(now.median), "median"),
        Part(f" over {count(now.offers)}{NBSP}{'offer' if now.offers == 1 else 'offers'}.{change}"),
    )
    return Answer(main, more, {"lowest": _why_lowest(subject, lowest), "median": _why_median(subject)})


def _unbroken(text: str) -> str:
    return text.replace("-", NO_BREAK_HYPHEN)


def _change(subject: Subject) -> str:
    if not subject.cuts:
        return ""
    cut = subject.cuts[0]
    old, new = subject.usd(cut.move.old), subject.usd(cut.move.new)
    if old is None or new is None:
        return ""
    verb = "fell" if cut.move.share < 0 else "rose"
    return (
        f" {_unbroken(what_moved(cut))} {verb} from {usd_per_hour(old)} to {usd_per_hour(new)}"
        f" per GPU{NO_BREAK_HYPHEN}hour on {full_day(cut.move.at.date())}{_regions(cut)}."
    )


def _regions(cut: Cut) -> str:
    return f" in {count(len(cut.regions))} regions" if len(cut.regions) > 1 else ""


def full_day(on: date) -> str:
    """Return a day with its year and whole month: 5 June 2025."""
    return f"{on.day}{NBSP}{on:%B}{NBSP}{on.year}"


def _last_sight(subject: Subject) -> str:
    """Return what is known where no price counts now."""
    known = [one for one in subject.history.stretches if one.lowest is not None]
    seen = subject.history.seen_until
    if not known or seen is None or known[-1].lowest is None:
        return "no price is on file for this window."
    last = known[-1].lowest
    return (
        f"no price on file is fresh enough to name one. The lowest was {usd_per_hour(last.usd_per_gpu_hour)}"
        f" at {_unbroken(last.step.provider)}, last seen {day(last.step.seen_at)}"
        f" ({age(last.step.seen_at, subject.now)})."
    )


def _extent(subject: Subject) -> str:
    """Return how many clouds the offers are of, and what is left out for want of dollars."""
    clouds = {price.step.provider for price in subject.history.current()}
    parts = [f"The offers that count are of {_plural(len(clouds), 'cloud')}."] if clouds else []
    if number := subject.history.without_dollars:
        verb = "has" if number == 1 else "have"
        parts.append(f"{_plural(number, 'price')} in another currency {verb} no exchange rate on file.")
    return " ".join(parts)


def _plural(number: int, word: str) -> str:
    return f"{count(number)}{NBSP}{word}{'' if number == 1 else 's'}"


def _commitment(rows: Sequence[TermRow]) -> str:
    """Return the commitment that pays at the lowest use, with that of the fleet beside it."""
    known = [row for row in rows if row.break_even is not None and not row.is_stale]
    if not known:
        return ""
    best = min(known, key=lambda row: (row.break_even or 1, row.cloud))
    text = (
        f"Of the commitments, {best.term_words} at {best.cloud} pays at the lowest use:"
        f" {usd_per_hour(best.usd_per_gpu_hour)}{_PER_GPU}, above {percent(best.break_even)}"
    )
    if best.fleet is None:
        return f"{text}."
    kind = "the sample fleet runs" if best.fleet.is_sample else "you run"
    return f"{text}; {kind} at {percent(best.fleet.share)}."


def _why_lowest(subject: Subject, lowest: Priced) -> Explanation:
    step = lowest.step
    inputs = [
        ("Offer", place_of(step), step.zone),
        ("Price per hour", f"{step.price_per_hour:,.2f} {step.currency}", "of the whole machine"),
        ("GPUs", f"{step.gpu_count.normalize():f}", ""),
        ("Stated by", source_title(step.source), f"run {step.run_id}, line {step.line}"),
        ("Last seen", moment(step.seen_at), age(step.seen_at, subject.now)),
    ]
    if (rate := subject.rate_of(step.currency)) is not None:
        inputs.append(("Exchange rate", f"{rate.usd_per_unit.normalize():f}", f"of {day(rate.on)}"))
    return Explanation(
        f"Lowest {subject.term_words} price of {subject.name}",
        "The cheapest of the offers that the filters let through and that are not stale. Where sources "
        "disagree about an offer, what was stated last counts.",
        f"{step.price_per_hour:,.2f} / {step.gpu_count.normalize():f}"
        f" = {usd_per_hour(lowest.usd_per_gpu_hour)} a GPU-hour",
        tuple(inputs),
    )


def _why_median(subject: Subject) -> Explanation:
    prices = [price.usd_per_gpu_hour for price in subject.history.current()]
    return Explanation(
        f"Median {subject.term_words} price of {subject.name}",
        "Half of the offers cost less. An offer is one SKU in one region on one way to pay; its zones and "
        "the sources that state it count once.",
        f"median of {count(len(prices))} offers, {usd_per_hour(prices[0])} to {usd_per_hour(prices[-1])}",
        (),
    )
