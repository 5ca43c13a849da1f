from .commitments import Commitment, Quote
from .jobs import Batch, IngestRun, Job, RawObject, RejectedRow, StagedRow
from .prices import Accelerator, Price, Sku
from .quarantine import QuarantinedFact
from .quotas import Quota, QuotaRequest
from .reference import Alias, FxRate, MachineType, Zone
from .schedules import Schedule
from .spot import Interruption, SpotCapacity, SpotPrice
from .utilization import Utilization

__all__ = [
    "Accelerator",
    "Alias",
    "Batch",
    "Commitment",
    "FxRate",
    "IngestRun",
    "Interruption",
    "Job",
    "MachineType",
    "Price",
    "QuarantinedFact",
    "Quota",
    "QuotaRequest",
    "Quote",
    "RawObject",
    "RejectedRow",
    "Schedule",
    "Sku",
    "SpotCapacity",
    "SpotPrice",
    "StagedRow",
    "Utilization",
    "Zone",
]
