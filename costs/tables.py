"""Which table holds the facts of which row."""

from django.db import models

from . import rows
from .models import (
    Accelerator,
    Alias,
    Commitment,
    FxRate,
    Interruption,
    MachineType,
    Price,
    Quota,
    QuotaRequest,
    Quote,
    SpotCapacity,
    SpotPrice,
    Utilization,
    Zone,
)

TABLES: dict[type, type[models.Model]] = {
    rows.PriceRow: Price,
    rows.UtilizationRow: Utilization,
    rows.AcceleratorRow: Accelerator,
    rows.MachineTypeRow: MachineType,
    rows.AliasRow: Alias,
    rows.ZoneRow: Zone,
    rows.FxRateRow: FxRate,
    rows.SpotPriceRow: SpotPrice,
    rows.SpotCapacityRow: SpotCapacity,
    rows.InterruptionRow: Interruption,
    rows.QuotaRow: Quota,
    rows.QuotaRequestRow: QuotaRequest,
    rows.CommitmentRow: Commitment,
    rows.QuoteRow: Quote,
}
