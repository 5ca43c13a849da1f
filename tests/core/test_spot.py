"""State what interruptions cost, and what published bands allow to say."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.spot import (
    TOO_OFTEN,
    band_hazards_per_hour,
    beats_on_demand,
    checkpoint_share,
    daly_interval_hours,
    first_order_time_factor,
    job_mtbf_hours,
    lowest_hazard_per_hour,
    spot_work,
    time_factor,
    usd_per_useful_gpu_hour_with_fallback,
    young_interval_hours,
)

HOURS = st.floats(0.01, 100.0)


# --- intervals and factors ---


def test_daly_is_young_less_the_checkpoint_where_checkpoints_are_short() -> None:
    young = young_interval_hours(1e-6, 100.0)
    assert daly_interval_hours(1e-6, 100.0) == pytest.approx(young, rel=1e-3)


def test_a_checkpoint_longer_than_two_failures_leaves_one_between_failures() -> None:
    assert daly_interval_hours(2.0, 1.0) == 1.0
    assert daly_interval_hours(5.0, 1.0) == 1.0


@given(st.floats(0.001, 0.2), st.floats(10.0, 1000.0), st.floats(0.5, 2.0))
def test_no_other_interval_beats_dalys_by_more_than_a_thousandth(
    checkpoint: float, mtbf: float, change: float
) -> None:
    best = daly_interval_hours(checkpoint, mtbf)
    least = time_factor(best, checkpoint, 0.1, mtbf)
    assert least <= time_factor(best * change, checkpoint, 0.1, mtbf) * 1.001


@given(HOURS, st.floats(0.001, 1.0), st.floats(0.0, 1.0))
def test_every_hour_of_work_takes_more_than_an_hour_and_failures_make_it_longer(
    interval: float, checkpoint: float, restart: float
) -> None:
    never = time_factor(interval, checkpoint, restart, math.inf)
    rarely = time_factor(interval, checkpoint, restart, 1e5)
    often = time_factor(interval, checkpoint, restart, 1e3)
    assert 1 < never <= rarely <= often


def test_without_failures_only_checkpoints_count() -> None:
    assert time_factor(1.0, 0.05, 9.0, math.inf) == 1.05


def test_the_first_order_is_near_where_everything_is_short() -> None:
    exact = time_factor(1.0, 0.01, 0.05, 200.0)
    assert first_order_time_factor(1.0, 0.01, 0.05, 200.0) == pytest.approx(exact, rel=2e-4)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.001, 1.0), st.floats(3.0, 1000.0), st.floats(1.0, 3.0))
def test_the_best_interval_grows_with_the_checkpoint_and_with_the_time_between_failures(
    checkpoint: float, mtbf: float, times: float
) -> None:
    for interval in (young_interval_hours, daly_interval_hours):
        assert interval(checkpoint, mtbf * times) >= interval(checkpoint, mtbf)
        assert interval(checkpoint * times, mtbf) >= interval(checkpoint, mtbf) * (1 - 1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 16), st.floats(0.001, 0.5), st.floats(0.0, 1.0), st.floats(0.1, 3.0))
def test_more_machines_longer_checkpoints_and_longer_restarts_only_cost(
    instances: int, checkpoint: float, restart: float, interval: float
) -> None:
    def factor(instances: int, checkpoint: float, restart: float) -> float:
        return time_factor(interval, checkpoint, restart, job_mtbf_hours(instances, 50.0))

    usual = factor(instances, checkpoint, restart)
    assert 1.0 <= usual <= factor(instances + 1, checkpoint, restart)
    assert usual <= factor(instances, checkpoint * 1.5, restart)
    assert usual <= factor(instances, checkpoint, restart + 0.5)


def test_a_factor_too_large_for_a_number_is_infinite_and_never_below_one() -> None:
    assert time_factor(1000.0, 0.1, 0.1, 1.0) == math.inf
    assert time_factor(1.0, 0.1, 1000.0, 1.0) == math.inf
    assert time_factor(0.3, 0.0, 0.0, 1e15) >= 1.0
    with pytest.raises(ValueError, match="interval_hours"):
        time_factor(math.inf, 0.1, 0.1, 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: young_interval_hours(0.0, 1.0),
        lambda: daly_interval_hours(0.1, -1.0),
        lambda: daly_interval_hours(math.nan, 1.0),
        lambda: job_mtbf_hours(0, 1.0),
        lambda: time_factor(0.0, 0.1, 0.1, 1.0),
        lambda: checkpoint_share(0.1, 0.0),
        lambda: checkpoint_share(3.0, 2.0),
        lambda: lowest_hazard_per_hour(1.0),
        lambda: lowest_hazard_per_hour(-0.1),
        lambda: usd_per_useful_gpu_hour_with_fallback(1.1, 1.0, 1.0, 1.0),
    ],
)
def test_values_without_a_meaning_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"above 0|share|every_hours"):
        call()


# --- what a job pays ---


def test_waiting_for_capacity_takes_time_and_no_money() -> None:
    job = {"instances": 1, "mtbf_hours_per_instance": 10.0, "checkpoint_hours": 0.05, "restart_hours": 0.1}
    patient, waiting = spot_work(**job), spot_work(**job, unpaid_wait_hours=2.0)
    assert waiting.paid_factor == patient.paid_factor == patient.time_factor
    assert waiting.time_factor == pytest.approx(patient.time_factor * math.exp(2.0 / 10.0))
    assert waiting.useful_work_factor == 1 / patient.paid_factor


def test_no_number_is_given_where_a_job_rarely_reaches_its_next_checkpoint() -> None:
    job = {"mtbf_hours_per_instance": 2.3, "checkpoint_hours": 2 / 60, "restart_hours": 6 / 60}
    assert spot_work(instances=8, **job).refusal == ""
    work = spot_work(instances=16, **job)  # tau + R = 4.8 + 6 minutes against 8.6
    assert work.refusal == TOO_OFTEN
    assert math.isnan(work.time_factor)
    assert math.isnan(work.usd_per_useful_gpu_hour(1.0))
    # waiting counts: it is part of R
    assert spot_work(instances=1, unpaid_wait_hours=2.0, **job).refusal == TOO_OFTEN


def test_an_interval_that_is_given_is_taken() -> None:
    work = spot_work(
        instances=1, mtbf_hours_per_instance=10, checkpoint_hours=0.1, restart_hours=0, interval_hours=1
    )
    assert (work.interval_hours, work.time_factor) == (1, time_factor(1, 0.1, 0, 10))


@given(HOURS, HOURS, st.floats(1.0, 5.0), st.floats(1.0, 1.5))
def test_spot_beats_on_demand_where_its_useful_hour_is_cheaper(
    spot: float, on_demand: float, paid: float, on_demand_factor: float
) -> None:
    cheaper = spot * paid < on_demand * on_demand_factor
    assert beats_on_demand(spot, on_demand, paid, on_demand_factor) == cheaper


def test_seventy_percent_off_may_be_dearer_for_a_large_job() -> None:
    """Eight nodes at 30 % of on demand with a factor of 2.39 pay 72 %; at a factor of 3.4 they pay 102 %."""
    assert beats_on_demand(0.30, 1.0, 2.390071)
    assert not beats_on_demand(0.30, 1.0, 3.4)


def test_with_a_fallback_each_part_of_the_work_costs_its_own() -> None:
    # 3 of 4 hours on spot at 1.00 * 1.2, one on demand at 4.00: 0.9 + 1.0
    assert usd_per_useful_gpu_hour_with_fallback(0.75, 1.0, 1.2, 4.0) == pytest.approx(1.9)
    assert usd_per_useful_gpu_hour_with_fallback(0.0, 1.0, math.nan, 4.0) == 4.0


def test_a_price_that_is_unknown_makes_the_work_it_pays_for_unknown() -> None:
    assert usd_per_useful_gpu_hour_with_fallback(0.5, None, 1.2, 4.0) is None
    assert usd_per_useful_gpu_hour_with_fallback(0.5, 1.0, 1.2, None) is None
    assert usd_per_useful_gpu_hour_with_fallback(1.0, 1.0, 1.2, None) == 1.2
    assert usd_per_useful_gpu_hour_with_fallback(0.0, None, math.nan, 4.0) == 4.0
    # a job that is lost too often for a number
    assert usd_per_useful_gpu_hour_with_fallback(0.5, 1.0, math.nan, 4.0) is None
    assert usd_per_useful_gpu_hour_with_fallback(1.0, 1.0, math.nan, None) is None
    assert beats_on_demand(0.1, 1.0, math.nan) is None
    assert beats_on_demand(None, 1.0, 1.2) is None
    assert beats_on_demand(1.0, None, 1.2) is None


# --- bands ---


def test_a_band_is_a_lower_bound_of_the_hazard_and_the_top_one_has_no_end() -> None:
    # everything running all month: exp(-lambda * 730) = 1 - share
    low, high = band_hazards_per_hour(0.05, 0.10)
    assert math.exp(-low * 730) == pytest.approx(0.95)
    assert high is not None
    assert math.exp(-high * 730) == pytest.approx(0.90)
    assert band_hazards_per_hour(0.20, None)[1] is None
