"""Ramps as sums of commitments, take-or-pay by month, the value of a price agreed today."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.core.commitments.overlapping import DemandByMonth, Purchase, active_gpus
from planner.core.commitments.ramps import Step, ramp_purchases, ramp_tests, ramp_value, take_or_pay_usd

FEW = settings(max_examples=50, deadline=None)
HOURS = np.array([100.0, 100.0])


@FEW
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_the_commitments_of_a_ramp_add_up_to_its_schedule(rises: list[int]) -> None:
    levels = np.cumsum(rises)
    steps = [Step(2 * place, int(gpus)) for place, gpus in enumerate(levels)]
    active = active_gpus(ramp_purchases(steps, 12), 14)
    held = np.append(np.repeat(levels, 2), np.full(12 - 2 * len(levels), levels[-1]))
    assert active.tolist() == [*held.tolist(), 0, 0]


def test_each_step_is_tested_from_its_own_start() -> None:
    """2 GPUs wanted, then 4; the ramp goes from 2 to 6: of the second step's 4, two are never used."""
    demand = DemandByMonth(np.repeat([2.0, 4.0], 100), np.array([100, 100]))
    first, second = ramp_tests(demand, [Step(0, 2), Step(1, 6)], 2, 0.6, np.ones(2))
    assert (first.gpus_that_pay, first.usd_saved) == (2, pytest.approx(2 * 200 * 0.4))
    # two save 40 each, two lose 60 each
    assert (second.gpus_that_pay, second.usd_saved) == (2, pytest.approx(-40.0))
    assert second.sentence == "Step 2: 2 of 4 GPUs pay; it loses $40.00."


def test_what_a_ramp_saves_is_the_sum_of_its_steps() -> None:
    """Against the hour-by-hour cost of the whole schedule, at rate 0."""
    hourly = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 0.0])
    demand = DemandByMonth(hourly, np.array([2, 2, 2]))
    tests = ramp_tests(demand, [Step(0, 1), Step(1, 4)], 3, 0.5, np.ones(3), held=[Purchase(-1, 2, 1)])
    held, ramp = np.array([1.0, 1, 0, 0, 0, 0]), np.array([1.0, 1, 4, 4, 4, 4])
    before = np.maximum(hourly - held, 0.0).sum()
    after = np.maximum(hourly - held - ramp, 0.0).sum() + 0.5 * ramp.sum()
    assert sum(test.usd_saved for test in tests) == pytest.approx(before - after)


def test_later_steps_are_discounted_to_the_plans_begin() -> None:
    # the step begins after a year at 25 %: its saving of 100 * (1 - 0.5), valued at its month's end
    demand = DemandByMonth(np.ones(1300), np.full(13, 100))
    (step,) = ramp_tests(demand, [Step(12, 1)], 13, 0.5, np.ones(13), rate_per_year=0.25)
    assert step.usd_saved == pytest.approx(50.0 / 1.25 ** (13 / 12))


def test_whole_instances_are_tested() -> None:
    demand = DemandByMonth(np.full(10, 12.0), np.array([10]))
    (step,) = ramp_tests(demand, [Step(0, 16)], 1, 0.6, np.ones(1), gpus_per_instance=8)
    # 8 used fully, then 4 of 8: 8 * 10 * 0.4 and 4 * 10 - 8 * 10 * 0.6
    assert (step.gpus_that_pay, step.usd_saved) == (8, pytest.approx(32.0 - 8.0))


def test_a_ramp_without_a_price_is_unknown_and_says_so() -> None:
    demand = DemandByMonth(np.ones(2), np.array([1, 1]))
    (step,) = ramp_tests(demand, [Step(0, 1)], 2, None, np.ones(2))
    assert (step.gpus_that_pay, step.usd_saved) == (None, None)
    assert step.sentence == "Step 1: unknown, for lack of agreed_usd_per_gpu_hour."
    value = ramp_value([Step(0, 1)], 2, None, np.ones(2), HOURS)
    assert (value.usd_net, value.missing) == (None, ("agreed_usd_per_gpu_hour",))


def test_take_or_pay_is_settled_month_by_month() -> None:
    """80 % of 100 GPU-hours at 2.00: a month of 50 pays for 80, one of 110 for 110; no month makes up."""
    bill = take_or_pay_usd(2.0, np.array([50.0, 110.0]), np.array([100.0, 100.0]), 0.8)
    assert bill.tolist() == [160.0, 220.0]
    assert bill.sum() > 2.0 * max(160.0, 0.8 * 200.0)


def test_an_unknown_rate_gives_an_unknown_bill() -> None:
    bill = take_or_pay_usd(np.array([2.0, np.nan]), HOURS, HOURS, 0.8)
    assert np.isnan(bill).tolist() == [False, True]


@FEW
@given(
    st.lists(st.floats(0.5, 4.0), min_size=2, max_size=2),
    st.lists(st.floats(0.5, 4.0), min_size=2, max_size=2),
    st.floats(0.5, 4.0),
    st.floats(0.0, 0.5),
)
def test_a_ramp_is_worth_what_it_costs_less_than_buying_later(
    one: list[float], other: list[float], agreed: float, rate: float
) -> None:
    steps, paths = [Step(0, 2), Step(1, 5)], np.array([one, other])
    value = ramp_value(steps, 2, agreed, paths, HOURS, rate)
    first, second = 100.0 / (1 + rate) ** (1 / 12), 100.0 / (1 + rate) ** (2 / 12)
    market = np.mean([2 * path[0] * (first + second) + 3 * path[1] * second for path in paths])
    ramp = 2 * agreed * (first + second) + 3 * agreed * second
    assert value.usd_net == pytest.approx(market - ramp, abs=1e-6)
    assert value.usd_given_up >= 0.0
    assert value.usd_protected >= 0.0


def test_a_falling_path_shows_the_option_sold_to_the_provider() -> None:
    # the second GPU is agreed at 2.00 and would cost 1.50 by then, for one month of 100 h
    value = ramp_value([Step(0, 1), Step(1, 2)], 2, 2.0, np.array([2.0, 1.5]), HOURS)
    assert (value.usd_given_up, value.usd_protected, value.share_of_paths_dearer) == (50.0, 0.0, 1.0)


def test_probabilities_weigh_the_paths() -> None:
    paths = np.array([[2.0, 1.0], [2.0, 4.0]])
    value = ramp_value([Step(1, 1)], 2, 2.0, paths, HOURS, probabilities=np.array([0.75, 0.25]))
    assert (value.usd_given_up, value.usd_protected, value.share_of_paths_dearer) == (75.0, 50.0, 0.75)


@pytest.mark.parametrize("steps", [[Step(0, 4), Step(1, 2)], [Step(1, 1), Step(1, 2)], [Step(2, 1)]])
def test_falling_and_misplaced_steps_are_refused(steps: list[Step]) -> None:
    with pytest.raises(ValueError, match=r"gpus|start_month"):
        ramp_purchases(steps, 2)


def test_impossible_contracts_are_refused() -> None:
    with pytest.raises(ValueError, match="least_share"):
        take_or_pay_usd(1.0, HOURS, HOURS, 1.5)
    with pytest.raises(ValueError, match="used_gpu_hours"):
        take_or_pay_usd(1.0, np.array([1.0]), HOURS, 0.5)
    with pytest.raises(ValueError, match="probabilities"):
        ramp_value([Step(0, 1)], 2, 1.0, np.ones((2, 2)), HOURS, probabilities=np.array([0.5, 0.6]))
    with pytest.raises(ValueError, match="end_month"):
        ramp_value([Step(0, 1)], 3, 1.0, np.ones(2), HOURS)
    demand = DemandByMonth(np.ones(1), np.array([1]))
    with pytest.raises(ValueError, match="whole instances of 8"):
        ramp_tests(demand, [Step(0, 9)], 1, 0.5, np.ones(1), gpus_per_instance=8)
