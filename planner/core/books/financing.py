"""Buy, borrow or lease the same servers: all three over the same months, in present value."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from planner.core.money import (
    annuity_factor,
    discount_factors,
    level_payment,
    loan_balance,
    monthly_rate,
    nominal_monthly_rate,
)
from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, RATE, SHARE, optional, require_fields

Way = Literal["buy", "loan", "lease"]
COST = optional(AT_LEAST_0)


@dataclass(frozen=True)
class Financing:
    """Servers wanted for `months`. None is not known.

    Buying pays capex at time 0 and sells at the end of the months. The loan (nominal yearly rate, compounded
    monthly) pays its share of capex, level payments at month ends; what is still owed is paid off at the end
    of the months. The lease pays at the begin of each month and gives the servers back. What costs the same
    in all three (power, staff) is left out.
    """

    usd_capex: float | None
    usd_residual: float | None
    months: int
    rate_per_year: float
    loan_share: float
    loan_rate_per_year: float | None
    loan_months: int
    usd_lease_per_month: float | None

    def __post_init__(self) -> None:
        """Refuse numbers outside their range."""
        require_fields(
            self,
            usd_capex=COST,
            usd_residual=COST,
            months=COUNT_FROM_1,
            rate_per_year=RATE,
            loan_share=SHARE,
            loan_rate_per_year=optional(RATE),
            loan_months=COUNT_FROM_1,
            usd_lease_per_month=COST,
        )


@dataclass(frozen=True)
class Financed:
    """Present value of each way and the level payment at month ends that is worth the same; None not known.

    `cheapest` is None where one of the three is not known.
    """

    usd: dict[Way, float | None]
    usd_per_month: dict[Way, float | None]
    cheapest: Way | None
    missing: tuple[str, ...]


def compare_financing(given: Financing) -> Financed:
    """Return what buying, borrowing and leasing cost over the same months.

    buy = C - S v^n; loan = (1 - share) C + PV(payments and payoff) - S v^n; lease = PV(payments at begins).
    A loan's interest is in its payments and never added again. At a loan rate equal to the discount rate the
    loan costs what buying costs.

    >>> financed = compare_financing(Financing(1200.0, 0.0, 12, 0.0, 0.5, 0.12, 12, 105.0))
    >>> {way: round(usd, 2) for way, usd in financed.usd.items()}, financed.cheapest
    ({'buy': 1200.0, 'loan': 1239.71, 'lease': 1260.0}, 'buy')
    """
    factors = discount_factors(given.rate_per_year, given.months)
    capex, residual, lease, loan_rate = (
        np.nan if value is None else value
        for value in (
            given.usd_capex,
            given.usd_residual,
            given.usd_lease_per_month,
            given.loan_rate_per_year,
        )
    )
    buy = capex - residual * float(factors.end[-1])
    costs: dict[Way, float] = {
        "buy": buy,
        "loan": buy + _loan_extra(given, capex, loan_rate),
        "lease": lease * float(factors.begin.sum()),
    }
    usd: dict[Way, float | None] = {way: None if np.isnan(cost) else cost for way, cost in costs.items()}
    level = annuity_factor(monthly_rate(given.rate_per_year), given.months)
    is_known = not np.isnan(list(costs.values())).any()
    cheapest: Way = min(costs, key=costs.__getitem__)
    return Financed(
        usd,
        {way: None if cost is None else cost * level for way, cost in usd.items()},
        cheapest if is_known else None,
        tuple(name for name, value in vars(given).items() if value is None and not _is_idle(given, name)),
    )


def _is_idle(given: Financing, name: str) -> bool:
    """Return whether a field says nothing here: without a loan its rate is not missed."""
    return name == "loan_rate_per_year" and given.loan_share == 0.0


def _loan_extra(given: Financing, capex: float, loan_rate: float) -> float:
    """Return PV(payments and payoff) - what the loan brings at time 0: what borrowing adds to buying."""
    if given.loan_share == 0.0:
        return 0.0
    if np.isnan(loan_rate):
        return np.nan
    rate, principal = nominal_monthly_rate(loan_rate), given.loan_share * capex
    paid = min(given.loan_months, given.months)
    end = discount_factors(given.rate_per_year, given.months).end
    payments = level_payment(principal, rate, given.loan_months) * float(end[:paid].sum())
    owed = float(loan_balance(principal, rate, given.loan_months, np.array([float(paid)]))[0])
    return payments + owed * float(end[-1]) - principal
