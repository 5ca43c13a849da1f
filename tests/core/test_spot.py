"""State what interruptions cost, and what published bands allow to say."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.core.spot import (
    TOO_OFTEN,
    band_hazards_per_hour,
    beats_on_demand,
    checkpoint_share,
    daly_interval_hours,
    first_order_time_factor,
    job_mtbf_hours,
    lowest_hazard_per_hour,
    spot_work,
    time_factor,
    usd_per_useful_gpu_hour_with_fallback,
    young_interval_hours,
)
from planner.core.spot_traces import availability, trace_of

HOURS_PER_YEAR = 8760
HOURS = st.floats(0.01, 100.0)


# --- the published examples, typed here and as they lie in the samples ---


def spot_01(inputs: dict[str, Any]) -> dict[str, Any]:
    hours = daly_interval_hours(inputs["checkpoint_minutes"] / 60, inputs["mtbf_minutes"] / 60)
    return {"daly_optimum_minutes": hours * 60}


def spot_04(inputs: dict[str, Any]) -> dict[str, Any]:
    mtbf = job_mtbf_hours(inputs["machines"], inputs["mtbf_years_each"] * HOURS_PER_YEAR)
    return {"optimum_hours": young_interval_hours(inputs["checkpoint_minutes"] / 60, mtbf)}


def spot_05(inputs: dict[str, Any]) -> dict[str, Any]:
    share = checkpoint_share(inputs["checkpoint_seconds"] / 3600, inputs["interval_hours"])
    hours = inputs["days"] * 24
    return {
        "checkpoints": hours / inputs["interval_hours"],
        "hours_lost": hours * share,
        "percent": share * 100,
    }


def spot_06(inputs: dict[str, Any]) -> dict[str, Any]:
    works = [
        spot_work(
            instances=instances,
            mtbf_hours_per_instance=inputs["mean_minutes_to_preemption_per_instance"] / 60,
            checkpoint_hours=inputs["checkpoint_minutes"] / 60,
            restart_hours=inputs["restart_minutes"] / 60,
        )
        for instances in inputs["instances"]
    ]
    return {
        "tau_minutes": [work.interval_hours * 60 for work in works],
        "wall_clock_factor": [work.time_factor for work in works],
        "effective_price_over_on_demand": [
            work.usd_per_useful_gpu_hour(inputs["spot_over_on_demand"]) for work in works
        ],
    }


def spot_08(inputs: dict[str, Any]) -> dict[str, Any]:
    """One tick each: `available` of them with a machine, the rest without."""
    shares = {}
    for zone, available in inputs["available_samples"].items():
        trace = trace_of(
            [0, available], [available - 1, inputs["samples"] - 1], [True, False], [1, 0], tick_hours=1
        )
        shares[zone] = availability(trace).share
    return {"availability": shares}


ANSWERS = {"SPOT-01": spot_01, "SPOT-04": spot_04, "SPOT-05": spot_05, "SPOT-06": spot_06, "SPOT-08": spot_08}
TYPED = [
    # J. T. Daly, FGCS 22 (2006), figure 3; 120.0 by Young
    (
        "SPOT-01",
        {"mtbf_minutes": 1440, "checkpoint_minutes": 5, "restart_minutes": 10},
        {"daly_optimum_minutes": 117},
        {"abs": 0.6, "rel": 0},
    ),
    # the GraphLab paper as quoted by A. Colyer, 2015
    (
        "SPOT-04",
        {"machines": 64, "mtbf_years_each": 1, "checkpoint_minutes": 2},
        {"optimum_hours": 3.02},
        {"rel": 0.01},
    ),
    # S. Bekman, ML Engineering, chapter on fault tolerance
    (
        "SPOT-05",
        {"checkpoint_seconds": 40, "interval_hours": 3, "days": 90},
        {"checkpoints": 720, "hours_lost": 8.0, "percent": 0.3704},
        {"rel": 0.001},
    ),
    # 138 minutes to preemption; worked out from the formulas by hand
    (
        "SPOT-06",
        {
            "mean_minutes_to_preemption_per_instance": 138, "checkpoint_minutes": 2, "restart_minutes": 6,
            "spot_over_on_demand": 0.3, "instances": [1, 8],
        },
        {
            "tau_minutes": [22.1803, 7.0268], "wall_clock_factor": [1.244459, 2.390071],
            "effective_price_over_on_demand": [0.373338, 0.717021],
        },
        {"rel": 1e-5},
    ),
    # spot-traces of SkyPilot, nine zones of 45 days in 2023: the worst and the best of them
    (
        "SPOT-08",
        {"available_samples": {"us-east-1a": 3360, "us-west-2b": 18242}, "samples": 20158},
        {"availability": {"us-east-1a": 0.1667, "us-west-2b": 0.905}},
        {"abs": 1e-4, "rel": 0},
    ),
]  # fmt: skip


def assert_close(actual: dict[str, Any], expected: dict[str, Any], tolerance: dict[str, float]) -> None:
    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert actual[name] == pytest.approx(value, **tolerance), name


@pytest.mark.parametrize(("identifier", "inputs", "expected", "tolerance"), TYPED)
def test_an_example_as_typed_here(
    identifier: str, inputs: dict[str, Any], expected: dict[str, Any], tolerance: dict[str, float]
) -> None:
    assert_close(ANSWERS[identifier](inputs), expected, tolerance)


@pytest.mark.shared
def test_every_published_example_on_spot_is_answered(shared: Path) -> None:
    published = json.loads((shared / "domain" / "worked_examples.json").read_text())
    asked = {entry["id"]: entry for entry in published if entry["id"].startswith("SPOT-")}
    assert set(asked) == set(ANSWERS)
    for identifier, entry in asked.items():
        kind = "rel" if entry["tolerance"]["type"] == "relative" else "abs"
        tolerance = {"rel": 0.0, "abs": 0.0, kind: entry["tolerance"]["value"]}
        assert_close(ANSWERS[identifier](entry["inputs"]), entry["expected"], tolerance)


# --- intervals and factors ---


def test_daly_is_young_less_the_checkpoint_where_checkpoints_are_short() -> None:
    young = young_interval_hours(1e-6, 100.0)
    assert daly_interval_hours(1e-6, 100.0) == pytest.approx(young, rel=1e-3)


def test_a_checkpoint_longer_than_two_failures_leaves_one_between_failures() -> None:
    assert daly_interval_hours(2.0, 1.0) == 1.0
    assert daly_interval_hours(5.0, 1.0) == 1.0


@given(st.floats(0.001, 0.2), st.floats(10.0, 1000.0), st.floats(0.5, 2.0))
def test_no_other_interval_beats_dalys_by_more_than_a_thousandth(
    checkpoint: float, mtbf: float, change: float
) -> None:
    best = daly_interval_hours(checkpoint, mtbf)
    least = time_factor(best, checkpoint, 0.1, mtbf)
    assert least <= time_factor(best * change, checkpoint, 0.1, mtbf) * 1.001


@given(HOURS, st.floats(0.001, 1.0), st.floats(0.0, 1.0))
def test_every_hour_of_work_takes_more_than_an_hour_and_failures_make_it_longer(
    interval: float, checkpoint: float, restart: float
) -> None:
    never = time_factor(interval, checkpoint, restart, math.inf)
    rarely = time_factor(interval, checkpoint, restart, 1e5)
    often = time_factor(interval, checkpoint, restart, 1e3)
    assert 1 < never <= rarely <= often


def test_without_failures_only_checkpoints_count() -> None:
    assert time_factor(1.0, 0.05, 9.0, math.inf) == 1.05


def test_the_first_order_is_near_where_everything_is_short() -> None:
    exact = time_factor(1.0, 0.01, 0.05, 200.0)
    assert first_order_time_factor(1.0, 0.01, 0.05, 200.0) == pytest.approx(exact, rel=2e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda: young_interval_hours(0.0, 1.0),
        lambda: daly_interval_hours(0.1, -1.0),
        lambda: daly_interval_hours(math.nan, 1.0),
        lambda: job_mtbf_hours(0, 1.0),
        lambda: time_factor(0.0, 0.1, 0.1, 1.0),
        lambda: checkpoint_share(0.1, 0.0),
        lambda: lowest_hazard_per_hour(1.0),
        lambda: lowest_hazard_per_hour(-0.1),
        lambda: usd_per_useful_gpu_hour_with_fallback(1.1, 1.0, 1.0, 1.0),
    ],
)
def test_values_without_a_meaning_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"above 0|share"):
        call()


# --- what a job pays ---


def test_waiting_for_capacity_takes_time_and_no_money() -> None:
    job = {"instances": 1, "mtbf_hours_per_instance": 10.0, "checkpoint_hours": 0.05, "restart_hours": 0.1}
    patient, waiting = spot_work(**job), spot_work(**job, unpaid_wait_hours=2.0)
    assert waiting.paid_factor == patient.paid_factor == patient.time_factor
    assert waiting.time_factor == pytest.approx(patient.time_factor * math.exp(2.0 / 10.0))
    assert waiting.useful_work_factor == 1 / patient.paid_factor


def test_no_number_is_given_where_a_job_rarely_reaches_its_next_checkpoint() -> None:
    job = {"mtbf_hours_per_instance": 2.3, "checkpoint_hours": 2 / 60, "restart_hours": 6 / 60}
    assert spot_work(instances=8, **job).refusal == ""
    work = spot_work(instances=16, **job)  # tau + R = 4.8 + 6 minutes against 8.6
    assert work.refusal == TOO_OFTEN
    assert math.isnan(work.time_factor)
    assert math.isnan(work.usd_per_useful_gpu_hour(1.0))
    # waiting counts: it is part of R
    assert spot_work(instances=1, unpaid_wait_hours=2.0, **job).refusal == TOO_OFTEN


def test_an_interval_that_is_given_is_taken() -> None:
    work = spot_work(
        instances=1, mtbf_hours_per_instance=10, checkpoint_hours=0.1, restart_hours=0, interval_hours=1
    )
    assert (work.interval_hours, work.time_factor) == (1, time_factor(1, 0.1, 0, 10))


@given(HOURS, HOURS, st.floats(1.0, 5.0), st.floats(1.0, 1.5))
def test_spot_beats_on_demand_where_its_useful_hour_is_cheaper(
    spot: float, on_demand: float, paid: float, on_demand_factor: float
) -> None:
    cheaper = spot * paid < on_demand * on_demand_factor
    assert beats_on_demand(spot, on_demand, paid, on_demand_factor) == cheaper


def test_seventy_percent_off_may_be_dearer_for_a_large_job() -> None:
    """Eight nodes at 30 % of on demand with a factor of 2.39 pay 72 %; at a factor of 3.4 they pay 102 %."""
    assert beats_on_demand(0.30, 1.0, 2.390071)
    assert not beats_on_demand(0.30, 1.0, 3.4)


def test_with_a_fallback_each_part_of_the_work_costs_its_own() -> None:
    # 3 of 4 hours on spot at 1.00 * 1.2, one on demand at 4.00: 0.9 + 1.0
    assert usd_per_useful_gpu_hour_with_fallback(0.75, 1.0, 1.2, 4.0) == pytest.approx(1.9)
    assert usd_per_useful_gpu_hour_with_fallback(0.0, 1.0, math.nan, 4.0) == 4.0


# --- bands ---


def test_a_band_is_a_lower_bound_of_the_hazard_and_the_top_one_has_no_end() -> None:
    # everything running all month: exp(-lambda * 730) = 1 - share
    low, high = band_hazards_per_hour(0.05, 0.10)
    assert math.exp(-low * 730) == pytest.approx(0.95)
    assert high is not None
    assert math.exp(-high * 730) == pytest.approx(0.90)
    assert band_hazards_per_hour(0.20, None)[1] is None
