"""What the model fixes where two readings are possible, one test for each that no other file has."""

from datetime import date

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Block, Contract, ContractStep, PlanRate, SavingsPlan
from tests.builders import make_on_demand, make_plan, make_workload
from tests.core.reading import line

JANUARY = 744


def test_equal_discounts_are_a_tie_though_floats_differ_and_the_lower_rate_goes_first() -> None:
    # 1 - 0.7/1.0 and 1 - 0.07/0.1 are 30 % both, and not the same float
    dear = make_on_demand(name="Dear", usd_per_gpu_hour=1.0, quota_gpus=1.0, reference=False)
    cheap = make_on_demand(name="Cheap", usd_per_gpu_hour=0.1, quota_gpus=1.0, reference=False)
    assert 1 - 0.7 / 1.0 > 1 - 0.07 / 0.1
    rates = (PlanRate("Dear", 0.7), PlanRate("Cheap", 0.07))
    savings = SavingsPlan("Savings", 0.07, date(2027, 1, 1), 12, rates)
    work = (make_workload(gpus=2.0),)
    outcome = evaluate(make_plan(months=1, workloads=work, supplies=(dear, cheap, savings)))
    assert line(outcome, "Cheap", "usage") == [0.0]
    assert line(outcome, "Dear", "usage") == pytest.approx([1.0 * JANUARY])


def test_the_hours_in_which_a_block_is_taken_back_are_installed_and_not_available() -> None:
    block = Block("Block", 8, date(2027, 1, 11), 2, 3.0, date(2027, 1, 1), lost_hours=6)
    capacity = evaluate(make_plan(months=1, supplies=(block,))).capacity
    assert capacity["installed_gpu_hours"].tolist() == [8 * 48]
    assert capacity["available_gpu_hours"].tolist() == [8 * 42]


def test_a_contract_is_held_in_whole_instances() -> None:
    steps = (ContractStep(date(2027, 1, 1), 16, 3.0), ContractStep(date(2027, 3, 1), 12, 3.0))
    contract = Contract("Contract", steps, date(2027, 6, 1), gpus_per_instance=8)
    with pytest.raises(ValueError, match=r"gpus is 12; .*multiple of gpus_per_instance, such as 8 or 16"):
        evaluate(make_plan(supplies=(contract,)))


@pytest.mark.parametrize(
    ("first", "second", "end", "is_known"),
    [
        ((date(2026, 1, 1), 8, None), (date(2026, 6, 1), 8, None), date(2027, 1, 1), True),
        ((date(2026, 1, 1), 8, None), (date(2027, 1, 1), 8, 3.0), date(2027, 9, 1), True),
        ((date(2027, 1, 1), 8, 3.0), (date(2028, 1, 1), 8, None), date(2028, 9, 1), True),
        ((date(2027, 1, 1), 0, None), (date(2027, 3, 1), 8, 3.0), date(2027, 9, 1), True),
        ((date(2026, 12, 1), 8, None), (date(2027, 2, 1), 8, 3.0), date(2027, 9, 1), False),
    ],
)
def test_a_contract_misses_the_price_of_a_step_that_holds_gpus_inside_the_plan(
    first: tuple[date, int, float | None], second: tuple[date, int, float | None], end: date, is_known: bool
) -> None:
    contract = Contract("Contract", (ContractStep(*first), ContractStep(*second)), end)
    outcome = evaluate(make_plan(months=12, supplies=(contract, make_on_demand())))
    assert (outcome.total["cash_usd"] is not None) is is_known
    assert [gap.supply for gap in outcome.gaps] == ([] if is_known else ["Contract"])
