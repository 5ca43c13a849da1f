"""How commitments are used, what they save, when they end."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.figures import (
    CommitmentTerm,
    coverage,
    effective_savings_rate,
    expiring_usd_per_year,
    expiry_figures,
    ladder,
    savings_rate_of_one,
    utilization,
    vacancy_usd,
)
from planner.core.commitments.savings_plan import apply_plans
from planner.core.commitments.usage import SpendPlan, UsageItem

FEW = settings(max_examples=50, deadline=None)
TODAY = date(2027, 1, 15)
YEAR = 8760


def term(name: str, end: date, usd: float | None = 1.0, gpus: float | None = 8.0, start=date(2026, 1, 1)):
    return CommitmentTerm(name, start, end, usd, gpus)


@FEW
@given(st.floats(0.0, 0.9), st.floats(0.05, 1.0))
def test_the_rate_of_one_commitment_is_that_of_its_bill(discount: float, used: float) -> None:
    """A plan of 100 per hour at a discount d, used to a share u, against the same use on demand."""
    item, rate = UsageItem("a", 1.0), 1.0 - discount
    totals = apply_plans(
        [item], np.array([100.0 * used / rate]), [SpendPlan("p", 100.0, {"a": rate})]
    ).totals()
    expected = savings_rate_of_one(discount, used)
    assert totals.effective_savings_rate == pytest.approx(expected, abs=1e-9)
    on_demand = 100.0 * used / rate
    assert effective_savings_rate(totals.usd_charge, on_demand) == pytest.approx(expected, abs=1e-9)
    assert utilization(totals.usd_used, totals.usd_committed) == pytest.approx(used)
    assert vacancy_usd(totals.usd_committed, totals.usd_used) == pytest.approx(100.0 * (1.0 - used))


@pytest.mark.parametrize(
    ("discount", "used", "rate"),
    [(0.35, 1.0, 0.35), (0.35, 0.65, 0.0), (0.35, 0.5, -0.3), (0.0, 1.0, 0.0), (1.0, 0.1, 1.0)],
)
def test_the_discount_is_earned_only_in_full_use(discount: float, used: float, rate: float) -> None:
    assert savings_rate_of_one(discount, used) == pytest.approx(rate)


def test_shares_without_a_base_or_with_an_unknown_part_are_unknown() -> None:
    assert utilization(0.0, 0.0) is None
    assert utilization(None, 1.0) is None
    assert coverage(1.0, None) is None
    assert effective_savings_rate(1.0, 0.0) is None
    assert effective_savings_rate(None, 1.0) is None
    assert savings_rate_of_one(0.3, 0.0) is None
    assert savings_rate_of_one(None, 0.5) is None
    assert vacancy_usd(None, 0.0) is None
    assert vacancy_usd(0.0, 0.0) == 0.0


def test_money_expiring_is_the_yearly_cost_of_terms_that_end_inside_the_window() -> None:
    terms = [
        term("ended today", TODAY),
        term("in 30 days", date(2027, 2, 14)),
        term("in 31 days", date(2027, 2, 15), usd=2.0),
        term("in 90 days", date(2027, 4, 15), usd=4.0),
        term("later", date(2027, 4, 16), usd=8.0),
    ]
    found = expiry_figures(terms, TODAY).expiring_usd_per_year
    assert found == {30: 1 * YEAR, 60: 3 * YEAR, 90: 7 * YEAR}


def test_the_remaining_term_is_weighted_by_money() -> None:
    # 17 days at 1, 107 days at 3
    terms = [term("a", date(2027, 2, 1), usd=1.0), term("b", date(2027, 5, 2), usd=3.0)]
    future = term("not yet", date(2030, 1, 1), usd=9.0, start=date(2027, 2, 1))
    figures = expiry_figures([*terms, future], TODAY)
    assert figures.weighted_remaining_days == pytest.approx((17 * 1 + 107 * 3) / 4)
    assert (figures.active_usd_per_year, figures.active_gpus) == (4 * YEAR, 16.0)


def test_the_cliff_is_the_largest_drop_of_one_month_against_today() -> None:
    terms = [
        term("january", date(2027, 2, 1), usd=1.0, gpus=8.0),
        term("april, early", date(2027, 4, 10), usd=2.0, gpus=8.0),
        term("april, late", date(2027, 5, 1), usd=2.0, gpus=16.0),
        term("money alone", date(2027, 8, 1), usd=5.0, gpus=0.0),
    ]
    figures = expiry_figures(terms, TODAY)
    assert figures.cliff_usd.month == date(2027, 7, 1)
    assert figures.cliff_usd.drop == 5 * YEAR
    assert figures.cliff_usd.share_of_active_today == pytest.approx(0.5)
    assert figures.cliff_gpus.month == date(2027, 4, 1)
    assert figures.cliff_gpus.drop == 24.0
    assert figures.cliff_gpus.share_of_active_today == pytest.approx(24 / 32)


def test_a_purchase_that_follows_on_takes_the_cliff_away() -> None:
    old = term("old", date(2027, 3, 1))
    follow_on = term("new", date(2028, 3, 1), start=date(2027, 3, 1))
    assert expiry_figures([old], TODAY).cliff_gpus.month == date(2027, 2, 1)
    assert expiry_figures([old, follow_on], TODAY).cliff_gpus.month == date(2028, 2, 1)


def test_the_ladder_adds_up_by_the_month_of_the_last_day() -> None:
    terms = [
        term("b", date(2027, 5, 1), usd=2.0),
        term("a", date(2027, 4, 10), usd=1.0),
        term("ended", date(2027, 1, 1)),
        term("far", date(2029, 1, 1), usd=4.0, gpus=None),
    ]
    steps = ladder(terms, TODAY)
    assert [step.month for step in steps] == [date(2027, 4, 1), date(2028, 12, 1)]
    assert (steps[0].usd_per_year, steps[0].gpus, steps[0].names) == (3 * YEAR, 16.0, ("b", "a"))
    assert (steps[1].usd_per_year, steps[1].gpus) == (4 * YEAR, None)


@FEW
@given(st.lists(st.tuples(st.integers(1, 900), st.integers(0, 9), st.integers(0, 9)), max_size=8))
def test_ladder_windows_and_cliff_agree_with_the_terms(drawn: list[tuple[int, int, int]]) -> None:
    terms = [
        term(str(place), date.fromordinal(TODAY.toordinal() + days), float(usd), float(gpus))
        for place, (days, usd, gpus) in enumerate(drawn)
    ]
    figures = expiry_figures(terms, TODAY)
    assert sum(step.usd_per_year for step in figures.ladder) == pytest.approx(figures.active_usd_per_year)
    assert sum(step.gpus for step in figures.ladder) == figures.active_gpus
    within = [figures.expiring_usd_per_year[days] for days in (30, 60, 90)]
    assert within == sorted(within)
    assert within[2] <= figures.active_usd_per_year + 1e-9
    if figures.cliff_usd is not None:  # all are active today, so a month's drop is its step of the ladder
        assert figures.cliff_usd.drop == pytest.approx(max(step.usd_per_year for step in figures.ladder))
        assert 0.0 < figures.cliff_usd.share_of_active_today <= 1.0 + 1e-9


def test_unknown_prices_leave_money_unknown_and_gpus_known() -> None:
    terms = [term("priced", date(2027, 2, 1)), term("unpriced", date(2027, 9, 1), usd=None)]
    figures = expiry_figures(terms, TODAY)
    assert figures.missing == ("unpriced",)
    assert (figures.active_usd_per_year, figures.weighted_remaining_days, figures.cliff_usd) == (None,) * 3
    assert figures.expiring_usd_per_year == {30: YEAR, 60: YEAR, 90: YEAR}
    assert expiring_usd_per_year(terms, TODAY, 300) is None
    assert (figures.active_gpus, figures.cliff_gpus.drop) == (16.0, 8.0)
    assert [step.usd_per_year for step in figures.ladder] == [YEAR, None]


def test_without_commitments_there_is_nothing_to_expire() -> None:
    figures = expiry_figures([], TODAY)
    assert (figures.active_usd_per_year, figures.active_gpus) == (0.0, 0.0)
    assert (figures.weighted_remaining_days, figures.cliff_usd, figures.ladder) == (None, None, ())
    over = expiry_figures([term("over", date(2026, 6, 1))], TODAY)
    assert (over.cliff_gpus, over.ladder) == (None, ())


def test_bad_input_is_refused_with_the_right_range() -> None:
    with pytest.raises(ValueError, match=r"used_usd is 2\.0; right would be at most the whole, 1"):
        utilization(2.0, 1.0)
    with pytest.raises(ValueError, match="covered_usd is -1"):
        coverage(-1.0, 1.0)
    with pytest.raises(ValueError, match=r"discount is 1\.5; right would be a number from 0 to"):
        savings_rate_of_one(1.5, 0.5)
    with pytest.raises(ValueError, match="a: end is 2026-01-01; right would be after the start"):
        term("a", date(2026, 1, 1))
    with pytest.raises(ValueError, match="a: usd_per_hour is nan"):
        term("a", date(2027, 1, 1), usd=float("nan"))
    with pytest.raises(ValueError, match="window_days is 0"):
        expiring_usd_per_year([], TODAY, 0)


def test_a_term_that_is_over_is_not_missing_a_price() -> None:
    over = CommitmentTerm("over", date(2020, 1, 1), date(2021, 1, 1), usd_per_hour=None, gpus=None)
    later = CommitmentTerm("later", date(2027, 1, 1), date(2028, 1, 1), usd_per_hour=None)
    assert expiry_figures([over, later], date(2026, 10, 1)).missing == ("later",)
