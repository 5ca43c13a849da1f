"""What spot capacity cost and whether there was any. Each row is one observation of a step function."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from .errors import RowError, check_between, check_currency, check_named, check_utc
from .prices import MAX_PRICE_PER_HOUR, PRICE_STEP

ZoneKind = Literal["id", "name", "region"]


@dataclass(frozen=True)
class SpotPriceRow:
    """The spot price of one machine type in one zone at one moment.

    A zone is an id that means the same for everybody ("use1-az6"), or a name that one account knows it by
    ("us-east-1a"): `zone_kind` says which, and the two are never compared without a mapping.
    """

    provider: str
    sku: str
    region: str
    zone: str
    zone_kind: ZoneKind
    account: str  # whose zone names these are; "" where zones are ids, or the account is not known
    product: str  # operating system as the provider writes it: Linux/UNIX, Windows, …
    observed_at: datetime
    price_per_hour: Decimal
    currency: str = "USD"

    def __post_init__(self) -> None:
        check_named(self, "provider", "sku", "region", "zone", "product")
        check_utc("observed_at", self.observed_at)
        check_currency(self.currency)
        price = self.price_per_hour
        if not (price.is_finite() and PRICE_STEP <= price <= MAX_PRICE_PER_HOUR):
            raise RowError("price", price, "price_out_of_bounds", f"above 0 and at most {MAX_PRICE_PER_HOUR}")


@dataclass(frozen=True)
class SpotCapacityRow:
    """How many spot machines could be had, or kept, in one zone at one moment of a measured trace."""

    provider: str
    trace: str  # name of the measurement: traces of one zone at one time are not one series
    region: str
    zone: str
    accelerator_name: str
    gpu_count: Decimal  # of one machine
    nodes_wanted: Decimal | None  # None: as many as could be had
    measures: Literal["availability", "preemption"]
    observed_at: datetime
    nodes: Decimal

    def __post_init__(self) -> None:
        check_named(self, "provider", "trace", "zone", "accelerator_name")
        check_utc("observed_at", self.observed_at)
        check_between("gpu_count", self.gpu_count, Decimal("0.001"), 1024)
        check_between("nodes_wanted", self.nodes_wanted, 0, 100_000)
        check_between("nodes", self.nodes, 0, 100_000)


@dataclass(frozen=True)
class InterruptionRow:
    """What a provider publishes about interruptions of one machine type in one region.

    The band is a share of machines interrupted in the month before, no hazard rate: see docs/model.md.
    """

    provider: str
    sku: str
    region: str
    product: str
    band: int  # 0 is the lowest
    band_label: str  # as published: "<5%"
    share_low: Decimal
    share_high: Decimal | None  # None: the top band has no end
    saving_share: Decimal | None  # of the on-demand price

    def __post_init__(self) -> None:
        check_named(self, "provider", "sku", "region", "product", "band_label")
        check_between("share_low", self.share_low, 0, 1)
        check_between("share_high", self.share_high, 0, 1)
        check_between("saving_share", self.saving_share, -10, 1)
