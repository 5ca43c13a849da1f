"""What the model answers to each worked example, by id, in the words of the example's `expected`."""

from collections.abc import Callable
from dataclasses import astuple
from datetime import date
from typing import Any

import numpy as np

from planner.core import (
    break_even,
    commit_size,
    committed,
    fleet,
    metered,
    metrics,
    money,
    newsvendor,
    prices,
    screening,
    units,
)

Values = dict[str, Any]


def annuity_factors(given: Values) -> Values:
    return {"factors": [money.annuity_factor(c["annual_rate"], c["years"]) for c in given["cases"]]}


def level_payment(given: Values) -> Values:
    rate = money.nominal_monthly_rate(given["nominal_annual_rate"])
    return {"payment_per_month": money.level_payment(given["principal"], rate, given["months"])}


def two_conventions(given: Values) -> Values:
    flows, rate = given["cash_flows"], given["annual_rate"]
    return {
        "npv_first_flow_at_end_of_period_1": money.npv_end_of_period(flows, rate),
        "npv_first_flow_at_time_0": money.npv_from_now(flows, rate),
    }


def npv_from_now(given: Values) -> Values:
    return {"npv": money.npv_from_now(given["cash_flows_t0_first"], given["annual_rate"])}


def warehouse(given: Values) -> Values:
    rate = money.nominal_monthly_rate(given["annual_cost_of_money"])
    months = given["amortization_months"]
    share = given["share_of_facility_that_is_power_and_cooling"]
    facility = money.level_payment(given["facility_capex"], rate, months["facility"])
    it_kw = given["critical_load_w"] / units.WATTS_PER_KW * given["average_power_utilization"]
    kwh = units.facility_kwh(it_kw, given["hours_per_month"], given["pue"])
    parts = {
        "servers": money.level_payment(given["server_capex"], rate, months["server"]),
        "network": money.level_payment(given["network_capex"], rate, months["network"]),
        "power_and_cooling_infrastructure": facility * share,
        "other_infrastructure": facility * (1.0 - share),
        "power": kwh * given["usd_per_kwh"],
    }
    return {**parts, "total": sum(parts.values()) + given["people_per_month"]}


def training_energy(given: Values) -> Values:
    it_kwh = units.gpu_energy_kwh(given["gpu_hours"], given["watts_per_gpu"])
    kwh = units.gpu_energy_kwh(given["gpu_hours"], given["watts_per_gpu"], given["pue"])
    grams = given["g_co2e_per_kwh"]
    return {
        "it_energy_kwh": it_kwh,
        "facility_energy_kwh": kwh,
        "t_co2e_without_pue": units.emitted_tonnes(it_kwh, grams),
        "t_co2e_with_pue": units.emitted_tonnes(kwh, grams),
    }


def hours_to_break_even(given: Values) -> Values:
    hours = break_even.break_even_hours(
        given["capex"], given["cloud_per_hour"], given["onprem_opex_per_hour"]
    )
    month = given["hours_per_month_used_by_source"]
    return {
        "break_even_hours": hours,
        "break_even_months": break_even.break_even_months(hours, hours_per_month=month),
    }


def cloud_cost(given: Values) -> Values:
    usd = metered.usd_for_gpu_hours(
        given["gpu_hours"], given["usd_per_instance_hour"], given["gpus_per_instance"]
    )
    return {"usd": usd}


def interruptions(given: Values) -> Values:
    nodes, days = given["gpus"] / given["gpus_per_node"], given["days"]
    unexpected = given["interruptions_unexpected"]
    return {
        "mtbf_hours_unexpected": fleet.mtbf_hours(days, unexpected),
        "mtbf_hours_all": fleet.mtbf_hours(days, given["interruptions_all"]),
        "unexpected_per_day": unexpected / days,
        "per_1000_node_days": 1000 * fleet.failures_per_node_day(unexpected, nodes, days),
        "share_hbm3_percent": 100 * given["hbm3"] / unexpected,
        "share_faulty_gpu_percent": 100 * given["faulty_gpu"] / unexpected,
    }


def job_mttf(given: Values) -> Values:
    nodes = given["gpus"] / given["gpus_per_node"]
    return {"mttf_hours": fleet.job_mttf_hours(nodes, given["failures_per_node_day"])}


def spares(given: Values) -> Values:
    mean = given["failures_per_day"] * given["days_to_replace"]
    return {
        "mean_in_repair": mean,
        "spares": fleet.spares_needed(
            given["failures_per_day"], given["days_to_replace"], given["service_level"]
        ),
        "prob_no_shortage_with_12": fleet.probability_no_shortage(12, mean),
        "prob_no_shortage_with_11": fleet.probability_no_shortage(11, mean),
    }


def equivalent_annual_cost(given: Values) -> Values:
    capex, residual = given["capex"], given["residual"]
    rate, years = given["annual_rate"], given["years"]
    present = capex - residual * (1.0 + rate) ** -years
    return {
        "eac_form_a": money.equivalent_annual_cost(capex, residual, rate, years),
        "eac_form_b": present * money.annuity_factor(rate, years),
    }


def owned_unit_cost(given: Values) -> Values:
    capex = given["capex_server"] + given["capex_network_storage_rack_install"]
    kw = units.average_kw(given["idle_kw"], given["max_kw"], given["load_utilization"])
    cost = metrics.AnnualCost(
        capital=money.equivalent_annual_cost(capex, given["residual"], given["wacc"], given["life_years"]),
        energy=units.facility_kwh(kw, given["hours_per_year"], given["pue"]) * given["usd_per_kwh"],
        maintenance=given["capex_server"] * given["maintenance_share_of_server_capex_per_year"],
        staff=given["loaded_staff_cost_per_year"] / given["servers_per_staff"],
    )
    return {
        "capital_per_year": cost.capital,
        "average_kw": kw,
        "energy_per_year": cost.energy,
        "maintenance_per_year": cost.maintenance,
        "staff_per_year": cost.staff,
        "total_per_year": cost.total,
        "usd_per_installed_gpu_hour": cost.usd_per_gpu_hour(given["gpus"]),
        "usd_per_used_gpu_hour": cost.usd_per_gpu_hour(
            given["gpus"], given["availability"] * given["load_utilization"]
        ),
    }


def partial_upfront(given: Values) -> Values:
    hourly = committed.effective_usd_per_gpu_hour(
        given["upfront"], given["recurring_per_hour"], given["hours"]
    )
    return {"effective_hourly": hourly, "total_commitment": hourly * given["hours"]}


def commitment_level(given: Values) -> Values:
    demand = np.array(given["demand_gpus_by_hour"], dtype=float)
    c, p = given["committed_per_gpu_hour"], given["on_demand_per_gpu_hour"]
    best = commit_size.best_level(demand, c, p)
    return {
        "break_even_utilization": commit_size.break_even_utilization(c, p),
        "optimal_gpus": best.gpus,
        "optimal_cost": best.usd,
        "cost_by_level": {str(k): commit_size.cost_of_level(k, demand, c, p) for k in range(11)},
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
        "naive_break_even_utilization": commit_size.break_even_utilization(share, 1.0),
        "break_even_utilization": commit_size.break_even_utilization_with_decline(
            share, given["continuous_price_decline_per_year"], given["term_years"]
        ),
    }


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
    hours = np.full(given["horizon_months"], float(given["hours_per_month"]))
    days = [date(2000, 1, 1)] * len(hours)

    def month(decline: float) -> int | None:
        own, rent = break_even.cumulative_own_and_rent(
            gpus=given["gpus"],
            usd_capex=given["capex_at_time_0"],
            usd_running_per_month=given["opex_per_month"],
            lead_months=given["lead_months"],
            usd_rent_per_gpu_hour=given["rent_per_gpu_hour_month_1"],
            utilization=given["utilization"],
            price_decline_per_month=decline,
            rate_per_year=given["annual_rate_effective"],
            hours=hours,
        )
        found = break_even.find_break_even(own, rent, days, np.zeros(len(hours)))
        assert found is not None
        return found.month

    own, rent = break_even.cumulative_own_and_rent(
        gpus=given["gpus"],
        usd_capex=given["capex_at_time_0"],
        usd_running_per_month=given["opex_per_month"],
        lead_months=0,
        usd_rent_per_gpu_hour=given["rent_per_gpu_hour_month_1"],
        utilization=1.0,
        price_decline_per_month=0.0,
        rate_per_year=0.0,
        hours=hours,
    )
    naive = break_even.find_break_even(own, rent, days, np.zeros(len(hours)))
    assert naive is not None
    return {
        "break_even_month": [month(decline) for decline in given["monthly_price_decline"]],
        "naive_month_full_utilization_no_lead_no_decline_no_discount": naive.month,
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


ANSWERS: dict[str, Callable[[Values], Values]] = {
    "FIN-01": annuity_factors,
    "FIN-02": level_payment,
    "FIN-04": two_conventions,
    "FIN-05": npv_from_now,
    "TCO-01": warehouse,
    "TCO-03": training_energy,
    "TCO-05": hours_to_break_even,
    "TCO-07": cloud_cost,
    "TCO-08": interruptions,
    "TCO-09": job_mttf,
    "TCO-11": spares,
    "TCO-13": equivalent_annual_cost,
    "TCO-14": owned_unit_cost,
    "CM-01": partial_upfront,
    "CM-02": commitment_level,
    "CM-03": newsvendor_order,
    "CM-04": screening_curve,
    "CM-06": falling_prices,
    "PRICE-01": term_structure,
    "PRICE-02": doubling,
    "PRICE-04": future_compute,
    "PRICE-06": break_even_month,
    "MET-01": utilization_ladder,
}
