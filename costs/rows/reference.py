"""What things are: accelerators, machine types, spellings, zones, exchange rates."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from .errors import RowError, check_between, check_currency, check_named


@dataclass(frozen=True)
class AcceleratorRow:
    slug: str
    name: str
    vendor: str
    form_factor: str
    memory_gb: Decimal | None
    memory_bandwidth_gb_s: Decimal | None
    power_w: Decimal | None
    link_gb_s_per_direction: Decimal | None
    fp32_tflops: Decimal | None
    tf32_tflops: Decimal | None
    fp16_tflops: Decimal | None
    bf16_tflops: Decimal | None
    fp8_tflops: Decimal | None
    int8_tops: Decimal | None
    fp4_tflops: Decimal | None
    launch_date: date | None
    reference: str
    reference_date: date | None
    aliases: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True)
class MachineTypeRow:
    """One machine type as its provider states it: the table that counts and quotas are held against."""

    provider: str
    name: str
    accelerator: str  # slug
    gpu_count: Decimal
    vcpus: Decimal | None
    memory_gib: Decimal | None
    quota_on_demand: str  # code of the quota bucket that a running machine counts against, "" unknown
    quota_spot: str
    reference: str
    reference_date: date | None

    def __post_init__(self) -> None:
        check_named(self, "provider", "name", "accelerator", "reference")
        check_between("gpu_count", self.gpu_count, Decimal("0.001"), 1024)
        check_between("vcpus", self.vcpus, 0, 100_000)
        check_between("memory_gib", self.memory_gib, 0, 10**7)


@dataclass(frozen=True)
class AliasRow:
    """A spelling that a provider uses for an accelerator of the table."""

    spelling: str
    accelerator: str  # slug
    note: str = ""

    def __post_init__(self) -> None:
        check_named(self, "spelling", "accelerator")


@dataclass(frozen=True)
class ZoneRow:
    """What one account calls a zone, and the zone's own id. AWS shuffles the names per account."""

    provider: str
    account: str
    region: str
    zone_name: str
    zone_id: str

    def __post_init__(self) -> None:
        check_named(self, "provider", "region", "zone_name", "zone_id")


@dataclass(frozen=True)
class FxRateRow:
    """How many units of a currency one euro bought on a day, as the European Central Bank states it."""

    currency: str
    on: date
    per_euro: Decimal

    def __post_init__(self) -> None:
        check_currency(self.currency)
        if not (self.per_euro.is_finite() and 0 < self.per_euro <= 10**9):
            raise RowError("per_euro", self.per_euro, "rate_out_of_bounds", "above 0")
