"""Defaults of a plan that a person may change, each with its unit and where it comes from.

A page shows every one of them beside the figure it steers, as an assumption until somebody types a value.
"""

from dataclasses import dataclass
from decimal import Decimal

JUDGEMENT = "judgement; replace it with your own figure"


@dataclass(frozen=True)
class Assumption:
    """A default value: what it is called on pages, its unit, and its source."""

    field: str
    label: str
    unit: str
    value: Decimal  # a share where the unit is percent
    source: str

    @property
    def is_share(self) -> bool:
        return self.unit.startswith("%")


GENERAL = (
    Assumption("months", "Horizon", "months", Decimal(36), "three years, the longest public commitment"),
    Assumption(
        "discount_rate_per_year", "Discount rate", "% a year", Decimal("0.10"), f"range 6–15 %, {JUDGEMENT}"
    ),
    Assumption(
        "price_change_per_year",
        "Cloud list price change",
        "% a year",
        Decimal("-0.22"),
        # exp(-0.25) - 1; with no decline owning looks better than it has been
        f"range −45–0 %: an H100 hour rented for over $8 in 2023 and $2.35 in March 2026; {JUDGEMENT}",
    ),
    Assumption("growth_per_month", "Demand growth", "% a month", Decimal(0), "no growth assumed"),
    Assumption(
        "useful_work_factor",
        "Useful work of a spot hour",
        "%",
        Decimal("0.87"),
        "1 / 1.15: restarts and lost work of 15 %, within the published range of 5–40 %",
    ),
)

OWNED = (
    Assumption(
        "gpus_per_server", "GPUs per server", "GPUs", Decimal(8), "usual for this class of accelerator"
    ),
    Assumption(
        "lead_time_days", "Lead time", "days", Decimal(84), "median 12 weeks, P90 26 weeks; ask for a date"
    ),
    Assumption("burn_in_days", "Burn-in", "days", Decimal(28), "makers' burn-in of 3–4 weeks and acceptance"),
    Assumption("deposit_share", "Deposit at order", "%", Decimal("0.30"), JUDGEMENT),
    Assumption(
        "pue", "PUE", "ratio", Decimal("1.400"), "colocation, 2025 survey; 1.54 is the average of all sites"
    ),
    Assumption("usd_per_kwh", "Electricity", "$/kWh", Decimal("0.10"), f"{JUDGEMENT}; mind demand charges"),
    Assumption(
        "usd_colocation_per_kw_month",
        "Colocation",
        "$/kW-month",
        Decimal("195.00"),
        "asking rates of primary markets, end of 2025; energy not included",
    ),
    Assumption(
        "maintenance_share_per_year",
        "Maintenance after the warranty",
        "% of the server price a year",
        Decimal("0.08"),
        f"range 3–15 %, {JUDGEMENT}",
    ),
    Assumption("warranty_months", "Warranty in the price", "months", Decimal(36), "prepaid with the server"),
    Assumption("fte_minimum", "Least staff", "full-time people", Decimal("0.5"), JUDGEMENT),
    Assumption("servers_per_fte", "Servers per person", "servers", Decimal(40), f"range 40–100, {JUDGEMENT}"),
    Assumption(
        "usd_staff_per_fte_year",
        "Staff",
        "$ per person and year",
        Decimal(180_000),
        f"loaded cost, {JUDGEMENT}",
    ),
    Assumption(
        "availability",
        "Availability",
        "%",
        Decimal("0.988"),
        "4 failures per 1,000 node-days (published) and 3 days to repair with local spares",
    ),
    Assumption(
        "accounting_life_months", "Accounting life", "months", Decimal(60), "published accounts: 4–6 years"
    ),
)

_BY_FIELD = {assumption.field: assumption for assumption in (*GENERAL, *OWNED)}

# A whole 8-GPU server draws 10.2 kW at most where its accelerators are rated 5.6 kW together.
SERVER_POWER_PER_GPU_POWER = Decimal("1.82")
IDLE_SHARE_OF_MAX_POWER = Decimal("0.225")
POWER_SOURCE = (
    "1.82 times the accelerators' rated power (an 8-GPU server: 10.2 kW of 5.6 kW); idle 22.5 % of it"
)


def assumption(field: str) -> Assumption:
    """Return the assumption about a field."""
    return _BY_FIELD[field]


def default(field: str) -> Decimal:
    """Return the default of a field."""
    return _BY_FIELD[field].value


def server_kw(gpu_power_w: Decimal | None, gpus_per_server: int) -> tuple[Decimal | None, Decimal | None]:
    """Return idle and maximum kW of one server from its accelerators' rated power; unknown stays unknown."""
    if gpu_power_w is None:
        return None, None
    max_kw = (gpu_power_w * gpus_per_server * SERVER_POWER_PER_GPU_POWER / 1000).quantize(Decimal("0.0001"))
    return (max_kw * IDLE_SHARE_OF_MAX_POWER).quantize(Decimal("0.0001")), max_kw
