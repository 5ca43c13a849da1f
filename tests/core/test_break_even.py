"""Break-even month and utilization. Expected months are found here by adding up month by month."""

from datetime import date

import numpy as np
import pytest

from planner.core.break_even import (
    PaidCapacity,
    break_even_hours,
    break_even_month_of_each,
    break_even_months,
    cumulative_own_and_rent,
    dated_utilization,
    find_break_even,
    utilization_terms,
    utilization_today,
)
from planner.core.calendar import Horizon
from planner.core.evaluate import evaluate
from planner.core.plan import Loan, Outcome, Plan
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_workload

DAYS = [date(2027, month, 1) for month in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("own", "rent", "month", "until"),
    [
        ([5.0, 5.0, 5.0, 5.0], [2.0, 4.0, 6.0, 8.0], 3, None),
        ([5.0, 5.0, 6.0, 8.0], [2.0, 5.0, 6.0, 7.0], 2, 4),  # equal counts as reached
        ([9.0, 9.0, 9.0, 9.0], [2.0, 4.0, 6.0, 8.0], None, None),
        ([2.0, 4.0, 5.0, 6.0], [2.0, 4.0, 6.0, 8.0], 3, None),  # the first months do not differ
        ([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], 1, None),
    ],
)
def test_search(own: list[float], rent: list[float], month: int | None, until: int | None) -> None:
    found = find_break_even(np.array(own), np.array(rent), DAYS, np.zeros(4))
    assert found is not None
    assert (found.month, found.until) == (month, until)
    assert found.date == (None if month is None else DAYS[month - 1])
    assert not found.same_as_baseline


def test_a_plan_that_is_the_baseline_never_differs() -> None:
    found = evaluate(make_plan()).break_even["cash_usd"]
    assert found is not None
    assert (found.month, found.same_as_baseline) == (None, True)


def test_unknown_money_has_no_break_even() -> None:
    assert find_break_even(np.array([np.nan]), np.array([1.0]), DAYS[:1], np.zeros(1)) is None


def price_06(decline: float, months: int = 84) -> Plan:
    """PRICE-06 as a plan: all capex at time 0, 3 months of lead (90 days from January), 3,500 a month."""
    server = make_owned(
        lead_time_days=90,
        deposit_share=1.0,
        fte_minimum=1.0,
        usd_staff_per_fte_year=42_000.0,
        maintenance_share_per_year=0.0,
    )
    return make_plan(
        months=months,
        workloads=(make_workload(gpus=8 * 0.85),),
        supplies=(server, make_on_demand(usd_per_gpu_hour=3.0)),
        discount_rate_per_year=0.10,
        price_drift_per_month=-decline,
    )


@pytest.mark.parametrize(
    ("decline", "published"), [(0.0, 32), (0.005, 36), (0.01, 42), (0.015, 57), (0.02, None)]
)
def test_price_06_with_the_real_hours_of_each_month(decline: float, published: int | None) -> None:
    """The example takes 730 hours a month. With the real hours of 2027 to 2033 the month is the same,
    but for 1.5 %, where the two costs run side by side: 56 instead of 57.
    """
    found = evaluate(price_06(decline)).break_even["present_value_usd"]
    own, rent, expected = 280_000.0, 0.0, None
    for month, hours in enumerate(Horizon(date(2027, 1, 1), 84).hours(), start=1):
        factor = 1.1 ** (-month / 12)
        paid = 6.8 * hours * 3.0 * (1 - decline) ** (month - 1) * factor
        rent += paid
        own += paid if month <= 3 else 3500 * factor
        if expected is None and month > 3 and own <= rent:
            expected = month
    assert found is not None
    assert found.month == expected
    assert expected == (56 if published == 57 else published)


def test_own_may_exceed_rent_again() -> None:
    """Reserved at 2.00 for 24 months against on demand from 2.20, falling 5 % a month."""
    plan = make_plan(
        months=24,
        supplies=(make_reserved(term_months=24), make_on_demand(usd_per_gpu_hour=2.2)),
        price_drift_per_month=-0.05,
    )
    own, rent, dearer = 0.0, 0.0, []
    for month, hours in enumerate(Horizon(date(2027, 1, 1), 24).hours(), start=1):
        own, rent = own + 2.0 * hours, rent + 2.2 * 0.95 ** (month - 1) * hours
        if own > rent:
            dearer.append(month)
    found = evaluate(plan).break_even["cash_usd"]
    assert found is not None
    assert (found.month, found.until) == (1, dearer[0])


def test_the_baseline_is_all_demand_at_the_reference_without_quota() -> None:
    """The marked supply counts, though the other is cheaper; its quota of 1 does not."""
    supplies = (
        make_on_demand(name="Dear", usd_per_gpu_hour=5.0, quota_gpus=1),
        make_on_demand(name="Cheap", usd_per_gpu_hour=3.0, reference=False),
    )
    outcome = evaluate(make_plan(months=1, supplies=supplies))
    assert outcome.cumulative["baseline_cash_usd"].tolist() == [8 * 744 * 5.0]


def test_unmarked_the_cheapest_of_month_1_is_the_reference() -> None:
    supplies = (
        make_on_demand(name="Dear", usd_per_gpu_hour=5.0, reference=False),
        make_on_demand(name="Cheap", usd_per_gpu_hour=3.0, reference=False),
    )
    outcome = evaluate(make_plan(months=1, supplies=supplies))
    assert outcome.reference is not None
    assert outcome.reference.name == "Cheap"


def test_with_residual_the_servers_are_sold_at_that_month() -> None:
    """100,000 for 8 GPUs; rent is 32 an hour. Sold after m months they bring (1 - 0.75 m/36) of it.

    January costs 100,000 - 97,917 = 2,083 when sold, against rent of 23,808: at once.
    Without the sale it takes 5 months: 32 * 3,624 h = 115,968, after 4 it is 92,160.
    """
    server = make_owned(usd_capex_per_server=100_000.0)
    outcome = evaluate(make_plan(supplies=(server, make_on_demand())))
    without, sold = outcome.break_even["cash_usd"], outcome.break_even_with_residual["cash_usd"]
    assert without is not None
    assert sold is not None
    assert (without.month, sold.month) == (5, 1)
    assert 32 * (744 + 672 + 744 + 720) < 100_000 < 32 * (744 + 672 + 744 + 720 + 744)


def test_with_residual_the_books_and_the_cash_meet_rent_in_the_same_month() -> None:
    """A million for 8 GPUs against 20 an hour: the loss on sale (75 % over 36 months, 15 % over the next
    24) runs ahead of rent until after month 60. Selling closes the books, so both views say the same.
    """
    server = make_owned(usd_capex_per_server=1_000_000.0, maintenance_share_per_year=0.0)
    plan = make_plan(months=72, supplies=(server, make_on_demand(usd_per_gpu_hour=2.5)))
    rent, expected = 0.0, None
    for month, hours in enumerate(Horizon(plan.start, 72).hours(), start=1):
        rent += 20.0 * hours
        loss = np.interp(month, [0, 36, 60], [0.0, 750_000.0, 900_000.0])
        if expected is None and loss <= rent:
            expected = month
    outcome = evaluate(plan)
    for view in ("cash_usd", "amortized_usd"):
        found = outcome.break_even_with_residual[view]
        assert found is not None
        assert found.month == expected
    assert expected is not None
    assert expected > 60


@pytest.mark.parametrize("loan", [None, Loan(0.6, 0.08, 36)])
def test_selling_at_the_horizon_gives_the_total(loan: Loan | None) -> None:
    """At the last month "with residual" is the plan's total; here the two cross just there.

    The rent is set so that it equals that total, so the last month is the first at or below rent.
    """
    server = make_owned(residual_share=0.2, loan=loan)
    months = 12
    plan = make_plan(months=months, supplies=(server, make_on_demand()), discount_rate_per_year=0.1)
    total = evaluate(plan).total["present_value_usd"]
    assert total is not None
    factors = 1.1 ** (-np.arange(1, months + 1) / 12)
    hours = Horizon(plan.start, months).hours()
    price = total / float((8 * hours * factors).sum()) * (1 + 1e-9)
    crossing = make_plan(
        months=months,
        supplies=(server, make_on_demand(usd_per_gpu_hour=price)),
        discount_rate_per_year=0.1,
    )
    found = evaluate(crossing).break_even_with_residual["present_value_usd"]
    assert found is not None
    assert found.month == months


def test_unmet_demand_stands_beside_the_break_even() -> None:
    plan = make_plan(months=1, supplies=(make_on_demand(quota_gpus=6),))
    found = evaluate(plan).break_even["cash_usd"]
    assert found is not None
    assert (found.month, found.unmet_gpu_hours) == (1, 2 * 744.0)


def test_break_even_utilization_of_a_commitment_is_its_price_over_on_demand() -> None:
    outcome = evaluate(make_plan(supplies=(make_reserved(usd_per_gpu_hour=2.6), make_on_demand())))
    assert outcome.break_even_utilization == pytest.approx(0.65)
    assert outcome.break_even_utilization_of_available == pytest.approx(0.65)


def test_an_upfront_payment_counts_by_the_hours_inside_the_horizon() -> None:
    """8,760 upfront for 8,760 hours is 1.00 an hour, a quarter of 4.00, over 6 months as over 12."""
    reserved = make_reserved(payment="all_upfront", usd_per_gpu_hour=0.0, usd_upfront_per_gpu=8760.0)
    for months in (6, 12):
        outcome = evaluate(make_plan(months=months, supplies=(reserved, make_on_demand())))
        assert outcome.break_even_utilization == pytest.approx(0.25)


def test_break_even_utilization_of_servers() -> None:
    """12 months of 2027 without discounting: 280,000 less the resale share 0.75 is 70,000 fixed, and
    idle energy 2 kW * 0.10 * 8,760 h = 1,752. Load: (10 - 2) kW * 0.10 / (8 * 0.8) = 0.125 per GPU-hour.
    """
    server = make_owned(
        availability=0.8, idle_kw_per_server=2.0, max_kw_per_server=10.0, pue=1.0, usd_per_kwh=0.10
    )
    outcome = evaluate(make_plan(supplies=(server, make_on_demand())))
    expected = (70_000 + 1_752) / (8 * 8760 * (4.0 - 0.125))
    assert outcome.break_even_utilization == pytest.approx(expected)
    assert outcome.break_even_utilization_of_available == pytest.approx(expected / 0.8)
    assert outcome.break_even_utilization_by_supply == {"Own": pytest.approx(expected)}


def test_break_even_utilization_does_not_depend_on_use() -> None:
    server = make_owned(
        availability=0.8, idle_kw_per_server=2.0, max_kw_per_server=10.0, pue=1.0, usd_per_kwh=0.10
    )
    shares = [
        evaluate(
            make_plan(workloads=(make_workload(gpus=gpus),), supplies=(server, make_on_demand()))
        ).break_even_utilization
        for gpus in (0.0, 3.0, 50.0)
    ]
    assert shares[0] == pytest.approx(shares[1]) == pytest.approx(shares[2])


def test_at_the_break_even_utilization_own_and_rent_cost_the_same() -> None:
    """Demand of just that share of the installed GPUs, served by the servers alone."""
    server = make_owned(
        availability=0.9, idle_kw_per_server=2.0, max_kw_per_server=10.0, pue=1.4, usd_per_kwh=0.10
    )

    def outcome_at(gpus: float) -> Outcome:
        return evaluate(
            make_plan(
                workloads=(make_workload(gpus=gpus),),
                supplies=(server, make_on_demand()),
                discount_rate_per_year=0.1,
                price_drift_per_month=-0.01,
            )
        )

    share = outcome_at(0.0).break_even_utilization
    assert share is not None
    assert 0.0 < share < 0.9
    met = outcome_at(8 * share)
    rent = met.cumulative["baseline_present_value_usd"].iloc[-1]
    assert met.total["present_value_usd"] == pytest.approx(rent, rel=1e-9)


def test_without_on_demand_there_is_nothing_to_break_even_against() -> None:
    outcome = evaluate(make_plan(supplies=(make_reserved(),)))
    assert outcome.break_even == dict.fromkeys(outcome.total)
    assert outcome.break_even_utilization is None


def test_closed_form_at_todays_price() -> None:
    # 35,040 fixed / (8,760 h * 8 GPUs * (1.25 - 0.25)) = 0.5
    assert utilization_today(35_040.0, 8, 1.25, 0.25) == pytest.approx(0.5)


def test_planned_use_is_of_the_capacity_that_the_break_even_is_about() -> None:
    # 6 of 8 reserved GPUs are wanted at every hour
    workloads = (make_workload(gpus=6.0),)
    reserved = evaluate(make_plan(workloads=workloads, supplies=(make_on_demand(), make_reserved())))
    assert reserved.planned_utilization_of_available == pytest.approx(0.75)
    # reserved GPUs come first, so the owned ones beside them, at 97 % availability, get 1 of 7.76
    both = make_plan(
        workloads=(make_workload(gpus=9.0),),
        supplies=(make_on_demand(), make_reserved(), make_owned(availability=0.97)),
    )
    assert evaluate(both).planned_utilization_of_available == pytest.approx(1 / 7.76)
    assert evaluate(make_plan()).planned_utilization_of_available is None


def test_there_is_no_break_even_where_renting_is_not_dearer() -> None:
    assert utilization_today(35_040.0, 8, 0.25, 0.25) is None
    assert dated_utilization(1.0, 0.0) is None
    assert break_even_months(break_even_hours(1.0, 1.0, 2.0)) is None


def test_refusals() -> None:
    nothing = np.zeros(1)
    with pytest.raises(ValueError, match="rent_usd is 2 months; right would be as many as own_usd has, 1"):
        find_break_even(nothing, np.zeros(2), DAYS[:1], nothing)
    with pytest.raises(ValueError, match="unmet_gpu_hours is 1 months; right would be as many as own_usd"):
        find_break_even(np.ones(2), np.ones(2), DAYS[:2], np.zeros(1))
    with pytest.raises(ValueError, match="first_days is 1 months; right would be as many as own_usd has, 2"):
        find_break_even(np.ones(2), np.ones(2), DAYS[:1], np.zeros(2))
    with pytest.raises(ValueError, match="rent_usd is 3 months; right would be as many as own_usd has, 2"):
        break_even_month_of_each(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="unmet_gpu_hours is"):
        find_break_even(nothing, nothing, DAYS[:1], np.array([-1.0]))
    with pytest.raises(ValueError, match=r"utilization is 0\.0"):
        break_even_months(1.0, utilization=0.0)
    with pytest.raises(ValueError, match="gpus is 0"):
        utilization_today(1.0, 0, 1.0, 0.0)
    with pytest.raises(ValueError, match="usd_capex is -1"):
        break_even_hours(-1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="installed_gpu_hours is"):
        PaidCapacity(1.0, np.array([-1.0]), nothing, 0.0)
    with pytest.raises(ValueError, match="end_factors is"):
        utilization_terms([], nothing, nothing)
    with pytest.raises(ValueError, match="utilization is"):
        cumulative_own_and_rent(
            gpus=1,
            usd_capex=1.0,
            usd_running_per_month=1.0,
            lead_months=0,
            usd_rent_per_gpu_hour=1.0,
            utilization=np.array([0.5, 1.5]),
            price_decline_per_month=0.0,
            rate_per_year=0.0,
            hours=nothing,
        )
