"""Small problems, for the examples in docstrings."""

import numpy as np

from planner.core.money import discount_factors
from planner.core.optimize.options import commitment_option, on_demand_option
from planner.core.optimize.problem import Limits, Problem, Work


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
