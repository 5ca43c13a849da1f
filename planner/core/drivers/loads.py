"""What drives a workload, as mean GPUs: GPU-hours, runs, sweeps, retraining, tokens, streams, requests.

Each driver answers `mean_gpus(hours)`, the GPUs of the plan's accelerator wanted on average over a month of
so many hours, or None where a measured rate is missing. The shape of the week comes from elsewhere
(shape.py).
"""

from dataclasses import dataclass

from planner.core.drivers.assumptions import EXPERIMENTS, RESTARTS
from planner.core.drivers.flops import Speed, Work
from planner.core.drivers.inference import (
    Nodes,
    gpu_hours_for_tokens,
    nodes_for_tokens,
    replicas_for_streams,
    shared_nodes_for_tokens,
)
from planner.core.drivers.programme import programme_gpu_hours, sweep_gpu_hours
from planner.core.drivers.queueing import servers_needed
from planner.core.drivers.training import gpu_hours
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    COUNT_FROM_1,
    SHARE_ABOVE_0,
    SHARE_BELOW_1,
    optional,
    require_fields,
    takes,
)
from planner.core.units import HOURS_PER_DAY


@dataclass(frozen=True)
class Gpus:
    """A number of GPUs, as measured or as asked for."""

    gpus: float

    def __post_init__(self) -> None:
        require_fields(self, gpus=AT_LEAST_0)

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return the GPUs themselves."""
        return self.gpus


@dataclass(frozen=True)
class GpuHours:
    """GPU-hours a month."""

    gpu_hours_per_month: float

    def __post_init__(self) -> None:
        require_fields(self, gpu_hours_per_month=AT_LEAST_0)

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return GPU-hours / hours of the month.

        >>> GpuHours(7_300.0).mean_gpus(730.0)
        10.0
        """
        return self.gpu_hours_per_month / hours_per_month


@dataclass(frozen=True)
class Runs:
    """Training or fine-tuning runs a month: work / speed, with what a programme takes beyond the final run.

    `scaling_efficiency` is the share of one GPU's speed that is left at the job's size (scaling.py): 1 where
    the speed was measured at that size. `goodput` is the share of time that makes progress (goodput.py);
    where it holds restarts already, `restarts` is 0. Fine-tuning is work too (fine_tuning.py),
    mostly with `experiments` 0; link speed comes in by `scaling.step_on(...).efficiency`.
    """

    work: Work
    speed: Speed
    runs_per_month: float
    scaling_efficiency: float = 1.0
    goodput: float = 1.0
    experiments: float = EXPERIMENTS.value
    restarts: float = RESTARTS.value

    def __post_init__(self) -> None:
        require_fields(
            self,
            runs_per_month=AT_LEAST_0,
            scaling_efficiency=SHARE_ABOVE_0,
            goodput=SHARE_ABOVE_0,
            experiments=AT_LEAST_0,
            restarts=AT_LEAST_0,
        )

    @property
    def gpu_hours_per_run(self) -> float:
        """Return the GPU-hours of one final run: F / (speed * 3600) / goodput / scaling efficiency."""
        return gpu_hours(self.work, self.speed, self.goodput) / self.scaling_efficiency

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return runs * GPU-hours per run * (1 + experiments) * (1 + restarts) / hours of the month.

        >>> from planner.core.drivers.flops import speed_from_mfu, training_work
        >>> work, speed = training_work(7e9, 140e9, "model"), speed_from_mfu(989.0, 0.35)
        >>> round(Runs(work, speed, 1.0, experiments=0.0, restarts=0.0).mean_gpus(730.0), 3)
        6.464
        """
        hours = programme_gpu_hours(self.gpu_hours_per_run, self.experiments, self.restarts)
        return self.runs_per_month * hours / hours_per_month


@dataclass(frozen=True)
class Sweeps:
    """Sweeps a month of so many trials, each a share of a full run on average."""

    sweeps_per_month: float
    trials: int
    gpu_hours_per_full_run: float
    mean_share_of_full_run: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            sweeps_per_month=AT_LEAST_0,
            trials=COUNT,
            gpu_hours_per_full_run=AT_LEAST_0,
            mean_share_of_full_run=SHARE_ABOVE_0,
        )

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return sweeps * trials * GPU-hours of a full run * share / hours of the month.

        >>> Sweeps(1.0, 73, 100.0, mean_share_of_full_run=0.5).mean_gpus(730.0)
        5.0
        """
        hours = sweep_gpu_hours(self.trials, self.gpu_hours_per_full_run, self.mean_share_of_full_run)
        return self.sweeps_per_month * hours / hours_per_month


@dataclass(frozen=True)
class Retraining:
    """A model trained again every so many days, from the start or on from its last state (a share)."""

    gpu_hours_per_full_run: float
    every_days: float
    share_of_full_run: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self, gpu_hours_per_full_run=AT_LEAST_0, every_days=ABOVE_0, share_of_full_run=SHARE_ABOVE_0
        )

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return GPU-hours of a full run * share / (24 * days between): a month's length is not in it.

        >>> Retraining(960.0, every_days=4.0).mean_gpus(730.0)
        10.0
        """
        return self.gpu_hours_per_full_run * self.share_of_full_run / (self.every_days * HOURS_PER_DAY)


@dataclass(frozen=True)
class Tokens:
    """A mean load of tokens served by nodes of `gpus_per_node` at measured rates.

    Either rates of each phase (prefill and decoding on nodes of their own), or one rate measured on the real
    mix, in output tokens; it comes first where there is output. Prompts alone take the rate of prefill.
    Rates are at the target occupancy or are divided by it here. None is not measured.
    """

    input_tokens_per_second: float
    output_tokens_per_second: float
    gpus_per_node: int
    input_tokens_per_second_per_node: float | None = None
    output_tokens_per_second_per_node: float | None = None
    mixed_output_tokens_per_second_per_node: float | None = None
    target_occupancy: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            input_tokens_per_second=AT_LEAST_0,
            output_tokens_per_second=AT_LEAST_0,
            gpus_per_node=COUNT_FROM_1,
            input_tokens_per_second_per_node=optional(ABOVE_0),
            output_tokens_per_second_per_node=optional(ABOVE_0),
            mixed_output_tokens_per_second_per_node=optional(ABOVE_0),
            target_occupancy=SHARE_ABOVE_0,
        )

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return nodes * GPUs per node / target occupancy; None where no rate was measured.

        >>> Tokens(0.0, 9_000.0, 8, mixed_output_tokens_per_second_per_node=3_000.0).mean_gpus(730.0)
        24.0
        """
        nodes = self._nodes()
        return None if nodes is None else nodes * self.gpus_per_node / self.target_occupancy

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the rates that nobody has measured and the load needs."""
        return () if self._is_mixed else self._by_phase.missing

    @property
    def _is_mixed(self) -> bool:
        return (
            self.mixed_output_tokens_per_second_per_node is not None and self.output_tokens_per_second > 0.0
        )

    @property
    def _by_phase(self) -> Nodes:
        return nodes_for_tokens(
            self.input_tokens_per_second,
            self.output_tokens_per_second,
            self.input_tokens_per_second_per_node,
            self.output_tokens_per_second_per_node,
        )

    def _nodes(self) -> float | None:
        if not self._is_mixed:
            return self._by_phase.total
        return shared_nodes_for_tokens(
            self.output_tokens_per_second, self.mixed_output_tokens_per_second_per_node
        )


@dataclass(frozen=True)
class TokenBatches:
    """Tokens a month without a deadline, served by nodes at a measured rate; None is not measured."""

    tokens_per_month: float
    gpus_per_node: int
    tokens_per_second_per_node: float | None = None
    target_occupancy: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            tokens_per_month=AT_LEAST_0,
            gpus_per_node=COUNT_FROM_1,
            tokens_per_second_per_node=optional(ABOVE_0),
            target_occupancy=SHARE_ABOVE_0,
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the rate where nobody has measured it."""
        return () if self.mean_gpus(1.0) is not None else ("tokens_per_second_per_node",)

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return tokens / (rate * 3600 * occupancy) * GPUs per node / hours of the month.

        >>> TokenBatches(26_280_000_000.0, 8, 10_000.0).mean_gpus(730.0)
        8.0
        """
        hours = gpu_hours_for_tokens(
            self.tokens_per_month, self.tokens_per_second_per_node, self.gpus_per_node, self.target_occupancy
        )
        return None if hours is None else hours / hours_per_month


@dataclass(frozen=True)
class Streams:
    """Streams in flight (Little's law: arrivals * time in the system), in slots of whole replicas."""

    streams: float
    slots_per_replica: int
    gpus_per_replica: int
    target_occupancy: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            streams=AT_LEAST_0,
            slots_per_replica=COUNT_FROM_1,
            gpus_per_replica=COUNT_FROM_1,
            target_occupancy=SHARE_ABOVE_0,
        )

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return whole replicas * GPUs of one.

        >>> Streams(200.0, 64, 4, target_occupancy=0.7).mean_gpus(730.0)
        20.0
        """
        replicas = replicas_for_streams(self.streams, self.slots_per_replica, self.target_occupancy)
        return float(replicas * self.gpus_per_replica)


@dataclass(frozen=True)
class Requests:
    """Requests that may wait only so long: Erlang C headroom over slots of whole replicas."""

    arrivals_per_second: float
    service_seconds: float
    target_wait_seconds: float
    service_level: float
    slots_per_replica: int
    gpus_per_replica: int
    max_occupancy: float = 1.0
    shrinkage: float = 0.0
    variability: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            arrivals_per_second=AT_LEAST_0,
            service_seconds=ABOVE_0,
            target_wait_seconds=AT_LEAST_0,
            service_level=SHARE_BELOW_1,
            slots_per_replica=COUNT_FROM_1,
            gpus_per_replica=COUNT_FROM_1,
            max_occupancy=SHARE_ABOVE_0,
            shrinkage=SHARE_BELOW_1,
            variability=ABOVE_0,
        )

    @takes(hours_per_month=ABOVE_0)
    def mean_gpus(self, hours_per_month: float) -> float | None:
        """Return the GPUs of the replicas that keep the promise, those out of service included.

        >>> Requests(0.5, 4.0, 1.0, 0.9, slots_per_replica=2, gpus_per_replica=1).mean_gpus(730.0)
        3.0
        """
        staffing = servers_needed(
            arrivals_per_second=self.arrivals_per_second,
            service_seconds=self.service_seconds,
            target_wait_seconds=self.target_wait_seconds,
            service_level=self.service_level,
            max_occupancy=self.max_occupancy,
            shrinkage=self.shrinkage,
            servers_at_a_time=self.slots_per_replica,
            variability=self.variability,
        )
        return float(staffing.servers_with_shrinkage // self.slots_per_replica * self.gpus_per_replica)


Load = Gpus | GpuHours | Runs | Sweeps | Retraining | Tokens | TokenBatches | Streams | Requests
