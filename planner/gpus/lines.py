"""The lines of a GPU's price chart: lowest, median and one offer's own, and the list prices that changed."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

from django.urls import reverse

from costs.queries.contract_prices import agreed_days
from costs.queries.price_history import Priced, Stretch
from costs.queries.price_moves import Cut
from costs.queries.price_steps import Offer, Step
from costs.sources import SOURCES
from planner.charts.price_history import Fact, PriceHistory, PriceLine, Span
from planner.gpus.subject import Subject
from planner.templatetags.units import count, day, percent_signed, usd_per_hour


def shown(subject: Subject) -> PriceHistory:
    """Return what the chart shows. The lines stop at the last sight of any price."""
    history = subject.history
    seen = history.seen_until
    until = None if seen is None else min(seen.date(), history.last)
    stretches = [] if until is None else _until(history.stretches, until)
    lines = [
        PriceLine("lowest", "lowest", _lowest(stretches)),
        PriceLine("median", "median", _median(stretches)),
    ]
    if subject.line is not None:
        own = _own(subject, subject.line)
        lines.append(PriceLine("own", short_name(subject.line), own, subject.line.provider))
    if agreed := _agreed(subject):
        lines.append(PriceLine("contract", "your contracts", agreed, "yours"))
    return PriceHistory(
        first=history.first,
        last=history.last,
        seen_until=until,
        term=subject.chosen.term,
        lines=lines,
        facts=[_fact(subject, cut) for cut in subject.cuts if subject.usd(cut.move.new) is not None],
    )


def offers_by_day(subject: Subject) -> list[tuple[date, int]]:
    """Return how many offers counted, from the day on which that began."""
    return [(stretch.first, stretch.offers) for stretch in subject.history.stretches]


def short_name(offer: Offer) -> str:
    """Return an offer as the end of a line names it."""
    return f"{offer.provider} {offer.sku}"


def place_of(step: Step) -> str:
    """Return where an offer is, in one line."""
    return f"{step.provider} {step.sku}, {step.region}"


def source_title(source: str) -> str:
    """Return what a source is called."""
    known = SOURCES.get(source)
    return known.TITLE if known else source


def what_moved(cut: Cut) -> str:
    """Return which offers a change is about: one by its name, several by how many."""
    offer = cut.move.offer
    if len(cut.skus) > 1:
        return f"{offer.provider} {offer.sku} and {count(len(cut.skus) - 1)} more"
    return short_name(offer)


def _fact(subject: Subject, cut: Cut) -> Fact:
    old, new = subject.usd(cut.move.old), subject.usd(cut.move.new)
    return Fact(cut.move.at.date(), float(old or 0), float(new or 0), what_moved(cut))


def _until(stretches: Iterable[Stretch], until: date) -> list[Stretch]:
    """Return the stretches up to a day; the one that it lies in ends there."""
    return [
        Stretch(one.first, min(one.last, until), one.lowest, one.median, one.offers)
        for one in stretches
        if one.first <= until
    ]


def _lowest(stretches: Sequence[Stretch]) -> list[Span]:
    return _spans([(one.first, one.last, one.lowest) for one in stretches])


def _own(subject: Subject, offer: Offer) -> list[Span]:
    """Return the days of one offer, to its own last sight."""
    seen = max(
        step.seen_at for step in subject.steps if step.offer == offer and step.term == subject.chosen.term
    )
    until = min(seen.date(), subject.history.last)
    own = subject.history.of(offer)
    return _spans([(one.first, min(one.last, until), one.price) for one in own if one.first <= until])


def _agreed(subject: Subject) -> list[Span]:
    """Return the days on which contracts for this GPU ran; between them nothing was agreed."""
    spans: list[Span] = []
    for days in agreed_days(subject.contracts, subject.first, subject.history.last):
        if spans and (days.first - spans[-1].last).days > 1:
            gap = timedelta(days=1)
            spans.append(Span(spans[-1].last + gap, days.first - gap, None, ""))
        names = ", ".join(sorted({contract.commitment for contract in days.contracts}))
        text = f"{usd_per_hour(days.usd_per_gpu_hour)} · {count(days.gpus)} GPUs · {names}"
        href = reverse("run_detail", args=[days.contracts[0].run_id])
        spans.append(Span(days.first, days.last, float(days.usd_per_gpu_hour), text, href))
    return spans


def _spans(days: Sequence[tuple[date, date, Priced | None]]) -> list[Span]:
    """Join days of one price, and say of each what it is, where, since when and who states it."""
    spans: list[Span] = []
    before: Priced | None = None
    for price, group in groupby(days, key=lambda one: one[2]):
        found = list(group)
        first, last = found[0][0], found[-1][1]
        if price is None:
            spans.append(Span(first, last, None, ""))
            continue
        href = reverse("run_detail", args=[price.step.run_id])
        spans.append(Span(first, last, price.usd_per_gpu_hour, _text(price, before, first), href))
        before = price
    return spans


def _text(price: Priced, before: Priced | None, since: date) -> str:
    parts = [usd_per_hour(price.usd_per_gpu_hour), place_of(price.step)]
    if before is not None and before.usd_per_gpu_hour != price.usd_per_gpu_hour:
        change = price.usd_per_gpu_hour / before.usd_per_gpu_hour - 1
        parts.append(f"{percent_signed(change)} on {day(since)}")
    return " · ".join([*parts, f"{source_title(price.step.source)}, run {price.step.run_id}"])


def _median(stretches: Sequence[Stretch]) -> list[Span]:
    spans: list[Span] = []
    before: float | None = None
    for key, group in groupby(stretches, key=lambda one: (one.median, one.offers)):
        found = list(group)
        median, offers = key
        text = ""
        if median is not None:
            change = "" if before in (None, median) else f" · {percent_signed(median / before - 1)}"
            text = f"{usd_per_hour(median)} · {count(offers)} offers{change}"
            before = median
        spans.append(Span(found[0].first, found[-1].last, median, text))
    return spans


def late_line(subject: Subject) -> str:
    """Return one line about the sources whose prices of the term are too old to count; "" where none is."""
    of_term = [step for (term, _), step in subject.stale.items() if term == subject.chosen.term]
    newest: dict[str, datetime] = {}
    for step in of_term:
        newest[step.source] = max(step.seen_at, newest.get(step.source, step.seen_at))
    if not newest:
        return ""
    counts = {source: sum(step.source == source for step in of_term) for source in newest}
    listed = "; ".join(
        f"{source_title(source)} {count(counts[source])}, to {day(seen)}"
        for source, seen in sorted(newest.items(), key=lambda pair: -counts[pair[0]])
    )
    offers = "1 offer is" if len(of_term) == 1 else f"{count(len(of_term))} offers are"
    return f"{offers} too old to count now: {listed}."
