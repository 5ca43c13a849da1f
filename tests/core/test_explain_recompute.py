"""Every figure is worked out again from the inputs of its explanation, and from nothing else."""

import math
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.evaluate import evaluate
from planner.core.explain import Explanation, Input, agrees, explain, recompute
from planner.core.plan import (
    VIEWS,
    Block,
    Contract,
    ContractStep,
    Outcome,
    Plan,
    PlanRate,
    Project,
    SavingsPlan,
    View,
)
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot, make_workload
from tests.core import strategies

MONEY = ("total", "break_even", "unit_cost", "peak_month")


def displayed(outcome: Outcome, view: View) -> dict[str, float | None]:
    """Return what pages show of an outcome, read from it directly."""
    found = outcome.break_even[view]
    demand = outcome.demand_gpu_hours
    return {
        "total": outcome.total[view],
        "break_even": None if found is None or found.month is None else float(found.month),
        "break_even_utilization": outcome.break_even_utilization_of_available,
        "planned_use": outcome.planned_utilization_of_available,
        "unit_cost": outcome.usd_per_useful_gpu_hour[view],
        "peak_month": outcome.peak_month_cash_usd,
        "demand": demand,
        "unmet": outcome.unmet_gpu_hours,
        "served": 1.0 - outcome.unmet_gpu_hours / demand if demand > 0.0 else None,
    }


def made(expression: str, **values: float | tuple[float, ...] | None) -> Explanation:
    inputs = tuple(Input(name, value, str(value), symbol=name) for name, value in values.items())
    return Explanation("A figure", "", "", inputs, None, "", expression)


@settings(max_examples=50, deadline=None)
@given(strategies.plans(), st.sampled_from(VIEWS))
def test_every_figure_of_a_plan_follows_from_its_inputs(plan: Plan, view: View) -> None:
    outcome = evaluate(plan)
    told = explain(outcome, view)
    for figure, expected in displayed(outcome, view).items():
        explanation = told[figure]  # type: ignore[index]
        assert explanation.value == expected, figure
        assert explanation.expression, figure
        assert agrees(explanation), (figure, explanation)


def every_kind(**changes: object) -> Plan:
    """Return a plan with every way to get a GPU, and a project that is paid once."""
    start = date(2027, 1, 1)
    steps = (ContractStep(start, 8, 2.1), ContractStep(date(2027, 6, 1), 4, 2.0))
    plan = make_plan(
        workloads=(
            make_workload(gpus=30.0),
            make_workload(name="training", kind="training", gpus=10.0, interruptible=True),
        ),
        supplies=(
            SavingsPlan("Plan", 40.0, start, 12, (PlanRate("On demand", 2.5),), upfront_share=0.5),
            Block("Block", 8, date(2027, 2, 3), 14, 3.0, date(2027, 1, 10)),
            Contract("Contract", steps, date(2027, 11, 1), 0.8),
            make_reserved(),
            make_owned(availability=0.9, lead_time_days=40),
            make_spot(quota_gpus=8),
            make_on_demand(quota_gpus=16),
        ),
        projects=(Project("Lever", date(2027, 3, 1), 5_000.0, 2.0),),
        usd_per_engineering_week=3_000.0,
    )
    return replace(plan, **changes)


@pytest.mark.parametrize("view", VIEWS)
def test_figures_of_every_kind_of_supply_follow_from_their_inputs(view: View) -> None:
    outcome = evaluate(every_kind())
    told = explain(outcome, view)
    for figure, expected in displayed(outcome, view).items():
        assert told[figure].value == expected, figure  # type: ignore[index]
        assert agrees(told[figure]), figure  # type: ignore[index]
    total = {one.name: one.value for one in told["total"].inputs if one.symbol}
    assert {"Plan", "Block", "Contract", "Reserve", "Own", "Spot", "On demand"} <= set(total)
    # 5,000 and two weeks at 3,000, in no supply's name
    assert view == "present_value_usd" or 11_000.0 in total.values()


def test_an_unknown_price_of_a_week_leaves_the_total_unknown() -> None:
    told = explain(evaluate(every_kind(usd_per_engineering_week=None)))
    assert told["total"].value is None
    assert recompute(told["total"]) is None


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "supply",
    [
        make_owned(usd_capex_per_server=None),
        make_reserved(usd_per_gpu_hour=None),
        make_spot(usd_per_gpu_hour=None),
        make_on_demand(name="other", usd_per_gpu_hour=None, reference=False),
    ],
)
def test_an_unknown_price_leaves_money_unknown_and_hours_known(supply: object, view: View) -> None:
    told = explain(evaluate(make_plan(supplies=(supply, make_on_demand()))), view)
    for figure in MONEY:
        assert told[figure].value is None, figure
        assert recompute(told[figure]) is None, figure
    for figure in ("demand", "unmet", "served"):
        assert recompute(told[figure]) is not None, figure


@settings(max_examples=25, deadline=None)
@given(strategies.plans(), st.sampled_from(VIEWS), st.data())
def test_an_input_that_is_unknown_makes_the_figure_unknown(
    plan: Plan, view: View, data: st.DataObject
) -> None:
    told = explain(evaluate(plan), view)
    explanation = told[data.draw(st.sampled_from(sorted(told)))]
    taking_part = [one for one in explanation.inputs if one.symbol]
    if not taking_part:
        assert explanation.expression == "0"
        return
    lost = data.draw(st.sampled_from(taking_part))
    inputs = tuple(replace(one, value=None) if one is lost else one for one in explanation.inputs)
    assert recompute(replace(explanation, inputs=inputs)) is None


@pytest.mark.parametrize("view", VIEWS)
def test_a_wrong_input_is_noticed(view: View) -> None:
    plan = make_plan(
        workloads=(make_workload(gpus=20.0),),
        supplies=(make_owned(availability=0.9), make_reserved(), make_on_demand(quota_gpus=2)),
    )
    for figure, explanation in explain(evaluate(plan), view).items():
        for lost in (one for one in explanation.inputs if one.symbol and isinstance(one.value, float)):
            other = replace(lost, value=float(lost.value or 0.0) * 1.001 + 1.0)  # type: ignore[arg-type]
            inputs = tuple(other if one is lost else one for one in explanation.inputs)
            assert not agrees(replace(explanation, inputs=inputs)), (figure, lost.name)


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("a + b * 2 - -c", {"a": 1.0, "b": 2.0, "c": 3.0}, 8.0),
        ("(a / b) ** 2", {"a": 3.0, "b": 2.0}, 2.25),
        ("sum(a)", {"a": (1.0, 2.0, 4.0)}, 7.0),
        ("sum(a, b)", {"a": 1.0, "b": (2.0, 4.0)}, 7.0),
        ("max(a) - min(a, b)", {"a": (1.0, 9.0), "b": 0.5}, 8.5),
        ("mean(a)", {"a": (1.0, 2.0, 6.0)}, 3.0),
        ("median(a)", {"a": (9.0, 1.0, 2.0, 4.0)}, 3.0),
        ("count(a)", {"a": (9.0, 1.0)}, 2.0),
        ("dot(a, b)", {"a": (1.0, 2.0), "b": (3.0, 4.0)}, 11.0),
        ("per(a, b)", {"a": 3.0, "b": 4.0}, 0.75),
        ("exp(log1p(a)) + expm1(b) + sqrt(c)", {"a": 2.0, "b": 0.0, "c": 9.0}, 6.0),
        ("τ * M", {"τ": 2.0, "M": 3.0}, 6.0),
        # 100 against 40 a month: 100 <= 120 in the third; equal at first does not count
        ("first_at_or_below(a, b)", {"a": (100.0, 100.0, 100.0), "b": (40.0, 80.0, 120.0)}, 3.0),
        ("first_at_or_below(a, b)", {"a": (0.0, 90.0, 90.0), "b": (0.0, 80.0, 95.0)}, 3.0),
        # half of three hours at 1, 2, 9: the price held at most 2 for two thirds of the time
        ("held_price(a, b, 0.5)", {"a": (9.0, 1.0, 2.0), "b": (1.0, 1.0, 1.0)}, 2.0),
        ("held_share(a, b, 2)", {"a": (9.0, 1.0, 2.0), "b": (2.0, 1.0, 1.0)}, 0.5),
        # mean 2, squares 1 and 1 for equal times: standard deviation 1
        ("held_variation(a, b)", {"a": (1.0, 3.0), "b": (5.0, 5.0)}, 0.5),
    ],
)
def test_what_an_expression_may_say(
    expression: str, values: dict[str, float | tuple[float, ...]], expected: float
) -> None:
    assert recompute(made(expression, **values)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("a / b", {"a": 1.0, "b": 0.0}),
        ("per(a, b)", {"a": 1.0, "b": -2.0}),
        ("a + b", {"a": 1.0, "b": None}),
        ("max(a, b)", {"a": 1.0, "b": None}),
        ("a", {"a": math.nan}),
        ("exp(a)", {"a": 1e6}),
        ("a ** 0.5", {"a": -1.0}),
        ("first_at_or_below(a, b)", {"a": (3.0, 3.0), "b": (1.0, 2.0)}),  # never within the horizon
        ("first_at_or_below(a, b)", {"a": (1.0, 2.0), "b": (1.0, 2.0)}),  # the two never differ
        ("held_share(a, b, 1)", {"a": (1.0,), "b": (0.0,)}),
        ("", {"a": 1.0}),
    ],
)
def test_where_there_is_no_answer_there_is_none(expression: str, values: dict[str, float | None]) -> None:
    assert recompute(made(expression, **values)) is None


@pytest.mark.parametrize(
    "expression",
    ["b", "a.real", "a[0]", "__import__('os')", "(lambda: 1)()", "a if a else 1", "a +", "pow(a, 2)", "'a'",
     "True", "a and a", "a // 2"],
)  # fmt: skip
def test_anything_but_arithmetic_over_inputs_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="right would be"):
        recompute(made(expression, a=1.0))


def test_series_are_no_numbers() -> None:
    with pytest.raises(ValueError, match="a series in arithmetic"):
        recompute(made("a + 1", a=(1.0, 2.0)))


def test_the_rounding_of_a_difference_is_that_of_its_terms() -> None:
    told = replace(made("a - b", a=1e9 + 1e-7, b=1e9), value=0.0)
    assert agrees(told)
    assert not agrees(replace(told, value=2.0))
    assert not agrees(replace(made("a", a=None), value=0.0))
