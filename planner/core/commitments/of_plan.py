"""Size one commitment on a plan's own future, over its whole term.

Each future is a plan with a probability, such as the same plan at P10, P50 and P90 demand. In hour h of
future i the plan takes D_ih GPUs on demand that nothing else covers, at price p_ih; v_h discounts the end of
the hour's month to the plan's begin. With the charge of one GPU for the term, C = U v_0 + c sum v_h, and s
what an unused hour brings back,

    f(K) = K (C - s sum v_h) + sum over i, h of pi_i v_h ((p_ih - s) max(0, D_ih - K) + s D_ih)

This is the cost of level.py with weights pi_i v_h (p_ih - s), on-demand price 1 and committed price
(C - s sum v_h) / sum of the weights, which is the break-even utilization. Source: as level.py and terms.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray, Horizon, add_months
from planner.core.commitments.level import (
    CommitmentSize,
    LevelCheck,
    best_level_on_curve,
    costs_on_curve,
    require_whole_instances,
)
from planner.core.commitments.load_curve import GPUS, SAME_SHARE, LoadCurve, load_curve
from planner.core.commitments.plan_need import HourlyNeed, hourly_need, require_same_months
from planner.core.commitments.regret import RegretOfLevel
from planner.core.commitments.terms import MONTHS, USD
from planner.core.committed import effective_usd_per_gpu_hour
from planner.core.money import discount_factors
from planner.core.plan import Plan
from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, SHARE, refuse, require_fields, takes

LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Product:
    """A commitment on offer in place of one on-demand supply of a plan; None is an unknown price.

    The hourly price is charged for every hour of the term, upfront money is paid at the begin of the month of
    the start. `salvage_usd_per_gpu_hour` is what an unused hour brings back.
    """

    name: str
    on_demand: str
    start: date
    term_months: int
    usd_per_gpu_hour: float | None
    usd_upfront_per_gpu: float | None = 0.0
    gpus_per_instance: int = 1
    salvage_usd_per_gpu_hour: float = 0.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            self.name,
            term_months=MONTHS,
            usd_per_gpu_hour=USD,
            usd_upfront_per_gpu=USD,
            gpus_per_instance=COUNT_FROM_1,
            salvage_usd_per_gpu_hour=AT_LEAST_0,
        )

    @property
    def end(self) -> date:
        """Return the first day after the term."""
        return add_months(self.start, self.term_months)

    @property
    def usd_effective_per_gpu_hour(self) -> float | None:
        """Return upfront / real hours of the term + hourly price; None where one is unknown."""
        if self.usd_per_gpu_hour is None or self.usd_upfront_per_gpu is None:
            return None
        hours = Horizon(self.start, 1).hour_at(self.end)
        return effective_usd_per_gpu_hour(self.usd_upfront_per_gpu, self.usd_per_gpu_hour, hours)


@dataclass(frozen=True)
class Future:
    """A plan that may come true, and with what probability."""

    name: str
    probability: float
    plan: Plan

    def __post_init__(self) -> None:
        require_fields(self, self.name, probability=SHARE)


@dataclass(frozen=True)
class FutureHours:
    """One future inside the term: need and weights by hour, (hours,), and a GPU's charge for the term.

    `factors` are v_h, `usd_weights` v_h (p_h - s), `usd_charge` is C - s sum v_h, `usd_salvaged` is
    s sum v_h D_h.
    """

    name: str
    probability: float
    gpus: FloatArray
    factors: FloatArray
    usd_weights: FloatArray
    usd_charge: float
    usd_salvaged: float

    def __post_init__(self) -> None:
        require_fields(
            self,
            probability=SHARE,
            gpus=GPUS,
            factors=AT_LEAST_0,
            usd_weights=AT_LEAST_0,
            usd_charge=AT_LEAST_0,
            usd_salvaged=AT_LEAST_0,
        )


@dataclass(frozen=True)
class SizedCommitment:
    """The best level over the whole term and what it means; US dollars are present values at plan begin.

    `break_even_utilization` is the share of the term's hours, the same in each month, in which a GPU must be
    used (None where on-demand is free); `check` tests the last and the next instance against it by used hours
    weighted with their prices. Utilization and coverage count discounted GPU-hours. `regrets` has every
    future; `at_p10` and `at_p90` name those at which the probability, by rising demand, reaches 10 and 90 %.
    Where something is unknown all is None and `missing` says what.
    """

    product: Product
    gpus: int | None
    usd: float | None
    usd_saved: float | None
    break_even_utilization: float | None
    utilization: float | None
    coverage: float | None
    check: LevelCheck | None = None
    regrets: tuple[RegretOfLevel, ...] = ()
    at_p10: str | None = None
    at_p90: str | None = None
    unmet_gpu_hours: float | None = None
    missing: tuple[str, ...] = ()
    hours: tuple[FutureHours, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        require_fields(self, self.product.name)

    @takes(gpus=GPUS)
    def usd_of(self, gpus: float) -> float | None:
        """Return the expected cost f(K) of any whole number of instances; None where it is unknown.

        >>> from planner.core.optimize.examples import plan_to_decide
        >>> year = Product("1 year", "On demand", date(2027, 1, 1), 12, 2.6)
        >>> sized = size_commitment(year, [Future("base", 1.0, plan_to_decide())])
        >>> sized.usd_of(sized.gpus) == sized.usd, sized.usd_of(0) - sized.usd == sized.usd_saved
        (True, True)
        """
        if self.missing:
            return None
        require_whole_instances(gpus, self.product.gpus_per_instance)
        return _expected_usd(gpus, self.hours)

    @property
    def sentence(self) -> str:
        """Return the advice in words."""
        term = f"{self.product.name}, {self.product.start} to {self.product.end}"
        if self.gpus is None or self.usd_saved is None:
            return f"{term}: unknown, for lack of {', '.join(self.missing)}."
        text = f"{term}: commit {self.gpus} GPUs; expected saving ${self.usd_saved:,.2f}."
        if self.break_even_utilization is None:
            return text
        return f"{text} A GPU pays above {100.0 * self.break_even_utilization:.1f} % use."


def size_commitment(product: Product, futures: Sequence[Future]) -> SizedCommitment:
    """Return the cheapest whole number of instances over all futures and the whole term, with its regrets.

    The plan must hold the whole term: demand after its end is unknown, and so is the level then. A commitment
    that stands in for several supplies is sized for one at a time. Raises ValueError for a start before the
    plan, probabilities that do not sum to 1, futures of different months, an unknown supply, and a salvage of
    more than the committed or not below the on-demand price.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> year = Product("1 year", "On demand", date(2027, 1, 1), 12, 2.6, gpus_per_instance=8)
    >>> size_commitment(year, [Future("base", 1.0, plan_to_decide())]).gpus
    24
    """
    horizon = require_same_months([each.plan for each in futures])
    chance = sum(each.probability for each in futures)
    if abs(chance - 1.0) > 1e-9:
        refuse(
            "futures", [each.probability for each in futures], f"probabilities that sum to 1, not {chance:g}"
        )
    if product.start < horizon.start:
        refuse(f"{product.name}: start", product.start, f"on or after the plan's start, {horizon.start}")
    needs = [hourly_need(each.plan, product.on_demand) for each in futures]
    missing = _missing(product, needs, horizon)
    if missing:
        return SizedCommitment(product, None, None, None, None, None, None, missing=missing)
    hours = tuple(_inside(product, *pair, horizon) for pair in zip(futures, needs, strict=True))
    return _sized(
        product, hours, sum(f.probability * n.unmet_gpu_hours for f, n in zip(futures, needs, strict=True))
    )


def _missing(product: Product, needs: Sequence[HourlyNeed], horizon: Horizon) -> tuple[str, ...]:
    term = slice(horizon.hour_at(product.start), horizon.hour_at(product.end))
    unknown = {
        "usd_per_gpu_hour": product.usd_per_gpu_hour is None,
        "usd_upfront_per_gpu": product.usd_upfront_per_gpu is None,
        f"the price of {product.on_demand}": any(
            np.isnan(need.usd_per_gpu_hour[term]).any() for need in needs
        ),
        f"the demand from {horizon.end} to {product.end}": product.end > horizon.end,
    }
    return tuple(name for name, lacks in unknown.items() if lacks)


def _inside(product: Product, future: Future, need: HourlyNeed, horizon: Horizon) -> FutureHours:
    """Return the hours of the term with their weights."""
    term = slice(horizon.hour_at(product.start), horizon.hour_at(product.end))
    factors = discount_factors(future.plan.discount_rate_per_year, horizon.months)
    v, salvage = factors.end[need.month[term]], product.salvage_usd_per_gpu_hour
    usd = need.usd_per_gpu_hour[term]
    upfront = (product.usd_upfront_per_gpu or 0.0) * float(factors.begin[horizon.index_of(product.start)])
    charge = upfront + ((product.usd_per_gpu_hour or 0.0) - salvage) * float(v.sum())
    if salvage and (charge < 0.0 or bool((usd <= salvage).any())):
        name = f"{product.name}: salvage_usd_per_gpu_hour"
        refuse(name, salvage, "at most the committed and below the on-demand price")
    gpus = need.gpus[term]
    salvaged = salvage * float(v @ gpus)
    return FutureHours(future.name, future.probability, gpus, v, v * (usd - salvage), charge, salvaged)


def _curve(hours: Sequence[FutureHours]) -> LoadCurve:
    """Return the hours of all futures as weighted observations of one demand."""
    gpus = np.concatenate([each.gpus for each in hours])
    return load_curve(gpus, np.concatenate([each.probability * each.usd_weights for each in hours]))


def _sized(product: Product, hours: tuple[FutureHours, ...], unmet: float) -> SizedCommitment:
    best, break_even = _best(hours, product.gpus_per_instance)
    gpus = best.gpus or 0
    usd, without = _expected_usd(gpus, hours), _expected_usd(0, hours)
    used = sum(each.probability * float(each.factors @ np.minimum(each.gpus, gpus)) for each in hours)
    wanted = sum(each.probability * float(each.factors @ each.gpus) for each in hours)
    committed = gpus * sum(each.probability * float(each.factors.sum()) for each in hours)
    return SizedCommitment(
        product=product,
        gpus=gpus,
        usd=usd,
        usd_saved=without - usd,
        break_even_utilization=break_even,
        utilization=min(used / committed, 1.0) if committed else None,
        coverage=min(used / wanted, 1.0) if wanted else None,
        check=best.check,
        regrets=tuple(_regret(gpus, each, product.gpus_per_instance) for each in hours),
        at_p10=_at(LOW, hours),
        at_p90=_at(HIGH, hours),
        unmet_gpu_hours=unmet,
        hours=hours,
    )


def _best(hours: Sequence[FutureHours], size: int) -> tuple[CommitmentSize, float | None]:
    """Return the best level and the break-even utilization, None where on-demand costs nothing."""
    curve = _curve(hours)
    charge = sum(each.probability * each.usd_charge for each in hours)
    if not curve.weight:  # on-demand is free: a commitment pays only if it is free too
        return best_level_on_curve(load_curve(curve.gpus), charge, 0.0, size), None
    break_even = charge / curve.weight
    return best_level_on_curve(curve, break_even, 1.0, size), break_even


def _expected_usd(gpus: float, hours: Sequence[FutureHours]) -> float:
    """Return f(K)."""
    charge = sum(each.probability * (each.usd_charge * gpus + each.usd_salvaged) for each in hours)
    return charge + float(costs_on_curve(np.array([float(gpus)]), _curve(hours), 0.0, 1.0)[0])


def _regret(gpus: int, hours: FutureHours, size: int) -> RegretOfLevel:
    """Return cost and regret of the level in one future, taken as certain."""
    certain = [FutureHours(hours.name, 1.0, *_parts(hours))]
    best = _best(certain, size)[0].gpus or 0
    return RegretOfLevel(hours.name, gpus, _expected_usd(gpus, certain), best, _expected_usd(best, certain))


def _parts(hours: FutureHours) -> tuple[FloatArray, FloatArray, FloatArray, float, float]:
    return hours.gpus, hours.factors, hours.usd_weights, hours.usd_charge, hours.usd_salvaged


def _at(share: float, hours: Sequence[FutureHours]) -> str:
    """Return the future at which the probability, by rising demand in GPU-hours, reaches a share."""
    rising = sorted(hours, key=lambda each: float(each.gpus.sum()))
    reached = np.cumsum([each.probability for each in rising])
    return rising[int(np.argmax(reached >= share - SAME_SHARE))].name
