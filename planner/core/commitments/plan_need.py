"""What a plan would take from one on-demand supply, hour by hour: the demand that a commitment would serve.

The plan is dispatched on its real hours. Owned servers, terms, blocks and contracts come first; money that
savings plans commit covers its part. What is left on the on-demand supply is the demand for a commitment. The
supply's quota is lifted, for a commitment is capacity of its own. Other metered supplies keep the work that
the merit order gives them, so spot takes what it may; a plan without them shows their work too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray, Horizon, IntArray
from planner.core.check import check_plan
from planner.core.ledger import settle
from planner.core.plan import OnDemand, Plan
from planner.core.ranges import AT_LEAST_0, refuse, require_fields, with_unknown
from planner.core.savings import cover
from planner.core.setting import Grid


@dataclass(frozen=True)
class HourlyNeed:
    """GPUs by hour that a commitment could serve, and the on-demand price of each hour, both (hours,).

    `month` is the month of each hour, from 0; NaN is an unknown price. `unmet_gpu_hours` is what the plan
    leaves undone all the same (its region, validation or gang allows no supply); it is not in `gpus`.
    """

    gpus: FloatArray
    usd_per_gpu_hour: FloatArray
    month: IntArray
    unmet_gpu_hours: float

    def __post_init__(self) -> None:
        require_fields(
            self,
            gpus=AT_LEAST_0,
            usd_per_gpu_hour=with_unknown(AT_LEAST_0),
            month=AT_LEAST_0,
            unmet_gpu_hours=AT_LEAST_0,
        )


def hourly_need(plan: Plan, on_demand: str) -> HourlyNeed:
    """Return paid GPUs by hour on one on-demand supply, less what committed money covers, with its prices.

    Raises ValueError for a name that is no on-demand supply of the plan, and for an impossible plan.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> hourly_need(plan_to_decide(1), "On demand").gpus[[0, 12]]
    array([18., 42.])
    """
    names = [each.name for each in plan.supplies if isinstance(each, OnDemand)]
    if on_demand not in names:
        refuse("on_demand", repr(on_demand), "one of the plan's on-demand supplies: " + ", ".join(names))
    check_plan(plan)
    without = tuple(
        replace(each, quota_gpus=None, quota_steps=())
        if isinstance(each, OnDemand) and each.name == on_demand
        else each
        for each in plan.supplies
    )
    row = [each.name for each in without].index(on_demand)
    ledger = settle(replace(plan, supplies=without), Grid(each_hour=True))
    taken = ledger.served.paid_gpus
    setting = ledger.setting
    covered = cover(
        setting.savings_plans(), without, taken, ledger.slots, ledger.horizon, setting.prices
    ).gpus
    return HourlyNeed(
        gpus=np.maximum(taken[row] - covered[row], 0.0),
        usd_per_gpu_hour=setting.prices[on_demand][ledger.slots.month],
        month=ledger.slots.month,
        unmet_gpu_hours=float(ledger.served.unmet_hours.sum()),
    )


def require_same_months(plans: Sequence[Plan]) -> Horizon:
    """Return the horizon that all plans share; raise ValueError where start, months or discount rate differ.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> require_same_months([plan_to_decide()]).months
    12
    """
    if not plans:
        refuse("futures", "empty", "at least one future")
    first = plans[0]
    for name in ("start", "months", "discount_rate_per_year"):
        for each in plans[1:]:
            if getattr(each, name) != getattr(first, name):
                refuse(
                    f"plan {each.name!r}: {name}",
                    getattr(each, name),
                    f"{getattr(first, name)} as in the first",
                )
    return Horizon(first.start, first.months)
