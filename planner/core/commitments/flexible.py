"""Google's and Azure's commitments as rules on the same hourly algorithm.

* Google, resource-based: quantities of vCPU, memory and GPUs of one machine family in one region. They are
  taken off first and charged whether used or not. GPUs need a reservation attached that holds them.
* Google, flexible, and Azure's savings plan: money per hour at the plan's own prices, highest discount first.

What is eligible is data with the day on which it was read; what is not eligible has a reason. An item of
which nothing is recorded is not covered and is listed as such.

Sources: Google Cloud, "Combine reservations with committed use discounts" and committed use discount pages;
Microsoft, Azure savings plan documentation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.savings_plan import AppliedPlans, apply_plans
from planner.core.commitments.usage import SpendPlan, UsageItem, known, missing_prices, two_dimensional
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    SHARE_BELOW_1,
    optional,
    refuse,
    require_fields,
    require_one_of,
    takes,
)

RESOURCES = ("vcpu", "memory_gib", "gpu")
NOT_RECORDED = "nothing is recorded about its eligibility"


@dataclass(frozen=True)
class Eligibility:
    """Whether a plan covers an item, as read on a day: a discount, or the plan's price; or why neither.

    Raises ValueError where both or none is given, and where what is not eligible has no reason.
    """

    item: str
    read_on: date
    discount: float | None = None
    usd_per_unit: float | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        require_fields(self, self.item, discount=optional(SHARE_BELOW_1), usd_per_unit=optional(ABOVE_0))
        if self.discount is not None and self.usd_per_unit is not None:
            refuse(f"{self.item}: usd_per_unit", self.usd_per_unit, "none where a discount is given")
        if not self.is_eligible and not self.reason:
            refuse(f"{self.item}: reason", repr(self.reason), "why the plan does not cover it")

    @property
    def is_eligible(self) -> bool:
        """Return whether the plan covers the item."""
        return self.discount is not None or self.usd_per_unit is not None


@dataclass(frozen=True)
class CommittedResource:
    """A quantity of one resource, charged every hour of the term; `item` is the use that it pays for.

    `units` are vCPUs, GiB or GPUs. Raises ValueError for GPUs without a reservation that holds them all.
    """

    item: str
    resource: str
    units: float
    usd_per_unit: float | None
    attached_reservation_gpus: float | None = None

    def __post_init__(self) -> None:
        require_one_of(RESOURCES, resource=self.resource)
        require_fields(
            self,
            self.item,
            units=AT_LEAST_0,
            usd_per_unit=optional(ABOVE_0),
            attached_reservation_gpus=optional(AT_LEAST_0),
        )
        if self.resource == "gpu" and (self.attached_reservation_gpus or 0.0) < self.units:
            name = f"{self.item}: attached_reservation_gpus"
            refuse(name, self.attached_reservation_gpus, f"at least the committed {self.units:g}")


@dataclass(frozen=True)
class CommittedBill:
    """Quantities first, plans on what they leave. Units are (hours, items), money is (hours,).

    `usd_charge` is the sum over the hours of all three: quantities, plans, on-demand rest; None where a price
    is missing, which `missing` names.
    """

    resource_units: FloatArray
    unused_resource_units: FloatArray
    resource_usd: FloatArray
    plans: AppliedPlans
    missing: tuple[str, ...] = ()

    @property
    def usd_charge(self) -> float | None:
        """Return all money of all hours: committed quantities + plans + on-demand rest."""
        return known(float((self.resource_usd + self.plans.charge_usd).sum()))


@takes(usd_per_hour=AT_LEAST_0)
def google_flexible_commitment(
    name: str, usd_per_hour: float, items: Sequence[UsageItem], eligibility: Sequence[Eligibility]
) -> SpendPlan:
    """Return a flexible committed use discount: money per hour, after the discount, in any project.

    The plan's price of an item is on-demand price * (1 - discount), unknown where the on-demand price is.

    >>> row = Eligibility("n2 vCPU", date(2026, 11, 1), discount=0.25)
    >>> google_flexible_commitment("one year", 7.5, [UsageItem("n2 vCPU", 0.04)], [row]).usd_per_unit
    {'n2 vCPU': 0.03}
    """
    return SpendPlan(name, usd_per_hour, plan_prices(items, eligibility))


@takes(usd_per_hour=AT_LEAST_0)
def azure_savings_plan(
    name: str,
    usd_per_hour: float,
    items: Sequence[UsageItem],
    eligibility: Sequence[Eligibility],
    only_subscription: str | None = None,
) -> SpendPlan:
    """Return an Azure savings plan for compute; its scope is all subscriptions, or `only_subscription`.

    The account of an item is its subscription. In the wide scope all subscriptions are equal.

    >>> row = Eligibility("ND96", date(2026, 11, 1), usd_per_unit=60.0)
    >>> azure_savings_plan("three years", 60.0, [UsageItem("ND96", 98.32)], [row], "research").shared
    False
    """
    prices = plan_prices(items, eligibility)
    return SpendPlan(name, usd_per_hour, prices, owner=only_subscription, shared=only_subscription is None)


def plan_prices(items: Sequence[UsageItem], eligibility: Sequence[Eligibility]) -> dict[str, float | None]:
    """Return the plan's price of each item: as quoted, or o * (1 - d); None where not eligible, NaN unknown.

    >>> plan_prices([UsageItem("a", 2.0), UsageItem("b", 1.0)], [Eligibility("a", date(2026, 11, 1), 0.25)])
    {'a': 1.5, 'b': None}
    """
    rows = _by_item(eligibility)
    return {item.name: _plan_price(item, rows.get(item.name)) for item in items}


def _plan_price(item: UsageItem, row: Eligibility | None) -> float | None:
    if row is None or not row.is_eligible:
        return None
    if row.discount is None:
        return row.usd_per_unit
    usd = item.usd_on_demand_per_unit
    return float("nan") if usd is None else usd * (1.0 - row.discount)


def not_eligible(items: Sequence[UsageItem], eligibility: Sequence[Eligibility]) -> dict[str, str]:
    """Return the items that a plan does not cover, each with the reason.

    >>> not_eligible([UsageItem("a", 2.0)], [Eligibility("a", date(2026, 11, 1), reason="GPU family")])
    {'a': 'GPU family'}
    """
    rows = _by_item(eligibility)
    found = {item.name: rows.get(item.name) for item in items}
    return {
        name: NOT_RECORDED if row is None else row.reason
        for name, row in found.items()
        if row is None or not row.is_eligible
    }


def _by_item(eligibility: Sequence[Eligibility]) -> dict[str, Eligibility]:
    rows = {row.item: row for row in eligibility}
    if len(rows) < len(eligibility):
        refuse("eligibility", [row.item for row in eligibility], "one entry for each item")
    return rows


@takes(units=AT_LEAST_0)
def apply_quantities_and_plans(
    items: Sequence[UsageItem],
    units: FloatArray,
    resources: Sequence[CommittedResource],
    plans: Sequence[SpendPlan] = (),
) -> CommittedBill:
    """Return the bill: covered quantity = min(committed, used) in each hour, then the plans on the rest.

    `units` is the use (hours, items), or (items,) for one hour. Quantities of one item add up. A quantity's
    charge is units * its price in every hour, used or not. Raises ValueError for a resource without an item.

    >>> item = UsageItem("A100", 3.0)
    >>> bought = CommittedResource("A100", "gpu", 8, 2.0, attached_reservation_gpus=8)
    >>> apply_quantities_and_plans([item], np.array([[4.0], [10.0]]), [bought]).usd_charge
    38.0
    """
    used = two_dimensional(items, units)
    committed, usd = _committed(items, resources)
    covered = np.minimum(used, committed)
    applied = apply_plans(items, used, plans, covered)
    missing = missing_prices(items, *(plan.usd_per_unit for plan in plans), _prices(resources))
    return CommittedBill(covered, committed - covered, np.full(len(used), usd), applied, missing)


def _committed(
    items: Sequence[UsageItem], resources: Sequence[CommittedResource]
) -> tuple[FloatArray, float]:
    """Return the committed quantity by item and the money of all of them per hour."""
    places = {item.name: place for place, item in enumerate(items)}
    units, usd = np.zeros(len(items)), 0.0
    for each in resources:
        if each.item not in places:
            refuse("resources", repr(each.item), "one of " + ", ".join(places))
        units[places[each.item]] += each.units
        usd += each.units * (np.nan if each.usd_per_unit is None else each.usd_per_unit)
    return units, usd


def _prices(resources: Sequence[CommittedResource]) -> Mapping[str, float | None]:
    """Return NaN for every item whose committed price is unknown."""
    return {each.item: float("nan") for each in resources if each.usd_per_unit is None}
