"""Savings plans and size-flexible reservations, as AWS publishes them."""

import numpy as np

from planner.core.commitments import reserved_sizes, savings_plan, usage
from tests.core.worked.example import Example, Values

# the use of the AWS Savings Plans User Guide, in all three of its scenarios
GUIDE = 'AWS Savings Plans User Guide, "Understanding how Savings Plans apply to your usage", scenario '
_COLUMNS = ("item", "quantity", "on_demand", "compute_sp", "ec2_instance_sp")
USAGE = [
    dict(zip(_COLUMNS, row, strict=True))
    for row in (
        ("r5.4xlarge Linux", 4, 1.0, 0.7, 0.6),
        ("Fargate vCPU", 400, 0.04, 0.03, None),
        ("Fargate GB", 1600, 0.004, 0.003, None),
        ("m5.24xlarge Windows", 1, 10.0, 8.2, 7.8),
        ("Lambda GB-second", 1_500_000, 1.5e-05, 1.275e-05, None),
        ("Lambda million requests", 1, 0.2, 0.2, None),
    )
]

EXAMPLES = [
    Example(
        id="SP-01",
        source=GUIDE + "1",
        inputs={"usage": USAGE, "compute_sp_commitment_per_hour": 50.0},
        expected={
            "sp_value_of_all_usage": 47.13,
            "on_demand_without_sp": 59.1,
            "used_commitment": 47.125,
            "unused_commitment": 2.875,
            "on_demand_charge": 0.0,
            "total_charge": 50.0,
            "utilization": 0.9425,
            "coverage": 1.0,
        },
        kind="absolute",
        tolerance=0.006,
    ),
    Example(
        id="SP-02",
        source=GUIDE + "2",
        inputs={"usage": USAGE, "compute_sp_commitment_per_hour": 2.0},
        expected={
            "units_of_r5_covered": 2.857,
            "on_demand_charge_r5": 1.14,
            "on_demand_charge_total": 56.24,
            "total_charge": 58.24,
            "utilization": 1.0,
            "coverage_on_demand_equivalent": 0.0483,
            "effective_savings_rate": 0.0145,
        },
        kind="absolute",
        tolerance=0.004,
    ),
    Example(
        id="SP-03",
        source=GUIDE + "3",
        inputs={"usage": USAGE, "compute_sp_commitment_per_hour": 19.6},
        expected={
            "on_demand_charge": 32.7,
            "used_commitment": 19.6,
            "order_of_application": ["r5.4xlarge Linux", "Fargate GB", "Fargate vCPU"],
        },
        kind="absolute",
        tolerance=0.005,
    ),
    Example(
        id="SP-06",
        source="Two-hour example in a public FinOps article on the hourly boundaries of savings plans",
        inputs={"commitment_per_hour": 10, "sp_value_of_usage_by_hour": [5, 15]},
        expected={"used": [5, 10], "unused": [5, 0], "excess_at_sp_rates": [0, 5], "utilization": 0.75},
        kind="absolute",
        tolerance=1e-09,
    ),
    Example(
        id="SP-07",
        source="aws-samples/savings-plan-commitment-calculator README",
        inputs={
            "lines": [
                {"plan": "Compute 1yr", "rate": 0.28025, "n": 2},
                {"plan": "Compute 1yr", "rate": 0.5705, "n": 4},
                {"plan": "Compute 1yr", "rate": 0.48074, "n": 1},
                {"plan": "Compute 1yr", "rate": 10.83, "n": 1},
                {"plan": "Compute 3yr", "rate": 0.26318, "n": 1},
                {"plan": "EC2 3yr m5", "rate": 0.157, "n": 2},
            ]
        },
        expected={"Compute 1yr": 14.15324, "Compute 3yr": 0.26318, "EC2 3yr m5": 0.314},
        kind="absolute",
        tolerance=1e-06,
    ),
    Example(
        id="RI-01",
        source='Amazon EC2 User Guide, "How Reserved Instances are applied", t2 examples and scenario 1',
        inputs={
            "normalization": {"small": 1, "medium": 2, "large": 4, "xlarge": 8, "2xlarge": 16},
            "cases": [
                {"reserved": {"medium": 1}, "running": {"small": 2}},
                {"reserved": {"medium": 1}, "running": {"large": 1}},
                {"reserved": {"large": 4}, "running": {"xlarge": 2}},
                {"reserved": {"large": 1}, "running": {"xlarge": 1}},
            ],
        },
        expected={"covered_fraction": [1.0, 0.5, 1.0, 0.5]},
        kind="absolute",
        tolerance=1e-09,
    ),
]


def _applied(given: Values) -> savings_plan.AppliedPlans:
    items = [usage.UsageItem(row["item"], row["on_demand"]) for row in given["usage"]]
    rates = {row["item"]: row["compute_sp"] for row in given["usage"]}
    plan = usage.SpendPlan("Compute", given["compute_sp_commitment_per_hour"], rates)
    return savings_plan.apply_plans(items, _units(given), [plan])


def _units(given: Values) -> np.ndarray:
    return np.array([row["quantity"] for row in given["usage"]], dtype=float)


def commitment_above_usage(given: Values) -> Values:
    applied = _applied(given)
    totals = applied.totals()
    rates = np.array([row["compute_sp"] for row in given["usage"]])
    return {
        "sp_value_of_all_usage": float(_units(given) @ rates),
        "on_demand_without_sp": float(_units(given) @ usage.on_demand_prices(applied.items)),
        "used_commitment": totals.usd_used,
        "unused_commitment": totals.usd_unused,
        "on_demand_charge": totals.usd_on_demand,
        "total_charge": totals.usd_charge,
        "utilization": totals.utilization,
        "coverage": totals.coverage,
    }


def commitment_below_usage(given: Values) -> Values:
    applied = _applied(given)
    totals = applied.totals()
    r5 = [item.name for item in applied.items].index("r5.4xlarge Linux")
    return {
        "units_of_r5_covered": applied.covered_units[0, r5],
        "on_demand_charge_r5": applied.on_demand_units[0, r5] * given["usage"][r5]["on_demand"],
        "on_demand_charge_total": totals.usd_on_demand,
        "total_charge": totals.usd_charge,
        "utilization": totals.utilization,
        "coverage_on_demand_equivalent": totals.coverage,
        "effective_savings_rate": totals.effective_savings_rate,
    }


def order_and_tie(given: Values) -> Values:
    applied = _applied(given)
    return {
        "on_demand_charge": applied.totals().usd_on_demand,
        "used_commitment": applied.totals().usd_used,
        "order_of_application": list(applied.order["Compute"]),
    }


def no_roll_over(given: Values) -> Values:
    by_hour = np.array(given["sp_value_of_usage_by_hour"], dtype=float)
    use = savings_plan.hourly_use(by_hour, given["commitment_per_hour"])
    return {
        "used": use.used_usd.tolist(),
        "unused": use.unused_usd.tolist(),
        "excess_at_sp_rates": use.excess_usd_at_plan_prices.tolist(),
        "utilization": use.utilization,
    }


def fixed_fleet(given: Values) -> Values:
    return usage.commitment_needed(
        usage.FleetLine(line["plan"], line["rate"], line["n"]) for line in given["lines"]
    )


def size_flexible(given: Values) -> Values:
    rules = reserved_sizes.SizeRules(fixed_size_families=(), units_by_size=given["normalization"])
    return {"covered_fraction": [_covered_share(case, rules) for case in given["cases"]]}


def _covered_share(case: Values, rules: reserved_sizes.SizeRules) -> float | None:
    place = {"family": "t2", "region": "us-east-1", "platform": "Linux", "tenancy": "default"}
    running = [
        reserved_sizes.Running(size=size, instances=n, zone="us-east-1a", **place)
        for size, n in case["running"].items()
    ]
    reserved = [
        reserved_sizes.Reservation(name=size, size=size, instances=n, zone=None, **place)
        for size, n in case["reserved"].items()
    ]
    return reserved_sizes.apply_reservations(running, reserved, rules).covered_share


ANSWERS = {
    "SP-01": commitment_above_usage,
    "SP-02": commitment_below_usage,
    "SP-03": order_and_tie,
    "SP-06": no_roll_over,
    "SP-07": fixed_fleet,
    "RI-01": size_flexible,
}
