"""Savings plans on a grid of hours: the provider covers on-demand use hour by hour with committed money.

In each hour the highest discount is covered first, ties at the lower plan price, until the money is used up;
narrow plans come before broad ones. What is not used is lost, and the rest of the use pays on demand. This is
the same order as commitments/savings_plan.py, here by slot for a whole plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray, add_months
from planner.core.commitments.usage import discount_of
from planner.core.committed import Commitment, Term, prepaid_usd
from planner.core.lines import Balance, LineMaker
from planner.core.plan import OnDemand, SavingsPlan, Supply
from planner.core.slots import Slots


@dataclass(frozen=True)
class Covered:
    """What committed money covers: GPUs by (supply, slot), money used by (plan, slot) in USD per hour."""

    gpus: FloatArray
    usd_per_hour: FloatArray


def term_of_plan(plan: SavingsPlan, horizon: Horizon) -> Term:
    """Return the hours of a savings plan."""
    return Term(horizon.hour_at(plan.start), horizon.hour_at(add_months(plan.start, plan.term_months)))


def applied_first(plans: Sequence[SavingsPlan]) -> list[int]:
    """Return the places of plans in the order in which they apply: narrow before broad, then as given."""
    return sorted(range(len(plans)), key=lambda place: (not plans[place].narrow, place))


def rates_by_discount(
    plan: SavingsPlan, supplies: Sequence[Supply], prices: dict[str, FloatArray], month: int
) -> list[tuple[int, float]]:
    """Return (row of the supply, plan price) by falling discount in one month; an unknown price goes last."""
    rows = {s.name: row for row, s in enumerate(supplies) if isinstance(s, OnDemand)}
    found = []
    for rate in plan.rates:
        discount = discount_of(rate.usd_per_gpu_hour, float(prices[rate.supply][month]))
        found.append((-discount, rate.usd_per_gpu_hour, rows[rate.supply]))
    return [(row, usd) for _, usd, row in sorted(found)]


def cover(
    plans: Sequence[SavingsPlan],
    supplies: Sequence[Supply],
    paid_gpus: FloatArray,
    slots: Slots,
    horizon: Horizon,
    prices: dict[str, FloatArray],
    month_of: IntArray | None = None,
) -> Covered:
    """Apply every plan to the on-demand use `paid_gpus` by (supply, slot); `prices` by supply and month.

    `month_of` says which month of the plan each month of the slots is, where those are more than the plan's.
    """
    rest = paid_gpus.copy()
    used = np.zeros((len(plans), paid_gpus.shape[1]))
    months = range(horizon.months) if month_of is None else month_of.tolist()
    orders = [[rates_by_discount(plan, supplies, prices, month) for month in months] for plan in plans]
    for place in applied_first(plans):
        money = plans[place].usd_per_hour * term_of_plan(plans[place], horizon).is_active(slots)
        for alike, order in _alike(orders[place]):
            span = np.isin(slots.month, alike)
            for row, usd in order:
                gpus = np.minimum(rest[row, span], (money[span] - used[place, span]) / usd)
                rest[row, span] -= gpus
                # rounding must not spend more than there is
                used[place, span] = np.minimum(used[place, span] + gpus * usd, money[span])
    return Covered(np.maximum(paid_gpus - rest, 0.0), used)


def _alike(orders: list[list[tuple[int, float]]]) -> list[tuple[list[int], list[tuple[int, float]]]]:
    groups: dict[tuple[tuple[int, float], ...], list[int]] = {}
    for month, order in enumerate(orders):
        groups.setdefault(tuple(order), []).append(month)
    return [(months, list(order)) for order, months in groups.items()]


def settle_savings_plan(
    plan: SavingsPlan, horizon: Horizon, used_usd: FloatArray, make: LineMaker
) -> Commitment:
    """Return the money of a savings plan; `used_usd` is what of it covered use, by month."""
    term = term_of_plan(plan, horizon)
    hours = term.hours_by_month(horizon)
    upfront = plan.upfront_share * plan.usd_per_hour * term.hours
    recurring = (1.0 - plan.upfront_share) * plan.usd_per_hour
    month = np.arange(horizon.months)
    is_first = (month == horizon.index_of(plan.start)).astype(np.float64)
    prepaid = prepaid_usd(upfront, term, horizon)
    cost = plan.usd_per_hour * hours
    horizon_hours = int(horizon.month_starts()[-1])
    after = max(term.end_hour - horizon_hours, 0) if term.first_hour < horizon_hours else 0
    inside = hours.sum() / term.hours
    once = upfront * inside * float((is_first * make.factors.begin).sum())
    return Commitment(
        lines=(
            make.at_begin("upfront", upfront * is_first),
            make.at_end("recurring", recurring * hours),
            make.in_books("commitment_used", np.minimum(used_usd, cost)),
            make.in_books("commitment_unused", np.maximum(cost - used_usd, 0.0)),
        ),
        balance=Balance(plan.name, "prepaid", float(prepaid[0]), prepaid[1:]),
        salvage_usd=np.zeros(horizon.months),
        prepaid_remainder_usd=float(prepaid[-1]),
        still_owed_usd=recurring * after,
        fixed_present_value_usd=once + float((recurring * hours * make.factors.end).sum()),
    )
