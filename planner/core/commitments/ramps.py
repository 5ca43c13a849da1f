"""Ramping contracts and take-or-pay: each step tested, the bill of a month, what the fixed price is worth.

A contract for K_1 <= K_2 <= ... is a sum of commitments with later starts, all at the agreed price and all
ending with the contract. Months are counted from the plan's first month, 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.overlapping import (
    WHOLE_GPUS,
    DemandByMonth,
    Purchase,
    next_unit,
)
from planner.core.commitments.terms import MONTHS, PATH, USD, LayerTest, TermOffer
from planner.core.money import discount_factors
from planner.core.ranges import (
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_1,
    RATE,
    SHARE,
    optional,
    refuse,
    require_fields,
    takes,
    with_unknown,
)
from planner.core.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class Step:
    """From the begin of a month on so many GPUs in all are committed."""

    start_month: int
    gpus: int

    def __post_init__(self) -> None:
        """Refuse impossible steps."""
        require_fields(self, start_month=COUNT, gpus=WHOLE_GPUS)


@takes(end_month=MONTHS)
def ramp_purchases(steps: Sequence[Step], end_month: int) -> tuple[Purchase, ...]:
    """Return the sum of commitments that a ramp is: K_i - K_(i-1) from each step's start to the end.

    Raises ValueError for steps out of order, falling, or not before the end.

    >>> ramp_purchases([Step(0, 8), Step(6, 24)], 24)
    (Purchase(start_month=0, term_months=24, gpus=8, name='step 1'), \
Purchase(start_month=6, term_months=18, gpus=16, name='step 2'))
    """
    found = []
    start, level = -1, 0
    for place, step in enumerate(steps, start=1):
        if step.start_month <= start or step.start_month >= end_month:
            refuse("start_month", step.start_month, f"after {start} and before the end, {end_month}")
        if step.gpus < level:
            refuse("gpus", step.gpus, f"at least those of the step before, {level}")
        found.append(
            Purchase(step.start_month, end_month - step.start_month, step.gpus - level, f"step {place}")
        )
        start, level = step.start_month, step.gpus
    return tuple(found)


@dataclass(frozen=True)
class StepTest:
    """One step of a ramp: how many of its GPUs pay for their own term, and what all of them save.

    `usd_saved` is the present value at the plan's begin, negative where the step costs more than on-demand;
    both are None where a price is unknown.
    """

    purchase: Purchase
    gpus_that_pay: int | None
    usd_saved: float | None
    missing: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the finding in words."""
        name, wanted = self.purchase.name.capitalize(), self.purchase.gpus
        if self.gpus_that_pay is None or self.usd_saved is None:
            return f"{name}: unknown, for lack of {', '.join(self.missing)}."
        word = "saves" if self.usd_saved >= 0.0 else "loses"
        return f"{name}: {self.gpus_that_pay} of {wanted} GPUs pay; it {word} ${abs(self.usd_saved):,.2f}."


@takes(
    end_month=MONTHS,
    agreed_usd_per_gpu_hour=USD,
    on_demand_usd_per_gpu_hour=PATH,
    gpus_per_instance=COUNT_FROM_1,
    rate_per_year=RATE,
)
def ramp_tests(
    demand: DemandByMonth,
    steps: Sequence[Step],
    end_month: int,
    agreed_usd_per_gpu_hour: float | None,
    on_demand_usd_per_gpu_hour: FloatArray,
    held: Sequence[Purchase] = (),
    gpus_per_instance: int = 1,
    rate_per_year: float = 0.0,
) -> tuple[StepTest, ...]:
    """Return the test of each layer of each step, from the step's own start date to the contract's end.

    A layer stands on what is held and on the layers below it, earlier steps included. Arrays as in
    next_unit(). Raises ValueError where a step is no whole number of instances.

    >>> demand = DemandByMonth(np.array([1.0, 2.0]), np.array([1, 1]))
    >>> tests = ramp_tests(demand, [Step(0, 1), Step(1, 3)], 2, 0.5, np.ones(2))
    >>> [(test.gpus_that_pay, test.usd_saved) for test in tests]
    [(1, 1.0), (1, 0.0)]
    """
    found = []
    standing = list(held)
    for purchase in ramp_purchases(steps, end_month):
        if purchase.gpus % gpus_per_instance:
            refuse("gpus", purchase.gpus, f"a step of whole instances of {gpus_per_instance}")
        offer = TermOffer(purchase.name, purchase.term_months, agreed_usd_per_gpu_hour)
        start, path = purchase.start_month, on_demand_usd_per_gpu_hour
        below = [
            Purchase(start, purchase.term_months, gpus) for gpus in range(0, purchase.gpus, gpus_per_instance)
        ]
        layers = [
            next_unit(demand, [*standing, each], offer, start, path, gpus_per_instance, rate_per_year)
            for each in below
        ]
        to_plan_begin = (1.0 + rate_per_year) ** (-start / MONTHS_PER_YEAR)
        found.append(_of_step(purchase, layers, gpus_per_instance, to_plan_begin))
        standing.append(purchase)
    return tuple(found)


def _of_step(purchase: Purchase, layers: Sequence[LayerTest], size: int, factor: float) -> StepTest:
    # next_unit() knows the contract's price as the committed one
    names = {"committed_usd_per_gpu_hour": "agreed_usd_per_gpu_hour"}
    missing = tuple(dict.fromkeys(names.get(name, name) for layer in layers for name in layer.missing))
    if missing:
        return StepTest(purchase, None, None, missing)
    saved = sum(layer.usd_saved or 0.0 for layer in layers) * size * factor
    return StepTest(purchase, sum(size for layer in layers if layer.pays), saved)


@takes(
    usd_per_gpu_hour=with_unknown(AT_LEAST_0),
    used_gpu_hours=AT_LEAST_0,
    committed_gpu_hours=AT_LEAST_0,
    least_share=SHARE,
)
def take_or_pay_usd(
    usd_per_gpu_hour: FloatArray | float,
    used_gpu_hours: FloatArray,
    committed_gpu_hours: FloatArray,
    least_share: float,
) -> FloatArray:
    """Return the bill of each month: rate * max(used, q * committed GPU-hours), settled month by month.

    Arrays (months,); the rate may be one number. An unknown rate (NaN) gives an unknown bill. Raises
    ValueError for arrays of different length.

    >>> take_or_pay_usd(2.0, np.array([100.0, 700.0]), np.array([730.0, 730.0]), 0.8)
    array([1168., 1400.])
    """
    if np.shape(used_gpu_hours) != np.shape(committed_gpu_hours):
        refuse("used_gpu_hours", np.shape(used_gpu_hours), f"the shape {np.shape(committed_gpu_hours)}")
    return np.asarray(usd_per_gpu_hour * np.maximum(used_gpu_hours, least_share * committed_gpu_hours))


@dataclass(frozen=True)
class RampValue:
    """What agreeing today on the price of later steps is worth against buying each at its start.

    Means over the price paths, present values at the plan's begin, US dollars. `usd_given_up` is the mean
    excess where the market turned out cheaper: the value of the option sold to the provider. `usd_protected`
    is the mean where it turned out dearer. `share_of_paths_dearer` counts paths in which the ramp costs more.
    """

    usd_given_up: float | None
    usd_protected: float | None
    share_of_paths_dearer: float | None
    missing: tuple[str, ...] = ()

    @property
    def usd_net(self) -> float | None:
        """Return protected less given up: above 0 the agreed price is the better one on average."""
        if self.usd_given_up is None or self.usd_protected is None:
            return None
        return self.usd_protected - self.usd_given_up


@takes(
    end_month=MONTHS,
    agreed_usd_per_gpu_hour=USD,
    market_usd_per_gpu_hour=PATH,
    hours=AT_LEAST_0,
    rate_per_year=RATE,
    probabilities=optional(SHARE),
)
def ramp_value(
    steps: Sequence[Step],
    end_month: int,
    agreed_usd_per_gpu_hour: float | None,
    market_usd_per_gpu_hour: FloatArray,
    hours: FloatArray,
    rate_per_year: float = 0.0,
    probabilities: FloatArray | None = None,
) -> RampValue:
    """Return the value of a ramp on price paths (paths, months) of the same committed product.

    Without the ramp each step is bought at its start at the market's committed price of that month, fixed to
    the contract's end. `hours` (months,); `probabilities` (paths,), equal ones if left out. One path is
    allowed, of shape (months,). Given up and protected are counted step by step, so a path can have both.

    One GPU from month 1 on at 2.00; the market then asks 1.50 or 2.25, each in half of the paths:

    >>> paths = np.array([[2.0, 1.5], [2.0, 2.25]])
    >>> value = ramp_value([Step(0, 1), Step(1, 2)], 2, 2.0, paths, np.array([100.0, 100.0]))
    >>> value.usd_given_up, value.usd_protected, value.usd_net
    (25.0, 12.5, -12.5)
    """
    market = np.atleast_2d(np.asarray(market_usd_per_gpu_hour, dtype=np.float64))
    if market.shape[1] < end_month or len(hours) < end_month:
        refuse("end_month", end_month, f"at most the months of paths and hours, {market.shape[1]}")
    chance = _chances(len(market), probabilities)
    purchases = ramp_purchases(steps, end_month)
    starts = [purchase.start_month for purchase in purchases]
    missing = _missing(agreed_usd_per_gpu_hour, market[:, starts])
    if missing or agreed_usd_per_gpu_hour is None:
        return RampValue(None, None, None, missing)
    factors = discount_factors(rate_per_year, end_month).end
    discounted = np.cumsum((factors * hours[:end_month])[::-1])[::-1]  # hours from a month to the end
    gpu_hours = np.array([purchase.gpus for purchase in purchases]) * discounted[starts]
    excess = (agreed_usd_per_gpu_hour - market[:, starts]) * gpu_hours  # (paths, steps)
    return RampValue(
        usd_given_up=float(chance @ np.maximum(excess, 0.0).sum(axis=1)),
        usd_protected=float(chance @ np.maximum(-excess, 0.0).sum(axis=1)),
        share_of_paths_dearer=float(chance @ (excess.sum(axis=1) > 0.0)),
    )


def _chances(paths: int, probabilities: FloatArray | None) -> FloatArray:
    chance = np.full(paths, 1.0 / paths) if probabilities is None else np.asarray(probabilities)
    if chance.shape != (paths,) or abs(chance.sum() - 1.0) > 1e-9:
        refuse("probabilities", chance, f"{paths} numbers that sum to 1")
    return chance


def _missing(agreed: float | None, market: FloatArray) -> tuple[str, ...]:
    unknown = {
        "agreed_usd_per_gpu_hour": agreed is None,
        "market_usd_per_gpu_hour": bool(np.isnan(market).any()),
    }
    return tuple(name for name, lacks in unknown.items() if lacks)
