"""The queue of record: enqueue, claim, progress, finish. The only writer of Job.

A worker holds a job by a lease on the database's clock and a token. The token is the fence: a worker that
slept past its lease changes nothing, because its writes match no row. A Celery message is a hint that may
be lost or come twice; the tick sends it again.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import current_app
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from .models import Job, StagedRow
from .rows import FileError

log = logging.getLogger("costs.jobs")

# Set by a worker that was told to stop: the job in hand goes back to the queue at its next chunk
STOP = threading.Event()
RETRY_SECONDS = 2.0  # doubled with every attempt


class LeaseLost(Exception):
    """Another worker holds the job now; nothing of ours may be written."""


class Cancelled(Exception):
    """Somebody asked for the job to end."""


class HandedBack(Exception):
    """This worker is stopping; the job goes back to the queue."""


class TryAgain(Exception):
    """Something outside failed and may work later: the network, a provider."""


class KeyTaken(Exception):
    """The key is in use for other work."""


@dataclass
class Claim:
    """A job that this process holds, and the token that proves it."""

    job: Job
    token: uuid.UUID
    on_progress: Callable[[str, int, int | None], None] | None = None
    attempts_allowed: int = settings.JOB_MAX_ATTEMPTS
    phase: str = ""
    renewed_at: float = field(default_factory=time.monotonic)

    @property
    def is_last_attempt(self) -> bool:
        return self.job.attempts >= self.attempts_allowed

    @property
    def params(self) -> Mapping[str, Any]:
        params: dict[str, Any] = self.job.params
        return params


# enqueue and cancel: what pages and commands call


def enqueue(
    kind: str,
    params: Mapping[str, Any],
    *,
    key: str,
    requested_by: str,
    now: datetime,
    run_after: datetime | None = None,
) -> Job:
    """Put work in the queue and return its job; the same key again returns the job that is there."""
    if kind not in settings.JOB_KINDS:
        raise ValueError(f"{kind!r} is no kind of job; there are {', '.join(sorted(settings.JOB_KINDS))}")
    job = Job(key=key, kind=kind, params=dict(params), requested_by=requested_by, created_at=now)
    # the database's clock, as in claim: with another clock a new job could lie still or jump ahead
    job.run_after = run_after or Now()
    Job.objects.bulk_create([job], ignore_conflicts=True)
    stored = Job.objects.get(key=key)
    if stored.kind != kind or (not is_same(stored.params, params)):
        raise KeyTaken(f"the key {key!r} stands for other work")
    if not stored.is_terminal and stored.hinted_at is None:
        transaction.on_commit(partial(send_hint, stored.pk))
    return stored


def is_same(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Return whether a job's parameters are those asked for, less what a worker noted among them."""
    return {k: v for k, v in stored.items() if k not in ("fetched", "pieces")} == dict(asked)


def start(kind: str, params: Mapping[str, Any], *, key: str, requested_by: str, now: datetime) -> Claim:
    """Make a job that this process holds from its first moment: no worker gets it unless we die."""
    with transaction.atomic():
        job = Job.objects.create(
            key=key,
            kind=kind,
            params=dict(params),
            requested_by=requested_by,
            created_at=now,
            run_after=Now(),
        )
        claimed = claim(job.pk)
    if claimed is None:  # nobody else sees the row before the commit
        raise RuntimeError(f"job {job.pk} was taken while it was made")
    claimed.attempts_allowed = 1  # who waits for it wants the answer, not a second try
    return claimed


def send_hint(job_id: int) -> bool:
    """Tell Celery that a job waits; a broker that is away costs nothing, the tick asks again."""
    if not settings.REDIS_URL:
        return False
    try:
        current_app.send_task("costs.tasks.run_job", args=[job_id])
    except (BrokerError, RedisError, OSError) as error:
        log.warning("job %s stays queued, the broker does not answer: %s", job_id, error)
        return False
    Job.objects.filter(pk=job_id, status=Job.Status.QUEUED).update(hinted_at=Now())
    return True


def cancel(job_id: int) -> None:
    """Ask a job to end: at once when it waits, at its next chunk when it runs."""
    Job.objects.filter(pk=job_id, status=Job.Status.QUEUED).update(
        cancel_requested=True, status=Job.Status.CANCELLED, finished_at=Now(), message="cancelled"
    )
    Job.objects.filter(pk=job_id, status=Job.Status.RUNNING).update(cancel_requested=True)


# claim, progress and finish: what a worker calls


def lease() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_SECONDS)


def claim(job_id: int | None = None) -> Claim | None:
    """Take a job, the given one or the one that waits longest; None when there is none to take."""
    waiting = Job.objects.filter(
        Q(status=Job.Status.QUEUED, run_after__lte=Now())
        | Q(status=Job.Status.RUNNING, lease_until__lt=Now()),
        attempts__lt=settings.JOB_MAX_ATTEMPTS,
        cancel_requested=False,
    )
    found = [job_id] if job_id is not None else waiting.order_by("run_after", "pk").values_list("pk")[:5]
    for pk in [row[0] if isinstance(row, tuple) else row for row in found]:
        token = uuid.uuid4()
        taken = waiting.filter(pk=pk).update(
            status=Job.Status.RUNNING,
            lease_token=token,
            lease_until=Now() + lease(),
            attempts=F("attempts") + 1,
            phase="",
            done_units=0,
            total_units=None,
        )
        if taken:
            return Claim(Job.objects.get(pk=pk), token)
    return None


def _mine(claim: Claim) -> Any:
    return Job.objects.filter(pk=claim.job.pk, lease_token=claim.token, status=Job.Status.RUNNING)


def renew(claim: Claim, phase: str, done: int, total: int | None) -> None:
    """Renew the lease and note progress; raise when the job is no longer ours to go on with."""
    if STOP.is_set():
        raise HandedBack
    renewed = (
        _mine(claim)
        .filter(cancel_requested=False)
        .update(lease_until=Now() + lease(), phase=phase, done_units=max(done, 0), total_units=total)
    )
    if not renewed:
        raise (Cancelled if _mine(claim).exists() else LeaseLost)
    claim.phase, claim.renewed_at = phase, time.monotonic()
    if claim.on_progress:
        claim.on_progress(phase, done, total)


def progress(claim: Claim, phase: str, done: int, total: int | None = None) -> None:
    """Renew the lease and note progress, at most once in JOB_PROGRESS_SECONDS within a phase."""
    pause = min(settings.JOB_PROGRESS_SECONDS, settings.JOB_LEASE_SECONDS / 4)
    if phase != claim.phase or time.monotonic() - claim.renewed_at >= pause:
        renew(claim, phase, done, total)


def lock(claim: Claim) -> None:
    """Hold the job's row until the transaction ends; raise when it is not ours or was cancelled.

    SQLite has no row locks: there the transaction holds the one write lock since its BEGIN IMMEDIATE.
    """
    job = _mine(claim).select_for_update().first()
    if job is None:
        raise LeaseLost
    if job.cancel_requested:
        raise Cancelled


def remember(claim: Claim, **notes: Any) -> None:
    """Note something in the job's parameters for the worker that may take it over."""
    params = {**claim.job.params, **notes}
    if not _mine(claim).update(params=params):
        raise LeaseLost
    claim.job.params = params


def finish(claim: Claim, status: str = Job.Status.DONE, message: str = "", error_code: str = "") -> None:
    """Close the job; inside a transaction this fences it: LeaseLost undoes what was written with it."""
    closed = _mine(claim).update(
        status=status, message=message, error_code=error_code, finished_at=Now(), lease_token=None,
        lease_until=None,
    )  # fmt: skip
    if not closed:
        raise LeaseLost


def fail(claim: Claim, error_code: str, message: str) -> None:
    finish(claim, Job.Status.FAILED, message, error_code)


def hand_back(claim: Claim) -> None:
    """Put the job back unharmed: the attempt does not count."""
    _mine(claim).update(
        status=Job.Status.QUEUED, lease_token=None, lease_until=None, hinted_at=None, run_after=Now(),
        attempts=F("attempts") - 1,
    )  # fmt: skip


def retry(claim: Claim, reason: str) -> None:
    """Put the job back for later, or fail it when its attempts are used up."""
    if claim.is_last_attempt:
        fail(claim, "attempts_used_up", f"given up after attempt {claim.job.attempts}: {reason}")
        return
    pause = timedelta(seconds=min(RETRY_SECONDS * 2**claim.job.attempts, settings.JOB_LEASE_SECONDS))
    _mine(claim).update(
        status=Job.Status.QUEUED, lease_token=None, lease_until=None, hinted_at=None, run_after=Now() + pause,
        message=reason,
    )  # fmt: skip


# run: what both workers do with a job


def run(claim: Claim) -> None:
    """Run a claimed job to its end and write one line about it to the log."""
    began = time.monotonic()
    try:
        import_string(settings.JOB_KINDS[claim.job.kind])(claim)
        if _mine(claim).exists():
            finish(claim)
    except LeaseLost:
        log.warning("job %s: LEASE_LOST, another worker has it", claim.job.pk)
        return
    except HandedBack:
        hand_back(claim)
    except Cancelled:
        finish(claim, Job.Status.CANCELLED, "cancelled")
    except FileError as error:
        fail(claim, error.code, str(error))
    except SoftTimeLimitExceeded:
        fail(claim, "took_too_long", "stopped at the time limit of one job")
    except (OperationalError, InterfaceError, OSError, TryAgain) as error:
        log.warning("job %s: attempt %s failed: %s", claim.job.pk, claim.job.attempts, error)
        retry(claim, str(error) or type(error).__name__)
    except Exception as error:
        if _mine(claim).filter(cancel_requested=True).exists():
            finish(claim, Job.Status.CANCELLED, "cancelled")
        else:
            # not known to pass by itself: no second try
            log.exception("job %s failed", claim.job.pk)
            fail(claim, "unexpected", f"{type(error).__name__}: {error}")
    finally:
        StagedRow.objects.filter(job=claim.job.pk, lease_token=claim.token).delete()
    job = Job.objects.get(pk=claim.job.pk)
    log.info("job %s %s: %s in %.1f s %s", job.pk, job.key, job.status, time.monotonic() - began, job.message)


# what the tick repairs, whichever process runs it


def requeue_expired() -> int:
    """Put jobs whose worker fell silent back into the queue; end the cancelled and the hopeless."""
    silent = Job.objects.filter(status=Job.Status.RUNNING, lease_until__lt=Now())
    ended = {"finished_at": Now(), "lease_token": None, "lease_until": None}
    silent.filter(cancel_requested=True).update(status=Job.Status.CANCELLED, message="cancelled", **ended)
    silent.filter(attempts__gte=settings.JOB_MAX_ATTEMPTS).update(
        status=Job.Status.FAILED,
        error_code="attempts_used_up",
        message=f"given up after {settings.JOB_MAX_ATTEMPTS} attempts: each time its worker died or hung",
        **ended,
    )
    return silent.update(
        status=Job.Status.QUEUED, lease_token=None, lease_until=None, hinted_at=None, run_after=Now()
    )


def resend_hints() -> int:
    """Send the message about waiting jobs again: it may be lost, and twice does no harm."""
    if not settings.REDIS_URL:
        return 0
    old = Now() - timedelta(seconds=settings.JOB_HINT_SECONDS)
    waiting = Job.objects.filter(
        Q(hinted_at=None) | Q(hinted_at__lt=old), status=Job.Status.QUEUED, run_after__lte=Now()
    )
    sent = 0
    for pk in waiting.order_by("run_after", "pk").values_list("pk", flat=True)[:1_000]:
        if not send_hint(pk):
            break  # the broker is away: no use in asking for every job
        sent += 1
    return sent
