"""How much money to commit per hour, exactly.

With demand that does not answer to the commitment, the weighted cost

    f(C) = sum_h w_h * (C + on-demand rest of hour h at C)

is convex and piecewise linear. In one hour the next committed dollar displaces 1/(1-d) = o/s dollars of
on-demand money, falling with the order of application, and 0 once no eligible use is left. So f bends only at
the partial sums of the use at plan prices, item by item in that order: these kinks are the candidates. Their
slopes are summed once over all hours; no hour is simulated again for each candidate.

The optimum is where the weighted mean of the displaced amount crosses 1; on a flat optimum the smallest C.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.usage import (
    UsageItem,
    known,
    missing_prices,
    on_demand_prices,
    order_of_application,
    require_plan_prices,
    share_of,
    two_dimensional,
)
from planner.core.ranges import AT_LEAST_0, optional, refuse, takes

# a mean displaced amount this close to 1 is 1: sums over 200,000 kinks are exact to about 1e-11
SAME_SLOPE = 1e-9


@dataclass(frozen=True)
class CostCurve:
    """f(C) less f(0), at its kinks: all arrays are (kinks,), the first kink is C = 0.

    `displaced_before` and `displaced_after` are the weighted mean on-demand money that the dollar before and
    the dollar after each kink displaces; infinity before C = 0. NaN throughout where a price is missing.
    """

    usd_per_hour: FloatArray
    usd_over_none: FloatArray
    displaced_before: FloatArray
    displaced_after: FloatArray
    weight: float

    @takes(usd_per_hour=AT_LEAST_0)
    def at(self, usd_per_hour: FloatArray) -> FloatArray:
        """Return f(C) - f(0) for any commitments, of their shape: straight lines between kinks.

        Beyond the last kink every committed dollar is lost, so f rises by the sum of the weights.

        >>> curve = cost_curve([UsageItem("a", 2.0)], np.array([[3.0]]), {"a": 1.0})
        >>> curve.at(np.array([1.0, 3.0, 5.0]))
        array([-1., -3., -1.])
        """
        level = np.asarray(usd_per_hour, dtype=np.float64)
        beyond = np.maximum(level - self.usd_per_hour[-1], 0.0) * self.weight
        return np.asarray(np.interp(level, self.usd_per_hour, self.usd_over_none) + beyond)


@dataclass(frozen=True)
class MoneyLevel:
    """The cheapest commitment per hour and what it means; None where a missing price leaves it unknown.

    `usd_total` is f(C), `usd_without` f(0); sums are weighted. The mean displaced amounts of the last dollar
    committed (None at C = 0) and of the next one stand on either side of 1. `kinks` counts the candidates.
    """

    usd_per_hour: float | None
    usd_total: float | None
    usd_without: float | None
    usd_saved: float | None
    displaced_by_last: float | None
    displaced_by_next: float | None
    utilization: float | None
    kinks: int
    missing: tuple[str, ...] = ()


@takes(units=AT_LEAST_0, weights=optional(AT_LEAST_0))
def cost_curve(
    items: Sequence[UsageItem],
    units: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
    weights: FloatArray | None = None,
) -> CostCurve:
    """Return f(C) - f(0) at all kinks.

    `units` is the use (hours, items) that nothing else covers, `weights` (hours,), discount factors times
    scenario probabilities, 1 if left out. Raises ValueError for shapes that do not fit.

    >>> cost_curve([UsageItem("a", 2.0)], np.array([[3.0]]), {"a": 1.0}).usd_over_none
    array([ 0., -3.])
    """
    table = two_dimensional(items, units)
    weight = hour_weights(table, weights)
    order = list(order_of_application(items, usd_plan_per_unit))
    usd = np.array([usd_plan_per_unit[items[place].name] for place in order], dtype=np.float64)
    displaced = on_demand_prices(items)[order] / usd
    if np.isnan(displaced).any():  # one missing price leaves the order open, and so every kink
        displaced = np.full_like(displaced, np.nan)
    kinks = np.cumsum(table[:, order] * usd, axis=1)
    # at the kink where an item ends, the next one's amount takes the place of its own
    falls = weight[:, None] * (displaced - np.append(displaced[1:], 0.0))
    first = float(weight.sum() * displaced[0]) if order else 0.0
    return _curve_of(kinks.ravel(), falls.ravel(), first, float(weight.sum()))


def _curve_of(kinks: FloatArray, falls: FloatArray, first: float, weight: float) -> CostCurve:
    """Return the curve from its bends; `first` is the weighted amount that the first dollar displaces."""
    rising = np.argsort(kinks, kind="stable")
    levels, starts = np.unique(np.concatenate([[0.0], kinks[rising]]), return_index=True)
    fall_at = np.add.reduceat(np.concatenate([[0.0], falls[rising]]), starts)
    after = first - np.cumsum(fall_at)
    # past the last kink nothing is left to displace; the sum says so but for rounding
    after[-1] = 0.0 if not np.isnan(after[-1]) else after[-1]
    cost = np.concatenate([[0.0], np.cumsum((weight - after[:-1]) * np.diff(levels))])
    before = np.concatenate([[np.inf], after[:-1] / weight]) if weight else np.full_like(after, np.nan)
    return CostCurve(levels, cost, before, after / weight if weight else before, weight)


@takes(units=AT_LEAST_0, weights=optional(AT_LEAST_0))
def best_money_level(
    items: Sequence[UsageItem],
    units: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
    weights: FloatArray | None = None,
) -> MoneyLevel:
    """Return the cheapest C, the smallest where several are: the first kink at which the next dollar
    displaces at most 1 on average.

    Arguments as in cost_curve(). Without eligible use it is 0; a missing price of an eligible item makes it
    unknown, one of another item makes the totals unknown. Two hours, one item at 1.00 and plan price 0.60,
    use 1 and 3: the dollar up to 0.60 displaces 1.67, the next one, in half of the hours, 0.83.

    >>> best_money_level([UsageItem("a", 1.0)], np.array([[1.0], [3.0]]), {"a": 0.6}).usd_per_hour
    0.6
    """
    table = two_dimensional(items, units)
    weight = hour_weights(table, weights)
    curve = cost_curve(items, table, usd_plan_per_unit, weight)
    without = known(float(weight @ (table @ on_demand_prices(items))))
    missing = missing_prices(items, usd_plan_per_unit)
    if np.isnan(curve.displaced_after).any() and curve.weight:
        unknown = (None, None, without, None, None, None, None)
        return MoneyLevel(*unknown, kinks=len(curve.usd_per_hour), missing=missing)
    best = int(np.argmax(curve.displaced_after <= 1.0 + SAME_SLOPE)) if curve.weight else 0
    level, change = float(curve.usd_per_hour[best]), float(curve.usd_over_none[best])
    return MoneyLevel(
        usd_per_hour=level,
        usd_total=None if without is None else without + change,
        usd_without=without,
        usd_saved=-change,
        displaced_by_last=float(curve.displaced_before[best]) if best else None,
        displaced_by_next=known(float(curve.displaced_after[best])),
        utilization=_utilization(table, items, usd_plan_per_unit, weight, level),
        kinks=len(curve.usd_per_hour),
        missing=missing,
    )


def _utilization(
    units: FloatArray,
    items: Sequence[UsageItem],
    usd_plan_per_unit: Mapping[str, float | None],
    weight: FloatArray,
    level: float,
) -> float | None:
    used = weight @ np.minimum(value_at_plan_prices(items, units, usd_plan_per_unit), level)
    return share_of(float(used), float(level * weight.sum()))


@takes(units=AT_LEAST_0)
def value_at_plan_prices(
    items: Sequence[UsageItem], units: FloatArray, usd_plan_per_unit: Mapping[str, float | None]
) -> FloatArray:
    """Return the eligible use of each hour at plan prices, (hours,). Raises ValueError for impossible prices.

    >>> value_at_plan_prices([UsageItem("a", 1.0)], np.array([[1.0], [3.0]]), {"a": 0.5})
    array([0.5, 1.5])
    """
    require_plan_prices("usd_plan_per_unit", usd_plan_per_unit)
    usd = np.array([usd_plan_per_unit.get(item.name) or 0.0 for item in items])
    return np.asarray(two_dimensional(items, units) @ usd)


@takes(units=AT_LEAST_0, weights=optional(AT_LEAST_0))
def hour_weights(units: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the weight of each hour, (hours,): 1 if left out. Raises ValueError for another length.

    >>> hour_weights(np.array([[1.0], [3.0]]), None)
    array([1., 1.])
    """
    if weights is None:
        return np.ones(len(units))
    weight = np.asarray(weights, dtype=np.float64)
    if weight.shape != (len(units),):
        refuse("weights", weight, f"{len(units)} numbers, one for each hour")
    return weight
