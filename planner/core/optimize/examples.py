"""Small problems, for the examples in docstrings."""

from datetime import date

import numpy as np

from planner.core.money import discount_factors
from planner.core.optimize.choices import Choices, OwnedChoice, ReservedChoice
from planner.core.optimize.options import commitment_option, on_demand_option
from planner.core.optimize.problem import GPUS, Limits, Problem, Work
from planner.core.plan import OnDemand, Owned, Plan, Reserved, Workload
from planner.core.ranges import SHARE_ABOVE_0, Range, optional, takes


@takes(quota_gpus=GPUS, most_provider_share=optional(SHARE_ABOVE_0))
def two_months(quota_gpus: float = 8.0, most_provider_share: float | None = None) -> Problem:
    """Return two months of 365 h at 2 GPUs and 365 h at 1, undiscounted: on demand 4.00, or 1.50 committed.

    >>> two_months().hours.sum()
    np.float64(1460.0)
    """
    factors = discount_factors(0.0, 2)
    hours = np.full(4, 365.0)
    return Problem(
        hours=hours,
        month=np.array([0, 0, 1, 1]),
        end_factors=factors.end,
        urgent=(Work("serving", np.array([2.0, 1.0, 2.0, 1.0]), critical=True),),
        deferrable=(),
        options=(
            on_demand_option("On demand", "A", factors, usd_per_gpu_hour=4.0, gpus=np.full(4, quota_gpus)),
            commitment_option(
                "Term", "B", factors, np.full(2, 730.0), 4, term_months=2, usd_per_gpu_hour=1.5, whole=True
            ),
        ),
        useful_per_paid=np.ones((1, 2, 2)),
        limits=Limits(most_provider_share=most_provider_share),
    )


@takes(months=Range(1, 360, whole=True))
def plan_to_decide(months: int = 12) -> Plan:
    """Return a plan of one growing workload by day and night, all of it on demand so far.

    >>> plan_to_decide().supplies[0].name
    'On demand'
    """
    day_and_night = tuple(1.4 if 8 <= hour % 24 < 20 else 0.6 for hour in range(168))
    return Plan(
        name="To decide",
        start=date(2027, 1, 1),
        months=months,
        gpu_model="H100",
        workloads=(Workload("serving", "inference", 30.0, 0.02, day_and_night, critical=True),),
        supplies=(OnDemand("On demand", 4.0, quota_gpus=96.0, gpus_per_instance=8, provider="A"),),
    )


def servers_and_terms() -> Choices:
    """Return servers of 8 GPUs at 280,000, three months away, and instances of 8 for six months at 2.60.

    >>> len(servers_and_terms().owned)
    1
    """
    server = Owned(
        "Own", 1, 8, date(2027, 1, 1), 90, 280_000.0, idle_kw_per_server=2.0, max_kw_per_server=10.2,
        usd_per_kwh=0.1, availability=0.96, residual_loss_per_month=0.022,
    )  # fmt: skip
    term = Reserved("Term", 8, date(2027, 1, 1), 6, "no_upfront", 2.6, gpus_per_instance=8, provider="A")
    return Choices(owned=(OwnedChoice(server),), reserved=(ReservedChoice(term),), blocks_per_month=6)
