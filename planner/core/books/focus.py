"""Rows of cost and usage in the columns of FOCUS 1.2, and what they say about a commitment.

BilledCost sums to the invoice, EffectiveCost is the amortized view: of a commitment the purchase is billed
and has no effective cost, its use is effective and not billed. The two are never added. A cost of None is
not known, and so is every sum that holds it. Source: FinOps Open Cost and Usage Specification 1.2, columns
and appendix "Commitment discounts".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from planner.core.ranges import ANY, optional, refuse, require_fields, require_one_of, takes

ChargeCategory = Literal["Usage", "Purchase", "Tax", "Credit", "Adjustment"]
ChargeFrequency = Literal["One-Time", "Recurring", "Usage-Based"]
PricingCategory = Literal["Standard", "Dynamic", "Committed", "Other"]
Status = Literal["Used", "Unused"]
CHARGE_CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
CHARGE_FREQUENCIES = ("One-Time", "Recurring", "Usage-Based")
PRICING_CATEGORIES = ("Standard", "Dynamic", "Committed", "Other")
STATUSES = ("Used", "Unused")
COST = optional(ANY)
SAME_SHARE = 1e-9  # sums of floats that differ by less are the same


@dataclass(frozen=True)
class FocusRow:
    """One charge. Costs are for the whole row, not per unit; the period excludes its end."""

    charge_category: ChargeCategory
    charge_frequency: ChargeFrequency
    billed_cost: float | None
    effective_cost: float | None
    list_cost: float | None = None
    contracted_cost: float | None = None
    pricing_category: PricingCategory | None = None
    commitment_discount_id: str | None = None
    commitment_discount_status: Status | None = None
    capacity_reservation_id: str | None = None
    capacity_reservation_status: Status | None = None
    charge_period_start: date | None = None
    charge_period_end: date | None = None
    billing_currency: str = "USD"

    def __post_init__(self) -> None:
        """Refuse unknown words, and a status without the commitment or reservation it is about."""
        require_fields(self, billed_cost=COST, effective_cost=COST, list_cost=COST, contracted_cost=COST)
        require_one_of(CHARGE_CATEGORIES, charge_category=self.charge_category)
        require_one_of(CHARGE_FREQUENCIES, charge_frequency=self.charge_frequency)
        if self.pricing_category is not None:
            require_one_of(PRICING_CATEGORIES, pricing_category=self.pricing_category)
        for kind in ("commitment_discount", "capacity_reservation"):
            if getattr(self, f"{kind}_status") is not None:
                self._check_status(kind, getattr(self, f"{kind}_status"))

    def _check_status(self, kind: str, status: str) -> None:
        require_one_of(STATUSES, **{f"{kind}_status": status})
        if getattr(self, f"{kind}_id") is None:
            refuse(f"{kind}_id", None, f"the id that {kind}_status {status} is about")
        if self.charge_category != "Usage":
            refuse(f"{kind}_status", status, f"none on a row of category {self.charge_category}")

    def columns(self) -> dict[str, object]:
        """Return the row under the names of the specification."""
        return {_column(name): value for name, value in vars(self).items()}


def _column(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


@takes(costs=COST)
def total(costs: Sequence[float | None]) -> float | None:
    """Return the sum of costs; None where one is not known.

    >>> total([1.0, 2.0]), total([1.0, None])
    (3.0, None)
    """
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def invoice_usd(rows: Sequence[FocusRow]) -> float | None:
    """Return the sum of BilledCost: the cash view. None where a cost is not known.

    Raises ValueError for rows of more than one currency.

    >>> invoice_usd([FocusRow("Purchase", "Recurring", 1.0, 0.0)])
    1.0
    """
    _check_currency(rows)
    return total([row.billed_cost for row in rows])


def _check_currency(rows: Sequence[FocusRow]) -> None:
    currencies = sorted({row.billing_currency for row in rows})
    if len(currencies) > 1:
        refuse("billing_currency", ", ".join(currencies), "one currency in all rows that are added")


def amortized_usd(rows: Sequence[FocusRow]) -> float | None:
    """Return the sum of EffectiveCost: the amortized view. None where a cost is not known.

    Raises ValueError for rows of more than one currency.

    >>> amortized_usd([FocusRow("Purchase", "Recurring", 1.0, 0.0)])
    0.0
    """
    _check_currency(rows)
    return total([row.effective_cost for row in rows])


@dataclass(frozen=True)
class Savings:
    """What was saved against list prices, signed: below 0 it cost more. None where a price is missing."""

    negotiated_usd: float | None
    commitment_usd: float | None
    total_usd: float | None


def savings(row: FocusRow) -> Savings:
    """Return List - Contracted, Contracted - Effective and List - Effective, signed and never clipped.

    Source: Microsoft FinOps toolkit, "Understanding savings calculations"; a missing price is None here, not
    0.

    >>> savings(FocusRow("Usage", "Usage-Based", 0.0, 120.0, list_cost=100.0)).total_usd
    -20.0
    """
    return Savings(
        _less(row.list_cost, row.contracted_cost),
        _less(row.contracted_cost, row.effective_cost),
        _less(row.list_cost, row.effective_cost),
    )


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


@dataclass(frozen=True)
class CommitmentUse:
    """One commitment or reservation of capacity over the rows given. Sums are None where a cost is not known.

    `is_settled` says whether effective usage is the billed purchase, as it must be over a whole term.
    """

    used_usd: float | None
    unused_usd: float | None
    purchased_usd: float | None

    @property
    def all_usd(self) -> float | None:
        """Return used + unused, the effective cost of the commitment."""
        return total((self.used_usd, self.unused_usd))

    @property
    def utilization(self) -> float | None:
        """Return used / (used + unused); None where unknown or nothing was to be used."""
        if self.used_usd is None or not self.all_usd:
            return None
        return self.used_usd / self.all_usd

    @property
    def is_settled(self) -> bool | None:
        """Return whether the sum of effective usage is the sum of billed purchases; None where unknown."""
        if self.all_usd is None or self.purchased_usd is None:
            return None
        return abs(self.all_usd - self.purchased_usd) <= SAME_SHARE * max(abs(self.purchased_usd), 1.0)


def commitment_use(rows: Sequence[FocusRow], commitment_discount_id: str) -> CommitmentUse:
    """Return what of one commitment was used, unused and bought.

    Raises ValueError where no row is of it, and where its rows are of more than one currency.

    >>> used = FocusRow("Usage", "Usage-Based", 0.0, 0.75, commitment_discount_id="c",
    ...                 commitment_discount_status="Used")
    >>> commitment_use([used], "c").utilization
    1.0
    """
    return _use(rows, "commitment_discount", commitment_discount_id)


def reservation_use(rows: Sequence[FocusRow], capacity_reservation_id: str) -> CommitmentUse:
    """Return what of one reservation of capacity was used, unused and bought, as `commitment_use` does.

    >>> idle = FocusRow("Usage", "Usage-Based", 0.0, 2.0, capacity_reservation_id="r",
    ...                 capacity_reservation_status="Unused")
    >>> reservation_use([idle], "r").utilization
    0.0
    """
    return _use(rows, "capacity_reservation", capacity_reservation_id)


def _use(rows: Sequence[FocusRow], kind: str, wanted: str) -> CommitmentUse:
    own = [row for row in rows if getattr(row, f"{kind}_id") == wanted]
    if not own:
        refuse(f"{kind}_id", repr(wanted), "one that some row has")
    _check_currency(own)
    usage = [row for row in own if row.charge_category == "Usage"]
    effective: dict[str, list[float | None]] = {status: [] for status in STATUSES}
    for row in usage:
        status = getattr(row, f"{kind}_status")
        if status is None:
            refuse(f"{kind}_status", None, "Used or Unused on usage of it")
        effective[status].append(row.effective_cost)
    return CommitmentUse(
        total(effective["Used"]),
        total(effective["Unused"]),
        total([row.billed_cost for row in own if row.charge_category == "Purchase"]),
    )
