"""Leases, FOCUS columns, the cost of tokens."""

from planner.core.books import focus, lease, unit_cost
from tests.core.worked.example import Example, Values

EXAMPLES = [
    Example(
        id="ACC-01",
        source="IFRS 16 Illustrative Example 13: nine payments of 50,000 at 5 % = 355,391",
        inputs={
            "payments_remaining": 9,
            "payment": 50000,
            "annual_rate": 0.05,
            "first_remaining_payment_in_years": 1,
        },
        expected={
            "lease_liability": 355391.08,
            "interest_year_1": 17769.55,
            "liability_after_second_payment": 323160.64,
        },
        kind="absolute",
        tolerance=0.5,
    ),
    Example(
        id="FOC-01",
        source="FOCUS specification, commitment discount usage scenario 3 (CSV), with its purchase",
        inputs={
            "rows": [
                {"ChargeCategory": "Purchase", "BilledCost": 1.0, "EffectiveCost": 0.0},
                {
                    "ChargeCategory": "Usage",
                    "CommitmentDiscountStatus": "Used",
                    "BilledCost": 0.0,
                    "EffectiveCost": 0.75,
                },
                {
                    "ChargeCategory": "Usage",
                    "CommitmentDiscountStatus": "Unused",
                    "BilledCost": 0.0,
                    "EffectiveCost": 0.25,
                },
            ]
        },
        expected={
            "commitment_utilization": 0.75,
            "unused_cost": 0.25,
            "sum_effective_usage_equals_sum_billed_purchase": True,
            "invoice": 1.0,
            "amortised": 1.0,
        },
        kind="absolute",
        tolerance=1e-09,
    ),
    Example(
        id="FOC-03",
        source='Microsoft FinOps toolkit, "Understanding savings calculations"',
        inputs={
            "rows": [
                {"list": 100, "effective": 100},
                {"list": 100, "effective": 80},
                {"list": 100, "effective": 120},
                {"list": None, "effective": 80},
                {"list": 100, "effective": None},
            ]
        },
        expected={"savings_shown": [0, 20, -20, None, None]},
        kind="absolute",
        tolerance=1e-09,
    ),
    Example(
        id="DEM-14",
        source="DeepSeek-V3/R1 inference system overview (2025-02-28)",
        inputs={
            "average_nodes": 226.75,
            "gpus_per_node": 8,
            "usd_per_gpu_hour": 2.0,
            "hours": 24,
            "tokens_billion": {"input_cached": 342, "input_uncached": 266, "output": 168},
            "price_per_million": {"input_cached": 0.14, "input_uncached": 0.55, "output": 2.19},
        },
        expected={
            "cost_per_day": 87072.0,
            "revenue_per_day": 562100.0,
            "cost_profit_margin": 5.4555,
            "cost_per_million_output_tokens_all_cost_on_output": 0.51829,
            "cost_per_million_all_tokens": 0.112206,
        },
        kind="relative",
        tolerance=0.001,
    ),
]


def lease_payments(given: Values) -> Values:
    remaining, payment, rate = given["payments_remaining"], given["payment"], given["annual_rate"]
    # the first of ten payments falls on day one
    schedule = lease.lease_schedule(lease.Lease((payment,) * (remaining + 1), rate, "begin"))
    return {
        "lease_liability": lease.lease_liability((payment,) * remaining, rate),
        "interest_year_1": float(schedule.interest_usd[0]),
        "liability_after_second_payment": float(schedule.liability_usd[1]),
    }


def commitment_rows(given: Values) -> Values:
    rows = [
        focus.FocusRow(
            row["ChargeCategory"],
            "Recurring" if row["ChargeCategory"] == "Purchase" else "Usage-Based",
            row["BilledCost"],
            row["EffectiveCost"],
            commitment_discount_id="c",
            commitment_discount_status=row.get("CommitmentDiscountStatus"),
        )
        for row in given["rows"]
    ]
    use = focus.commitment_use(rows, "c")
    return {
        "commitment_utilization": use.utilization,
        "unused_cost": use.unused_usd,
        "sum_effective_usage_equals_sum_billed_purchase": use.is_settled,
        "invoice": focus.invoice_usd(rows),
        "amortised": focus.amortized_usd(rows),
    }


def signed_savings(given: Values) -> Values:
    rows = [
        focus.FocusRow("Usage", "Usage-Based", row["effective"], row["effective"], list_cost=row["list"])
        for row in given["rows"]
    ]
    return {"savings_shown": [focus.savings(row).total_usd for row in rows]}


def serving(given: Values) -> Values:
    tokens = {kind: billion * 1e9 for kind, billion in given["tokens_billion"].items()}
    gpu_hours = given["average_nodes"] * given["gpus_per_node"] * given["hours"]
    usd = unit_cost.usd_per_run(gpu_hours, given["usd_per_gpu_hour"])
    assert usd is not None
    revenue = unit_cost.token_revenue_usd(tokens, given["price_per_million"])
    cost = unit_cost.usd_per_million_tokens(usd, tokens)
    return {
        "cost_per_day": usd,
        "revenue_per_day": revenue,
        "cost_profit_margin": unit_cost.cost_profit_margin(revenue, usd),
        "cost_per_million_output_tokens_all_cost_on_output": cost.usd_per_million["output"],
        "cost_per_million_all_tokens": cost.usd_per_million_of_all,
    }


ANSWERS = {
    "ACC-01": lease_payments,
    "FOC-01": commitment_rows,
    "FOC-03": signed_savings,
    "DEM-14": serving,
}
