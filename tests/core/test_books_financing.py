"""Buy, borrow or lease over the same months."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.financing import Financing, compare_financing

CASE = Financing(
    usd_capex=280_000.0,
    usd_residual=28_000.0,
    months=60,
    rate_per_year=0.10,
    loan_share=0.8,
    loan_rate_per_year=0.075,
    loan_months=36,
    usd_lease_per_month=5_500.0,
)
few = settings(max_examples=50, deadline=None)


def test_three_ways_added_up_month_by_month() -> None:
    financed = compare_financing(CASE)
    month = [1.1 ** (-m / 12) for m in range(61)]
    left = 28_000 * month[60]
    i = 0.075 / 12
    payment = 224_000 * i / (1 - (1 + i) ** -36)
    assert financed.usd["buy"] == pytest.approx(280_000 - left)
    assert financed.usd["loan"] == pytest.approx(56_000 + payment * sum(month[1:37]) - left)
    assert financed.usd["lease"] == pytest.approx(5_500 * sum(month[:60]))
    assert financed.cheapest == "loan"
    # the level amount, paid at month ends, is worth the same
    for way, usd in financed.usd.items():
        level = financed.usd_per_month[way]
        assert level is not None
        assert level * sum(month[1:]) == pytest.approx(usd)


@few
@given(st.floats(0.0, 0.3), st.floats(0.0, 1.0), st.integers(1, 120), st.integers(1, 120))
def test_a_loan_at_the_discount_rate_costs_what_buying_costs(
    nominal: float, share: float, loan_months: int, months: int
) -> None:
    """Also where the loan outlives the horizon and the rest is paid off."""
    case = replace(
        CASE,
        months=months,
        rate_per_year=(1 + nominal / 12) ** 12 - 1,
        loan_share=share,
        loan_rate_per_year=nominal,
        loan_months=loan_months,
    )
    financed = compare_financing(case)
    assert financed.usd["loan"] == pytest.approx(financed.usd["buy"], rel=1e-9, abs=1e-3)


@few
@given(st.floats(0.0, 0.2), st.floats(0.01, 0.2))
def test_a_dearer_loan_costs_more(rate: float, more: float) -> None:
    dear = compare_financing(replace(CASE, loan_rate_per_year=rate + more)).usd["loan"]
    cheap = compare_financing(replace(CASE, loan_rate_per_year=rate)).usd["loan"]
    assert dear is not None
    assert cheap is not None
    assert dear > cheap


def test_at_rate_0_the_lease_is_the_sum_of_its_payments() -> None:
    assert compare_financing(replace(CASE, rate_per_year=0.0)).usd["lease"] == 60 * 5_500.0


def test_what_is_unknown_stays_unknown() -> None:
    financed = compare_financing(replace(CASE, usd_lease_per_month=None))
    assert financed.usd["lease"] is None
    assert financed.usd_per_month["lease"] is None
    assert financed.usd["buy"] is not None
    assert financed.cheapest is None
    assert financed.missing == ("usd_lease_per_month",)
    assert compare_financing(replace(CASE, usd_capex=None)).usd["loan"] is None
    assert compare_financing(replace(CASE, loan_rate_per_year=None)).usd["loan"] is None
    # without a loan its rate does not matter
    none = compare_financing(replace(CASE, loan_rate_per_year=None, loan_share=0.0))
    assert none.usd["loan"] == none.usd["buy"]
    assert none.missing == ()


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"loan_share is 1\.2; right would be a number from 0 to 1"):
        replace(CASE, loan_share=1.2)
    with pytest.raises(ValueError, match="months is 0"):
        replace(CASE, months=0)
    with pytest.raises(ValueError, match="usd_capex is -1"):
        replace(CASE, usd_capex=-1.0)
    with pytest.raises(ValueError, match="rate_per_year is nan"):
        replace(CASE, rate_per_year=float("nan"))
