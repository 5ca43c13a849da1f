from .jobs import Batch, IngestRun, Job, RawObject, RejectedRow, StagedRow
from .prices import Accelerator, Price, Sku
from .utilization import Utilization

__all__ = [
    "Accelerator",
    "Batch",
    "IngestRun",
    "Job",
    "Price",
    "RawObject",
    "RejectedRow",
    "Sku",
    "StagedRow",
    "Utilization",
]
