from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core import money

NAN = float("nan")
flows = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
rates = st.floats(0.0, 0.5)


@given(flows)
def test_present_value_at_rate_0_is_the_plain_sum(amounts: list[float]) -> None:
    for convention in (money.npv_from_now, money.npv_end_of_period, money.npv_mid_period):
        assert convention(amounts, 0.0) == pytest.approx(sum(amounts), abs=1e-6)


@given(st.floats(1e3, 1e7), st.floats(0.0, 1.0), st.floats(0.0, 0.3), st.integers(1, 20))
def test_equivalent_annual_cost_over_the_annuity_is_the_present_value(
    capex: float, share: float, rate: float, years: int
) -> None:
    residual = share * capex
    annual = money.equivalent_annual_cost(capex, residual, rate, years)
    present = capex - residual * (1 + rate) ** -years
    assert annual / money.annuity_factor(rate, years) == pytest.approx(present, rel=1e-9, abs=1e-3)


def test_four_conventions_of_present_value() -> None:
    # 100 now or later at 21 %: 100 / 1.21^0, ^0.5 (= 1.1), ^1
    assert money.npv_from_now([100.0], 0.21) == 100.0
    assert money.npv_mid_period([100.0], 0.21) == pytest.approx(100.0 / 1.1)
    assert money.npv_end_of_period([100.0], 0.21) == pytest.approx(100.0 / 1.21)
    # one leap year later is 366 days of a 365-day year
    dated = [(date(2028, 1, 1), 100.0), (date(2029, 1, 1), 121.0)]
    assert money.npv_dated(dated, 0.21) == pytest.approx(100.0 + 121.0 * 1.21 ** (-366 / 365))


def test_twelve_monthly_factors_make_a_year() -> None:
    factors = money.discount_factors(0.10, 24)
    assert factors.begin[0] == 1.0
    assert factors.end[11] == pytest.approx(1 / 1.1)
    assert factors.begin[12] == pytest.approx(1 / 1.1)
    assert factors.end[23] == pytest.approx(1 / 1.21)


def test_a_payment_at_the_begin_is_smaller_by_one_period() -> None:
    end = money.level_payment(1000.0, 0.02, 10)
    assert money.level_payment(1000.0, 0.02, 10, timing="begin") == pytest.approx(end / 1.02)


def test_a_loan_is_owed_down_to_nothing() -> None:
    # 1000 at 10 % in 2 payments: p = 1000 * 0.1 / (1 - 1.1^-2) = 576.190; after one 1100 - 576.190
    owed = money.loan_balance(1000.0, 0.1, 2, np.array([0.0, 1.0, 2.0]))
    assert owed.tolist() == pytest.approx([1000.0, 523.8095238, 0.0], abs=1e-6)
    assert money.loan_balance(1000.0, 0.0, 4, np.array([1.0])).tolist() == [750.0]


@pytest.mark.parametrize(
    ("months", "share"), [(0, 1.0), (12, 0.75), (36, 0.25), (48, 0.175), (60, 0.10), (99, 0.10)]
)
def test_the_resale_share_falls_in_straight_lines(months: float, share: float) -> None:
    assert money.residual_share_by_age(np.array([float(months)]))[0] == pytest.approx(share)


def test_book_value_stops_at_the_residual() -> None:
    # 1000 to 100 over 9 months: 100 a month
    book = money.book_value(1000.0, 100.0, 9, np.array([-2.0, 0.0, 4.0, 9.0, 12.0]))
    assert book.tolist() == [1000.0, 1000.0, 600.0, 100.0, 100.0]


@pytest.mark.parametrize("timing", money.NPV_LABELS)
@given(amounts=flows)
def test_every_timing_at_rate_0_is_the_plain_sum(timing: money.NpvTiming, amounts: list[float]) -> None:
    days = [date(2027, 1, 1) + timedelta(days=30 * k) for k in range(len(amounts))]
    value = money.present_value(amounts, 0.0, timing, days=days)
    assert value.usd == pytest.approx(sum(amounts), abs=1e-6)
    assert (value.timing, value.label) == (timing, money.NPV_LABELS[timing])


@given(flows, st.floats(0.0, 0.5), st.sampled_from([1, 4, 12]))
def test_the_timings_differ_by_the_time_of_the_first_flow(
    amounts: list[float], rate: float, periods: int
) -> None:
    now, middle, end = (
        money.present_value(amounts, rate, timing, periods_per_year=periods).usd
        for timing in ("from_now", "mid_period", "end_of_period")
    )
    assert now is not None
    assert middle == pytest.approx(now * (1 + rate) ** (-0.5 / periods), rel=1e-9, abs=1e-6)
    assert end == pytest.approx(now * (1 + rate) ** (-1 / periods), rel=1e-9, abs=1e-6)


def test_the_one_function_says_what_the_four_say() -> None:
    flows, rate = [-10_000.0, 3_000.0, 4_200.0, 6_800.0], 0.10
    days = [date(year, 1, 1) for year in (2027, 2028, 2029, 2030)]
    assert money.present_value(flows, rate).usd == pytest.approx(1_307.287753568743)
    assert money.present_value(flows, rate, "end_of_period").usd == pytest.approx(1_188.4434123352216)
    assert money.present_value(flows, rate, "mid_period").usd == money.npv_mid_period(flows, rate)
    dated = money.present_value(flows, rate, "dated", days=days).usd
    assert dated == money.npv_dated(list(zip(days, flows, strict=True)), rate)
    # 2028 is a leap year: the last two flows lie 366 days further on than the first of them
    assert dated == pytest.approx(
        -10_000 + 3_000 / 1.1 + 4_200 * 1.1 ** (-731 / 365) + 6_800 * 1.1 ** (-1096 / 365)
    )


def test_months_are_discounted_at_the_rate_that_compounds_to_the_year() -> None:
    twelve_later = [0.0] * 12 + [110.0]
    assert money.present_value(twelve_later, 0.10, periods_per_year=12).usd == pytest.approx(100.0)


def test_an_unknown_flow_makes_the_value_unknown() -> None:
    assert money.present_value([1.0, None], 0.1).usd is None
    assert money.present_value([1.0, NAN], 0.1).usd is None
    assert money.present_value([None], 0.1, "dated", days=[date(2027, 1, 1)]).usd is None
    assert np.isnan(money.npv_from_now([1.0, NAN], 0.1))
    assert np.isnan(money.equivalent_annual_cost(NAN, 0.0, 0.1, 5))
    assert np.isnan(money.level_payment(NAN, 0.1, 5))


@given(st.floats(0.0, 0.05), st.integers(1, 360))
def test_each_payment_of_a_loan_is_interest_and_less_debt(rate: float, periods: int) -> None:
    """Also at rates so small that 1 + i is 1."""
    owed = money.loan_balance(1000.0, rate, periods, np.arange(periods + 1.0))
    payment = money.level_payment(1000.0, rate, periods)
    for before, after in pairwise(owed.tolist()):
        assert before * (1 + rate) - payment == pytest.approx(after, abs=1e-6)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"rate_per_year is -1\.0; right would be a number above -1"):
        money.monthly_rate(-1.0)
    with pytest.raises(ValueError, match="rate_per_period is nan"):
        money.npv_from_now([1.0], NAN)
    with pytest.raises(ValueError, match=r"periods is 0; right would be a whole number from 1 up"):
        money.annuity_factor(0.1, 0)
    with pytest.raises(ValueError, match="flows is"):
        money.npv_end_of_period([float("inf")], 0.1)
    with pytest.raises(ValueError, match="at least one"):
        money.npv_dated([], 0.1)
    with pytest.raises(ValueError, match="flows is"):
        money.npv_dated([(date(2027, 1, 1), float("inf"))], 0.1)
    with pytest.raises(ValueError, match="timing is 'later'; right would be from_now, end_of_period"):
        money.present_value([1.0], 0.1, "later")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="days is None; right would be one day for each of 1 flows"):
        money.present_value([1.0], 0.1, "dated")
    with pytest.raises(ValueError, match="timing is 'mid'; right would be begin or end"):
        money.level_payment(1.0, 0.1, 5, "mid")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="months_in_service is"):
        money.residual_share_by_age(np.array([-1.0]))
    with pytest.raises(ValueError, match="paid is"):
        money.loan_balance(1.0, 0.1, 5, np.array([NAN]))
    with pytest.raises(ValueError, match="months is 0"):
        money.discount_factors(0.1, 0)


@pytest.mark.parametrize("rate", [3.0, 1.0, 0.05, 1e-12, 0.0, -0.3])
def test_a_loan_of_any_rate_is_owed_down_to_nothing_and_no_further(rate: float) -> None:
    owed = money.loan_balance(1000.0, rate, 1_200, np.array([0.0, 1.0, 1_199.0, 1_200.0, 5_000.0]))
    payment = money.level_payment(1000.0, rate, 1_200)
    assert owed[0] == pytest.approx(1000.0)
    # forwards for one period, backwards for the last: balance * (1 + i) - payment
    assert owed[1] == pytest.approx(1000.0 * (1.0 + rate) - payment, rel=1e-6)
    assert owed[2] * (1.0 + rate) == pytest.approx(payment, rel=1e-6)
    assert owed[3:].tolist() == pytest.approx([0.0, 0.0], abs=1e-9)


def test_discounting_at_a_rate_near_minus_one_is_a_number_or_is_refused() -> None:
    # 0.5 / (1 - 2^1200): nothing is due before the end, where all of it is
    assert money.annuity_factor(-0.5, 1_200) == pytest.approx(0.0, abs=1e-300)
    assert money.npv_from_now([1.0] * 100, -0.5) == pytest.approx(2.0**100 - 1.0)
    for refused in (
        lambda: money.npv_from_now([1.0] * 1_200, -0.5),
        lambda: money.npv_end_of_period([1.0] * 1_200, -0.5),
        lambda: money.present_value([1.0] * 1_200, -0.5, "mid_period"),
        lambda: money.npv_dated([(date(2027, 1, 1), 1.0), (date(9000, 1, 1), 1.0)], -0.5),
        lambda: money.discount_factors(-0.9999999, 12_000),
        lambda: money.npv_dated([(date(2027, 1, 1), 1.0), (date(1027, 1, 1), 1.0)], 999.0),
    ):
        with pytest.raises(ValueError, match=r"rate_per_(period|year) is (-0|999).*; right would be a rate"):
            refused()
