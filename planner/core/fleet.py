"""Failures, availability and spare servers. Failures are taken as independent; real ones cluster."""

import math

from planner.core.units import HOURS_PER_DAY


def failures_per_node_day(failures: float, nodes: float, days: float) -> float:
    """Return the failure rate of one node and day."""
    return failures / (nodes * days)


def job_mttf_hours(nodes: float, failures_per_node_day: float) -> float:
    """Return 24 / (N * r): mean hours to the failure of a job on N nodes. For large jobs."""
    return HOURS_PER_DAY / (nodes * failures_per_node_day)


def mtbf_hours(days: float, failures: float) -> float:
    """Return the mean hours between observed failures."""
    return days * HOURS_PER_DAY / failures


def availability(mttf_hours: float, mttr_hours: float) -> float:
    """Return MTTF / (MTTF + MTTR) of one node.

    >>> availability(97.0, 3.0)
    0.97
    """
    return mttf_hours / (mttf_hours + mttr_hours)


def probability_no_shortage(spares: int, mean_in_repair: float) -> float:
    """Return P(X <= s) for X ~ Poisson(mean nodes in repair)."""
    term, total = math.exp(-mean_in_repair), 0.0
    for count in range(spares + 1):
        total += term
        term *= mean_in_repair / (count + 1)
    return total


def spares_needed(failures_per_day: float, days_to_replace: float, service_level: float) -> int:
    """Return the smallest stock s with P(X <= s) >= service level; the mean is failures * days to replace.

    >>> spares_needed(2.0, 3.0, 0.99)
    12
    """
    if not 0.0 <= service_level < 1.0:
        raise ValueError(f"service_level is {service_level}; right would be a share from 0 to below 1")
    spares, mean = 0, failures_per_day * days_to_replace
    while probability_no_shortage(spares, mean) < service_level:
        spares += 1
    return spares
