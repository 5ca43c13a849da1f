"""Rented by the hour: price path, quota in whole instances, what rounding to instances would cost.

Spot is metered too; what is special about it stands in spot.py.
"""

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.plan import OnDemand, Spot
from planner.core.units import whole_instances_down

# A use of 8.000000001 GPUs is 8 GPUs: the rest is the rounding of float sums.
WHOLE_GPU_TOLERANCE = 1e-9


def price_path(usd_per_gpu_hour: float | None, drift_per_month: float, months: int) -> FloatArray:
    """Return price * (1 + drift)^(m-1) by month; all NaN where the price is unknown."""
    first = float("nan") if usd_per_gpu_hour is None else usd_per_gpu_hour
    return first * np.power(1.0 + drift_per_month, np.arange(months, dtype=np.float64))


def quota_in_whole_instances(supply: OnDemand | Spot) -> float | None:
    """Return the GPUs of the instances the first quota allows; None where no limit is known."""
    if supply.quota_gpus is None:
        return None
    return whole_instances_down(supply.quota_gpus, supply.gpus_per_instance)


def quota_by_month(supply: OnDemand | Spot, horizon: Horizon) -> FloatArray:
    """Return the GPUs of the instances the quota allows by month; infinite where no limit is known.

    A step holds from the first month that begins on or after its day.
    """
    first = quota_in_whole_instances(supply)
    gpus = np.full(horizon.months, np.inf if first is None else first)
    for step in sorted(supply.quota_steps, key=lambda each: each.start):
        since = np.arange(horizon.months) >= horizon.index_on_or_after(step.start)
        if step.gpus is None:
            gpus[since] = np.inf
        else:
            gpus[since] = whole_instances_down(step.gpus, supply.gpus_per_instance)
    return gpus


def in_whole_instances(gpus: FloatArray, gpus_per_instance: int) -> FloatArray:
    """Return GPUs rounded up to whole instances."""
    rounded: FloatArray = np.ceil(gpus / gpus_per_instance - WHOLE_GPU_TOLERANCE) * gpus_per_instance
    return rounded


def rounding_gpu_hours(paid_gpus: FloatArray, hours: FloatArray, gpus_per_instance: int) -> FloatArray:
    """Return, per slot, the GPU-hours that whole instances would add to what is billed by the GPU."""
    spare = in_whole_instances(paid_gpus, gpus_per_instance) - paid_gpus
    return np.maximum(spare, 0.0) * hours


def usd_for_gpu_hours(gpu_hours: float, usd_per_instance_hour: float, gpus_per_instance: int) -> float:
    """Return what GPU-hours cost when instances of several GPUs are priced by the hour.

    >>> usd_for_gpu_hours(16.0, 40.0, 8)
    80.0
    """
    return gpu_hours / gpus_per_instance * usd_per_instance_hour
