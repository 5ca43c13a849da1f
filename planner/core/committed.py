"""Reserved capacity: a quantity for a term, paid whether used or not.

The upfront part is paid at the begin of the month that holds the start and is spread over the real
hours of the whole term; the recurring part is paid at the end of each month for its hours inside the
term. A term that outlives the horizon is paid for what falls inside.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon, add_months
from planner.core.lines import RESIDUAL, Balance, Line, LineMaker
from planner.core.plan import Reserved
from planner.core.slots import Slots


@dataclass(frozen=True)
class Term:
    """A commitment's hours, counted from the plan's start; they may lie outside the horizon."""

    first_hour: int
    end_hour: int

    @property
    def hours(self) -> int:
        """Return the real hours of the whole term."""
        return self.end_hour - self.first_hour

    def hours_by_month(self, horizon: Horizon) -> FloatArray:
        """Return the hours of each month that lie inside the term."""
        starts = horizon.month_starts()
        first = np.maximum(starts[:-1], self.first_hour)
        inside: FloatArray = np.maximum(np.minimum(starts[1:], self.end_hour) - first, 0).astype(np.float64)
        return inside

    def is_active(self, slots: Slots) -> FloatArray:
        """Return 1 in slots inside the term; an hour counts if it begins inside."""
        inside = (slots.first_hour >= self.first_hour) & (slots.first_hour < self.end_hour)
        return inside.astype(np.float64)


def term_of(reserved: Reserved, horizon: Horizon) -> Term:
    """Return the hours of the term, from the start's 00:00 UTC."""
    end = add_months(reserved.start, reserved.term_months)
    return Term(horizon.hour_at(reserved.start), horizon.hour_at(end))


def recurring_usd_per_gpu_hour(reserved: Reserved) -> float:
    """Return the hourly price; an all-upfront commitment has none."""
    if reserved.payment == "all_upfront":
        return 0.0
    return float("nan") if reserved.usd_per_gpu_hour is None else reserved.usd_per_gpu_hour


def upfront_usd(reserved: Reserved) -> float:
    """Return the amount paid once; a commitment without upfront payment has none."""
    if reserved.payment == "no_upfront":
        return 0.0
    per_gpu = reserved.usd_upfront_per_gpu
    return float("nan") if per_gpu is None else reserved.gpus * per_gpu


def effective_usd_per_gpu_hour(upfront: float, recurring_per_hour: float, hours_in_term: float) -> float:
    """Return the price without time value: upfront / hours in term + recurring.

    >>> effective_usd_per_gpu_hour(4380.0, 0.5, 8760)
    1.0
    """
    return upfront / hours_in_term + recurring_per_hour


def effective_usd_with_time_value(
    upfront: float, recurring_per_hour: float, hours: FloatArray, end_factors: FloatArray
) -> float:
    """Return (U + recurring * sum h_m v_m) / sum h_m v_m: paid at the begin, hours valued at month ends."""
    discounted_hours = float(np.sum(hours * end_factors))
    return upfront / discounted_hours + recurring_per_hour


@dataclass(frozen=True)
class Commitment:
    """The money of one commitment. `salvage_usd` is what could be got back at the end of each month."""

    lines: tuple[Line, ...]
    balance: Balance
    salvage_usd: FloatArray
    prepaid_remainder_usd: float
    still_owed_usd: float
    fixed_present_value_usd: float  # what falls on the hours inside the horizon, for the break-even


def commitment_of(
    reserved: Reserved, term: Term, horizon: Horizon, used_gpu_hours: FloatArray, make: LineMaker
) -> Commitment:
    """Return upfront and recurring payments, their use in the books, and what the horizon cuts off."""
    month = np.arange(horizon.months, dtype=np.float64)
    hours = term.hours_by_month(horizon)
    upfront = upfront_usd(reserved)
    recurring = reserved.gpus * recurring_usd_per_gpu_hour(reserved)
    is_first = month == horizon.index_of(reserved.start)
    prepaid = prepaid_usd(upfront, term, horizon)
    salvage = reserved.salvage_share * prepaid[1:]
    cost = upfront / term.hours * hours + recurring * hours
    committed = reserved.gpus * hours
    lines = (
        make.at_begin("upfront", upfront * is_first),
        make.at_end("recurring", recurring * hours),
        *used_and_unused(cost, used_gpu_hours, committed, make),
        make.at_end(RESIDUAL, -salvage * (month == horizon.months - 1)),
    )
    horizon_hours = int(horizon.month_starts()[-1])
    # A term that begins after the plan is not entered into inside it, so nothing of it is owed.
    after = max(term.end_hour - horizon_hours, 0) if term.first_hour < horizon_hours else 0
    return Commitment(
        lines=lines,
        balance=Balance(reserved.name, "prepaid", float(prepaid[0]), prepaid[1:]),
        salvage_usd=salvage,
        prepaid_remainder_usd=float(prepaid[-1]),
        still_owed_usd=recurring * after,
        fixed_present_value_usd=_fixed_present_value(upfront, recurring, is_first, hours, term, make),
    )


def used_and_unused(
    cost: FloatArray, used: FloatArray, committed: FloatArray, make: LineMaker
) -> tuple[Line, Line]:
    """Return what capacity that is paid for costs in the books, split by the share of its hours in use."""
    share = np.divide(used, committed, out=np.zeros_like(cost), where=committed > 0)
    return (
        make.in_books("commitment_used", cost * share),
        make.in_books("commitment_unused", cost * (1.0 - share)),
    )


def prepaid_usd(upfront: float, term: Term, horizon: Horizon) -> FloatArray:
    """Return the part of the upfront payment not yet used: before the plan, then at each month's end."""
    starts = horizon.month_starts()
    # Paid in the month of the start, so held from that month's end on, never at its begin.
    rest = (term.end_hour - np.clip(starts, term.first_hour, term.end_hour)) / term.hours
    return upfront * rest * (starts > term.first_hour)


def _fixed_present_value(
    upfront: float, recurring: float, is_first: FloatArray, hours: FloatArray, term: Term, make: LineMaker
) -> float:
    inside = hours.sum() / term.hours
    once = upfront * inside * (is_first * make.factors.begin).sum()
    return float(once + (recurring * hours * make.factors.end).sum())
