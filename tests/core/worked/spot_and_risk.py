"""Spot, limits, waits and what may be lost at once."""

from planner.core import quota, spot, spot_traces, units
from planner.core.risk import availability, concentration
from tests.core.worked.example import Example, Values

MINUTES = 60

EXAMPLES = [
    Example(
        id="SPOT-01",
        source="J. T. Daly, FGCS 22 (2006) 303-312, figure 3; 120.0 by Young",
        inputs={"mtbf_minutes": 1440, "checkpoint_minutes": 5, "restart_minutes": 10},
        expected={"daly_optimum_minutes": 117},
        kind="absolute",
        tolerance=0.6,
    ),
    Example(
        id="SPOT-04",
        source="The GraphLab paper as quoted by A. Colyer, 2015: about 3 hours",
        inputs={"machines": 64, "mtbf_years_each": 1, "checkpoint_minutes": 2},
        expected={"optimum_hours": 3.02},
        kind="relative",
        tolerance=0.01,
    ),
    Example(
        id="SPOT-05",
        source="S. Bekman, Machine Learning Engineering, chapter on fault tolerance (BLOOM)",
        inputs={"checkpoint_seconds": 40, "interval_hours": 3, "days": 90},
        expected={"checkpoints": 720, "hours_lost": 8.0, "percent": 0.3704},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="SPOT-06",
        source="Constructed: worked out from Daly's formulas by hand",
        inputs={
            "mean_minutes_to_preemption_per_instance": 138,
            "checkpoint_minutes": 2,
            "restart_minutes": 6,
            "spot_over_on_demand": 0.3,
            "instances": [1, 8],
        },
        expected={
            "tau_minutes": [22.1803, 7.0268],
            "wall_clock_factor": [1.244459, 2.390071],
            "effective_price_over_on_demand": [0.373338, 0.717021],
        },
        kind="relative",
        tolerance=1e-05,
    ),
    Example(
        id="SPOT-08",
        source="Derived from skypilot-org/spot-traces, 1 node, aws-02-15-2023 (Wu and others, NSDI 2024)",
        inputs={
            "available_samples": {
                "us-east-1a": 3360,
                "us-east-1c": 9404,
                "us-east-1d": 9016,
                "us-east-1f": 11917,
                "us-east-2a": 15306,
                "us-east-2b": 13752,
                "us-west-2a": 17801,
                "us-west-2b": 18242,
                "us-west-2c": 17967,
            },
            "samples": 20158,
        },
        expected={
            "availability": {
                "us-east-1a": 0.1667,
                "us-east-1c": 0.4665,
                "us-east-1d": 0.4473,
                "us-east-1f": 0.5912,
                "us-east-2a": 0.7593,
                "us-east-2b": 0.6822,
                "us-west-2a": 0.8831,
                "us-west-2b": 0.905,
                "us-west-2c": 0.8913,
            }
        },
        kind="absolute",
        tolerance=0.0001,
    ),
    Example(
        id="RISK-01",
        source="US Department of Justice, Herfindahl-Hirschman index: 30, 30, 20, 20 give 2,600",
        inputs={"shares_percent": [30, 30, 20, 20]},
        expected={"hhi": 2600, "effective_number_of_suppliers": 3.846},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="RISK-02",
        source="Derived from AWS: quota of the P family in vCPUs, 192 of them in a p5.48xlarge of 8 GPUs",
        inputs={"quota_vcpus": [128, 192, 384, 1000], "vcpus_per_instance": 192, "gpus_per_instance": 8},
        expected={"instances": [0, 1, 2, 5], "gpus": [0, 8, 16, 40]},
        kind="absolute",
        tolerance=0,
    ),
    Example(
        id="RISK-03",
        source="Derived from skypilot-org/spot-traces, aws-02-15-2023, us-west-2a, b and c",
        inputs={"availability": [0.8831, 0.905, 0.8913], "measured_any_available": 0.9606},
        expected={
            "any_available_if_independent": 0.9988,
            "unavailability_underestimated_by_factor": 32.6,
            "common_cause_weight": 0.407,
        },
        kind="relative",
        tolerance=0.02,
    ),
    Example(
        id="RISK-05",
        source="Constructed: the lognormal of a median and a 90th percentile",
        inputs={"median_weeks": 12, "p90_weeks": 26, "service_level": 0.95, "weeks_until_needed": 20},
        expected={
            "sigma": 0.603323,
            "p95_weeks": 32.3717,
            "probability_in_time": 0.801415,
            "mean_weeks": 14.3954,
        },
        kind="relative",
        tolerance=1e-05,
    ),
]


def long_mtbf(given: Values) -> Values:
    hours = spot.daly_interval_hours(given["checkpoint_minutes"] / MINUTES, given["mtbf_minutes"] / MINUTES)
    return {"daly_optimum_minutes": hours * MINUTES}


def many_machines(given: Values) -> Values:
    mtbf = spot.job_mtbf_hours(given["machines"], given["mtbf_years_each"] * units.HOURS_PER_YEAR)
    return {"optimum_hours": spot.young_interval_hours(given["checkpoint_minutes"] / MINUTES, mtbf)}


def checkpoints_of_bloom(given: Values) -> Values:
    every = given["interval_hours"]
    share = spot.checkpoint_share(given["checkpoint_seconds"] / units.SECONDS_PER_HOUR, every)
    hours = given["days"] * units.HOURS_PER_DAY
    return {"checkpoints": hours / every, "hours_lost": hours * share, "percent": share * 100}


def one_node_against_eight(given: Values) -> Values:
    works = [
        spot.spot_work(
            instances=instances,
            mtbf_hours_per_instance=given["mean_minutes_to_preemption_per_instance"] / MINUTES,
            checkpoint_hours=given["checkpoint_minutes"] / MINUTES,
            restart_hours=given["restart_minutes"] / MINUTES,
        )
        for instances in given["instances"]
    ]
    return {
        "tau_minutes": [work.interval_hours * MINUTES for work in works],
        "wall_clock_factor": [work.time_factor for work in works],
        "effective_price_over_on_demand": [
            work.usd_per_useful_gpu_hour(given["spot_over_on_demand"]) for work in works
        ],
    }


def zones(given: Values) -> Values:
    shares = {
        zone: spot_traces.sampled_share(available, given["samples"])
        for zone, available in given["available_samples"].items()
    }
    return {"availability": shares}


def four_suppliers(given: Values) -> Values:
    index = concentration.herfindahl_index(given["shares_percent"])
    assert index is not None
    return {"hhi": index, "effective_number_of_suppliers": concentration.effective_number(index)}


def whole_instances(given: Values) -> Values:
    counts = [quota.instances_within(limit, given["vcpus_per_instance"]) for limit in given["quota_vcpus"]]
    return {"instances": counts, "gpus": [count * given["gpus_per_instance"] for count in counts]}


def three_zones(given: Values) -> Values:
    shares, measured = given["availability"], given["measured_any_available"]
    return {
        "any_available_if_independent": availability.any_available(shares, common_cause_weight=0.0),
        "unavailability_underestimated_by_factor": availability.independence_understates_by(shares, measured),
        "common_cause_weight": availability.common_cause_weight(shares, measured),
    }


def lead_time(given: Values) -> Values:
    wait = quota.Wait(given["median_weeks"], given["p90_weeks"])
    return {
        "sigma": wait.sigma,
        "p95_weeks": wait.quantile(given["service_level"]),
        "probability_in_time": wait.probability_by(given["weeks_until_needed"]),
        "mean_weeks": wait.mean,
    }


ANSWERS = {
    "SPOT-01": long_mtbf,
    "SPOT-04": many_machines,
    "SPOT-05": checkpoints_of_bloom,
    "SPOT-06": one_node_against_eight,
    "SPOT-08": zones,
    "RISK-01": four_suppliers,
    "RISK-02": whole_instances,
    "RISK-03": three_zones,
    "RISK-05": lead_time,
}
