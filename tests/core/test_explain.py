"""Every headline figure says its formula with this case's numbers."""

import pytest

from planner.core.evaluate import evaluate
from planner.core.explain import Explanation, Input, explain
from planner.core.plan import VIEWS, Plan
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot


def shown(told: Explanation) -> dict[str, tuple[str, str]]:
    """Return text and source of each input by its name."""
    return {one.name: (one.text, one.source) for one in told.inputs}


def texts(plan: Plan) -> dict[str, str]:
    return {figure: told.formula for figure, told in explain(evaluate(plan)).items()}


def test_total_and_unit_cost() -> None:
    """January: 8 GPUs reserved for 744 h at 2.00 is 11,904; 5,952 GPU-hours."""
    told = texts(make_plan(months=1, supplies=(make_reserved(), make_on_demand())))
    assert told["total"] == "Reserve 11,904 USD + On demand 0 USD = 11,904 USD"
    assert told["unit_cost"] == "11,904 USD / 5,952 useful GPU-hours = 2.0000 USD"
    assert told["peak_month"] == "Reserve recurring 11,904 USD = 11,904 USD"
    assert told["unmet"] == "demand 5,952 − served 5,952 = 0 GPU-hours"


def test_the_residual_stands_apart_from_the_supplies() -> None:
    # one month in service: 280,000 * (1 - 0.75/36) = 274,167
    told = texts(make_plan(months=1, supplies=(make_owned(),)))
    assert told["total"] == "Own 280,000 USD + what is left at the end −274,167 USD = 5,833 USD"


def test_break_even_month_names_both_sums() -> None:
    """100,000 against 32 an hour: after 5 months rent is 32 * 3,624 = 115,968."""
    plan = make_plan(supplies=(make_owned(usd_capex_per_server=100_000.0), make_on_demand()))
    told = explain(evaluate(plan))["break_even"]
    assert told.formula == (
        "after 5 months: own 100,000 USD ≤ on demand 115,968 USD; break-even: month 5 (May 2027)"
    )
    assert shown(told)["With servers sold at that month's end"] == ("month 1 (Jan 2027)", "")
    assert shown(told)["Own, cumulative"] == ("100,000 USD in month 1, 100,000 USD in month 12", "")


def test_never_within_the_horizon_is_a_result() -> None:
    told = texts(make_plan(supplies=(make_owned(usd_capex_per_server=10_000_000.0), make_on_demand())))
    assert told["break_even"] == (
        "after 12 months: own 10,000,000 USD > on demand 280,320 USD; break-even: not within 12 months"
    )


def test_break_even_utilization_shows_both_sides() -> None:
    told = explain(evaluate(make_plan(supplies=(make_reserved(usd_per_gpu_hour=2.6), make_on_demand()))))
    # 8 GPUs * 8,760 h at 2.60 and at 4.00
    assert told["break_even_utilization"].formula == (
        "fixed costs 182,208 USD / rent of all available hours 280,320 USD = 65.0% of available hours"
    )


def test_unknown_prices_are_named() -> None:
    plan = make_plan(supplies=(make_spot(usd_per_gpu_hour=None), make_on_demand()))
    told = texts(plan)
    for figure in ("total", "break_even", "unit_cost", "peak_month"):
        assert "unknown" in told[figure]
    assert "Spot: price per GPU-hour is unknown" in told["total"]


def test_without_reference_it_says_why() -> None:
    told = texts(make_plan(supplies=(make_reserved(),)))
    assert told["break_even"] == "unknown: the plan has no on-demand supply to be measured against"
    told = texts(make_plan())
    assert told["break_even_utilization"] == "unknown: the plan owns and reserves nothing"
    assert "none, the plan is staying on demand" in told["break_even"]


def test_sources_stand_beside_prices() -> None:
    told = explain(evaluate(make_plan()), sources={"On demand": "price list of 1 Nov 2026"})
    expected = ("4.0000 USD per GPU-hour", "price list of 1 Nov 2026")
    assert shown(told["total"])["Price, On demand"] == expected
    assert shown(told["break_even"])["Reference price, On demand"] == expected


@pytest.mark.parametrize("view", VIEWS)
def test_every_figure_is_explained_in_every_view(view: str) -> None:
    supplies = (
        make_owned(lead_time_days=60),
        make_reserved(payment="partial_upfront", usd_upfront_per_gpu=100.0),
        make_reserved(
            name="Prepaid", payment="all_upfront", usd_per_gpu_hour=0.0, usd_upfront_per_gpu=9000.0
        ),
        make_spot(quota_gpus=4),
        make_on_demand(quota_gpus=8),
    )
    outcome = evaluate(make_plan(months=6, supplies=supplies, discount_rate_per_year=0.1))
    told = explain(outcome, view)  # type: ignore[arg-type]
    for explanation in told.values():
        assert isinstance(explanation, Explanation)
        assert explanation.title
        assert explanation.sentence
        assert "nan" not in explanation.formula
        assert all(isinstance(one, Input) and one.name and one.text for one in explanation.inputs)
    assert "prepaid remainder, in no total" in shown(told["total"])


def test_what_is_served_and_used_is_explained_too() -> None:
    """8 GPUs wanted, 4 reserved and 2 rented; January has 744 hours."""
    told = texts(make_plan(months=1, supplies=(make_reserved(gpus=4), make_on_demand(quota_gpus=2))))
    assert told["served"] == "1 − 1,488 unmet / 5,952 GPU-hours = 75.0%"
    assert told["planned_use"] == "2,976 used / 2,976 available GPU-hours = 100.0%"
    assert told["peak_on_demand"] == "highest of 1 months = 2 GPUs"
