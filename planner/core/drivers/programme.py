"""Runs a month, sweeps and retraining; what a programme takes beyond its final run."""

from planner.core.drivers.assumptions import EXPERIMENTS, RESTARTS
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT, SHARE_ABOVE_0, takes
from planner.core.units import HOURS_PER_DAY, HOURS_PER_MONTH


@takes(final_run_gpu_hours=AT_LEAST_0, experiments=AT_LEAST_0, restarts=AT_LEAST_0)
def programme_gpu_hours(
    final_run_gpu_hours: float,
    experiments: float = EXPERIMENTS.value,
    restarts: float = RESTARTS.value,
) -> float:
    """Return final run * (1 + experiments) * (1 + restarts).

    `experiments` are trial runs and ablations, as a multiple of the final run; `restarts` are lost work and
    evaluation, as a share of all runs. Both defaults are assumptions (1.0 from 0.5 to 3; 0.15 from 0.05 to
    0.4). A goodput that already holds the restarts goes with restarts=0. Published GPU-hours usually cover
    the final run alone.

    >>> round(programme_gpu_hours(1000.0), 6)
    2300.0
    """
    return final_run_gpu_hours * (1.0 + experiments) * (1.0 + restarts)


@takes(gpu_hours_per_run=AT_LEAST_0, runs_per_month=AT_LEAST_0)
def runs_gpu_hours_per_month(gpu_hours_per_run: float, runs_per_month: float) -> float:
    """Return GPU-hours per run * runs a month.

    >>> runs_gpu_hours_per_month(512.0, 2.5)
    1280.0
    """
    return gpu_hours_per_run * runs_per_month


@takes(gpu_hours=AT_LEAST_0, gpu_hours_per_run=ABOVE_0)
def runs_within(gpu_hours: float, gpu_hours_per_run: float) -> float:
    """Return GPU-hours there are / GPU-hours per run: how often a reference run could be made, in parts too.

    >>> runs_within(1280.0, 512.0)
    2.5
    """
    return gpu_hours / gpu_hours_per_run


@takes(trials=COUNT, gpu_hours_per_full_run=AT_LEAST_0, mean_share_of_full_run=SHARE_ABOVE_0)
def sweep_gpu_hours(trials: int, gpu_hours_per_full_run: float, mean_share_of_full_run: float = 1.0) -> float:
    """Return trials * GPU-hours of a full run * the mean share of a full run that a trial takes.

    The share is below 1 where trials run on fewer tokens or poor ones are stopped early.

    >>> sweep_gpu_hours(40, 64.0, mean_share_of_full_run=0.25)
    640.0
    """
    return trials * gpu_hours_per_full_run * mean_share_of_full_run


@takes(gpu_hours_per_full_run=AT_LEAST_0, every_days=ABOVE_0, share_of_full_run=SHARE_ABOVE_0)
def retraining_gpu_hours_per_month(
    gpu_hours_per_full_run: float, every_days: float, share_of_full_run: float = 1.0
) -> float:
    """Return GPU-hours of a full run * share * (730 / 24) / days between retrainings.

    The share is below 1 where a model is trained on from its last state. 730 hours are a planning month.

    >>> round(retraining_gpu_hours_per_month(960.0, every_days=7.0), 3)
    4171.429
    """
    per_month = HOURS_PER_MONTH / HOURS_PER_DAY / every_days
    return gpu_hours_per_full_run * share_of_full_run * per_month
