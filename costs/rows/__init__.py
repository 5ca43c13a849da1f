"""What any source yields: frozen rows that refuse impossible values, and the ways a line can fail."""

from .commitments import CommitmentKind, CommitmentRow, QuoteKind, QuoteRow
from .errors import KEY_IN_DOUBT, FileError, FileInfo, OutOfScope, RawLine, RowError
from .prices import GPU_STEP, MAX_PRICE_PER_HOUR, PRICE_STEP, Payment, PriceRow, PriceState, Term
from .quotas import Purchase, QuotaRequestRow, QuotaRow, QuotaUnit, RequestStatus
from .reference import AcceleratorRow, AliasRow, FxRateRow, MachineTypeRow, ZoneRow
from .spot import InterruptionRow, SpotCapacityRow, SpotPriceRow, ZoneKind
from .utilization import UtilizationRow

Row = (
    PriceRow
    | UtilizationRow
    | AcceleratorRow
    | SpotPriceRow
    | SpotCapacityRow
    | InterruptionRow
    | QuotaRow
    | QuotaRequestRow
    | CommitmentRow
    | QuoteRow
    | MachineTypeRow
    | AliasRow
    | ZoneRow
    | FxRateRow
)


__all__ = [
    "GPU_STEP", "KEY_IN_DOUBT", "MAX_PRICE_PER_HOUR", "PRICE_STEP", "AcceleratorRow", "AliasRow",
    "CommitmentKind", "CommitmentRow", "FileError", "FileInfo", "FxRateRow", "InterruptionRow",
    "MachineTypeRow", "OutOfScope", "Payment", "PriceRow", "PriceState", "Purchase", "QuotaRequestRow",
    "QuotaRow", "QuotaUnit", "QuoteKind", "QuoteRow", "RawLine", "RequestStatus", "Row", "RowError",
    "SpotCapacityRow", "SpotPriceRow", "Term", "UtilizationRow", "ZoneKind", "ZoneRow",
]  # fmt: skip
