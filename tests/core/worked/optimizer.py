"""The least-cost mix of supplies."""

from typing import Any

import numpy as np

from planner.core.money import Factors, discount_factors
from planner.core.optimize.options import commitment_option, on_demand_option, server_option, spot_option
from planner.core.optimize.problem import DeferrableWork, Limits, Option, Problem, Work
from planner.core.optimize.schedules import next_best_schedule
from planner.core.optimize.solve import relaxation, solve
from planner.core.optimize.solver import Effort
from tests.core.worked.example import Example, Values

FLAT_MONTH = 730.0

EXAMPLES = [
    Example(
        id="OPT-01",
        source="Constructed; optimum worked out by hand",
        inputs={
            "blocks": [{"hours": 73, "gpus": 10}, {"hours": 365, "gpus": 6}, {"hours": 292, "gpus": 3}],
            "on_demand_per_gpu_hour": 4.0,
            "committed_per_gpu_hour": [2.6, 2.3],
        },
        expected={"commit_gpus": [3, 6], "cost": [12118.0, 11242.0]},
        kind="absolute",
        tolerance=1e-06,
    ),
    Example(
        id="OPT-02",
        source="Constructed; confirmed by enumerating all 1,820 affordable order schedules",
        inputs={
            "months": 12,
            "annual_discount_rate": 0.1,
            "blocks": [{"name": "peak", "hours": 146}, {"name": "off_peak", "hours": 584}],
            "inference_gpus": [[40 + 4 * month, 24 + 2 * month] for month in range(12)],
            "training_gpu_hours": [20000] * 3 + [30000] * 3 + [20000] * 3 + [30000] * 3,
            "max_deferral_months": 1,
            "delay_cost_per_gpu_hour_month": 0.25,
            "server": {
                "gpus": 8,
                "capex": 280000,
                "opex_per_month": 4200,
                "lead_time_months": 3,
                "availability": 0.96,
                "value_loss_per_month": 0.022,
                "max_per_month": 10,
            },
            "commitments": [
                {"name": "A 6-month", "provider": "A", "term_months": 6, "price_per_gpu_hour": 2.6},
                {"name": "A 12-month", "provider": "A", "term_months": 12, "price_per_gpu_hour": 2.3},
            ],
            "on_demand": [
                {"provider": "A", "price_per_gpu_hour": 4.0, "quota_gpus": [64] * 6 + [96] * 6},
                {"provider": "B", "price_per_gpu_hour": 4.6, "quota_gpus": [64] * 12},
            ],
            "spot": [{"provider": "A", "price_per_gpu_hour": 1.6, "overhead": 0.15, "max_gpus": 24}],
            "max_spot_share_of_training": 0.5,
            "max_provider_share": 0.8,
            "capex_budget": 1200000,
        },
        expected={
            "objective_npv": 1441222.2982,
            "servers_ordered_by_month": [3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            "linear_relaxation_bound": 1438073.9135,
            "second_best_schedule_objective": 1441466.7247,
        },
        kind="relative",
        tolerance=1e-06,
    ),
]


def one_month(given: Values) -> Values:
    """Solve once per committed price; 1 GPU is the unit."""
    best = [solve(one_month_problem(given, price)) for price in given["committed_per_gpu_hour"]]
    return {
        "commit_gpus": [float(found.units[1].sum()) for found in best],
        "cost": [found.objective for found in best],
    }


def one_month_problem(given: Values, usd_committed: float) -> Problem:
    hours = np.array([block["hours"] for block in given["blocks"]], dtype=float)
    gpus = np.array([block["gpus"] for block in given["blocks"]], dtype=float)
    factors = discount_factors(0.0, 1)
    endless = np.full(len(hours), np.inf)
    return Problem(
        hours=hours,
        month=np.zeros(len(hours), dtype=np.int64),
        end_factors=factors.end,
        urgent=(Work("work", gpus),),
        deferrable=(),
        options=(
            on_demand_option(
                "On demand", "A", factors, usd_per_gpu_hour=given["on_demand_per_gpu_hour"], gpus=endless
            ),
            commitment_option(
                "Committed", "A", factors, np.array([hours.sum()]), len(hours),
                term_months=1, usd_per_gpu_hour=usd_committed, whole=True,
            ),
        ),
        useful_per_paid=np.ones((1, 2, 1)),
    )  # fmt: skip


def twelve_months(given: Values) -> Values:
    problem = twelve_month_problem(given)
    best = solve(problem, Effort(gap=1e-9))
    second = next_best_schedule(best, Effort(gap=1e-9))
    assert second is not None
    return {
        "objective_npv": best.objective,
        "servers_ordered_by_month": best.units[0].tolist(),
        "linear_relaxation_bound": relaxation(problem).objective,
        "second_best_schedule_objective": second.objective,
    }


def twelve_month_problem(given: Values) -> Problem:
    """Return the problem of OPT-02; options are own, commitments, on demand, spot, in that order."""
    months, hours_of_blocks = given["months"], [float(block["hours"]) for block in given["blocks"]]
    month = np.repeat(np.arange(months), len(hours_of_blocks))
    options = options_of(given, discount_factors(given["annual_discount_rate"], months), month)
    useful = np.ones((2, len(options), months))
    for row, option in enumerate(options):
        if option.kind == "spot":
            useful[:, row] = np.array([[0.0], [1.0 / (1.0 + given["spot"][0]["overhead"])]])
    late = DeferrableWork(
        "training",
        np.array(given["training_gpu_hours"], dtype=float),
        given["max_deferral_months"],
        given["delay_cost_per_gpu_hour_month"],
    )
    return Problem(
        hours=np.tile(hours_of_blocks, months),
        month=month,
        end_factors=discount_factors(given["annual_discount_rate"], months).end,
        urgent=(Work("inference", np.array(given["inference_gpus"], dtype=float).ravel(), critical=True),),
        deferrable=(late,),
        options=options,
        useful_per_paid=useful,
        limits=Limits(
            capex_budget_usd=given["capex_budget"],
            most_provider_share=given["max_provider_share"],
            most_spot_share=given["max_spot_share_of_training"],
        ),
        block_names=tuple(block["name"].replace("_", " ") for block in given["blocks"]) * months,
    )


def options_of(given: Values, factors: Factors, month: Any) -> tuple[Option, ...]:
    server, blocks, months = given["server"], len(month), given["months"]
    own = server_option(
        "Own", factors, blocks,
        gpus=server["gpus"], capex_usd=server["capex"], opex_usd_per_month=server["opex_per_month"],
        lead_time_months=server["lead_time_months"], availability=server["availability"],
        value_loss_per_month=server["value_loss_per_month"], most_per_month=server["max_per_month"],
    )  # fmt: skip
    committed = [
        commitment_option(
            each["name"], each["provider"], factors, np.full(months, FLAT_MONTH), blocks,
            term_months=each["term_months"], usd_per_gpu_hour=each["price_per_gpu_hour"],
        )
        for each in given["commitments"]
    ]  # fmt: skip
    rented = [
        on_demand_option(
            f"{each['provider']} on demand", each["provider"], factors,
            usd_per_gpu_hour=each["price_per_gpu_hour"],
            gpus=np.array(each["quota_gpus"], dtype=float)[month],
        )
        for each in given["on_demand"]
    ]  # fmt: skip
    spot = [
        spot_option(
            f"{each['provider']} spot", each["provider"], factors,
            usd_per_gpu_hour=each["price_per_gpu_hour"], gpus=np.full(blocks, float(each["max_gpus"])),
        )
        for each in given["spot"]
    ]  # fmt: skip
    return (own, *committed, *rented, *spot)


ANSWERS = {"OPT-01": one_month, "OPT-02": twelve_months}
