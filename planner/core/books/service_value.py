"""What the work of an owned server is worth on the market, and what is left of that later.

A server does the same work all its life while the price of that work falls. The work that is still to come,
at the prices of its months, is the right credit for capacity that outlives a comparison.
"""

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.money import discount_factors
from planner.core.ranges import AT_LEAST_0, RATE, refuse, takes, with_unknown

MAYBE_AMOUNT = with_unknown(AT_LEAST_0)


@takes(work_gpu_hours=AT_LEAST_0, usd_per_gpu_hour=MAYBE_AMOUNT, rate_per_year=RATE)
def service_value_usd(
    work_gpu_hours: FloatArray, usd_per_gpu_hour: FloatArray, rate_per_year: float
) -> float | None:
    """Return the present value of a stream of work: sum of work * market price of its month, at month ends.

    Both arrays are by month of life, shape (months,). None where a price is unknown. Raises ValueError where
    they differ in length.

    >>> service_value_usd(np.array([10.0, 10.0]), np.array([2.0, 1.0]), 0.0)
    30.0
    """
    value = float(_discounted(work_gpu_hours, usd_per_gpu_hour, rate_per_year).sum())
    return None if np.isnan(value) else value


@takes(
    work_gpu_hours=AT_LEAST_0,
    usd_per_gpu_hour=MAYBE_AMOUNT,
    rate_per_year=RATE,
    usd_running_per_month=MAYBE_AMOUNT,
)
def remaining_service_value_usd(
    work_gpu_hours: FloatArray,
    usd_per_gpu_hour: FloatArray,
    rate_per_year: float,
    usd_running_per_month: FloatArray | float = 0.0,
) -> FloatArray:
    """Return, at the end of each month, what the work still to come is worth then, less what it costs to run.

    At month m: sum over later months k of max(0, work_k price_k - running_k) (1 + r)^-(k-m)/12, so a month
    whose work is not worth its running cost is not worked. Shape (months,), the last is 0; NaN where a later
    price is unknown. Never below 0. Raises ValueError where lengths differ.

    >>> remaining_service_value_usd(np.array([10.0, 10.0]), np.array([2.0, 1.0]), 0.0, 4.0).tolist()
    [6.0, 0.0]
    """
    _require_months(len(work_gpu_hours), "usd_running_per_month", usd_running_per_month)
    now = discount_factors(rate_per_year, len(work_gpu_hours)).end
    value = _discounted(work_gpu_hours, usd_per_gpu_hour, rate_per_year) - usd_running_per_month * now
    later = np.maximum(value, 0.0)
    from_then_on = np.cumsum(later[::-1])[::-1]
    return (np.append(from_then_on, 0.0)[1:]) / now


def _discounted(work_gpu_hours: FloatArray, usd_per_gpu_hour: FloatArray, rate_per_year: float) -> FloatArray:
    _require_months(len(work_gpu_hours), "usd_per_gpu_hour", usd_per_gpu_hour)
    return work_gpu_hours * usd_per_gpu_hour * discount_factors(rate_per_year, len(work_gpu_hours)).end


def _require_months(months: int, name: str, amounts: FloatArray | float) -> None:
    if np.ndim(amounts) and np.size(amounts) != months:
        refuse(name, f"{np.size(amounts)} months", f"as many as work_gpu_hours has, {months}")
