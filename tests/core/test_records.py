"""Workload records: what drives demand, how it varies, what may be done about it, as a plan takes it."""

from datetime import date

import numpy as np
import pytest

from planner.core.calendar import Horizon
from planner.core.drivers.flops import speed_from_mfu, training_work
from planner.core.drivers.levers import Lever, gpus_freed, month_factors
from planner.core.drivers.loads import (
    GpuHours,
    Gpus,
    Requests,
    Retraining,
    Runs,
    Streams,
    Sweeps,
    TokenBatches,
    Tokens,
)
from planner.core.drivers.records import (
    Interruption,
    WorkloadRecord,
    demand_of,
    hourly_demand,
    load_duration,
)
from planner.core.drivers.shape import carried_forward, weekly_profile
from planner.core.evaluate import evaluate
from planner.core.load_duration import build_blocks
from planner.core.plan import Region, Validation
from tests.builders import make_on_demand, make_plan, make_workload

START = date(2027, 1, 1)


def record(**changes: object) -> WorkloadRecord:
    """Return 10 GPUs of inference."""
    values: dict[str, object] = {"name": "chat", "workload_class": "inference_reserved", "load": Gpus(10.0)}
    return WorkloadRecord(**{**values, **changes})  # type: ignore[arg-type]


def test_runs_a_month_become_gpus() -> None:
    # 6 * 7e9 * 140e9 FLOPs at 989 TFLOP/s * 0.35 are 4,719 GPU-hours; two runs with as many experiments again
    runs = Runs(training_work(7e9, 140e9, "model"), speed_from_mfu(989.0, 0.35), 2.0, restarts=0.0)
    each = 6 * 7e9 * 140e9 / (989e12 * 0.35 * 3600)
    assert runs.gpu_hours_per_run == pytest.approx(each)
    assert runs.mean_gpus(730.0) == pytest.approx(2 * each * 2 / 730)


def test_bad_scaling_and_lost_time_take_more_gpus() -> None:
    work, speed = training_work(7e9, 140e9, "model"), speed_from_mfu(989.0, 0.35)
    plain = Runs(work, speed, 1.0).mean_gpus(730.0)
    assert plain is not None
    assert Runs(work, speed, 1.0, scaling_efficiency=0.8, goodput=0.9).mean_gpus(730.0) == pytest.approx(
        plain / 0.72
    )


def test_tokens_streams_and_requests_become_gpus() -> None:
    phases = Tokens(8_000.0, 900.0, 8, 4_000.0, 300.0)
    assert phases.mean_gpus(730.0) == pytest.approx((2 + 3) * 8)
    assert Streams(200.0, 64, 4, target_occupancy=0.7).mean_gpus(730.0) == 5 * 4  # 200 / 44.8 = 4.46
    # 14 slots are needed (Erlang C example); in replicas of 4 slots that is 16
    calls = Requests(
        100 / 1800, 180.0, 20.0, 0.8, slots_per_replica=4, gpus_per_replica=2, max_occupancy=0.85
    )
    assert calls.mean_gpus(730.0) == 4 * 2
    assert GpuHours(7_300.0).mean_gpus(730.0) == 10.0


def test_a_load_without_a_measured_rate_is_unknown_not_zero() -> None:
    found = demand_of(record(load=Tokens(8_000.0, 900.0, 8)), START, 12)
    assert found.workload is None
    assert found.missing == (
        "chat: no measured rate for its load: "
        "input_tokens_per_second_per_node, output_tokens_per_second_per_node"
    )


def test_a_load_of_prompts_alone_is_not_nothing_where_only_answers_were_measured() -> None:
    prompts = Tokens(8_000.0, 0.0, 8, mixed_output_tokens_per_second_per_node=3_000.0)
    assert prompts.mean_gpus(730.0) is None
    assert prompts.missing == ("input_tokens_per_second_per_node",)
    known = Tokens(8_000.0, 0.0, 8, 4_000.0, mixed_output_tokens_per_second_per_node=3_000.0)
    assert known.mean_gpus(730.0) == 2 * 8
    assert Tokens(0.0, 0.0, 8).mean_gpus(730.0) == 0.0


def test_sweeps_retraining_and_batches_of_tokens_are_loads_of_their_own() -> None:
    # 2 sweeps of 40 trials, each a quarter of 64 GPU-hours: 1,280 GPU-hours a month
    assert Sweeps(2.0, 40, 64.0, mean_share_of_full_run=0.25).mean_gpus(730.0) == pytest.approx(1280 / 730)
    # 960 GPU-hours every 7 days are 960 / 168 GPUs, however long a month is
    for hours in (672.0, 730.0, 744.0):
        assert Retraining(960.0, every_days=7.0).mean_gpus(hours) == pytest.approx(960 / 168)
    assert Retraining(960.0, 7.0, share_of_full_run=0.5).mean_gpus(730.0) == pytest.approx(480 / 168)
    # 36e9 tokens at 10,000 a second are 1,000 node-hours; of 8 GPUs at occupancy 0.8: 10,000 GPU-hours
    assert TokenBatches(36e9, 8, 10_000.0, 0.8).mean_gpus(730.0) == pytest.approx(10_000 / 730)
    unknown = demand_of(record(load=TokenBatches(36e9, 8)), START, 12)
    assert unknown.workload is None
    assert unknown.missing == "chat: no measured rate for its load: tokens_per_second_per_node"


def test_a_record_becomes_a_workload_with_all_it_says() -> None:
    validations = (Validation("MI300X", 1.2, date(2027, 6, 1), "fp8", 4.0, 20_000.0),)
    found = demand_of(
        record(
            workload_class="best_effort",
            interruption=Interruption(0.05, 0.2),
            deferrable_hours=24.0,
            regions=(Region("eu"),),
            validations=validations,
            gang_gpus=16,
            critical=True,
        ),
        START,
        12,
    )
    workload = found.workload
    assert workload is not None
    assert (workload.kind, workload.interruptible, workload.deferrable_hours) == ("training", True, 24.0)
    assert (workload.regions, workload.validations) == ((Region("eu"),), validations)
    assert (workload.gang_gpus, workload.critical, workload.gpus) == (16, True, 10.0)
    project = found.projects[0]
    assert (project.name, project.day) == ("chat on MI300X fp8", date(2027, 6, 1))
    assert (project.usd, project.engineering_weeks) == (20_000.0, 4.0)


def test_what_was_validated_before_the_plan_costs_nothing_and_an_unknown_cost_is_a_gap() -> None:
    past = record(validations=(Validation("H100", 1.0, date(2026, 1, 1)),))
    assert demand_of(past, START, 12).projects == ()
    unknown = demand_of(record(validations=(Validation("H100", 1.0, date(2027, 3, 1)),)), START, 12)
    assert unknown.workload is not None
    outcome = evaluate(make_plan(workloads=(unknown.workload,), projects=unknown.projects))
    assert outcome.total["cash_usd"] is None
    assert [gap.supply for gap in outcome.gaps] == ["chat on H100"]


def test_levers_lower_demand_when_they_are_done_and_cost_weeks_when_they_are_begun() -> None:
    cache = Lever("cache", date(2027, 1, 4), 6.0, 0.7, usd=1_000.0, people=2.0)
    batching = Lever("batching", date(2027, 3, 1), 0.0, 0.5)
    assert cache.done == date(2027, 1, 25)  # three weeks for two people
    assert month_factors([cache, batching], Horizon(START, 4)).tolist() == [1.0, 0.7, 0.35, 0.35]
    found = demand_of(record(levers=(cache, batching)), START, 4)
    assert found.workload is not None
    plan = make_plan(
        months=4, workloads=(found.workload,), projects=found.projects, usd_per_engineering_week=4_000.0
    )
    outcome = evaluate(plan)
    hours = [744 * 10, 672 * 7, 744 * 3.5, 720 * 3.5]
    assert outcome.demand_gpu_hours == pytest.approx(sum(hours))
    assert outcome.total["cash_usd"] == pytest.approx(4.0 * sum(hours) + 1_000.0 + 6 * 4_000.0)
    assert gpus_freed([cache], np.full(4, 10.0), Horizon(START, 4)).tolist() == pytest.approx([0, 3, 3, 3])


def test_two_classes_may_have_a_lever_of_one_name_and_what_was_begun_before_the_plan_is_paid_for() -> None:
    cache, old = Lever("cache", START, 1.0, 0.5), Lever("limit", date(2026, 6, 1), 1.0, 0.8, usd=None)
    found = [demand_of(record(name=name, levers=(cache, old)), START, 12) for name in ("chat", "search")]
    works = tuple(each.workload for each in found if each.workload is not None)
    projects = tuple(project for each in found for project in each.projects)
    assert [project.name for project in projects] == ["chat: cache", "search: cache"]
    outcome = evaluate(make_plan(workloads=works, projects=projects, usd_per_engineering_week=4_000.0))
    assert outcome.gaps == ()


def test_a_weekly_profile_is_the_mean_of_each_hour_of_the_week() -> None:
    # two weeks that begin on a Tuesday 05:00; the second is three times the first
    shape = np.tile(np.arange(168.0), 2) + 1.0
    series = np.roll(shape, -29) * np.repeat([1.0, 3.0], 168)
    profile = weekly_profile(series, 29)
    assert np.mean(profile) == pytest.approx(1.0)
    assert profile == pytest.approx(((np.arange(168.0) + 1.0) / 84.5).tolist())


def test_a_series_is_carried_forward_hour_of_the_week_by_hour_of_the_week() -> None:
    # 1 January 2027 is a Friday: hour 96 of the week. The series ends in the middle of a week.
    hours = np.arange(168 * 3 + 50)
    measured = ((hours + 10) % 168).astype(float)  # its value is its hour of the week
    series = carried_forward(measured, 10, Horizon(START, 2), growth_per_month=0.1)
    assert len(series) == 744 + 672
    assert series[0] == 96.0
    assert series[100] == (96 + 100) % 168
    assert series[744] == pytest.approx(((96 + 744) % 168) * 1.1)


def test_the_hourly_series_and_the_load_duration_blocks_hold_the_same_work() -> None:
    day = tuple(0.5 if h % 24 < 12 else 1.5 for h in range(168))
    works = (make_workload(profile=day), make_workload(name="flat", gpus=2.0))
    horizon = Horizon(START, 2)
    hourly = hourly_demand(works, horizon)
    assert hourly.shape == (2, 744 + 672)
    gpus, hours = load_duration(build_blocks(horizon, works, (), 24), 0)
    assert gpus.tolist() == [14.0, 6.0]
    assert hours.tolist() == [372.0, 372.0]
    assert gpus @ hours == pytest.approx(hourly[:, :744].sum())


def test_interruptions_say_what_spot_makes_of_the_gang() -> None:
    work = Interruption(checkpoint_hours=2 / 60, restart_hours=6 / 60).on_spot(8, 138 / 60)
    assert work.paid_factor == pytest.approx(2.390071, rel=1e-5)  # the published gang of eight


def test_demand_that_spot_may_serve_is_served_by_it() -> None:
    found = demand_of(record(workload_class="best_effort", interruption=Interruption(0.05, 0.2)), START, 1)
    assert found.workload is not None
    assert found.workload.interruptible
    assert evaluate(make_plan(workloads=(found.workload,), supplies=(make_on_demand(),))).unmet_gpu_hours == 0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Gpus(-1.0), r"gpus is -1.0; right would be a number from 0 up"),
        (lambda: GpuHours(float("nan")), "gpu_hours_per_month is nan"),
        (lambda: Gpus(1.0).mean_gpus(0.0), r"hours_per_month is 0.0; right would be a number above 0"),
        (lambda: Streams(1.0, 4, 4, target_occupancy=1.5), r"target_occupancy is 1.5"),
        (
            lambda: record(workload_class="batch"),
            "workload_class is 'batch'; right would be",
        ),
        (lambda: record(growth_per_month=-1.0), r"growth_per_month is -1.0"),
        (lambda: Lever("x", START, -1.0, 0.5), r"engineering_weeks is -1.0"),
        (lambda: Lever("x", START, 1.0, float("inf")), "demand_factor is inf"),
        (lambda: weekly_profile(np.ones(167), 0), "a series of 167 hours; right would be at least 168"),
        (lambda: weekly_profile(np.zeros(168), 0), "a series without any use"),
        (lambda: weekly_profile(-np.ones(168), 0), "right would be a number from 0 up"),
        (lambda: carried_forward(np.ones(200), 168, Horizon(START, 1)), "first_hour_of_week is 168"),
    ],
)
def test_absurd_records_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        build()


def test_a_series_by_the_hour_stands_for_a_load_nobody_measured() -> None:
    found = demand_of(record(load=Tokens(8_000.0, 900.0, 8), hourly_gpus=(3.0, 5.0) * 372), START, 1)
    assert found.workload is not None
    assert found.workload.gpus == 4.0
    assert evaluate(make_plan(months=1, workloads=(found.workload,))).demand_gpu_hours == pytest.approx(
        4 * 744
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deferrable_hours": 24.0}, r"chat: deferrable_hours is 24.0; right would be 0"),
        ({"interruption": Interruption(0.1, 0.2)}, r"chat: interruption is .*; right would be none"),
        (
            {"validations": (Validation("H100"), Validation("H100"))},
            r"chat: validations is H100; right would be one for each GPU model and precision",
        ),
    ],
)
def test_records_that_contradict_themselves_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        record(**changes)
