"""State what merging observations keeps: the step function at every watched moment, and nothing twice."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs.steps import ContradictionError, Observation, Run, merge

MIDNIGHT = datetime(2026, 5, 1, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return MIDNIGHT + timedelta(minutes=minutes)


def seen(*pairs: tuple[int, object]) -> list[Observation]:
    return [(at(minute), value, ("batch 1", number)) for number, (minute, value) in enumerate(pairs, 1)]


def told(runs: Sequence[Run]) -> list[tuple[object, int, int, bool]]:
    """Return the runs in minutes, for reading."""
    return [
        (
            run.value,
            int((run.starts_at - MIDNIGHT).total_seconds() // 60),
            int((run.last_seen_at - MIDNIGHT).total_seconds() // 60),
            run.follows_gap,
        )
        for run in runs
    ]


def test_a_repeated_price_moves_only_when_it_was_last_seen() -> None:
    runs = merge([], seen((0, 5), (10, 5), (20, 7), (30, 5), (40, 5)), gaps=True)
    assert told(runs) == [(5, 0, 10, True), (7, 20, 20, False), (5, 30, 40, False)]


def test_newest_first_says_the_same_as_oldest_first() -> None:
    pairs = seen((0, 5), (10, 5), (20, 7))
    assert merge([], pairs, gaps=True) == merge([], pairs[::-1], gaps=True)


def test_nothing_known_and_nothing_seen_is_nothing() -> None:
    assert merge([], [], gaps=True) == []


def test_equal_values_on_both_sides_of_a_gap_stay_two_runs() -> None:
    runs = merge(merge([], seen((0, 5), (10, 5)), gaps=True), seen((20, 5), (30, 5)), gaps=True)
    assert told(runs) == [(5, 0, 10, True), (5, 20, 30, True)]


def test_a_window_that_touches_both_sides_closes_the_gap() -> None:
    runs = merge(merge([], seen((0, 5), (10, 5)), gaps=True), seen((20, 5), (30, 5)), gaps=True)
    assert told(merge(runs, seen((10, 5), (20, 5)), gaps=True)) == [(5, 0, 30, True)]


def test_a_window_that_lies_in_a_gap_stays_a_stretch_of_its_own() -> None:
    runs = merge(merge([], seen((0, 5)), gaps=True), seen((30, 5)), gaps=True)
    assert told(merge(runs, seen((15, 5)), gaps=True)) == [
        (5, 0, 0, True),
        (5, 15, 15, True),
        (5, 30, 30, True),
    ]


def test_without_gaps_all_of_the_time_is_one_stretch() -> None:
    runs = merge(merge([], seen((0, 5), (10, 5)), gaps=False), seen((20, 5), (30, 6)), gaps=False)
    assert told(runs) == [(5, 0, 20, True), (6, 30, 30, False)]


def test_a_state_without_a_value_is_a_value_like_others() -> None:
    runs = merge([], seen((0, None), (10, None), (20, 7), (30, None)), gaps=True)
    assert told(runs) == [(None, 0, 10, True), (7, 20, 20, False), (None, 30, 30, False)]


def test_an_observation_that_a_window_lacked_is_added() -> None:
    runs = merge([], seen((0, 5), (10, 5)), gaps=True)
    assert told(merge(runs, seen((4, 7)), gaps=True)) == [
        (5, 0, 0, True),
        (7, 4, 4, False),
        (5, 10, 10, False),
    ]


def test_a_run_keeps_the_tag_of_who_brought_its_start_first() -> None:
    first = merge([], [(at(10), 5, "a")], gaps=True)
    assert [run.tag for run in merge(first, [(at(10), 5, "b"), (at(20), 5, "b")], gaps=True)] == ["a"]
    assert [run.tag for run in merge(first, [(at(0), 5, "b"), (at(10), 5, "b")], gaps=True)] == ["b"]


def test_tags_are_no_part_of_what_a_run_says() -> None:
    assert merge([], [(at(0), 5, "a")], gaps=True) == merge([], [(at(0), 5, "b")], gaps=True)


def test_two_values_at_one_moment_are_refused_with_both() -> None:
    with pytest.raises(ContradictionError, match=r"1 moments .* 5 and 7") as caught:
        merge([], seen((0, 5), (0, 7), (10, 5)), gaps=True)
    (conflict,) = caught.value.conflicts
    assert (conflict.at, conflict.kept, conflict.other) == (at(0), 5, 7)
    assert (conflict.kept_tag, conflict.other_tag) == (("batch 1", 1), ("batch 1", 2))
    assert not conflict.kept_is_known


def test_a_value_against_a_known_one_is_refused_and_every_such_moment_is_listed() -> None:
    known = merge([], seen((0, 5), (10, 6), (20, 6)), gaps=True)
    with pytest.raises(ContradictionError) as caught:
        merge(known, seen((0, 1), (10, 6), (20, 2)), gaps=True)
    assert [(found.at, found.kept, found.other) for found in caught.value.conflicts] == [
        (at(0), 5, 1),
        (at(20), 6, 2),
    ]
    assert all(found.kept_is_known for found in caught.value.conflicts)


def test_none_against_a_value_is_a_contradiction_too() -> None:
    with pytest.raises(ContradictionError):
        merge(merge([], seen((0, None)), gaps=True), seen((0, 5)), gaps=True)


# --- laws, held against the raw history, which is never merged ---

History = list[tuple[int, object]]
Window = tuple[int, int]  # places of the first and the last observation


@dataclass(frozen=True)
class Case:
    history: History
    windows: list[Window]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    minutes = draw(st.lists(st.integers(0, 300), min_size=1, max_size=40, unique=True).map(sorted))
    values = draw(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=len(minutes), max_size=len(minutes)))
    place = st.integers(0, len(minutes) - 1)
    windows = draw(st.lists(st.tuples(place, place).map(sorted).map(tuple), min_size=1, max_size=10))
    return Case(list(zip(minutes, values, strict=True)), windows)


def load(case: Case, windows: Sequence[Window], *, gaps: bool = True) -> list[Run]:
    runs: list[Run] = []
    for first, last in windows:
        runs = merge(runs, seen(*case.history[first : last + 1]), gaps=gaps)
    return runs


def stretches(windows: Sequence[Window]) -> list[Window]:
    """Return the windows, with those that share an observation made one."""
    found: list[Window] = []
    for first, last in sorted(windows):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


@given(cases(), st.randoms(use_true_random=False))
def test_windows_in_any_order_and_repeated_give_the_same_runs(case: Case, random: object) -> None:
    again = case.windows + case.windows[: len(case.windows) // 2]
    random.shuffle(again)  # type: ignore[attr-defined]
    assert load(case, again) == load(case, case.windows)


@given(cases())
def test_the_runs_are_those_of_each_watched_stretch_loaded_at_once(case: Case) -> None:
    whole = stretches(case.windows)
    assert load(case, case.windows) == [run for window in whole for run in load(case, [window])]


@given(cases())
def test_the_step_function_is_the_raw_one_at_every_watched_moment(case: Case) -> None:
    runs = load(case, case.windows)
    starts = [run.starts_at for run in runs]
    moments = [minute for minute, _ in case.history]
    for first, last in stretches(case.windows):
        for minute in range(moments[first], moments[last] + 1):
            raw = case.history[bisect_right(moments, minute) - 1][1]
            assert runs[bisect_right(starts, at(minute)) - 1].value == raw


@given(cases())
def test_no_run_could_be_left_out(case: Case) -> None:
    runs = load(case, case.windows)
    assert [run.starts_at for run in runs if run.follows_gap] == [
        at(case.history[first][0]) for first, _ in stretches(case.windows)
    ]
    for before, after in pairwise(runs):
        assert before.last_seen_at < after.starts_at
        assert after.follows_gap or before.value != after.value


@given(cases())
def test_the_ends_of_each_watched_stretch_are_kept(case: Case) -> None:
    runs = load(case, case.windows)
    ends = [run.last_seen_at for run, after in zip(runs, [*runs[1:], None], strict=True)
            if after is None or after.follows_gap]  # fmt: skip
    assert ends == [at(case.history[last][0]) for _, last in stretches(case.windows)]


@given(cases())
def test_merging_again_changes_nothing(case: Case) -> None:
    runs = load(case, case.windows)
    assert merge(runs, [], gaps=True) == runs
    assert merge(runs[::-1], [], gaps=True) == runs


@given(cases())
def test_without_gaps_windows_from_the_oldest_on_are_the_history_that_was_seen(case: Case) -> None:
    places = sorted({place for first, last in case.windows for place in range(first, last + 1)})
    at_once = merge([], seen(*[case.history[place] for place in places]), gaps=False)
    assert load(case, sorted(case.windows), gaps=False) == at_once


def test_without_gaps_a_window_between_two_equal_values_finds_only_their_ends() -> None:
    runs = merge(merge([], seen((0, 5), (10, 5)), gaps=False), seen((30, 5), (40, 5)), gaps=False)
    assert told(merge(runs, seen((20, 7)), gaps=False)) == [
        (5, 0, 0, True),
        (7, 20, 20, False),
        (5, 40, 40, False),
    ]
