"""Each month names what binds, and the months from which things jump."""

from datetime import date

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Budget, Contract, ContractStep, PowerLimit, QuotaStep
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_workload
from tests.core.reading import served, unmet

START = date(2027, 1, 1)


def gates(plan):  # type: ignore[no-untyped-def]
    return [gate.gate for gate in evaluate(plan).gates]


def test_a_month_that_serves_everything_has_no_gate() -> None:
    assert gates(make_plan(months=2)) == ["none", "none"]


def test_a_full_quota_binds_and_its_steps_open_it() -> None:
    steps = (QuotaStep(date(2027, 3, 1), 8.0),)
    offer = make_on_demand(quota_gpus=4, quota_steps=steps)
    outcome = evaluate(make_plan(months=4, supplies=(offer,)))
    assert [gate.gate for gate in outcome.gates] == ["quota", "quota", "none", "none"]
    assert outcome.gates[0].supplies == ("On demand",)
    assert outcome.gates[0].gpus_short == pytest.approx(4.0)
    assert outcome.gates[0].unmet_gpu_hours == pytest.approx(4 * 744)
    assert outcome.capacity["quota_gpus"].tolist() == [4, 4, 8, 8]


def test_a_step_in_mid_month_counts_from_the_next() -> None:
    offer = make_on_demand(quota_gpus=None, quota_steps=(QuotaStep(date(2027, 2, 2), 4.0),))
    assert gates(make_plan(months=3, supplies=(offer,))) == ["none", "none", "quota"]


def test_a_full_cheap_quota_is_named_where_dearer_supply_takes_the_rest() -> None:
    dear = make_on_demand(name="Dear", usd_per_gpu_hour=6.0, reference=False)
    outcome = evaluate(make_plan(months=1, supplies=(make_on_demand(quota_gpus=4), dear)))
    assert (outcome.gates[0].gate, outcome.gates[0].supplies) == ("quota", ("On demand",))
    assert outcome.gates[0].unmet_gpu_hours == 0.0


def test_servers_on_their_way_bind_until_they_serve() -> None:
    own = make_owned(lead_time_days=59)  # 1 January + 59 days = 1 March
    assert gates(make_plan(months=4, supplies=(own,))) == ["lead_time", "lead_time", "none", "none"]


def test_too_few_own_servers_are_a_lack_of_capacity() -> None:
    plan = make_plan(months=1, workloads=(make_workload(gpus=10.0),), supplies=(make_owned(),))
    assert gates(plan) == ["capacity"]
    assert gates(make_plan(months=1, supplies=())) == ["capacity"]


def test_servers_beyond_the_power_of_a_site_stay_dark() -> None:
    own = make_owned(servers=3, max_kw_per_server=10.0, region="hall")
    limits = (PowerLimit("hall", START, 20.0), PowerLimit("hall", date(2027, 3, 1), 30.0))
    plan = make_plan(months=3, workloads=(make_workload(gpus=24.0),), supplies=(own,), power_limits=limits)
    outcome = evaluate(plan)
    assert served(outcome, "Own") == pytest.approx([16 * 744, 16 * 672, 24 * 744])
    assert [gate.gate for gate in outcome.gates] == ["power", "power", "none"]
    elsewhere = make_plan(
        months=1,
        workloads=(make_workload(gpus=24.0),),
        supplies=(own,),
        power_limits=(PowerLimit("other hall", START, 1.0),),
    )
    assert gates(elsewhere) == ["none"]


def test_a_years_budget_binds_from_the_month_that_goes_beyond() -> None:
    # 8 GPUs at 4.00: 23,808 in January, 21,504 in February
    plan = make_plan(months=13, budgets=(Budget(2027, 40_000.0),))
    found = evaluate(plan).gates
    assert [gate.gate for gate in found[:3]] == ["none", "budget", "budget"]
    assert found[12].gate == "none"  # another year
    assert "exceeded by 5,312" in found[1].text


def test_no_budget_is_judged_on_unknown_money() -> None:
    plan = make_plan(
        months=1, supplies=(make_on_demand(usd_per_gpu_hour=None),), budgets=(Budget(2027, 1.0),)
    )
    assert gates(plan) == ["none"]


def test_ends_of_terms_warranties_and_lives_are_cliffs() -> None:
    own = make_owned(warranty_months=6, maintenance_share_per_year=0.06, economic_life_months=10)
    plan = make_plan(months=14, supplies=(own, make_reserved(), make_on_demand()))
    found = {(cliff.supply, cliff.what): cliff for cliff in evaluate(plan).cliffs}
    warranty = found["Own", "warranty_ends"]
    assert (warranty.month, warranty.gpus) == (date(2027, 7, 1), 0.0)
    assert warranty.usd_per_month == pytest.approx(280_000 * 0.06 / 12)
    assert found["Own", "life_ends"].month == date(2027, 11, 1)
    assert found["Own", "life_ends"].gpus == pytest.approx(8.0)
    term = found["Reserve", "term_ends"]
    assert (term.month, term.gpus) == (date(2028, 1, 1), 8.0)
    assert term.usd_per_month == pytest.approx(-8 * 2.0 * 744)  # December has 744 hours


def test_the_steps_of_a_contract_are_cliffs_up_and_down() -> None:
    steps = (ContractStep(START, 8, 3.0), ContractStep(date(2027, 3, 1), 4, 3.0))
    contract = Contract("Contract", steps, date(2027, 5, 1))
    found = evaluate(make_plan(months=6, supplies=(contract, make_on_demand()))).cliffs
    assert [(cliff.what, cliff.month.month, cliff.gpus) for cliff in found] == [
        ("contract_steps", 3, 4.0),
        ("term_ends", 5, 4.0),
    ]
    assert found[0].usd_per_month == pytest.approx(3.0 * (4 * 744 - 8 * 672))


def test_an_expired_commitment_is_a_cliff_in_capacity() -> None:
    plan = make_plan(months=3, supplies=(make_reserved(term_months=2), make_on_demand(quota_gpus=4)))
    assert unmet(evaluate(plan)) == pytest.approx([0.0, 0.0, 4 * 744])
