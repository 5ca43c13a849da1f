"""Price paths, break-even months, the utilization ladder."""

from dataclasses import astuple

import numpy as np

from planner.core import metrics, prices, units
from planner.core.books import surface
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="PRICE-01",
        source="Public analysis of 2024 H100 list prices",
        inputs={"one_year": 7.2, "three_year": 5.4},
        expected={
            "average_years_2_and_3": 4.5,
            "constant_ratio": 0.724745,
            "path": [7.2, 5.2182, 3.7818],
            "implied_decline_per_year": 0.275255,
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="PRICE-02",
        source="Epoch AI 2022, Trends in GPU price-performance: 2x in 2.46 / 2.07 years",
        inputs={"doubling_years": [2.46, 2.07]},
        expected={"ten_x_years": [8.17, 6.88], "annual_improvement": [0.3255, 0.3977]},
        kind="relative",
        tolerance=0.005,
    ),
    Example(
        id="PRICE-04",
        source="davidsj.com compute-value calculator",
        inputs={"halving_months": 18, "annual_rate": 0.06, "years_ahead": 1},
        expected={"relative_value": 0.5943},
        kind="absolute",
        tolerance=0.0001,
    ),
    Example(
        id="PRICE-06",
        source="Constructed",
        inputs={
            "gpus": 8,
            "capex_at_time_0": 280000,
            "opex_per_month": 3500,
            "lead_months": 3,
            "rent_per_gpu_hour_month_1": 3.0,
            "utilization": 0.85,
            "hours_per_month": 730,
            "annual_rate_effective": 0.1,
            "monthly_price_decline": [0, 0.005, 0.01, 0.015, 0.02],
            "horizon_months": 84,
        },
        expected={
            "break_even_month": [32, 36, 42, 57, None],
            "naive_month_full_utilization_no_lead_no_decline_no_discount": 20,
        },
        kind="absolute",
        tolerance=0,
    ),
    Example(
        id="MET-01",
        source="Constructed",
        inputs={
            "gpus": 64,
            "hours": 720,
            "availability": 0.97,
            "allocated_share_of_available": 0.8,
            "active_share_of_allocated": 0.75,
            "useful_share_of_active": 0.9,
            "cost": 98000,
        },
        expected={
            "installed": 46080.0,
            "available": 44697.6,
            "allocated": 35758.08,
            "active": 26818.56,
            "useful": 24136.704,
            "usd_per_allocated": 2.740639,
            "usd_per_active": 3.654186,
            "usd_per_useful": 4.060206,
            "idle_cost_not_allocated": 21952.0,
        },
        kind="relative",
        tolerance=1e-06,
    ),
]


def term_structure(given: Values) -> Values:
    implied = prices.implied_path(given["one_year"], given["three_year"])
    return {
        "average_years_2_and_3": implied.average_of_years_2_and_3,
        "constant_ratio": implied.ratio_per_year,
        "path": list(implied.path),
        "implied_decline_per_year": implied.decline_per_year,
    }


def doubling(given: Values) -> Values:
    years = given["doubling_years"]
    return {
        "ten_x_years": [prices.years_to_ten_times(y) for y in years],
        "annual_improvement": [prices.improvement_per_year(y) for y in years],
    }


def future_compute(given: Values) -> Values:
    halving_years = given["halving_months"] / units.MONTHS_PER_YEAR
    value = prices.value_of_future_compute(given["years_ahead"], halving_years, given["annual_rate"])
    return {"relative_value": value}


def break_even_month(given: Values) -> Values:
    case = surface.OwnOrRent(
        gpus=given["gpus"],
        usd_capex=given["capex_at_time_0"],
        usd_running_per_month=given["opex_per_month"],
        usd_rent_per_gpu_hour=given["rent_per_gpu_hour_month_1"],
        hours_by_month=(float(given["hours_per_month"]),) * given["horizon_months"],
        lead_months=given["lead_months"],
        rate_per_year=given["annual_rate_effective"],
    )
    declines = surface.Axis("price_decline_per_month", tuple(given["monthly_price_decline"]))
    found = surface.break_even_surface(case, declines, surface.Axis("utilization", (given["utilization"],)))
    return {
        "break_even_month": [None if np.isinf(month) else month for month in found.month[0].tolist()],
        "naive_month_full_utilization_no_lead_no_decline_no_discount": found.naive_month[0, 0],
    }


def utilization_ladder(given: Values) -> Values:
    shares = {key: given[key] for key in ("allocated_share_of_available", "active_share_of_allocated")}
    rungs = metrics.ladder(
        gpus=given["gpus"],
        hours=given["hours"],
        availability=given["availability"],
        useful_share_of_active=given["useful_share_of_active"],
        usd=given["cost"],
        **shares,
    )
    names = ("installed", "available", "allocated", "active", "useful")
    return {
        **dict(zip(names, astuple(rungs), strict=False)),
        "usd_per_allocated": rungs.usd_per_allocated,
        "usd_per_active": rungs.usd_per_active,
        "usd_per_useful": rungs.usd_per_useful,
        "idle_cost_not_allocated": rungs.usd_idle,
    }


ANSWERS = {
    "PRICE-01": term_structure,
    "PRICE-02": doubling,
    "PRICE-04": future_compute,
    "PRICE-06": break_even_month,
    "MET-01": utilization_ladder,
}
