"""FOCUS rows: what is billed, what is effective, and that they meet over a term."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books import focus
from planner.core.books.focus import FocusRow, commitment_use, reservation_use
from planner.core.books.focus_plan import CommitmentMonth, commitment_rows, rows_of_plan
from planner.core.evaluate import evaluate
from planner.core.plan import Block, Contract, ContractStep, PlanRate, PriceStep, SavingsPlan
from tests.builders import make_on_demand, make_plan, make_reserved, make_workload

JANUARY = date(2027, 1, 1)


def usage(status: str | None, effective: float | None, **changes: object) -> FocusRow:
    """Return usage of commitment c."""
    defaults = {"commitment_discount_id": "c", "commitment_discount_status": status}
    return FocusRow("Usage", "Usage-Based", 0.0, effective, **{**defaults, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("payment", "hourly", "upfront"),
    [("no_upfront", 2.0, 0.0), ("partial_upfront", 1.0, 8_760.0), ("all_upfront", 0.0, 17_520.0)],
)
@pytest.mark.parametrize("gpus", [0.0, 3.0, 8.0, 20.0])
def test_over_a_whole_term_effective_usage_is_the_billed_purchase(
    payment: str, hourly: float, upfront: float, gpus: float
) -> None:
    reserved = make_reserved(payment=payment, usd_per_gpu_hour=hourly, usd_upfront_per_gpu=upfront)
    plan = make_plan(workloads=(make_workload(gpus=gpus),), supplies=(make_on_demand(), reserved))
    outcome = evaluate(plan)
    use = commitment_use(rows_of_plan(outcome, "Reserve"), "Reserve")
    assert use.is_settled is True
    # 8 GPUs all year for 2.00 an hour, however it is paid
    assert use.purchased_usd == pytest.approx(8 * 8_760 * 2.0)
    assert use.utilization == pytest.approx(min(gpus, 8.0) / 8.0)


def test_the_rows_are_the_plan_in_both_views() -> None:
    reserved = make_reserved(payment="partial_upfront", usd_per_gpu_hour=1.0, usd_upfront_per_gpu=100.0)
    outcome = evaluate(make_plan(months=7, supplies=(make_on_demand(), reserved)))
    rows = rows_of_plan(outcome, "Reserve")
    own = outcome.monthly[outcome.monthly["supply"] == "Reserve"]
    assert focus.invoice_usd(rows) == pytest.approx(own["cash_usd"].sum())
    assert focus.amortized_usd(rows) == pytest.approx(own["amortized_usd"].sum())
    # the term outlives the plan: more is billed than used up
    assert commitment_use(rows, "Reserve").is_settled is False


def test_savings_of_all_rows_have_the_unused_money_in_them() -> None:
    """6 of 8 GPUs used: on demand they would cost 6 * 4.00, the commitment costs 8 * 2.00 an hour."""
    plan = make_plan(
        months=1,
        workloads=(make_workload(gpus=6.0),),
        supplies=(make_on_demand(), make_reserved()),
    )
    rows = rows_of_plan(evaluate(plan), "Reserve")
    saved = focus.total([focus.savings(row).total_usd for row in rows if row.charge_category == "Usage"])
    assert saved == pytest.approx(744 * (6 * 4.0 - 8 * 2.0))


def test_savings_plans_and_contracts_write_rows_too() -> None:
    savings_plan = SavingsPlan("Save", 10.0, JANUARY, 12, (PlanRate("On demand", 2.5),), upfront_share=0.5)
    contract = Contract("Deal", (ContractStep(JANUARY, 8, 3.0),), date(2028, 1, 1), take_or_pay_share=0.5)
    plan = make_plan(
        workloads=(make_workload(gpus=3.0),), supplies=(make_on_demand(), savings_plan, contract)
    )
    outcome = evaluate(plan)
    for name in ("Save", "Deal"):
        rows = rows_of_plan(outcome, name)
        assert commitment_use(rows, name).is_settled is True
        own = outcome.monthly[outcome.monthly["supply"] == name]
        assert focus.invoice_usd(rows) == pytest.approx(own["cash_usd"].sum())
    # money that covers use has no hours of its own, so no price to save against
    assert {row.list_cost for row in rows_of_plan(outcome, "Save") if row.charge_category == "Usage"} <= {
        None,
        0.0,
    }


def test_an_unknown_price_stays_unknown() -> None:
    outcome = evaluate(make_plan(supplies=(make_on_demand(), make_reserved(usd_per_gpu_hour=None))))
    rows = rows_of_plan(outcome, "Reserve")
    assert focus.invoice_usd(rows) is None
    assert commitment_use(rows, "Reserve").utilization is None
    assert commitment_use(rows, "Reserve").is_settled is None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 1e6), st.floats(0.0, 1.0)), min_size=1, max_size=12))
def test_used_and_unused_are_all(months: list[tuple[float, float]]) -> None:
    rows = [
        row
        for usd, share in months
        for row in commitment_rows(CommitmentMonth("c", JANUARY, 0.0, usd, usd * share, usd * (1 - share)))
    ]
    use = commitment_use(rows, "c")
    assert use.all_usd == pytest.approx(sum(usd for usd, _ in months))
    assert use.is_settled is True
    assert use.utilization is not None
    assert 0.0 <= use.utilization <= 1.0


def test_rows_are_those_of_the_specification() -> None:
    rows = commitment_rows(CommitmentMonth("c", JANUARY, 4380.0, 0.5, 0.75, 0.25, term_end=date(2028, 1, 1)))
    assert [(row.charge_category, row.charge_frequency, row.pricing_category) for row in rows] == [
        ("Purchase", "One-Time", "Standard"),
        ("Purchase", "Recurring", "Standard"),
        ("Usage", "Usage-Based", "Committed"),
        ("Usage", "Usage-Based", "Committed"),
    ]
    assert [row.commitment_discount_status for row in rows] == [None, None, "Used", "Unused"]
    assert [row.charge_period_end for row in rows] == [date(2028, 1, 1)] + 3 * [date(2027, 2, 1)]
    columns = rows[0].columns()
    assert (columns["BilledCost"], columns["EffectiveCost"]) == (4380.0, 0.0)
    assert columns["CommitmentDiscountId"] == "c"
    assert columns["ChargePeriodStart"] == JANUARY


def test_savings_are_negotiated_and_by_commitment() -> None:
    saved = focus.savings(usage("Used", 60.0, list_cost=100.0, contracted_cost=90.0))
    assert (saved.negotiated_usd, saved.commitment_usd, saved.total_usd) == (10.0, 30.0, 40.0)
    saved = focus.savings(usage("Used", 60.0, list_cost=100.0))
    assert (saved.negotiated_usd, saved.commitment_usd, saved.total_usd) == (None, None, 40.0)


def test_hours_that_cost_nothing_still_save_their_price() -> None:
    """Eight GPUs for nothing, six of them used: 744 * 6 * 4.00 saved."""
    reserved = make_reserved(usd_per_gpu_hour=0.0)
    plan = make_plan(months=1, workloads=(make_workload(gpus=6.0),), supplies=(make_on_demand(), reserved))
    (row,) = rows_of_plan(evaluate(plan), "Reserve")
    assert (row.commitment_discount_status, row.effective_cost) == ("Used", 0.0)
    assert focus.savings(row).total_usd == pytest.approx(744 * 6 * 4.0)


def test_the_price_saved_against_follows_drift_and_steps() -> None:
    plan = make_plan(
        months=3,
        workloads=(make_workload(gpus=8.0),),
        supplies=(make_on_demand(), make_reserved()),
        price_drift_per_month=-0.1,
        price_steps=(PriceStep(date(2027, 3, 1), 1.3),),
    )
    used = [row for row in rows_of_plan(evaluate(plan), "Reserve") if row.charge_category == "Usage"]
    # 744, 672 and 744 hours at 4.00, then a tenth less each month, and 30 % more from March
    expected = [744 * 8 * 4.0, 672 * 8 * 4.0 * 0.9, 744 * 8 * 4.0 * 0.81 * 1.3]
    assert [row.list_cost for row in used] == pytest.approx(expected)


def test_a_capacity_block_is_paid_capacity_used_and_unused() -> None:
    """8 GPUs for 14 days from 25 January, bought in December for 5.00: 7 days of January, 6 GPUs used."""
    block = Block("Block", 8, date(2027, 1, 25), 14, 5.0, date(2026, 12, 10))
    plan = make_plan(
        start=date(2026, 12, 1),
        months=3,
        workloads=(make_workload(gpus=6.0),),
        supplies=(make_on_demand(), block),
    )
    outcome = evaluate(plan)
    rows = rows_of_plan(outcome, "Block")
    assert [(row.charge_category, row.charge_frequency, row.pricing_category) for row in rows[:2]] == [
        ("Purchase", "One-Time", "Standard"),
        ("Usage", "Usage-Based", "Standard"),
    ]
    assert rows[0].billed_cost == pytest.approx(14 * 24 * 8 * 5.0)
    assert (rows[0].charge_period_start, rows[0].charge_period_end) == (date(2026, 12, 1), date(2027, 2, 8))
    assert {row.capacity_reservation_id for row in rows} == {"Block"}
    assert {row.commitment_discount_id for row in rows} == {None}
    use = reservation_use(rows, "Block")
    assert use.is_settled is True
    assert use.used_usd == pytest.approx(14 * 24 * 6 * 5.0)
    assert use.utilization == pytest.approx(6 / 8)
    january = [row for row in rows if row.charge_period_start == date(2027, 1, 1)]
    used, unused = sorted(january, key=lambda row: row.capacity_reservation_status != "Used")
    assert (used.capacity_reservation_status, unused.capacity_reservation_status) == ("Used", "Unused")
    assert used.effective_cost == pytest.approx(7 * 24 * 6 * 5.0)
    # 6 GPUs at 4.00 on demand: the block cost more, and its idle GPUs saved nothing
    assert focus.savings(used).total_usd == pytest.approx(7 * 24 * 6 * (4.0 - 5.0))
    assert focus.savings(unused).total_usd == pytest.approx(-7 * 24 * 2 * 5.0)
    own = outcome.monthly[outcome.monthly["supply"] == "Block"]
    assert focus.invoice_usd(rows) == pytest.approx(own["cash_usd"].sum())
    assert focus.amortized_usd(rows) == pytest.approx(own["amortized_usd"].sum())


def test_a_month_is_of_a_commitment_or_of_a_reservation() -> None:
    with pytest.raises(ValueError, match="commitment_discount_id is None; right would be an id"):
        CommitmentMonth(None, JANUARY, 0.0, 1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="capacity_reservation_id is 'd'"):
        reservation_use([usage("Used", 1.0)], "d")


def test_money_of_two_currencies_is_never_added() -> None:
    rows = [usage("Used", 1.0), usage("Used", 1.0, billing_currency="EUR")]
    for refused in (
        lambda: focus.invoice_usd(rows),
        lambda: focus.amortized_usd(rows),
        lambda: commitment_use(rows, "c"),
    ):
        with pytest.raises(ValueError, match="billing_currency is EUR, USD; right would be one currency"):
            refused()
    assert focus.amortized_usd([]) == 0.0


def test_refusals() -> None:
    with pytest.raises(ValueError, match="charge_category is 'Rent'"):
        FocusRow("Rent", "Recurring", 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pricing_category is 'Cheap'"):
        FocusRow("Usage", "Recurring", 1.0, 1.0, pricing_category="Cheap")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="billed_cost is nan"):
        FocusRow("Usage", "Recurring", float("nan"), 1.0)
    with pytest.raises(ValueError, match="commitment_discount_status is 'Idle'"):
        usage("Idle", 1.0)
    with pytest.raises(ValueError, match="commitment_discount_id is None"):
        usage("Used", 1.0, commitment_discount_id=None)
    with pytest.raises(ValueError, match="capacity_reservation_id is None"):
        usage("Used", 1.0, capacity_reservation_status="Unused")
    with pytest.raises(ValueError, match="commitment_discount_status is Used; right would be none on a row"):
        FocusRow(
            "Purchase", "Recurring", 1.0, 0.0, commitment_discount_id="c", commitment_discount_status="Used"
        )
    with pytest.raises(ValueError, match="commitment_discount_id is 'd'"):
        commitment_use([usage("Used", 1.0)], "d")
    with pytest.raises(ValueError, match="right would be Used or Unused on usage"):
        commitment_use([usage(None, 1.0)], "c")
    with pytest.raises(ValueError, match="month is 2027-01-15"):
        CommitmentMonth("c", date(2027, 1, 15), 0.0, 1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="supply is 'On demand'"):
        rows_of_plan(evaluate(make_plan()), "On demand")
