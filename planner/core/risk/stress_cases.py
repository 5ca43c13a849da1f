"""Stress cases: what may go wrong with supply, each a change of a plan with a name and a sentence.

A case takes a plan and gives another one, in the plan's own vocabulary: outages, price steps, quota steps,
lead times. Terms, contracts and savings plans keep their prices and go on being paid. Months count from 1.
"""

from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Protocol

from planner.core.calendar import Horizon, add_months, days_later
from planner.core.limits import MOST_MONTHS
from planner.core.metered import quota_by_month
from planner.core.plan import OnDemand, Outage, Owned, Plan, PriceStep, QuotaStep, SavingsPlan, Spot, Supply
from planner.core.ranges import SHARE, Range, optional, refuse, require_fields
from planner.core.units import DAYS_PER_WEEK, whole_instances_down

FROM_MONTH = Range(1, MOST_MONTHS, whole=True)
MONTHS = optional(Range(0, MOST_MONTHS, whole=True))
WEEKS = Range(0, 260, whole=True)
RISE = Range(0.0, 10.0)
STILL_PAID = "What is owned or committed to there gives nothing and costs what it costs."


class Case(Protocol):
    """A stress case: its kind, a title that tells it from others, a sentence, and the plan it makes."""

    kind: ClassVar[str]

    @property
    def title(self) -> str: ...

    def sentence(self, plan: Plan) -> str: ...

    def applied_to(self, plan: Plan) -> Plan: ...


@dataclass(frozen=True)
class RegionLost:
    """All supplies of a region give nothing from a month on, for some months or (None) for good."""

    region: str
    from_month: int = 1
    months: int | None = None
    kind: ClassVar[str] = "region"

    def __post_init__(self) -> None:
        _require_name("region", self.region)
        require_fields(self, from_month=FROM_MONTH, months=MONTHS)

    @property
    def title(self) -> str:
        """Return the region as lost.

        >>> RegionLost("us-east-2").title
        'Region us-east-2 lost'
        """
        return f"Region {self.region} lost"

    def sentence(self, plan: Plan) -> str:
        """Return which supplies are hit, from when and for how long."""
        hit = [s.name for s in plan.supplies if not isinstance(s, SavingsPlan) and s.region == self.region]
        return f"{_lost(hit)} {_since(plan, self.from_month, self.months)}. {STILL_PAID}"

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with an outage of the region."""
        outage = Outage(_day(plan, self.from_month), self.months, region=self.region)
        return replace(plan, outages=(*plan.outages, outage))


@dataclass(frozen=True)
class ProviderLost:
    """All supplies of a provider give nothing from a month on, for some months or (None) for good."""

    provider: str
    from_month: int = 1
    months: int | None = None
    kind: ClassVar[str] = "provider"

    def __post_init__(self) -> None:
        _require_name("provider", self.provider)
        require_fields(self, from_month=FROM_MONTH, months=MONTHS)

    @property
    def title(self) -> str:
        """Return the provider as lost.

        >>> ProviderLost("A").title
        'Provider A lost'
        """
        return f"Provider {self.provider} lost"

    def sentence(self, plan: Plan) -> str:
        """Return which supplies are hit, from when and for how long."""
        hit = [
            s.name for s in plan.supplies if not isinstance(s, SavingsPlan) and s.provider == self.provider
        ]
        return f"{_lost(hit)} {_since(plan, self.from_month, self.months)}. {STILL_PAID}"

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with an outage of the provider; its savings plans cover nothing then."""
        outage = Outage(_day(plan, self.from_month), self.months, provider=self.provider)
        return replace(plan, outages=(*plan.outages, outage))


@dataclass(frozen=True)
class OrdersSlip:
    """Servers that are to be delivered in the plan come later, by whole weeks."""

    weeks: int = 12
    kind: ClassVar[str] = "orders"

    def __post_init__(self) -> None:
        require_fields(self, weeks=WEEKS)

    @property
    def title(self) -> str:
        """Return by how much orders slip.

        >>> OrdersSlip().title
        'Orders slip by 12 weeks'
        """
        return f"Orders slip by {self.weeks} weeks"

    def sentence(self, plan: Plan) -> str:
        """Return which orders slip, and what that does to payments."""
        names = _names([s.name for s in plan.supplies if is_on_order(s, plan)])
        later = f"come {self.weeks * DAYS_PER_WEEK} days later: lead time + {self.weeks} * {DAYS_PER_WEEK}"
        return f"The servers of {names} {later}. The remainder of their price is paid at the later delivery."

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with the lead times of servers on order longer by 7 days a week."""
        days = self.weeks * DAYS_PER_WEEK
        return replace(plan, supplies=tuple(_later(s, plan, days) for s in plan.supplies))


def is_on_order(supply: Supply, plan: Plan) -> bool:
    """Return whether servers are to be delivered on or after the plan's first day."""
    if not isinstance(supply, Owned):
        return False
    return days_later(supply.order_date, supply.lead_time_days) >= plan.start


def _later(supply: Supply, plan: Plan, days: int) -> Supply:
    if not isinstance(supply, Owned) or not is_on_order(supply, plan):
        return supply
    return replace(supply, lead_time_days=supply.lead_time_days + days)


@dataclass(frozen=True)
class SpotGone:
    """No spot machine can be had from a month on."""

    from_month: int = 1
    months: int | None = None
    kind: ClassVar[str] = "spot"

    def __post_init__(self) -> None:
        require_fields(self, from_month=FROM_MONTH, months=MONTHS)

    @property
    def title(self) -> str:
        """Return that spot is gone."""
        return "Spot gone"

    def sentence(self, plan: Plan) -> str:
        """Return which spot supplies are hit, from when and for how long."""
        hit = [s.name for s in plan.supplies if isinstance(s, Spot)]
        return f"{_lost(hit)} {_since(plan, self.from_month, self.months)}. Its work runs elsewhere or waits."

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with an outage of every spot supply."""
        day = _day(plan, self.from_month)
        gone = tuple(Outage(day, self.months, supply=s.name) for s in plan.supplies if isinstance(s, Spot))
        return replace(plan, outages=(*plan.outages, *gone))


@dataclass(frozen=True)
class QuotasCut:
    """Known quotas hold `left_share` of what they did from a month on, in whole instances."""

    left_share: float = 0.5
    from_month: int = 1
    kind: ClassVar[str] = "quotas"

    def __post_init__(self) -> None:
        require_fields(self, left_share=SHARE, from_month=FROM_MONTH)

    @property
    def title(self) -> str:
        """Return how far quotas are cut.

        >>> QuotasCut().title, QuotasCut(0.25).title
        ('Quotas halved', 'Quotas cut to 25%')
        """
        return "Quotas halved" if self.left_share == 0.5 else f"Quotas cut to {self.left_share:.0%}"

    def sentence(self, plan: Plan) -> str:
        """Return which quotas are cut, and which are not because nobody knows them."""
        index, horizon = self.from_month - 1, Horizon(plan.start, max(plan.months, self.from_month))
        parts, unknown = [], []
        for supply in plan.supplies:
            if isinstance(supply, OnDemand | Spot):
                before = float(quota_by_month(supply, horizon)[index])
                if before == float("inf"):
                    unknown.append(supply.name)
                else:
                    after = whole_instances_down(before * self.left_share, supply.gpus_per_instance)
                    parts.append(f"{supply.name} {before:g} to {after:g} GPUs")
        known = f"Quotas {_since(plan, self.from_month, None)}, in whole instances: {_names(parts)}."
        return known + (f" No quota is known of {_names(unknown)}: left as it is." if unknown else "")

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with quota * share, rounded down to whole instances; unknown ones stay unknown."""
        return replace(plan, supplies=tuple(self._cut(supply, plan) for supply in plan.supplies))

    def _cut(self, supply: Supply, plan: Plan) -> Supply:
        if not isinstance(supply, OnDemand | Spot):
            return supply
        horizon, day = Horizon(plan.start, plan.months), _day(plan, self.from_month)
        first = horizon.index_of(day)
        steps = sorted(supply.quota_steps, key=lambda step: step.start)
        before = [step for step in steps if horizon.index_on_or_after(step.start) <= first]
        after = [step for step in steps if horizon.index_on_or_after(step.start) > first]
        held = before[-1].gpus if before else supply.quota_gpus
        kept = [step for step in before if horizon.index_on_or_after(step.start) < first]
        size = supply.gpus_per_instance
        cut = [QuotaStep(day, self._left(held, size))]
        cut += [QuotaStep(step.start, self._left(step.gpus, size)) for step in after]
        return replace(supply, quota_steps=(*kept, *cut))

    def _left(self, gpus: float | None, size: int) -> float | None:
        if gpus is None:
            return None
        return whole_instances_down(whole_instances_down(gpus, size) * self.left_share, size)


@dataclass(frozen=True)
class PricesRise:
    """On-demand and spot prices are higher by a share from a month on."""

    share: float = 0.30
    from_month: int = 1
    kind: ClassVar[str] = "prices"

    def __post_init__(self) -> None:
        require_fields(self, share=RISE, from_month=FROM_MONTH)

    @property
    def title(self) -> str:
        """Return by how much rental prices rise.

        >>> PricesRise().title
        'Rental prices +30%'
        """
        return f"Rental prices +{self.share:.0%}"

    def sentence(self, plan: Plan) -> str:
        """Return what is dearer and what is not."""
        rented = [s.name for s in plan.supplies if isinstance(s, OnDemand | Spot)]
        factor = f"cost {1.0 + self.share:g} times their path {_since(plan, self.from_month, None)}"
        return f"{_names(rented)} {factor}. Terms, contracts, blocks and savings plans keep their prices."

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with (1 + share) times every price step in force from that month on."""
        horizon, day = Horizon(plan.start, plan.months), _day(plan, self.from_month)
        first = horizon.index_of(day)
        steps = sorted(plan.price_steps, key=lambda step: step.start)
        before = [step for step in steps if horizon.index_on_or_after(step.start) <= first]
        after = [step for step in steps if horizon.index_on_or_after(step.start) > first]
        kept = [step for step in before if horizon.index_on_or_after(step.start) < first]
        held = before[-1].factor if before else 1.0
        raised = [PriceStep(day, held * (1.0 + self.share))]
        raised += [PriceStep(step.start, step.factor * (1.0 + self.share)) for step in after]
        return replace(plan, price_steps=(*kept, *raised))


def _require_name(field: str, name: str) -> None:
    if not name:
        refuse(field, repr(name), "the name of one")


def _day(plan: Plan, month: int) -> date:
    return add_months(plan.start, month - 1)


def _since(plan: Plan, month: int, months: int | None) -> str:
    since = f"from {_day(plan, month):%b %Y} on"
    return since if months is None else f"{since}, for {months} months"


def _lost(hit: list[str]) -> str:
    return f"{_names(hit)} {'give' if len(hit) > 1 else 'gives'} nothing"


def _names(names: list[str]) -> str:
    return ", ".join(names) if names else "nothing"
