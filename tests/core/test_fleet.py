"""Failures, availability and spare servers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.fleet import (
    availability,
    failures_per_node_day,
    job_mttf_hours,
    mtbf_hours,
    probability_no_shortage,
    spares_needed,
)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 30), st.floats(0.0, 50.0))
def test_no_shortage_is_the_sum_of_the_poisson_terms(spares: int, mean: float) -> None:
    terms = [math.exp(-mean) * mean**count / math.factorial(count) for count in range(spares + 1)]
    assert probability_no_shortage(spares, mean) == pytest.approx(sum(terms), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 50.0), st.floats(0.0, 10.0), st.floats(0.0, 0.999))
def test_the_stock_is_enough_and_one_less_is_not(failures: float, days: float, level: float) -> None:
    stock = spares_needed(failures, days, level)
    assert probability_no_shortage(stock, failures * days) >= level
    assert stock == 0 or probability_no_shortage(stock - 1, failures * days) < level


def test_a_fleet_of_a_great_many_failures_gets_an_answer() -> None:
    """The mean plus 3.09 standard deviations, near enough: 1,000 + 3.09 * 31.6 = 1,098."""
    assert spares_needed(100.0, 10.0, 0.999) == pytest.approx(1098, abs=3)


@pytest.mark.parametrize("mean", [1e-9, 1e-3, 0.5, 6.0, 1e4])
@pytest.mark.parametrize("level", [0.0, 1e-12, 0.5, 0.99, 1.0 - 1e-12])
def test_the_stock_is_the_smallest_at_any_mean_and_level(mean: float, level: float) -> None:
    stock = spares_needed(mean, 1.0, level)
    assert probability_no_shortage(stock, mean) >= level
    assert stock == 0 or probability_no_shortage(stock - 1, mean) < level


def test_twice_the_nodes_fail_twice_as_often() -> None:
    assert job_mttf_hours(64, 0.0065) == pytest.approx(job_mttf_hours(32, 0.0065) / 2)
    rate = failures_per_node_day(13, 100, 20)
    assert job_mttf_hours(100, rate) == pytest.approx(mtbf_hours(20, 13))


def test_values_without_a_meaning_are_refused() -> None:
    for call, name in (
        (lambda: failures_per_node_day(1, 0, 1), "nodes"),
        (lambda: job_mttf_hours(1, 0), "failures_per_node_day"),
        (lambda: mtbf_hours(1, 0), "failures"),
        (lambda: availability(0, 3), "mttf_hours"),
        (lambda: availability(97, -3), "mttr_hours"),
        (lambda: probability_no_shortage(-1, 1), "spares"),
        (lambda: probability_no_shortage(1, math.nan), "mean_in_repair"),
        (lambda: spares_needed(1, 1, 1.0), "service_level"),
        (lambda: spares_needed(-1, 1, 0.9), "failures_per_day"),
        (lambda: spares_needed(1e9, 1, 0.5), "failures_per_day"),
        (lambda: spares_needed(1, 1e9, 0.5), "days_to_replace"),
        (lambda: failures_per_node_day(1.0, 1e-300, 1e-300), "nodes"),
        (lambda: job_mttf_hours(1e-300, 1e-300), "nodes"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
