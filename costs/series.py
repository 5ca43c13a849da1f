"""Write facts of which the newest statement counts: hours of use, and what accelerators are.

One statement moves the staged rows into their table, so that the write lock is held as short as can be.
"""

from . import bulk
from .counts import Counts
from .jobs import Claim
from .models import Accelerator, IngestRun, Utilization
from .rows import AcceleratorRow, UtilizationRow
from .rowtext import KEYS, NAMES


def write_hours(claim: Claim, run: IngestRun, total: int, *, is_sample: bool) -> Counts:
    """Insert hours that are new and change those that now read otherwise."""
    before = Utilization.objects.count()
    written = bulk.insert_staged(
        Utilization,
        (claim.job.pk, claim.token, run.pk),
        NAMES[UtilizationRow],
        {"source": "b.source", "scope": "s.scope", "batch_id": "b.id", "line": "s.line"},
        {"is_sample": is_sample},
        on_key=(*KEYS[UtilizationRow], "is_sample"),
    )
    added = Utilization.objects.count() - before
    return Counts(added=added, changed=written - added, unchanged=total - written)


def write_accelerators(claim: Claim, run: IngestRun, total: int) -> Counts:
    """Insert accelerators that are new and change those that now read otherwise.

    One that left the file stays: SKUs and scenarios may name it.
    """
    before = Accelerator.objects.count()
    written = bulk.insert_staged(
        Accelerator,
        (claim.job.pk, claim.token, run.pk),
        NAMES[AcceleratorRow],
        {"batch_id": "b.id"},
        {},
        on_key=KEYS[AcceleratorRow],
    )
    added = Accelerator.objects.count() - before
    return Counts(added=added, changed=written - added, unchanged=total - written)
