"""Activations of the five published schemes, of pipelines and of logits."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.fit.activations import (
    SCHEMES,
    attention_term,
    extra_flops_of_selective_recomputation,
    fullest_stage_bytes,
    layer_activation_bytes,
    layers_per_stage,
    logits_bytes,
    memory_saved_by_selective_recomputation,
    micro_batches_in_flight,
)

GPT3 = {"sequence": 2048, "micro_batch": 1, "hidden": 12288, "heads": 96}
quick = settings(max_examples=50, deadline=None)


def test_on_one_gpu_the_schemes_of_tensor_parallel_are_the_one_without() -> None:
    none, tensor, both, selective, full = (layer_activation_bytes(scheme, **GPT3) for scheme in SCHEMES)
    size = 2048 * 12288
    assert none == tensor == both == 114 * size
    assert selective == 34 * size
    assert full == 2 * size


def test_selective_recomputation_is_flash_attention_in_memory() -> None:
    selective = layer_activation_bytes("tensor_sequence_selective", **GPT3, tensor_parallel=8)
    flash = layer_activation_bytes("tensor_sequence", **GPT3, tensor_parallel=8, flash_attention=True)
    assert selective == flash == 34 * 2048 * 12288 / 8


def test_tensor_parallel_leaves_10_bytes_whole() -> None:
    # 10 + 24/8 + 80/8 = 23 bytes for each token and hidden unit; without scores 13
    assert layer_activation_bytes("tensor", **GPT3, tensor_parallel=8) == 23 * 2048 * 12288
    flash = layer_activation_bytes("tensor", **GPT3, tensor_parallel=8, flash_attention=True)
    assert flash == 13 * 2048 * 12288


def test_what_selective_recomputation_saves_is_the_difference_of_the_schemes() -> None:
    none = layer_activation_bytes("none", **GPT3)
    selective = layer_activation_bytes("tensor_sequence_selective", **GPT3)
    assert memory_saved_by_selective_recomputation(96, 2048, 12288) == pytest.approx(1 - selective / none)
    assert attention_term(96, 2048, 12288) == 80.0
    assert extra_flops_of_selective_recomputation(2048, 12288) == pytest.approx(1 / 36)


sizes = st.integers(1, 10_000)


@quick
@given(sizes, st.integers(1, 64), sizes, st.integers(1, 128), st.integers(1, 64), st.sampled_from(SCHEMES))
def test_more_tensor_parallel_never_keeps_more(s: int, b: int, h: int, a: int, t: int, scheme: str) -> None:
    few, many = (layer_activation_bytes(scheme, s, b, h, a, degree) for degree in (t, t + 1))
    assert many <= few * (1 + 1e-12)


@quick
@given(sizes, sizes, st.integers(1, 128), st.integers(1, 16))
def test_each_scheme_keeps_no_more_than_the_one_before(s: int, h: int, a: int, t: int) -> None:
    kept = [layer_activation_bytes(scheme, s, 1, h, a, t) for scheme in SCHEMES[:4]]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(kept))


def test_a_pipeline_keeps_all_layers_once_in_its_first_stage() -> None:
    # 80 layers in 8 stages of 10; the first has 8 micro-batches in flight: 80 layers, as without a pipeline
    assert fullest_stage_bytes(1.0, 80, 8, 32, logits=0.0) == (80.0, 0.0)
    assert fullest_stage_bytes(1.0, 80, 8, 2, logits=0.0) == (20.0, 0.0)  # two micro-batches in all
    assert fullest_stage_bytes(1.0, 80, 1, 32, logits=7.0) == (80.0, 7.0)
    assert fullest_stage_bytes(1.0, 80, 8, 32, logits=71.0) == (10.0, 71.0)  # the last stage is fuller


@quick
@given(st.integers(1, 130), st.integers(1, 20), st.integers(1, 40), st.floats(0.0, 200.0))
def test_no_way_to_place_uneven_stages_evenly_keeps_more(layers: int, p: int, m: int, logits: float) -> None:
    stages = min(p, layers)
    # floor(L/p) layers each, and the last stages one more
    placed = [layers // stages + (1 if place >= stages - layers % stages else 0) for place in range(stages)]
    kept = [min(stages - place, m) * placed[place] for place in range(stages)]
    kept[-1] += logits
    assert sum(placed) == layers
    assert max(kept) <= sum(fullest_stage_bytes(1.0, layers, stages, m, logits)) + 1e-9


def test_stages_and_micro_batches_in_flight() -> None:
    assert [layers_per_stage(126, p) for p in (1, 2, 16)] == [126, 63, 8]
    assert [micro_batches_in_flight(4, 16, stage) for stage in (1, 2, 3, 4)] == [4, 3, 2, 1]
    assert micro_batches_in_flight(4, 2) == 2


def test_logits_of_a_long_sequence_are_gigabytes() -> None:
    assert logits_bytes(8192, 1, 128_256) == 4 * 8192 * 128_256
    assert logits_bytes(8192, 1, 128_256, tensor_parallel=8) == 8192 * 128_256 / 2


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: layer_activation_bytes("all", **GPT3), "scheme is 'all'"),
        (lambda: layer_activation_bytes("none", **{**GPT3, "sequence": 0}), "sequence is 0"),
        (lambda: layer_activation_bytes("none", **GPT3, tensor_parallel=0), "tensor_parallel is 0"),
        (lambda: attention_term(96, 2048, -1), "hidden is -1"),
        (lambda: layers_per_stage(80, 2.5), "pipeline_parallel is 2.5"),
        (lambda: micro_batches_in_flight(4, 16, stage=5), "stage is 5"),
        (lambda: logits_bytes(1, 1, 0), "vocabulary is 0"),
        (lambda: fullest_stage_bytes(float("nan"), 1, 1, 1, 0.0), "layer_bytes is nan"),
    ],
)
def test_impossible_values_are_refused(call, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named}"):
        call()
