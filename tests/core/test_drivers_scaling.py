"""What traffic and failures leave of the speed of many GPUs."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.drivers.goodput import LOWEST_VALID, goodput, optimal_interval_minutes
from planner.core.drivers.links import (
    LINKS,
    Link,
    achieved_gb_per_second,
    link,
    slowest_gb_per_second,
)
from planner.core.drivers.scaling import amdahl_speedup, data_parallel_step, ring_all_reduce_seconds, step_on
from planner.core.spot import time_factor

QUICK = settings(max_examples=50, deadline=None)
LLAMA_3: dict[str, Any] = {"nodes": 2048, "failures_per_node_day": 0.003788701, "restart_minutes": 10.0}


@QUICK
@given(st.floats(0.0, 1.0), st.integers(1, 10_000))
def test_amdahls_speedup_lies_between_one_and_the_processors(parallel: float, processors: int) -> None:
    speedup = amdahl_speedup(parallel, processors)
    assert 1.0 - 1e-12 <= speedup <= processors * (1 + 1e-12)
    assert speedup <= 1.0 / max(1.0 - parallel, 1e-300) * (1 + 1e-12)


def test_a_twentieth_that_cannot_be_shared_out_caps_the_speedup_at_twenty() -> None:
    assert amdahl_speedup(0.95, 1_000_000) == pytest.approx(20.0, rel=1e-3)
    assert (amdahl_speedup(1.0, 64), amdahl_speedup(0.0, 64)) == (64.0, 1.0)


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_a_ring_played_through_takes_the_time_of_the_formula(ranks: int) -> None:
    """Each rank sends one chunk of S/n per round to its neighbour: n - 1 rounds to sum, n - 1 to spread."""
    values = np.random.default_rng(3).normal(size=(ranks, ranks))  # [rank, chunk]
    held, rounds = values.copy(), 0
    for turn in range(ranks - 1):
        sent = [(rank, (rank - turn) % ranks) for rank in range(ranks)]
        chunks = [held[rank, chunk] for rank, chunk in sent]
        for (rank, chunk), value in zip(sent, chunks, strict=True):
            held[(rank + 1) % ranks, chunk] += value
        rounds += 1
    for turn in range(ranks - 1):
        sent = [(rank, (rank + 1 - turn) % ranks) for rank in range(ranks)]
        chunks = [held[rank, chunk] for rank, chunk in sent]
        for (rank, chunk), value in zip(sent, chunks, strict=True):
            held[(rank + 1) % ranks, chunk] = value
        rounds += 1
    np.testing.assert_allclose(held, np.tile(values.sum(axis=0), (ranks, 1)), atol=1e-12)
    size, speed = 12e9, 50.0
    assert ring_all_reduce_seconds(size, ranks, speed) == pytest.approx(rounds * size / ranks / (speed * 1e9))


def test_traffic_beside_the_computation_costs_nothing_until_it_is_longer() -> None:
    assert data_parallel_step(1.0, 0.6, hidden_seconds=0.6).efficiency == 1.0
    assert data_parallel_step(1.0, 0.6, hidden_seconds=0.9).step_seconds == 1.0
    assert data_parallel_step(1.0, 0.6, hidden_seconds=0.35).step_seconds == pytest.approx(1.25)
    assert data_parallel_step(1.0, 0.6).efficiency == pytest.approx(1 / 1.6)


@pytest.mark.parametrize(
    ("name", "gb_per_second"),
    [("NVLink 3", 300), ("NVLink 4", 450), ("NVLink 5", 900), ("PCIe 4 x16", 31), ("PCIe 5 x16", 63)],
)
def test_links_have_their_published_speed_in_one_direction(name: str, gb_per_second: float) -> None:
    assert link(name).gb_per_second == gb_per_second
    assert link(name).scope == "within a node"


def test_every_link_names_its_source() -> None:
    assert all(one.source for one in LINKS.values())
    # cards of 8 GPUs in Gb/s: / 8 bits / 8 GPUs
    across = [one.gb_per_second for one in LINKS.values() if one.scope == "across nodes"]
    assert across == [8 * 400 / 64, 32 * 100 / 64, 4 * 100 / 64]


def test_the_slowest_link_counts_as_soon_as_a_job_leaves_its_node() -> None:
    inside, across = link("NVLink 4").gb_per_second, 50.0
    times = [
        ring_all_reduce_seconds(14e9, gpus, slowest_gb_per_second(gpus, 8, inside, across))
        for gpus in (8, 16)
    ]
    assert times == [pytest.approx(0.05444, rel=1e-3), pytest.approx(0.525)]
    assert slowest_gb_per_second(16, 8, 63.0, 400.0) == 63.0


@QUICK
@given(st.integers(1, 512), st.integers(1, 512))
def test_more_gpus_never_keep_more_of_their_speed(one: int, other: int) -> None:
    fewer, more = (
        step_on(
            gpus,
            8,
            reduced_bytes=14e9,
            compute_seconds=1.2,
            within_gb_per_second=450.0,
            across_gb_per_second=50.0,
        )
        for gpus in sorted((one, other))
    )
    assert more.efficiency <= fewer.efficiency <= 1.0
    # no ring is slower than twice the bytes over the slowest link
    assert more.traffic_seconds <= 2 * 14e9 / (0.84 * 50e9)


def test_all_reduce_achieves_less_than_the_specification() -> None:
    assert 0.80 * 450.0 <= achieved_gb_per_second(450.0) <= 0.88 * 450.0


def test_five_minutes_of_blocking_writes_take_a_quarter_of_the_time() -> None:
    """At the Llama 3 rate the ratio falls from 0.906 with 10 s of writing to 0.74."""
    slow = goodput(**LLAMA_3, checkpoint_write_seconds=300.0)
    assert slow.ratio == pytest.approx(0.74, abs=0.005)
    assert slow.is_valid
    assert slow.note == ""


@QUICK
@given(st.floats(0.2, 5.0))
def test_no_other_interval_is_better_by_more_than_half_a_percent(factor: float) -> None:
    best = goodput(**LLAMA_3, checkpoint_write_seconds=10.0)
    other = goodput(**LLAMA_3, checkpoint_write_seconds=10.0, interval_minutes=best.interval_minutes * factor)
    assert other.small_loss_ratio <= best.small_loss_ratio + 0.005


@QUICK
@given(st.integers(1, 2000), st.floats(0.0005, 0.005), st.floats(0.0, 15.0), st.floats(1.0, 60.0))
def test_while_losses_are_small_the_ratio_is_near_the_exact_one(
    nodes: int, rate: float, restart: float, write: float
) -> None:
    result = goodput(nodes, rate, restart, write)
    exact = 1 / time_factor(result.interval_minutes / 60, write / 3600, restart / 60, 24 / (nodes * rate))
    if result.small_loss_ratio >= 0.85:
        assert result.ratio == pytest.approx(exact, abs=0.025)
    if result.ratio is not None:
        assert 0.0 < result.ratio <= 1.0


def test_large_losses_are_flagged_and_the_exact_factor_takes_over() -> None:
    large = goodput(2048, 0.02, restart_minutes=10.0, checkpoint_write_seconds=30.0)
    assert large.small_loss_ratio < LOWEST_VALID
    assert not large.is_valid
    assert "time_factor" in large.note
    mtbf_hours = 24 / (2048 * 0.02)
    exact = time_factor(large.interval_minutes / 60, 30 / 3600, 10 / 60, mtbf_hours)
    assert large.ratio == pytest.approx(1 / exact)


def test_no_ratio_is_given_where_a_job_rarely_reaches_its_checkpoint() -> None:
    hopeless = goodput(4096, 0.2, restart_minutes=30.0, checkpoint_write_seconds=600.0)
    assert hopeless.small_loss_ratio < 0.0
    assert hopeless.ratio is None
    assert "no ratio" in hopeless.note


def test_without_failures_only_the_writes_cost_time() -> None:
    assert math.isinf(optimal_interval_minutes(8, 0.0, 10.0))
    assert goodput(8, 0.0, 10.0, 10.0).ratio == 1.0
    assert goodput(8, 0.0, 10.0, 60.0, interval_minutes=9.0).ratio == pytest.approx(0.9)
    # writes longer than the interval between them: large losses, still exact
    assert goodput(8, 0.0, 10.0, 120.0, interval_minutes=2.0).ratio == pytest.approx(0.5)


def test_more_nodes_more_failures_longer_restarts_lose_more() -> None:
    base = goodput(**LLAMA_3, checkpoint_write_seconds=10.0).small_loss_ratio
    for change in ({"nodes": 4096}, {"failures_per_node_day": 0.0065}, {"restart_minutes": 20.0}):
        assert goodput(**{**LLAMA_3, **change}, checkpoint_write_seconds=10.0).small_loss_ratio < base


REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (amdahl_speedup, (1.1, 2), "parallel_share is 1.1"),
    (amdahl_speedup, (0.5, 0), "processors is 0"),
    (ring_all_reduce_seconds, (-1.0, 2, 1.0), "reduced_bytes is -1.0"),
    (ring_all_reduce_seconds, (1.0, 2, 0.0), "link_gb_per_second is 0.0"),
    (data_parallel_step, (0.0, 1.0), "compute_seconds is 0.0"),
    (data_parallel_step, (1.0, 2.0, 1.5), "hidden_seconds is 1.5; right would be at most compute_seconds, 1"),
    (link, ("NVLink 9",), "name is 'NVLink 9'"),
    (Link, ("x", 0.0, "within a node", ""), "gb_per_second is 0.0"),
    (Link, ("x", 1.0, "elsewhere", ""), "scope is 'elsewhere'"),
    (achieved_gb_per_second, (1.0, 1.5), "achieved_share is 1.5"),
    (slowest_gb_per_second, (8, 0, 1.0, 1.0), "gpus_per_node is 0"),
    (optimal_interval_minutes, (0, 0.1, 1.0), "nodes is 0"),
    (goodput, (1, -0.1, 1.0, 1.0), "failures_per_node_day is -0.1"),
    (goodput, (1, 0.1, 1.0, 0.0), "checkpoint_write_seconds is 0.0"),
    (goodput, (1, 0.1, 1.0, 1.0, 0.0), "interval_minutes is 0.0"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED)
def test_impossible_values_are_refused(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)
