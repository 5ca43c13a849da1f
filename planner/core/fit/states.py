"""Model states of training: weights, gradients and optimizer per parameter, and how ZeRO spreads them.

All amounts are bytes; GB is 10^9 bytes, GiB is 2^30. Data-parallel degree N is the number of GPUs that share
one set of states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    AT_LEAST_1,
    COUNT_FROM_1,
    Range,
    refuse,
    require_fields,
    require_one_of,
    takes,
)

ConventionName = Literal[
    "mixed_precision_adam",
    "fp32_gradients",
    "fp32_gradients_beside_16_bit",
    "bf16_8_bit_optimizer",
    "fp32_adam",
    "16_bit_fine_tuning",
]
ZERO_STAGE = Range(0, 3, whole=True)
BYTES = Range(0.0, 1e60)  # allowed sizes may together ask for absurd memory, which then does not fit
PARAMETERS = Range(0.0, 1e13)  # ten trillion, several times the largest model known


@dataclass(frozen=True)
class StateConvention:
    """Bytes per parameter that one way of training keeps; `source` says who counts so."""

    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float
    source: str

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, weight_bytes=ABOVE_0, gradient_bytes=AT_LEAST_0, optimizer_bytes=AT_LEAST_0)

    @property
    def bytes_per_parameter(self) -> float:
        """Return the sum of the three parts."""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes


# Adam keeps momentum and variance: 8 bytes in fp32, 2 in 8 bits. Mixed precision adds fp32 weights.
CONVENTIONS: Mapping[ConventionName, StateConvention] = {
    "mixed_precision_adam": StateConvention(2, 2, 12, "Rajbhandari et al. 2020 (ZeRO)"),
    "fp32_gradients": StateConvention(2, 4, 12, "DeepSpeed, ZeRO-3 estimator"),
    "fp32_gradients_beside_16_bit": StateConvention(2, 6, 12, "DeepSpeed, ZeRO-2 estimator on one GPU"),
    "bf16_8_bit_optimizer": StateConvention(2, 2, 2, "two 8-bit moments, no fp32 copy"),
    "fp32_adam": StateConvention(4, 4, 8, "all in fp32, no copy needed"),
    "16_bit_fine_tuning": StateConvention(2, 2, 8, "Dettmers et al. 2023 (QLoRA), its comparison"),
}


@dataclass(frozen=True)
class States:
    """Bytes per GPU of the three parts of the model states."""

    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, weight_bytes=BYTES, gradient_bytes=BYTES, optimizer_bytes=BYTES)

    @property
    def total_bytes(self) -> float:
        """Return the sum of the three parts."""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes


def convention_named(name: ConventionName) -> StateConvention:
    """Return the convention of that name. Raises ValueError where there is none.

    >>> convention_named("mixed_precision_adam").bytes_per_parameter
    16
    """
    require_one_of(tuple(CONVENTIONS), convention=name)
    return CONVENTIONS[name]


@takes(parameters=PARAMETERS, stage=ZERO_STAGE, gpus=COUNT_FROM_1)
def model_states(parameters: float, convention: StateConvention, stage: int, gpus: int) -> States:
    """Return bytes per GPU with w, g, o bytes per parameter on N GPUs.

    Stage 0: (w + g + o) P; stage 1: (w + g + o/N) P; stage 2: (w + (g + o)/N) P; stage 3: (w + g + o) P / N.
    On one GPU all stages are equal. What stage 3 gathers for a moment is not in it.
    Source: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models".

    >>> model_states(7.5e9, CONVENTIONS["mixed_precision_adam"], stage=2, gpus=64).total_bytes / 1e9
    16.640625
    """
    return States(
        weight_bytes=parameters * convention.weight_bytes / (gpus if stage >= 3 else 1),
        gradient_bytes=parameters * convention.gradient_bytes / (gpus if stage >= 2 else 1),
        optimizer_bytes=parameters * convention.optimizer_bytes / (gpus if stage >= 1 else 1),
    )


@dataclass(frozen=True)
class Estimate:
    """Bytes per GPU, and of host memory per node."""

    gpu_bytes: float
    cpu_bytes: float

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, gpu_bytes=BYTES, cpu_bytes=BYTES)


Offload = Literal["none", "optimizer", "optimizer_and_parameters"]


@takes(parameters=PARAMETERS, gpus=COUNT_FROM_1, gpus_per_node=COUNT_FROM_1, buffer_factor=AT_LEAST_1)
def deepspeed_zero2(
    parameters: float,
    gpus: int,
    gpus_per_node: int,
    offload: Offload = "none",
    buffer_factor: float = 1.5,
) -> Estimate:
    """Return what DeepSpeed's estimator says of ZeRO-2 with P parameters on N GPUs.

    GPU: 4 P + 16 P / N; with the optimizer offloaded 2 P.
    Host per node: 4 P * GPUs of the node * buffer; with the optimizer offloaded P * max(4 N, 16) * buffer.
    Raises ValueError where N is not whole nodes, and for offloaded parameters, which ZeRO-2 does not know.
    Source: DeepSpeed documentation, memory.rst, whose printed "GB" are GiB.

    >>> round(deepspeed_zero2(2851e6, 8, 8).gpu_bytes / 2**30, 2)
    15.93
    """
    require_one_of(("none", "optimizer"), offload=offload)
    _nodes(gpus, gpus_per_node)
    if offload == "optimizer":
        return Estimate(2 * parameters, parameters * max(4 * gpus, 16) * buffer_factor)
    return Estimate(4 * parameters + 16 * parameters / gpus, parameters * 4 * gpus_per_node * buffer_factor)


@takes(
    parameters=PARAMETERS,
    largest_layer_parameters=PARAMETERS,
    gpus=COUNT_FROM_1,
    gpus_per_node=COUNT_FROM_1,
    buffer_factor=AT_LEAST_1,
)
def deepspeed_zero3(
    parameters: float,
    largest_layer_parameters: float,
    gpus: int,
    gpus_per_node: int,
    offload: Offload = "none",
    buffer_factor: float = 1.5,
) -> Estimate:
    """Return what DeepSpeed's estimator says of ZeRO-3, with the model built in shards (zero.Init).

    With L the parameters of the largest layer, which is gathered whole in 4 bytes each:
    none: GPU 4 L + 18 P / N, host L * 4 * GPUs of the node * buffer;
    optimizer offloaded: GPU 4 L + 2 P / N, host 16 P / nodes * buffer;
    both offloaded: GPU 4 L, host 18 P / nodes * buffer.
    Raises ValueError where N is not whole nodes or L is more than P.
    Source: DeepSpeed, estimate_zero3_model_states_mem_needs, and its documentation, memory.rst.

    >>> round(deepspeed_zero3(2851e6, 32e6, 8, 8).gpu_bytes / 2**30, 2)
    6.09
    """
    require_one_of(("none", "optimizer", "optimizer_and_parameters"), offload=offload)
    if largest_layer_parameters > parameters:
        refuse("largest_layer_parameters", largest_layer_parameters, f"at most parameters, {parameters:g}")
    nodes, gathered = _nodes(gpus, gpus_per_node), 4 * largest_layer_parameters
    if offload == "optimizer_and_parameters":
        return Estimate(gathered, 18 * parameters / nodes * buffer_factor)
    if offload == "optimizer":
        return Estimate(gathered + 2 * parameters / gpus, 16 * parameters / nodes * buffer_factor)
    return Estimate(gathered + 18 * parameters / gpus, gathered * gpus_per_node * buffer_factor)


def _nodes(gpus: int, gpus_per_node: int) -> int:
    if gpus % gpus_per_node:
        refuse("gpus", gpus, f"whole nodes of {gpus_per_node}")
    return gpus // gpus_per_node
