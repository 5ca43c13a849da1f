"""Spot: cheap hours that may be taken back. A paid GPU-hour does `useful_work_factor` of work.

The factor is 1/kappa of what is paid: restarts and rework count, unpaid waiting does not.
Quotas and prices count paid GPUs; the merit order and the results count useful ones.
"""

from planner.core.plan import Spot


def usd_per_useful_gpu_hour(usd_per_gpu_hour: float, useful_work_factor: float) -> float:
    """Return price / factor.

    >>> usd_per_useful_gpu_hour(1.0, 0.8)
    1.25
    """
    return usd_per_gpu_hour / useful_work_factor


def beats(spot: Spot, on_demand_usd_per_gpu_hour: float) -> bool | None:
    """Return whether spot is cheaper per useful GPU-hour; None where its price is unknown."""
    if spot.usd_per_gpu_hour is None:
        return None
    useful = usd_per_useful_gpu_hour(spot.usd_per_gpu_hour, spot.useful_work_factor)
    return useful < on_demand_usd_per_gpu_hour
