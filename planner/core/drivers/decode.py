"""The fastest a replica can decode, from its memory bandwidth and FLOP/s. A measurement always beats it.

A decode step reads all weights and the KV cache of every sequence once, and multiplies each active parameter
by one token of every sequence. The slower of both bounds the step.
"""

from dataclasses import dataclass

from planner.core.drivers.assumptions import DECODE_BANDWIDTH_SHARE, DECODE_FLOPS_SHARE
from planner.core.drivers.flops import FLOPS_PER_PARAMETER
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT_FROM_1,
    SHARE_ABOVE_0,
    refuse,
    require_fields,
    takes,
)
from planner.core.units import BYTES_PER_GB, FLOPS_PER_TFLOP


@dataclass(frozen=True)
class Replica:
    """One copy of a model on g GPUs. Bandwidth (GB/s, not GiB/s) and dense peak are of one GPU.

    `kv_memory_bytes` is what all GPUs together have left for the KV cache. The two shares are assumptions.
    """

    gpus: int
    memory_gb_per_second: float
    dense_peak_tflops: float
    weight_bytes: float
    active_parameters: float
    kv_bytes_per_token: float
    kv_memory_bytes: float
    bandwidth_share: float = DECODE_BANDWIDTH_SHARE.value
    flops_share: float = DECODE_FLOPS_SHARE.value

    def __post_init__(self) -> None:
        require_fields(
            self,
            gpus=COUNT_FROM_1,
            memory_gb_per_second=ABOVE_0,
            dense_peak_tflops=ABOVE_0,
            weight_bytes=ABOVE_0,
            active_parameters=ABOVE_0,
            kv_bytes_per_token=ABOVE_0,
            kv_memory_bytes=AT_LEAST_0,
            bandwidth_share=SHARE_ABOVE_0,
            flops_share=SHARE_ABOVE_0,
        )


@dataclass(frozen=True)
class DecodeBound:
    """The least time of a decode step for a batch, by what bounds it."""

    batch: int
    memory_seconds: float
    arithmetic_seconds: float

    @property
    def step_seconds(self) -> float:
        """Return the longer of both."""
        return max(self.memory_seconds, self.arithmetic_seconds)

    @property
    def tokens_per_second(self) -> float:
        """Return B / t: one token per sequence and step."""
        return self.batch / self.step_seconds

    @property
    def tokens_per_second_per_stream(self) -> float:
        """Return 1 / t: what one reader sees."""
        return 1.0 / self.step_seconds

    @property
    def bound_by(self) -> str:
        """Return which of both is longer."""
        return "arithmetic" if self.arithmetic_seconds > self.memory_seconds else "memory bandwidth"


@takes(context_tokens=COUNT_FROM_1)
def largest_batch(replica: Replica, context_tokens: int) -> int:
    """Return floor(KV memory / (c * KV bytes per token)): sequences of c tokens that fit; 0 is none.

    >>> replica = Replica(1, 3350.0, 989.0, 16e9, 8e9, 131_072.0, kv_memory_bytes=60e9)
    >>> largest_batch(replica, 4096)
    111
    """
    return int(replica.kv_memory_bytes // (context_tokens * replica.kv_bytes_per_token))


@takes(batch=COUNT_FROM_1, context_tokens=COUNT_FROM_1)
def decode_bound(replica: Replica, batch: int, context_tokens: int) -> DecodeBound:
    """Return the bound on a decode step of B sequences with c tokens each.

    t >= max((weight bytes + B c KV bytes) / (g BW eta_bw), 2 N_active B / (g peak eta_f)), in seconds.
    A large batch reads all experts of a mixture: weight bytes are those of the whole model. Traffic between
    GPUs, prefill and scheduling are not in it. Raises ValueError where the batch does not fit.
    Source: the roofline model, Williams, Waterman, Patterson, CACM 52 (2009) 65.

    >>> replica = Replica(1, 3350.0, 989.0, 16e9, 8e9, 131_072.0, 60e9, bandwidth_share=0.8)
    >>> bound = decode_bound(replica, batch=64, context_tokens=4096)
    >>> round(bound.tokens_per_second), round(bound.tokens_per_second_per_stream, 1), bound.bound_by
    (3406, 53.2, 'memory bandwidth')
    """
    most = largest_batch(replica, context_tokens)
    if batch > most:
        refuse("batch", batch, f"at most {most}, the sequences of {context_tokens:,} tokens that fit")
    read_bytes = replica.weight_bytes + batch * context_tokens * replica.kv_bytes_per_token
    bytes_per_second = replica.gpus * replica.memory_gb_per_second * BYTES_PER_GB * replica.bandwidth_share
    flops = FLOPS_PER_PARAMETER * replica.active_parameters * batch
    flops_per_second = replica.gpus * replica.dense_peak_tflops * FLOPS_PER_TFLOP * replica.flops_share
    return DecodeBound(batch, read_bytes / bytes_per_second, flops / flops_per_second)
