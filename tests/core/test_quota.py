"""What limits allow and how long their raise takes."""

import math
from datetime import date
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core.quota import (
    FEWEST_RECORDS,
    LARGE_QUOTA_DAYS,
    SERVERS_DAYS,
    SHORTEST_DAYS,
    SMALL_QUOTA_DAYS,
    Wait,
    assumed_quota_wait,
    gap,
    headroom_share,
    instances_within,
    learned_wait,
    order_by,
)

DAYS = st.floats(0.01, 1000.0)
WAITS = st.tuples(DAYS, st.floats(1.0, 50.0)).map(lambda pair: Wait(pair[0], pair[0] * pair[1]))
LEVELS = st.floats(0.01, 0.99)


# --- laws ---


@given(wait=WAITS, level=LEVELS)
def test_what_the_quantile_says_has_that_probability(wait: Wait, level: float) -> None:
    if wait.sigma > 1e-3:
        assert wait.probability_by(wait.quantile(level)) == pytest.approx(level, abs=1e-6)


@given(wait=WAITS)
def test_half_are_over_at_the_median_and_nine_in_ten_at_the_p90(wait: Wait) -> None:
    assert wait.quantile(0.5) == pytest.approx(wait.median)
    assert wait.quantile(0.9) == pytest.approx(wait.p90)
    assert wait.mean >= wait.median


@given(wait=WAITS, one=DAYS, other=DAYS)
def test_more_time_never_lowers_the_chance(wait: Wait, one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert 0.0 <= wait.probability_by(early) <= wait.probability_by(late) <= 1.0


@given(wait=WAITS, one=LEVELS, other=LEVELS)
def test_who_wants_to_be_surer_asks_no_later(wait: Wait, one: float, other: float) -> None:
    need, (less, more) = date(2027, 6, 1), sorted((one, other))
    if wait.quantile(more) < 100_000:
        assert order_by(need, wait, more) <= order_by(need, wait, less) <= need


@given(limit=st.integers(0, 100_000), drawn=st.integers(1, 400))
def test_whole_instances_fit_and_one_more_does_not(limit: int, drawn: int) -> None:
    count = instances_within(limit, drawn)
    assert count * drawn <= limit < (count + 1) * drawn


# --- edges ---


def test_nothing_is_over_at_once() -> None:
    assert LARGE_QUOTA_DAYS.probability_by(0) == LARGE_QUOTA_DAYS.probability_by(-3) == 0.0


def test_a_wait_without_spread_ends_at_its_median() -> None:
    wait = Wait(5.0, 5.0)
    assert (wait.sigma, wait.mean, wait.quantile(0.99)) == (0.0, 5.0, 5.0)
    assert (wait.probability_by(4.99), wait.probability_by(5.0)) == (0.0, 1.0)


@pytest.mark.parametrize(("middle", "high"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0), (math.nan, 1.0)])
def test_impossible_waits_are_refused(middle: float, high: float) -> None:
    with pytest.raises(ValueError, match="median"):
        Wait(middle, high)


def test_a_limit_below_what_is_used_allows_nothing_more() -> None:
    assert instances_within(-192.0, 192.0) == 0
    assert headroom_share(100.0, 125.0) == -0.25
    assert headroom_share(0.0, 0.0) is None


def test_the_gap_is_what_the_plan_needs_beyond_the_limit() -> None:
    assert (gap(64.0, 33.0), gap(33.0, 64.0)) == (31.0, 0.0)


def test_an_unknown_limit_is_not_endless() -> None:
    assert (gap(64.0, None), gap(0.0, None)) == (None, 0.0)
    assert (headroom_share(None, 1.0), headroom_share(100.0, None)) == (None, None)


def test_values_without_a_meaning_are_refused() -> None:
    for call, name in (
        (lambda: instances_within(192, 0), "drawn_per_instance"),
        (lambda: instances_within(math.nan, 192), "limit"),
        (lambda: headroom_share(-1, 0), "limit"),
        (lambda: gap(-1, 0), "planned_peak"),
        (lambda: Wait(1, 2, granted_share=1.1), "granted_share"),
        (lambda: Wait(1, 2, records=-1), "records"),
        (lambda: Wait(1, 2).quantile(1.0), "service_level"),
        (lambda: Wait(1, 2).probability_by(math.nan), "time"),
        (lambda: assumed_quota_wait(-1), "gpus"),
        (lambda: learned_wait([-1.0] * 10, 0), "days"),
        (lambda: learned_wait([1.0] * 10, 11), "granted"),
        (lambda: order_by(date(2027, 1, 1), SERVERS_DAYS, 0.9, burn_in_days=-1), "burn_in_days"),
        (lambda: order_by(date(2027, 1, 1), SERVERS_DAYS, 0.0), "service_level"),
        (lambda: order_by(date(2027, 1, 1), Wait(1_000, 1e6), 0.99), "wait"),
        (lambda: order_by(date(2, 1, 1), SERVERS_DAYS, 0.9, burn_in_days=400), "wait"),
        (lambda: Wait(1e-9, 1e15), "p90"),
        (lambda: instances_within(1e15, 1e-300), "drawn_per_instance"),
    ):
        with pytest.raises(ValueError, match=name):
            call()


def test_days_are_counted_over_a_29_february() -> None:
    # 30 days before 15 March: 14 February in 2028, with a 29th, and 13 February in 2027
    assert order_by(date(2028, 3, 15), LARGE_QUOTA_DAYS, 0.9) == date(2028, 2, 14)
    assert order_by(date(2027, 3, 15), LARGE_QUOTA_DAYS, 0.9) == date(2027, 2, 13)


# --- assumptions and what a log teaches ---


def test_defaults_are_assumptions_and_say_so() -> None:
    for wait in (SMALL_QUOTA_DAYS, LARGE_QUOTA_DAYS, SERVERS_DAYS):
        assert wait.is_assumption
        assert wait.records == 0
    assert (SMALL_QUOTA_DAYS.median, SMALL_QUOTA_DAYS.p90) == (1, 7)
    assert (LARGE_QUOTA_DAYS.median, LARGE_QUOTA_DAYS.p90) == (10, 30)
    assert (SERVERS_DAYS.median, SERVERS_DAYS.p90) == (84, 182)


def test_a_whole_node_is_a_large_request() -> None:
    assert assumed_quota_wait(7) is SMALL_QUOTA_DAYS
    assert assumed_quota_wait(8) is LARGE_QUOTA_DAYS


def test_usable_in_time_is_granted_and_in_time() -> None:
    # half are answered within the median, seven in ten of those are granted
    assert LARGE_QUOTA_DAYS.usable_by(10.0) == pytest.approx(0.35)
    assert SMALL_QUOTA_DAYS.usable_by(10.0) is None  # how many are granted is not known: not certain


def test_nine_records_teach_nothing_and_ten_do() -> None:
    days = [float(day) for day in range(1, 11)]
    assert learned_wait(days[:9], 9) is None
    wait = learned_wait(days, 7)
    assert wait is not None
    # of 1 to 10: the middle is 5.5; nine tenths of the way from the first to the tenth is 9.1
    assert (wait.median, wait.p90, wait.granted_share, wait.records) == (5.5, pytest.approx(9.1), 0.7, 10)
    assert not wait.is_assumption
    assert wait.sigma == pytest.approx(math.log(9.1 / 5.5) / NormalDist().inv_cdf(0.9))


def test_answers_of_the_same_day_count_as_an_hour() -> None:
    wait = learned_wait([0.0] * FEWEST_RECORDS, FEWEST_RECORDS)
    assert wait == Wait(SHORTEST_DAYS, SHORTEST_DAYS, 1.0, FEWEST_RECORDS)


def test_a_request_is_filed_before_the_need_by_wait_and_burn_in() -> None:
    need = date(2027, 1, 15)
    assert order_by(need, LARGE_QUOTA_DAYS, 0.9) == date(2026, 12, 16)  # 30 days
    assert order_by(need, LARGE_QUOTA_DAYS, 0.5, burn_in_days=3) == date(2027, 1, 2)  # 10 + 3
