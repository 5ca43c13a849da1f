"""Savings plans inside a plan: what committed money covers, and in which order it is used."""

from datetime import date

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import PlanRate, SavingsPlan
from tests.builders import make_on_demand, make_owned, make_plan, make_spot, make_workload
from tests.core.reading import closing, line, served

HOURS = [744, 672, 744]


def make_savings_plan(**changes: object) -> SavingsPlan:
    """Return a commitment of 10.00 an hour for a year that buys on demand at 2.50 instead of 4.00."""
    values: dict[str, object] = {
        "name": "Savings",
        "usd_per_hour": 10.0,
        "start": date(2027, 1, 1),
        "term_months": 12,
        "rates": (PlanRate("On demand", 2.5),),
    }
    return SavingsPlan(**{**values, **changes})  # type: ignore[arg-type]


def plan_with(*supplies: object, gpus: float = 8.0, **workload: object):  # type: ignore[no-untyped-def]
    work = make_workload(gpus=gpus, **workload)
    return make_plan(months=3, workloads=(work,), supplies=(*supplies, make_on_demand()))


def test_committed_money_covers_what_it_can_and_the_rest_pays_on_demand() -> None:
    # 10.00 an hour buys 4 GPUs at 2.50; the other 4 pay 4.00
    outcome = evaluate(plan_with(make_savings_plan()))
    assert served(outcome, "On demand") == pytest.approx([8 * h for h in HOURS])
    assert line(outcome, "On demand", "usage") == pytest.approx([4 * 4.0 * h for h in HOURS])
    assert line(outcome, "Savings", "recurring") == pytest.approx([10.0 * h for h in HOURS])
    assert outcome.total["cash_usd"] == pytest.approx((16.0 + 10.0) * sum(HOURS))


def test_unused_money_is_lost_every_hour_and_nothing_is_carried_over() -> None:
    # nights want 2 GPUs, days 6: 8 on average, and still the nights lose half of the money
    day = tuple(0.5 if h % 24 < 12 else 1.5 for h in range(168))
    outcome = evaluate(plan_with(make_savings_plan(), gpus=4.0, profile=day))
    hours = sum(HOURS)
    assert sum(line(outcome, "Savings", "commitment_used", "amortized_usd")) == pytest.approx(7.5 * hours)
    assert sum(line(outcome, "Savings", "commitment_unused", "amortized_usd")) == pytest.approx(2.5 * hours)
    # 2 of the 6 GPUs of a day pay on demand
    assert sum(line(outcome, "On demand", "usage")) == pytest.approx(2 * 4.0 * hours / 2)


def test_the_highest_discount_is_covered_first_and_ties_at_the_lower_rate() -> None:
    rates = (PlanRate("A", 3.0), PlanRate("B", 1.5), PlanRate("C", 3.0))
    offers = (
        make_on_demand(name="A", usd_per_gpu_hour=4.0, quota_gpus=2.0),  # 25 %
        make_on_demand(name="B", usd_per_gpu_hour=3.0, quota_gpus=2.0, reference=False),  # 50 %
        make_on_demand(name="C", usd_per_gpu_hour=6.0, quota_gpus=2.0, reference=False),  # 50 %, at 3.00
    )
    plan = make_plan(
        months=1,
        workloads=(make_workload(gpus=6.0),),
        supplies=(make_savings_plan(rates=rates, usd_per_hour=7.5), *offers),
    )
    outcome = evaluate(plan)
    # 2 of B take 3.00, of the 4.50 left C takes 1.5 GPUs; A pays on demand, and half a GPU of C
    assert sum(line(outcome, "B", "usage")) == pytest.approx(0.0)
    assert sum(line(outcome, "C", "usage")) == pytest.approx(0.5 * 6.0 * 744)
    assert sum(line(outcome, "A", "usage")) == pytest.approx(2 * 4.0 * 744)


def test_narrow_plans_apply_before_broad_ones() -> None:
    broad = make_savings_plan(name="Broad", rates=(PlanRate("On demand", 2.0),))
    narrow = make_savings_plan(
        name="Narrow", narrow=True, usd_per_hour=8.0, rates=(PlanRate("On demand", 2.0),)
    )
    outcome = evaluate(plan_with(broad, narrow, gpus=5.0))
    assert sum(line(outcome, "Narrow", "commitment_unused", "amortized_usd")) == pytest.approx(0.0)
    # the narrow one covers 4, the broad one the fifth: 2 of its 10.00
    assert sum(line(outcome, "Broad", "commitment_used", "amortized_usd")) == pytest.approx(2.0 * sum(HOURS))


def test_paid_spend_comes_before_spot_and_before_the_energy_of_own_servers() -> None:
    own = make_owned(idle_kw_per_server=0.0, max_kw_per_server=8.0, usd_per_kwh=0.1)
    outcome = evaluate(
        plan_with(
            make_savings_plan(), own, make_spot(usd_per_gpu_hour=0.1), kind="training", interruptible=True
        )
    )
    assert served(outcome, "On demand") == pytest.approx([4 * h for h in HOURS])
    assert sum(served(outcome, "Own")) + sum(served(outcome, "Spot")) == pytest.approx(4 * sum(HOURS))


def test_upfront_money_is_paid_at_the_start_and_used_by_the_hour() -> None:
    outcome = evaluate(plan_with(make_savings_plan(upfront_share=0.4)))
    whole = 10.0 * 8760
    assert line(outcome, "Savings", "upfront") == pytest.approx([0.4 * whole, 0.0, 0.0])
    assert line(outcome, "Savings", "recurring") == pytest.approx([6.0 * h for h in HOURS])
    left = 0.4 * whole * (8760 - sum(HOURS)) / 8760
    assert closing(outcome)[-1] == pytest.approx(left)
    assert outcome.off_total["prepaid_remainder_usd"] == pytest.approx(left)


def test_a_supply_that_is_not_named_is_not_covered() -> None:
    other = make_on_demand(name="Other", reference=False, usd_per_gpu_hour=3.0)
    outcome = evaluate(plan_with(make_savings_plan(), other, gpus=8.0))
    # the covered 4 first, then the cheaper supply, which pays its own price in full
    assert sum(line(outcome, "Other", "usage")) == pytest.approx(4 * 3.0 * sum(HOURS))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (make_savings_plan(rates=()), "rates is none; right would be the price of at least one"),
        (
            make_savings_plan(rates=(PlanRate("Nobody", 2.0),)),
            "rates is 'Nobody'; right would be the name of an",
        ),
        (make_savings_plan(usd_per_hour=0.0), "usd_per_hour is 0.0; right would be a number above 0"),
        (make_savings_plan(upfront_share=2.0), "upfront_share is 2.0; right would be a number from 0 to 1"),
    ],
)
def test_absurd_savings_plans_are_refused(plan: SavingsPlan, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(plan_with(plan))
