"""The provider's own recommendation, worked out by its published method, beside our optimum.

Azure: every hour of the last 7, 30 or 60 days has an optimum of its own, all its eligible use at plan prices;
these are the candidates. Each is simulated over the same hours, without forecast, and the one with the
greatest net saving is recommended. AWS looks back over the same days, also without forecast, and publishes no
candidates: here the best level of that history.

Sources: Microsoft, "How savings plan recommendations are generated" (learn.microsoft.com, azure-docs
purchase-recommendations.md); AWS Savings Plans User Guide, recommendations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.money_level import (
    CostCurve,
    MoneyLevel,
    best_money_level,
    cost_curve,
    hour_weights,
    value_at_plan_prices,
)
from planner.core.commitments.recommendation import (
    Recommendation,
    RecommendationCheck,
    check_recommendation,
)
from planner.core.commitments.usage import (
    UsageItem,
    known,
    on_demand_prices,
    require_plan_prices,
    share_of,
    two_dimensional,
)
from planner.core.ranges import AT_LEAST_0, Range, optional, refuse, require_one_of, takes
from planner.core.units import HOURS_PER_DAY

PUBLISHED_LOOKBACK_DAYS = (7, 30, 60)
LOOKBACK_DAYS = Range(1, 366, whole=True)
METHODS = ("azure", "aws")
SAME_SHARE = 1e-12  # savings that differ by less than this share are the same


@takes(units=AT_LEAST_0, lookback_days=LOOKBACK_DAYS)
def recommended(
    method: str,
    items: Sequence[UsageItem],
    units: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
    lookback_days: int,
) -> Recommendation:
    """Return what the provider's method recommends from the last `lookback_days` of `units` (hours, items).

    `method` is azure or aws. Of equally good candidates the smallest. Raises ValueError for another method
    and for a history that is shorter than the look-back.

    >>> week = np.repeat([[1.0], [3.0]], 84, axis=0)
    >>> recommended("azure", [UsageItem("a", 1.0)], week, {"a": 0.6}, 7).usd_per_hour
    0.6
    """
    require_one_of(METHODS, method=method)
    history = two_dimensional(items, units)
    hours = lookback_days * HOURS_PER_DAY
    if len(history) < hours:
        refuse("units", history, f"at least {hours} hours, the {lookback_days} days of the look-back")
    history = history[-hours:]
    source = f"{method}, last {lookback_days} days"
    level: float | None
    if method == "aws":
        level = best_money_level(items, history, usd_plan_per_unit).usd_per_hour
    else:
        level = _best_candidate(items, history, usd_plan_per_unit)
    return _recommendation(source, level, items, history, usd_plan_per_unit)


def _best_candidate(
    items: Sequence[UsageItem], history: FloatArray, usd_plan_per_unit: Mapping[str, float | None]
) -> float | None:
    """Return the best of the hourly optima; 0 where none of them saves anything."""
    candidates = hourly_optima(items, history, usd_plan_per_unit)
    costs = cost_curve(items, history, usd_plan_per_unit).at(candidates)
    if np.isnan(costs).any():
        return None
    cheapest = costs.min()
    if cheapest >= 0.0:
        return 0.0
    return float(candidates[np.argmax(costs <= cheapest * (1.0 - SAME_SHARE))])


@takes(units=AT_LEAST_0)
def hourly_optima(
    items: Sequence[UsageItem], units: FloatArray, usd_plan_per_unit: Mapping[str, float | None]
) -> FloatArray:
    """Return each hour's own optimum once, rising: all use with a discount above 0, at plan prices.

    NaN where a price is missing. Units are (hours, items), the answer (candidates,).

    >>> hourly_optima([UsageItem("a", 1.0)], np.array([[3.0], [1.0], [1.0]]), {"a": 0.5})
    array([0.5, 1.5])
    """
    require_plan_prices("usd_plan_per_unit", usd_plan_per_unit)
    usd = {item.name: item.usd_on_demand_per_unit for item in items}
    saving = {
        name: price
        for name, price in usd_plan_per_unit.items()
        if price is not None and not _is_no_discount(price, usd.get(name))
    }
    return np.unique(value_at_plan_prices(items, units, saving))


def _is_no_discount(usd_plan: float, usd_on_demand: float | None) -> bool:
    return usd_on_demand is not None and usd_plan >= usd_on_demand


def _recommendation(
    source: str,
    level: float | None,
    items: Sequence[UsageItem],
    history: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
) -> Recommendation:
    """Return a level with R and G per hour of the history, as its simulation gives them."""
    if level is None:
        return Recommendation(source, None, None, None)
    change = cost_curve(items, history, usd_plan_per_unit).at(np.array([level]))[0]
    saved = float(-change / len(history))
    baseline = known(float((history @ on_demand_prices(items)).mean()))
    rest = None if baseline is None else max(baseline - level - saved, 0.0)
    return Recommendation(source, level, rest, saved)


@dataclass(frozen=True)
class Opinion:
    """One recommendation against our optimum on the demand of the whole term; money per weighted hour.

    `usd_more_than_ours` is theirs - ours in the commitment; `usd_dearer` what following it costs more than
    our optimum, never below 0. `utilization` is used / committed; it pays where that is above the break-even,
    plan price / on-demand price of what it covers. `usd_saved_at_p10` is the saving at P10 demand, None
    without one.
    """

    recommendation: Recommendation
    check: RecommendationCheck
    usd_more_than_ours: float | None
    usd_saved: float | None
    usd_dearer: float | None
    utilization: float | None
    break_even_utilization: float | None
    usd_saved_at_p10: float | None


@dataclass(frozen=True)
class SecondOpinion:
    """Our optimum with its saving per weighted hour and, beside it, each recommendation."""

    ours: MoneyLevel
    ours_usd_saved: float | None
    ours_usd_saved_at_p10: float | None
    opinions: tuple[Opinion, ...]


@dataclass(frozen=True)
class _Demand:
    """Demand as the opinions read it: the cost curve, and the use at plan prices by hour with its weights."""

    curve: CostCurve
    value_usd: FloatArray
    weight: FloatArray

    def saved(self, level: float | None) -> float | None:
        """Return what a level saves per weighted hour."""
        if level is None or self.curve.weight == 0.0:
            return None
        return known(float(-self.curve.at(np.array([level]))[0] / self.curve.weight))

    def used(self, level: float) -> float:
        """Return the committed money that is used per weighted hour."""
        return float(self.weight @ np.minimum(self.value_usd, level) / self.curve.weight)


@takes(term_units=AT_LEAST_0, weights=optional(AT_LEAST_0), p10_units=optional(AT_LEAST_0))
def second_opinion(
    recommendations: Sequence[Recommendation],
    items: Sequence[UsageItem],
    term_units: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
    weights: FloatArray | None = None,
    p10_units: FloatArray | None = None,
) -> SecondOpinion:
    """Return every recommendation judged on `term_units`, the demand of the whole term, (hours, items).

    `weights` (hours,) are discount factors times scenario probabilities; `p10_units` is the P10 demand,
    (hours, items), each hour with weight 1. Recommendations come from recommended() or are typed in.

    >>> given = Recommendation("console", 1.8, 0.0, 0.2)
    >>> both = np.array([[1.0], [3.0]])
    >>> judged = second_opinion([given], [UsageItem("a", 1.0)], both, {"a": 0.6})
    >>> judged.ours.usd_per_hour, round(judged.opinions[0].usd_dearer, 4)
    (0.6, 0.2)
    """
    table = two_dimensional(items, term_units)
    term = _demand(items, table, usd_plan_per_unit, hour_weights(table, weights))
    low = None
    if p10_units is not None:
        table_low = two_dimensional(items, p10_units)
        low = _demand(items, table_low, usd_plan_per_unit, hour_weights(table_low, None))
    ours = best_money_level(items, table, usd_plan_per_unit, term.weight)
    return SecondOpinion(
        ours=ours,
        ours_usd_saved=term.saved(ours.usd_per_hour),
        ours_usd_saved_at_p10=None if low is None else low.saved(ours.usd_per_hour),
        opinions=tuple(_opinion(each, ours, term, low) for each in recommendations),
    )


def _demand(
    items: Sequence[UsageItem],
    table: FloatArray,
    usd_plan_per_unit: Mapping[str, float | None],
    weight: FloatArray,
) -> _Demand:
    curve = cost_curve(items, table, usd_plan_per_unit, weight)
    return _Demand(curve, value_at_plan_prices(items, table, usd_plan_per_unit), weight)


def _opinion(recommendation: Recommendation, ours: MoneyLevel, term: _Demand, low: _Demand | None) -> Opinion:
    level = recommendation.usd_per_hour
    best, saved = term.saved(ours.usd_per_hour), term.saved(level)
    used = None if level is None or saved is None else term.used(level)
    return Opinion(
        recommendation=recommendation,
        check=check_recommendation(recommendation),
        usd_more_than_ours=None if level is None or ours.usd_per_hour is None else level - ours.usd_per_hour,
        usd_saved=saved,
        usd_dearer=None if best is None or saved is None else max(best - saved, 0.0),
        utilization=None if level is None or used is None else share_of(used, level),
        # what the used money displaces is the commitment plus the saving
        break_even_utilization=(
            None if used is None or level is None or saved is None else share_of(used, level + saved)
        ),
        usd_saved_at_p10=None if low is None else low.saved(level),
    )
