"""For how long to commit: break-even utilization, falling prices, and terms compared on one price path.

Break-even utilization is the share of the charged hours that a committed unit must be used in. Upfront money
is paid at the begin of the term, hourly charges at the end of each month and only there discounted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.load_curve import SAME_SHARE
from planner.core.money import discount_factors
from planner.core.prices import drift_per_month
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    RATE,
    SHARE,
    SHARE_ABOVE_0,
    Range,
    optional,
    refuse,
    require_fields,
    takes,
    with_unknown,
)
from planner.core.spot import usd_per_useful_gpu_hour
from planner.core.units import MONTHS_PER_YEAR

USD = optional(AT_LEAST_0)
PATH = with_unknown(AT_LEAST_0)
MONTHS = Range(1, 1200, whole=True)
ON_DEMAND = "on demand"


@takes(
    committed_usd_per_gpu_hour=USD,
    on_demand_usd_per_gpu_hour=optional(ABOVE_0),
    salvage_usd_per_gpu_hour=AT_LEAST_0,
)
def break_even_utilization(
    committed_usd_per_gpu_hour: float | None,
    on_demand_usd_per_gpu_hour: float | None,
    salvage_usd_per_gpu_hour: float = 0.0,
) -> float | None:
    """Return u* = (c - s) / (p - s); above 1 it never pays; None where a price is unknown.

    s is what an unused hour brings back, by resale or cancellation. Raises ValueError where it is more than
    the committed price or not below the on-demand price. Source: FinOps Foundation, commitment discounts.

    >>> round(break_even_utilization(2.6, 4.0), 4)
    0.65
    """
    committed, on_demand, salvage = (
        committed_usd_per_gpu_hour,
        on_demand_usd_per_gpu_hour,
        salvage_usd_per_gpu_hour,
    )
    if committed is None or on_demand is None:
        return None
    if salvage > committed or salvage >= on_demand:
        refuse("salvage_usd_per_gpu_hour", salvage, "at most the committed and below the on-demand price")
    return (committed - salvage) / (on_demand - salvage)


@takes(committed_share_of_price=AT_LEAST_0, decline_per_year=Range(-10.0, 10.0), years=ABOVE_0)
def break_even_utilization_with_decline(
    committed_share_of_price: float, decline_per_year: float, years: float
) -> float:
    """Return (c / p0) * g T / (1 - e^(-g T)): on-demand prices fall continuously at g per year.

    c T over the integral of p0 e^(-g t) from 0 to T, without discounting; a negative g is a rise.

    >>> round(break_even_utilization_with_decline(0.55, 0.25, 3.0), 4)
    0.7818
    """
    fall = decline_per_year * years
    if fall == 0.0:
        return committed_share_of_price
    if fall > 0.0:
        return float(committed_share_of_price * fall / -np.expm1(-fall))
    # the same, multiplied by e^fall above and below: a steep rise stays a number
    return float(committed_share_of_price * fall * np.exp(fall) / np.expm1(fall))


@takes(
    committed_usd_per_gpu_hour=USD,
    spot_usd_per_gpu_hour=optional(ABOVE_0),
    spot_useful_work_factor=SHARE_ABOVE_0,
    committed_useful_work_factor=SHARE_ABOVE_0,
)
def break_even_against_spot(
    committed_usd_per_gpu_hour: float | None,
    spot_usd_per_gpu_hour: float | None,
    spot_useful_work_factor: float,
    committed_useful_work_factor: float = 1.0,
) -> float | None:
    """Return c / p' with p' = spot price / useful-work factor, both per useful GPU-hour; None if unknown.

    Above 1 spot is cheaper than a commitment in use all the time, as far as spot is to be had.

    >>> break_even_against_spot(2.0, 2.0, 0.8)
    0.8
    """
    if committed_usd_per_gpu_hour is None or spot_usd_per_gpu_hour is None:
        return None
    committed = usd_per_useful_gpu_hour(committed_usd_per_gpu_hour, committed_useful_work_factor)
    return committed / usd_per_useful_gpu_hour(spot_usd_per_gpu_hour, spot_useful_work_factor)


@takes(usd_per_gpu_hour=AT_LEAST_0, decline_per_year=Range(-10.0, 10.0), months=MONTHS)
def falling_price_path(usd_per_gpu_hour: float, decline_per_year: float, months: int) -> FloatArray:
    """Return the prices of months 1..n, (months,): p0 * (1 + d)^(m-1) with d = e^(-g/12) - 1.

    >>> falling_price_path(4.0, 0.24, 3).round(4)
    array([4.    , 3.9208, 3.8432])
    """
    path = usd_per_gpu_hour * (1.0 + drift_per_month(decline_per_year)) ** np.arange(months)
    return np.asarray(path, dtype=np.float64)


@dataclass(frozen=True)
class LayerTest:
    """What one unit costs over its term, committed and on demand: present values at the begin of the term.

    `break_even_utilization` is the share of hours, the same in each month, at which both cost the same; None
    where on-demand costs nothing. With an unknown price all is None and `missing` names what.
    """

    usd_committed: float | None
    usd_on_demand: float | None
    break_even_utilization: float | None
    missing: tuple[str, ...] = ()

    @property
    def usd_saved(self) -> float | None:
        """Return what committing saves; negative where it costs more."""
        if self.usd_committed is None or self.usd_on_demand is None:
            return None
        return self.usd_on_demand - self.usd_committed

    @property
    def pays(self) -> bool | None:
        """Return whether on-demand is at least as dear; equal costs count as paying."""
        if self.usd_committed is None or self.usd_on_demand is None:
            return None
        return self.usd_on_demand >= self.usd_committed * (1.0 - SAME_SHARE)


@takes(
    used_share=SHARE,
    hours=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=PATH,
    committed_usd_per_gpu_hour=PATH,
    usd_upfront_per_gpu=USD,
    end_factors=AT_LEAST_0,
)
def layer_over_term(
    used_share: FloatArray,
    hours: FloatArray,
    on_demand_usd_per_gpu_hour: FloatArray,
    committed_usd_per_gpu_hour: FloatArray | float,
    usd_upfront_per_gpu: float | None,
    end_factors: FloatArray,
) -> LayerTest:
    """Return the test of one unit: commit iff sum v_m h_m p_m P{D_m >= k} >= U + sum v_m h_m c_m.

    All arrays (months of the term,); `used_share` is P{D_m >= k}, for fractional demand the mean used share
    of the layer; `end_factors` discount to the begin of the term, where U is paid. NaN and None are unknown.
    Raises ValueError for arrays of different length.

    >>> two = np.array([100.0, 100.0])
    >>> layer_over_term(two / 200, two, np.array([4.0, 2.0]), 1.0, 100.0, two / 100).pays
    True
    """
    months = len(hours)
    values = {
        "used_share": used_share,
        "on_demand_usd_per_gpu_hour": on_demand_usd_per_gpu_hour,
        "end_factors": end_factors,
    }
    for name, value in values.items():
        if np.shape(value) != (months,):
            refuse(name, f"of shape {np.shape(value)}", f"one number per month of hours, ({months},)")
    charged = np.broadcast_to(np.asarray(committed_usd_per_gpu_hour, dtype=np.float64), months)
    missing = _missing(on_demand_usd_per_gpu_hour, charged, usd_upfront_per_gpu)
    if missing:
        return LayerTest(None, None, None, missing)
    committed = float(usd_upfront_per_gpu or 0.0) + float(np.sum(end_factors * hours * charged))
    always = end_factors * hours * on_demand_usd_per_gpu_hour
    on_demand, full = float(np.sum(always * used_share)), float(np.sum(always))
    return LayerTest(committed, on_demand, committed / full if full else None)


def _missing(on_demand: FloatArray, charged: FloatArray, upfront: float | None) -> tuple[str, ...]:
    unknown = {
        "on_demand_usd_per_gpu_hour": bool(np.isnan(on_demand).any()),
        "committed_usd_per_gpu_hour": bool(np.isnan(charged).any()),
        "usd_upfront_per_gpu": upfront is None,
    }
    return tuple(name for name, lacks in unknown.items() if lacks)


@dataclass(frozen=True)
class TermOffer:
    """A commitment of one unit as it is offered today; None is an unknown price."""

    name: str
    term_months: int
    usd_per_gpu_hour: float | None
    usd_upfront_per_gpu: float | None = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible offers."""
        require_fields(self, self.name, term_months=MONTHS, usd_per_gpu_hour=USD, usd_upfront_per_gpu=USD)


@dataclass(frozen=True)
class TermCost:
    """One way to hold a unit over the whole path. `terms` counts how often it is committed in it.

    `first_term` is the test of the first term, None for on-demand.
    """

    name: str
    usd_present_value: float | None
    usd_saved: float | None
    terms: int
    first_term: LayerTest | None
    missing: tuple[str, ...] = ()


@takes(on_demand_usd_per_gpu_hour=PATH, used_share=SHARE, hours=AT_LEAST_0, rate_per_year=RATE)
def compare_terms(
    offers: Sequence[TermOffer],
    on_demand_usd_per_gpu_hour: FloatArray,
    used_share: FloatArray,
    hours: FloatArray,
    rate_per_year: float = 0.0,
) -> tuple[TermCost, ...]:
    """Return the present value of each offer and of on-demand on one price path, the cheapest first.

    Arrays (months,). A term is renewed at today's discount: its prices follow the on-demand price of the
    month of renewal. Months too few for another whole term go on demand. What is unknown stands last.
    Raises ValueError for arrays of different length.

    >>> path, always, hours = np.array([4.0] * 12 + [2.0] * 12), np.ones(24), np.full(24, 100.0)
    >>> offers = [TermOffer("1 year", 12, 3.0), TermOffer("2 years", 24, 2.5)]
    >>> [(cost.name, cost.usd_present_value) for cost in compare_terms(offers, path, always, hours)]
    [('1 year', 5400.0), ('2 years', 6000.0), ('on demand', 7200.0)]
    """
    path, share = np.asarray(on_demand_usd_per_gpu_hour), np.asarray(used_share)
    for name, value in {"on_demand_usd_per_gpu_hour": path, "used_share": share}.items():
        if value.shape != np.shape(hours):
            refuse(name, f"of shape {value.shape}", f"one number per month of hours, {np.shape(hours)}")
    factors = discount_factors(rate_per_year, max(len(hours), 1))
    usd = factors.end[: len(hours)] * hours * path * share
    costs = [_held_through(offer, path, share, hours, rate_per_year, usd) for offer in offers]
    total = _known(float(usd.sum()))
    gap = () if total is not None else ("on_demand_usd_per_gpu_hour",)
    costs.append(TermCost(ON_DEMAND, total, None if total is None else 0.0, 0, None, gap))
    dearest = float("inf")
    return tuple(
        sorted(costs, key=lambda cost: dearest if cost.usd_present_value is None else cost.usd_present_value)
    )


def _held_through(
    offer: TermOffer,
    path: FloatArray,
    share: FloatArray,
    hours: FloatArray,
    rate_per_year: float,
    usd_on_demand: FloatArray,
) -> TermCost:
    """Return the cost of one offer, renewed for as long as whole terms fit."""
    terms, term = len(hours) // offer.term_months, offer.term_months
    end_factors = discount_factors(rate_per_year, term).end
    tests, usd = [], float(usd_on_demand[terms * term :].sum())
    for start in range(0, terms * term, term):
        # where a renewal's price is unknown the path is, and its gap alone is named
        level = path[start] / path[0] if path[0] else 1.0
        level = 1.0 if np.isnan(level) else level
        held = slice(start, start + term)
        hourly = np.nan if offer.usd_per_gpu_hour is None else offer.usd_per_gpu_hour * level
        upfront = _times(offer.usd_upfront_per_gpu, level)
        test = layer_over_term(share[held], hours[held], path[held], hourly, upfront, end_factors)
        tests.append(test)
        from_now = (1.0 + rate_per_year) ** (-start / MONTHS_PER_YEAR)
        usd += np.nan if test.usd_committed is None else test.usd_committed * from_now
    total, without = _known(usd), _known(float(usd_on_demand.sum()))
    named = [name for test in tests for name in test.missing]
    if np.isnan(usd_on_demand[terms * term :]).any():
        named.append("on_demand_usd_per_gpu_hour")
    return TermCost(
        name=offer.name,
        usd_present_value=total,
        usd_saved=None if total is None or without is None else without - total,
        terms=terms,
        first_term=tests[0] if tests else None,
        missing=tuple(dict.fromkeys(named)),
    )


def _times(usd: float | None, level: float) -> float | None:
    """Return an upfront payment at another price level; without one the level need not be known."""
    if not usd:
        return usd
    return _known(usd * level)


def _known(usd: float) -> float | None:
    return None if np.isnan(usd) else usd
