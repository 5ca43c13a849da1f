"""What the fleet really did."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from .errors import RowError, check_utc


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
        check_utc("starts_at", self.starts_at)
        for name in ("gpus_installed", "gpus_available", "gpus_allocated", "gpus_pending"):
            value = getattr(self, name)
            if value is not None and not (value.is_finite() and 0 <= value <= 10_000_000):
                raise RowError(name, value, "gpus_out_of_bounds", "0 to 10,000,000, or empty when unknown")
        share = self.active_share
        if share is not None and not (share.is_finite() and 0 <= share <= 1):
            raise RowError("active_share", share, "share_out_of_bounds", "0 to 1, or empty when unknown")
