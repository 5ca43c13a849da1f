"""What a limit lets one run, and how long a raise of it takes. A quota is permission, not capacity.

Waits are lognormal, told by their median and 90th percentile: sigma = ln(p90 / median) / z(0.9), a choice of
the model and not a law: logs of requests are few. Several limits at once: quota_limits.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import NormalDist, median

import numpy as np

from planner.core.ranges import (
    ABOVE_0,
    ANY,
    AT_LEAST_0,
    COUNT,
    PROBABILITY_INSIDE,
    SHARE,
    Range,
    optional,
    refuse,
    require_fields,
    takes,
)
from planner.core.units import HOURS_PER_DAY

_NORMAL = NormalDist()
Z_OF_P90 = _NORMAL.inv_cdf(0.9)
FEWEST_RECORDS = 10  # of one provider; below that a wait is an assumption
# a request that was decided on the day it was made: dates cannot say it more exactly
SHORTEST_DAYS = 1.0 / HOURS_PER_DAY
LARGE_FROM_GPUS = 8  # one whole node
WIDEST = 1e6  # p90 over median: beyond it not even an order of magnitude is known
DRAWN = Range(1e-6)


@dataclass(frozen=True)
class Wait:
    """How long something takes: `median` and `p90` in one unit of time, days unless said otherwise.

    `granted_share` is the share of requests that get what they ask for, None where it is not known.
    `records` is how many decided requests stand behind it; 0 for an assumption.
    """

    median: float
    p90: float
    granted_share: float | None = None
    records: int = 0

    def __post_init__(self) -> None:
        require_fields(self, median=ABOVE_0, p90=ABOVE_0, granted_share=optional(SHARE), records=COUNT)
        if self.p90 < self.median:
            refuse("p90", self.p90, f"at least the median, {self.median:g}")
        if self.p90 > WIDEST * self.median:
            refuse("p90", self.p90, f"at most a million times the median, {self.median:g}")

    @property
    def is_assumption(self) -> bool:
        """Return whether too few records stand behind it.

        >>> Wait(median=12, p90=26).is_assumption
        True
        """
        return self.records < FEWEST_RECORDS

    @property
    def sigma(self) -> float:
        """Return ln(p90 / median) / 1.2816; 0 where every wait is the same.

        >>> round(Wait(median=12, p90=26).sigma, 4)
        0.6033
        """
        return math.log(self.p90 / self.median) / Z_OF_P90

    @property
    def mean(self) -> float:
        """Return median * e^(sigma^2 / 2).

        >>> round(Wait(median=12, p90=26).mean, 2)
        14.4
        """
        return self.median * math.exp(self.sigma**2 / 2.0)

    @takes(time=ANY)
    def probability_by(self, time: float) -> float:
        """Return P(T <= time) = Phi(ln(time / median) / sigma): the chance that it is over by then.

        Nothing is over at once; without spread everything ends at the median.

        >>> round(Wait(median=12, p90=26).probability_by(20), 4)
        0.8014
        """
        if time <= 0.0:
            return 0.0
        if self.sigma == 0.0:
            return float(time >= self.median)
        return _NORMAL.cdf(math.log(time / self.median) / self.sigma)

    @takes(service_level=PROBABILITY_INSIDE)
    def quantile(self, service_level: float) -> float:
        """Return the time within which a share `service_level` is over: median * e^(z * sigma).

        >>> round(Wait(median=12, p90=26).quantile(0.95), 2)
        32.37
        """
        return self.median * math.exp(_NORMAL.inv_cdf(service_level) * self.sigma)

    @takes(time=ANY)
    def usable_by(self, time: float) -> float | None:
        """Return P(granted) * P(T <= time), None where P(granted) is not known.

        >>> round(Wait(median=10, p90=30, granted_share=0.7).usable_by(30), 6)
        0.63
        """
        return None if self.granted_share is None else self.granted_share * self.probability_by(time)


# Assumptions of 2026-11, judged from public reports: minutes for one small GPU to weeks for many. An
# organisation's own log replaces them from FEWEST_RECORDS decided requests on.
SMALL_QUOTA_DAYS = Wait(median=1.0, p90=7.0)
LARGE_QUOTA_DAYS = Wait(median=10.0, p90=30.0, granted_share=0.7)
SERVERS_DAYS = Wait(median=12.0 * 7, p90=26.0 * 7)


@takes(gpus=AT_LEAST_0)
def assumed_quota_wait(gpus: float) -> Wait:
    """Return the assumed wait for a raise by so many GPUs: from one whole node on it is a large one.

    >>> assumed_quota_wait(8).median
    10.0
    """
    return LARGE_QUOTA_DAYS if gpus >= LARGE_FROM_GPUS else SMALL_QUOTA_DAYS


@takes(days=AT_LEAST_0, granted=COUNT)
def learned_wait(days: Sequence[float], granted: int) -> Wait | None:
    """Return the wait that decided requests show, None below FEWEST_RECORDS of them.

    `days` holds the time from request to answer of each, refusals included; `granted` counts those that
    got all they asked for. Requests that are still open are in neither, which makes the answer early.
    The 90th percentile is linear between records (Hyndman and Fan, 1996, type 7). Raises ValueError where
    more were granted than decided.

    >>> learned_wait([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], granted=7).median
    5.5
    """
    if granted > len(days):
        refuse("granted", granted, f"at most the decided requests, {len(days)}")
    if len(days) < FEWEST_RECORDS:
        return None
    lasted = [max(each, SHORTEST_DAYS) for each in days]
    middle = median(lasted)
    high = max(float(np.quantile(lasted, 0.9)), middle)
    return Wait(middle, high, granted / len(lasted), len(lasted))


@takes(service_level=PROBABILITY_INSIDE, burn_in_days=COUNT)
def order_by(need: date, wait: Wait, service_level: float, burn_in_days: int = 0) -> date:
    """Return the last day to ask: need - quantile(service level) - burn-in, in whole days.

    `wait` is in days. A started day counts. Raises ValueError where that is before the first year.

    >>> order_by(date(2027, 1, 15), LARGE_QUOTA_DAYS, 0.9)
    datetime.date(2026, 12, 16)
    """
    # the p90 of a wait of 30 days is 30.000000000000004: not a day more
    days = math.ceil(round(wait.quantile(service_level), 9))
    if days + burn_in_days >= need.toordinal():
        refuse("wait", f"{days + burn_in_days:,} days with burn-in", f"one that ends by {need.isoformat()}")
    return need - timedelta(days=days + burn_in_days)


@takes(limit=ANY, drawn_per_instance=DRAWN)
def instances_within(limit: float, drawn_per_instance: float) -> int:
    """Return how many whole instances a limit allows: floor(limit / what one draws of it).

    A limit below one instance allows none, and so does what is left of one that is overdrawn. vCPUs are never
    divided by vCPUs per GPU. Source of the example: AWS counts 192 vCPUs for one p5.48xlarge of 8 GPUs.

    >>> [instances_within(quota, 192) for quota in (128, 192, 384, 1000)]
    [0, 1, 2, 5]
    """
    return max(math.floor(limit / drawn_per_instance + 1e-9), 0)


@takes(limit=optional(AT_LEAST_0), peak_use=optional(AT_LEAST_0))
def headroom_share(limit: float | None, peak_use: float | None) -> float | None:
    """Return (limit - peak use) / limit: below 0 when use is above it; None for a limit of 0, or unknown.

    >>> headroom_share(384.0, 288.0)
    0.25
    """
    return None if not limit or peak_use is None else (limit - peak_use) / limit


@takes(planned_peak=AT_LEAST_0, limit=optional(AT_LEAST_0))
def gap(planned_peak: float, limit: float | None) -> float | None:
    """Return how much of a planned peak the limit does not allow: max(0, planned peak - limit).

    Both in the unit of the limit. None where the limit is unknown and the peak is not 0: an unknown quota is
    not an endless one. A month with a gap cannot be served unless a raise is granted in time.

    >>> gap(64.0, 33.0)
    31.0
    """
    if limit is None:
        return None if planned_peak else 0.0
    return max(planned_peak - limit, 0.0)
