"""What is still served when one source is lost, and in which order its fallbacks step in."""

import math
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.risk.coverage import (
    Coverage,
    Fallback,
    Source,
    coverage_if_lost,
    coverage_of_each_loss,
    portability,
    serve_from_fallbacks,
)

TODAY = date(2026, 12, 1)
CAPACITIES = st.integers(0, 64)
EIGHTHS = st.integers(0, 8).map(lambda count: count / 8)  # exact in binary: sums come out to the last digit
SOURCES = st.lists(st.tuples(CAPACITIES, EIGHTHS), min_size=1, max_size=6).map(
    lambda rows: [Source(f"s{n}", *row) for n, row in enumerate(rows)]
)


def fallbacks(*rows: tuple[float | None, float | None, date | None]) -> list[Fallback]:
    return [Fallback(f"f{n}", *row) for n, row in enumerate(rows)]


# --- N-1 ---


def test_coverage_worked_out_by_hand() -> None:
    """Own 64, reserved 32 at 0.75, a smaller model on CPUs 100 at 0.1; 80 critical GPUs."""
    sources = [Source("own", 64.0), Source("trn2", 32.0, 0.75), Source("cpu", 100.0, 0.1)]
    found = coverage_of_each_loss(sources, 80.0)
    # without own: (24 + 10) / 80; without trn2: 74 / 80; without cpu: 88 / 80, which is all
    assert [(each.lost, each.share) for each in found] == [("own", 0.425), ("trn2", 0.925), ("cpu", 1.0)]
    assert [each.meets(0.7) for each in found] == [False, True, True]


@settings(max_examples=50, deadline=None)
@given(SOURCES, CAPACITIES)
def test_coverage_is_a_share_and_never_rises_with_demand(sources: list[Source], critical: int) -> None:
    for each in coverage_of_each_loss(sources, critical):
        assert 0.0 <= each.share <= 1.0
        assert coverage_if_lost(sources, each.lost, critical + 8).share <= each.share


@settings(max_examples=50, deadline=None)
@given(SOURCES, st.integers(1, 64))
def test_the_first_is_the_worst(sources: list[Source], critical: int) -> None:
    shares = [each.share for each in coverage_of_each_loss(sources, critical)]
    alone = [
        min(1.0, sum(s.capacity_gpus * s.portability for s in sources if s is not lost) / critical)
        for lost in sources
    ]
    assert shares == sorted(alone)


def test_what_is_lost_together_is_lost_together() -> None:
    sources = [Source("a", 40.0, 1.0, "east"), Source("b", 40.0, 1.0, "east"), Source("c", 20.0, 1.0, "west")]
    assert [(each.lost, each.share) for each in coverage_of_each_loss(sources, 80.0)] == [
        ("east", 0.25),
        ("west", 1.0),
    ]
    assert coverage_if_lost(sources, "a", 80.0).share == 0.75  # b and c stay


def test_an_unknown_capacity_makes_a_lower_bound_that_says_what_is_unknown() -> None:
    sources = [Source("own", 64.0), Source("on-demand", None), Source("trn2", 16.0, None)]
    found = coverage_if_lost(sources, "own", 64.0)
    assert found == Coverage("own", 0.0, True, ("on-demand", "trn2"))
    assert found.meets(0.7) is None
    # 64 are enough without them: nothing unknown can change that
    enough = coverage_if_lost(sources, "on-demand", 64.0)
    assert (enough.share, enough.is_lower_bound) == (1.0, False)


def test_what_is_worth_nothing_is_known_to_be() -> None:
    assert Source("a", None, 0.0).covers_gpus == 0.0
    assert Source("a", 0.0, None).covers_gpus == 0.0
    assert Source("a", None, None).covers_gpus is None


def test_without_critical_demand_everything_is_covered() -> None:
    assert coverage_if_lost([Source("a", None)], "a", 0.0).share == 1.0


def test_portability_is_a_share_of_the_work_at_its_throughput() -> None:
    assert portability(0.8, 0.75) == pytest.approx(0.6)
    assert portability(1.0, 1.9) == 1.0  # an H200 for an H100
    assert portability(1.0, 1.9, service_factor=0.5) == 0.5


# --- the ladder ---


@settings(max_examples=100, deadline=None)
@given(
    CAPACITIES,
    st.lists(
        st.tuples(CAPACITIES, EIGHTHS, st.sampled_from([TODAY, None, TODAY + timedelta(1)])), max_size=6
    ),
)
def test_losing_the_primary_serves_exactly_the_share_of_its_fallbacks(
    demand: int, rows: list[tuple[int, float, date | None]]
) -> None:
    ladder = fallbacks(*rows)
    found = serve_from_fallbacks(demand, ladder, TODAY)
    validated = [each for each in ladder if each.validated_on == TODAY]
    assert found.served_gpus == min(demand, sum(each.capacity_gpus * each.portability for each in validated))
    assert found.served_gpus + found.unserved_gpus == demand
    assert sum(rung.served_gpus for rung in found.rungs) == found.served_gpus
    # the same as N-1 says of a primary and those fallbacks
    sources = [
        Source("primary", demand),
        *(Source(e.name, e.capacity_gpus, e.portability) for e in validated),
    ]
    if demand:
        assert found.served_gpus / demand == coverage_if_lost(sources, "primary", demand).share


def test_each_rung_is_full_before_the_next_one_serves() -> None:
    found = serve_from_fallbacks(50, fallbacks((32, 1.0, TODAY), (32, 0.5, TODAY), (32, 1.0, TODAY)), TODAY)
    assert [rung.served_gpus for rung in found.rungs] == [32, 16, 2]
    assert found.unserved_gpus == 0


def test_what_is_not_validated_serves_nothing_and_says_why() -> None:
    rows = (
        (32, 1.0, None),
        (32, 1.0, date(2027, 2, 1)),
        (32, 1.0, date(2026, 1, 1)),
        (8, 1.0, date(2026, 11, 1)),
    )
    found = serve_from_fallbacks(50, fallbacks(*rows), TODAY, valid_for_days=180)
    assert [(rung.served_gpus, rung.reason) for rung in found.rungs] == [
        (0, "never validated"),
        (0, "validated only on 2027-02-01"),
        (0, "validated 334 days ago, longer than 180"),
        (8, ""),
    ]
    assert found.unvalidated == ("f0", "f1", "f2")
    assert serve_from_fallbacks(50, fallbacks(*rows), TODAY).served_gpus == 40  # without an age limit


def test_an_unknown_rung_makes_a_lower_bound_and_those_after_it_at_most() -> None:
    found = serve_from_fallbacks(50, fallbacks((8, 1.0, TODAY), (None, 1.0, TODAY), (16, 1.0, TODAY)), TODAY)
    assert [(rung.served_gpus, rung.is_most) for rung in found.rungs] == [
        (8, False),
        (None, False),
        (16, True),
    ]
    assert (found.served_gpus, found.is_lower_bound, found.unknown) == (24, True, ("f1",))
    full = serve_from_fallbacks(10, fallbacks((None, 1.0, TODAY), (16, 1.0, TODAY)), TODAY)
    assert (full.served_gpus, full.is_lower_bound) == (10, False)


def test_values_without_a_meaning_are_refused() -> None:
    one = [Source("a", 1.0)]
    for call, name in (
        (lambda: Source("a", -1.0), "capacity_gpus"),
        (lambda: Source("a", 1.0, 1.1), "portability"),
        (lambda: Source("a", math.nan), "capacity_gpus"),
        (lambda: Fallback("a", 1.0, -0.1, None), "portability"),
        (lambda: coverage_if_lost(one, "b", 1.0), "lost is 'b'; right would be one of a"),
        (lambda: coverage_if_lost(one, "a", -1.0), "critical_gpus"),
        (lambda: coverage_of_each_loss([], 1.0), "sources"),
        (lambda: coverage_of_each_loss([*one, *one], 1.0), "sources"),
        (lambda: coverage_if_lost(one, "a", 1.0).meets(1.1), "required_share"),
        (lambda: portability(1.1), "validated_share"),
        (lambda: portability(1.0, 0.0), "throughput_ratio"),
        (lambda: serve_from_fallbacks(-1, [], TODAY), "demand_gpus"),
        (lambda: serve_from_fallbacks(1, [], TODAY, valid_for_days=-1), "valid_for_days"),
        (
            lambda: serve_from_fallbacks(1, [*fallbacks((1, 1, None)), *fallbacks((1, 1, None))], TODAY),
            "fallbacks",
        ),
    ):
        with pytest.raises(ValueError, match=name):
            call()
