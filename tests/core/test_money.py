from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core import money

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
