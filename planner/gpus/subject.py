"""One GPU as its page sees it: its prices, what the address narrows them to, and how they moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property

from django.http import QueryDict

from costs.models import Accelerator
from costs.queries.contract_prices import Contract, contracts
from costs.queries.fx import PLANNING_CURRENCY, UsdRate
from costs.queries.fx_days import DailyRates, daily_rates
from costs.queries.price_history import History, best_of, history
from costs.queries.price_moves import Cut, Move, cuts, moves
from costs.queries.price_steps import Offer, Step, steps_of
from costs.queries.prices import PRICE_STEP
from planner.gpus import filters
from planner.gpus.filters import Chosen

MOST_CUTS = 3


@dataclass(frozen=True)
class Subject:
    """What was read once for one visit."""

    accelerator: Accelerator
    chosen: Chosen
    now: datetime
    every_step: Sequence[Step]  # of all clouds and regions
    steps: Sequence[Step]  # those that the filters let through
    first: date  # of the window
    rates: Mapping[str, DailyRates]  # of the currencies that prices are in, but dollars

    @property
    def name(self) -> str:
        return self.accelerator.name

    @property
    def term_words(self) -> str:
        return filters.TERMS[self.chosen.term]

    @property
    def since(self) -> datetime:
        return datetime.combine(self.first, time.min, UTC)

    @cached_property
    def history(self) -> History:
        """Return the days of the window for the chosen term."""
        by_day = {currency: rates.by_day for currency, rates in self.rates.items()}
        return history(self.steps, term=self.chosen.term, first=self.first, now=self.now, usd_by_day=by_day)

    @cached_property
    def moves(self) -> list[Move]:
        """Return every change of the term's prices in the window, the newest first."""
        return moves(self.steps, term=self.chosen.term, since=self.since)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Return the few changes that the picture names."""
        return cuts(self.moves, most=MOST_CUTS)

    @cached_property
    def line(self) -> Offer | None:
        """Return the offer with a line of its own: the one asked for, else the one that moved most."""
        by_key = {offer.key: offer for offer in self.history.offers}
        if self.chosen.line:
            return by_key.get(self.chosen.line)
        for cut in self.cuts:
            if cut.move.offer in by_key.values():
                return cut.move.offer
        if self.chosen.clouds and (current := self.history.current()):
            return current[0].step.offer
        return None

    @cached_property
    def contracts(self) -> list[Contract]:
        """Return the commitments to this GPU that the filters let through."""
        found = contracts(self.accelerator.slug)
        return [one for one in found if self.chosen.lets_through(one.provider, one.region)]

    @cached_property
    def fresh(self) -> dict[tuple[str, Offer], Step]:
        """Return the price of each term and offer that counts now."""
        return best_of(self._now(stale=False))

    @cached_property
    def stale(self) -> dict[tuple[str, Offer], Step]:
        """Return the price of those of which every statement is too old to be recommended."""
        found = best_of(self._now(stale=True))
        return {key: step for key, step in found.items() if key not in self.fresh}

    def _now(self, *, stale: bool) -> list[Step]:
        return [
            step
            for step in self.steps
            if step.is_open and step.price_per_hour is not None and step.is_stale(self.now) == stale
        ]

    def usd(self, step: Step | None) -> Decimal | None:
        """Return the dollars of a GPU-hour at today's rate; None where there is no price in dollars."""
        if step is None or step.price_per_hour is None:
            return None
        per_gpu = step.price_per_hour / step.gpu_count
        if step.currency != PLANNING_CURRENCY:
            rate = self.rate_of(step.currency)
            if rate is None:
                return None
            per_gpu *= rate.usd_per_unit
        return per_gpu.quantize(PRICE_STEP)

    def rate_of(self, currency: str) -> UsdRate | None:
        """Return today's rate of a foreign currency."""
        return self.rates[currency].latest if currency in self.rates else None


def subject_of(accelerator: Accelerator, query: QueryDict, now: datetime) -> Subject:
    """Read the prices of a GPU and what the address says of them."""
    asked = filters.read(query)
    since = datetime.combine(asked.first_day(now), time.min, UTC)
    every_step = steps_of(accelerator.pk, term=asked.term, since=since, now=now)
    chosen = asked.settled(every_step)
    steps = every_step
    if chosen.clouds or chosen.region:
        steps = [step for step in every_step if chosen.lets_through(step.provider, step.region)]
    first = _first_day(chosen, steps, now)
    subject = Subject(
        accelerator=accelerator,
        chosen=chosen,
        now=now,
        every_step=every_step,
        steps=steps,
        first=first,
        rates=daily_rates({step.currency for step in steps}, first, now.date()),
    )
    if chosen.line and subject.line is None:
        return replace(subject, chosen=chosen.without_line())
    return subject


def _first_day(chosen: Chosen, steps: Sequence[Step], now: datetime) -> date:
    """Return the window's first day; without a window the first day of the term, or a year ago."""
    if chosen.window != "all":
        return chosen.first_day(now)
    starts = [step.starts_at for step in steps if step.term == chosen.term]
    return min(starts, default=now - timedelta(days=365)).date()
