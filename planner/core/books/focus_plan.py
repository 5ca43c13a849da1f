"""A plan's commitments and capacity blocks month by month, written as FOCUS rows."""

from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.books.focus import ChargeFrequency, FocusRow, Status
from planner.core.calendar import FloatArray, Horizon, add_months, days_later
from planner.core.plan import Block, Contract, Outcome, Reserved, SavingsPlan
from planner.core.ranges import AT_LEAST_0, optional, refuse, require_fields
from planner.core.setting import rental_path

COST = optional(AT_LEAST_0)
Commitment = Reserved | SavingsPlan | Contract | Block
COMMITMENTS = ("reserved supply", "savings plan", "contract", "capacity block")
ROUNDING_USD = 1e-6  # what is left of a difference of large sums


@dataclass(frozen=True)
class CommitmentMonth:
    """What a commitment or reservation of capacity bills and uses in one month, in USD; None is not known.

    `upfront_usd` is paid in this month for the whole term, `recurring_usd` for this month. Used and
    unused are the month's share of the whole cost. `on_demand_usd` is what the used hours would have cost at
    the public price, `contracted_usd` at the negotiated one, before the commitment. `term_end` is the first
    day after the term.
    """

    commitment_discount_id: str | None
    month: date
    upfront_usd: float | None
    recurring_usd: float | None
    used_usd: float | None
    unused_usd: float | None
    on_demand_usd: float | None = None
    contracted_usd: float | None = None
    term_end: date | None = None
    currency: str = "USD"
    capacity_reservation_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse amounts outside their range, and a month that is not given by its first day."""
        require_fields(
            self,
            upfront_usd=COST,
            recurring_usd=COST,
            used_usd=COST,
            unused_usd=COST,
            on_demand_usd=COST,
            contracted_usd=COST,
        )
        if self.commitment_discount_id is None and self.capacity_reservation_id is None:
            refuse("commitment_discount_id", None, "an id, or one of a reservation of capacity")
        if self.month.day != 1:
            refuse("month", self.month, "the first day of a month")


def commitment_rows(month: CommitmentMonth) -> list[FocusRow]:
    """Return the rows of one commitment in one month; those that are a known 0 in all are left out.

    Purchases (upfront One-Time, recurring Recurring) are billed and Standard, their effective cost is 0. Use
    and what is left unused are Usage-Based, effective and billed at 0, and Committed; Standard where it is
    capacity that is reserved and no discount. Nothing was delivered
    in unused hours, so their list and contracted cost are 0 and the saving of the row is minus its cost:
    savings of all rows then have the unused money in them. (The specification's samples put the on-demand
    price there.)

    >>> rows = commitment_rows(CommitmentMonth("c", date(2027, 1, 1), 0.0, 1.0, 0.75, 0.25))
    >>> [(row.charge_category, row.billed_cost, row.effective_cost) for row in rows]
    [('Purchase', 1.0, 0.0), ('Usage', 0.0, 0.75), ('Usage', 0.0, 0.25)]
    """
    rows = [
        _purchase(month, month.upfront_usd, "One-Time", month.term_end),
        _purchase(month, month.recurring_usd, "Recurring", add_months(month.month, 1)),
        _usage(month, month.used_usd, "Used", month.on_demand_usd, month.contracted_usd),
        _usage(month, month.unused_usd, "Unused", 0.0, 0.0),
    ]
    # hours that cost nothing still save what they would have cost
    return [row for row in rows if row.billed_cost != 0.0 or row.effective_cost != 0.0 or row.list_cost]


def _purchase(
    month: CommitmentMonth, usd: float | None, frequency: ChargeFrequency, end: date | None
) -> FocusRow:
    return FocusRow(
        "Purchase",
        frequency,
        billed_cost=usd,
        effective_cost=0.0,
        list_cost=usd,
        contracted_cost=usd,
        pricing_category="Standard",
        commitment_discount_id=month.commitment_discount_id,
        capacity_reservation_id=month.capacity_reservation_id,
        charge_period_start=month.month,
        charge_period_end=end,
        billing_currency=month.currency,
    )


def _usage(
    month: CommitmentMonth,
    usd: float | None,
    status: Status,
    list_usd: float | None,
    contracted: float | None,
) -> FocusRow:
    return FocusRow(
        "Usage",
        "Usage-Based",
        billed_cost=0.0,
        effective_cost=usd,
        list_cost=list_usd,
        contracted_cost=contracted,
        pricing_category="Committed" if month.commitment_discount_id else "Standard",
        commitment_discount_id=month.commitment_discount_id,
        commitment_discount_status=status if month.commitment_discount_id else None,
        capacity_reservation_id=month.capacity_reservation_id,
        capacity_reservation_status=status if month.capacity_reservation_id else None,
        charge_period_start=month.month,
        charge_period_end=add_months(month.month, 1),
        billing_currency=month.currency,
    )


def rows_of_plan(outcome: Outcome, supply: str) -> list[FocusRow]:
    """Return the FOCUS rows of a commitment or a capacity block over a plan, month by month.

    Over a term that lies inside the plan effective usage is the billed purchase. What the used hours would
    have cost on demand is taken at the plan's reference price of the month: None without one, and for
    savings plans. Negotiated prices are not in a plan, so contracted cost is the same. A capacity block
    is a reservation of capacity without a discount. Raises ValueError where the plan has no such supply of
    that name.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.plan import Plan
    >>> reserved = Reserved("r", 8, date(2027, 1, 1), 12, "no_upfront", usd_per_gpu_hour=2.0)
    >>> plan = Plan("p", date(2027, 1, 1), 1, "H100", workloads=(), supplies=(reserved,))
    >>> rows = rows_of_plan(evaluate(plan), "r")
    >>> [(row.charge_category, row.billed_cost, row.effective_cost) for row in rows]
    [('Purchase', 11904.0, 0.0), ('Usage', 0.0, 11904.0)]
    """
    for each in outcome.plan.supplies:
        if isinstance(each, Commitment) and each.name == supply:
            return [row for month in _months(outcome, each) for row in commitment_rows(month)]
    raise ValueError(f"supply is {supply!r}; right would be a {' or '.join(COMMITMENTS)} of the plan")


def _months(outcome: Outcome, supply: Commitment) -> list[CommitmentMonth]:
    frame = outcome.monthly[outcome.monthly["supply"] == supply.name]
    columns = ["cash_usd", "amortized_usd", "paid_gpu_hours"]
    sums = frame.groupby(["line", "month"])[columns].sum(min_count=1).to_dict("index")

    def amount(line: str, day: date, column: str) -> float | None:
        """Return what stands in the plan; a line that was left out is 0, NaN is not known."""
        value = sums.get((line, day), {column: 0.0})[column]
        if np.isnan(value):
            return None
        return 0.0 if abs(value) < ROUNDING_USD else float(value)

    def month_of(day: date, price: float) -> CommitmentMonth:
        used_hours = amount("served", day, "paid_gpu_hours") or 0.0
        on_demand = None if np.isnan(price) else used_hours * price
        return CommitmentMonth(
            None if isinstance(supply, Block) else supply.name,
            day,
            upfront_usd=amount("upfront", day, "cash_usd"),
            recurring_usd=amount("recurring", day, "cash_usd"),
            used_usd=amount("commitment_used", day, "amortized_usd"),
            unused_usd=amount("commitment_unused", day, "amortized_usd"),
            on_demand_usd=on_demand,
            contracted_usd=on_demand,
            term_end=_term_end(supply),
            currency=outcome.plan.currency,
            capacity_reservation_id=supply.name if isinstance(supply, Block) else None,
        )

    days = [add_months(outcome.plan.start, index) for index in range(outcome.plan.months)]
    prices = _on_demand_usd_per_gpu_hour(outcome, supply).tolist()
    return [month_of(day, price) for day, price in zip(days, prices, strict=True)]


def _term_end(supply: Commitment) -> date:
    if isinstance(supply, Block):
        return days_later(supply.start, supply.days)
    return supply.end if isinstance(supply, Contract) else add_months(supply.start, supply.term_months)


def _on_demand_usd_per_gpu_hour(outcome: Outcome, supply: Commitment) -> FloatArray:
    """Return the reference price by month, as the dispatch takes it: drift and steps; NaN where unknown."""
    plan, reference = outcome.plan, outcome.reference
    # what a plan in money covers is counted in money: how many hours it was stands elsewhere
    is_known = reference is not None and not isinstance(supply, SavingsPlan)
    usd = reference.usd_per_gpu_hour if is_known and reference else None
    path = rental_path(plan, Horizon(plan.start, plan.months))
    return path * (float("nan") if usd is None else usd)
