"""Capacity blocks and private contracts: dated capacity, paid for used or not."""

from datetime import date

import numpy as np
import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Block, Contract, ContractStep
from tests.builders import make_on_demand, make_plan, make_workload
from tests.core.reading import closing, line, served


def make_block(**changes: object) -> Block:
    """Return 16 GPUs for the 14 days from 20 February 2027, bought on 5 January, at 3.00."""
    values: dict[str, object] = {
        "name": "Block",
        "gpus": 16,
        "start": date(2027, 2, 20),
        "days": 14,
        "usd_per_gpu_hour": 3.0,
        "purchased": date(2027, 1, 5),
        "gpus_per_instance": 8,
    }
    return Block(**{**values, **changes})  # type: ignore[arg-type]


def make_contract(**changes: object) -> Contract:
    """Return 8 GPUs at 3.00 from January, 16 at 2.50 from March, until the first of June 2027."""
    values: dict[str, object] = {
        "name": "Contract",
        "steps": (ContractStep(date(2027, 1, 1), 8, 3.0), ContractStep(date(2027, 3, 1), 16, 2.5)),
        "end": date(2027, 6, 1),
    }
    return Contract(**{**values, **changes})  # type: ignore[arg-type]


def plan_with(*supplies: object, gpus: float = 20.0, **changes: object):  # type: ignore[no-untyped-def]
    everything = (*supplies, make_on_demand())
    return make_plan(months=6, workloads=(make_workload(gpus=gpus),), supplies=everything, **changes)


def test_a_block_gives_its_gpus_inside_its_window_and_none_outside() -> None:
    outcome = evaluate(plan_with(make_block()))
    # 20 to 28 February are 9 days, 1 to 5 March are 5
    assert served(outcome, "Block") == [0.0, 16 * 24 * 9, 16 * 24 * 5, 0.0, 0.0, 0.0]
    rest = [20 * h for h in (744, 672, 744, 720, 744, 720)]
    rest[1] -= 16 * 24 * 9
    rest[2] -= 16 * 24 * 5
    assert served(outcome, "On demand") == pytest.approx(rest)


def test_a_block_is_cash_at_purchase_and_its_books_follow_its_hours() -> None:
    outcome = evaluate(plan_with(make_block(), gpus=4.0))
    whole = 16 * 24 * 14 * 3.0
    assert line(outcome, "Block", "upfront") == [whole, 0, 0, 0, 0, 0]
    used = line(outcome, "Block", "commitment_used", "amortized_usd")
    unused = line(outcome, "Block", "commitment_unused", "amortized_usd")
    # 4 of 16 GPUs are wanted
    assert used == pytest.approx([0, 4 * 24 * 9 * 3.0, 4 * 24 * 5 * 3.0, 0, 0, 0])
    assert unused == pytest.approx([0, 12 * 24 * 9 * 3.0, 12 * 24 * 5 * 3.0, 0, 0, 0])
    assert closing(outcome) == pytest.approx([whole, whole * 5 / 14, 0, 0, 0, 0])


def test_the_last_hours_of_a_block_are_paid_for_and_give_nothing() -> None:
    outcome = evaluate(plan_with(make_block(lost_hours=2)))
    assert sum(served(outcome, "Block")) == 16 * (24 * 14 - 2)
    assert sum(line(outcome, "Block", "upfront")) == 16 * 24 * 14 * 3.0


def test_a_contract_steps_in_gpus_and_price() -> None:
    outcome = evaluate(plan_with(make_contract()))
    assert served(outcome, "Contract") == [8 * 744, 8 * 672, 16 * 744, 16 * 720, 16 * 744, 0.0]
    money = [8 * 744 * 3, 8 * 672 * 3, 16 * 744 * 2.5, 16 * 720 * 2.5, 16 * 744 * 2.5, 0]
    assert line(outcome, "Contract", "recurring") == pytest.approx(money)


def test_take_or_pay_charges_the_larger_of_use_and_the_share() -> None:
    plan = plan_with(make_contract(take_or_pay_share=0.75), gpus=4.0)
    # 4 of 8 used: below 75 %, so 6 are due; 4 of 16: 12 are due
    due = [6 * 744 * 3, 6 * 672 * 3, 12 * 744 * 2.5, 12 * 720 * 2.5, 12 * 744 * 2.5, 0]
    assert line(evaluate(plan), "Contract", "recurring") == pytest.approx(due)
    busy = evaluate(plan_with(make_contract(take_or_pay_share=0.75), gpus=7.0))
    assert line(busy, "Contract", "recurring")[0] == pytest.approx(7 * 744 * 3)
    assert line(busy, "Contract", "commitment_unused", "amortized_usd")[0] == pytest.approx(0.0)


def test_a_contract_that_steps_inside_a_month_costs_each_hour_at_its_step() -> None:
    steps = (ContractStep(date(2027, 1, 1), 8, 3.0), ContractStep(date(2027, 1, 11), 8, 2.0))
    outcome = evaluate(plan_with(make_contract(steps=steps, end=date(2027, 2, 1))))
    assert line(outcome, "Contract", "recurring")[0] == pytest.approx(8 * 24 * (10 * 3.0 + 21 * 2.0))


def test_an_unknown_price_makes_totals_unknown_and_is_named() -> None:
    outcome = evaluate(plan_with(make_block(usd_per_gpu_hour=None)))
    assert outcome.total["cash_usd"] is None
    assert [gap.supply for gap in outcome.gaps] == ["Block"]
    steps = (ContractStep(date(2027, 1, 1), 8, 3.0), ContractStep(date(2027, 3, 1), 8, None))
    outcome = evaluate(plan_with(make_contract(steps=steps)))
    assert outcome.total["present_value_usd"] is None
    money = line(outcome, "Contract", "recurring")
    assert not np.isnan(money[:2]).any()
    assert np.isnan(money[2:5]).all()


def test_what_outlives_the_plan_is_named_and_in_no_total() -> None:
    outcome = evaluate(plan_with(make_contract(end=date(2027, 8, 1), take_or_pay_share=0.5)))
    assert outcome.off_total["recurring_still_owed_usd"] == pytest.approx(0.5 * 16 * 744 * 2.5)
    assert any("outlives the plan" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("supply", "message"),
    [
        (make_block(gpus=12), "gpus is 12; right would be a multiple of gpus_per_instance"),
        (make_block(days=0), "days is 0; right would be a whole number from 1"),
        (make_block(purchased=date(2027, 3, 1)), "purchased is 2027-03-01; right would be a day up to"),
        (make_contract(steps=()), "steps is none; right would be at least one step"),
        (make_contract(end=date(2027, 2, 1)), "days in order, the end of the contract last"),
        (
            make_contract(take_or_pay_share=1.2),
            "take_or_pay_share is 1.2; right would be a number from 0 to 1",
        ),
    ],
)
def test_absurd_blocks_and_contracts_are_refused(supply: Block | Contract, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(plan_with(supply))
