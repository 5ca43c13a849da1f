"""On demand and spot: price paths, quotas in whole instances, rounding, useful work."""

import pytest

from planner.core.evaluate import evaluate
from planner.core.spot import beats
from tests.builders import make_on_demand, make_plan, make_spot, make_workload
from tests.core.reading import line, served, unmet

TRAINING = make_workload(name="training", kind="training", interruptible=True)


def test_february_of_a_leap_year_has_696_hours() -> None:
    plan = make_plan(start=make_plan().start.replace(year=2028, month=2), months=1)
    assert evaluate(plan).total["cash_usd"] == 8 * 4.0 * 696


def test_drift_applies_from_month_2_to_on_demand_and_spot() -> None:
    supplies = (make_spot(quota_gpus=4), make_on_demand())
    plan = make_plan(months=2, workloads=(TRAINING,), supplies=supplies, price_drift_per_month=-0.1)
    outcome = evaluate(plan)
    assert line(outcome, "Spot", "usage") == pytest.approx([4 * 744 * 1.2, 4 * 672 * 1.2 * 0.9])
    # 4 paid spot GPUs do the work of 3.2, so 4.8 run on demand
    assert line(outcome, "On demand", "usage") == pytest.approx([4.8 * 744 * 4.0, 4.8 * 672 * 3.6])


def test_spot_pays_for_lost_work() -> None:
    outcome = evaluate(make_plan(months=1, workloads=(TRAINING,), supplies=(make_spot(), make_on_demand())))
    assert line(outcome, "Spot", "served", "paid_gpu_hours") == pytest.approx([10 * 744])
    assert served(outcome, "Spot") == pytest.approx([8 * 744])
    assert outcome.usd_per_useful_gpu_hour["cash_usd"] == pytest.approx(1.5)


def test_quotas_hold_whole_instances() -> None:
    supply = make_on_demand(quota_gpus=20, gpus_per_instance=8)
    outcome = evaluate(make_plan(months=1, workloads=(make_workload(gpus=24.0),), supplies=(supply,)))
    assert served(outcome, "On demand") == [16 * 744.0]
    assert unmet(outcome) == [8 * 744.0]
    assert outcome.capacity["quota_gpus"].tolist() == [16.0]
    assert any("holds 16 in whole instances of 8" in note for note in outcome.notes)


def test_use_is_billed_by_the_gpu_and_the_rounding_stands_in_a_note() -> None:
    """9 GPUs in instances of 8 leave 7 idle: 7 * 744 = 5,208 GPU-hours, 20,832 at 4.00."""
    supply = make_on_demand(gpus_per_instance=8)
    outcome = evaluate(make_plan(months=1, workloads=(make_workload(gpus=9.0),), supplies=(supply,)))
    assert outcome.total["cash_usd"] == 9 * 744 * 4.0
    assert any("5,208 GPU-hours (20,832 USD)" in note for note in outcome.notes)


def test_the_planned_peak_is_the_highest_hour_in_whole_instances() -> None:
    """9 GPUs on average, 18 on weekdays' first half and none else: the peak is 18, in eights 24."""
    profile = (2.0,) * 84 + (0.0,) * 84
    supply = make_on_demand(gpus_per_instance=8)
    workload = make_workload(gpus=9.0, profile=profile)
    outcome = evaluate(make_plan(months=1, workloads=(workload,), supplies=(supply,)))
    assert outcome.capacity["peak_gpus"].tolist() == [24.0]


def test_spot_has_a_quota_of_its_own_in_paid_gpus() -> None:
    supplies = (make_spot(quota_gpus=5), make_on_demand())
    outcome = evaluate(make_plan(months=1, workloads=(TRAINING,), supplies=supplies))
    assert served(outcome, "Spot") == pytest.approx([4 * 744])
    assert outcome.capacity.set_index("supply").loc["Spot", "peak_gpus"] == 5.0


@pytest.mark.parametrize(("price", "expected"), [(2.0, True), (3.2, False), (None, None)])
def test_spot_beats_on_demand_per_useful_hour(price: float | None, expected: bool | None) -> None:
    # 3.2 / 0.8 is 4.00, no cheaper than 4.00
    assert beats(make_spot(usd_per_gpu_hour=price), 4.0) is expected
