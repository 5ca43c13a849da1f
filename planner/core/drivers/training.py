"""GPU-hours and days of a training run, and the utilization of a measured one."""

from planner.core.drivers.flops import Speed, Work
from planner.core.drivers.whole import rounded_up
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, FLOPS, SHARE_ABOVE_0, refuse, takes
from planner.core.units import FLOPS_PER_TFLOP, HOURS_PER_DAY, SECONDS_PER_HOUR


@takes(goodput=SHARE_ABOVE_0)
def gpu_hours(work: Work, speed: Speed, goodput: float = 1.0) -> float:
    """Return F / (speed * 3600) / goodput: GPU-hours that are paid for.

    `goodput` is the share of time in which the run makes progress (goodput.py). Speed is that of the whole
    run at its number of GPUs: an MFU measured there already holds the losses of scaling. Raises ValueError
    where work and speed are counted in different conventions.

    >>> from planner.core.drivers.flops import speed_from_mfu, training_work
    >>> round(gpu_hours(training_work(175e9, 300e9, "model"), speed_from_mfu(312.0, 0.35)), 0)
    801282.0
    """
    if work.convention != speed.convention:
        refuse("speed", f"counted as {speed.convention}", f"counted as the work is, as {work.convention}")
    return work.flops / (speed.tflops_per_gpu * FLOPS_PER_TFLOP * SECONDS_PER_HOUR) / goodput


@takes(gpu_hours=AT_LEAST_0, gpus=COUNT_FROM_1)
def days_on(gpu_hours: float, gpus: int) -> float:
    """Return the days that GPU-hours take on so many GPUs: GPU-hours / (GPUs * 24).

    >>> days_on(19_200.0, 8)
    100.0
    """
    return gpu_hours / (gpus * HOURS_PER_DAY)


@takes(gpu_hours=AT_LEAST_0, days=ABOVE_0, gpus_at_a_time=COUNT_FROM_1)
def gpus_to_finish_in(gpu_hours: float, days: float, gpus_at_a_time: int = 1) -> int:
    """Return the smallest number of GPUs, in whole steps, that works GPU-hours off within so many days.

    The GPU-hours are taken not to grow with the number of GPUs; scaling.py says how much they do.

    >>> gpus_to_finish_in(20_000.0, 30.0, gpus_at_a_time=8)
    32
    """
    return rounded_up(gpu_hours / (days * HOURS_PER_DAY), gpus_at_a_time)


@takes(tokens_per_second=ABOVE_0, flops_per_token=FLOPS, gpus=COUNT_FROM_1, dense_peak_tflops=ABOVE_0)
def measured_utilization(
    tokens_per_second: float, flops_per_token: float, gpus: int, dense_peak_tflops: float
) -> float:
    """Return tokens per second * FLOPs per token / (GPUs * dense peak).

    It is MFU with training_flops_per_token(..., "model") and HFU with "hardware". A peak with sparsity would
    halve it. Raises ValueError where it comes out above 1, which no machine does: the tokens are then counted
    twice, or N is not the number of active parameters. Source: Chowdhery et al. 2022 (PaLM), appendix B.

    >>> from planner.core.drivers.flops import training_flops_per_token
    >>> round(measured_utilization(238_300, training_flops_per_token(540.35e9, "model"), 6144, 275.0), 3)
    0.457
    """
    most = gpus * dense_peak_tflops * FLOPS_PER_TFLOP / flops_per_token
    if tokens_per_second > most:
        refuse("tokens_per_second", tokens_per_second, f"at most {most:,.0f}, the speed of the dense peak")
    return tokens_per_second / most
