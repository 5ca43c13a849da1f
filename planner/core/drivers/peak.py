"""Peak, mean and diversity of a load."""

from planner.core.calendar import FloatArray
from planner.core.ranges import AT_LEAST_0, AT_LEAST_1, SHARE_ABOVE_0, refuse, takes


@takes(mean_load=AT_LEAST_0, peak_to_average=AT_LEAST_1, target_occupancy=SHARE_ABOVE_0)
def required_capacity(mean_load: float, peak_to_average: float, target_occupancy: float) -> float:
    """Return mean load * peak to average / target occupancy, in the unit of the load.

    The occupancy leaves room for queueing (queueing.py); assumptions.py has 0.70 for interactive work and
    0.85 for batches. A load that was divided by an occupancy before is not to be divided again.

    >>> required_capacity(70.0, 1.5, 0.75)
    140.0
    """
    return mean_load * peak_to_average / target_occupancy


@takes(load=AT_LEAST_0)
def peak_to_average(load: FloatArray) -> float:
    """Return the peak of a series over its mean; at least 1. `load` has shape (hours,).

    The peak of hourly means is below that of minutes: latency needs the finest series there is. Raises
    ValueError for a series that is empty or zero throughout.

    >>> import numpy as np
    >>> peak_to_average(np.array([50.0, 100.0, 150.0]))
    1.5
    """
    if load.ndim != 1 or load.size == 0 or float(load.max()) == 0.0:
        refuse("load", f"of shape {load.shape}", "a series with at least one hour above 0")
    # of a flat series the mean may round above the peak
    return max(1.0, float(load.max() / load.mean()))


@takes(loads=AT_LEAST_0)
def diversity_factor(loads: FloatArray) -> float:
    """Return the sum of the peaks over the peak of the sum; at least 1. `loads` has shape (workloads, hours).

    It is what a shared pool saves: capacity for each workload alone / capacity for all together. Raises
    ValueError where there is no load at all.

    >>> import numpy as np
    >>> diversity_factor(np.array([[8.0, 2.0], [2.0, 8.0]]))
    1.6
    """
    if loads.ndim != 2 or loads.size == 0 or float(loads.max()) == 0.0:
        refuse("loads", f"of shape {loads.shape}", "workloads by hours with at least one load above 0")
    return max(1.0, float(loads.max(axis=1).sum() / loads.sum(axis=0).max()))
