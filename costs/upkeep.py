"""The tick: what keeps the queue moving and the stores tidy. Any process may run it, at any time, twice."""

import logging
from datetime import datetime

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from .jobs import requeue_expired, resend_hints
from .models import IngestRun, Job, StagedRow
from .raw import drop_unused
from .schedule import create_due

log = logging.getLogger("costs.upkeep")


def tick(now: datetime) -> None:
    """Create what is due, take back what fell silent, send hints again, clear what nobody needs."""
    create_due(now)
    taken_back = requeue_expired()
    resend_hints()
    runs, rows, files = close_left_runs(), drop_orphan_staging(), drop_unused(now)
    if taken_back or runs or rows or files:
        log.info(
            "tick: %s jobs taken back, %s runs closed, %s staged rows and %s stored files dropped",
            taken_back, runs, rows, files,
        )  # fmt: skip


def close_left_runs() -> int:
    """Close runs whose job has ended without them: its workers died, or it was cancelled between two."""
    closed = 0
    for run in IngestRun.objects.filter(status=IngestRun.Status.RUNNING, job__status__in=Job.TERMINAL):
        cancelled = run.job.status == Job.Status.CANCELLED
        closed += IngestRun.objects.filter(pk=run.pk, status=IngestRun.Status.RUNNING).update(
            status=IngestRun.Status.CANCELLED if cancelled else IngestRun.Status.FAILED,
            finished_at=Now(),
            error_code=run.job.error_code,
            message=run.job.message,
        )
    return closed


def drop_orphan_staging() -> int:
    """Delete staged rows that no running worker will publish."""
    holder = Job.objects.filter(
        pk=OuterRef("job"), status=Job.Status.RUNNING, lease_token=OuterRef("lease_token")
    )
    dropped, _ = StagedRow.objects.annotate(is_held=Exists(holder)).filter(is_held=False).delete()
    return dropped
