"""Outages take capacity and leave money; price steps change what is rented and nothing else."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from planner.core.disruptions import is_hit
from planner.core.evaluate import evaluate
from planner.core.plan import Outage, Plan, PriceStep, Region
from planner.core.uncertainty.draws import draw
from planner.core.uncertainty.factors import Uncertainty
from planner.core.uncertainty.simulate import simulate
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_workload
from tests.core.reading import line, served, unmet

START = date(2027, 1, 1)


def gates(plan: Plan) -> list[str]:
    return [gate.gate for gate in evaluate(plan).gates]


def test_servers_out_of_service_give_nothing_and_cost_what_they_cost() -> None:
    own = make_owned(region="hall", usd_insurance_per_server_month=100.0)
    whole = make_plan(months=4, supplies=(own,))
    hit = replace(whole, outages=(Outage(date(2027, 1, 15), 2, region="hall"),))
    outcome = evaluate(hit)
    assert served(outcome, "Own") == pytest.approx([8 * 744, 0.0, 0.0, 8 * 720])
    assert outcome.capacity["available_gpu_hours"].tolist() == [8 * 744, 0.0, 0.0, 8 * 720]
    assert outcome.total == evaluate(whole).total
    assert gates(hit) == ["none", "capacity", "capacity", "none"]
    assert "Own is out of service" in outcome.gates[1].text
    assert any("out of service in 2 months from Feb 2027 to Mar 2027" in note for note in outcome.notes)


def test_an_outage_takes_what_agrees_with_all_that_it_names() -> None:
    west = make_on_demand(name="West", provider="A", region="west")
    east = make_on_demand(name="East", provider="A", region="east", reference=False)
    other = make_on_demand(name="Other", provider="B", region="west", reference=False)
    nowhere = make_on_demand(name="Nowhere", reference=False)
    supplies = (west, east, other, nowhere)

    def hit(**named: str) -> list[str]:
        return [s.name for s in supplies if is_hit(Outage(START, **named), s)]  # type: ignore[arg-type]

    assert hit(region="west") == ["West", "Other"]
    assert hit(provider="A") == ["West", "East"]
    assert hit(provider="A", region="west") == ["West"]
    assert hit(supply="Nowhere") == ["Nowhere"]
    assert hit() == []


def test_unknown_quotas_and_gangs_are_out_too() -> None:
    job = make_workload(kind="training", gang_gpus=8)
    rented = make_on_demand(region="west")
    plan = make_plan(
        months=2, workloads=(job,), supplies=(rented,), outages=(Outage(START, 1, region="west"),)
    )
    outcome = evaluate(plan)
    assert unmet(outcome) == pytest.approx([8 * 744, 0.0])
    assert outcome.gates[0].text.endswith("On demand is out of service")


def test_servers_of_a_site_do_not_hold_a_gang_while_some_are_out() -> None:
    job = make_workload(kind="training", gpus=8.0, gang_gpus=16)
    site = (make_owned(name="One", region="hall"), make_owned(name="Two", region="hall"))
    plan = make_plan(months=2, workloads=(job,), supplies=site, outages=(Outage(START, 1, supply="Two"),))
    assert unmet(evaluate(plan)) == pytest.approx([8 * 744, 0.0])


def test_what_may_not_run_there_anyway_is_no_matter_of_service() -> None:
    tied = make_workload(regions=(Region("west"),))
    far = make_on_demand(region="east")
    plan = make_plan(months=1, workloads=(tied,), supplies=(far,), outages=(Outage(START, region="east"),))
    assert gates(plan) == ["region"]


def test_rental_prices_step_and_terms_keep_theirs() -> None:
    half = make_reserved(gpus=4)
    plan = make_plan(months=3, supplies=(half, make_on_demand()), price_drift_per_month=0.1)
    steps = (PriceStep(date(2027, 2, 1), 1.5), PriceStep(date(2027, 2, 2), 2.0))
    outcome = evaluate(replace(plan, price_steps=steps))
    hours = [744, 672, 744]
    rented = [4 * 4.0 * 744, 4 * 4.4 * 1.5 * 672, 4 * 4.84 * 2.0 * 744]
    assert line(outcome, "On demand", "usage") == pytest.approx(rented)
    assert line(outcome, "Reserve", "recurring") == pytest.approx([4 * 2.0 * each for each in hours])
    # staying on demand is dearer by the same steps
    assert outcome.cumulative["baseline_cash_usd"].iloc[-1] == pytest.approx(2 * sum(rented))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outages": (Outage(START, 3),)}, "provider is empty; right would be a provider, a region or"),
        ({"outages": (Outage(START, -1, region="west"),)}, "outage of 'west': months is -1"),
        ({"price_steps": (PriceStep(START, 0.0),)}, "prices from 2027-01-01: factor is 0.0"),
    ],
)
def test_disruptions_that_cannot_be_meant_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        evaluate(make_plan(**change))


def test_a_simulation_without_uncertainty_knows_of_outages_and_steps() -> None:
    supplies = (make_owned(region="hall"), make_reserved(gpus=4, region="west"), make_on_demand(quota_gpus=2))
    plan = make_plan(
        months=4,
        supplies=supplies,
        workloads=(make_workload(gpus=14.0),),
        outages=(Outage(date(2027, 2, 1), 1, region="hall"), Outage(date(2027, 3, 1), region="west")),
        price_steps=(PriceStep(date(2027, 4, 1), 1.3),),
    )
    calm = Uncertainty(0.0, 0.0, None, 0.0, 0.0, None, 0.0, 0.0, 0.0, 0.0, (), 0.0)
    drawn = draw(np.random.default_rng(1), 3, 4, calm.correlations)
    found = simulate([plan], drawn, calm)[0]
    outcome = evaluate(plan)
    assert found.unmet_gpu_hours == pytest.approx([outcome.unmet_gpu_hours] * 3)
    assert found.total["cash_usd"] == pytest.approx([outcome.total["cash_usd"]] * 3)
