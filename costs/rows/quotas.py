"""What a provider allows an account to run, and what was asked of it. A quota is permission, not capacity."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from .errors import RowError, check_between, check_named, check_utc

Purchase = Literal["on_demand", "spot", "committed", "any"]
QuotaUnit = Literal["vcpu", "gpu", "core", "instance", "host", "chip", "other"]
RequestStatus = Literal["open", "granted", "partly_granted", "denied", "cancelled"]
MOST = Decimal(10**12)


@dataclass(frozen=True)
class QuotaRow:
    """One limit of one account in one region, in the provider's own unit."""

    provider: str
    account: str  # "" where the file does not say
    region: str  # "global" for a limit over all regions
    code: str  # AWS L-417A185B, Azure standardNDSH100v5Family, GCP NVIDIA_H100_GPUS
    name: str
    bucket: str  # what counts against it: "P", "G and VT", an accelerator's slug, "" for what is not GPUs
    purchase: Purchase
    unit: QuotaUnit
    limit: Decimal | None  # None: unlimited where `is_unlimited`, else unknown
    is_unlimited: bool
    used: Decimal | None
    default_limit: Decimal | None  # what a new account gets
    is_adjustable: bool | None
    usage_metric: str = ""  # where the provider publishes use of it
    reference: str = ""

    def __post_init__(self) -> None:
        check_named(self, "provider", "region", "code", "name")
        for name in ("limit", "used", "default_limit"):
            check_between(name, getattr(self, name), 0, MOST)
        if self.is_unlimited and self.limit is not None:
            raise RowError("limit", self.limit, "limit_of_unlimited", "no number where there is no limit")


@dataclass(frozen=True)
class QuotaRequestRow:
    """One request to raise a limit, as it stands."""

    provider: str
    account: str
    region: str
    code: str
    request: str  # the provider's id of it, or ours
    name: str
    asked: Decimal
    status: RequestStatus
    requested_at: datetime
    decided_at: datetime | None
    granted: Decimal | None
    case: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        check_named(self, "provider", "region", "code", "request")
        check_between("asked", self.asked, 0, MOST)
        check_between("granted", self.granted, 0, MOST)
        check_utc("requested_at", self.requested_at)
        check_utc("decided_at", self.decided_at)
        if self.decided_at is not None and self.decided_at < self.requested_at:
            raise RowError(
                "decided_at", self.decided_at, "decided_before_asked", "a moment after the request"
            )
