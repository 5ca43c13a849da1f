"""State what a measured trace says of availability, and whether a job on spot meets its deadline."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core.spot import lowest_hazard_per_hour
from planner.core.spot_deadline import DeadlineJob, must_leave_spot, replay
from planner.core.spot_traces import Trace, availability, sampled_share, spells, trace_of


def recorded(path: Path) -> Trace:
    raw = json.loads(gzip.decompress(path.read_bytes()))
    tick = raw["metadata"]["gap_seconds"] / 3600
    at = [place * tick for place in range(len(raw["data"]))]
    return trace_of(at, at, [True] + [False] * (len(at) - 1), raw["data"], tick_hours=tick)


def hourly(nodes: list[float], gaps: tuple[int, ...] = ()) -> Trace:
    """Return a trace of one hour per entry; at each of `gaps` an hour passes that nobody watched."""
    starts, now = [], 0
    for place in range(len(nodes)):
        now += place in gaps
        starts.append(now)
        now += 1
    return Trace(np.array(starts, float), np.array(starts, float) + 1, np.array(nodes, float))


@pytest.mark.shared
def test_measured_spells_are_far_shorter_than_bands_suggest(shared: Path) -> None:
    """0.7 to 10.5 hours to the loss of a single V100, where even a band of 20 % would say 3,271."""
    folder = shared / "data/spot/skypilot_spot_traces/availability/1-node/aws-02-15-2023"
    means = [availability(recorded(path)).mean_hours_to_loss for path in sorted(folder.glob("*.json.gz"))]
    assert (len(means), round(min(means), 1), round(max(means), 1)) == (9, 0.7, 10.5)
    assert round(1 / lowest_hazard_per_hour(0.20)) == 3271


@pytest.mark.shared
def test_availability_of_recorded_zones_is_the_share_of_their_ticks(shared: Path) -> None:
    for path in sorted((shared / "data/spot/skypilot_spot_traces").rglob("*.json.gz")):
        data = json.loads(gzip.decompress(path.read_bytes()))["data"]
        for needed in {1, max(data)}:
            share = sum(nodes >= needed for nodes in data) / len(data)
            assert availability(recorded(path), needed).share == pytest.approx(share)


def test_spells_of_a_trace() -> None:
    found = availability(hourly([1, 1, 0, 1, 0, 0]))
    assert (found.watched_hours, found.available_hours, found.spells) == (6, 3, 2)
    assert (found.losses, found.returns) == (2, 1)
    assert (found.share, found.mean_hours_to_loss, found.mean_hours_to_return) == (0.5, 1.5, 3.0)


def test_more_machines_are_there_for_less_of_the_time() -> None:
    trace = hourly([4, 16, 11, 16])
    assert [availability(trace, needed).share for needed in (1, 8, 16, 17)] == [1.0, 0.75, 0.5, 0.0]


def test_without_a_loss_nothing_is_said_of_how_long_it_takes() -> None:
    assert math.isnan(availability(hourly([1, 1, 1])).mean_hours_to_loss)
    nothing = availability(hourly([]))
    assert (nothing.watched_hours, nothing.spells) == (0, 0)
    assert math.isnan(nothing.share)


def test_a_gap_ends_a_spell_without_a_loss() -> None:
    found = availability(hourly([1, 1, 1, 0], gaps=(2,)))
    assert (found.watched_hours, found.spells, found.losses) == (4, 2, 1)
    assert [spell.end_is_seen for spell in spells(hourly([1, 1, 1, 0], gaps=(2,)), 1)] == [False, True, False]


def test_change_points_hold_until_the_next_and_before_a_gap_until_last_seen() -> None:
    trace = trace_of([0, 5, 20], [3, 8, 20], [True, False, True], [1, 0, 1], tick_hours=1)
    assert trace.ends_hours.tolist() == [5, 9, 21]


def test_segments_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Trace(np.array([0.0, 1.0]), np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="as many"):
        Trace(np.array([0.0]), np.array([2.0, 3.0]), np.array([1.0]))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(1, 3), st.integers(1, 39))
def test_parts_of_a_trace_add_up_to_the_whole(nodes: list[int], needed: int, cut: int) -> None:
    whole = availability(hourly(nodes), needed)
    parts = [availability(hourly(part), needed) for part in (nodes[:cut], nodes[cut:]) if part]
    assert sum(part.available_hours for part in parts) == whole.available_hours
    assert sum(part.watched_hours for part in parts) == whole.watched_hours == len(nodes)


# --- deadlines ---


def test_a_job_that_waits_too_long_moves_to_on_demand_just_in_time() -> None:
    """Two hours of work by hour 4, restart 0: after two hours of waiting no slack is left."""
    found = replay(hourly([0, 0, 0, 1, 1]), DeadlineJob(2, 4), every_hours=1)
    assert found.starts_hours.tolist() == [0, 1]
    assert found.alone_in_time.tolist() == [False, True]
    assert (found.in_time.tolist(), found.switched.tolist()) == ([True, True], [True, True])
    # the second start has slack until hour 3, when machines come up: by the rule it has moved by then
    assert found.spot_work_hours.tolist() == [0, 0]
    assert found.on_demand_hours.tolist() == [2, 2]


def test_each_time_machines_come_up_a_restart_is_paid_first() -> None:
    """Two hours of work, restarts of half an hour, lost once: 0.5 + 1.5, a break of 1, 0.5 + 0.5."""
    found = replay(hourly([1, 1, 0, 1, 1, 1]), DeadlineJob(2, 6, restart_hours=0.5), every_hours=1)
    assert found.starts_hours.tolist() == [0]
    assert not found.switched[0]
    assert (found.spot_work_hours[0], found.spot_paid_hours[0], found.on_demand_hours[0]) == (2, 3, 0)
    assert found.usd_per_node(1.0, 4.0).tolist() == [3.0]


def test_work_done_on_spot_is_not_paid_again_on_demand() -> None:
    """Three hours by hour 5, restart 1: one hour is done on spot, then two hours of waiting use the slack."""
    found = replay(hourly([1, 1, 0, 0, 0, 0]), DeadlineJob(3, 6, restart_hours=1), every_hours=1)
    # slack 6 - 3 - 1 = 2: one went into the first restart, one into waiting
    assert (found.spot_work_hours[0], found.spot_paid_hours[0], found.on_demand_hours[0]) == (1, 2, 3)
    assert found.usd_per_node(1.0, 4.0).tolist() == [14.0]
    assert (found.share_in_time, found.share_alone_in_time, found.share_switched) == (1.0, 0.0, 1.0)


def test_a_deadline_that_even_on_demand_misses_is_missed() -> None:
    found = replay(hourly([1] * 10), DeadlineJob(4, 4.5, restart_hours=1), every_hours=1)
    assert found.share_in_time == 0.0
    assert set(found.on_demand_hours.tolist()) == {5.0}


def test_a_deadline_that_is_exactly_enough_is_met_on_demand_from_the_start() -> None:
    found = replay(hourly([0] * 10), DeadlineJob(4, 5, restart_hours=1), every_hours=1)
    assert (found.share_in_time, found.share_switched) == (1.0, 1.0)


def test_starts_whose_deadline_the_trace_does_not_reach_do_not_count() -> None:
    assert replay(hourly([1] * 6), DeadlineJob(2, 4), every_hours=0.5).starts_hours.tolist() == [
        0, 0.5, 1, 1.5, 2,
    ]  # fmt: skip
    nothing = replay(hourly([1] * 3), DeadlineJob(2, 4), every_hours=1)
    assert len(nothing.starts_hours) == 0
    assert math.isnan(nothing.share_in_time)


def test_no_start_runs_over_a_gap() -> None:
    found = replay(hourly([1] * 9, gaps=(4,)), DeadlineJob(2, 4), every_hours=1)
    assert found.starts_hours.tolist() == [0, 5, 6]  # hours 0 to 4, then 5 to 10


@pytest.mark.parametrize(
    "changes",
    [{"work_hours": 0}, {"deadline_hours": 0}, {"restart_hours": -1}, {"work_rate": 0}, {"work_rate": 2}],
)
def test_a_job_without_a_meaning_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        DeadlineJob(**{"work_hours": 1, "deadline_hours": 2, **changes})
    with pytest.raises(ValueError, match="every_hours"):
        replay(hourly([1]), DeadlineJob(1, 2), every_hours=0)


def walked(nodes: list[int], start: int, job: DeadlineJob) -> tuple[bool, float, float, float]:
    """Return the same by walking through the trace in half hours: alone in time, work, paid, on demand."""
    step = 0.5

    def is_up(moment: float) -> bool:
        return nodes[int(moment)] >= job.nodes_needed

    def walk(with_fallback: bool) -> tuple[float, float, float, float]:
        moment, work, paid, restart = float(start), 0.0, 0.0, job.restart_hours
        while moment < start + job.deadline_hours and work < job.work_hours:
            left = start + job.deadline_hours - moment
            if with_fallback and left <= job.work_hours - work + job.restart_hours:
                return moment, work, paid, job.work_hours - work + job.restart_hours
            if not is_up(moment):
                restart = job.restart_hours
            else:
                paid += step
                if restart > 0:
                    restart -= step
                else:
                    work += step * job.work_rate
            moment += step
        return moment, work, paid, 0.0

    alone = walk(with_fallback=False)[1] >= job.work_hours
    _, work, paid, on_demand = walk(with_fallback=True)
    return alone, work, paid, on_demand


@given(
    st.lists(st.integers(0, 2), min_size=2, max_size=30),
    st.integers(1, 6),
    st.integers(0, 8),
    st.integers(0, 2),
    st.integers(1, 2),
    st.sampled_from([1.0, 0.5]),
)
def test_a_replay_is_what_walking_through_the_trace_finds(
    nodes: list[int], work: int, slack: int, restart: int, needed: int, rate: float
) -> None:
    job = DeadlineJob(work, work + restart + slack, restart, needed, rate)
    found = replay(hourly(nodes), job, every_hours=1)
    for place, start in enumerate(found.starts_hours.tolist()):
        expected = walked(nodes, int(start), job)
        assert (
            found.alone_in_time[place],
            found.spot_work_hours[place],
            found.spot_paid_hours[place],
            found.on_demand_hours[place],
        ) == expected


@given(st.lists(st.integers(0, 1), min_size=10, max_size=60), st.integers(1, 5), st.integers(0, 4))
def test_a_later_deadline_is_met_by_no_fewer_on_spot_alone_and_never_needs_more_on_demand(
    nodes: list[int], work: int, slack: int
) -> None:
    trace = hourly(nodes)
    tight = replay(trace, DeadlineJob(work, work + slack), every_hours=1)
    loose = replay(trace, DeadlineJob(work, work + slack + 1), every_hours=1)
    count = len(loose.starts_hours)  # fewer starts have room for a later deadline
    assert np.all(loose.alone_in_time >= tight.alone_in_time[:count])
    assert np.all(loose.on_demand_hours <= tight.on_demand_hours[:count])
    assert np.all(tight.in_time)


@pytest.mark.shared
def test_a_mean_that_promises_the_deadline_is_wrong_for_a_third_of_the_starts(shared: Path) -> None:
    """A day of work by a day and a half, in a zone with capacity for three quarters of 45 days of 2023.

    Ticks are 195 seconds: 443 of work, 665 to the deadline, 4 for a restart, a start every 20.
    """
    path = (
        shared / "data/spot/skypilot_spot_traces/availability/1-node/aws-02-15-2023/us-east-2a_v100_1.json.gz"
    )
    up = json.loads(gzip.decompress(path.read_bytes()))["data"]
    work, deadline, restart, every = 443, 665, 4, 20
    in_time = []
    for start in range(0, len(up) - deadline + 1, every):
        done, waiting = 0, restart
        for tick in up[start : start + deadline]:
            waiting = restart if not tick else max(waiting - 1, -1)
            done += bool(tick) and waiting < 0
        in_time.append(done >= work)
    tick_hours = 195 / 3600
    job = DeadlineJob(work * tick_hours, deadline * tick_hours, restart * tick_hours)
    found = replay(recorded(path), job, every_hours=every * tick_hours)
    assert found.alone_in_time.tolist() == in_time
    assert work / availability(recorded(path)).share < deadline  # the mean says yes
    assert round(found.share_alone_in_time, 2) == 0.63
    assert found.share_in_time == 1.0


# --- samples and refusals ---


def test_samples_give_a_share_of_time_and_none_gives_nothing() -> None:
    assert sampled_share(3, 4) == 0.75
    assert sampled_share(0, 4) == 0.0
    assert sampled_share(0, 0) is None


def test_an_unknown_price_makes_every_cost_unknown() -> None:
    found = replay(hourly([1, 1, 1]), DeadlineJob(1, 2), every_hours=1)
    assert np.isnan(found.usd_per_node(math.nan, 4.0)).all()


def test_values_without_a_meaning_are_refused() -> None:
    trace, nothing = hourly([1, 1, 1]), np.array([], float)
    for call, name in (
        (lambda: sampled_share(5, 4), "available_samples"),
        (lambda: sampled_share(-1, 4), "available_samples"),
        (lambda: availability(trace, -1), "nodes_needed"),
        (lambda: spells(trace, math.nan), "nodes_needed"),
        (lambda: Trace(nothing, nothing, np.array([1.0])), "ends_hours"),
        (lambda: Trace(np.array([math.nan]), np.array([1.0]), np.array([1.0])), "starts_hours"),
        (lambda: Trace(np.array([0.0]), np.array([1.0]), np.array([-1.0])), "nodes"),
        (lambda: trace_of([0], [1], [True], [-1]), "nodes"),
        (lambda: trace_of([0], [1], [True], [1], tick_hours=-1), "tick_hours"),
        (lambda: trace_of([0, 1], [1], [True], [1]), "last_seen_hours"),
        (lambda: DeadlineJob(1, 2, nodes_needed=0), "nodes_needed"),
        (
            lambda: replay(trace, DeadlineJob(1, 2), every_hours=1).usd_per_node(-1, 1),
            "spot_usd_per_node_hour",
        ),
    ):
        with pytest.raises(ValueError, match=name):
            call()


@pytest.mark.parametrize(
    ("time_left", "work_left", "restart", "leave"),
    [(10.0, 8.0, 1.0, False), (9.0, 8.0, 1.0, True), (8.5, 8.0, 1.0, True), (5.0, 0.0, 1.0, False)],
)
def test_leave_spot_while_on_demand_still_makes_it(
    time_left: float, work_left: float, restart: float, leave: bool
) -> None:
    assert must_leave_spot(time_left, work_left, restart) is leave
    with pytest.raises(ValueError, match="work_left_hours is -1"):
        must_leave_spot(1.0, -1.0, 0.0)
