"""Servers bought: small plans worked out by hand."""

from datetime import date
from itertools import pairwise

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Loan
from tests.builders import make_on_demand, make_owned, make_plan, make_workload
from tests.core.reading import by_month, closing, line, served

NO_DEMAND = make_workload(gpus=0.0)


def test_one_server_two_months() -> None:
    """One 8-GPU server in January (744 h) and February 2027 (672 h), 4 GPUs used, availability 1.

    Energy: P = 2 + (10 - 2) * 4/8 = 6 kW; 6 * PUE 1.5 * 0.10 USD = 0.90 an hour.
    """
    plan = make_plan(
        months=2,
        workloads=(make_workload(gpus=4.0),),
        supplies=(
            make_owned(
                idle_kw_per_server=2.0,
                max_kw_per_server=10.0,
                pue=1.5,
                usd_per_kwh=0.10,
                usd_colocation_per_kw_month=195.0,
                usd_staff_per_fte_year=180_000.0,
                fte_minimum=0.5,
                usd_software_per_server_month=100.0,
                usd_insurance_per_server_month=50.0,
            ),
        ),
    )
    outcome = evaluate(plan)
    assert line(outcome, "Own", "energy") == pytest.approx([0.90 * 744, 0.90 * 672])
    assert line(outcome, "Own", "colocation") == [1950.0, 1950.0]  # 10 kW contracted
    assert line(outcome, "Own", "staff") == [7500.0, 7500.0]  # half a person, a twelfth a month
    assert line(outcome, "Own", "software") == [100.0, 100.0]
    assert line(outcome, "Own", "insurance") == [50.0, 50.0]
    assert line(outcome, "Own", "maintenance") == [0.0, 0.0]  # under warranty
    assert line(outcome, "Own", "hardware_deposit") == pytest.approx([84_000.0, 0.0])
    assert line(outcome, "Own", "hardware_delivery") == pytest.approx([196_000.0, 0.0])
    # 280,000 to 10 % over 60 months: 4,200 a month
    assert line(outcome, "Own", "depreciation", "amortized_usd") == pytest.approx([4200.0, 4200.0])
    # two months in service: 1 - 0.75 * 2/36
    assert line(outcome, "Own", "residual") == pytest.approx([0.0, -280_000 * (1 - 0.75 * 2 / 36)])
    assert served(outcome, "Own") == pytest.approx([4 * 744.0, 4 * 672.0])
    assert outcome.unmet_gpu_hours == 0.0


def test_deposit_delivery_and_capacity_have_their_own_months() -> None:
    """Ordered on 10 February, 60 days later is 11 April; 21 days of burn-in end on 2 May: June serves."""
    owned = make_owned(order_date=date(2027, 2, 10), lead_time_days=60, burn_in_days=21)
    outcome = evaluate(make_plan(months=7, supplies=(owned, make_on_demand())))
    deposit, delivery = (line(outcome, "Own", name) for name in ("hardware_deposit", "hardware_delivery"))
    assert deposit == pytest.approx([0, 84_000.0, 0, 0, 0, 0, 0])
    assert delivery == pytest.approx([0, 0, 0, 196_000.0, 0, 0, 0])
    assert [hours > 0 for hours in served(outcome, "Own")] == [False] * 5 + [True] * 2
    assert [hours > 0 for hours in served(outcome, "On demand")] == [True] * 5 + [False] * 2


def test_costs_run_from_delivery_and_energy_is_idle_until_service() -> None:
    owned = make_owned(
        lead_time_days=31,  # 1 February
        burn_in_days=28,  # in service on 1 March
        idle_kw_per_server=2.0,
        max_kw_per_server=10.0,
        pue=1.0,
        usd_per_kwh=0.10,
        usd_colocation_per_kw_month=100.0,
    )
    outcome = evaluate(make_plan(months=3, supplies=(owned,)))
    assert line(outcome, "Own", "colocation") == [0.0, 1000.0, 1000.0]
    assert line(outcome, "Own", "energy") == pytest.approx([0.0, 0.2 * 672, 1.0 * 744])


def test_colocation_that_includes_energy_is_not_charged_twice() -> None:
    owned = make_owned(
        max_kw_per_server=10.0,
        idle_kw_per_server=None,
        usd_per_kwh=None,
        usd_colocation_per_kw_month=100.0,
        colocation_includes_energy=True,
    )
    outcome = evaluate(make_plan(months=1, supplies=(owned,)))
    assert outcome.gaps == ()
    assert line(outcome, "Own", "energy") == [0.0]
    assert line(outcome, "Own", "colocation") == [1000.0]


def test_maintenance_jumps_when_the_warranty_ends() -> None:
    """Delivered in February with 3 months of warranty: free until April, then 8 % of 280,000 / 12.

    The warranty runs from delivery, not from service in March; network and storage carry no maintenance.
    """
    owned = make_owned(
        lead_time_days=31, burn_in_days=28, warranty_months=3, usd_other_capex_per_server=58_000.0
    )
    outcome = evaluate(make_plan(months=6, supplies=(owned, make_on_demand())))
    yearly = 0.08 * 280_000.0
    assert line(outcome, "Own", "maintenance") == pytest.approx([0, 0, 0, 0, yearly / 12, yearly / 12])
    assert sum(line(outcome, "Own", "hardware_deposit")) == pytest.approx(0.3 * 338_000.0)


def test_spares_cost_capex_colocation_and_idle_energy_and_nothing_else() -> None:
    costs = {
        "idle_kw_per_server": 2.0,
        "max_kw_per_server": 2.0,
        "pue": 1.0,
        "usd_per_kwh": 0.10,
        "usd_colocation_per_kw_month": 100.0,
        "usd_staff_per_fte_year": 120_000.0,
        "servers_per_fte": 10.0,
        "usd_software_per_server_month": 10.0,
        "warranty_months": 0,
    }
    plain = evaluate(make_plan(months=1, supplies=(make_owned(servers=2, **costs),)))
    spare = evaluate(make_plan(months=1, supplies=(make_owned(servers=2, spare_servers=1, **costs),)))
    for name in ("hardware_deposit", "hardware_delivery", "colocation", "energy"):
        assert line(spare, "Own", name)[0] == pytest.approx(1.5 * line(plain, "Own", name)[0])
    for name in ("staff", "software", "maintenance"):
        assert line(spare, "Own", name) == line(plain, "Own", name) != [0.0]
    assert spare.capacity["installed_gpu_hours"].tolist() == plain.capacity["installed_gpu_hours"].tolist()


def test_the_staff_minimum_holds_once_for_the_fleet() -> None:
    """Two purchases of 10 servers at 40 per person need 0.5; the minimum is 1 person, not 2."""
    people = {"fte_minimum": 1.0, "servers_per_fte": 40.0, "usd_staff_per_fte_year": 120_000.0}
    first = make_owned(name="First", servers=10, **people)
    second = make_owned(name="Second", servers=10, lead_time_days=31, **people)
    outcome = evaluate(make_plan(months=3, supplies=(first, second)))
    assert line(outcome, "First", "staff") == pytest.approx([10_000.0, 5_000.0, 5_000.0])
    assert line(outcome, "Second", "staff") == pytest.approx([0.0, 5_000.0, 5_000.0])


def test_a_large_fleet_needs_people_by_servers() -> None:
    owned = make_owned(servers=80, fte_minimum=0.5, servers_per_fte=40.0, usd_staff_per_fte_year=120_000.0)
    outcome = evaluate(make_plan(months=1, supplies=(owned,)))
    assert line(outcome, "Own", "staff") == [20_000.0]


def test_availability_limits_the_gpus_and_not_the_installed_hours() -> None:
    outcome = evaluate(make_plan(months=1, supplies=(make_owned(availability=0.75), make_on_demand())))
    assert served(outcome, "Own") == pytest.approx([6 * 744.0])
    assert served(outcome, "On demand") == pytest.approx([2 * 744.0])
    row = outcome.capacity.iloc[0]
    assert (row["installed_gpu_hours"], row["available_gpu_hours"]) == (8 * 744.0, 6 * 744.0)


def test_full_use_of_available_hours_draws_maximum_power_on_all_servers() -> None:
    """u is used over available: at 6 of 6 available GPUs the server draws its 10 kW."""
    owned = make_owned(
        availability=0.75, idle_kw_per_server=2.0, max_kw_per_server=10.0, pue=1.0, usd_per_kwh=0.10
    )
    outcome = evaluate(make_plan(months=1, workloads=(make_workload(gpus=6.0),), supplies=(owned,)))
    assert line(outcome, "Own", "energy") == pytest.approx([744.0])


def test_economic_life_ends_capacity_and_costs_and_sells() -> None:
    """In service for 2 months, then sold: 1 - 0.75 * 2/36 of 280,000; the books held 2 * 4,200 less."""
    owned = make_owned(economic_life_months=2, usd_software_per_server_month=10.0)
    outcome = evaluate(make_plan(months=4, supplies=(owned, make_on_demand())))
    proceeds, book = 280_000 * (1 - 0.75 * 2 / 36), 280_000.0 - 2 * 4_200.0
    assert line(outcome, "Own", "retirement") == pytest.approx([0, -proceeds, 0, 0])
    assert line(outcome, "Own", "retirement", "amortized_usd") == pytest.approx([0, book - proceeds, 0, 0])
    assert line(outcome, "Own", "residual") == [0.0] * 4
    assert line(outcome, "Own", "software") == [10.0, 10.0, 0.0, 0.0]
    assert [hours > 0 for hours in served(outcome, "Own")] == [True, True, False, False]
    assert closing(outcome)[-1] == pytest.approx(0.0)


def test_depreciation_ends_with_the_accounting_life_and_capacity_does_not() -> None:
    owned = make_owned(accounting_life_months=2, residual_share=0.5)
    outcome = evaluate(make_plan(months=3, supplies=(owned,)))
    assert line(outcome, "Own", "depreciation", "amortized_usd") == pytest.approx([70_000, 70_000, 0])
    assert served(outcome, "Own")[2] > 0


def test_an_order_still_outside_service_is_credited_with_what_was_paid() -> None:
    ordered = make_owned(lead_time_days=400)
    outcome = evaluate(make_plan(months=3, supplies=(ordered, make_on_demand())))
    assert sum(line(outcome, "Own", "residual")) == pytest.approx(-84_000.0)
    assert outcome.off_total["hardware_still_to_pay_usd"] == pytest.approx(196_000.0)
    burning_in = make_owned(burn_in_days=400)
    outcome = evaluate(make_plan(months=3, supplies=(burning_in, make_on_demand())))
    assert sum(line(outcome, "Own", "residual")) == pytest.approx(-280_000.0)


def test_what_was_paid_before_the_plan_is_in_no_total() -> None:
    owned = make_owned(order_date=date(2026, 1, 1))
    outcome = evaluate(make_plan(months=1, supplies=(owned,)))
    assert line(outcome, "Own", "hardware_deposit") == [0.0]
    assert line(outcome, "Own", "depreciation", "amortized_usd") == pytest.approx([4200.0])
    # 13 months in service at the end
    assert line(outcome, "Own", "residual") == pytest.approx([-280_000 * (1 - 0.75 * 13 / 36)])


def test_a_loan_replaces_the_price_by_its_payments() -> None:
    """100,000 borrowed at 12 % nominal (1 % a month) for 2 months: p = 100000 * .01 / (1 - 1.01^-2)."""
    owned = make_owned(
        usd_capex_per_server=100_000.0, deposit_share=0.0, loan=Loan(share=1.0, rate_per_year=0.12, months=2)
    )
    outcome = evaluate(make_plan(months=3, supplies=(owned,), discount_rate_per_year=1.01**12 - 1))
    payment = 100_000 * 0.01 / (1 - 1.01**-2)
    assert line(outcome, "Own", "loan_draw") == [-100_000.0, 0.0, 0.0]
    assert line(outcome, "Own", "loan_payment") == pytest.approx([payment, payment, 0.0])
    interest = [1000.0, (101_000 - payment) * 0.01, 0.0]
    assert line(outcome, "Own", "loan_interest", "amortized_usd") == pytest.approx(interest)
    assert line(outcome, "Own", "loan_interest") == [0.0] * 3
    # borrowed at the discount rate, the present value of the purchase is its price
    assert by_month(outcome, "present_value_usd", ("residual",)).sum() == pytest.approx(100_000.0)


def test_what_is_owed_at_the_horizon_is_paid_off_in_a_line_of_its_own() -> None:
    owned = make_owned(
        usd_capex_per_server=100_000.0, loan=Loan(share=0.5, rate_per_year=0.0, months=10), deposit_share=0.3
    )
    outcome = evaluate(make_plan(months=3, supplies=(owned,)))
    assert line(outcome, "Own", "loan_payment") == pytest.approx([5_000.0] * 3)
    assert line(outcome, "Own", "loan_payoff") == pytest.approx([0, 0, 35_000.0])
    loans = outcome.balances[outcome.balances["item"] == "loan"]["closing_usd"]
    assert loans.tolist() == pytest.approx([-45_000.0, -40_000.0, 0.0])


def test_a_retired_server_takes_its_loan_along() -> None:
    owned = make_owned(
        usd_capex_per_server=100_000.0,
        economic_life_months=2,
        loan=Loan(share=1.0, rate_per_year=0.0, months=10),
        deposit_share=0.0,
    )
    outcome = evaluate(make_plan(months=4, supplies=(owned, make_on_demand())))
    assert line(outcome, "Own", "loan_payment") == pytest.approx([10_000.0, 10_000.0, 0, 0])
    assert line(outcome, "Own", "loan_payoff") == pytest.approx([0, 80_000.0, 0, 0])


def test_each_month_of_delay_changes_the_total_by_the_same_amount() -> None:
    """At rate 0 with amounts per month only: one month's colocation less, 0.75/36 of the price kept."""
    totals = []
    for order in (date(2027, month, 1) for month in (1, 2, 3, 4, 5)):
        owned = make_owned(order_date=order, max_kw_per_server=10.0, usd_colocation_per_kw_month=100.0)
        plan = make_plan(months=24, workloads=(NO_DEMAND,), supplies=(owned,))
        totals.append(evaluate(plan).total["cash_usd"])
    steps = [later - earlier for earlier, later in pairwise(totals)]
    assert steps == pytest.approx([-1000.0 - 280_000 * 0.75 / 36] * 4)
