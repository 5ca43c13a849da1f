"""What a machine with accelerators costs per hour, on which terms."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from .errors import RowError, check_currency, check_named, check_utc

Term = Literal[
    "on_demand",
    "spot",
    "reserved_1y",  # a quantity for a term: AWS standard RI, Azure reservation, GCP resource CUD
    "reserved_3y",
    "convertible_1y",  # AWS convertible reserved instance
    "convertible_3y",
    "compute_plan_1y",  # a spend for a term on any machine: AWS Compute and Azure savings plans
    "compute_plan_3y",
    "instance_plan_1y",  # a spend on one family in one region: AWS EC2 Instance savings plan
    "instance_plan_3y",
    "capacity_block",  # a block of days, paid at its start
]
Payment = Literal["", "no_upfront", "partial_upfront", "all_upfront"]
PriceState = Literal["priced", "not_sold", "reservation_only", "unknown"]
MAX_PRICE_PER_HOUR = Decimal(100_000)
PRICE_STEP = Decimal("0.000000001")
GPU_STEP = Decimal("0.001")
# above any machine and any fee there is, and within what the tables hold
_MOST_BESIDE_PRICE = {"upfront": Decimal(10**9), "vcpus": Decimal(100_000), "memory_gib": Decimal(10**7)}


@dataclass(frozen=True)
class PriceRow:
    provider: str
    sku: str
    accelerator_name: str
    gpu_count: Decimal
    region: str
    term: Term
    state: PriceState
    price_per_hour: Decimal | None
    effective_from: datetime | None = None  # None: the date of the file
    zone: str = ""
    payment: Payment = ""
    state_reason: str = ""
    upfront: Decimal | None = None
    currency: str = "USD"
    vcpus: Decimal | None = None
    memory_gib: Decimal | None = None
    reference: str = ""
    observed_on: date | None = None  # when the row's own source was read; None: the date of the file

    def __post_init__(self) -> None:
        price = self.price_per_hour
        if (price is None) == (self.state == "priced"):
            raise RowError("price", price, "price_without_state", "a price when priced and none otherwise")
        if price is not None and not (price.is_finite() and PRICE_STEP <= price <= MAX_PRICE_PER_HOUR):
            raise RowError("price", price, "price_out_of_bounds", f"above 0 and at most {MAX_PRICE_PER_HOUR}")
        if not (self.gpu_count.is_finite() and GPU_STEP <= self.gpu_count <= 1024):
            raise RowError("gpu_count", self.gpu_count, "gpu_count_out_of_bounds", f"{GPU_STEP} to 1024")
        for name, most in _MOST_BESIDE_PRICE.items():
            value = getattr(self, name)
            if value is not None and not (value.is_finite() and 0 <= value <= most):
                expected = f"0 to {most:,}, or empty when unknown"
                raise RowError(name, value, f"{name}_out_of_bounds", expected)
        check_utc("effective_from", self.effective_from)
        check_currency(self.currency)
        check_named(self, "provider", "sku", "region")
