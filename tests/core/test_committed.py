"""Reserved capacity: payments, use in the books, and what the horizon cuts off."""

from datetime import date

import numpy as np
import pytest

from planner.core.committed import effective_usd_per_gpu_hour, effective_usd_with_time_value
from planner.core.evaluate import evaluate
from tests.builders import make_on_demand, make_plan, make_reserved, make_workload
from tests.core.reading import closing, line, opening, served


def test_a_commitment_is_paid_whether_used_or_not() -> None:
    """8 GPUs committed, 2 used: a quarter of 8 * 2.00 * 744 h is used, the rest is not."""
    plan = make_plan(months=1, workloads=(make_workload(gpus=2.0),), supplies=(make_reserved(),))
    outcome = evaluate(plan)
    assert line(outcome, "Reserve", "recurring") == [11_904.0]
    assert line(outcome, "Reserve", "recurring", "amortized_usd") == [0.0]
    assert line(outcome, "Reserve", "commitment_used", "amortized_usd") == [2_976.0]
    assert line(outcome, "Reserve", "commitment_unused", "amortized_usd") == [8_928.0]
    assert line(outcome, "Reserve", "commitment_used") == [0.0]


def test_an_upfront_payment_is_spread_over_the_real_hours_of_the_term() -> None:
    """A year with 29 February has 8,784 hours: 8,784 upfront is 1.00 an hour."""
    reserved = make_reserved(
        gpus=1,
        start=date(2028, 1, 1),
        payment="all_upfront",
        usd_per_gpu_hour=0.0,
        usd_upfront_per_gpu=8784.0,
    )
    plan = make_plan(
        start=date(2028, 1, 1), months=3, workloads=(make_workload(gpus=1.0),), supplies=(reserved,)
    )
    outcome = evaluate(plan)
    assert line(outcome, "Reserve", "commitment_used", "amortized_usd") == pytest.approx([744, 696, 744])
    assert line(outcome, "Reserve", "upfront") == [8784.0, 0.0, 0.0]
    assert closing(outcome) == pytest.approx([8040.0, 7344.0, 6600.0])
    assert opening(outcome) == 0.0


def test_nothing_is_prepaid_before_the_month_of_the_start() -> None:
    """8 GPUs from 1 February 2027 for a year: 8,760 hours, 672 of them gone at the end of February."""
    reserved = make_reserved(
        start=date(2027, 2, 1), payment="all_upfront", usd_per_gpu_hour=0.0, usd_upfront_per_gpu=8760.0
    )
    outcome = evaluate(make_plan(months=2, supplies=(reserved,)))
    assert closing(outcome).tolist() == pytest.approx([0.0, 8 * (8760.0 - 672.0)])


def test_a_term_that_outlives_the_plan_is_paid_for_what_falls_inside() -> None:
    """July to December 2027 is 184 days, 4,416 hours, of 8,760."""
    reserved = make_reserved(payment="partial_upfront", usd_per_gpu_hour=0.5, usd_upfront_per_gpu=4380.0)
    outcome = evaluate(make_plan(months=6, supplies=(reserved,)))
    assert outcome.off_total["prepaid_remainder_usd"] == pytest.approx(8 * 4380 * 4416 / 8760)
    assert outcome.off_total["recurring_still_owed_usd"] == pytest.approx(8 * 0.5 * 4416)
    assert outcome.total["cash_usd"] == pytest.approx(8 * 4380 + 8 * 0.5 * (8760 - 4416))
    assert outcome.total["amortized_usd"] == pytest.approx(8 * 1.0 * (8760 - 4416))


def test_salvage_credits_its_share_of_the_prepaid_remainder() -> None:
    reserved = make_reserved(
        payment="all_upfront", usd_per_gpu_hour=0.0, usd_upfront_per_gpu=8760.0, salvage_share=0.25
    )
    outcome = evaluate(make_plan(months=6, supplies=(reserved,)))
    assert sum(line(outcome, "Reserve", "residual")) == pytest.approx(-0.25 * 8 * 4416)
    assert sum(line(outcome, "Reserve", "residual", "amortized_usd")) == 0.0
    assert outcome.off_total["prepaid_remainder_usd"] == pytest.approx(8 * 4416)


def test_a_term_may_start_and_end_inside_a_month() -> None:
    """15 February to 15 March 2027: 14 days of 24 h in each; the capacity is there in just those hours."""
    reserved = make_reserved(start=date(2027, 2, 15), term_months=1)
    outcome = evaluate(make_plan(months=4, supplies=(reserved, make_on_demand())))
    assert line(outcome, "Reserve", "recurring") == [0.0, 16 * 336.0, 16 * 336.0, 0.0]
    assert served(outcome, "Reserve") == [0.0, 8 * 336.0, 8 * 336.0, 0.0]
    assert served(outcome, "On demand") == [8 * 744.0, 8 * 336.0, 8 * 408.0, 8 * 720.0]


def test_a_commitment_from_before_the_plan_has_its_upfront_payment_behind_it() -> None:
    reserved = make_reserved(
        start=date(2026, 7, 1), payment="all_upfront", usd_per_gpu_hour=0.0, usd_upfront_per_gpu=8760.0
    )
    outcome = evaluate(make_plan(months=1, supplies=(reserved,)))
    assert outcome.total["cash_usd"] == 0.0
    assert outcome.total["amortized_usd"] == pytest.approx(8 * 744)


def test_a_commitment_that_begins_after_the_plan_leaves_no_trace() -> None:
    outcome = evaluate(make_plan(months=2, supplies=(make_reserved(start=date(2027, 3, 1)),)))
    assert outcome.total["cash_usd"] == 0.0
    assert outcome.off_total["recurring_still_owed_usd"] == 0.0


def test_upfront_is_paid_at_the_begin_and_the_rest_at_month_ends() -> None:
    """At 1 % a month: 8,000 now and 16 * 744 after a month."""
    reserved = make_reserved(payment="partial_upfront", usd_upfront_per_gpu=1000.0)
    plan = make_plan(months=1, supplies=(reserved,), discount_rate_per_year=1.01**12 - 1)
    assert evaluate(plan).total["present_value_usd"] == pytest.approx(8000 + 16 * 744 / 1.01)


def test_effective_rates() -> None:
    assert effective_usd_per_gpu_hour(4380.0, 0.5, 8760) == 1.0
    # 100 upfront over 2 months of 50 h, at 10 % a month: 100 / (50/1.1 + 50/1.21) = 1.1524
    hours, factors = np.array([50.0, 50.0]), np.array([1 / 1.1, 1 / 1.21])
    effective = effective_usd_with_time_value(100.0, 0.0, hours, factors)
    assert effective == pytest.approx(100 / (50 / 1.1 + 50 / 1.21))
    # all upfront at a 2 % lower price is dearer once money costs something
    assert effective > 100.0 / 100.0
