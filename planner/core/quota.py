"""What a limit lets one run, and how long a raise of it takes. A quota is permission, not capacity.

Waits are lognormal, told by their median and 90th percentile: sigma = ln(p90 / median) / z(0.9).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import NormalDist, median

import numpy as np

from planner.core.units import HOURS_PER_DAY

_NORMAL = NormalDist()
Z_OF_P90 = _NORMAL.inv_cdf(0.9)
FEWEST_RECORDS = 10  # of one provider; below that a wait is an assumption
# a request that was decided on the day it was made: dates cannot say it more exactly
SHORTEST_DAYS = 1.0 / HOURS_PER_DAY
LARGE_FROM_GPUS = 8  # one whole node


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
        if not 0.0 < self.median <= self.p90:
            raise ValueError(f"median {self.median} and p90 {self.p90}: above 0, and the p90 not below")

    @property
    def is_assumption(self) -> bool:
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

    def quantile(self, service_level: float) -> float:
        """Return the time within which a share `service_level` is over: median * e^(z * sigma).

        >>> round(Wait(median=12, p90=26).quantile(0.95), 2)
        32.37
        """
        return self.median * math.exp(_NORMAL.inv_cdf(service_level) * self.sigma)

    def usable_by(self, time: float) -> float | None:
        """Return P(granted) * P(T <= time), None where P(granted) is not known."""
        return None if self.granted_share is None else self.granted_share * self.probability_by(time)


# Assumptions of 2026-11, judged from public reports: minutes for one small GPU to weeks for many. An
# organisation's own log replaces them from FEWEST_RECORDS decided requests on.
SMALL_QUOTA_DAYS = Wait(median=1.0, p90=7.0)
LARGE_QUOTA_DAYS = Wait(median=10.0, p90=30.0, granted_share=0.7)
SERVERS_DAYS = Wait(median=12.0 * 7, p90=26.0 * 7)


def assumed_quota_wait(gpus: float) -> Wait:
    """Return the assumed wait for a raise by so many GPUs: from one whole node on it is a large one."""
    return LARGE_QUOTA_DAYS if gpus >= LARGE_FROM_GPUS else SMALL_QUOTA_DAYS


def learned_wait(days: Sequence[float], granted: int) -> Wait | None:
    """Return the wait that decided requests show, None below FEWEST_RECORDS of them.

    `days` holds the time from request to answer of each, refusals included; `granted` counts those that
    got all they asked for. Requests that are still open are in neither, which makes the answer early.
    """
    if len(days) < FEWEST_RECORDS:
        return None
    lasted = [max(each, SHORTEST_DAYS) for each in days]
    middle = median(lasted)
    high = max(float(np.quantile(lasted, 0.9)), middle)
    return Wait(middle, high, granted / len(lasted), len(lasted))


def order_by(need: date, wait: Wait, service_level: float, burn_in_days: int = 0) -> date:
    """Return the last day to ask: need - quantile(service level) - burn-in, in whole days.

    `wait` is in days. A started day counts.

    >>> order_by(date(2027, 1, 15), LARGE_QUOTA_DAYS, 0.9)
    datetime.date(2026, 12, 16)
    """
    # the p90 of a wait of 30 days is 30.000000000000004: not a day more
    days = math.ceil(round(wait.quantile(service_level), 9))
    return need - timedelta(days=days + burn_in_days)


def instances_within(limit: float, drawn_per_instance: float) -> int:
    """Return how many whole instances a limit allows: floor(limit / what one draws of it).

    A limit below one instance allows none; vCPUs are never divided by vCPUs per GPU.

    >>> [instances_within(quota, 192) for quota in (128, 192, 384, 1000)]
    [0, 1, 2, 5]
    """
    return max(math.floor(limit / drawn_per_instance + 1e-9), 0)


def headroom_share(limit: float, peak_use: float) -> float | None:
    """Return (limit - peak use) / limit: below 0 when use is above it, None for a limit of 0."""
    return None if limit == 0.0 else (limit - peak_use) / limit


def gap(planned_peak: float, limit: float) -> float:
    """Return how much of a planned peak the limit does not allow: max(0, planned peak - limit)."""
    return max(planned_peak - limit, 0.0)
