"""What a plan's critical work hangs on: shares by supplier, the loss of one, ladders, expected shortfall."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.explain.recompute import agrees
from planner.core.plan import Block, OnDemand, Outage, Plan, PlanRate, Region, SavingsPlan, Validation
from planner.core.risk.explained import concentration_explained, coverage_explained, shortfall_explained
from planner.core.risk.of_plan import KEYS, concentration_of_plan, critical_work_of, need_of
from planner.core.risk.plan_coverage import coverage_of_plan
from planner.core.risk.plan_ladder import ladders_of_plan
from planner.core.risk.plan_shortfall import shortfall_of_plan
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
JAN, FEB = 744, 672
VENDORS = {"H100": "NVIDIA", "MI300X": "AMD"}


def three_suppliers(**changes: Any) -> Plan:
    """Return 20 critical GPUs: 8 owned, 8 reserved with A, 4 of a quota of 6 with B; 4 GPUs that may wait."""
    return make_plan(
        **{
            "months": 2,
            "workloads": (
                make_workload(gpus=20.0, critical=True),
                make_workload(name="batch", kind="training", gpus=2.0),
            ),
            "supplies": (
                make_owned(region="hall"),
                make_reserved(provider="A", region="west"),
                make_on_demand(provider="B", region="east", quota_gpus=6),
            ),
            **changes,
        }
    )


def test_shares_are_of_critical_hours_alone() -> None:
    found = concentration_of_plan(evaluate(three_suppliers()), VENDORS)
    assert found.work.names == ("serving",)
    assert not found.work.all_counts
    assert found.served_gpu_hours == pytest.approx(20 * (JAN + FEB))
    by_provider = found.by_key["provider"]
    assert by_provider.shares == pytest.approx({"own": 0.4, "A": 0.4, "B": 0.2})
    # 40^2 + 40^2 + 20^2
    assert by_provider.hhi == pytest.approx(3600)
    assert by_provider.effective_number == pytest.approx(10_000 / 3600)
    assert found.by_key["vendor"].hhi == pytest.approx(10_000)
    assert set(found.by_key["site"].shares) == {"own hall", "A west", "B east"}


def test_only_what_is_committed_has_a_month_of_expiry() -> None:
    block = Block("Block", 4, START, 59, 3.0, START, provider="A")  # to the end of February
    plan = three_suppliers(supplies=(make_reserved(term_months=12), block, make_on_demand()))
    found = concentration_of_plan(evaluate(plan), VENDORS).by_key["expiry_month"]
    assert found.shares == pytest.approx({"2027-12": 8 / 12, "2027-02": 4 / 12})
    assert found.left_out_gpu_hours == pytest.approx(8 * (JAN + FEB))
    # 100 * 2/3 and 100 * 1/3, squared
    assert found.hhi == pytest.approx((100 * 2 / 3) ** 2 + (100 / 3) ** 2)


def test_a_name_that_nobody_gave_is_unknown() -> None:
    plan = three_suppliers(supplies=(make_reserved(provider="A"), make_on_demand(quota_gpus=None)))
    found = concentration_of_plan(evaluate(plan), {}).by_key
    assert found["provider"].hhi is None
    assert found["provider"].unknown == ("On demand",)
    # 40 % with A, 60 % with somebody else, or with A too
    assert found["provider"].hhi_from == pytest.approx(40**2 + 60**2)
    assert found["provider"].hhi_to == pytest.approx(10_000)
    assert found["vendor"].hhi is None


def test_without_critical_work_all_counts_and_it_says_so() -> None:
    plan = three_suppliers(workloads=(make_workload(gpus=8.0), make_workload(name="batch", gpus=8.0)))
    found = concentration_of_plan(evaluate(plan), VENDORS)
    assert found.work.all_counts
    assert found.work.text == "no workload is marked critical, so all count: serving, batch"
    assert found.served_gpu_hours == pytest.approx(16 * (JAN + FEB))


def test_a_plan_without_work_or_supply_has_no_index() -> None:
    found = concentration_of_plan(evaluate(make_plan(workloads=())), VENDORS)
    assert [found.by_key[key].hhi for key in KEYS] == [None] * 5
    empty = coverage_of_plan(evaluate(make_plan(supplies=())))
    assert empty.worst is None
    assert shortfall_of_plan(evaluate(make_plan(months=1, supplies=())), {}, 0.3).gpu_hours == 8 * JAN


def test_the_loss_of_each_supplier_leaves_the_others_capacity() -> None:
    found = coverage_of_plan(evaluate(three_suppliers()))
    # 8 own + 8 reserved + 6 of quota for 20
    shares = {each.lost: each.share for each in found.months[0].losses}
    assert shares == pytest.approx({"Own": 14 / 20, "A": 14 / 20, "B": 16 / 20})
    assert found.months[0].critical_gpus == pytest.approx(20.0)
    assert found.worst is not None
    assert found.worst.share == pytest.approx(0.7)
    assert found.worst_month == START
    assert found.meets(0.7) is True
    assert found.meets(0.71) is False


def test_the_worst_month_is_found() -> None:
    plan = three_suppliers(outages=(Outage(date(2027, 2, 1), 1, provider="B"),))
    found = coverage_of_plan(evaluate(plan), by="region")
    assert found.worst_month == date(2027, 2, 1)
    assert found.worst is not None
    assert (found.worst.lost, found.worst.share) == ("hall", pytest.approx(8 / 20))


def test_an_unknown_quota_is_unknown_and_not_endless() -> None:
    plan = three_suppliers(supplies=(make_reserved(provider="A"), make_on_demand(provider="B")))
    found = coverage_of_plan(evaluate(plan))
    lost = {each.lost: each for each in found.months[0].losses}
    assert (lost["A"].share, lost["A"].is_lower_bound, lost["A"].unknown) == (0.0, True, ("On demand",))
    assert (lost["B"].share, lost["B"].is_lower_bound) == (pytest.approx(0.4), False)
    assert found.meets(0.4) is None
    assert found.meets(0.5) is False


def test_spot_and_savings_plans_are_no_fallback() -> None:
    job = make_workload(kind="training", interruptible=True, critical=True)
    rented = make_on_demand(provider="A", quota_gpus=16)
    saving = SavingsPlan("Saving", 8.0, START, 12, (PlanRate("On demand", 2.0),), provider="A")
    spot = make_spot(provider="B", quota_gpus=100)
    outcome = evaluate(make_plan(months=1, workloads=(job,), supplies=(rented, saving, spot)))
    shares = {each.lost: each.share for each in coverage_of_plan(outcome).months[0].losses}
    assert shares == {"A": 0.0, "B": 1.0}


def test_spot_of_unknown_quota_leaves_the_coverage_certain() -> None:
    job = make_workload(kind="training", interruptible=True, critical=True)
    supplies = (make_on_demand(provider="A", quota_gpus=16), make_spot(provider="B"))
    outcome = evaluate(make_plan(months=1, workloads=(job,), supplies=supplies))
    worst = coverage_of_plan(outcome).worst
    assert worst is not None
    assert (worst.lost, worst.share, worst.is_lower_bound) == ("A", 0.0, False)


def test_a_faster_gpu_counts_as_one() -> None:
    serving = make_workload(
        critical=True,
        validations=(Validation("H100", 1.0, START), Validation("MI300X", 2.0, START)),
    )
    supplies = (
        make_on_demand(provider="A", quota_gpus=8),
        make_on_demand(
            name="AMD", provider="B", gpu_model="MI300X", quota_gpus=3, usd_per_gpu_hour=9.0, reference=False
        ),
    )
    outcome = evaluate(make_plan(months=1, workloads=(serving,), supplies=supplies))
    shares = {each.lost: each.share for each in coverage_of_plan(outcome).months[0].losses}
    assert shares == pytest.approx({"A": 3 / 8, "B": 1.0})
    ladder = ladders_of_plan(outcome)[0]
    assert (ladder.primary, ladder.ladder.served_gpus) == ("On demand", 3.0)


def test_portability_is_of_what_is_validated_and_may_run_there() -> None:
    serving = make_workload(
        gpus=8.0,
        critical=True,
        regions=(Region("west"), Region("east")),
        validations=(
            Validation("H100", 1.0, date(2026, 1, 1)),
            Validation("MI300X", 0.5, date(2027, 2, 1)),
        ),
    )
    supplies = (
        make_reserved(provider="A", region="west"),
        make_reserved(name="AMD", provider="B", region="east", gpu_model="MI300X"),
        make_reserved(name="Far", provider="C", region="north"),
    )
    found = coverage_of_plan(evaluate(three_suppliers(workloads=(serving,), supplies=supplies)))
    lost_a = [next(e.share for e in month.losses if e.lost == "A") for month in found.months]
    # not validated in January; 8 * 0.5 of 8 in February; "Far" is out of bounds in both
    assert lost_a == pytest.approx([0.0, 0.5])


def test_what_only_one_workload_may_use_does_not_serve_the_others() -> None:
    both = (
        make_workload(name="one", gpus=10.0, critical=True, regions=(Region("west"),)),
        make_workload(name="other", gpus=10.0, critical=True, regions=(Region("east"),)),
    )
    supplies = (
        make_on_demand(name="West", provider="A", region="west", quota_gpus=10),
        make_on_demand(name="East", provider="B", region="east", quota_gpus=100, reference=False),
    )
    found = coverage_of_plan(evaluate(three_suppliers(workloads=both, supplies=supplies)))
    # 100 GPUs in the east would cover 20 on paper; the work of the west cannot go there
    assert {e.lost: e.share for e in found.months[0].losses} == pytest.approx({"A": 0.5, "B": 0.25})


def test_a_ladder_follows_the_merit_order_and_tells_its_dates() -> None:
    serving = make_workload(
        gpus=20.0,
        critical=True,
        validations=(
            Validation("H100", 1.0, date(2026, 3, 1)),
            Validation("H100", 1.0, date(2026, 9, 1), precision="fp8"),
            Validation("MI300X", 0.75, date(2026, 12, 1)),
            Validation("TPU", 1.0, None),
        ),
        regions=(Region("west"),),
    )
    supplies = (
        make_on_demand(name="Dear", usd_per_gpu_hour=6.0, quota_gpus=6, reference=False),
        make_on_demand(name="Primary", quota_gpus=20),
        make_on_demand(name="TPU", gpu_model="TPU", quota_gpus=50, reference=False),
        make_reserved(name="AMD", gpus=8, gpu_model="MI300X", start=date(2027, 2, 1)),
        make_on_demand(name="Far", region="north", quota_gpus=50, reference=False),
        make_spot(quota_gpus=50),
    )
    plan = make_plan(months=2, workloads=(serving,), supplies=supplies)
    found = ladders_of_plan(evaluate(plan), month=2)[0]
    assert (found.primary, found.month, found.demand_gpus) == ("Primary", date(2027, 2, 1), 20.0)
    assert [rung.name for rung in found.ladder.rungs] == ["AMD", "Dear", "TPU"]
    # 8 * 0.75, then 6, of 20
    assert [rung.served_gpus for rung in found.ladder.rungs] == [6.0, 6.0, 0.0]
    assert found.ladder.served_gpus == 12.0
    assert found.ladder.unvalidated == ("TPU",)
    assert found.ladder.rungs[2].reason == "never validated"
    assert found.last_validated == {"AMD": date(2026, 12, 1), "Dear": date(2026, 9, 1), "TPU": None}
    assert found.shut == {
        "Far": "in a region in which it may not run",
        "Spot": "spot is not counted on",
    }
    january = ladders_of_plan(evaluate(plan), month=1, valid_for_days=30)[0]
    reasons = {rung.name: rung.reason for rung in january.ladder.rungs}
    assert reasons["Dear"] == "validated 122 days ago, longer than 30"


def test_a_ladder_knows_gangs_later_validations_and_the_busiest_month() -> None:
    job = make_workload(
        kind="training",
        gpus=8.0,
        growth_per_month=0.1,
        gang_gpus=8,
        critical=True,
        validations=(Validation("H100", 1.0, START), Validation("MI300X", 1.0, date(2027, 3, 1))),
    )
    supplies = (
        make_on_demand(quota_gpus=None),
        make_on_demand(name="Small", quota_gpus=4, reference=False),
        make_reserved(name="AMD", gpu_model="MI300X"),
    )
    found = ladders_of_plan(evaluate(make_plan(months=2, workloads=(job,), supplies=supplies)))[0]
    assert found.month == date(2027, 2, 1)
    assert found.demand_gpus == pytest.approx(8.8)
    assert found.shut == {"Small": "cannot hold its GPUs at once"}
    assert [rung.reason for rung in found.ladder.rungs] == ["validated only on 2027-03-01"]


def test_the_plans_own_gpu_needs_no_record_and_others_do() -> None:
    supplies = (
        make_on_demand(),
        make_on_demand(name="Other", quota_gpus=3, usd_per_gpu_hour=5.0, reference=False),
        make_reserved(name="AMD", gpu_model="MI300X"),
    )
    found = ladders_of_plan(evaluate(make_plan(months=1, supplies=supplies)))[0]
    assert [(rung.name, rung.served_gpus, rung.reason) for rung in found.ladder.rungs] == [
        ("Other", 3.0, ""),
        ("AMD", 0.0, "never validated"),
    ]
    assert found.last_validated == {"Other": None, "AMD": None}


def test_nobody_serves_and_all_are_rungs() -> None:
    late = make_owned(lead_time_days=100)
    found = ladders_of_plan(evaluate(make_plan(months=1, supplies=(late,))))[0]
    assert found.primary is None
    assert found.ladder.served_gpus == 0.0


def test_the_expected_shortfall_of_two_sources_by_hand() -> None:
    # need 10 of 8 (up 90 %) and 4 (up 80 %): (0.08 * 6 + 0.18 * 2 + 0.02 * 10) GPUs if independent
    plan = make_plan(
        months=2,
        workloads=(make_workload(gpus=10.0, critical=True),),
        supplies=(make_reserved(), make_on_demand(quota_gpus=4)),
    )
    outcome = evaluate(plan)
    found = shortfall_of_plan(outcome, {"Reserve": 0.9, "On demand": 0.8}, common_cause_weight=0.0)
    assert found.gpu_hours == pytest.approx(1.04 * (JAN + FEB))
    assert [each.gpu_hours for each in found.months] == pytest.approx([1.04 * JAN, 1.04 * FEB])
    # one cause: both out 10 %, the second alone 10 %
    one = shortfall_of_plan(outcome, {"Reserve": 0.9, "On demand": 0.8}, common_cause_weight=1.0)
    assert one.gpu_hours == pytest.approx((0.1 * 10 + 0.1 * 2) * (JAN + FEB))


def test_an_availability_that_nobody_gave_makes_it_at_most() -> None:
    plan = make_plan(
        months=1,
        workloads=(make_workload(gpus=10.0),),
        supplies=(make_reserved(), make_on_demand(quota_gpus=4)),
    )
    found = shortfall_of_plan(evaluate(plan), {"Reserve": 1.0}, common_cause_weight=0.5)
    assert found.gpu_hours is None
    assert found.most_gpu_hours == pytest.approx(2 * JAN)
    assert found.unknown == ("On demand",)
    assert found.work.all_counts


def test_certain_sources_lack_what_they_do_not_have() -> None:
    outcome = evaluate(three_suppliers(workloads=(make_workload(gpus=30.0, critical=True),)))
    up = {"Own": 1.0, "Reserve": 1.0, "On demand": 1.0}
    assert shortfall_of_plan(outcome, up, 0.3).gpu_hours == pytest.approx(8 * (JAN + FEB))
    assert outcome.unmet_gpu_hours == pytest.approx(8 * (JAN + FEB))


def test_a_source_gives_no_more_than_the_work_that_may_use_it() -> None:
    both = (
        make_workload(name="one", gpus=10.0, critical=True, regions=(Region("west"),)),
        make_workload(name="other", gpus=10.0, critical=True, regions=(Region("east"),)),
    )
    east = make_on_demand(name="East", region="east", quota_gpus=100)
    outcome = evaluate(make_plan(months=1, workloads=both, supplies=(east,)))
    assert shortfall_of_plan(outcome, {"East": 1.0}, 0.3).gpu_hours == pytest.approx(10 * JAN)


def test_figures_say_what_they_follow_from() -> None:
    outcome = evaluate(three_suppliers())
    hhi = concentration_explained(concentration_of_plan(outcome, VENDORS), "provider")
    assert hhi.formula == "(40.0%)² + (40.0%)² + (20.0%)² = 3,600"
    worst = coverage_explained(outcome, coverage_of_plan(outcome))
    assert worst is not None
    assert worst.title == "Worst coverage: Own lost in Jan 2027"
    assert worst.formula.startswith("(8.0 GPUs of critical work + 6.0 GPUs of critical work) / (20.0 GPUs)")
    assert worst.formula.endswith("= 70.0%")
    unknown = concentration_explained(concentration_of_plan(outcome, {}), "vendor")
    assert (unknown.value, unknown.formula) == (None, "no share is known = unknown")
    assert (
        coverage_explained(
            evaluate(make_plan(supplies=())), coverage_of_plan(evaluate(make_plan(supplies=())))
        )
        is None
    )


@st.composite
def placed_plans(draw: st.DrawFn) -> Plan:
    plan = draw(strategies.plans())
    supplies = tuple(
        replace(
            supply,
            region=draw(st.sampled_from(["west", "east", ""])),
            provider=draw(st.sampled_from(["A", "B", ""])),
        )
        for supply in plan.supplies
    )
    workloads = tuple(replace(each, critical=draw(st.booleans())) for each in plan.workloads)
    return replace(plan, supplies=supplies, workloads=workloads)


@given(placed_plans())
@settings(max_examples=40, deadline=None)
def test_laws_of_concentration_coverage_ladders_and_shortfall(plan: Plan) -> None:
    outcome = evaluate(plan)
    found = concentration_of_plan(outcome, VENDORS)
    rows = outcome.by_class[outcome.by_class["workload"].isin(critical_work_of(plan).names)]
    assert found.served_gpu_hours == pytest.approx(rows["useful_gpu_hours"].sum())
    for one in found.by_key.values():
        if one.hhi is not None:
            assert 10_000 / len(one.shares) - 1e-6 <= one.hhi <= 10_000
    for by in ("provider", "region", "supply"):
        coverage = coverage_of_plan(outcome, by)  # type: ignore[arg-type]
        assert all(0.0 <= each.share <= 1.0 for month in coverage.months for each in month.losses)
    for each in ladders_of_plan(outcome):
        rungs = [rung.served_gpus or 0.0 for rung in each.ladder.rungs]
        assert each.ladder.served_gpus == pytest.approx(sum(rungs), abs=1e-9)
        assert each.ladder.served_gpus + each.ladder.unserved_gpus == pytest.approx(each.demand_gpus)
    up = {s.name: 0.9 for s in plan.supplies}
    lacking = shortfall_of_plan(outcome, up, common_cause_weight=0.3)
    need = need_of(outcome)
    assert 0.0 <= lacking.most_gpu_hours <= float((need.gpus * need.hours).sum()) * (1 + 1e-9)
    explained = [concentration_explained(found, key) for key in KEYS]
    explained += [shortfall_explained(lacking)]
    worst = coverage_explained(outcome, coverage_of_plan(outcome))
    assert all(agrees(each) for each in (*explained, *([] if worst is None else [worst])))
    if any(isinstance(s, OnDemand) and s.quota_gpus is None for s in plan.supplies):
        assert lacking.gpu_hours is None or lacking.gpu_hours == pytest.approx(lacking.most_gpu_hours)


def test_need_is_the_average_of_the_month() -> None:
    need = need_of(evaluate(three_suppliers()))
    assert np.allclose(need.gpus, [[20.0, 20.0]])
    assert need.hours.tolist() == [JAN, FEB]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda o: coverage_of_plan(o, "planet"), "by is 'planet'"),
        (lambda o: ladders_of_plan(o, month=3), "month is 3; right would be one of the 2 months"),
        (lambda o: shortfall_of_plan(o, {"Nobody": 0.9}, 0.3), "availabilities is 'Nobody'"),
        (lambda o: shortfall_of_plan(o, {"Own": 1.1}, 0.3), "availabilities of Own is 1.1"),
        (lambda o: concentration_of_plan(o, {}, 1999), "guideline_year is '1999'"),
    ],
)
def test_questions_that_cannot_be_meant_are_refused(ask: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ask(evaluate(three_suppliers()))
