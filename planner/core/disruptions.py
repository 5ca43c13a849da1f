"""What goes wrong from a month on: supplies out of service, rental prices in steps.

An outage takes capacity and leaves money: a metered supply costs nothing while nobody can use it, all that is
owned or committed costs what it costs.
"""

from collections.abc import Sequence

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.plan import Outage, Plan, PriceStep, SavingsPlan, Supply


def is_hit(outage: Outage, supply: Supply) -> bool:
    """Return whether an outage takes a supply: all that it names must agree.

    A savings plan is money, not capacity: the supplies that it covers are hit themselves.
    """
    if isinstance(supply, SavingsPlan):
        return False
    pairs = ((outage.provider, supply.provider), (outage.region, supply.region), (outage.supply, supply.name))
    return any(wanted for wanted, _ in pairs) and all(has == wanted for wanted, has in pairs if wanted)


def up_by_month(plan: Plan, horizon: Horizon) -> dict[str, FloatArray]:
    """Return 1 in months of service and 0 in months of an outage, of the supplies that are hit in some."""
    found: dict[str, FloatArray] = {}
    month = np.arange(horizon.months)
    for outage in plan.outages:
        first = horizon.index_on_or_after(outage.start)
        is_out = (month >= first) & (outage.months is None or month < first + outage.months)
        if not is_out.any():
            continue
        for supply in plan.supplies:
            if is_hit(outage, supply):
                found[supply.name] = np.where(is_out, 0.0, found.get(supply.name, np.ones(horizon.months)))
    return found


def price_factors(steps: Sequence[PriceStep], horizon: Horizon) -> FloatArray:
    """Return what the price path is multiplied by in each month; the last step that has begun holds."""
    factors = np.ones(horizon.months)
    for step in sorted(steps, key=lambda each: each.start):
        factors[np.arange(horizon.months) >= horizon.index_on_or_after(step.start)] = step.factor
    return factors
