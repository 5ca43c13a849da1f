"""How much of its speed a job keeps on many GPUs."""

from dataclasses import dataclass

from planner.core.drivers.assumptions import ACHIEVED_LINK_SHARE
from planner.core.drivers.links import achieved_gb_per_second, slowest_gb_per_second
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, SHARE, SHARE_ABOVE_0, refuse, takes
from planner.core.units import BYTES_PER_GB


@takes(parallel_share=SHARE, processors=COUNT_FROM_1)
def amdahl_speedup(parallel_share: float, processors: int) -> float:
    """Return 1 / ((1 - f) + f / n), for work of which a share f runs in parallel.

    The work is fixed; with more work per GPU scaling is better. Source: G. M. Amdahl, AFIPS 30 (1967) 483.

    >>> amdahl_speedup(0.5, 4)
    1.6
    """
    return 1.0 / ((1.0 - parallel_share) + parallel_share / processors)


@takes(reduced_bytes=AT_LEAST_0, ranks=COUNT_FROM_1, link_gb_per_second=ABOVE_0)
def ring_all_reduce_seconds(reduced_bytes: float, ranks: int, link_gb_per_second: float) -> float:
    """Return 2 (n - 1) / n * S / B: the time to sum S bytes over n ranks. One rank takes none.

    B is the bus bandwidth per GPU in one direction, in GB/s of 10^9 bytes: links.py has specifications, of
    which 80 to 88 % are achieved. Latency is left out, which counts for small S and many ranks.
    Source: NVIDIA nccl-tests, PERFORMANCE.md; Patarasuk and Yuan 2009.

    >>> ring_all_reduce_seconds(90e9, 2, 450.0)
    0.2
    """
    return 2.0 * (ranks - 1) / ranks * reduced_bytes / (link_gb_per_second * BYTES_PER_GB)


@dataclass(frozen=True)
class Step:
    """One step of data-parallel training, in seconds; `hidden_seconds` of traffic pass beside it."""

    compute_seconds: float
    traffic_seconds: float
    hidden_seconds: float

    @property
    def step_seconds(self) -> float:
        """Return t_compute + max(0, t_comm - t_overlap)."""
        return self.compute_seconds + max(0.0, self.traffic_seconds - self.hidden_seconds)

    @property
    def efficiency(self) -> float:
        """Return t_compute / t: the share of the speed of one GPU that each keeps."""
        return self.compute_seconds / self.step_seconds


@takes(compute_seconds=ABOVE_0, traffic_seconds=AT_LEAST_0, hidden_seconds=AT_LEAST_0)
def data_parallel_step(compute_seconds: float, traffic_seconds: float, hidden_seconds: float = 0.0) -> Step:
    """Return the step; without overlap (hidden 0) it is the sum of computation and traffic.

    Gradients can travel while the backward pass runs, about two thirds of the computation. Raises ValueError
    where more is hidden than there is computation.

    >>> data_parallel_step(1.5, 0.5).efficiency, data_parallel_step(1.5, 0.5, hidden_seconds=1.0).efficiency
    (0.75, 1.0)
    """
    if hidden_seconds > compute_seconds:
        refuse("hidden_seconds", hidden_seconds, f"at most compute_seconds, {compute_seconds:g}")
    return Step(compute_seconds, traffic_seconds, hidden_seconds)


@takes(
    gpus=COUNT_FROM_1,
    gpus_per_node=COUNT_FROM_1,
    reduced_bytes=AT_LEAST_0,
    compute_seconds=ABOVE_0,
    within_gb_per_second=ABOVE_0,
    across_gb_per_second=ABOVE_0,
    hidden_seconds=AT_LEAST_0,
    achieved_share=SHARE_ABOVE_0,
)
def step_on(
    gpus: int,
    gpus_per_node: int,
    *,
    reduced_bytes: float,
    compute_seconds: float,
    within_gb_per_second: float,
    across_gb_per_second: float,
    hidden_seconds: float = 0.0,
    achieved_share: float = ACHIEVED_LINK_SHARE.value,
) -> Step:
    """Return the step of a job on so many GPUs: a ring over its slowest link as achieved.

    `reduced_bytes` are the gradients of one GPU (2 bytes per parameter in bf16), `compute_seconds` its own
    work, the same on any number of GPUs. The GPU-hours of one GPU's speed / efficiency are those of the job.

    >>> step_on(
    ...     16, 8, reduced_bytes=14e9, compute_seconds=1.2,
    ...     within_gb_per_second=450.0, across_gb_per_second=50.0, achieved_share=1.0,
    ... ).traffic_seconds
    0.525
    """
    slowest = slowest_gb_per_second(gpus, gpus_per_node, within_gb_per_second, across_gb_per_second)
    achieved = achieved_gb_per_second(slowest, achieved_share)
    traffic = ring_all_reduce_seconds(reduced_bytes, gpus, achieved)
    return data_parallel_step(compute_seconds, traffic, hidden_seconds)
