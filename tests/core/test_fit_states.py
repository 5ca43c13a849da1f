"""Model states, adapters and the cache of keys and values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.fit import adapters, kv_cache
from planner.core.fit.states import (
    CONVENTIONS,
    StateConvention,
    States,
    convention_named,
    deepspeed_zero2,
    deepspeed_zero3,
    model_states,
)
from tests.core.fit_cases import GB, GIB

MIXED = CONVENTIONS["mixed_precision_adam"]
quick = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("mixed_precision_adam", 16),
        ("fp32_gradients", 18),
        ("fp32_gradients_beside_16_bit", 20),
        ("bf16_8_bit_optimizer", 6),
        ("fp32_adam", 16),
        ("16_bit_fine_tuning", 12),
    ],
)
def test_bytes_per_parameter_of_each_convention(name: str, total: int) -> None:
    assert convention_named(name).bytes_per_parameter == total


def test_figure_1_of_the_zero_paper_to_the_last_digit() -> None:
    sizes = [model_states(7.5e9, MIXED, stage, 64).total_bytes / GB for stage in range(4)]
    assert sizes == [120.0, 31.40625, 16.640625, 1.875]


def test_parts_of_the_states_are_spread_one_by_one() -> None:
    # P = 10, N = 5, mixed precision: weights 20, gradients 20, optimizer 120 bytes
    expected = {0: (20, 20, 120), 1: (20, 20, 24), 2: (20, 4, 24), 3: (4, 4, 24)}
    for stage, parts in expected.items():
        assert model_states(10, MIXED, stage, 5) == States(*parts)


@quick
@given(st.floats(0.0, 1e13), st.sampled_from(sorted(CONVENTIONS)), st.integers(1, 10_000))
def test_a_higher_stage_never_needs_more_and_on_one_gpu_the_same(p: float, name: str, gpus: int) -> None:
    sizes = [model_states(p, CONVENTIONS[name], stage, gpus).total_bytes for stage in range(4)]
    assert sizes[3] <= sizes[2] * (1 + 1e-12) <= sizes[1] * (1 + 1e-11) <= sizes[0] * (1 + 1e-10)
    alone = {model_states(p, CONVENTIONS[name], stage, 1).total_bytes for stage in range(4)}
    assert len(alone) == 1


@quick
@given(st.integers(0, 3), st.integers(1, 1_000), st.integers(1, 1_000))
def test_more_gpus_never_need_more_each(stage: int, gpus: int, more: int) -> None:
    few, many = (model_states(7e9, MIXED, stage, n).total_bytes for n in (gpus, gpus + more))
    assert many <= few


def test_stage_3_shares_add_up_to_one_copy() -> None:
    assert model_states(7e9, MIXED, 3, 7).total_bytes * 7 == pytest.approx(16 * 7e9)


def test_deepspeed_estimates_as_its_documentation_prints_them() -> None:
    # memory.rst: a model of 2,851M parameters, 32M in the largest layer, 8 GPUs in one node; "GB" are GiB
    second, third = (
        (lambda *a: deepspeed_zero2(2851e6, 8, 8, *a)),
        (lambda *a: deepspeed_zero3(2851e6, 32e6, 8, 8, *a)),
    )
    assert second("none").gpu_bytes / GIB == pytest.approx(15.93, abs=0.006)
    assert second("optimizer").gpu_bytes / GIB == pytest.approx(5.31, abs=0.006)
    assert second("optimizer").cpu_bytes / GIB == pytest.approx(127.45, abs=0.006)
    assert third("none").gpu_bytes / GIB == pytest.approx(6.09, abs=0.006)
    # 4 * 32e6; + 2 * 2851e6 / 8; host 18 and 16 bytes * 1.5, and 4 * 32e6 * 8 * 1.5
    assert third("optimizer_and_parameters").gpu_bytes == 128e6
    assert third("optimizer_and_parameters").cpu_bytes == pytest.approx(27 * 2851e6)
    assert third("optimizer").gpu_bytes == pytest.approx(128e6 + 712.75e6)
    assert third("optimizer").cpu_bytes == pytest.approx(24 * 2851e6)
    assert third("none").cpu_bytes == pytest.approx(1536e6)


def test_host_memory_of_zero_3_is_shared_by_the_nodes() -> None:
    one, two = (deepspeed_zero3(1e9, 1e7, n, 8, "optimizer_and_parameters").cpu_bytes for n in (8, 16))
    assert two == one / 2


def test_few_gpus_need_the_floor_of_16_bytes_on_the_host() -> None:
    assert deepspeed_zero2(1e9, 2, 2, "optimizer").cpu_bytes == 24e9
    assert deepspeed_zero2(1e9, 8, 8, "optimizer").cpu_bytes == 48e9


def test_lora_and_qlora_add_adapters_to_frozen_weights() -> None:
    # rank 8 on two 4096 x 4096 matrices of 32 layers: 32 * 2 * 8 * 8192
    assert adapters.lora_parameters(8, [(4096, 4096)] * 2, 32) == 4_194_304
    assert adapters.lora_bytes(7e9, 1e7) == 14e9 + 0.16e9
    assert adapters.qlora_bytes(7e9, 1e7) == pytest.approx(7e9 * 4.127 / 8 + 0.16e9)


def test_qlora_of_65b_leaves_room_on_48_gb_and_16_bit_tuning_does_not() -> None:
    assert adapters.quantized_weight_bytes(65e9) / GB == pytest.approx(33.53, abs=0.01)
    assert model_states(65e9, CONVENTIONS["16_bit_fine_tuning"], 0, 1).total_bytes == 780e9


@pytest.mark.parametrize(
    ("precision", "each"),
    [("fp32", 4), ("bf16", 2), ("fp16", 2), ("fp8", 1), ("int8", 1), ("fp4", 0.56), ("int4", 0.56)],
)
def test_weights_by_precision(precision: str, each: float) -> None:
    assert kv_cache.weight_bytes(1e9, precision) == each * 1e9


def test_cache_counts_keys_and_values_of_kv_heads_alone() -> None:
    # Llama 3 70B: 80 layers, 8 of 64 heads, 128 each, 2 bytes: 2 * 80 * 8 * 128 * 2
    grouped = kv_cache.kv_bytes_per_token(80, 8, 128)
    assert grouped == 327_680
    assert kv_cache.kv_bytes_per_token(80, 64, 128) == 8 * grouped
    assert kv_cache.kv_bytes_per_token(80, 8, 128, 1.0) == grouped / 2


def test_12_gib_beside_opt_13b_hold_15_7_thousand_tokens() -> None:
    assert kv_cache.token_slots(12 * GIB, 819_200) == 15_728  # 12 GB would be 14,648
    assert kv_cache.token_slots(12 * GB, 819_200) == 14_648
    assert kv_cache.sequences_that_fit(15_728, 2048) == 7


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: model_states(-1.0, MIXED, 0, 1), "parameters is -1"),
        (lambda: model_states(float("nan"), MIXED, 0, 1), "parameters is nan"),
        (lambda: model_states(1e9, MIXED, 4, 1), "stage is 4"),
        (lambda: model_states(1e9, MIXED, 1, 0), "gpus is 0"),
        (lambda: model_states(1e9, MIXED, 1, 1.5), "gpus is 1.5"),
        (lambda: convention_named("adam"), "convention is 'adam'"),
        (lambda: StateConvention(0, 2, 12, ""), "weight_bytes is 0"),
        (lambda: deepspeed_zero2(1e9, 8, 8, "optimizer_and_parameters"), "offload is"),
        (lambda: deepspeed_zero2(1e9, 12, 8), "gpus is 12; right would be whole nodes of 8"),
        (lambda: deepspeed_zero3(1e9, 2e9, 8, 8), "largest_layer_parameters is 2"),
        (lambda: deepspeed_zero3(1e9, 1e7, 8, 8, buffer_factor=0.5), "buffer_factor is 0.5"),
        (lambda: adapters.lora_parameters(0, [(1, 1)], 1), "rank is 0"),
        (lambda: adapters.lora_parameters(1, [(1, -1)], 1), "shapes is"),
        (lambda: adapters.quantized_weight_bytes(1e9, bits=0), "bits is 0"),
        (lambda: kv_cache.weight_bytes(1e9, "fp6"), "precision is 'fp6'"),
        (lambda: kv_cache.kv_bytes_per_token(0, 8, 128), "layers is 0"),
        (lambda: kv_cache.token_slots(float("inf"), 1.0), "kv_memory_bytes is inf"),
    ],
)
def test_impossible_values_are_refused(call, named: str) -> None:
    with pytest.raises(ValueError, match="^" + named.replace("(", r"\(")):
        call()
