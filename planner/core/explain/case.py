"""One outcome in one view, read once for all its explanations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.explain.parts import Input, context
from planner.core.explain.words import UNKNOWN, Words, line_words, price_value
from planner.core.lines import RESIDUAL
from planner.core.money import discount_factors
from planner.core.plan import OnDemand, Outcome, Owned, Plan, Spot, Supply, View

HOUR_LINES = ("served", "unmet")


@dataclass(frozen=True)
class Amounts:
    """The months of one line of one supply: money in the view, hours served, or hours unmet."""

    supply: str
    kind: str
    line: str
    usd: FloatArray  # in the view
    cash_usd: FloatArray
    paid_gpu_hours: FloatArray
    useful_gpu_hours: FloatArray

    @property
    def is_money(self) -> bool:
        return self.line not in HOUR_LINES

    @property
    def label(self) -> str:
        """Return "Own, hardware deposit", or the line alone where it is of the whole plan."""
        return f"{self.supply}, {line_words(self.line)}" if self.supply else line_words(self.line)


@dataclass(frozen=True)
class Case:
    """An outcome in one view; `sources` says where the price of a supply comes from."""

    outcome: Outcome
    view: View
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return self.outcome.plan

    @cached_property
    def words(self) -> Words:
        return Words(self.plan.currency, self.plan.months, self.outcome.gaps)

    @cached_property
    def lines(self) -> tuple[Amounts, ...]:
        """Return every line of the outcome; its frame holds a block of months for each."""
        return tuple(_blocks(self.outcome, self.view))

    def money_lines(self) -> Iterator[Amounts]:
        """Yield the lines that carry money."""
        return (one for one in self.lines if one.is_money)

    @cached_property
    def useful_by_month(self) -> FloatArray:
        """Return the GPU-hours served by month."""
        return self._hours("served")

    @cached_property
    def unmet_by_month(self) -> FloatArray:
        """Return the GPU-hours of demand that found no supply, by month."""
        return self._hours("unmet")

    def _hours(self, line: str) -> FloatArray:
        found = [one.useful_gpu_hours for one in self.lines if one.line == line]
        return np.sum(found, axis=0) if found else np.zeros(self.plan.months)

    @cached_property
    def end_factors(self) -> FloatArray:
        """Return the discount factor of each month's end."""
        return discount_factors(self.plan.discount_rate_per_year, self.plan.months).end

    @cached_property
    def residual_by_month(self) -> FloatArray:
        """Return what is credited for what is left at the end, by month; it is below 0."""
        found = [one.usd for one in self.lines if one.line == RESIDUAL]
        return np.sum(found, axis=0) if found else np.zeros(self.plan.months)

    @cached_property
    def headline_capacity(self) -> tuple[Supply, ...]:
        """Return what is owned, or what is committed to where nothing is owned."""
        owned = tuple(one for one in self.plan.supplies if isinstance(one, Owned))
        return owned or tuple(one for one in self.plan.supplies if not isinstance(one, OnDemand | Spot))

    def plan_inputs(self) -> tuple[Input, ...]:
        """Return months, discount rate and price drift."""
        plan = self.plan
        return (
            context("Months", f"{plan.months} from {plan.start:%b %Y}"),
            context("Discount rate", f"{plan.discount_rate_per_year:.1%} a year, effective"),
            context("Drift of rental prices", f"{plan.price_drift_per_month:+.2%} a month from month 2"),
            *(
                context("Step of rental prices", f"times {step.factor:g} from {step.start:%b %Y}")
                for step in plan.price_steps
            ),
        )

    def price_inputs(self) -> tuple[Input, ...]:
        """Return the price of every supply with its source."""
        return tuple(self._price(one.name, one) for one in self.plan.supplies)

    def reference_inputs(self) -> tuple[Input, ...]:
        """Return the price that the plan is measured against."""
        reference = self.outcome.reference
        return () if reference is None else (self._price(f"Reference price, {reference.name}", reference),)

    def _price(self, name: str, supply: Supply) -> Input:
        return Input(name, price_value(supply), self.words.price(supply), self.sources.get(supply.name, ""))

    def quota_inputs(self) -> tuple[Input, ...]:
        """Return the quota of every supply that is rented by the hour."""
        metered = (one for one in self.plan.supplies if isinstance(one, OnDemand | Spot))
        return tuple(
            Input(
                f"Quota, {one.name}",
                one.quota_gpus,
                "no limit known" if one.quota_gpus is None else f"{one.quota_gpus:,g} GPUs",
            )
            for one in metered
        )

    def series(self, name: str, values: FloatArray, symbol: str, *, is_money: bool = False) -> Input:
        """Return a series by month: its text says where it begins and ends."""
        numbers = tuple(float(value) for value in values)
        if not numbers or any(number != number for number in numbers):
            return Input(name, None, UNKNOWN, symbol=symbol)
        first, last = (self._amount(numbers[place], is_money) for place in (0, -1))
        text = f"{first} in month 1" + (f", {last} in month {len(numbers)}" if len(numbers) > 1 else "")
        return Input(name, numbers, text, symbol=symbol)

    def _amount(self, number: float, is_money: bool) -> str:
        return self.words.usd(number) if is_money else f"{number:,.0f}"


def _blocks(outcome: Outcome, view: View) -> Iterator[Amounts]:
    frame, months = outcome.monthly, outcome.plan.months
    names = [frame[column].to_numpy() for column in ("supply", "kind", "line")]
    columns = (view, "cash_usd", "paid_gpu_hours", "useful_gpu_hours")
    values = [frame[column].to_numpy(dtype=float) for column in columns]
    for first in range(0, len(frame), months):
        supply, kind, line = (str(column[first]) for column in names)
        usd, cash, paid, useful = (column[first : first + months] for column in values)
        yield Amounts(supply, kind, line, usd, cash, paid, useful)
