"""A missing price makes totals unknown and is named; it is never zero."""

from typing import Any

import numpy as np
import pytest

from planner.core.evaluate import evaluate
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot
from tests.core.reading import line, served


@pytest.mark.parametrize(
    ("supply", "field"),
    [
        (make_owned(usd_capex_per_server=None), "usd_capex_per_server"),
        (make_owned(usd_other_capex_per_server=None), "usd_other_capex_per_server"),
        (make_owned(usd_per_kwh=None), "usd_per_kwh"),
        (make_owned(max_kw_per_server=None), "max_kw_per_server"),
        (make_owned(idle_kw_per_server=None), "idle_kw_per_server"),
        (make_reserved(usd_per_gpu_hour=None), "usd_per_gpu_hour"),
        (make_reserved(payment="partial_upfront", usd_upfront_per_gpu=None), "usd_upfront_per_gpu"),
        (make_spot(usd_per_gpu_hour=None), "usd_per_gpu_hour"),
        (make_on_demand(name="Other", reference=False, usd_per_gpu_hour=None), "usd_per_gpu_hour"),
    ],
)
def test_every_missing_price_is_named_and_leaves_no_total(supply: Any, field: str) -> None:
    outcome = evaluate(make_plan(supplies=(make_on_demand(), supply)))
    assert [(gap.supply, gap.field) for gap in outcome.gaps] == [(supply.name, field)]
    assert supply.name in outcome.gaps[0].text
    assert outcome.total["cash_usd"] is None
    assert outcome.total["present_value_usd"] is None
    assert outcome.usd_per_useful_gpu_hour["cash_usd"] is None
    assert outcome.break_even["cash_usd"] is None
    assert outcome.peak_month is None
    assert np.isnan(outcome.cumulative["cash_usd"].iloc[-1])
    assert outcome.useful_gpu_hours == pytest.approx(outcome.demand_gpu_hours)


def test_an_unused_supply_without_price_makes_the_total_unknown_too() -> None:
    unknown = make_on_demand(name="Unknown", usd_per_gpu_hour=None, reference=False)
    outcome = evaluate(make_plan(supplies=(unknown, make_on_demand())))
    assert served(outcome, "Unknown") == [0.0] * 12
    assert outcome.total["cash_usd"] is None


def test_the_other_supplies_stay_known() -> None:
    unknown = make_on_demand(name="Unknown", usd_per_gpu_hour=None, reference=False)
    with_gap = evaluate(make_plan(supplies=(unknown, make_reserved(gpus=6), make_on_demand())))
    without = evaluate(make_plan(supplies=(make_reserved(gpus=6), make_on_demand())))
    for supply, name in (("Reserve", "recurring"), ("On demand", "usage")):
        assert line(with_gap, supply, name) == line(without, supply, name)


def test_known_energy_stays_known_beside_an_unknown_price() -> None:
    owned = make_owned(usd_capex_per_server=None, idle_kw_per_server=1.0, max_kw_per_server=1.0, pue=1.0)
    outcome = evaluate(make_plan(months=1, supplies=(make_on_demand(), owned)))
    assert np.isnan(line(outcome, "Own", "hardware_deposit")).all()
    assert line(outcome, "Own", "energy") == [0.0]


def test_an_unknown_reference_price_leaves_no_break_even() -> None:
    outcome = evaluate(make_plan(supplies=(make_reserved(), make_on_demand(usd_per_gpu_hour=None))))
    assert outcome.break_even["cash_usd"] is None
    assert outcome.break_even_utilization is None


def test_what_is_not_needed_is_no_gap() -> None:
    upfront = make_reserved(payment="all_upfront", usd_per_gpu_hour=None, usd_upfront_per_gpu=100.0)
    plain = make_reserved(name="Plain", usd_upfront_per_gpu=None)
    outcome = evaluate(make_plan(supplies=(upfront, plain)))
    assert outcome.gaps == ()
    assert outcome.total["cash_usd"] is not None
