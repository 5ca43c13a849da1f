"""Serving: weights by precision, and the cache of keys and values of every token in flight."""

from collections.abc import Mapping
from typing import Literal

from planner.core.fit.states import PARAMETERS
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT, COUNT_FROM_1, require_one_of, takes

Precision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "fp4", "int4"]
# 4-bit formats keep a scale per block of weights: about 0.06 byte per weight.
WEIGHT_BYTES: Mapping[Precision, float] = {
    "fp32": 4.0,
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.0,
    "int8": 1.0,
    "fp4": 0.56,
    "int4": 0.56,
}
PRECISIONS: tuple[Precision, ...] = tuple(WEIGHT_BYTES)


@takes(parameters=PARAMETERS)
def weight_bytes(parameters: float, precision: Precision) -> float:
    """Return parameters * bytes: fp32 4, bf16 and fp16 2, fp8 and int8 1, 4-bit formats 0.56 with scales.

    Every parameter counts, also those of experts that a token does not visit. Raises ValueError for an
    unknown precision.

    >>> weight_bytes(70e9, "bf16") / 1e9
    140.0
    """
    require_one_of(PRECISIONS, precision=precision)
    return parameters * WEIGHT_BYTES[precision]


@takes(layers=COUNT_FROM_1, kv_heads=COUNT_FROM_1, head_dim=COUNT_FROM_1, value_bytes=ABOVE_0)
def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, value_bytes: float = 2.0) -> float:
    """Return 2 * layers * KV heads * head dimension * bytes: the 2 is for keys and values.

    With grouped-query attention KV heads are fewer than heads: taking all heads is wrong by their ratio.
    Source: Kwon et al. 2023 (PagedAttention).

    >>> kv_bytes_per_token(40, 40, 128), kv_bytes_per_token(80, 8, 128)
    (819200.0, 327680.0)
    """
    return 2.0 * layers * kv_heads * head_dim * value_bytes


@takes(bytes_per_token=ABOVE_0, tokens=AT_LEAST_0)
def kv_bytes(bytes_per_token: float, tokens: float) -> float:
    """Return bytes per token * tokens in flight, of one sequence or of all together.

    >>> kv_bytes(819_200.0, 2048) / 2**30
    1.5625
    """
    return bytes_per_token * tokens


@takes(kv_memory_bytes=AT_LEAST_0, bytes_per_token=ABOVE_0)
def token_slots(kv_memory_bytes: float, bytes_per_token: float) -> int:
    """Return the whole tokens that the memory left for the cache holds: floor(memory / bytes per token).

    >>> token_slots(12 * 2**30, 819_200.0)
    15728
    """
    return int(kv_memory_bytes // bytes_per_token)


@takes(slots=COUNT, context_tokens=COUNT_FROM_1)
def sequences_that_fit(slots: int, context_tokens: int) -> int:
    """Return floor(slots / context): sequences in flight when each fills its whole context.

    >>> sequences_that_fit(15_728, 2048)
    7
    """
    return slots // context_tokens
