"""What each GPU must hold, term by term, for a model, a job and a layout."""

from dataclasses import dataclass

from planner.core.fit.activations import (
    LOGIT_BYTES,
    Scheme,
    fullest_stage_bytes,
    layer_activation_bytes,
    layers_per_stage,
    logits_bytes,
)
from planner.core.fit.adapters import quantized_weight_bytes
from planner.core.fit.jobs import Job, ModelShape, Serving, Training
from planner.core.fit.kv_cache import WEIGHT_BYTES, kv_bytes_per_token, weight_bytes
from planner.core.fit.layouts import Layout
from planner.core.fit.states import BYTES, CONVENTIONS, model_states
from planner.core.ranges import AT_LEAST_0, refuse, require_fields, takes
from planner.core.units import BYTES_PER_GIB

FP32_TIMES_16_BIT = (
    2.0  # the activation formulas are for 16 bits; masks stay one byte, so this is an upper end
)


@dataclass(frozen=True)
class Term:
    """One part of what a GPU holds."""

    name: str
    size_bytes: float

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, size_bytes=BYTES)


@dataclass(frozen=True)
class Need:
    """The terms of one GPU, in a fixed order."""

    terms: tuple[Term, ...]

    @property
    def total_bytes(self) -> float:
        """Return the sum of the terms."""
        return sum(term.size_bytes for term in self.terms)

    @property
    def total_gib(self) -> float:
        """Return the sum in GiB."""
        return self.total_bytes / BYTES_PER_GIB

    @property
    def largest(self) -> Term:
        """Return the largest term; of equal ones the first."""
        return max(self.terms, key=lambda term: term.size_bytes)


def need(model: ModelShape, job: Job, layout: Layout) -> Need:
    """Return the bytes that the fullest GPU holds: states / shards + activations, or weights + KV cache.

    Context, kernels and communication buffers are not in it: they come off the memory of the GPU.
    Raises ValueError where serving is given a layout with data parallel, which it does not have.

    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> served = need(shape, Serving(context_tokens=8192, concurrency=16), Layout(tensor=8))
    >>> {term.name: round(term.size_bytes / 1e9, 2) for term in served.terms}
    {'weights': 17.5, 'KV cache': 5.37, 'logits': 0.0}
    """
    if isinstance(job, Serving):
        return _serving(model, job, layout)
    return Need((*_states(model, job, layout), *_activations(model, job, layout)))


def _serving(model: ModelShape, job: Serving, layout: Layout) -> Need:
    if layout.data > 1:
        refuse("layout", layout.text(), "tensor and pipeline parallel alone: each replica is sized by itself")
    weights = weight_bytes(model.parameters, job.precision) * piece_share(model, layout)
    each = serving_sequence_bytes(model, job, layout)
    return Need(
        (
            Term("weights", weights),
            Term("KV cache", each.cache * job.concurrency),
            Term("logits", each.logits * job.concurrency),
        )
    )


def piece_share(model: ModelShape, layout: Layout) -> float:
    """Return the share of the parameters in the fullest piece: ceil(layers / p) / layers / t.

    Embeddings count as if they lay evenly in the layers.

    >>> shape = ModelShape("405B", 405e9, 126, 16384, 128, 8, 128, 128256)
    >>> round(piece_share(shape, Layout(tensor=8, pipeline=16)), 6)  # 8 of 126 layers
    0.007937
    """
    return layers_per_stage(model.layers, layout.pipeline) / model.layers / layout.tensor


@dataclass(frozen=True)
class SequenceBytes:
    """What one sequence in flight takes on one GPU."""

    cache: float
    logits: float

    def __post_init__(self) -> None:
        """Refuse impossible bytes."""
        require_fields(self, cache=BYTES, logits=BYTES)


def serving_sequence_bytes(model: ModelShape, job: Serving, layout: Layout) -> SequenceBytes:
    """Return bytes per GPU of one sequence: its keys and values, and the logits of its next token.

    More tensor-parallel GPUs than KV heads hold copies of them: a GPU has ceil(KV heads / t) of them.

    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> serving_sequence_bytes(shape, Serving(context_tokens=1), Layout(tensor=8)).cache
    40960.0
    """
    heads = -(-model.kv_heads // layout.tensor)
    layers = layers_per_stage(model.layers, layout.pipeline)
    per_token = kv_bytes_per_token(layers, heads, model.head_dim, WEIGHT_BYTES[job.kv_precision])
    return SequenceBytes(
        cache=per_token * job.context_tokens, logits=LOGIT_BYTES * model.vocabulary / layout.tensor
    )


@takes(usable_bytes=AT_LEAST_0)
def most_sequences(usable_bytes: float, model: ModelShape, job: Serving, layout: Layout) -> int:
    """Return how many sequences of the job's context fit beside the weights: floor(rest / bytes of one).

    0 where the weights leave nothing.

    >>> shape = ModelShape("70B", 70e9, 80, 8192, 64, 8, 128, 128256)
    >>> most_sequences(66e9, shape, Serving(context_tokens=8192), Layout(tensor=8))
    144
    """
    weights = weight_bytes(model.parameters, job.precision) * piece_share(model, layout)
    each = serving_sequence_bytes(model, job, layout)
    return int(max(usable_bytes - weights, 0.0) // (each.cache + each.logits))


def _states(model: ModelShape, job: Training, layout: Layout) -> tuple[Term, ...]:
    share = piece_share(model, layout)
    trained = model.parameters if job.method == "full" else job.adapter_parameters
    states = model_states(trained * share, CONVENTIONS[job.convention], layout.zero_stage, layout.data)
    if job.method != "full":
        shards = layout.data if layout.zero_stage == 3 else 1
        return (
            Term("frozen weights", _frozen_bytes(model, job) * share / shards),
            Term("adapter states", states.total_bytes),
        )
    return (
        Term("weights", states.weight_bytes),
        Term("gradients", states.gradient_bytes),
        Term("optimizer", states.optimizer_bytes),
    )


def _frozen_bytes(model: ModelShape, job: Training) -> float:
    if job.method == "qlora":
        return quantized_weight_bytes(model.parameters)
    return weight_bytes(model.parameters, job.precision)


def _activations(model: ModelShape, job: Training, layout: Layout) -> tuple[Term, ...]:
    layer = layer_activation_bytes(
        _scheme(job, layout.tensor),
        job.sequence,
        job.micro_batch,
        model.hidden,
        model.heads,
        layout.tensor,
        flash_attention=job.flash_attention or job.recomputation == "selective",
    )
    layer *= FP32_TIMES_16_BIT if job.precision == "fp32" else 1.0
    logits = logits_bytes(job.sequence, job.micro_batch, model.vocabulary, layout.tensor)
    kept, scores = fullest_stage_bytes(layer, model.layers, layout.pipeline, job.micro_batches, logits)
    return (Term("activations", kept), Term("logits", scores))


def _scheme(job: Training, tensor: int) -> Scheme:
    """Return the published scheme; on one GPU both tensor schemes are the one without parallelism.

    Attention recomputed without sequence parallel is the scheme "tensor" without the scores.
    """
    if job.recomputation == "full":
        return "full_recompute"
    if tensor > 1 and not job.sequence_parallel:
        return "tensor"
    return "tensor_sequence_selective" if job.recomputation == "selective" else "tensor_sequence"
