"""Spot: cheap hours that may be taken back. A paid GPU-hour does `useful_work_factor` of work.

The factor is 1/kappa of what is paid: restarts and rework count, unpaid waiting does not.
Quotas and prices count paid GPUs; the merit order and the results count useful ones.

Symbols of the formulas: M mean time between interruptions of the job, delta time of a checkpoint, tau work
between checkpoints, R restart (detection, getting machines back, loading), lambda hazard per hour.
"""

import math
from dataclasses import dataclass

from planner.core.plan import Spot
from planner.core.units import HOURS_PER_MONTH

TOO_OFTEN = "interval and restart together are longer than the time between interruptions"


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


def beats_on_demand(
    spot_usd: float, on_demand_usd: float, paid_factor: float, on_demand_factor: float = 1.0
) -> bool:
    """Return whether p_s / p_od < kappa_od / kappa_paid, which says the same of any two prices per GPU-hour.

    >>> beats_on_demand(0.3, 1.0, paid_factor=2.39), beats_on_demand(0.5, 1.0, paid_factor=2.39)
    (True, False)
    """
    return spot_usd * paid_factor < on_demand_usd * on_demand_factor


def job_mtbf_hours(instances: float, mtbf_hours_per_instance: float) -> float:
    """Return M = 1 / (n * lambda) of a job that stops when any of its n instances does.

    Instances are taken to fail independently. Those of one zone often do not: then M lies between this and
    the time of one instance.

    >>> job_mtbf_hours(8, 2.0)
    0.25
    """
    _check_positive(instances=instances, mtbf_hours_per_instance=mtbf_hours_per_instance)
    return mtbf_hours_per_instance / instances


def young_interval_hours(checkpoint_hours: float, mtbf_hours: float) -> float:
    """Return tau = sqrt(2 * delta * M), the first-order best time from checkpoint to checkpoint.

    Source: J. W. Young, CACM 17 (1974) 530. Too long where delta is not small against M.

    >>> young_interval_hours(0.02, 1.0)
    0.2
    """
    _check_positive(checkpoint_hours=checkpoint_hours, mtbf_hours=mtbf_hours)
    return math.sqrt(2.0 * checkpoint_hours * mtbf_hours)


def daly_interval_hours(checkpoint_hours: float, mtbf_hours: float) -> float:
    """Return the best work between checkpoints, without the checkpoint itself.

    tau = sqrt(2 delta M) * (1 + sqrt(delta / (2 M)) / 3 + delta / (2 M) / 9) - delta where delta < 2 M, and M
    otherwise. Source: J. T. Daly, FGCS 22 (2006) 303.

    >>> round(daly_interval_hours(5 / 60, 24.0) * 60, 2)
    116.69
    """
    young = young_interval_hours(checkpoint_hours, mtbf_hours)
    if checkpoint_hours >= 2.0 * mtbf_hours:
        return mtbf_hours
    ratio = checkpoint_hours / (2.0 * mtbf_hours)
    return young * (1.0 + math.sqrt(ratio) / 3.0 + ratio / 9.0) - checkpoint_hours


def checkpoint_share(checkpoint_hours: float, every_hours: float) -> float:
    """Return the share of time that checkpoints take: delta / (time from checkpoint to checkpoint).

    >>> round(checkpoint_share(40 / 3600, 3.0), 6)
    0.003704
    """
    _check_positive(every_hours=every_hours)
    return checkpoint_hours / every_hours


def time_factor(
    interval_hours: float, checkpoint_hours: float, restart_hours: float, mtbf_hours: float
) -> float:
    """Return kappa, the expected time per hour of useful work when interruptions are exponential.

    kappa = M * e^(R / M) * (e^((tau + delta) / M) - 1) / tau. Interruptions may also hit checkpoints and
    restarts. An infinite M gives 1 + delta / tau. Source: Daly 2006.

    >>> round(time_factor(22.1803 / 60, 2 / 60, 6 / 60, 138 / 60), 6)
    1.244459
    """
    _check_positive(interval_hours=interval_hours, mtbf_hours=mtbf_hours)
    if math.isinf(mtbf_hours):
        return 1.0 + checkpoint_hours / interval_hours
    segment = math.expm1((interval_hours + checkpoint_hours) / mtbf_hours)
    return mtbf_hours * math.exp(restart_hours / mtbf_hours) * segment / interval_hours


def first_order_time_factor(
    interval_hours: float, checkpoint_hours: float, restart_hours: float, mtbf_hours: float
) -> float:
    """Return 1 + delta / tau + (R + tau / 2) / M: what kappa is near where all of them are small against M.

    >>> round(first_order_time_factor(1.0, 0.1, 0.5, 10.0), 9)
    1.2
    """
    return 1.0 + checkpoint_hours / interval_hours + (restart_hours + interval_hours / 2.0) / mtbf_hours


@dataclass(frozen=True)
class SpotWork:
    """What interruptions make of one job. Where `refusal` says why, the factors are NaN."""

    mtbf_hours: float
    interval_hours: float
    time_factor: float  # hours that pass per hour of useful work
    paid_factor: float  # hours that are paid per hour of useful work: without waiting for capacity
    refusal: str = ""

    @property
    def useful_work_factor(self) -> float:
        """Return the work of one paid hour, as a plan takes it: 1 / kappa_paid."""
        return 1.0 / self.paid_factor

    def usd_per_useful_gpu_hour(self, usd_per_gpu_hour: float) -> float:
        """Return p_s * kappa_paid."""
        return usd_per_gpu_hour * self.paid_factor


def spot_work(
    *,
    instances: float,
    mtbf_hours_per_instance: float,
    checkpoint_hours: float,
    restart_hours: float,
    unpaid_wait_hours: float = 0.0,
    interval_hours: float | None = None,
) -> SpotWork:
    """Return both factors of a job at Daly's interval, or at the one that is given.

    Waiting for capacity takes time and no money: it lengthens R of the time factor alone. No number is given
    where tau + R > M: the job then rarely gets from one checkpoint to the next, and the formula, which takes
    every try for a fresh one, says more than anybody knows.

    >>> work = spot_work(instances=8, mtbf_hours_per_instance=2.3, checkpoint_hours=1/30, restart_hours=0.1)
    >>> round(work.usd_per_useful_gpu_hour(0.30), 3)
    0.717
    """
    mtbf = job_mtbf_hours(instances, mtbf_hours_per_instance)
    interval = daly_interval_hours(checkpoint_hours, mtbf) if interval_hours is None else interval_hours
    waiting = restart_hours + unpaid_wait_hours
    if interval + waiting > mtbf:
        return SpotWork(mtbf, interval, math.nan, math.nan, TOO_OFTEN)
    return SpotWork(
        mtbf,
        interval,
        time_factor(interval, checkpoint_hours, waiting, mtbf),
        time_factor(interval, checkpoint_hours, restart_hours, mtbf),
    )


def lowest_hazard_per_hour(share_interrupted: float) -> float:
    """Return the least hazard that a published monthly share allows: lambda >= -ln(1 - f) / 730.

    The formula takes every machine to have run the whole month. Most spot machines live shorter, so the real
    hazard is higher, often by far: a lower bound to show, never one to plan on.

    >>> round(1 / lowest_hazard_per_hour(0.20))
    3271
    """
    if not 0.0 <= share_interrupted < 1.0:
        raise ValueError(f"a share from 0 to below 1, not {share_interrupted}")
    return -math.log1p(-share_interrupted) / HOURS_PER_MONTH


def band_hazards_per_hour(share_low: float, share_high: float | None) -> tuple[float, float | None]:
    """Return the lower bounds at both ends of a band; None for the end of the highest, which is open.

    >>> band_hazards_per_hour(0.0, None)
    (0.0, None)
    """
    high = None if share_high is None else lowest_hazard_per_hour(share_high)
    return lowest_hazard_per_hour(share_low), high


def usd_per_useful_gpu_hour_with_fallback(
    spot_share: float, spot_usd: float, paid_factor: float, on_demand_usd: float
) -> float:
    """Return a * p_s * kappa + (1 - a) * p_od, where a is the share of the useful work done on spot.

    >>> usd_per_useful_gpu_hour_with_fallback(0.75, 1.0, 1.2, 4.0)
    1.9
    """
    if not 0.0 <= spot_share <= 1.0:
        raise ValueError(f"a share from 0 to 1, not {spot_share}")
    if spot_share == 0.0:  # the factor of a job that never runs on spot may be unknown
        return on_demand_usd
    return spot_share * spot_usd * paid_factor + (1.0 - spot_share) * on_demand_usd


def _check_positive(**hours: float) -> None:
    for name, value in hours.items():
        if not value > 0.0:
            raise ValueError(f"{name} must be above 0, not {value}")
