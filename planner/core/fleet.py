"""Failures, availability and spare servers. Failures are taken as independent; real ones cluster.

Sources of the rates: Kokolis and others, HPCA 2025 (6.50 and 2.34 failures per 1,000 node-days of two A100
clusters); The Llama 3 Herd of Models, 2024, section 3.3.4.
"""

import math

from scipy.special import pdtr, pdtrik

from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT, SHARE_BELOW_1, Range, takes
from planner.core.units import HOURS_PER_DAY

NODES = Range(1e-3)  # a mean over time may be a fraction
DAYS = Range(1e-6)
FAILURES_PER_NODE_DAY = Range(1e-12)
FAILURES_PER_DAY = Range(0.0, 10_000.0)
DAYS_TO_REPLACE = Range(0.0, 1_000.0)


@takes(failures=AT_LEAST_0, nodes=NODES, days=DAYS)
def failures_per_node_day(failures: float, nodes: float, days: float) -> float:
    """Return failures / (nodes * days): the failure rate of one node and day.

    Source of the example: Llama 3, 419 unexpected interruptions of 2,048 nodes in 54 days.

    >>> round(1000 * failures_per_node_day(419, 2048, 54), 4)
    3.7887
    """
    return failures / (nodes * days)


@takes(nodes=NODES, failures_per_node_day=FAILURES_PER_NODE_DAY)
def job_mttf_hours(nodes: float, failures_per_node_day: float) -> float:
    """Return 24 / (N * r): mean hours to the failure of a job on N nodes.

    For large jobs: the source measured 7.9 h at 1,024 GPUs, where the rule says 28.8 h. Source: Kokolis and
    others, HPCA 2025.

    >>> round(job_mttf_hours(2048, 0.0065), 2)
    1.8
    """
    return HOURS_PER_DAY / (nodes * failures_per_node_day)


@takes(days=ABOVE_0, failures=ABOVE_0)
def mtbf_hours(days: float, failures: float) -> float:
    """Return days * 24 / failures: the mean hours between observed failures.

    >>> round(mtbf_hours(54, 419), 4)
    3.0931
    """
    return days * HOURS_PER_DAY / failures


@takes(mttf_hours=ABOVE_0, mttr_hours=AT_LEAST_0)
def availability(mttf_hours: float, mttr_hours: float) -> float:
    """Return MTTF / (MTTF + MTTR) of one node: the share of time in which it works. A textbook identity.

    >>> availability(97.0, 3.0)
    0.97
    """
    return mttf_hours / (mttf_hours + mttr_hours)


@takes(spares=COUNT, mean_in_repair=AT_LEAST_0)
def probability_no_shortage(spares: int, mean_in_repair: float) -> float:
    """Return P(X <= s) for X ~ Poisson(mean nodes in repair): base stock, any distribution of repair times.

    Source: Palm's theorem (1938). Understates bad weeks, in which failures cluster.

    >>> round(probability_no_shortage(12, 6.0), 5)
    0.99117
    """
    return float(pdtr(spares, mean_in_repair))


@takes(failures_per_day=FAILURES_PER_DAY, days_to_replace=DAYS_TO_REPLACE, service_level=SHARE_BELOW_1)
def spares_needed(failures_per_day: float, days_to_replace: float, service_level: float) -> int:
    """Return the smallest stock s with P(X <= s) >= service level; the mean is failures * days to replace.

    The pool of 12 is what the OPT-175B logbook kept for about two machines lost a day.

    >>> spares_needed(2.0, 3.0, 0.99)
    12
    """
    mean = failures_per_day * days_to_replace
    if mean == 0.0 or probability_no_shortage(0, mean) >= service_level:
        return 0
    # the inverse is a real number near the answer: the whole number that is enough is settled below
    spares = max(math.ceil(pdtrik(service_level, mean)) - 1, 0)
    while probability_no_shortage(spares, mean) < service_level:
        spares += 1
    return spares
