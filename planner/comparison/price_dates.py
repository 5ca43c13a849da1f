"""Say at which date each scenario's prices are read, and where scenarios side by side differ in it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from planner.comparison.address import Address, moment_text
from planner.comparison.gather import Subject
from planner.comparison.result import PriceDate, Recompute
from planner.queries import LoadedPlan
from planner.scenarios.kept_prices import on_day
from planner.scenarios.plan_cache import DataDate
from planner.templatetags.units import day, moment


def price_date(loaded: LoadedPlan, date: DataDate) -> PriceDate:
    """Return at which moment a plan's prices are read."""
    read = loaded.prices
    if not loaded.has_listed:
        short = "typed"
    else:
        short = day(read.moment) if read.is_kept or date.is_frozen else "newest"
    return PriceDate(read.moment, read.is_kept, loaded.has_listed, short)


def heading(subjects: Sequence[Subject], date: DataDate) -> str:
    """Return the words about prices in the head of a comparison."""
    listed = _listed(subjects)
    moments = {one.loaded.prices.moment for one in listed}
    if len(moments) > 1:
        return "Prices of different dates"
    kept = any(one.loaded.prices.is_kept for one in listed)
    at = moments.pop() if moments else date.as_of
    if kept or date.is_frozen:
        return f"Prices of {moment(at)}{', kept' if kept else ', frozen'}"
    return f"Newest prices, of {moment(at)}"


def correction_notices(subjects: Sequence[Subject]) -> list[str]:
    """Return where the facts of a kept date say something else by now."""
    return [f"{one.letter}: {text}." for one in subjects for text in one.loaded.prices.corrections]


def dates_notice(subjects: Sequence[Subject], date: DataDate) -> str:
    """Return which scenario uses prices of which date, "" where all use those of one.

    Dates stand with their year and never as "newest": a frozen link and its files say the same for good.
    """
    texts = _texts(subjects)
    if len(texts) > 1:
        parts = [
            f"{one.letter} those of {texts[one.loaded.prices.moment]}"
            + (", kept" if one.loaded.prices.is_kept else "")
            for one in _listed(subjects)
        ]
        return f"The scenarios use prices of different dates: {'; '.join(parts)}."
    passed_over = [one.letter for one in _listed(subjects) if _keeps_another(one, date)]
    if not passed_over:
        return ""
    word = "keeps" if len(passed_over) == 1 else "keep"
    letters = ", ".join(passed_over)
    return f"All prices are read at {on_day(date.as_of)} here; {letters} {word} those of another date."


def recompute(subjects: Sequence[Subject], date: DataDate, address: Address) -> tuple[Recompute, ...]:
    """Return the links of that notice: everything at one date, or each scenario at its own again."""
    if any(_keeps_another(one, date) for one in _listed(subjects)):
        own = replace(address, as_of=None, one_date=False)
        return (Recompute("Each at its own date", own.query()),)
    texts = _texts(subjects)
    if len(texts) < 2:
        return ()
    page = "the date of this page" if date.is_frozen else "the newest prices"
    oldest, text = next(iter(texts.items()))
    return (
        Recompute(f"All at {page}", replace(address, one_date=True).query()),
        Recompute(f"All at {text}", replace(address, as_of=oldest, one_date=True).query()),
    )


def _listed(subjects: Sequence[Subject]) -> list[Subject]:
    """Return the scenarios that read some price from lists: typed prices have dates of their own."""
    return [one for one in subjects if one.loaded.has_listed]


def _keeps_another(subject: Subject, date: DataDate) -> bool:
    kept = subject.loaded.revision.prices_as_of
    return date.for_all and kept is not None and kept != date.as_of


def _texts(subjects: Sequence[Subject]) -> dict[datetime, str]:
    """Return the dates of prices in their order, as exactly as it takes to tell them apart."""
    moments = sorted({one.loaded.prices.moment for one in _listed(subjects)})
    texts = {at: on_day(at) for at in moments}
    for words in (moment, moment_text):
        shared = {text for text, count in Counter(texts.values()).items() if count > 1}
        texts = {at: words(at) if text in shared else text for at, text in texts.items()}
    return texts
