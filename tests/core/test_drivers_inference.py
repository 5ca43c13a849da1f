"""Nodes, streams, replicas and the fastest a replica can decode; peaks and means."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from planner.core.drivers.decode import Replica, decode_bound, largest_batch
from planner.core.drivers.inference import (
    gpu_hours_for_tokens,
    in_flight,
    nodes_for_tokens,
    replicas_for_streams,
    shared_nodes_for_tokens,
    streams_in_flight,
)
from planner.core.drivers.peak import diversity_factor, peak_to_average, required_capacity
from planner.core.drivers.whole import rounded_up

QUICK = settings(max_examples=50, deadline=None)
# Llama 3 70B in bf16 on 4 H100 of 80 GB: 327,680 bytes of KV cache per token
LLAMA_70B = Replica(
    gpus=4,
    memory_gb_per_second=3350.0,
    dense_peak_tflops=989.0,
    weight_bytes=140e9,
    active_parameters=70e9,
    kv_bytes_per_token=327_680.0,
    kv_memory_bytes=140e9,
)


def test_each_phase_is_rounded_up_by_itself() -> None:
    nodes = nodes_for_tokens(1_500.0, 1_500.0, 1_000.0, 1_000.0)
    assert (nodes.prefill, nodes.decode, nodes.total, nodes.whole) == (1.5, 1.5, 3.0, 4)


def test_a_rate_that_nobody_measured_leaves_the_sum_unknown_and_is_named() -> None:
    nodes = nodes_for_tokens(1_500.0, 1_500.0, 1_000.0, None)
    assert (nodes.prefill, nodes.decode, nodes.total, nodes.whole) == (1.5, None, None, None)
    assert nodes.missing == ("output_tokens_per_second_per_node",)
    neither = nodes_for_tokens(1_500.0, 1_500.0, None, None)
    assert neither.missing == ("input_tokens_per_second_per_node", "output_tokens_per_second_per_node")
    assert shared_nodes_for_tokens(100.0, None) is None
    assert gpu_hours_for_tokens(100.0, None, 8) is None


def test_no_load_takes_no_nodes_even_at_an_unknown_rate() -> None:
    nodes = nodes_for_tokens(0.0, 100.0, None, 100.0)
    assert (nodes.total, nodes.missing) == (1.0, ())
    assert shared_nodes_for_tokens(0.0, None) == 0.0


def test_the_peak_of_deepseeks_day_from_its_mean() -> None:
    """Inference system overview 2025-02-28: 226.75 nodes on average, 278 at peak."""
    assert required_capacity(226.75, 278 / 226.75, 1.0) == pytest.approx(278.0)
    assert required_capacity(226.75, 278 / 226.75, 0.7) == pytest.approx(278.0 / 0.7)


def test_batch_tokens_take_gpu_hours_by_rate_and_occupancy() -> None:
    """1e9 tokens at 10,000 a second are 27.78 node-hours, 222.2 GPU-hours on nodes of 8."""
    assert gpu_hours_for_tokens(1e9, 10_000.0, 8) == pytest.approx(1e9 / 10_000 / 3600 * 8)
    assert gpu_hours_for_tokens(1e9, 10_000.0, 8, occupancy=0.85) == pytest.approx(222.2222 / 0.85, rel=1e-6)


@QUICK
@given(st.integers(1, 40), st.floats(0.1, 50.0), st.integers(0, 2**32 - 1))
def test_littles_law_holds_for_any_arrivals_and_times(requests: int, longest: float, seed: int) -> None:
    """Counted over a window that all requests begin and end in, L = lambda W is an identity."""
    random = np.random.default_rng(seed)
    begin = random.uniform(0.0, 100.0, requests)
    stay = random.uniform(0.01, longest, requests)
    window = float((begin + stay).max())
    moments = np.sort(np.concatenate([[0.0, window], begin, begin + stay]))
    middle = (moments[1:] + moments[:-1]) / 2.0
    present = ((begin[:, None] <= middle) & (middle < (begin + stay)[:, None])).sum(axis=0)
    mean_present = float((present * np.diff(moments)).sum()) / window
    assert in_flight(requests / window, float(stay.mean())) == pytest.approx(mean_present)


def test_streams_are_the_same_law_in_tokens() -> None:
    """10 answers a second of 400 tokens at 50 tokens a second last 8 s: 80 in flight."""
    assert streams_in_flight(10 * 400.0, 50.0) == in_flight(10.0, 400 / 50) == 80.0


@pytest.mark.parametrize(
    ("streams", "slots", "occupancy", "replicas"),
    [(80.0, 16, 1.0, 5), (81.0, 16, 1.0, 6), (80.0, 16, 0.7, 8), (0.0, 16, 0.7, 0), (8.4, 4, 0.7, 3)],
)
def test_replicas_that_hold_the_streams(streams: float, slots: int, occupancy: float, replicas: int) -> None:
    assert replicas_for_streams(streams, slots, occupancy) == replicas


def test_a_small_batch_waits_for_the_memory() -> None:
    """One sequence reads 140 GB of weights and 4,096 * 327,680 bytes at 0.7 * 4 * 3,350 GB/s: 15.1 ms."""
    bound = decode_bound(LLAMA_70B, batch=1, context_tokens=4096)
    seconds = (140e9 + 4096 * 327_680) / (0.7 * 4 * 3350e9)
    assert bound.step_seconds == pytest.approx(seconds)
    assert round(seconds * 1000, 1) == 15.1
    assert bound.bound_by == "memory bandwidth"
    assert bound.tokens_per_second == pytest.approx(bound.tokens_per_second_per_stream)


def test_a_large_batch_of_short_contexts_waits_for_the_arithmetic() -> None:
    """2 * 70e9 * 400 FLOPs at 0.4 * 4 * 989 TFLOP/s take 35.4 ms."""
    bound = decode_bound(LLAMA_70B, batch=400, context_tokens=1)
    assert bound.bound_by == "arithmetic"
    assert bound.step_seconds == pytest.approx(2 * 70e9 * 400 / (0.4 * 4 * 989e12))
    assert bound.tokens_per_second == pytest.approx(400 * bound.tokens_per_second_per_stream)


def test_memory_bounds_the_batch() -> None:
    most = largest_batch(LLAMA_70B, 4096)
    assert most == 104
    assert most * 4096 * 327_680 <= 140e9 < (most + 1) * 4096 * 327_680
    assert largest_batch(replace(LLAMA_70B, kv_memory_bytes=0.0), 4096) == 0
    with pytest.raises(ValueError, match="batch is 105; right would be at most 104, the sequences of 4,096"):
        decode_bound(LLAMA_70B, 105, 4096)


@QUICK
@given(st.integers(1, 103), st.integers(1, 4096))
def test_more_sequences_write_more_tokens_and_each_no_faster(batch: int, context: int) -> None:
    one, more = decode_bound(LLAMA_70B, batch, context), decode_bound(LLAMA_70B, batch + 1, context)
    assert more.tokens_per_second >= one.tokens_per_second * (1 - 1e-12)
    assert more.tokens_per_second_per_stream <= one.tokens_per_second_per_stream


@QUICK
@given(arrays(np.float64, (3, 24), elements=st.floats(0.0, 1e6)).filter(lambda loads: loads.max() > 1e-3))
def test_peaks_are_no_lower_than_means_and_pools_no_dearer_than_their_parts(loads: Any) -> None:
    assert peak_to_average(loads.sum(axis=0)) >= 1.0
    assert 1.0 <= diversity_factor(loads) <= 3.0 + 1e-9


def test_a_flat_load_has_no_peak_and_equal_shapes_no_diversity() -> None:
    assert peak_to_average(np.full(168, 0.1)) == pytest.approx(1.0)
    shape = np.array([1.0, 2.0, 3.0])
    assert diversity_factor(np.stack([shape, 2 * shape])) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("count", "step", "whole"), [(0.0, 1, 0), (0.1, 1, 1), (0.1 + 0.2, 1, 1), (16.000000001, 8, 16)]
)
def test_whole_units(count: float, step: int, whole: int) -> None:
    assert rounded_up(count, step) == whole


REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (nodes_for_tokens, (-1.0, 1.0, 1.0, 1.0), "input_tokens_per_second is -1.0"),
    (nodes_for_tokens, (1.0, 1.0, 0.0, 1.0), "input_tokens_per_second_per_node is 0.0"),
    (gpu_hours_for_tokens, (1.0, 1.0, 8, 0.0), "occupancy is 0.0"),
    (in_flight, (float("nan"), 1.0), "arrivals_per_second is nan"),
    (streams_in_flight, (1.0, 0.0), "tokens_per_second_per_stream is 0.0"),
    (replicas_for_streams, (1.0, 0), "slots_per_replica is 0"),
    (replicas_for_streams, (1.0, 1, 1.1), "target_occupancy is 1.1"),
    (decode_bound, (LLAMA_70B, 0, 1), "batch is 0"),
    (largest_batch, (LLAMA_70B, 0), "context_tokens is 0"),
    (required_capacity, (1.0, 0.9, 1.0), "peak_to_average is 0.9"),
    (peak_to_average, (np.array([]),), "load is of shape"),
    (peak_to_average, (np.zeros(3),), "load is of shape"),
    (peak_to_average, (np.array([1.0, np.nan]),), "load is"),
    (peak_to_average, (np.array([1.0, -1.0]),), "load is"),
    (diversity_factor, (np.ones(3),), "loads is of shape"),
    (rounded_up, (-1.0,), "count is -1.0"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED)
def test_impossible_values_are_refused(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    ("field", "value"),
    [("gpus", 0), ("weight_bytes", 0.0), ("bandwidth_share", 1.2), ("kv_memory_bytes", -1.0)],
)
def test_an_impossible_replica_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{field} is {value}"):
        replace(LLAMA_70B, **{field: value})
