"""How much to commit."""

import numpy as np

from planner.core import committed
from planner.core.commitments import level, newsvendor, screening, terms
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="CM-01",
        source='FOCUS specification, appendix "Commitment discount scenarios"',
        inputs={"upfront": 4380.0, "recurring_per_hour": 0.5, "hours": 8760},
        expected={"effective_hourly": 1.0, "total_commitment": 8760.0},
        kind="absolute",
        tolerance=1e-09,
    ),
    Example(
        id="CM-02",
        source="Constructed",
        inputs={
            "demand_gpus_by_hour": [2, 3, 3, 4, 4, 5, 6, 8, 8, 10],
            "on_demand_per_gpu_hour": 4.0,
            "committed_per_gpu_hour": 2.6,
        },
        expected={
            "break_even_utilization": 0.65,
            "optimal_gpus": 4,
            "optimal_cost": 172.0,
            "cost_by_level": {
                "0": 212.0,
                "1": 198.0,
                "2": 184.0,
                "3": 174.0,
                "4": 172.0,
                "5": 178.0,
                "6": 188.0,
                "7": 202.0,
                "8": 216.0,
                "9": 238.0,
                "10": 260.0,
            },
            "utilization_at_optimum": 0.9,
            "coverage_at_optimum": 0.6792452830188679,
            "saving_vs_on_demand": 40.0,
        },
        kind="relative",
        tolerance=1e-09,
    ),
    Example(
        id="CM-03",
        source="NewsvendorModel.jl documentation",
        inputs={
            "unit_cost": 5,
            "unit_price": 7,
            "demand_normal_mean": 50,
            "demand_normal_sd": 20,
            "demand_floor": 0,
        },
        expected={
            "critical_fractile": 0.285714,
            "continuous_optimum": 38.681,
            "integer_optimum": 39,
            "expected_sales": 35.38,
            "expected_leftover": 3.62,
            "expected_lost_sales": 14.656,
            "expected_profit": 52.69,
        },
        kind="absolute",
        tolerance=0.006,
    ),
    Example(
        id="CM-04",
        source='PyPSA documentation, example "Screening curves"',
        inputs={
            "load_duration": "1000 - 1000 z, z in [0,1]",
            "options": [
                {"name": "coal", "fixed": 15, "variable": 2},
                {"name": "gas", "fixed": 10, "variable": 12},
                {"name": "shed", "fixed": 0, "variable": 1012},
            ],
        },
        expected={
            "crossing_gas_coal": 0.5,
            "crossing_shed_gas": 0.01,
            "capacity": {"coal": 500, "gas": 490, "shed": 10},
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="CM-06",
        source="Constructed",
        inputs={
            "committed_fraction_of_todays_on_demand": 0.55,
            "term_years": 3,
            "continuous_price_decline_per_year": 0.25,
        },
        expected={"naive_break_even_utilization": 0.55, "break_even_utilization": 0.7817927},
        kind="relative",
        tolerance=1e-06,
    ),
]


def partial_upfront(given: Values) -> Values:
    hourly = committed.effective_usd_per_gpu_hour(
        given["upfront"], given["recurring_per_hour"], given["hours"]
    )
    return {"effective_hourly": hourly, "total_commitment": hourly * given["hours"]}


def commitment_level(given: Values) -> Values:
    demand = np.array(given["demand_gpus_by_hour"], dtype=float)
    c, p = given["committed_per_gpu_hour"], given["on_demand_per_gpu_hour"]
    best = level.best_level(demand, c, p)
    return {
        "break_even_utilization": terms.break_even_utilization(c, p),
        "optimal_gpus": best.gpus,
        "optimal_cost": best.usd,
        "cost_by_level": {str(k): level.cost_of_level(k, demand, c, p) for k in range(11)},
        "utilization_at_optimum": best.utilization,
        "coverage_at_optimum": best.coverage,
        "saving_vs_on_demand": best.usd_saved,
    }


def newsvendor_order(given: Values) -> Values:
    best = newsvendor.newsvendor_normal(
        given["unit_cost"], given["unit_price"], given["demand_normal_mean"], given["demand_normal_sd"]
    )
    return {
        "critical_fractile": best.fractile,
        "continuous_optimum": best.continuous,
        "integer_optimum": best.units,
        "expected_sales": best.expected_sales,
        "expected_leftover": best.expected_leftover,
        "expected_lost_sales": best.expected_lost_sales,
        "expected_profit": best.expected_profit,
    }


def screening_curve(given: Values) -> Values:
    options = [screening.Option(o["name"], o["fixed"], o["variable"]) for o in given["options"]]
    coal, gas, shed = options
    load, share = np.array([1000.0, 0.0]), np.array([0.0, 1.0])  # 1000 - 1000 z
    return {
        "crossing_gas_coal": screening.crossing(gas, coal),
        "crossing_shed_gas": screening.crossing(shed, gas),
        "capacity": screening.stacked_capacity(options, load, share),
    }


def falling_prices(given: Values) -> Values:
    share = given["committed_fraction_of_todays_on_demand"]
    return {
        "naive_break_even_utilization": terms.break_even_utilization(share, 1.0),
        "break_even_utilization": terms.break_even_utilization_with_decline(
            share, given["continuous_price_decline_per_year"], given["term_years"]
        ),
    }


ANSWERS = {
    "CM-01": partial_upfront,
    "CM-02": commitment_level,
    "CM-03": newsvendor_order,
    "CM-04": screening_curve,
    "CM-06": falling_prices,
}
