"""Stress cases: what a plan still does when something is lost, late, gone, cut or dearer."""

import math
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.explain.recompute import agrees
from planner.core.plan import (
    VIEWS,
    Block,
    Contract,
    ContractStep,
    Outage,
    Owned,
    Plan,
    PlanRate,
    PriceStep,
    QuotaStep,
    SavingsPlan,
)
from planner.core.risk.flaky_node import FlakyNode
from planner.core.risk.stress import all_cases, run_all, run_stress
from planner.core.risk.stress_cases import (
    OrdersSlip,
    PricesRise,
    ProviderLost,
    QuotasCut,
    RegionLost,
    SpotGone,
)
from tests.builders import (
    make_on_demand,
    make_owned,
    make_plan,
    make_reserved,
    make_spot,
    make_workload,
)
from tests.core import strategies

START = date(2027, 1, 1)
JAN, FEB, MAR, APR = 744, 672, 744, 720


def two_regions(**changes: Any) -> Plan:
    """Return 12 critical GPUs: 8 reserved in the west at 2.00, 4 rented in the east at 4.00, quota 6."""
    return make_plan(
        **{
            "months": 4,
            "workloads": (make_workload(gpus=12.0, critical=True),),
            "supplies": (
                make_reserved(provider="A", region="west"),
                make_on_demand(provider="B", region="east", quota_gpus=6),
            ),
            **changes,
        }
    )


def test_a_region_lost_for_two_months_leaves_the_others_quota() -> None:
    found = run_stress(two_regions(), RegionLost("west", from_month=2, months=2))
    hours = JAN + FEB + MAR + APR
    # 6 of 12 GPUs are short in February and March
    assert found.unmet_gpu_hours == {"serving": pytest.approx(6 * (FEB + MAR))}
    assert found.all_work.before == 1.0
    assert found.all_work.after == pytest.approx(1 - 6 * (FEB + MAR) / (12 * hours))
    assert found.critical_work == found.all_work
    assert not found.all_counts
    # the reservation is paid all the same; two more GPUs are rented in both months
    for view in VIEWS:
        assert found.extra_usd[view] == pytest.approx(2 * 4.0 * (FEB + MAR))
    assert found.first_month_unserved == found.first_month_dearer == found.first_month == date(2027, 2, 1)
    assert found.gate is not None
    assert (found.gate.gate, found.gate.month) == ("quota", date(2027, 3, 1))
    assert "Reserve is out of service" in found.gate.text
    assert "Reserve gives nothing from Feb 2027 on, for 2 months." in found.sentence
    assert "cannot be called cheaper or dearer" in found.sentence


def test_a_region_lost_for_good_stays_lost() -> None:
    found = run_stress(two_regions(), RegionLost("west", from_month=3))
    assert found.unmet_gpu_hours["serving"] == pytest.approx(6 * (MAR + APR))


def test_a_lost_provider_takes_what_its_savings_plan_covers_and_not_its_money() -> None:
    rented = make_on_demand(provider="A")
    saving = SavingsPlan("Saving", 8 * 2.0, START, 12, (PlanRate("On demand", 2.0),), provider="A")
    other = make_on_demand(name="Other", provider="B", usd_per_gpu_hour=5.0, reference=False)
    found = run_stress(make_plan(months=1, supplies=(rented, saving, other)), ProviderLost("A"))
    assert found.all_work.after == 1.0
    assert found.extra_usd["cash_usd"] == pytest.approx(8 * 5.0 * JAN)  # the 16 an hour go on
    assert found.gate is None


def test_blocks_and_contracts_in_a_lost_region_give_nothing_and_cost() -> None:
    block = Block("Block", 4, START, 31, 3.0, START, region="west")
    contract = Contract("Contract", (ContractStep(START, 4, 2.5),), date(2027, 3, 1), region="west")
    plan = make_plan(months=2, supplies=(block, contract))
    found = run_stress(plan, RegionLost("west"))
    assert found.all_work.after == 0.0
    assert found.extra_usd["cash_usd"] == 0.0
    before = run_stress(plan, RegionLost("east"))
    assert before.all_work.before == before.all_work.after


def test_an_order_that_slips_is_stood_in_for() -> None:
    # ordered 1 January, 28 days and 84 more: in service in February, then in May (22 April)
    plan = make_plan(supplies=(make_owned(lead_time_days=28), make_on_demand()))
    found = run_stress(plan, OrdersSlip())
    assert found.all_work.after == 1.0
    later = 8 * 4.0 * (FEB + MAR + APR)
    # at 3 months less in service the servers are worth more at the end: 75 % lost over 36 months
    worth = 0.75 * 3 / 36 * 280_000
    assert found.extra_usd["cash_usd"] == pytest.approx(later - worth)
    assert found.first_month_dearer == date(2027, 4, 1)  # in February and March the servers are not paid yet
    assert "84 days later: lead time + 12 * 7" in found.sentence


def test_servers_delivered_before_the_plan_do_not_slip() -> None:
    own = make_owned(order_date=date(2026, 6, 1), lead_time_days=60)
    assert OrdersSlip().applied_to(make_plan(supplies=(own,))) == make_plan(supplies=(own,))


def test_servers_delivered_on_the_first_day_slip() -> None:
    own = make_owned(order_date=date(2026, 12, 1), lead_time_days=31)
    assert OrdersSlip(weeks=2).applied_to(make_plan(supplies=(own,))).supplies == (
        replace(own, lead_time_days=45),
    )


def test_without_spot_its_work_is_rented_on_demand() -> None:
    job = make_workload(kind="training", interruptible=True)
    plan = make_plan(months=2, workloads=(job,), supplies=(make_spot(), make_on_demand()))
    found = run_stress(plan, SpotGone(from_month=2))
    assert found.all_work.after == 1.0
    assert found.extra_usd["cash_usd"] == pytest.approx(8 * FEB * (4.0 - 1.2 / 0.8))
    assert found.first_month_unserved is None
    assert found.first_month_dearer == date(2027, 2, 1)


def test_half_a_quota_is_of_whole_instances() -> None:
    # 28 GPUs are 3 instances of 8; half of 24 is 12, which is one instance
    rented = make_on_demand(quota_gpus=28, gpus_per_instance=8)
    unlimited = make_on_demand(name="No limit", reference=False)
    plan = make_plan(months=1, workloads=(make_workload(gpus=24.0),), supplies=(rented,))
    found = run_stress(plan, QuotasCut())
    assert found.unmet_gpu_hours["serving"] == pytest.approx(16 * JAN)
    assert found.gate is not None
    assert found.gate.gate == "quota"
    assert "On demand 24 to 8 GPUs" in found.sentence
    words = QuotasCut().sentence(replace(plan, supplies=(rented, unlimited)))
    assert words.endswith("No quota is known of No limit: left as it is.")


def test_a_share_is_of_what_a_quota_holds_in_whole_instances() -> None:
    # 31 GPUs are 24 in instances of 8; 80 % of 24 are 19.2, which is 16 (80 % of 31 would be 24)
    plan = make_plan(months=1, supplies=(make_on_demand(quota_gpus=31, gpus_per_instance=8),))
    assert evaluate(QuotasCut(0.8).applied_to(plan)).capacity["quota_gpus"].tolist() == [16.0]


def test_a_cut_from_a_month_on_keeps_what_was_before_and_cuts_what_comes() -> None:
    steps = (QuotaStep(date(2027, 2, 1), 10.0), QuotaStep(date(2027, 4, 1), None))
    plan = make_plan(months=4, supplies=(make_on_demand(quota_gpus=2, quota_steps=steps),))
    cut = QuotasCut(from_month=3).applied_to(plan)
    quotas = evaluate(cut).capacity["quota_gpus"].tolist()
    assert quotas[:3] == [2, 10, 5]
    assert math.isnan(quotas[3])


def test_prices_rise_from_a_month_on_and_terms_keep_theirs() -> None:
    plan = two_regions(price_steps=(PriceStep(date(2027, 3, 1), 2.0),))
    found = run_stress(plan, PricesRise(from_month=2))
    assert found.extra_usd["cash_usd"] == pytest.approx(4 * 4.0 * 0.3 * (FEB + 2 * (MAR + APR)))
    assert found.all_work.after == 1.0
    assert "Terms, contracts, blocks and savings plans keep their prices." in found.sentence


def test_prices_rise_on_top_of_the_step_in_force() -> None:
    plan = make_plan(months=2, price_steps=(PriceStep(START, 2.0),))
    raised = evaluate(PricesRise(from_month=2).applied_to(plan))
    assert raised.total["cash_usd"] == pytest.approx(8 * 4.0 * 2.0 * (JAN + 1.3 * FEB))


def test_a_flaky_node_stretches_a_large_job_and_no_other() -> None:
    large = make_workload(name="pretraining", kind="training", gpus=64.0, gang_gpus=64)
    small = make_workload(name="tuning", kind="training", gpus=2.0)
    plan = make_plan(months=1, workloads=(large, small, make_workload()))
    case = FlakyNode()
    slow = case.slowdown(large)
    assert slow is not None
    assert slow.factor is not None
    assert case.slowdown(small) is None
    assert (slow.nodes, slow.healthy_mtbf_hours) == (8, pytest.approx(750.0))
    assert slow.flaky_mtbf_hours == pytest.approx(24 / 1.028)
    # Daly's 11.1 h are longer than the usual 3 h; near 1 + delta / tau + (R + tau / 2) / M at both M
    assert slow.interval_hours == 3.0
    first_order = [1 + (1 / 12) / 3 + (0.5 + 3 / 2) / mtbf for mtbf in (24 / 1.028, 750.0)]
    assert slow.factor == pytest.approx(first_order[0] / first_order[1], rel=0.01)
    huge = case.slowdown(replace(large, gang_gpus=16_384))
    # 2,048 nodes: 24 / 8.192 h; sqrt(2 delta M) = 0.699 h, less the checkpoint and a little more
    assert huge is not None
    assert huge.interval_hours == pytest.approx(0.644, abs=0.005)
    found = run_stress(plan, case)
    assert found.demand_gpu_hours["pretraining"] == pytest.approx(64 * JAN * slow.factor)
    assert found.demand_gpu_hours["tuning"] == pytest.approx(2 * JAN)
    assert found.extra_usd["cash_usd"] == pytest.approx(64 * JAN * (slow.factor - 1) * 4.0)
    assert found.all_work.after == 1.0


def test_work_is_counted_not_the_hours_that_it_takes() -> None:
    job = make_workload(kind="training", gpus=64.0, gang_gpus=64)
    plan = make_plan(months=1, workloads=(job,), supplies=(make_on_demand(quota_gpus=64),))
    slow = FlakyNode().slowdown(job)
    assert slow is not None
    assert slow.factor is not None
    found = run_stress(plan, FlakyNode())
    assert found.served_gpu_hours["serving"] == pytest.approx(64 * JAN)
    assert found.all_work.after == pytest.approx(1 / slow.factor)


def test_a_job_that_fails_too_often_gets_no_number() -> None:
    job = make_workload(kind="training", gpus=9000.0, gang_gpus=80_000)
    case = FlakyNode(restart_hours=1.0)
    slow = case.slowdown(job)
    assert slow is not None
    assert slow.factor is None
    assert case.applied_to(make_plan(workloads=(job,))) == make_plan(workloads=(job,))
    assert "fails too often for a number" in case.sentence(make_plan(workloads=(job,)))


def test_only_cases_that_apply_are_listed() -> None:
    assert [case.kind for case in all_cases(make_plan())] == ["prices"]
    assert all_cases(make_plan(supplies=(make_reserved(),))) == ()
    rich = two_regions(
        workloads=(make_workload(kind="training", gang_gpus=8, interruptible=True),),
        supplies=(
            make_owned(region="hall", lead_time_days=30),
            make_spot(region="west", provider="A", quota_gpus=8),
            make_on_demand(region="west", provider="A"),
        ),
    )
    kinds = ["region", "region", "provider", "orders", "spot", "quotas", "prices", "flaky_node"]
    assert [case.kind for case in all_cases(rich)] == kinds
    assert [result.kind for result in run_all(rich)] == kinds


def test_unknown_prices_leave_the_money_unknown_and_the_hours_known() -> None:
    plan = two_regions(
        supplies=(
            make_reserved(region="west"),
            make_on_demand(usd_per_gpu_hour=None, region="east", quota_gpus=6),
        )
    )
    found = run_stress(plan, RegionLost("west"))
    assert found.extra_usd == dict.fromkeys(VIEWS)
    assert found.first_month_dearer is None
    assert found.all_work.after == pytest.approx(0.5)
    assert "Cash changes by unknown" in found.sentence
    assert all(agrees(explanation) for explanation in found.explanations)


def test_a_plan_without_demand_has_no_share() -> None:
    found = run_stress(make_plan(workloads=()), PricesRise())
    assert found.all_work.before is None
    assert found.all_work.after is None
    assert found.all_counts


@st.composite
def placed_plans(draw: st.DrawFn) -> Plan:
    """Return plans whose supplies stand somewhere; lives do not end inside, as a slip would move the end."""
    plan = draw(strategies.plans())
    supplies = tuple(
        replace(
            supply,
            region=draw(st.sampled_from(["west", "east", ""])),
            provider=draw(st.sampled_from(["A", "B"])),
            **({"economic_life_months": None} if isinstance(supply, Owned) else {}),
        )
        for supply in plan.supplies
    )
    workloads = tuple(
        replace(
            each, gang_gpus=draw(st.sampled_from([1, 8, 16])) if each.kind == "training" else 1,
            critical=draw(st.booleans()),
        )
        for each in plan.workloads
    )  # fmt: skip
    return replace(plan, supplies=supplies, workloads=workloads)


@given(placed_plans(), st.integers(1, 5), st.none() | st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_hours_are_conserved_in_every_case(plan: Plan, from_month: int, months: int | None) -> None:
    for found in run_all(plan, all_cases(plan, from_month, months)):
        demand = sum(found.demand_gpu_hours.values())
        hours = sum(found.served_gpu_hours.values()) + sum(found.unmet_gpu_hours.values())
        assert hours == pytest.approx(demand)
        assert all(agrees(explanation) for explanation in found.explanations)


@st.composite
def divisible_plans(draw: st.DrawFn) -> Plan:
    """Return plans in which less capacity leaves nobody more.

    A cut below a gang shuts it out and leaves the rest to others, and so may windows that do not lie inside
    each other: without gangs, and with windows of a day or of the month, neither happens.
    """
    plan = draw(placed_plans())
    workloads = tuple(
        replace(
            each,
            gang_gpus=1,
            deferrable_hours=24.0 if each.deferrable_hours == 100.0 else each.deferrable_hours,
        )
        for each in plan.workloads
    )
    return replace(plan, workloads=workloads)


@given(divisible_plans(), st.integers(1, 5), st.none() | st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_no_case_does_more_work(plan: Plan, from_month: int, months: int | None) -> None:
    for found in run_all(plan, all_cases(plan, from_month, months)):
        if found.kind != "prices":  # dearer rent changes who is asked first, so it may do either
            for share in (found.all_work, found.critical_work):
                assert share.before is not None
                assert share.after is not None
                assert share.after <= share.before + 1e-9


def test_a_cut_below_a_gang_leaves_more_to_others() -> None:
    works = (
        make_workload(name="gang", kind="training", gpus=8.0, gang_gpus=16, deferrable_hours=24.0),
        make_workload(name="small", kind="training", gpus=10.0, deferrable_hours=2000.0, critical=True),
    )
    plan = make_plan(months=1, workloads=works, supplies=(make_on_demand(quota_gpus=16),))
    found = run_stress(plan, QuotasCut())
    # before, 8 go to each; at a quota of 8 the gang finds no room and the other takes all of it
    assert found.served_gpu_hours["gang"] == 0.0
    assert found.served_gpu_hours["small"] == pytest.approx(8 * 744)


@given(placed_plans())
@settings(max_examples=30, deadline=None)
def test_a_case_of_nothing_changes_nothing(plan: Plan) -> None:
    before = evaluate(plan)
    nothing = [
        OrdersSlip(weeks=0),
        PricesRise(share=0.0),
        RegionLost("west", months=0),
        ProviderLost("A", months=0),
        SpotGone(months=0),
        QuotasCut(left_share=1.0),
        FlakyNode(failures_per_node_day=0.01, bad_node_failures_per_day=0.01),
    ]
    for case in nothing:
        after = evaluate(case.applied_to(plan))
        assert after.total == before.total
        assert after.unmet_gpu_hours == before.unmet_gpu_hours
        assert after.monthly.equals(before.monthly)
        found = run_stress(plan, case)
        assert found.first_month is None
        assert found.gate is None


def test_cases_add_to_what_the_plan_says_already() -> None:
    plan = two_regions(outages=(Outage(date(2027, 1, 1), 1, region="west"),))
    found = run_stress(plan, RegionLost("east", from_month=4))
    assert found.first_month_unserved == date(2027, 4, 1)
    assert found.unmet_gpu_hours["serving"] == pytest.approx(6 * JAN + 4 * APR)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: RegionLost(""), "region is ''"),
        (lambda: RegionLost("west", from_month=0), "from_month is 0"),
        (lambda: ProviderLost("A", months=-1), "months is -1"),
        (lambda: OrdersSlip(weeks=-1), "weeks is -1"),
        (lambda: QuotasCut(left_share=1.1), "left_share is 1.1"),
        (lambda: PricesRise(share=math.nan), "share is nan"),
        (lambda: FlakyNode(bad_node_failures_per_day=0.001), "at least that of a good node, 0.004"),
    ],
)
def test_cases_that_cannot_be_meant_are_refused(build: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()
