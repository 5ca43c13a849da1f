"""Sweep the prices of one accelerator day by day: the lowest, the median, and what each offer cost.

A day's price is the one that held at its end, for today the one that holds now. Where sources or zones
disagree about an offer, the rule is that of `prices_on`: what was stated last counts, then the region's own
price over a zone's, then the cheapest. So one offer weighs one in the median, however many state it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fx import PLANNING_CURRENCY
from .price_steps import Offer, Step

FloatArray = NDArray[np.float64]
NOBODY = -1


@dataclass(frozen=True)
class Priced:
    """One step with what a GPU-hour of it cost in dollars."""

    step: Step
    usd_per_gpu_hour: float


@dataclass(frozen=True)
class Stretch:
    """Days on which nothing changed. Without an offer the lowest and the median are None, never 0."""

    first: date
    last: date
    lowest: Priced | None
    median: float | None
    offers: int


@dataclass(frozen=True)
class OwnStretch:
    """Days on which one offer cost the same; None where its price is not known."""

    first: date
    last: date
    price: Priced | None


@dataclass(frozen=True)
class History:
    """What an accelerator cost on one term over a window of days, from the first to the last."""

    first: date
    last: date
    stretches: tuple[Stretch, ...]
    seen_until: datetime | None  # the last moment at which any source stated a price
    offers: tuple[Offer, ...]  # all that had a price in the window, by name
    without_dollars: int  # steps in a currency of which no rate is on file

    _sweep: "_Sweep"

    @property
    def now(self) -> Stretch:
        """Return the last day: what counts now."""
        return self.stretches[-1]

    def of(self, offer: Offer) -> list[OwnStretch]:
        """Return what one offer cost, stretch by stretch."""
        return self._sweep.own(offer)

    def current(self) -> list[Priced]:
        """Return the price of every offer that counts now, the cheapest first."""
        return self._sweep.at_the_end()


def history(
    steps: Iterable[Step],
    *,
    term: str,
    first: date,
    now: datetime,
    usd_by_day: Mapping[str, FloatArray] | None = None,
) -> History:
    """Return the days of a term from `first` to today.

    `usd_by_day` holds the dollars per unit of each foreign currency, one for each of these days; NaN where
    no rate is on file.
    """
    last = now.astimezone(UTC).date()
    priced = [step for step in steps if step.term == term and step.price_per_hour is not None]
    rates = usd_by_day or {}
    known = [step for step in priced if step.currency == PLANNING_CURRENCY or step.currency in rates]
    sweep = _Sweep(known, first, now, rates)
    seen = [min(step.seen_at, now) for step in known]
    return History(
        first=first,
        last=last,
        stretches=tuple(sweep.stretches()),
        seen_until=max(seen, default=None),
        offers=tuple(sorted(sweep.offers)),
        without_dollars=len(priced) - len(known),
        _sweep=sweep,
    )


class _Sweep:
    """A table of offers against the spans between any two changes; each cell holds a price and its step."""

    def __init__(
        self, steps: Sequence[Step], first: date, now: datetime, rates: Mapping[str, FloatArray]
    ) -> None:
        self.first, self.now, self.rates = first, now, rates
        self.days = (now.astimezone(UTC).date() - first).days + 1
        # the last that is written stands: the best comes last
        self.steps = sorted(steps, key=_preference)
        spans = [self._span(step) for step in self.steps]
        inside = [(step, span) for step, span in zip(self.steps, spans, strict=True) if span[0] < span[1]]
        self.steps, spans = [step for step, _ in inside], [span for _, span in inside]
        self.offers = {offer: row for row, offer in enumerate(sorted({step.offer for step in self.steps}))}
        self.starts = self._starts(spans)
        self.who = self._filled(spans)
        self.usd = self._in_dollars()

    def _span(self, step: Step) -> tuple[int, int]:
        """Return the days of a step, from and before: the last is that on whose end it still counts."""
        start = max((step.starts_at.astimezone(UTC).date() - self.first).days, 0)
        end = (step.counts_until.astimezone(UTC).date() - self.first).days
        if step.ends_at is None or step.counts_until < step.ends_at:
            end += 1  # nobody saw it end on that day
        if step.is_stale(self.now):
            end = min(end, self.days - 1)
        return start, min(end, self.days)

    def _starts(self, spans: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
        if self.rates:
            return np.arange(self.days)  # a rate may move on any day
        edges = {0, *(day for span in spans for day in span)}
        return np.array(sorted(day for day in edges if day < self.days), dtype=np.int64)

    def _filled(self, spans: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
        who = np.full((len(self.offers), len(self.starts)), NOBODY, dtype=np.int64)
        places = np.searchsorted(self.starts, np.array(spans, dtype=np.int64).reshape(-1, 2)).tolist()
        for number, (step, (start, end)) in enumerate(zip(self.steps, places, strict=True)):
            who[self.offers[step.offer], start:end] = number
        return who

    def _in_dollars(self) -> FloatArray:
        """Return the dollars of a GPU-hour for each cell of the table; NaN where nobody states any."""
        currencies = [PLANNING_CURRENCY, *sorted(self.rates)]
        rates = [np.ones(len(self.starts)), *(self.rates[name][self.starts] for name in currencies[1:])]
        per_gpu = [float(step.price_per_hour or 0) / float(step.gpu_count) for step in self.steps]
        currency = [currencies.index(step.currency) for step in self.steps]
        # NOBODY is the last place of each
        amounts = np.array([*per_gpu, np.nan])[self.who]
        cells = np.array([*currency, 0], dtype=np.int64)[self.who]
        dollars: FloatArray = amounts * np.stack(rates)[cells, np.arange(len(self.starts))]
        return dollars

    def _ends(self) -> list[int]:
        return [*(int(start) - 1 for start in self.starts[1:]), self.days - 1]

    def _day(self, number: int) -> date:
        return self.first + timedelta(days=number)

    def stretches(self) -> list[Stretch]:
        counts = np.isfinite(self.usd).sum(axis=0)
        medians = _medians(self.usd, counts)
        cheapest = (
            np.argmin(np.where(np.isfinite(self.usd), self.usd, np.inf), axis=0) if len(self.offers) else None
        )
        answer = []
        for place, (start, end) in enumerate(zip(self.starts, self._ends(), strict=True)):
            lowest = None
            if cheapest is not None and counts[place]:
                row = int(cheapest[place])
                lowest = self._priced(row, place)
            median = float(medians[place]) if counts[place] else None
            answer.append(Stretch(self._day(int(start)), self._day(end), lowest, median, int(counts[place])))
        return answer

    def _priced(self, row: int, place: int) -> Priced | None:
        number, usd = int(self.who[row, place]), float(self.usd[row, place])
        return None if number == NOBODY or not np.isfinite(usd) else Priced(self.steps[number], usd)

    def own(self, offer: Offer) -> list[OwnStretch]:
        if offer not in self.offers:
            return []
        row = self.offers[offer]
        answer: list[OwnStretch] = []
        for place, (start, end) in enumerate(zip(self.starts, self._ends(), strict=True)):
            price = self._priced(row, place)
            if answer and answer[-1].price == price:
                answer[-1] = OwnStretch(answer[-1].first, self._day(end), price)
            else:
                answer.append(OwnStretch(self._day(int(start)), self._day(end), price))
        return answer

    def at_the_end(self) -> list[Priced]:
        found = [self._priced(row, len(self.starts) - 1) for row in range(len(self.offers))]
        known = [price for price in found if price is not None]
        return sorted(known, key=lambda price: (price.usd_per_gpu_hour, price.step.offer))


def best_of(steps: Iterable[Step]) -> dict[tuple[str, Offer], Step]:
    """Return the one step of each term and offer that counts, of those that are given."""
    return {(step.term, step.offer): step for step in sorted(steps, key=_preference)}


def _preference(step: Step) -> tuple[Any, ...]:
    """Return an order in which the step that counts comes last."""
    return (
        step.price_per_hour is not None,
        step.seen_at,
        not step.zone,
        -(step.price_per_hour or 0),
        step.source,
        step.pk,
    )


def _medians(usd: FloatArray, counts: NDArray[np.int64]) -> FloatArray:
    """Return the median of the known prices of each column; NaN sorts last."""
    if not usd.size:
        return np.full(len(counts), np.nan)
    ordered = np.sort(usd, axis=0)
    columns = np.arange(usd.shape[1])
    low = ordered[np.maximum((counts - 1) // 2, 0), columns]
    high = ordered[np.minimum(counts // 2, usd.shape[0] - 1), columns]
    middle: FloatArray = (low + high) / 2
    return middle
