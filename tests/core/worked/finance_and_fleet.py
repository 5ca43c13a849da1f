"""Money over time, servers and their failures."""

from planner.core import break_even, fleet, metered, metrics, money, units
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="FIN-01",
        source="PyPSA documentation, function pypsa.costs.annuity docstring",
        inputs={"cases": [{"annual_rate": 0.07, "years": 25}, {"annual_rate": 0.0, "years": 20}]},
        expected={"factors": [0.085810517, 0.05]},
        kind="relative",
        tolerance=1e-06,
    ),
    Example(
        id="FIN-02",
        source="numpy-financial documentation, pmt(0.075/12, 12*15, 200000) = -1854.0247200054619",
        inputs={"principal": 200000, "nominal_annual_rate": 0.075, "compounding": "monthly", "months": 180},
        expected={"payment_per_month": 1854.0247200054619},
        kind="relative",
        tolerance=1e-09,
    ),
    Example(
        id="FIN-04",
        source="Microsoft Excel NPV documentation",
        inputs={"annual_rate": 0.1, "cash_flows": [-10000, 3000, 4200, 6800]},
        expected={
            "npv_first_flow_at_end_of_period_1": 1188.4434123352216,
            "npv_first_flow_at_time_0": 1307.287754,
        },
        kind="relative",
        tolerance=1e-08,
    ),
    Example(
        id="FIN-05",
        source="numpy-financial documentation, npv(0.08, [-40000, 5000, 8000, 12000, 30000]) = 3065.22267",
        inputs={"annual_rate": 0.08, "cash_flows_t0_first": [-40000, 5000, 8000, 12000, 30000]},
        expected={"npv": 3065.2226681795255},
        kind="relative",
        tolerance=1e-09,
    ),
    Example(
        id="TCO-01",
        source="Hennessy & Patterson, Computer Architecture",
        inputs={
            "critical_load_w": 8000000,
            "average_power_utilization": 0.8,
            "pue": 1.45,
            "usd_per_kwh": 0.07,
            "facility_capex": 88000000,
            "share_of_facility_that_is_power_and_cooling": 0.82,
            "server_capex": 66700000,
            "network_capex": 12810000,
            "amortization_months": {"server": 36, "network": 48, "facility": 120},
            "annual_cost_of_money": 0.05,
            "compounding": "nominal monthly (rate/12)",
            "hours_per_month": 730,
            "people_per_month": 85000,
        },
        expected={
            "servers": 1999059,
            "network": 295005,
            "power_and_cooling_infrastructure": 765369,
            "other_infrastructure": 168008,
            "power": 474208,
            "total": 3786649,
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="TCO-03",
        source='Luccioni, Viguier, Ligozat 2022, "Estimating the Carbon Footprint of BLOOM"',
        inputs={"gpu_hours": 1082990, "watts_per_gpu": 400, "pue": 1.2, "g_co2e_per_kwh": 57},
        expected={
            "it_energy_kwh": 433196,
            "facility_energy_kwh": 519835.2,
            "t_co2e_without_pue": 24.69,
            "t_co2e_with_pue": 29.63,
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="TCO-05",
        source='Lenovo Press LP2225 "On-Premise vs Cloud',
        inputs={
            "capex": 833806,
            "cloud_per_hour": 98.32,
            "onprem_opex_per_hour": 0.87,
            "hours_per_month_used_by_source": 720,
        },
        expected={"break_even_hours": 8556.24, "break_even_months": 11.88},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="TCO-07",
        source='Lenovo Press LP2225: 39.3 million H100 hours on AWS P5 would cost "over 483 M" USD',
        inputs={"gpu_hours": 39300000, "gpus_per_instance": 8, "usd_per_instance_hour": 98.32},
        expected={"usd": 482997000},
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="TCO-08",
        source="The Llama 3 Herd of Models (2024), section 3.3.4",
        inputs={
            "gpus": 16384,
            "gpus_per_node": 8,
            "days": 54,
            "interruptions_all": 466,
            "interruptions_unexpected": 419,
            "hbm3": 72,
            "faulty_gpu": 148,
        },
        expected={
            "mtbf_hours_unexpected": 3.0931,
            "mtbf_hours_all": 2.7811,
            "unexpected_per_day": 7.7593,
            "per_1000_node_days": 3.7887,
            "share_hbm3_percent": 17.18,
            "share_faulty_gpu_percent": 35.32,
        },
        kind="relative",
        tolerance=0.001,
    ),
    Example(
        id="TCO-09",
        source="Kokolis et al. (Meta), Revisiting Reliability in Large-Scale ML Clusters, HPCA 2025",
        inputs={"failures_per_node_day": 0.0065, "gpus": 16384, "gpus_per_node": 8},
        expected={"mttf_hours": 1.8},
        kind="relative",
        tolerance=0.01,
    ),
    Example(
        id="TCO-11",
        source="Constructed; the OPT-175B logbook: about 2 machines lost per day, 12 buffer nodes",
        inputs={"failures_per_day": 2, "days_to_replace": 3, "service_level": 0.99},
        expected={
            "mean_in_repair": 6.0,
            "spares": 12,
            "prob_no_shortage_with_12": 0.99117,
            "prob_no_shortage_with_11": 0.97991,
        },
        kind="relative",
        tolerance=0.0001,
    ),
    Example(
        id="TCO-13",
        source="Constructed (textbook identity)",
        inputs={"capex": 280000, "residual": 28000, "years": 5, "annual_rate": 0.1},
        expected={"eac_form_a": 69276.9651602758, "eac_form_b": 69276.9651602758},
        kind="relative",
        tolerance=1e-09,
    ),
    Example(
        id="TCO-14",
        source="Constructed",
        inputs={
            "capex_server": 280000,
            "capex_network_storage_rack_install": 58000,
            "residual": 28000,
            "life_years": 5,
            "wacc": 0.1,
            "idle_kw": 1.5,
            "max_kw": 9.0,
            "load_utilization": 0.65,
            "pue": 1.4,
            "usd_per_kwh": 0.09,
            "maintenance_share_of_server_capex_per_year": 0.06,
            "loaded_staff_cost_per_year": 180000,
            "servers_per_staff": 40,
            "gpus": 8,
            "availability": 0.97,
            "hours_per_year": 8760,
        },
        expected={
            "capital_per_year": 84577.22,
            "average_kw": 6.375,
            "energy_per_year": 7036.47,
            "maintenance_per_year": 16800.0,
            "staff_per_year": 4500.0,
            "total_per_year": 112913.69,
            "usd_per_installed_gpu_hour": 1.611211,
            "usd_per_used_gpu_hour": 2.55545,
        },
        kind="relative",
        tolerance=1e-06,
    ),
]


def annuity_factors(given: Values) -> Values:
    return {"factors": [money.annuity_factor(c["annual_rate"], c["years"]) for c in given["cases"]]}


def level_payment(given: Values) -> Values:
    rate = money.nominal_monthly_rate(given["nominal_annual_rate"])
    return {"payment_per_month": money.level_payment(given["principal"], rate, given["months"])}


def two_conventions(given: Values) -> Values:
    flows, rate = given["cash_flows"], given["annual_rate"]
    return {
        "npv_first_flow_at_end_of_period_1": money.present_value(flows, rate, "end_of_period").usd,
        "npv_first_flow_at_time_0": money.present_value(flows, rate).usd,
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


ANSWERS = {
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
}
