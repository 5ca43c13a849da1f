"""What comes out of evaluate(): an Outcome. Every number about a plan is read here."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import pandas as pd

from planner.core.plan.plan import Plan
from planner.core.plan.supplies import OnDemand

View = Literal["cash_usd", "amortized_usd", "present_value_usd"]
VIEWS: tuple[View, ...] = ("cash_usd", "amortized_usd", "present_value_usd")


@dataclass(frozen=True)
class Gap:
    """A missing input: which supply, which field, in words a page can show."""

    supply: str
    field: str
    text: str


@dataclass(frozen=True)
class BreakEven:
    """First month in which the plan's cumulative cost is at or below staying on demand.

    `month` counts from 1; None is "never within the horizon". `until` is the first later month in which
    the plan has cost more than on demand again, None if it stays below. `unmet_gpu_hours` is what the
    plan left unserved up to `month`: where it is not 0 the plan did less work than the baseline.
    `same_as_baseline` says that the two never differ, because the plan is staying on demand.
    """

    month: int | None
    date: date | None
    until: int | None = None
    unmet_gpu_hours: float = 0.0
    same_as_baseline: bool = False


@dataclass(frozen=True)
class UtilizationTerms:
    """The two sides of the break-even utilization, in present value.

    Fixed costs are all but the energy of the load, residual credited, inside the horizon; rent is what
    the same hours, all of them, would cost at the price path less the energy of the load.
    """

    fixed_usd: float
    rent_of_installed_usd: float
    rent_of_available_usd: float


GateName = Literal[
    "none", "quota", "capacity", "power", "lead_time", "budget", "region", "validation", "gang"
]


@dataclass(frozen=True)
class Gate:
    """What binds in one month, in words; `supplies` are at their limit, `unmet_gpu_hours` what it costs.

    A month without unmet demand can still have a gate: a budget that its year goes beyond.
    """

    month: date
    gate: GateName
    supplies: tuple[str, ...]
    gpus_short: float  # at the worst hour
    unmet_gpu_hours: float
    text: str


@dataclass(frozen=True)
class Cliff:
    """A month from which capacity or monthly cost is another: a term, a warranty or a life ends.

    `gpus` is the capacity that goes, `usd_per_month` what is added to the monthly cost (below 0: saved),
    None where a price is unknown.
    """

    month: date
    supply: str
    what: Literal["term_ends", "block_ends", "contract_steps", "warranty_ends", "life_ends"]
    gpus: float
    usd_per_month: float | None


@dataclass(frozen=True)
class Outcome:
    """What a plan costs and serves. Every number of a page, chart or file about a plan is read here.

    monthly: tidy frame, one row per month, supply and line, columns
        month (date, first day), supply (its name, "" for plan-wide), kind (a SupplyKind or "unmet"),
        line (see docs/model.md; "served" and "unmet" carry hours, the others money),
        paid_gpu_hours, useful_gpu_hours, cash_usd, amortized_usd, present_value_usd.
        Rows that carry hours have money 0 and the other way round, so column sums are totals.
        Unknown money is NaN.
    capacity: tidy frame, one row per month and supply: month, supply, kind, hours (of the month),
        installed_gpu_hours, available_gpu_hours, used_gpu_hours, quota_gpus (NaN: no limit known), peak_gpus.
    cumulative: one row per month: month, cash_usd, amortized_usd, present_value_usd (cumulative
        totals of the plan) and baseline_cash_usd, baseline_amortized_usd, baseline_present_value_usd
        (all demand on the reference on-demand supply, no quota).
    off_total: named amounts outside every total, None where unknown: prepaid_remainder_usd (of terms that
        outlive the horizon), recurring_still_owed_usd (on them), hardware_still_to_pay_usd (on orders
        delivered after the horizon).
    balances: what the books hold, one row per month, supply and item (deposits, book_value, prepaid,
        loan; a loan is negative): month, supply, item, opening_usd, closing_usd. Without the rows
        "residual", cash = amortized + closing - opening, at any horizon.
    gates: for each month what binds first; cliffs: ends of terms, warranties and lives inside the plan.
    by_class: tidy frame of hours, one row per month, workload and supply that serves it: month, workload,
        supply, paid_gpu_hours, useful_gpu_hours; and per month and workload with supply "": unmet.
    break_even_utilization: of owned servers, or of commitments where nothing is owned;
        break_even_utilization_by_supply has every supply that is paid for whether used or not.
    """

    plan: Plan
    monthly: pd.DataFrame
    capacity: pd.DataFrame
    cumulative: pd.DataFrame
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]
    total: dict[View, float | None]
    demand_gpu_hours: float
    useful_gpu_hours: float
    unmet_gpu_hours: float
    usd_per_useful_gpu_hour: dict[View, float | None]
    break_even: dict[View, BreakEven | None]  # None: unknown or no reference price
    break_even_with_residual: dict[View, BreakEven | None]
    break_even_utilization: float | None  # share of installed hours; dated u* of docs/model.md
    break_even_utilization_of_available: float | None  # share of available hours: beside measured use
    peak_month_cash_usd: float | None
    peak_month: date | None
    off_total: dict[str, float | None]
    balances: pd.DataFrame = field(default_factory=pd.DataFrame)
    break_even_utilization_by_supply: dict[str, float | None] = field(default_factory=dict)
    utilization_terms: UtilizationTerms | None = None  # of break_even_utilization
    # used / available hours of the same capacity over the horizon, as the plan dispatches it
    planned_utilization_of_available: float | None = None
    reference: OnDemand | None = None  # the supply that the plan is measured against
    gates: tuple[Gate, ...] = ()  # one per month: what keeps the plan from serving more, or "none"
    cliffs: tuple[Cliff, ...] = ()
    by_class: pd.DataFrame = field(default_factory=pd.DataFrame)
