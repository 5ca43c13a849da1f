"""Activations: what the forward pass keeps for the backward pass, in bytes per GPU, 16-bit training.

Symbols of the formulas: s sequence length, b sequences of a micro-batch, h hidden size, a attention heads,
t tensor-parallel degree, p pipeline-parallel degree, m micro-batches of a step.
Source of the layer formulas: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large
Transformer Models", table 2.
"""

from typing import Literal

from planner.core.fit.states import BYTES
from planner.core.ranges import COUNT_FROM_1, refuse, require_one_of, takes

Scheme = Literal["none", "tensor", "tensor_sequence", "tensor_sequence_selective", "full_recompute"]
SCHEMES: tuple[Scheme, ...] = (
    "none",
    "tensor",
    "tensor_sequence",
    "tensor_sequence_selective",
    "full_recompute",
)
LOGIT_BYTES = 4  # the loss is taken in fp32


@takes(heads=COUNT_FROM_1, sequence=COUNT_FROM_1, hidden=COUNT_FROM_1)
def attention_term(heads: int, sequence: int, hidden: int) -> float:
    """Return 5 a s / h: what attention scores add to the 34 bytes per token and hidden unit of a layer.

    >>> attention_term(heads=96, sequence=2048, hidden=12288)
    80.0
    """
    return 5.0 * heads * sequence / hidden


@takes(
    sequence=COUNT_FROM_1,
    micro_batch=COUNT_FROM_1,
    hidden=COUNT_FROM_1,
    heads=COUNT_FROM_1,
    tensor_parallel=COUNT_FROM_1,
)
def layer_activation_bytes(
    scheme: Scheme,
    sequence: int,
    micro_batch: int,
    hidden: int,
    heads: int,
    tensor_parallel: int = 1,
    flash_attention: bool = False,
) -> float:
    """Return the bytes that one transformer layer keeps on one GPU.

    none: s b h (34 + 5as/h), whole on the GPU whatever t is;
    tensor: s b h (10 + 24/t + 5as/(h t));
    tensor_sequence: s b h (34 + 5as/h) / t;
    tensor_sequence_selective, attention recomputed: 34 s b h / t;
    full_recompute, only the layer's input kept: 2 s b h.
    FlashAttention never keeps the scores, so the term 5as/h is left out with it.
    Raises ValueError for an unknown scheme.

    >>> layer_activation_bytes("tensor_sequence", 2048, 1, 12288, 96, tensor_parallel=8) / 2**30
    0.333984375
    """
    require_one_of(SCHEMES, scheme=scheme)
    size = float(sequence * micro_batch * hidden)
    scores = 0.0 if flash_attention else attention_term(heads, sequence, hidden)
    per_unit: dict[Scheme, float] = {
        "none": 34.0 + scores,
        "tensor": 10.0 + 24.0 / tensor_parallel + scores / tensor_parallel,
        "tensor_sequence": (34.0 + scores) / tensor_parallel,
        "tensor_sequence_selective": 34.0 / tensor_parallel,
        "full_recompute": 2.0,
    }
    return size * per_unit[scheme]


@takes(heads=COUNT_FROM_1, sequence=COUNT_FROM_1, hidden=COUNT_FROM_1)
def memory_saved_by_selective_recomputation(heads: int, sequence: int, hidden: int) -> float:
    """Return the share of activation memory that goes when attention is recomputed: A / (34 + A), A = 5as/h.

    Against FlashAttention nothing is saved: the term is not there.

    >>> round(memory_saved_by_selective_recomputation(96, 2048, 12288), 4)
    0.7018
    """
    scores = attention_term(heads, sequence, hidden)
    return scores / (34.0 + scores)


@takes(sequence=COUNT_FROM_1, hidden=COUNT_FROM_1)
def extra_flops_of_selective_recomputation(sequence: int, hidden: int) -> float:
    """Return s / (6 h): the extra share of FLOPs for computing attention once more.

    >>> round(extra_flops_of_selective_recomputation(2048, 12288), 4)
    0.0278
    """
    return sequence / (6.0 * hidden)


@takes(layers=COUNT_FROM_1, pipeline_parallel=COUNT_FROM_1)
def layers_per_stage(layers: int, pipeline_parallel: int) -> int:
    """Return the layers of the fullest pipeline stage: ceil(layers / p).

    >>> layers_per_stage(80, 8), layers_per_stage(80, 3)
    (10, 27)
    """
    return -(-layers // pipeline_parallel)


@takes(pipeline_parallel=COUNT_FROM_1, micro_batches=COUNT_FROM_1, stage=COUNT_FROM_1)
def micro_batches_in_flight(pipeline_parallel: int, micro_batches: int, stage: int = 1) -> int:
    """Return min(p - stage + 1, m): micro-batches whose activations a stage keeps, one forward, one backward.

    Stages count from 1; the first keeps most. Raises ValueError for a stage beyond p.
    Source: Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters".

    >>> micro_batches_in_flight(8, 32), micro_batches_in_flight(8, 32, stage=8)
    (8, 1)
    """
    if stage > pipeline_parallel:
        refuse("stage", stage, f"at most pipeline_parallel, {pipeline_parallel}")
    return min(pipeline_parallel - stage + 1, micro_batches)


@takes(sequence=COUNT_FROM_1, micro_batch=COUNT_FROM_1, vocabulary=COUNT_FROM_1, tensor_parallel=COUNT_FROM_1)
def logits_bytes(sequence: int, micro_batch: int, vocabulary: int, tensor_parallel: int = 1) -> float:
    """Return 4 s b V / t: the fp32 scores of the whole vocabulary V, which tensor parallel splits.

    >>> logits_bytes(8192, 1, 128256) / 1e9
    4.202692608
    """
    return float(LOGIT_BYTES * sequence * micro_batch) * vocabulary / tensor_parallel


@takes(
    layer_bytes=BYTES,
    layers=COUNT_FROM_1,
    pipeline_parallel=COUNT_FROM_1,
    micro_batches=COUNT_FROM_1,
    logits=BYTES,
)
def fullest_stage_bytes(
    layer_bytes: float, layers: int, pipeline_parallel: int, micro_batches: int, logits: float
) -> tuple[float, float]:
    """Return (activations, logits) in bytes on the GPU of the pipeline that keeps most.

    The first stage keeps min(p, m) micro-batches of its layers and no logits, the last one and the logits;
    without a pipeline the one stage keeps both. The first stage never keeps more than all layers once: where
    stages are uneven, the early ones get fewer.

    >>> fullest_stage_bytes(1.0, layers=8, pipeline_parallel=4, micro_batches=16, logits=5.0)
    (8.0, 0.0)
    """
    last = layers_per_stage(layers, pipeline_parallel)
    first = min(layers, last * micro_batches_in_flight(pipeline_parallel, micro_batches))
    if pipeline_parallel == 1 or last * layer_bytes + logits >= first * layer_bytes:
        return last * layer_bytes, logits
    return first * layer_bytes, 0.0
