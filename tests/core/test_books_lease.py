"""Leases: what is owed, what is charged, and that both come to what is paid."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.lease import (
    STANDARDS,
    Lease,
    Standard,
    lease_liability,
    lease_schedule,
    question_for_accountant,
)

payments = st.lists(st.floats(0.0, 1e6), min_size=1, max_size=40).map(tuple)
few = settings(max_examples=50, deadline=None)


@few
@given(
    payments,
    st.floats(0.0, 0.3),
    st.sampled_from(["begin", "end"]),
    st.floats(0.0, 1e5),
    st.sampled_from(STANDARDS),
)
def test_every_standard_charges_over_the_life_what_is_paid(
    usd: tuple[float, ...], rate: float, timing: str, initial: float, standard: Standard
) -> None:
    schedule = lease_schedule(Lease(usd, rate, timing, initial), standard)  # type: ignore[arg-type]
    size = max(sum(usd) + initial, 1.0)
    assert schedule.expense_usd.sum() == pytest.approx(sum(usd) + initial, abs=1e-9 * size)
    assert schedule.closing_liability_usd[-1] == pytest.approx(0.0, abs=1e-9 * size)
    assert schedule.right_of_use_usd[-1] == pytest.approx(0.0, abs=1e-9 * size)
    assert schedule.payments_usd.sum() == pytest.approx(sum(usd))


@few
@given(payments, st.floats(0.0, 0.3), st.sampled_from(["begin", "end"]))
def test_interest_is_what_is_paid_beyond_the_liability_of_day_one(
    usd: tuple[float, ...], rate: float, timing: str
) -> None:
    schedule = lease_schedule(Lease(usd, rate, timing))  # type: ignore[arg-type]
    first = usd[0] if timing == "begin" else 0.0
    owed = schedule.liability_usd[0] + first
    assert schedule.interest_usd.sum() == pytest.approx(sum(usd) - owed, abs=1e-6)


def test_two_payments_by_hand() -> None:
    """110 and 121 at year ends, 10 %: owed 100 + 100 = 200; interest 20, then (220 - 110) * 10 % = 11."""
    schedule = lease_schedule(Lease((110.0, 121.0), 0.10, "end"), "ifrs_16")
    assert schedule.liability_usd.tolist() == pytest.approx([200.0, 110.0])
    assert schedule.interest_usd.tolist() == pytest.approx([20.0, 11.0])
    assert schedule.right_of_use_at_start_usd == pytest.approx(200.0)
    assert schedule.amortization_usd.tolist() == pytest.approx([100.0, 100.0])
    # 120 and 111 together are the 231 that are paid; an operating lease shows 115.5 twice
    assert schedule.expense_usd.tolist() == pytest.approx([120.0, 111.0])
    operating = lease_schedule(Lease((110.0, 121.0), 0.10, "end"), "asc_842_operating")
    assert operating.expense_usd.tolist() == pytest.approx([115.5, 115.5])
    assert operating.amortization_usd.tolist() == pytest.approx([95.5, 104.5])


def test_finance_leases_cost_most_at_first_and_operating_ones_the_same_every_year() -> None:
    lease = Lease((50_000.0,) * 10, 0.05)
    front = lease_schedule(lease, "asc_842_finance").expense_usd
    assert (np.diff(front) < 0).all()
    assert front.tolist() == pytest.approx(lease_schedule(lease, "ifrs_16").expense_usd.tolist())
    assert np.ptp(lease_schedule(lease, "asc_842_operating").expense_usd) == pytest.approx(0.0, abs=1e-9)


def test_the_right_of_use_of_the_standards_own_example() -> None:
    # IFRS 16 example 13: 355,391 + the 50,000 of day one + 20,000 direct costs - 5,000 incentive
    schedule = lease_schedule(Lease((50_000.0,) * 10, 0.05, "begin", 15_000.0))
    assert schedule.right_of_use_at_start_usd == pytest.approx(420_391, abs=0.5)


def test_at_rate_0_the_liability_is_the_plain_sum() -> None:
    assert lease_liability((10.0, 20.0, 30.0), 0.0) == 60.0


@pytest.mark.parametrize(
    ("asset", "swap", "use", "says"),
    [
        (True, False, True, "this may be a lease"),
        (False, None, None, "Normally a service contract"),
        (True, True, True, "Normally a service contract"),
        (True, None, True, "not known is whether the supplier may swap them"),
        (None, None, None, "certain machines are yours, whether the supplier may swap them, who decides"),
    ],
)
def test_the_accountant_is_asked_and_nothing_decided(
    asset: bool | None, swap: bool | None, use: bool | None, says: str
) -> None:
    text = question_for_accountant(
        36, has_identified_asset=asset, can_supplier_substitute=swap, directs_use=use
    )
    assert says in text


def test_a_term_of_a_year_may_stay_off_the_balance_sheet() -> None:
    signs = {"has_identified_asset": True, "can_supplier_substitute": False, "directs_use": True}
    assert "off the balance sheet" in question_for_accountant(12, **signs)
    assert "off the balance sheet" not in question_for_accountant(13, **signs)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"payments_usd is \(\); right would be at least one payment"):
        Lease((), 0.05)
    with pytest.raises(ValueError, match="payments_usd"):
        Lease((-1.0,), 0.05)
    with pytest.raises(ValueError, match=r"rate_per_period is -1\.0"):
        Lease((1.0,), -1.0)
    with pytest.raises(ValueError, match="timing is 'middle'; right would be begin or end"):
        Lease((1.0,), 0.05, "middle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="standard is 'gaap'"):
        lease_schedule(Lease((1.0,), 0.05), "gaap")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="term_months is 0"):
        question_for_accountant(0, has_identified_asset=True, can_supplier_substitute=False, directs_use=True)
    for refused in (
        lambda: lease_liability((1.0,) * 1_200, -0.5),
        lambda: lease_schedule(Lease((1.0,) * 1_200, -0.5)),
    ):
        with pytest.raises(ValueError, match=r"rate_per_period is -0\.5; right would be a rate at which"):
            refused()
