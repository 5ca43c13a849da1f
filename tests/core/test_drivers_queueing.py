"""Waiting at replicas, against sums by hand, textbook identities and a queue played through."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.drivers.queueing import (
    MOST_SERVERS,
    Queue,
    allen_cunneen_factor,
    erlang_b,
    erlang_c,
    servers_needed,
)

QUICK = settings(max_examples=50, deadline=None)
LOADS = st.floats(0.01, 30.0)


def needed(**changes: float) -> Any:
    asked: dict[str, Any] = {
        "arrivals_per_second": 100 / 1800,
        "service_seconds": 180.0,
        "target_wait_seconds": 20.0,
        "service_level": 0.8,
    }
    return servers_needed(**{**asked, **changes})


@QUICK
@given(st.integers(1, 40), LOADS)
def test_the_recursion_is_the_sum_with_factorials(servers: int, load: float) -> None:
    terms = [load**k / math.factorial(k) for k in range(servers + 1)]
    assert erlang_b(servers, load) == pytest.approx(terms[-1] / sum(terms), rel=1e-12)


@QUICK
@given(st.integers(1, 40), st.floats(0.001, 0.999))
def test_erlang_c_is_the_chance_that_all_servers_are_busy(servers: int, occupancy: float) -> None:
    load = servers * occupancy
    terms = [load**k / math.factorial(k) for k in range(servers)]
    tail = load**servers / math.factorial(servers) / (1.0 - occupancy)
    assert erlang_c(servers, load) == pytest.approx(tail / (sum(terms) + tail), rel=1e-9)


@QUICK
@given(st.integers(1, 200), LOADS)
def test_another_server_makes_waiting_rarer(servers: int, load: float) -> None:
    fewer, more = erlang_c(servers, load), erlang_c(servers + 1, load)
    assert 0.0 <= more <= fewer <= 1.0
    assert more < fewer or fewer in (0.0, 1.0)


@QUICK
@given(st.floats(0.0, 0.999))
def test_one_server_is_busy_for_its_occupancy(occupancy: float) -> None:
    assert erlang_c(1, occupancy) == pytest.approx(occupancy)


def test_a_hundred_thousand_slots_do_not_overflow() -> None:
    assert 0.0 < erlang_c(100_000, 99_900.0) < 1.0


def test_a_queue_that_is_offered_more_than_it_serves_grows_without_end() -> None:
    for servers in (9, 10):
        queue = Queue(servers, 1.0, 10.0)
        assert queue.probability_of_waiting == 1.0
        assert math.isinf(queue.mean_wait_seconds)
        assert queue.service_level(3600.0) == 0.0


def test_the_wait_grows_without_bound_towards_full_occupancy() -> None:
    waits = [Queue(10, share, 10.0).mean_wait_seconds for share in (0.9, 0.99, 0.999, 0.9999)]
    assert all(later > 5 * earlier for earlier, later in itertools.pairwise(waits))


def test_nobody_comes_nobody_waits() -> None:
    queue = Queue(3, 0.0, 10.0)
    assert (queue.probability_of_waiting, queue.mean_wait_seconds, queue.service_level(0.0)) == (0, 0, 1)


def test_one_server_of_any_service_waits_by_pollaczek_and_khinchine() -> None:
    """W_q = lambda E[S^2] / (2 (1 - rho)) is exact for one server; Allen-Cunneen agrees with it."""
    arrivals, service, service_scv = 0.6, 1.0, 4.0
    second_moment = service**2 * (1.0 + service_scv)
    exact = arrivals * second_moment / (2.0 * (1.0 - arrivals * service))
    queue = Queue(1, arrivals, service, allen_cunneen_factor(1.0, service_scv))
    assert queue.mean_wait_seconds == pytest.approx(exact)


def test_a_fixed_rhythm_on_both_sides_leaves_no_wait() -> None:
    queue = Queue(10, 0.9, 10.0, allen_cunneen_factor(0.0, 0.0))
    assert (queue.mean_wait_seconds, queue.service_level(1.0)) == (0.0, 1.0)
    assert needed(variability=0.0).servers == 11


def test_the_mean_wait_is_the_integral_of_the_waits() -> None:
    queue = Queue(14, 100 / 1800, 180.0, variability=2.0)
    seconds = np.linspace(0.0, 3000.0, 30_001)
    longer = np.array([queue.probability_of_waiting_longer(float(t)) for t in seconds])
    assert float(np.trapezoid(longer, seconds)) == pytest.approx(queue.mean_wait_seconds, rel=1e-4)


def test_a_queue_played_through_waits_as_the_formula_says() -> None:
    """60,000 arrivals at 4 servers, load 3.2. The formula lies within the noise of the draw."""
    random = np.random.default_rng(7)
    arrivals = np.cumsum(random.exponential(1 / 0.32, 60_000))
    services = random.exponential(10.0, 60_000)
    free, waits = [0.0] * 4, np.empty(60_000)
    for number, (moment, service) in enumerate(zip(arrivals, services, strict=True)):
        first = min(range(4), key=free.__getitem__)
        begin = max(free[first], moment)
        waits[number] = begin - moment
        free[first] = begin + service
    queue = Queue(4, 0.32, 10.0)
    assert float((waits > 0).mean()) == pytest.approx(queue.probability_of_waiting, abs=0.03)
    assert float((waits > 10.0).mean()) == pytest.approx(queue.probability_of_waiting_longer(10.0), abs=0.03)
    assert float(waits.mean()) == pytest.approx(queue.mean_wait_seconds, rel=0.1)


def test_thirteen_servers_miss_what_fourteen_keep() -> None:
    """pyworkforce's case: 13 servers answer 79.6 % in time."""
    assert Queue(13, 100 / 1800, 180.0).service_level(20.0) == pytest.approx(0.796, abs=0.0005)
    assert needed().servers == 14


@QUICK
@given(
    st.floats(0.0, 5.0),
    st.floats(0.1, 20.0),
    st.floats(0.0, 30.0),
    st.floats(0.0, 0.999),
    st.floats(0.3, 1.0),
    st.integers(1, 6),
)
def test_the_answer_is_the_smallest_that_keeps_the_promise(
    arrivals: float, service: float, target: float, level: float, occupancy: float, step: int
) -> None:
    def keeps(servers: int) -> bool:
        queue = Queue(servers, arrivals, service)
        return (
            queue.occupancy < 1.0
            and queue.occupancy <= occupancy * (1 + 1e-9)
            and queue.probability_of_waiting_longer(target) <= 1.0 - level
        )

    staffing = servers_needed(
        arrivals_per_second=arrivals,
        service_seconds=service,
        target_wait_seconds=target,
        service_level=level,
        max_occupancy=occupancy,
        servers_at_a_time=step,
    )
    smallest = next(servers for servers in range(step, 10_000, step) if keeps(servers))
    assert staffing.servers == smallest


def test_the_occupancy_may_want_more_than_the_promise() -> None:
    assert needed(max_occupancy=0.5).servers == 20
    assert needed(max_occupancy=0.5).service_level > needed().service_level


def test_shrinkage_keeps_servers_beside_those_at_work() -> None:
    assert needed(shrinkage=0.3).servers_with_shrinkage == 20
    assert needed(shrinkage=0.0).servers_with_shrinkage == 14
    # 16 slots at work in replicas of 8; 16 / 0.7 = 22.9 slots are three replicas
    in_replicas = needed(shrinkage=0.3, servers_at_a_time=8)
    assert (in_replicas.servers, in_replicas.servers_with_shrinkage) == (16, 24)


def test_heavy_tails_want_more_servers() -> None:
    light = needed(target_wait_seconds=120.0, service_level=0.99)
    heavy = needed(target_wait_seconds=120.0, service_level=0.99, variability=allen_cunneen_factor(1.0, 5.0))
    assert heavy.servers > light.servers


REFUSED: list[tuple[Any, tuple[Any, ...], str]] = [
    (erlang_b, (0, 1.0), "servers is 0"),
    (erlang_b, (2.5, 1.0), "servers is 2.5"),
    (erlang_c, (1, -1.0), "offered_load is -1.0"),
    (erlang_c, (1, float("inf")), "offered_load is inf"),
    (allen_cunneen_factor, (-1.0, 1.0), "arrival_scv is -1.0"),
    (Queue, (1, 1.0, 0.0), "service_seconds is 0.0"),
    (Queue, (MOST_SERVERS + 1, 1.0, 1.0), "servers is 10000001"),
    (Queue(1, 0.5, 1.0).service_level, (-1.0,), "seconds is -1.0"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), REFUSED)
def test_impossible_values_are_refused(function: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"service_level": 1.0}, "service_level is 1.0"),
        ({"shrinkage": 1.0}, "shrinkage is 1.0"),
        ({"max_occupancy": 0.0}, "max_occupancy is 0.0"),
        ({"servers_at_a_time": 0}, "servers_at_a_time is 0"),
        ({"arrivals_per_second": 1e9}, "a load of less than 10,000,000 servers"),
    ],
)
def test_impossible_promises_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        needed(**changes)
