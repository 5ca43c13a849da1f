"""The economic view: what the books show, and what the money tied up in them costs.

Cash, amortized and economic views say the same over a life. Charging the rate on what is tied up makes the
present value of the books that of the payments (Preinreich 1937; Lücke 1955). Imputed cost of capital stands
in this view alone.
"""

from typing import Any

import numpy as np
import pandas as pd

from planner.core.calendar import FloatArray
from planner.core.lines import RESIDUAL
from planner.core.money import FLOW, discount_factors, monthly_rate
from planner.core.plan import Outcome
from planner.core.projects import PROJECT
from planner.core.ranges import RATE, refuse, takes

# paid at the begin of a month, so tied up all through it; every other line falls at its end
BEGIN_LINES = ("hardware_deposit", "hardware_delivery", "loan_draw", "upfront", PROJECT)


@takes(amortized_usd=FLOW, opening_usd=FLOW, begin_usd=FLOW, rate_per_period=RATE)
def economic_charge_usd(
    amortized_usd: FloatArray, opening_usd: FloatArray, begin_usd: FloatArray, rate_per_period: float
) -> FloatArray:
    """Return amortized + i * (opening balance + payments at the begin), by period, at its end.

    Balances are what the books hold: deposits, book value, prepaid, less loans, so borrowed money bears its
    own interest and not this rate. PV(economic at ends) + v^N * closing - opening = PV(payments). All arrays
    have shape (periods,); NaN is unknown. Raises ValueError where they differ in length.

    A machine for 100, written off over two years, at 10 %: 50 + 10 and 50 + 5; 60 / 1.1 + 55 / 1.21 = 100.

    >>> books, opening, paid = np.array([50.0, 50.0]), np.array([0.0, 50.0]), np.array([100.0, 0.0])
    >>> charge = economic_charge_usd(books, opening, paid, 0.1)
    >>> charge.tolist(), round(float((charge / np.array([1.1, 1.21])).sum()), 9)
    ([60.0, 55.0], 100.0)
    """
    for name, values in (("opening_usd", opening_usd), ("begin_usd", begin_usd)):
        if values.shape != amortized_usd.shape:
            refuse(name, f"{values.size} periods", f"as many as amortized_usd has, {amortized_usd.size}")
    return amortized_usd + rate_per_period * (opening_usd + begin_usd)


def economic_view(outcome: Outcome) -> pd.DataFrame:
    """Return the economic view of a plan by month: amortized, cost of capital, and their sum.

    Columns: month, amortized_usd, capital_usd, economic_usd; amounts at month ends, NaN where unknown. The
    rate is the plan's, effective per year. Total of the discounted column = total present value without the
    residual credit - v^N * closing balances + opening balances, which `present_value_gap_usd` checks.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.plan import OnDemand, Plan
    >>> from datetime import date
    >>> plan = Plan("p", date(2027, 1, 1), 1, "H100", workloads=(), supplies=(OnDemand("o", 4.0),))
    >>> economic_view(evaluate(plan))["economic_usd"].tolist()
    [0.0]
    """
    days = outcome.cumulative["month"]
    rows = outcome.monthly
    amortized = _by_month(rows, "amortized_usd", days)
    begin = _by_month(rows[rows["line"].isin(BEGIN_LINES)], "cash_usd", days)
    opening = _by_month(outcome.balances, "opening_usd", days)
    rate = monthly_rate(outcome.plan.discount_rate_per_year)
    economic = economic_charge_usd(amortized, opening, begin, rate)
    return pd.DataFrame(
        {
            "month": days,
            "amortized_usd": amortized,
            "capital_usd": economic - amortized,
            "economic_usd": economic,
        }
    )


def _by_month(rows: pd.DataFrame, column: str, days: "pd.Series[Any]") -> FloatArray:
    """Return the sums of a column by month, NaN where a part of one is unknown."""
    sums = rows.groupby("month")[column].agg(lambda amounts: amounts.sum(skipna=False))
    return np.asarray(sums.reindex(days, fill_value=0.0), dtype=np.float64)


def present_value_gap_usd(outcome: Outcome) -> float | None:
    """Return by how much the economic view misses the present value of a plan: 0 but for rounding.

    PV(economic) + v^N * closing - opening balances - present value without residual credit. None where a cost
    is unknown.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.plan import OnDemand, Plan
    >>> from datetime import date
    >>> plan = Plan("p", date(2027, 1, 1), 1, "H100", workloads=(), supplies=(OnDemand("o", 4.0),))
    >>> present_value_gap_usd(evaluate(plan))
    0.0
    """
    ends = discount_factors(outcome.plan.discount_rate_per_year, outcome.plan.months).end
    balances, rows = outcome.balances, outcome.monthly
    days = outcome.cumulative["month"]
    economic = float((economic_view(outcome)["economic_usd"].to_numpy() * ends).sum())
    closing = _by_month(balances, "closing_usd", days)[-1] * ends[-1]
    opening = _by_month(balances, "opening_usd", days)[0]
    payments = float(rows.loc[rows["line"] != RESIDUAL, "present_value_usd"].sum(skipna=False))
    gap = float(economic + closing - opening - payments)
    return None if np.isnan(gap) else gap
