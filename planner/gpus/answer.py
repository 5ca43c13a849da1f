"""The sentence that opens a GPU's page: what it costs at the least, in the middle, and what it last did."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from costs.queries.price_moves import Cut
from planner.core.explain import Explanation
from planner.gpus.explanations import explanations, last_known
from planner.gpus.lines import what_moved
from planner.gpus.subject import Subject
from planner.gpus.term_tables import key_of
from planner.gpus.terms import TermRow
from planner.templatetags.units import NBSP, age, count, day, percent, usd_per_hour

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
    more: tuple[Part, ...]
    whys: dict[str, Explanation]


def answer_of(subject: Subject, rows: Sequence[TermRow]) -> Answer:
    """Return the answer for the chosen term and what the filters let through."""
    term = subject.term_words
    now = subject.history.now
    best = _commitment(rows)
    extent = _extent(subject)
    more = (*((Part(extent),) if extent else ()), *(_committed(best, bool(extent)) if best else ()))
    whys = explanations(subject, best)
    change = _change(subject)
    if now.lowest is None or now.median is None:
        last = _last_sight(subject)
        return Answer((Part(f"{subject.name}, {term}: "), *last, *change), more, whys)
    lowest = now.lowest
    main = (
        Part(f"{subject.name}, {term}: lowest "),
        Part(f"{usd_per_hour(lowest.usd_per_gpu_hour)}{_PER_GPU}", "lowest"),
        Part(f" at {_unbroken(lowest.step.provider)} {_unbroken(lowest.step.region)}, median "),
        Part(usd_per_hour(now.median), "median"),
        Part(f" over {count(now.offers)}{NBSP}{'offer' if now.offers == 1 else 'offers'}."),
        *change,
    )
    return Answer(main, more, whys)


def _unbroken(text: str) -> str:
    return text.replace("-", NO_BREAK_HYPHEN)


def _change(subject: Subject) -> tuple[Part, ...]:
    if not subject.cuts:
        return ()
    cut = subject.cuts[0]
    old, new = subject.usd(cut.move.old), subject.usd(cut.move.new)
    if old is None or new is None:
        return ()
    verb = "fell" if cut.move.share < 0 else "rose"
    return (
        Part(f" {_unbroken(what_moved(cut))} {verb} from "),
        Part(usd_per_hour(old), "cut-old"),
        Part(" to "),
        Part(usd_per_hour(new), "cut-new"),
        Part(f" per GPU{NO_BREAK_HYPHEN}hour on {full_day(cut.move.at.date())}{_regions(cut)}."),
    )


def _regions(cut: Cut) -> str:
    return f" in {count(len(cut.regions))} regions" if len(cut.regions) > 1 else ""


def full_day(on: date) -> str:
    """Return a day with its year and whole month: 5 June 2025."""
    return f"{on.day}{NBSP}{on:%B}{NBSP}{on.year}"


def _last_sight(subject: Subject) -> tuple[Part, ...]:
    """Return what is known where no price counts now."""
    last = last_known(subject)
    if last is None:
        return (Part("no price is on file for this window."),)
    return (
        Part("no price on file is fresh enough to name one. The lowest was "),
        Part(usd_per_hour(last.usd_per_gpu_hour), "last"),
        Part(
            f" at {_unbroken(last.step.provider)}, last seen {day(last.step.seen_at)}"
            f" ({age(last.step.seen_at, subject.now)})."
        ),
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


def _commitment(rows: Sequence[TermRow]) -> TermRow | None:
    """Return the commitment that pays at the lowest use."""
    known = [row for row in rows if row.break_even is not None and not row.is_stale]
    return min(known, key=lambda row: (row.break_even or 1, row.cloud), default=None)


def _committed(best: TermRow, follows: bool) -> tuple[Part, ...]:
    """Return what that commitment costs and above which use it pays, with that of the fleet beside it."""
    parts = (
        Part(" Of the commitments, " if follows else "Of the commitments, "),
        Part(f"{best.term_words} at {best.cloud} pays at the lowest use: "),
        Part(f"{usd_per_hour(best.usd_per_gpu_hour)}{_PER_GPU}", "commitment"),
        Part(", above "),
        Part(percent(best.break_even), key_of(best)),
    )
    if best.fleet is None:
        return (*parts, Part("."))
    kind = "the sample fleet runs" if best.fleet.is_sample else "you run"
    return (*parts, Part(f"; {kind} at "), Part(percent(best.fleet.share), "fleet"), Part("."))
