"""What any source yields: frozen rows that refuse impossible values, and the ways a line can fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

Term = Literal["on_demand", "spot", "reserved_1y", "reserved_3y"]
Payment = Literal["", "no_upfront", "partial_upfront", "all_upfront"]
PriceState = Literal["priced", "not_sold", "reservation_only", "unknown"]
MAX_PRICE_PER_HOUR = Decimal(100_000)
PRICE_STEP = Decimal("0.000000001")
GPU_STEP = Decimal("0.001")
# above any machine and any fee there is, and within what the tables hold
_MOST_BESIDE_PRICE = {"upfront": Decimal(10**9), "vcpus": Decimal(100_000), "memory_gib": Decimal(10**7)}


# rules about the very text that says which fact a line states: which one is meant is then not known
KEY_IN_DOUBT = frozenset({"text_too_long", "text_unreadable"})


class RowError(Exception):
    """A line that breaks a rule: which column, which value, which rule, what would be right."""

    def __init__(self, column: str, value: object, rule: str, expected: str) -> None:
        super().__init__(f"{column}={value!r}: {rule}; expected {expected}")
        self.column, self.value, self.rule, self.expected = column, str(value)[:500], rule, expected


class OutOfScope(Exception):
    """A sound line that is not ours to keep, by the name of the reason."""

    def __init__(self, rule: str, column: str = "", value: object = "", expected: str = "") -> None:
        super().__init__(rule)
        self.rule, self.column, self.value, self.expected = rule, column, str(value)[:500], expected


class FileError(Exception):
    """A file that is not what it says. Nothing of it is stored."""

    def __init__(
        self, code: str, expected: str, *, line: int | None = None, column: str = "", value: object = ""
    ) -> None:
        place = f"line {line}: " if line else ""
        super().__init__(f"{place}{code}; expected {expected}")
        self.code, self.expected, self.line = code, expected, line
        self.column, self.value = column, str(value)[:500]


@dataclass(frozen=True)
class RawLine:
    """One record of a file as text, with the number of the line it starts on (from 1)."""

    line: int
    fields: Mapping[str, str]


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
        _aware("effective_from", self.effective_from)
        if len(self.currency) != 3 or not self.currency.isascii() or not self.currency.isupper():
            raise RowError("currency", self.currency, "currency_unknown", "three capitals such as USD")
        for name in ("provider", "sku", "region"):
            if not getattr(self, name):
                raise RowError(name, "", "empty", f"a {name}")


@dataclass(frozen=True)
class UtilizationRow:
    cluster: str
    pool: str
    gpu_type: str
    starts_at: datetime
    gpus_installed: Decimal | None
    gpus_available: Decimal | None
    gpus_allocated: Decimal | None
    gpus_pending: Decimal | None
    active_share: Decimal | None
    period_hours: Decimal = Decimal(1)

    def __post_init__(self) -> None:
        _aware("starts_at", self.starts_at)
        for name in ("gpus_installed", "gpus_available", "gpus_allocated", "gpus_pending"):
            value = getattr(self, name)
            if value is not None and not (value.is_finite() and 0 <= value <= 10_000_000):
                raise RowError(name, value, "gpus_out_of_bounds", "0 to 10,000,000, or empty when unknown")
        share = self.active_share
        if share is not None and not (share.is_finite() and 0 <= share <= 1):
            raise RowError("active_share", share, "share_out_of_bounds", "0 to 1, or empty when unknown")


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


Row = PriceRow | UtilizationRow | AcceleratorRow


@dataclass(frozen=True)
class FileInfo:
    """What a source learns of a file besides its lines.

    `as_of` is the date that the file states of itself, None if it states none. `params` is what the
    parser was told or found out for the whole file (provider, offer, cluster).
    """

    as_of: datetime | None
    params: Mapping[str, str]


def _aware(name: str, moment: datetime | None) -> None:
    if moment is not None and moment.utcoffset() != timedelta(0):
        raise RowError(name, moment, "time_not_utc", "a moment in UTC")
