"""Write facts of which the newest statement counts: hours of use, what things are, exchange rates.

One statement moves the staged rows into their table, so that the write lock is held as short as can be.
"""

from . import bulk
from .counts import Counts
from .jobs import Claim
from .models import IngestRun, Utilization
from .rowtext import KEYS, NAMES
from .tables import TABLES


def write_series(kind: type, claim: Claim, run: IngestRun, total: int, *, is_sample: bool) -> Counts:
    """Insert facts that are new and change those that now read otherwise.

    One that left the file stays: an hour was measured, and SKUs and scenarios may name an accelerator.
    """
    model = TABLES[kind]
    of_use = model is Utilization
    origin = {"source": "b.source", "scope": "s.scope", "batch_id": "b.id", "line": "s.line"}
    before = model._default_manager.count()
    written = bulk.insert_staged(
        model,
        (claim.job.pk, claim.token, run.pk),
        NAMES[kind],
        origin if of_use else {"batch_id": "b.id"},
        {"is_sample": is_sample} if of_use else {},
        on_key=(*KEYS[kind], "is_sample") if of_use else KEYS[kind],
    )
    added = model._default_manager.count() - before
    return Counts(added=added, changed=written - added, unchanged=total - written)
