"""Give an accelerator one more spelling, and read again what was refused for want of it.

A spelling comes in as every fact does: as a file, here of one line, so that it has a run, can be checked
by the ledger and taken back.
"""

import csv
import io
import uuid
from collections.abc import Collection
from datetime import datetime

from . import jobs
from .models import IngestRun, Job
from .raw import store
from .sources import aliases
from .text import printable


def order_spelling(spelling: str, accelerator: str, note: str, *, requested_by: str, now: datetime) -> Job:
    """Queue the file that says which accelerator a spelling means."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([aliases.COLUMNS, (spelling, accelerator, note)])
    name = printable(f"spelling {spelling}.csv", 255)
    stored = store([out.getvalue().encode()], name, now)
    work = {"source": aliases.NAME, "raw": stored.sha256, "name": name, "params": {}}
    return jobs.enqueue("ingest", work, key=f"spelling:{uuid.uuid4()}", requested_by=requested_by, now=now)


def read_again(run_ids: Collection[int], *, requested_by: str, now: datetime) -> list[Job]:
    """Queue the files of runs once more, with the parameters they came with; return the jobs.

    A file whose bytes are no longer stored is left out: it must be loaded again.
    """
    runs = IngestRun.objects.filter(pk__in=run_ids).select_related("job", "raw").order_by("pk")
    return [
        jobs.enqueue(
            "ingest",
            {
                "source": run.source,
                "raw": run.raw.sha256,
                "name": run.origin,
                "params": run.job.params["params"],
            },
            key=f"again:{run.pk}:{now.isoformat()}",
            requested_by=requested_by,
            now=now,
        )
        for run in runs
        if run.raw is not None
    ]
