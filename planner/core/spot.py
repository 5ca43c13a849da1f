"""Spot: cheap hours that may be taken back. A paid GPU-hour does `useful_work_factor` of work.

The factor is 1/kappa of what is paid: restarts and rework count, unpaid waiting does not.
Quotas and prices count paid GPUs; the merit order and the results count useful ones.

Symbols of the formulas: M mean time between interruptions of the job, delta time of a checkpoint, tau work
between checkpoints, R restart (detection, getting machines back, loading), lambda hazard per hour.
"""

import math
from dataclasses import dataclass

from planner.core.plan import Spot
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    AT_LEAST_1,
    SHARE,
    SHARE_ABOVE_0,
    Range,
    endless,
    optional,
    refuse,
    require_fields,
    takes,
    with_unknown,
)
from planner.core.spot_interruptions import band_hazards_per_hour, lowest_hazard_per_hour

__all__ = [
    "TOO_OFTEN",
    "SpotWork",
    "band_hazards_per_hour",
    "beats",
    "beats_on_demand",
    "checkpoint_share",
    "daly_interval_hours",
    "first_order_time_factor",
    "job_mtbf_hours",
    "lowest_hazard_per_hour",
    "spot_work",
    "time_factor",
    "usd_per_useful_gpu_hour",
    "usd_per_useful_gpu_hour_with_fallback",
    "young_interval_hours",
]
_FACTOR = with_unknown(AT_LEAST_1)  # NaN where a job is lost too often for a number
_RESULT = Range(0.0, math.inf, above=True, endless=True)
_USD = optional(AT_LEAST_0)
TOO_OFTEN = "interval and restart together are longer than the time between interruptions"


@takes(usd_per_gpu_hour=AT_LEAST_0, useful_work_factor=SHARE_ABOVE_0)
def usd_per_useful_gpu_hour(usd_per_gpu_hour: float, useful_work_factor: float) -> float:
    """Return price / factor, in US dollars per useful GPU-hour; the factor is 1 / kappa_paid.

    >>> usd_per_useful_gpu_hour(1.0, 0.8)
    1.25
    """
    return usd_per_gpu_hour / useful_work_factor


@takes(on_demand_usd_per_gpu_hour=AT_LEAST_0)
def beats(spot: Spot, on_demand_usd_per_gpu_hour: float) -> bool | None:
    """Return whether spot is cheaper per useful GPU-hour; None where its price is unknown.

    >>> beats(Spot("spot", usd_per_gpu_hour=1.0, quota_gpus=None, useful_work_factor=0.8), 2.0)
    True
    """
    if spot.usd_per_gpu_hour is None:
        return None
    useful = usd_per_useful_gpu_hour(spot.usd_per_gpu_hour, spot.useful_work_factor)
    return useful < on_demand_usd_per_gpu_hour


@takes(spot_usd=_USD, on_demand_usd=_USD, paid_factor=_FACTOR, on_demand_factor=_FACTOR)
def beats_on_demand(
    spot_usd: float | None, on_demand_usd: float | None, paid_factor: float, on_demand_factor: float = 1.0
) -> bool | None:
    """Return whether p_s / p_od < kappa_od / kappa_paid, which says the same of any two prices per GPU-hour.

    None where a price is unknown or a factor is NaN. The factors are hours paid per hour of useful work.

    >>> beats_on_demand(0.3, 1.0, paid_factor=2.39), beats_on_demand(0.5, 1.0, paid_factor=2.39)
    (True, False)
    """
    if spot_usd is None or on_demand_usd is None or math.isnan(paid_factor * on_demand_factor):
        return None
    return spot_usd * paid_factor < on_demand_usd * on_demand_factor


@takes(instances=ABOVE_0, mtbf_hours_per_instance=endless(ABOVE_0))
def job_mtbf_hours(instances: float, mtbf_hours_per_instance: float) -> float:
    """Return M = 1 / (n * lambda) of a job that stops when any of its n instances does.

    Instances are taken to fail independently. Those of one zone often do not: then M lies between this and
    the time of one instance. Infinite where machines are never lost. Source: superposition of Poisson
    processes.

    >>> job_mtbf_hours(8, 2.0)
    0.25
    """
    return mtbf_hours_per_instance / instances


@takes(checkpoint_hours=ABOVE_0, mtbf_hours=endless(ABOVE_0))
def young_interval_hours(checkpoint_hours: float, mtbf_hours: float) -> float:
    """Return tau = sqrt(2 * delta * M), the first-order best time from checkpoint to checkpoint.

    Source: J. W. Young, CACM 17 (1974) 530. Too long where delta is not small against M.

    >>> young_interval_hours(0.02, 1.0)
    0.2
    """
    return math.sqrt(2.0 * checkpoint_hours * mtbf_hours)


@takes(checkpoint_hours=ABOVE_0, mtbf_hours=endless(ABOVE_0))
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


@takes(checkpoint_hours=AT_LEAST_0, every_hours=ABOVE_0)
def checkpoint_share(checkpoint_hours: float, every_hours: float) -> float:
    """Return the share of time that checkpoints take: delta / (time from checkpoint to checkpoint).

    Raises ValueError where they take longer than the time between them.

    Source of the example: S. Bekman, Machine Learning Engineering: 40 s every 3 h (BLOOM).

    >>> round(checkpoint_share(40 / 3600, 3.0), 6)
    0.003704
    """
    if checkpoint_hours > every_hours:
        refuse("every_hours", every_hours, f"at least checkpoint_hours, {checkpoint_hours:g}")
    return checkpoint_hours / every_hours


@takes(
    interval_hours=endless(ABOVE_0),
    checkpoint_hours=AT_LEAST_0,
    restart_hours=AT_LEAST_0,
    mtbf_hours=endless(ABOVE_0),
)
def time_factor(
    interval_hours: float, checkpoint_hours: float, restart_hours: float, mtbf_hours: float
) -> float:
    """Return kappa, the expected time per hour of useful work when interruptions are exponential.

    kappa = M * e^(R / M) * (e^((tau + delta) / M) - 1) / tau. Interruptions may also hit checkpoints and
    restarts. An infinite M gives 1 + delta / tau; a factor too large for a number is infinite. Notice of an
    interruption is not counted: with enough of it for a last checkpoint kappa is lower. Raises ValueError
    where the interval is infinite and M is not. Source: J. T. Daly, FGCS 22 (2006) 303.

    >>> round(time_factor(22.1803 / 60, 2 / 60, 6 / 60, 138 / 60), 6)
    1.244459
    """
    if math.isinf(mtbf_hours):
        return 1.0 + checkpoint_hours / interval_hours
    if math.isinf(interval_hours):
        refuse("interval_hours", interval_hours, "a finite number, as mtbf_hours is finite")
    try:
        segment = math.expm1((interval_hours + checkpoint_hours) / mtbf_hours)
        factor = mtbf_hours * math.exp(restart_hours / mtbf_hours) * segment / interval_hours
    except OverflowError:
        return math.inf
    return max(factor, 1.0)  # rounding may leave it a hair below


@takes(
    interval_hours=ABOVE_0, checkpoint_hours=AT_LEAST_0, restart_hours=AT_LEAST_0, mtbf_hours=endless(ABOVE_0)
)
def first_order_time_factor(
    interval_hours: float, checkpoint_hours: float, restart_hours: float, mtbf_hours: float
) -> float:
    """Return 1 + delta / tau + (R + tau / 2) / M: what kappa is near where all of them are small against M.

    Source: the expansion of Daly's factor (2006) in 1 / M.

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

    def __post_init__(self) -> None:
        require_fields(
            self,
            mtbf_hours=_RESULT,
            interval_hours=with_unknown(_RESULT),
            time_factor=with_unknown(_RESULT),
            paid_factor=with_unknown(_RESULT),
        )

    @property
    def useful_work_factor(self) -> float:
        """Return the work of one paid hour, as a plan takes it: 1 / kappa_paid."""
        return 1.0 / self.paid_factor

    @takes(usd_per_gpu_hour=AT_LEAST_0)
    def usd_per_useful_gpu_hour(self, usd_per_gpu_hour: float) -> float:
        """Return p_s * kappa_paid.

        >>> SpotWork(10.0, 1.0, time_factor=1.3, paid_factor=1.25).usd_per_useful_gpu_hour(2.0)
        2.5
        """
        return usd_per_gpu_hour * self.paid_factor


@takes(
    instances=ABOVE_0,
    mtbf_hours_per_instance=endless(ABOVE_0),
    checkpoint_hours=AT_LEAST_0,
    restart_hours=AT_LEAST_0,
    unpaid_wait_hours=AT_LEAST_0,
    interval_hours=optional(ABOVE_0),
)
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
    every try for a fresh one, says more than anybody knows. Source: Daly 2006.

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


@takes(spot_share=SHARE, spot_usd=_USD, paid_factor=_FACTOR, on_demand_usd=_USD)
def usd_per_useful_gpu_hour_with_fallback(
    spot_share: float, spot_usd: float | None, paid_factor: float, on_demand_usd: float | None
) -> float | None:
    """Return a * p_s * kappa + (1 - a) * p_od, where a is the share of the useful work done on spot.

    None where a price that has a share of the work is unknown, or a factor of NaN says that the job is lost
    too often for a number. Prices are US dollars per paid GPU-hour.

    >>> usd_per_useful_gpu_hour_with_fallback(0.75, 1.0, 1.2, 4.0)
    1.9
    """
    if spot_share == 0.0:  # the price and factor of a job that never runs on spot may be unknown
        return on_demand_usd
    if spot_usd is None or math.isnan(paid_factor) or (on_demand_usd is None and spot_share < 1.0):
        return None
    if on_demand_usd is None:
        return spot_usd * paid_factor
    return spot_share * spot_usd * paid_factor + (1.0 - spot_share) * on_demand_usd
