"""Leases: liability, interest and right of use by period, in the words of three accounting standards.

IFRS 16 and ASC 842 finance leases: straight-line right of use plus interest, so cost is highest at first. ASC
842 operating leases: one straight-line cost. Over the whole life each of them charges what is paid. Whether
a contract is a lease is for the accountant to say; `question_for_accountant` only asks.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.money import TIMINGS, Timing, discount
from planner.core.ranges import (
    ANY,
    AT_LEAST_0,
    COUNT_FROM_1,
    RATE,
    optional,
    refuse,
    require_fields,
    require_one_of,
    takes,
)

Standard = Literal["ifrs_16", "asc_842_finance", "asc_842_operating"]
STANDARDS: tuple[Standard, ...] = ("ifrs_16", "asc_842_finance", "asc_842_operating")
SHORT_TERM_MONTHS = 12  # IFRS 16.5 and ASC 842-20-25-2: may stay off the balance sheet


@dataclass(frozen=True)
class Lease:
    """Fixed payments, one a period, at its begin or end, and the lease's rate per period.

    `usd_initial` are direct costs of the lessee less incentives received, on day one.
    """

    payments_usd: tuple[float, ...]
    rate_per_period: float
    timing: Timing = "begin"
    usd_initial: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a lease without payments and numbers outside their range."""
        if not self.payments_usd:
            refuse("payments_usd", self.payments_usd, "at least one payment")
        require_fields(self, payments_usd=AT_LEAST_0, rate_per_period=RATE, usd_initial=ANY)
        require_one_of(TIMINGS, timing=self.timing)

    @property
    def periods(self) -> int:
        """Return the number of periods."""
        return len(self.payments_usd)

    @property
    def total_usd(self) -> float:
        """Return all money of the lease: payments and direct costs less incentives."""
        return sum(self.payments_usd) + self.usd_initial


@dataclass(frozen=True)
class LeaseSchedule:
    """A lease by period, in USD. The arrays have shape (periods,); balances are after that period's payment.

    `liability_usd` is owed at the begin of a period, after a payment due then; `closing_liability_usd` at
    its end, after a payment due then. `expense_usd` is what the income statement shows in all.
    """

    standard: Standard
    payments_usd: FloatArray
    liability_usd: FloatArray
    interest_usd: FloatArray
    closing_liability_usd: FloatArray
    right_of_use_at_start_usd: float
    amortization_usd: FloatArray
    right_of_use_usd: FloatArray
    expense_usd: FloatArray


@takes(payments_usd=AT_LEAST_0, rate_per_period=RATE)
def lease_liability(payments_usd: tuple[float, ...], rate_per_period: float) -> float:
    """Return the present value of remaining payments at the lease rate, the first due after one period.

    Source of the example: IFRS 16, Illustrative Example 13 (nine payments of 50,000 at 5 %).

    >>> round(lease_liability((50_000.0,) * 9, 0.05))
    355391
    """
    ahead = np.arange(1.0, len(payments_usd) + 1)
    return float((np.asarray(payments_usd) * discount(rate_per_period, ahead)).sum())


def lease_schedule(lease: Lease, standard: Standard = "ifrs_16") -> LeaseSchedule:
    """Return the lease by period: interest = liability * rate, payments reduce the liability.

    Right of use at the start = liability + payment of day one + direct costs less incentives. IFRS 16 and
    finance leases write it off in equal parts; expense is that plus interest. An operating lease's expense is
    all money / periods; its right of use falls by that less interest. Sources: IFRS 16.22-36, ASC 842-20-35.

    >>> schedule = lease_schedule(Lease((50_000.0,) * 10, 0.05))
    >>> round(float(schedule.interest_usd[0])), round(float(schedule.liability_usd[1]))
    (17770, 323161)
    """
    require_one_of(STANDARDS, standard=standard)
    opening, closing = _liabilities(lease)
    interest = opening * lease.rate_per_period
    first = lease.payments_usd[0] if lease.timing == "begin" else 0.0
    right_of_use = float(opening[0]) + first + lease.usd_initial
    straight = np.full(lease.periods, lease.total_usd / lease.periods)
    if standard == "asc_842_operating":
        amortization, expense = straight - interest, straight
    else:
        amortization = np.full(lease.periods, right_of_use / lease.periods)
        expense = amortization + interest
    left = right_of_use - np.cumsum(amortization)
    payments = np.asarray(lease.payments_usd, dtype=np.float64)
    return LeaseSchedule(
        standard, payments, opening, interest, closing, right_of_use, amortization, left, expense
    )


def _liabilities(lease: Lease) -> tuple[FloatArray, FloatArray]:
    """Return what is owed at the begin of each period (after a payment then) and at its end.

    Worked backwards from nothing owed at the end: forwards, rounding would grow as interest does.
    """
    discount(lease.rate_per_period, np.array([float(lease.periods)]))  # refuses a rate beyond numbers
    opening, closing = np.zeros(lease.periods), np.zeros(lease.periods)
    owed, is_begin = 0.0, lease.timing == "begin"
    for period in reversed(range(lease.periods)):
        payment = lease.payments_usd[period]
        closing[period] = owed
        opening[period] = (owed + (0.0 if is_begin else payment)) / (1.0 + lease.rate_per_period)
        # the payment of day one never was a liability: `owed` is not read after the first period
        owed = opening[period] + (payment if is_begin else 0.0)
    return opening, closing


@takes(term_months=COUNT_FROM_1)
def question_for_accountant(
    term_months: int,
    *,
    has_identified_asset: bool | None,
    can_supplier_substitute: bool | None,
    directs_use: bool | None,
) -> str:
    """Return what to ask the accountant about a commitment; the answer is never decided here.

    A contract holds a lease where an asset is identified, the supplier has no practical right to swap it, and
    the customer decides how it is used (IFRS 16.B9-B31, ASC 842-10-15). None is not known.

    >>> question_for_accountant(36, has_identified_asset=False, can_supplier_substitute=True,
    ...                         directs_use=True)[:48]
    'Normally a service contract: prepaid expense, wr'
    """
    answers = (has_identified_asset, None if can_supplier_substitute is None else not can_supplier_substitute)
    signs = (*answers, directs_use)
    if any(sign is False for sign in signs):
        return "Normally a service contract: prepaid expense, written off in equal parts over the term."
    if any(sign is None for sign in signs):
        unknown = [name for name, sign in zip(_SIGNS, signs, strict=True) if sign is None]
        return f"For the accountant: may hold a lease; not known is {', '.join(unknown)}."
    short = " At most 12 months: may stay off the balance sheet." if is_short_term(term_months) else ""
    return (
        "For the accountant: these machines are identified, the supplier may not swap them and you decide "
        f"how they are used, so this may be a lease and not a service.{short}"
    )


_SIGNS = (
    "whether certain machines are yours",
    "whether the supplier may swap them",
    "who decides how they are used",
)


@takes(term_months=optional(COUNT_FROM_1))
def is_short_term(term_months: int | None) -> bool | None:
    """Return whether a lease of that term may stay off the balance sheet; None where the term is unknown.

    >>> is_short_term(12), is_short_term(13)
    (True, False)
    """
    return None if term_months is None else term_months <= SHORT_TERM_MONTHS
