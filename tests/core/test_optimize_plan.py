"""A plan with choices, optimized, is priced by evaluate() to the optimizer's own total."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.calendar import add_months
from planner.core.evaluate import evaluate
from planner.core.ledger import settle
from planner.core.optimize.choices import Choices, Lateness, OwnedChoice, ReservedChoice
from planner.core.optimize.examples import plan_to_decide, servers_and_terms
from planner.core.optimize.from_plan import from_plan, settle_fixed
from planner.core.optimize.reasons import lost_options
from planner.core.optimize.solve import Solution, solve
from planner.core.optimize.solver import Effort
from planner.core.optimize.to_plan import Planned, to_plan
from planner.core.plan import (
    Block,
    Budget,
    Contract,
    ContractStep,
    OnDemand,
    Outage,
    Owned,
    Plan,
    PlanRate,
    PowerLimit,
    PriceStep,
    Project,
    QuotaStep,
    Region,
    Reserved,
    SavingsPlan,
    Spot,
    Validation,
    Workload,
)
from tests.core.strategies import owned, plans, reserved
from tests.core.worked.optimizer import EXAMPLES

TIGHT = Effort(gap=1e-9)
START = date(2027, 1, 1)
GIVEN = next(e for e in EXAMPLES if e.id == "OPT-02").inputs


def optimized(plan: Plan, choices: Choices, hours: int | None = None) -> tuple[Solution, Planned]:
    framed = from_plan(plan, choices, hours)
    best = solve(framed.problem, TIGHT)
    return best, to_plan(framed, best)


@st.composite
def choices(draw: st.DrawFn) -> Choices:
    one_server = owned(name="Buy", servers=1, spare_servers=0)
    size = draw(st.integers(1, 8))
    one_instance = reserved(name="Commit", gpus=size, gpus_per_instance=size)
    return Choices(
        owned=tuple(OwnedChoice(draw(one_server), 3) for _ in range(draw(st.integers(0, 1)))),
        reserved=tuple(
            ReservedChoice(draw(one_instance), 5, must_end_inside=draw(st.booleans()))
            for _ in range(draw(st.integers(0, 1)))
        ),
        usd_unmet_per_gpu_hour=draw(st.sampled_from([3.0, 20.0])),
        blocks_per_month=draw(st.integers(1, 4)),
    )


@settings(max_examples=40, deadline=None)
@given(plan=plans(), chosen=choices(), late=st.integers(0, 2))
def test_evaluate_finds_the_total_of_the_optimizer(plan: Plan, chosen: Choices, late: int) -> None:
    waits = tuple(
        Lateness(workload.name, late, 0.1) for workload in plan.workloads if workload.deferrable_hours > 0
    )
    best, planned = optimized(plan, replace(chosen, late=waits))
    outcome = planned.outcome()
    total = outcome.total["present_value_usd"]
    assert total is not None
    assert total == pytest.approx(best.usd, rel=1e-9, abs=1e-6)
    assert best.objective == pytest.approx(best.usd + best.late_usd + best.undone_usd)
    undone = (best.undone_gpus * best.problem.hours).sum() + best.undone_gpu_hours.sum()
    assert outcome.unmet_gpu_hours == pytest.approx(undone, rel=1e-6, abs=1e-3)


@settings(max_examples=20, deadline=None)
@given(plan=plans(), chosen=choices())
def test_the_optimum_is_not_above_the_plan_as_it_stands(plan: Plan, chosen: Choices) -> None:
    framed = from_plan(plan, chosen)
    best = solve(framed.problem, TIGHT)
    price = chosen.usd_unmet_per_gpu_hour
    assert price is not None
    unmet = settle(framed.plan, framed.grid).served.unmet_hours.sum(axis=0)
    lost = float(price * (unmet @ framed.problem.end_factors))
    assert best.objective <= settle_fixed(framed) + lost + 1e-6 * abs(best.objective) + 1e-3


def published_plan() -> Plan:
    """Return OPT-02 as a plan of flat months: the peak comes first in each."""
    peak, rest = (int(block["hours"]) for block in GIVEN["blocks"])
    serving = np.concatenate([np.repeat(pair, (peak, rest)) for pair in GIVEN["inference_gpus"]])
    training = np.repeat(np.array(GIVEN["training_gpu_hours"]) / 730.0, 730)
    spot = GIVEN["spot"][0]
    return Plan(
        name="Published",
        start=START,
        months=12,
        gpu_model="H100",
        workloads=(
            Workload(
                "training", "training", 0.0, hourly_gpus=tuple(training.tolist()), deferrable_hours=730,
                interruptible=True,
            ),
            Workload("inference", "inference", 0.0, hourly_gpus=tuple(serving.tolist()), critical=True),
        ),
        supplies=(
            OnDemand(
                "A on demand", 4.0, 64.0, quota_steps=(QuotaStep(date(2027, 7, 1), 96.0),), provider="A"
            ),
            OnDemand("B on demand", 4.6, 64.0, provider="B"),
            Spot("A spot", spot["price_per_gpu_hour"], 1.0 / (1.0 + spot["overhead"]), 24.0, provider="A"),
        ),
        discount_rate_per_year=GIVEN["annual_discount_rate"],
    )  # fmt: skip


def published_choices(whole: bool) -> Choices:
    server = GIVEN["server"]
    lead_days = 89  # the shortest three months; a later day in longer ones, so that delivery is on a first
    template = Owned(
        "Own", 1, server["gpus"], START, lead_days, float(server["capex"]), deposit_share=1.0,
        usd_software_per_server_month=float(server["opex_per_month"]), colocation_includes_energy=True,
        warranty_months=120, maintenance_share_per_year=0.0, availability=server["availability"],
        residual_loss_per_month=server["value_loss_per_month"],
    )  # fmt: skip
    days = [add_months(START, month + 3) - timedelta(days=lead_days) for month in range(12)]
    terms = tuple(
        ReservedChoice(
            Reserved(
                each["name"], 1, START, each["term_months"], "no_upfront", each["price_per_gpu_hour"],
                provider="A",
            ),
            whole=whole,
        )
        for each in GIVEN["commitments"]
    )  # fmt: skip
    return Choices(
        owned=(OwnedChoice(template, server["max_per_month"], tuple(days)),),
        reserved=terms,
        late=(Lateness("training", 1, GIVEN["delay_cost_per_gpu_hour_month"]),),
        capex_budget_usd=GIVEN["capex_budget"],
        most_provider_share=GIVEN["max_provider_share"],
        most_spot_share=GIVEN["max_spot_share_of_training"],
        blocks_per_month=2,
    )


def test_the_published_optimum_comes_out_of_a_plan() -> None:
    framed = from_plan(published_plan(), published_choices(whole=False), hours_per_month=730)
    best = solve(framed.problem, TIGHT)
    assert best.objective == pytest.approx(1_441_222.2982, rel=1e-9)
    assert best.units[3].tolist() == [3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="right would be whole numbers"):
        to_plan(framed, best)


def test_the_published_plan_in_whole_gpus_is_priced_to_its_own_total() -> None:
    best, planned = optimized(published_plan(), published_choices(whole=True), 730)
    assert 1_441_222.2982 < best.objective < 1_441_500.0
    outcome = planned.outcome()
    assert outcome.total["present_value_usd"] == pytest.approx(best.usd, rel=1e-12)
    assert outcome.unmet_gpu_hours == 0.0
    names = [supply.name for supply in planned.plan.supplies]
    assert "Own Jan 2027" in names
    assert planned.plan.supplies[names.index("Own Jan 2027")].servers == 3  # type: ignore[union-attr]


def test_an_optimized_plan_is_cheaper_than_staying_on_demand() -> None:
    plan = plan_to_decide(24)
    best, planned = optimized(plan, servers_and_terms())
    before = evaluate(plan).total["present_value_usd"]
    after = planned.outcome().total["present_value_usd"]
    assert before is not None
    assert after is not None
    assert after < before
    assert best.units.sum() > 0


def test_a_power_limit_keeps_servers_out_and_none_stands_dark() -> None:
    plan = replace(plan_to_decide(24), power_limits=(PowerLimit("", START, 10.2 * 2),))
    best, planned = optimized(plan, servers_and_terms())
    assert best.units[1].sum() == 2.0
    assert planned.outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_a_budget_of_a_year_is_kept() -> None:
    free, planned = optimized(plan_to_decide(24), servers_and_terms())
    spent = _cash_of_year(planned, 2027)
    tight = replace(plan_to_decide(24), budgets=(Budget(2027, spent * 0.8),))
    best, kept = optimized(tight, servers_and_terms())
    assert _cash_of_year(kept, 2027) <= spent * 0.8 * (1 + 1e-9)
    assert best.objective >= free.objective
    assert "budget" not in {gate.gate for gate in kept.outcome().gates}


def _cash_of_year(planned: Planned, year: int) -> float:
    monthly = planned.outcome().monthly
    return float(monthly[[day.year == year for day in monthly["month"]]]["cash_usd"].sum())


def test_regions_validations_and_spot_shut_options_with_their_reasons() -> None:
    plan = plan_to_decide(12)
    workload = replace(
        plan.workloads[0], regions=(Region("eu"),), validations=(Validation("H100", 1.0, START),)
    )
    supplies = (
        OnDemand("Here", 4.0, 96.0, region="eu"),
        OnDemand("There", 2.0, 96.0, region="us"),
        OnDemand("Other chip", 1.0, 96.0, region="eu", gpu_model="MI300X"),
        Spot("Spot", 0.5, quota_gpus=96.0, region="eu"),
        OnDemand("Unknown", None, 96.0, region="eu"),
    )
    framed = from_plan(replace(plan, workloads=(workload,), supplies=supplies), Choices(blocks_per_month=2))
    best = solve(framed.problem)
    assert framed.not_weighed == ("Unknown",)
    assert [each.sentence for each in lost_options(best)] == [
        "There: may not run in us (serving).",
        "Other chip: not validated on MI300X (serving).",
        "Spot: spot takes only work that may be interrupted (serving).",
    ]
    assert to_plan(framed, best).outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_moved_data_and_other_throughput_are_priced_alike() -> None:
    plan = plan_to_decide(12)
    workload = replace(
        plan.workloads[0],
        regions=(Region("eu"), Region("us", gb_per_gpu_hour=2.0, usd_per_gb=0.05)),
        validations=(Validation("H100", 1.0, START), Validation("H200", 1.4, date(2027, 4, 1))),
    )
    supplies = (
        OnDemand("Here", 4.0, 20.0, region="eu"),
        OnDemand("There", 3.95, 96.0, region="us"),
        OnDemand("Faster", 5.0, 8.0, region="eu", gpu_model="H200"),
    )
    best, planned = optimized(
        replace(plan, workloads=(workload,), supplies=supplies), replace(servers_and_terms(), owned=())
    )
    assert best.gpus[0, 2].max() > 0.0  # 5.00 / 1.4 is the cheapest once it is validated
    assert planned.outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_a_gang_is_bought_whole() -> None:
    plan = replace(
        plan_to_decide(24),
        workloads=(Workload("training", "training", 40.0, deferrable_hours=1_000, gang_gpus=32),),
        supplies=(OnDemand("On demand", 4.0, 96.0, provider="A"),),
    )
    best, planned = optimized(plan, servers_and_terms())
    bought = best.units[1][best.units[1] > 0]
    assert len(bought) > 0
    assert (bought >= 4).all()
    outcome = planned.outcome()
    assert outcome.unmet_gpu_hours == 0.0
    assert outcome.total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_a_minimum_crew_is_paid_once_for_old_and_new_servers() -> None:
    template = replace(
        servers_and_terms().owned[0].template, fte_minimum=0.5, usd_staff_per_fte_year=120_000.0
    )
    old = replace(template, name="Old", servers=2, order_date=date(2026, 1, 1))
    plan = replace(plan_to_decide(24), supplies=(*plan_to_decide(24).supplies, old))
    best, planned = optimized(plan, Choices(owned=(OwnedChoice(template),), blocks_per_month=4))
    assert best.units[2].sum() > 0
    assert planned.outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_contracts_blocks_and_projects_stay_in_the_total() -> None:
    steps = (ContractStep(START, 16, 2.5), ContractStep(date(2027, 5, 16), 8, 2.0))
    fixed = (
        Contract("Contract", steps, date(2027, 11, 10)),
        Block("Block", 16, date(2027, 3, 10), 14, 3.0, date(2027, 2, 1), lost_hours=1),
    )
    plan = plan_to_decide(12)
    plan = replace(
        plan, supplies=(*plan.supplies, *fixed), projects=(Project("Move", date(2027, 6, 3), 9e4),)
    )
    best, planned = optimized(plan, servers_and_terms())
    assert planned.outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_outages_and_price_steps_reach_the_optimizer() -> None:
    supplies = (
        OnDemand("A on demand", 4.0, 96.0, provider="A"),
        OnDemand("B on demand", 5.0, 96.0, provider="B"),
    )
    plan = replace(
        plan_to_decide(18),
        supplies=supplies,
        outages=(Outage(date(2027, 8, 1), 2, provider="A"),),
        price_steps=(PriceStep(date(2027, 6, 1), 1.3),),
    )
    best, planned = optimized(plan, servers_and_terms())
    out = np.isin(best.problem.month, [7, 8])
    a = [s for s, option in enumerate(best.problem.options) if option.provider == "A"]
    assert best.gpus[0, a][:, out].max() == 0.0
    assert planned.outcome().total["present_value_usd"] == pytest.approx(best.usd, rel=1e-9)


def test_an_unknown_price_of_what_is_there_makes_the_total_unknown() -> None:
    plan = plan_to_decide(12)
    held = Reserved("Held", 8, START, 12, "no_upfront", None)
    best, planned = optimized(replace(plan, supplies=(*plan.supplies, held)), servers_and_terms())
    assert np.isnan(best.usd)
    assert planned.outcome().total["present_value_usd"] is None


def test_what_no_coefficient_can_say_is_refused() -> None:
    plan = plan_to_decide(12)
    savings = SavingsPlan("Savings", 10.0, START, 12, (PlanRate("On demand", 3.0),))
    with pytest.raises(ValueError, match="Savings: kind is a savings plan"):
        from_plan(replace(plan, supplies=(*plan.supplies, savings)), Choices())
    part = Contract("Part", (ContractStep(START, 8, 2.0),), date(2027, 6, 1), take_or_pay_share=0.5)
    with pytest.raises(ValueError, match="Part: take_or_pay_share is 0"):
        from_plan(replace(plan, supplies=(*plan.supplies, part)), Choices())


def test_choices_that_cannot_be_meant_are_refused() -> None:
    server = servers_and_terms().owned[0].template
    term = servers_and_terms().reserved[0].template
    with pytest.raises(ValueError, match="right would be one server without spares"):
        OwnedChoice(replace(server, servers=2))
    with pytest.raises(ValueError, match="most_per_order is 0"):
        OwnedChoice(server, 0)
    with pytest.raises(ValueError, match="one in a month at most"):
        OwnedChoice(server, 1, (date(2027, 1, 1), date(2027, 1, 15)))
    with pytest.raises(ValueError, match="right would be those of one instance"):
        ReservedChoice(replace(term, gpus=16))
    with pytest.raises(ValueError, match="right would be the first of a month"):
        ReservedChoice(term, starts=(date(2027, 1, 2),))
    with pytest.raises(ValueError, match="most_months is -1"):
        Lateness("training", -1, 0.1)
    with pytest.raises(ValueError, match="blocks_per_month is 0"):
        Choices(blocks_per_month=0)


def test_without_a_solution_there_is_no_plan() -> None:
    plan = replace(plan_to_decide(3), supplies=(OnDemand("On demand", 4.0, 8.0),))
    framed = from_plan(plan, Choices(blocks_per_month=2))
    with pytest.raises(ValueError, match="solution is infeasible"):
        to_plan(framed, solve(framed.problem))
