"""The economic view: the third view reconciles with the other two."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.books.economic import (
    BEGIN_LINES,
    economic_charge_usd,
    economic_view,
    present_value_gap_usd,
)
from planner.core.evaluate import evaluate
from planner.core.money import discount_factors
from planner.core.plan import Block, Contract, ContractStep, Loan, Plan, PlanRate, Project, SavingsPlan
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_workload

JANUARY = date(2027, 1, 1)


def full_plan(rate: float, months: int = 30, loan_share: float = 0.6) -> Plan:
    """Return a plan that owns, borrows, reserves, holds contracts, rents and pays for a project."""
    supplies = (
        make_owned(
            order_date=date(2027, 2, 10),
            lead_time_days=70,
            loan=Loan(loan_share, 0.08, 18),
            economic_life_months=14,
            idle_kw_per_server=2.0,
            max_kw_per_server=10.0,
            usd_per_kwh=0.1,
        ),
        make_owned(name="Late", order_date=date(2028, 3, 1), residual_share=0.3),
        make_reserved(
            payment="partial_upfront", usd_upfront_per_gpu=5_000.0, term_months=36, salvage_share=0.5
        ),
        SavingsPlan("Save", 5.0, date(2027, 3, 5), 12, (PlanRate("On demand", 2.5),), upfront_share=0.5),
        Contract("Deal", (ContractStep(JANUARY, 4, 3.0),), date(2028, 6, 1), take_or_pay_share=0.5),
        Block("Block", 8, date(2027, 6, 1), 14, 5.0, date(2027, 4, 1)),
        make_on_demand(),
    )
    return make_plan(
        months=months,
        workloads=(make_workload(gpus=30.0),),
        supplies=supplies,
        discount_rate_per_year=rate,
        projects=(Project("Validate H200", date(2027, 5, 3), 100_000.0),),
    )


@settings(max_examples=15, deadline=None)
@given(st.floats(0.0, 0.4), st.integers(1, 40), st.floats(0.0, 1.0))
def test_the_books_with_the_cost_of_capital_are_worth_what_the_payments_are(
    rate: float, months: int, loan_share: float
) -> None:
    outcome = evaluate(full_plan(rate, months, loan_share))
    assert present_value_gap_usd(outcome) == pytest.approx(0.0, abs=1e-3)


def test_it_is_exact_to_a_hundredth_of_a_cent() -> None:
    gap = present_value_gap_usd(evaluate(full_plan(0.1)))
    assert gap == pytest.approx(0.0, abs=1e-4)


def test_at_rate_0_the_economic_view_is_the_amortized_one() -> None:
    view = economic_view(evaluate(full_plan(0.0)))
    assert view["economic_usd"].tolist() == pytest.approx(view["amortized_usd"].tolist())
    assert view["capital_usd"].abs().max() == pytest.approx(0.0, abs=1e-6)


def test_every_line_is_at_the_begin_or_at_the_end_as_said_here() -> None:
    outcome = evaluate(full_plan(0.1))
    factors = discount_factors(0.1, 30)
    for line, rows in outcome.monthly.groupby("line"):
        cash = rows["cash_usd"].to_numpy().reshape(-1, 30)
        present = rows["present_value_usd"].to_numpy().reshape(-1, 30)
        expected = factors.begin if line in BEGIN_LINES else factors.end
        assert present == pytest.approx(cash * expected), line


def test_one_server_by_hand() -> None:
    """280,000 written off to 28,000 over 60 months; month 1 ties up 280,000, month 2 4,200 less."""
    plan = make_plan(months=2, supplies=(make_owned(), make_on_demand()), discount_rate_per_year=0.1)
    view = economic_view(evaluate(plan))
    i = 1.1 ** (1 / 12) - 1
    assert view["amortized_usd"].tolist() == pytest.approx([4_200.0, 4_200.0])
    assert view["capital_usd"].tolist() == pytest.approx([280_000 * i, (280_000 - 4_200) * i])


def test_an_unknown_price_makes_the_view_unknown() -> None:
    plan = make_plan(supplies=(make_owned(usd_capex_per_server=None), make_on_demand()))
    outcome = evaluate(replace(plan, discount_rate_per_year=0.1))
    assert present_value_gap_usd(outcome) is None
    assert economic_view(outcome)["economic_usd"].isna().all()


def test_refusals() -> None:
    with pytest.raises(ValueError, match="opening_usd is 1 periods; right would be as many as amortized"):
        economic_charge_usd(np.zeros(2), np.zeros(1), np.zeros(2), 0.1)
    with pytest.raises(ValueError, match="rate_per_period is -1"):
        economic_charge_usd(np.zeros(1), np.zeros(1), np.zeros(1), -1.0)
    with pytest.raises(ValueError, match="begin_usd is"):
        economic_charge_usd(np.zeros(1), np.zeros(1), np.array([np.inf]), 0.1)
