"""Who may serve whom: regions, validated GPU models, gangs, and what moving data costs."""

from datetime import date

import pytest

from planner.core.evaluate import evaluate
from planner.core.plan import Region, Validation
from tests.builders import make_on_demand, make_owned, make_plan, make_reserved, make_spot, make_workload
from tests.core.reading import line, served, unmet

HOURS = [744, 672, 744]


def plan_with(*supplies: object, gpus: float = 8.0, **workload: object):  # type: ignore[no-untyped-def]
    work = make_workload(gpus=gpus, **workload)
    return make_plan(months=3, workloads=(work,), supplies=supplies)


def test_work_stays_in_the_regions_it_may_run_in() -> None:
    near = make_on_demand(region="eu-central-1", usd_per_gpu_hour=5.0)
    cheap = make_on_demand(name="Far", region="us-east-2", usd_per_gpu_hour=1.0, reference=False)
    outcome = evaluate(plan_with(near, cheap, regions=(Region("eu-central-1"),)))
    assert sum(served(outcome, "Far")) == 0.0
    assert served(outcome, "On demand") == pytest.approx([8 * h for h in HOURS])
    free = evaluate(plan_with(near, cheap))
    assert sum(served(free, "On demand")) == 0.0


def test_moving_data_is_a_line_of_its_own_and_counts_in_the_merit_order() -> None:
    near = make_on_demand(region="near", usd_per_gpu_hour=4.0, quota_gpus=8)
    far = make_on_demand(name="Far", region="far", usd_per_gpu_hour=3.5, reference=False)
    regions = (Region("near"), Region("far", gb_per_gpu_hour=10.0, usd_per_gb=0.09))
    # 3.50 + 10 * 0.09 = 4.40 is dearer than 4.00 at home
    outcome = evaluate(plan_with(near, far, regions=regions, gpus=10.0))
    assert served(outcome, "Far") == pytest.approx([2 * h for h in HOURS])
    assert line(outcome, "Far", "data_moved") == pytest.approx([2 * h * 0.9 for h in HOURS])
    total = sum(8 * h * 4.0 + 2 * h * 4.4 for h in HOURS)
    assert outcome.total["cash_usd"] == pytest.approx(total)


def test_an_unknown_price_of_moving_data_makes_the_total_unknown() -> None:
    regions = (Region("far", gb_per_gpu_hour=1.0, usd_per_gb=None),)
    outcome = evaluate(plan_with(make_on_demand(region="far"), regions=regions))
    assert outcome.total["cash_usd"] is None
    assert "moving data to far is unknown" in outcome.gaps[0].text


def test_another_gpu_serves_by_its_measured_ratio_from_the_day_it_is_validated() -> None:
    # one MI300X hour does 1.25 H100 hours of this work; validated by the middle of January, so from February
    amd = make_reserved(name="AMD", gpus=8, gpu_model="MI300X", usd_per_gpu_hour=1.0)
    validations = (
        Validation("H100", validated_on=date(2026, 1, 1)),
        Validation("MI300X", throughput_ratio=1.25, validated_on=date(2027, 1, 15)),
    )
    outcome = evaluate(plan_with(amd, make_on_demand(), validations=validations, gpus=15.0))
    assert served(outcome, "AMD") == pytest.approx([0.0, 10 * 672, 10 * 744])
    assert served(outcome, "On demand") == pytest.approx([15 * 744, 5 * 672, 5 * 744])
    assert line(outcome, "AMD", "served", "paid_gpu_hours") == pytest.approx([0.0, 8 * 672, 8 * 744])


def test_what_is_not_validated_serves_nothing_and_the_gate_says_so() -> None:
    amd = make_on_demand(gpu_model="MI300X")
    for validations in (None, (Validation("H100", validated_on=date(2026, 1, 1)),), (Validation("MI300X"),)):
        outcome = evaluate(plan_with(amd, validations=validations))
        assert unmet(outcome) == pytest.approx([8 * h for h in HOURS])
        assert [gate.gate for gate in outcome.gates] == ["validation"] * 3
        assert "not validated" in outcome.gates[0].text


def test_the_merit_order_counts_work_not_hours() -> None:
    validations = (
        Validation("H100", validated_on=date(2026, 1, 1)),
        Validation("B200", throughput_ratio=2.0, validated_on=date(2026, 1, 1)),
    )
    fast = make_on_demand(name="Fast", gpu_model="B200", usd_per_gpu_hour=6.0, reference=False)
    outcome = evaluate(plan_with(make_on_demand(), fast, validations=validations))
    # 6.00 for two hours of work is 3.00 an hour: cheaper than 4.00
    assert sum(served(outcome, "On demand")) == 0.0
    assert outcome.total["cash_usd"] == pytest.approx(4 * 6.0 * sum(HOURS))


def test_a_gang_needs_a_limit_that_holds_it() -> None:
    small = make_on_demand(quota_gpus=16, gpus_per_instance=8, usd_per_gpu_hour=1.0)
    large = make_on_demand(name="Large", quota_gpus=64, gpus_per_instance=8, reference=False)
    outcome = evaluate(plan_with(small, large, gang_gpus=32, gpus=32.0))
    assert sum(served(outcome, "On demand")) == 0.0
    assert served(outcome, "Large") == pytest.approx([32 * h for h in HOURS])
    alone = evaluate(plan_with(small, gang_gpus=32, gpus=32.0))
    assert [gate.gate for gate in alone.gates] == ["gang"] * 3


def test_servers_of_one_site_hold_a_gang_together() -> None:
    one, other = make_owned(name="One", servers=2), make_owned(name="Other", servers=2)
    outcome = evaluate(plan_with(one, other, gang_gpus=32, gpus=32.0))
    assert unmet(outcome) == pytest.approx([0.0] * 3)
    apart = make_owned(name="Other", servers=2, region="elsewhere")
    assert sum(unmet(evaluate(plan_with(one, apart, gang_gpus=32, gpus=32.0)))) > 0.0


def test_spot_does_its_share_of_the_ratio() -> None:
    validations = (Validation("A100", throughput_ratio=0.5, validated_on=date(2026, 1, 1)),)
    spot = make_spot(gpu_model="A100", useful_work_factor=0.8)
    outcome = evaluate(plan_with(spot, kind="training", interruptible=True, validations=validations))
    # 8 GPUs of work at 0.8 * 0.5 take 20 paid ones
    assert line(outcome, "Spot", "served", "paid_gpu_hours") == pytest.approx([20 * h for h in HOURS])


def test_hours_by_class_add_up_to_the_supplies_and_the_demand() -> None:
    works = (make_workload(gpus=6.0), make_workload(name="batch", kind="training", gpus=6.0))
    plan = make_plan(months=3, workloads=works, supplies=(make_reserved(), make_on_demand(quota_gpus=2)))
    outcome = evaluate(plan)
    frame = outcome.by_class
    assert frame["useful_gpu_hours"].sum() == pytest.approx(outcome.useful_gpu_hours)
    assert frame["unmet_gpu_hours"].sum() == pytest.approx(outcome.unmet_gpu_hours)
    batch = frame[frame["workload"] == "batch"]
    assert batch["useful_gpu_hours"].sum() == pytest.approx(4 * sum(HOURS))  # 2 reserved, 2 on demand
    assert batch["unmet_gpu_hours"].sum() == pytest.approx(2 * sum(HOURS))


def test_a_cheap_gpu_of_another_model_is_no_reference_unless_it_is_marked() -> None:
    other = make_on_demand(name="Other", gpu_model="L4", usd_per_gpu_hour=0.5, reference=False)
    own = make_on_demand(reference=False)
    outcome = evaluate(plan_with(other, own))
    assert outcome.reference is not None
    assert outcome.reference.name == "On demand"
    alone = evaluate(plan_with(other)).reference
    assert alone is not None
    assert alone.name == "Other"
