"""Training work and training speed, each with the convention it is counted in.

A forward pass takes 2 FLOPs (a multiplication and an addition) per parameter and token, a backward pass
twice that: 6ND is what the model needs. Where activations are computed again to save memory, the hardware
does up to one more forward pass: 8ND. Speeds are quoted either way. 6ND at a hardware speed promises a run
that is a third too fast, so work and speed carry their convention and training.gpu_hours() refuses a mix.

Peaks are dense. Data sheets often print the peak with sparsity, which is twice the dense one (H100 BF16: 989
dense, 1,979 with sparsity); training does not reach it.
"""

from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT_FROM_1,
    MOST_FLOPS,
    SHARE,
    SHARE_ABOVE_0,
    Range,
    require_fields,
    require_one_of,
    takes,
)
from planner.core.units import FLOPS_PER_PETAFLOP, SECONDS_PER_DAY

Convention = Literal["model", "hardware"]
CONVENTIONS: tuple[Convention, ...] = ("model", "hardware")
FLOPS_FROM_0 = Range(0.0, MOST_FLOPS)

FLOPS_PER_PARAMETER = 2.0
# attention scores and their use, per layer, width and position looked at: 2 FLOPs each
FLOPS_PER_ATTENTION_ENTRY = 4.0
# in forward passes: one forward and a backward, which costs two
MODEL_PASSES = 3.0


@dataclass(frozen=True)
class Work:
    """FLOPs of a run: `model` without recomputation, `hardware` with it."""

    flops: float
    convention: Convention

    def __post_init__(self) -> None:
        require_fields(self, flops=FLOPS_FROM_0)
        require_one_of(CONVENTIONS, convention=self.convention)


@dataclass(frozen=True)
class Speed:
    """TFLOP/s that one GPU achieves: `model` counts no recomputation, `hardware` counts all it executes."""

    tflops_per_gpu: float
    convention: Convention

    def __post_init__(self) -> None:
        require_fields(self, tflops_per_gpu=ABOVE_0)
        require_one_of(CONVENTIONS, convention=self.convention)


@dataclass(frozen=True)
class Attention:
    """The shape that PaLM's attention term takes: L layers, H heads of size Q, sequences of T tokens."""

    layers: int
    heads: int
    head_dim: int
    sequence: int

    def __post_init__(self) -> None:
        require_fields(
            self, layers=COUNT_FROM_1, heads=COUNT_FROM_1, head_dim=COUNT_FROM_1, sequence=COUNT_FROM_1
        )


@takes(parameters=ABOVE_0)
def forward_flops_per_token(parameters: float, attention: Attention | None = None) -> float:
    """Return 2N, or 2N + 4LHQT with attention: the FLOPs of one token on its way through the model.

    N are the parameters active per token (of a mixture of experts, those of the experts in use). The term
    counts attention to all T positions, as PaLM does, although a causal mask hides half of them.
    Source: Kaplan et al. 2020; Chowdhery et al. 2022 (PaLM), appendix B.

    >>> forward_flops_per_token(7e9)
    14000000000.0
    """
    seen = attention
    entries = seen.layers * seen.heads * seen.head_dim * seen.sequence if seen is not None else 0
    return FLOPS_PER_PARAMETER * parameters + FLOPS_PER_ATTENTION_ENTRY * entries


@takes(parameters=ABOVE_0, recomputed_share=SHARE)
def training_flops_per_token(
    parameters: float,
    convention: Convention,
    attention: Attention | None = None,
    recomputed_share: float = 1.0,
) -> float:
    """Return 6N for the model and 8N for the hardware; with attention 6N + 12LHQT and 8N + 16LHQT.

    `recomputed_share` is the share of the forward pass that runs a second time; the hardware's count alone
    takes it: (6 + 2 * share) N. Source: Chowdhery et al. 2022; Narayanan et al. 2021 (Megatron-LM).

    >>> training_flops_per_token(1e9, "model"), training_flops_per_token(1e9, "hardware")
    (6000000000.0, 8000000000.0)
    """
    require_one_of(CONVENTIONS, convention=convention)
    again = recomputed_share if convention == "hardware" else 0.0
    return forward_flops_per_token(parameters, attention) * (MODEL_PASSES + again)


@takes(parameters=ABOVE_0, tokens=AT_LEAST_0, recomputed_share=SHARE)
def training_work(
    parameters: float,
    tokens: float,
    convention: Convention,
    attention: Attention | None = None,
    recomputed_share: float = 1.0,
) -> Work:
    """Return F = 6ND (model) or 8ND (hardware, all activations computed again) of a run over D tokens.

    Source: Brown et al. 2020 (GPT-3) for 6ND; Narayanan et al. 2021 for 8ND.

    >>> training_work(175e9, 300e9, "model")
    Work(flops=3.15e+23, convention='model')
    """
    per_token = training_flops_per_token(parameters, convention, attention, recomputed_share)
    return Work(per_token * tokens, convention)


@takes(sparse_peak_tflops=ABOVE_0)
def dense_peak_tflops(sparse_peak_tflops: float) -> float:
    """Return half of a peak that a data sheet prints with sparsity (2 of 4 weights zero).

    >>> dense_peak_tflops(3958.0)
    1979.0
    """
    return sparse_peak_tflops / 2.0


@takes(dense_peak_tflops=ABOVE_0, mfu=SHARE_ABOVE_0)
def speed_from_mfu(dense_peak_tflops: float, mfu: float) -> Speed:
    """Return peak * MFU, a speed of the model's convention. The peak is the dense one of the data type.

    >>> speed_from_mfu(1000.0, 0.4)
    Speed(tflops_per_gpu=400.0, convention='model')
    """
    return Speed(dense_peak_tflops * mfu, "model")


@takes(dense_peak_tflops=ABOVE_0, hfu=SHARE_ABOVE_0)
def speed_from_hfu(dense_peak_tflops: float, hfu: float) -> Speed:
    """Return peak * HFU, a speed of the hardware's convention. The peak is the dense one of the data type.

    >>> speed_from_hfu(1000.0, 0.5)
    Speed(tflops_per_gpu=500.0, convention='hardware')
    """
    return Speed(dense_peak_tflops * hfu, "hardware")


def petaflop_s_days(work: Work) -> float:
    """Return the days a machine of one PetaFLOP/s would take: F / (1e15 * 86,400).

    >>> round(petaflop_s_days(training_work(175e9, 300e9, "model")), 1)
    3645.8
    """
    return work.flops / (FLOPS_PER_PETAFLOP * SECONDS_PER_DAY)
