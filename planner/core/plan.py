"""The vocabulary of the model: a Plan goes into evaluate() (evaluate.py), an Outcome comes out.

Formulas, units and timing are stated in docs/model.md. Money is float US dollars (or the plan's
currency), hours are real UTC calendar hours, shares are 0..1, powers are kW. `None` in a price
means unknown: the totals that contain the supply become unknown (NaN) and a Gap names it.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import pandas as pd

WorkloadKind = Literal["inference", "training"]
SupplyKind = Literal["owned", "reserved", "on_demand", "spot"]
PaymentForm = Literal["no_upfront", "partial_upfront", "all_upfront"]
View = Literal["cash_usd", "amortized_usd", "present_value_usd"]
VIEWS: tuple[View, ...] = ("cash_usd", "amortized_usd", "present_value_usd")


@dataclass(frozen=True)
class Workload:
    """One class of demand, in GPUs of the plan's accelerator.

    `gpus` is the mean demand in month 1; `growth_per_month` is a share and applies from month 2.
    `profile` is 168 hourly factors, hour 0 being Monday 00:00 UTC, mean 1; None is flat.
    Inference is never deferred and never runs on spot. `interruptible` lets training use spot.
    """

    name: str
    kind: WorkloadKind
    gpus: float
    growth_per_month: float = 0.0
    profile: tuple[float, ...] | None = None
    deferrable_hours: float = 0.0
    interruptible: bool = False


@dataclass(frozen=True)
class Loan:
    """A loan that pays `share` of the capex; level payments at the end of each month."""

    share: float
    rate_per_year: float  # nominal, compounded monthly, as banks quote it
    months: int


@dataclass(frozen=True)
class Owned:
    """Servers bought. Deposit at order, remainder at delivery, capacity after burn-in."""

    name: str
    servers: int
    gpus_per_server: int
    order_date: date
    lead_time_days: int
    usd_capex_per_server: float | None
    usd_other_capex_per_server: float | None = 0.0  # network, storage, rack, installation: no maintenance
    burn_in_days: int = 0
    deposit_share: float = 0.3
    idle_kw_per_server: float | None = None
    max_kw_per_server: float | None = None
    pue: float = 1.54
    usd_per_kwh: float | None = None
    usd_colocation_per_kw_month: float = 0.0
    colocation_includes_energy: bool = False
    maintenance_share_per_year: float = 0.08
    warranty_months: int = 36
    fte_minimum: float = 0.0
    servers_per_fte: float = 40.0
    usd_staff_per_fte_year: float = 0.0
    usd_software_per_server_month: float = 0.0
    usd_insurance_per_server_month: float = 0.0
    availability: float = 1.0
    spare_servers: int = 0
    accounting_life_months: int = 60
    economic_life_months: int | None = None
    residual_share: float | None = None  # None: the curve by months in service (docs/model.md)
    loan: Loan | None = None
    kind: SupplyKind = field(default="owned", init=False)


@dataclass(frozen=True)
class Reserved:
    """A commitment to `gpus` for a term. Paid whether used or not."""

    name: str
    gpus: int
    start: date
    term_months: int
    payment: PaymentForm
    usd_per_gpu_hour: float | None  # the recurring part
    usd_upfront_per_gpu: float | None = 0.0
    gpus_per_instance: int = 1
    salvage_share: float = 0.0
    kind: SupplyKind = field(default="reserved", init=False)


@dataclass(frozen=True)
class OnDemand:
    """Rented by the hour up to a quota. `reference` marks the price that plans are measured against."""

    name: str
    usd_per_gpu_hour: float | None
    quota_gpus: float | None = None  # None: no limit known
    gpus_per_instance: int = 1
    reference: bool = False
    kind: SupplyKind = field(default="on_demand", init=False)


@dataclass(frozen=True)
class Spot:
    """Rented by the hour, may be taken back. One paid GPU-hour does `useful_work_factor` of work."""

    name: str
    usd_per_gpu_hour: float | None
    useful_work_factor: float = 1.0
    quota_gpus: float | None = None
    gpus_per_instance: int = 1
    kind: SupplyKind = field(default="spot", init=False)


Supply = Owned | Reserved | OnDemand | Spot


@dataclass(frozen=True)
class Plan:
    """Demand and supplies over `months` calendar months from `start` (a first of a month, 00:00 UTC).

    `price_drift_per_month` is a share, applied from month 2 to on-demand and spot prices.
    """

    name: str
    start: date
    months: int
    gpu_model: str
    workloads: tuple[Workload, ...]
    supplies: tuple[Supply, ...]
    discount_rate_per_year: float = 0.10
    price_drift_per_month: float = 0.0
    currency: str = "USD"


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
        installed_gpu_hours, available_gpu_hours, quota_gpus (NaN: no limit known), peak_gpus.
    cumulative: one row per month: month, cash_usd, amortized_usd, present_value_usd (cumulative
        totals of the plan) and baseline_cash_usd, baseline_amortized_usd, baseline_present_value_usd
        (all demand on the reference on-demand supply, no quota).
    off_total: named amounts outside every total, None where unknown: prepaid_remainder_usd (of terms that
        outlive the horizon), recurring_still_owed_usd (on them), hardware_still_to_pay_usd (on orders
        delivered after the horizon).
    balances: what the books hold, one row per month, supply and item (deposits, book_value, prepaid,
        loan; a loan is negative): month, supply, item, opening_usd, closing_usd. Without the rows
        "residual", cash = amortized + closing - opening, at any horizon.
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
