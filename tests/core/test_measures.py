"""The utilization ladder, yearly cost, price trends and units: laws, unknowns and refusals."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core import metrics, prices, units

shares = st.floats(0.0, 1.0)
MET_01 = metrics.ladder(
    gpus=64,
    hours=720,
    availability=0.97,
    allocated_share_of_available=0.8,
    active_share_of_allocated=0.75,
    useful_share_of_active=0.9,
    usd=98_000.0,
)


@given(st.floats(1.0, 1e4), st.floats(1.0, 744.0), shares, shares, shares, shares)
def test_each_rung_is_at_most_the_one_above(
    gpus: float, hours: float, available: float, allocated: float, active: float, useful: float
) -> None:
    rungs = metrics.ladder(
        gpus=gpus,
        hours=hours,
        availability=available,
        allocated_share_of_available=allocated,
        active_share_of_allocated=active,
        useful_share_of_active=useful,
        usd=1.0,
    )
    assert rungs.installed >= rungs.available >= rungs.allocated >= rungs.active >= rungs.useful >= 0.0


def test_idle_money_is_what_active_hours_do_not_carry() -> None:
    active_usd = 98_000 * MET_01.active / MET_01.installed
    assert MET_01.usd_idle is not None
    assert MET_01.usd_allocated_but_idle is not None
    assert MET_01.usd_idle + MET_01.usd_allocated_but_idle + active_usd == pytest.approx(98_000)


def test_no_cost_and_no_hours_have_no_cost_per_hour() -> None:
    unknown = replace(MET_01, usd=None)
    assert (unknown.usd_per_useful, unknown.usd_idle, unknown.usd_allocated_but_idle) == (None,) * 3
    assert replace(MET_01, useful=0.0).usd_per_useful is None


def test_a_missing_part_makes_the_yearly_cost_unknown_and_is_named() -> None:
    cost = metrics.AnnualCost(capital=1.0, energy=None, maintenance=2.0, staff=3.0)
    assert (cost.total, cost.missing, cost.usd_per_gpu_hour(8)) == (None, ("energy",), None)
    assert metrics.AnnualCost(1.0, 2.0, 3.0, 4.0, 5.0).total == 15.0


def test_the_price_falls_by_the_learning_rate_whenever_volume_doubles() -> None:
    at = [prices.learning_curve_usd(30_000.0, 1e6, volume, 0.2) for volume in (1e6, 2e6, 4e6, 8e6)]
    assert at == pytest.approx([30_000.0, 24_000.0, 19_200.0, 15_360.0])
    assert prices.learning_curve_usd(30_000.0, 1e6, 5e6, 0.0) == 30_000.0


@given(st.floats(0.1, 20.0))
def test_ten_times_takes_the_doublings_of_ten(doubling_years: float) -> None:
    yearly = 1.0 + prices.improvement_per_year(doubling_years)
    assert yearly ** prices.years_to_ten_times(doubling_years) == pytest.approx(10.0)


@given(st.floats(0.5, 10.0), st.floats(0.35, 1.0))
def test_the_implied_path_averages_to_the_three_year_price(one: float, share: float) -> None:
    implied = prices.implied_path(one, one * share)
    assert sum(implied.path) / 3 == pytest.approx(one * share)


@pytest.mark.parametrize(
    ("one", "three"), [(7.2, 5.4), (5.4, 7.2), (1.0, 1.0), (3.0, 1.0), (2.0, 9.0), (100.0, 33.4)]
)
def test_a_dearer_three_year_price_implies_a_rising_path(one: float, three: float) -> None:
    implied = prices.implied_path(one, three)
    assert sum(implied.path) == pytest.approx(3 * three)
    assert sum(implied.path[1:]) / 2 == pytest.approx(implied.average_of_years_2_and_3, abs=1e-12)
    assert (implied.decline_per_year < 0) == (three > one)


def test_the_log_rate_compounds_to_the_yearly_improvement() -> None:
    # ln 2 / 2.46 = 0.28177; e^0.28177 - 1 = 0.3255
    assert prices.log_rate_per_year(2.46) == pytest.approx(0.281767, abs=1e-6)
    assert math.expm1(prices.log_rate_per_year(2.46)) == pytest.approx(prices.improvement_per_year(2.46))


@pytest.mark.parametrize(
    "call",
    [
        lambda: prices.improvement_per_year(1e-9),
        lambda: prices.value_of_future_compute(1_200.0, 1.0, -0.999999),
        lambda: prices.drift_per_month(-1e15),
        lambda: prices.learning_curve_usd(1.0, 1e15, 1e-15, 0.999999),
        lambda: prices.learning_curve_usd(1.0, 1.0, 1e-300, 0.999),
        lambda: prices.implied_path(1e-300, 1e15),
    ],
)
def test_what_is_beyond_numbers_is_refused_and_does_not_overflow(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="right would be a number"):
        call()


def test_far_future_compute_is_worth_nothing() -> None:
    assert prices.value_of_future_compute(1_000.0, 1.5, 0.5) == pytest.approx(0.0, abs=1e-200)
    assert prices.value_of_future_compute(10.0, 2.0, 0.0) == pytest.approx(1 / 32)
    assert prices.learning_curve_usd(100.0, 5.0, 5e6, 0.0) == 100.0


def test_refusals() -> None:
    with pytest.raises(ValueError, match="active is 50000; right would be at most allocated"):
        replace(MET_01, active=50_000)
    with pytest.raises(ValueError, match=r"useful is -1\.0"):
        replace(MET_01, useful=-1.0)
    with pytest.raises(ValueError, match="energy is -1"):
        metrics.AnnualCost(1.0, -1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="used_share is 0"):
        metrics.AnnualCost(1.0, 0.0, 0.0, 0.0).usd_per_gpu_hour(8, 0.0)
    with pytest.raises(ValueError, match="usd_three_years is 2; right would be at least a third"):
        prices.implied_path(7.2, 2)
    with pytest.raises(ValueError, match="doubling_years is 0"):
        prices.improvement_per_year(0.0)
    with pytest.raises(ValueError, match=r"learning_rate is 1\.0"):
        prices.learning_curve_usd(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"idle_kw is 5\.0; right would be at most max_kw, 2"):
        units.average_kw(5.0, 2.0, 0.5)
    with pytest.raises(ValueError, match=r"pue is 0\.9; right would be a number from 1 up"):
        units.facility_kwh(1.0, 1.0, 0.9)
    with pytest.raises(ValueError, match="gpus_per_instance is 0"):
        units.whole_instances_down(8.0, 0)
    with pytest.raises(ValueError, match="load_share is 65"):
        units.average_kw(1.0, 2.0, 65)
