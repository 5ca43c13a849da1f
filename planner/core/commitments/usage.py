"""What is used and what plans ask for it: items with their on-demand prices, and plans by item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    Range,
    optional,
    refuse,
    require,
    require_fields,
    takes,
    with_unknown,
)

# sums of money over many hours, and quotients of them, may pass what a single input may be
UNBOUNDED = Range(-np.inf, np.inf, unknown=True, endless=True)
PLAN_PRICE = optional(with_unknown(ABOVE_0))
SAME_DISCOUNT_DIGITS = 12  # discounts that agree so far are a tie: 1 - 0.003/0.004 and 1 - 0.03/0.04


@dataclass(frozen=True)
class UsageItem:
    """Something metered: its on-demand price per unit of use, None where unknown, and whose account it is."""

    name: str
    usd_on_demand_per_unit: float | None
    account: str = ""

    def __post_init__(self) -> None:
        require_fields(self, self.name, usd_on_demand_per_unit=optional(ABOVE_0))


@dataclass(frozen=True)
class SpendPlan:
    """Money committed per hour, in the plan's own prices.

    `usd_per_unit` is the plan's price by item: None or no entry, not eligible; NaN, eligible, price unknown.
    `narrow` plans apply before broad ones. The use in the account of the `owner` comes first (None: all
    accounts are equal); a plan that is not `shared` covers that account alone.
    """

    name: str
    usd_per_hour: float
    usd_per_unit: Mapping[str, float | None]
    narrow: bool = False
    owner: str | None = ""
    shared: bool = True

    def __post_init__(self) -> None:
        require_fields(self, self.name, usd_per_hour=AT_LEAST_0)
        require_plan_prices(f"{self.name}: usd_per_unit", self.usd_per_unit)
        if self.owner is None and not self.shared:
            refuse(f"{self.name}: owner", None, "an account, where a plan is not shared")


def require_plan_prices(name: str, usd_per_unit: Mapping[str, float | None]) -> None:
    """Raise ValueError for a plan price that is not above 0; None is not eligible, NaN unknown.

    >>> require_plan_prices("usd_plan_per_unit", {"a": 0.7, "b": None})
    """
    for item, usd in usd_per_unit.items():
        require(PLAN_PRICE, **{f"{name} of {item}": usd})


@takes(value=UNBOUNDED)
def known(value: float) -> float | None:
    """Return a number, or None where it is unknown (NaN).

    >>> known(float("nan")) is None
    True
    """
    return None if np.isnan(value) else float(value)


@takes(part=UNBOUNDED, whole=UNBOUNDED)
def share_of(part: float, whole: float) -> float | None:
    """Return part / whole; None where either is unknown or the whole is 0.

    >>> share_of(47.125, 50.0)
    0.9425
    """
    return None if whole == 0.0 else known(part / whole)


def on_demand_prices(items: Sequence[UsageItem]) -> FloatArray:
    """Return the on-demand price of each item, (items,), NaN where unknown.

    >>> on_demand_prices([UsageItem("a", 1.0), UsageItem("b", None)])
    array([ 1., nan])
    """
    prices = (item.usd_on_demand_per_unit for item in items)
    return np.array([np.nan if usd is None else usd for usd in prices], dtype=np.float64)


def missing_prices(items: Iterable[UsageItem], *usd_per_unit: Mapping[str, float | None]) -> tuple[str, ...]:
    """Return the names of items without an on-demand price, or eligible at an unknown price of a plan.

    >>> missing_prices([UsageItem("a", 1.0), UsageItem("b", None), UsageItem("c", 1.0)], {"c": float("nan")})
    ('b', 'c')
    """
    return tuple(item.name for item in items if _is_missing(item, usd_per_unit))


def _is_missing(item: UsageItem, usd_per_unit: Iterable[Mapping[str, float | None]]) -> bool:
    found = (prices.get(item.name) for prices in usd_per_unit)
    return item.usd_on_demand_per_unit is None or any(usd is not None and np.isnan(usd) for usd in found)


def order_of_application(
    items: Sequence[UsageItem], usd_per_unit: Mapping[str, float | None]
) -> tuple[int, ...]:
    """Return the places of the eligible items: falling discount 1 - s/o, ties at the lower s first.

    An item with a missing price goes last; what it leaves unknown is the caller's to say. Raises ValueError
    for a plan price that is not above 0.

    >>> order_of_application([UsageItem("a", 1.0), UsageItem("b", 4.0)], {"a": 0.8, "b": 2.0})
    (1, 0)
    """
    require_plan_prices("usd_plan_per_unit", usd_per_unit)
    keyed = []
    for place, item in enumerate(items):
        plan_usd, usd = usd_per_unit.get(item.name), item.usd_on_demand_per_unit
        if plan_usd is not None:
            keyed.append((-discount_of(plan_usd, np.nan if usd is None else usd), plan_usd, place))
    return tuple(place for _, _, place in sorted(keyed))


@takes(plan_usd=with_unknown(AT_LEAST_0), on_demand_usd=with_unknown(AT_LEAST_0))
def discount_of(plan_usd: float, on_demand_usd: float) -> float:
    """Return 1 - plan price / on-demand price to 12 digits; -inf, so the last, where one is unknown or free.

    >>> discount_of(0.03, 0.04) == discount_of(0.003, 0.004) == 0.25
    True
    """
    if np.isnan(plan_usd) or np.isnan(on_demand_usd) or on_demand_usd == 0.0:
        return -np.inf
    return round(1.0 - plan_usd / on_demand_usd, SAME_DISCOUNT_DIGITS)


@takes(units=AT_LEAST_0)
def two_dimensional(items: Sequence[UsageItem], units: FloatArray) -> FloatArray:
    """Return the use as (hours, items); one hour may come as (items,). Raises ValueError for other shapes.

    >>> two_dimensional([UsageItem("a", 1.0), UsageItem("b", 1.0)], np.array([4, 2])).shape
    (1, 2)
    """
    table = np.atleast_2d(np.asarray(units, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] != len(items):
        refuse("units", np.asarray(units), f"of shape (hours, {len(items)}), one column for each item")
    return table


@dataclass(frozen=True)
class FleetLine:
    """Instances that a plan is to cover all the time: plan name, plan price of one, how many."""

    plan: str
    usd_per_hour: float | None
    instances: float

    def __post_init__(self) -> None:
        require_fields(self, self.plan, usd_per_hour=optional(ABOVE_0), instances=AT_LEAST_0)


def commitment_needed(lines: Iterable[FleetLine]) -> dict[str, float | None]:
    """Return the money per hour that covers a fixed fleet, by plan: sum of plan price * instances.

    Commitments are valued at plan prices, not at on-demand prices. A plan with an unknown price is None.
    Source: aws-samples/savings-plan-commitment-calculator.

    >>> commitment_needed([FleetLine("three years", 0.157, 2), FleetLine("one year", None, 1)])
    {'three years': 0.314, 'one year': None}
    """
    needed: dict[str, float] = {}
    for line in lines:
        usd = np.nan if line.usd_per_hour is None else line.usd_per_hour
        needed[line.plan] = needed.get(line.plan, 0.0) + usd * line.instances
    return {plan: known(usd) for plan, usd in needed.items()}
