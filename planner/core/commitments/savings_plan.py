"""Plans that commit money per hour: the provider's own algorithm, hour by hour.

In each hour: 1. use covered by reservations is taken out. 2. Narrow plans (one family, one region) come
before broad ones. 3. A plan covers the use of its owner's account first, then that of accounts it is shared
with. 4. Inside that, the highest discount first, ties at the lower plan price. 5. Use is covered until the
committed money is used up, the last item in part. 6. The rest pays on demand. 7. The charge is the commitment
plus the rest, used up or not; nothing carries over to the next hour.

Source: AWS Savings Plans User Guide, "Understanding how Savings Plans apply to your usage".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.commitments.usage import (
    SpendPlan,
    UsageItem,
    known,
    missing_prices,
    on_demand_prices,
    order_of_application,
    share_of,
    two_dimensional,
)
from planner.core.ranges import AT_LEAST_0, optional, refuse, takes


@dataclass(frozen=True)
class PlanTotals:
    """Sums over the hours; None where a price is missing (named in `missing`) or a share has no base.

    utilization = used / committed; coverage = on-demand value of covered / of all eligible use;
    usd_saved = on-demand value of covered use - committed; effective savings rate = 1 - charge / on-demand
    value of all use outside reservations.
    """

    usd_committed: float
    usd_used: float | None
    usd_unused: float | None
    usd_on_demand: float | None
    usd_charge: float | None
    utilization: float | None
    coverage: float | None
    usd_saved: float | None
    effective_savings_rate: float | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class AppliedPlans:
    """What plans cover, by hour.

    Shapes: `units` and `reserved_units` (hours, items), `covered_units_by_plan` (plans, hours, items),
    `used_usd_by_plan` (plans, hours).
    `order` names, for each plan, the items it covers in at least one hour, in the order of application.
    NaN stands where a missing price leaves the order, and so the covered units, unknown.
    """

    items: tuple[UsageItem, ...]
    plans: tuple[SpendPlan, ...]
    units: FloatArray
    reserved_units: FloatArray
    covered_units_by_plan: FloatArray
    used_usd_by_plan: FloatArray
    order: Mapping[str, tuple[str, ...]]

    @property
    def covered_units(self) -> FloatArray:
        """Return the units that all plans together cover, (hours, items)."""
        return np.asarray(self.covered_units_by_plan.sum(axis=0))

    @property
    def on_demand_units(self) -> FloatArray:
        """Return the units that pay on demand, (hours, items): used - reserved - covered, never below 0."""
        return np.maximum(self.units - self.reserved_units - self.covered_units, 0.0)

    @property
    def unused_usd_by_plan(self) -> FloatArray:
        """Return the committed money that is lost, (plans, hours)."""
        committed = np.array([plan.usd_per_hour for plan in self.plans])
        return np.asarray(committed[:, None] - self.used_usd_by_plan)

    @property
    def on_demand_usd(self) -> FloatArray:
        """Return the on-demand rest of each hour, (hours,)."""
        return np.asarray(self.on_demand_units @ on_demand_prices(self.items))

    @property
    def charge_usd(self) -> FloatArray:
        """Return the charge of each hour, (hours,): all commitments + on-demand rest."""
        return self.on_demand_usd + sum(plan.usd_per_hour for plan in self.plans)

    def totals(self) -> PlanTotals:
        """Return the sums over all hours, with utilization, coverage, saving and effective savings rate."""
        hours = len(self.units)
        committed = hours * sum(plan.usd_per_hour for plan in self.plans)
        used = float(self.used_usd_by_plan.sum())
        rest = float(self.on_demand_usd.sum())
        worth = on_demand_prices(self.items)
        covered = self._value(self.covered_units.sum(axis=0), worth)
        outside = (self.units - self.reserved_units).sum(axis=0)
        eligible = self._value(outside, worth)
        everything = float(outside @ worth)
        return PlanTotals(
            usd_committed=committed,
            usd_used=known(used),
            usd_unused=known(committed - used),
            usd_on_demand=known(rest),
            usd_charge=known(committed + rest),
            utilization=share_of(used, committed),
            coverage=share_of(covered, eligible),
            usd_saved=known(covered - committed),
            effective_savings_rate=share_of(everything - committed - rest, everything),
            missing=missing_prices(self.items, *(plan.usd_per_unit for plan in self.plans)),
        )

    def _value(self, units: FloatArray, worth: FloatArray) -> float:
        """Return the on-demand value of units of the items that some plan may cover."""
        names = {name for plan in self.plans for name, usd in plan.usd_per_unit.items() if usd is not None}
        columns = [place for place, item in enumerate(self.items) if item.name in names]
        return float(units[columns] @ worth[columns])


@takes(units=AT_LEAST_0, reserved_units=optional(AT_LEAST_0))
def apply_plans(
    items: Sequence[UsageItem],
    units: FloatArray,
    plans: Sequence[SpendPlan],
    reserved_units: FloatArray | None = None,
) -> AppliedPlans:
    """Return what the plans cover in each hour, by the seven steps at the head of this module.

    `units` is the use, (hours, items), or (items,) for one hour; `reserved_units`, of the same shape, is what
    reservations cover already. Plans of equal breadth apply as given, each to its owner's account before any
    is shared. Raises ValueError for repeated names and for arrays whose shapes do not fit.

    >>> item, plan = UsageItem("r5.4xlarge", 1.0), SpendPlan("one year", 2.0, {"r5.4xlarge": 0.7})
    >>> round(apply_plans([item], np.array([4.0]), [plan]).totals().usd_charge, 4)
    3.1429
    """
    used, reserved = _checked(items, units, plans, reserved_units)
    rest = used - reserved
    covered = np.zeros((len(plans), *used.shape))
    spent = np.zeros((len(plans), len(used)))
    places: dict[str, list[int]] = {plan.name: [] for plan in plans}
    for row, own in _stages(plans):
        plan = plans[row]
        order = _order_in_accounts(items, plan, own)
        if not order:
            continue
        usd = np.array([plan.usd_per_unit[items[place].name] for place in order], dtype=np.float64)
        is_known = len(order) == 1 or not missing_prices((items[place] for place in order), plan.usd_per_unit)
        amount, money = _cover(rest[:, order], usd, plan.usd_per_hour - spent[row], is_known)
        covered[row][:, order] += amount
        spent[row] += money
        rest[:, order] -= amount
        places[plan.name] += [place for place in order if covered[row][:, place].any()]
    named = {name: tuple(items[place].name for place in order) for name, order in places.items()}
    return AppliedPlans(tuple(items), tuple(plans), used, reserved, covered, spent, named)


def _order_in_accounts(items: Sequence[UsageItem], plan: SpendPlan, own: bool) -> list[int]:
    """Return the eligible items in their order: those of the owner's account, or those of the others."""
    if not own and not plan.shared:
        return []
    order = order_of_application(items, plan.usd_per_unit)
    return [place for place in order if (items[place].account == plan.owner) is own]


def _stages(plans: Sequence[SpendPlan]) -> Iterator[tuple[int, bool]]:
    """Yield (place of the plan, owner's account or shared) in the order in which they apply."""
    for narrow in (True, False):
        for own in (True, False):
            yield from ((row, own) for row, plan in enumerate(plans) if plan.narrow is narrow)


def _cover(
    units: FloatArray, usd: FloatArray, money: FloatArray, is_known: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the covered units, (hours, items in order), and the money they use, (hours,)."""
    value_up_to = np.cumsum(units * usd, axis=1)
    left = money[:, None]
    before = np.hstack([np.zeros_like(left), value_up_to[:, :-1]])
    part = np.clip((left - before) / usd, 0.0, units) if is_known else np.full_like(units, np.nan)
    # where money is left over everything is covered, whatever the order
    reached = value_up_to if is_known else value_up_to[:, -1:]
    covered = np.where(reached <= left, units, part)
    return covered, np.minimum(value_up_to[:, -1], money)


def _checked(
    items: Sequence[UsageItem],
    units: FloatArray,
    plans: Sequence[SpendPlan],
    reserved_units: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    for kind, names in (("items", [i.name for i in items]), ("plans", [p.name for p in plans])):
        if len(set(names)) < len(names):
            refuse(kind, names, "names that differ")
    used = two_dimensional(items, units)
    reserved = np.zeros_like(used) if reserved_units is None else two_dimensional(items, reserved_units)
    if reserved.shape != used.shape or bool((reserved > used).any()):
        refuse("reserved_units", reserved, "of the shape of units and at most what is used")
    return used, reserved


@dataclass(frozen=True)
class HourlyUse:
    """How far a commitment is used when only the use at plan prices is known; arrays are (hours,)."""

    used_usd: FloatArray
    unused_usd: FloatArray
    excess_usd_at_plan_prices: FloatArray
    utilization: float | None


@takes(usd_at_plan_prices=AT_LEAST_0, usd_per_hour=AT_LEAST_0)
def hourly_use(usd_at_plan_prices: FloatArray, usd_per_hour: float) -> HourlyUse:
    """Return used = min(value, C), unused = C - used and the excess, each hour by itself.

    `usd_at_plan_prices` is the use of each hour at plan prices, (hours,). Nothing rolls over.

    >>> hourly_use(np.array([5.0, 15.0]), 10.0).utilization
    0.75
    """
    used = np.minimum(usd_at_plan_prices, usd_per_hour)
    committed = usd_per_hour * len(usd_at_plan_prices)
    return HourlyUse(
        used, usd_per_hour - used, usd_at_plan_prices - used, share_of(float(used.sum()), committed)
    )
