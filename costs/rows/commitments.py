"""What was bought for a term, and what sellers offer to us alone."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from .errors import RowError, check_between, check_currency, check_named, check_utc
from .prices import Payment

CommitmentKind = Literal[
    "reserved_instance", "savings_plan", "capacity_reservation", "capacity_block", "committed_use", "contract"
]
QuoteKind = Literal["rental", "server", "capacity_block"]
MONEY_MOST = Decimal(10**12)


@dataclass(frozen=True)
class CommitmentRow:
    """One commitment that an account holds."""

    provider: str
    account: str
    commitment: str  # the provider's id of it
    kind: CommitmentKind
    plan: str  # standard, convertible, Compute, EC2Instance, SageMaker, … as the provider writes it
    sku: str  # machine type; "" for a spend that no type is tied to
    family: str
    region: str  # "" where it holds in all
    zone: str
    product: str
    count: Decimal | None  # machines; None for a spend
    spend_per_hour: Decimal | None  # committed money; None for a quantity
    upfront: Decimal | None  # total paid at the start
    recurring_per_hour: Decimal | None  # due each hour, for all machines of it together
    currency: str
    payment: Payment
    term_hours: Decimal | None
    starts_at: datetime | None
    ends_at: datetime | None  # None: until cancelled
    state: str  # active, retired, payment-pending, … as the provider writes it
    reference: str = ""

    def __post_init__(self) -> None:
        check_named(self, "provider", "commitment", "state")
        check_currency(self.currency)
        check_between("count", self.count, 0, 10**7)
        for name in ("spend_per_hour", "upfront", "recurring_per_hour"):
            check_between(name, getattr(self, name), 0, MONEY_MOST)
        check_between("term_hours", self.term_hours, 0, 10**6)
        check_utc("starts_at", self.starts_at)
        check_utc("ends_at", self.ends_at)
        if self.starts_at and self.ends_at and self.ends_at < self.starts_at:
            raise RowError("ends_at", self.ends_at, "ends_before_start", "a moment after the start")


@dataclass(frozen=True)
class QuoteRow:
    """What one seller offers for a limited time: a rental, a server, or a capacity block."""

    provider: str
    quote: str  # the seller's reference, or ours
    kind: QuoteKind
    item: str  # machine type or server model
    accelerator_name: str
    gpu_count: Decimal  # of one unit
    region: str
    zone: str
    units_min: Decimal | None
    units_max: Decimal | None
    starts_at: datetime | None
    ends_at: datetime | None
    term_months: Decimal | None
    price_per_hour: Decimal | None  # of one unit; None for a purchase
    price_per_unit: Decimal | None  # of one server; None for a rental
    upfront: Decimal | None  # total due at the start
    deposit: Decimal | None  # returned at the end
    take_or_pay_share: Decimal | None  # of the volume that is due whether used or not
    lead_time_days: Decimal | None
    warranty_years: Decimal | None
    power_w: Decimal | None  # of one unit
    currency: str
    quoted_on: date
    valid_until: date | None
    reference: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_named(self, "provider", "quote", "item", "accelerator_name")
        check_currency(self.currency)
        check_between("gpu_count", self.gpu_count, Decimal("0.001"), 1024)
        for name in ("units_min", "units_max"):
            check_between(name, getattr(self, name), 0, 10**7)
        for name in ("price_per_hour", "price_per_unit", "upfront", "deposit"):
            check_between(name, getattr(self, name), 0, MONEY_MOST)
        check_between("take_or_pay_share", self.take_or_pay_share, 0, 1)
        check_between("term_months", self.term_months, 0, 240)
        check_between("lead_time_days", self.lead_time_days, 0, 3_650)
        check_between("warranty_years", self.warranty_years, 0, 20)
        check_between("power_w", self.power_w, 0, 10**6)
        check_utc("starts_at", self.starts_at)
        check_utc("ends_at", self.ends_at)
        if self.valid_until and self.valid_until < self.quoted_on:
            raise RowError("valid_until", self.valid_until, "ends_before_start", "a day after the quote")
