"""The one path of facts into the tables: fetch, stage, check, publish. The only writer of fact tables.

The schedule, the shell and an upload all come through here. A file is taken as a whole in one transaction
or not at all; what is left of one that was not is its run record.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import ModuleType

from django.db import transaction
from django.utils import timezone

from . import jobs
from .counts import Counts
from .fetching import PASSING, files_of
from .inspection import Inspected, Inspection, current_batches
from .jobs import Cancelled, Claim, HandedBack, TryAgain
from .judge import Fact
from .models import Batch, IngestRun, Job, RawObject, StagedRow, Utilization
from .publish import Summary, facts_of, serialize, summarize, write
from .quarantine import supersede
from .raw import blocks, store
from .rows import FileError
from .sources import SOURCES
from .staging import Stage, Staged
from .summary import changes, failure, sentence
from .text import printable

Status = IngestRun.Status
MOST_LOOKS = 5  # at one file, where others of its scopes are published meanwhile


class Repeat(Exception):
    """The file would change nothing that its own earlier publication has not written."""


def ingest(
    source: str,
    *,
    file: Path | None,
    name: str,
    params: Mapping[str, str],
    requested_by: str,
    now: datetime,
    on_progress: Callable[[str, int, int | None], None] | None = None,
) -> IngestRun:
    """Take a file, or fetch the source's own, in this process; return its run (the last of several).

    Should this process die, a worker finishes the job.
    """
    sha256 = None
    if file is not None:
        with file.open("rb") as opened:
            sha256 = store(blocks(opened), name, now).sha256
    claim = jobs.start(
        "ingest",
        {"source": source, "raw": sha256, "name": name, "params": dict(params)},
        key=f"shell:{source}:{uuid.uuid4()}",
        requested_by=requested_by,
        now=now,
    )
    claim.on_progress = on_progress
    try:
        jobs.run(claim)
    except KeyboardInterrupt:
        # who stops it here does not want a worker to go on with it
        for left in claim.job.runs.filter(status=Status.RUNNING):
            _end(left, Status.CANCELLED, "stopped at the keyboard")
        jobs.finish(claim, Job.Status.CANCELLED, "stopped at the keyboard")
        raise
    job = Job.objects.get(pk=claim.job.pk)
    run = job.runs.order_by("pk").last()
    if not job.is_terminal and jobs.STOP.is_set():
        raise HandedBack  # this process stops: a worker goes on with the file
    if not job.is_terminal or run is None:
        raise TryAgain(job.message or f"{name or source}: a worker has taken this over")
    return run


def run_ingest(claim: Claim) -> None:
    """Take the job's file, or all files that its source fetches, and publish them."""
    _run(claim, publish=True)


def run_preview(claim: Claim) -> None:
    """Check the job's file and count what publishing it would do, without doing it."""
    _run(claim, publish=False)


def remove_sample() -> dict[str, int]:
    """Remove every fact with the sample mark and the record of where it came from."""
    for job in Job.objects.filter(kind__in=("ingest", "preview"), params__params__sample="1"):
        jobs.cancel(job.pk)
    with transaction.atomic():
        serialize()
        hours, _ = Utilization.objects.filter(is_sample=True).delete()
        batches = Batch.objects.filter(params__sample="1")
        count = batches.count()
        batches.delete()
        runs = IngestRun.objects.filter(job__params__params__sample="1").exclude(status=Status.RUNNING)
        runs.delete()
    return {"utilization": hours, "batches": count}


def _run(claim: Claim, *, publish: bool) -> None:
    name = claim.params["source"]
    source = SOURCES.get(name)
    if source is None:
        raise FileError("source_unknown", f"one of {', '.join(sorted(SOURCES))}", value=name)
    try:
        files = files_of(claim, source)
    except FileError as error:
        _fail(claim, _open_run(claim, None, source.TITLE), error, last=True)
        return
    except (TryAgain, OSError) as error:
        if claim.is_last_attempt:
            _end(_open_run(claim, None, source.TITLE), Status.FAILED, str(error), "attempts_used_up")
        raise
    for position, (raw, origin) in enumerate(files):
        run = _open_run(claim, raw, origin)
        if run.status == Status.RUNNING:
            _take(claim, run, source, raw, publish=publish, last=position == len(files) - 1)


def _open_run(claim: Claim, raw: RawObject | None, origin: str) -> IngestRun:
    """Return the job's run of this file: a worker that takes over goes on with the same record."""
    with transaction.atomic():
        jobs.lock(claim)
        run, _ = IngestRun.objects.get_or_create(
            job=claim.job,
            raw=raw,
            origin=origin,
            defaults={"source": claim.params["source"], "started_at": timezone.now()},
        )
    return run


def _take(
    claim: Claim, run: IngestRun, source: ModuleType, raw: RawObject, *, publish: bool, last: bool
) -> None:
    """Take one file, or close its run with the reason why not."""
    try:
        if publish and _is_published(run, source, raw):
            raise Repeat
        for _ in range(MOST_LOOKS):
            staged = Stage(claim, run, source, raw).take()
            inspected = Inspection(claim, run, source, staged).look()
            try:
                return _publish(claim, run, source, staged, inspected, publish=publish, last=last)
            except Moved:
                continue
        raise TryAgain(f"{run.origin}: other files of its scopes are being published all the time")
    except Repeat:
        with transaction.atomic():
            jobs.lock(claim)
            run.quarantined.all().delete()  # the run that published them asks already
            message = "these bytes were published before: nothing to do"
            _close(claim, run, Status.DUPLICATE, message, last=last)
    except FileError as error:
        _fail(claim, run, error, last=last)
    except Cancelled:
        _end(run, Status.CANCELLED, "cancelled")
        raise
    except PASSING:
        raise
    except Exception as error:
        _end(run, Status.FAILED, f"{run.origin}: {type(error).__name__}: {error}", "unexpected")
        raise


def _is_published(run: IngestRun, source: ModuleType, raw: RawObject) -> bool:
    """Return whether a run without refused lines published these bytes, and they are still current.

    After refused lines the file is read again: the accelerator that was unknown then may be known now.
    """
    batches = Batch.objects.filter(
        source=run.source,
        raw=raw,
        parser_version=source.PARSER_VERSION,
        params=run.job.params["params"],
        run__status=Status.DONE,
        run__origin=run.origin,  # another name may mean another provider, or another date
        undone_at=None,
    )
    last = batches.order_by("pk").last()
    return last is not None and not last.run.batches.filter(is_current=False).exists()


def _publish(
    claim: Claim,
    run: IngestRun,
    source: ModuleType,
    staged: Staged,
    inspected: Inspected,
    *,
    publish: bool,
    last: bool,
) -> None:
    staged.held |= inspected.held
    jobs.progress(claim, "check", 0, run.facts)
    run.as_of = staged.as_of
    summaries = summarize(staged.kind, _watched(claim, run, facts_of(claim)))
    summaries |= {scope: Summary() for scope in inspected.vanished}
    run.scope = _scope_line(list(summaries))
    jobs.renew(claim, "publish", 0, run.facts)
    try:
        with transaction.atomic():
            jobs.lock(claim)
            serialize()
            if _has_moved(run, inspected):
                raise Moved
            counts = write(claim, run, source, staged, summaries, timezone.now())
            if publish and not counts.touched and _was_published(run, source):
                raise Repeat
            _note(run, counts, staged, publish=publish)
            if not publish:
                raise _Undo
            StagedRow.objects.filter(job=claim.job.pk).delete()
            supersede(run, {*summaries, *inspected.held_scopes})
            is_whole = run.facts or inspected.vanished
            status = Status.PARTIAL if _has_wrong(run) or not is_whole else Status.DONE
            _close(claim, run, status, f"{sentence(run)}; {changes(run)}", last=last)
    except _Undo:
        with transaction.atomic():
            jobs.lock(claim)
            message = f"{sentence(run)}; publishing would give: {changes(run)}"
            _close(claim, run, Status.PREVIEWED, message, last=last)


def _watched(claim: Claim, run: IngestRun, facts: Iterator[Fact]) -> Iterator[Fact]:
    """Yield the facts and hold on to the job meanwhile."""
    for count, fact in enumerate(facts):
        if count % 1_000 == 0:
            jobs.progress(claim, "check", count, run.facts)
        yield fact


def _has_moved(run: IngestRun, inspected: Inspected) -> bool:
    """Return whether a scope is no longer as it was when the file was held against it."""
    now = {scope: batch.pk for scope, batch in current_batches(run.source).items()}
    return any(now.get(scope) != stood for scope, stood in inspected.stood.items())


class Moved(Exception):
    """Another file of one of the scopes was published since this one was inspected."""


class _Undo(Exception):
    """Leave the transaction without keeping what it wrote."""


def _note(run: IngestRun, counts: Counts, staged: Staged, *, publish: bool) -> None:
    run.added, run.changed, run.unchanged = counts.added, counts.changed, counts.unchanged
    run.closed, run.held = counts.closed, counts.held
    run.sample_rows = [] if publish else staged.sample_rows


def _has_wrong(run: IngestRun) -> bool:
    return run.quarantined.exists() or run.rejected.filter(kind="wrong").exists()


def _was_published(run: IngestRun, source: ModuleType) -> bool:
    """Return whether these bytes gave a batch before this run."""
    earlier = Batch.objects.filter(
        source=run.source,
        raw=run.raw,
        params=run.job.params["params"],
        parser_version=source.PARSER_VERSION,
        undone_at=None,
    )
    return earlier.exclude(run=run).exists()


def _scope_line(scopes: list[str]) -> str:
    line = ", ".join(sorted(scopes))
    return line if len(line) <= 120 else f"{len(scopes)} scopes"


def _fail(claim: Claim, run: IngestRun, error: FileError, *, last: bool) -> None:
    with transaction.atomic():
        jobs.lock(claim)
        StagedRow.objects.filter(job=claim.job.pk).delete()
        run.error_code = error.code
        run.error = {
            "line": error.line,
            "column": printable(error.column, 120),
            "value": printable(error.value, 500),
            "rule": error.code,
            "expected": error.expected,
        }
        _close(claim, run, Status.FAILED, printable(failure(run.origin, error), 2000), last=last)


def _end(run: IngestRun, status: Status, message: str, error_code: str = "") -> None:
    """Close a run that came to nothing; its job is closed by whoever runs it."""
    IngestRun.objects.filter(pk=run.pk).update(
        status=status, finished_at=timezone.now(), message=message, error_code=error_code
    )


def _close(claim: Claim, run: IngestRun, status: Status, message: str, *, last: bool) -> None:
    """Close the run, and with the last file the job; to be called in a transaction."""
    run.status, run.message, run.finished_at = status, message, timezone.now()
    run.save()
    if not last:
        return
    ended = dict(claim.job.runs.values_list("status", "message"))
    if Status.FAILED in ended:
        failed = claim.job.runs.filter(status=Status.FAILED).order_by("pk").first()
        jobs.fail(claim, failed.error_code if failed else "", ended[Status.FAILED])
    elif set(ended) == {Status.DUPLICATE}:
        jobs.finish(claim, Job.Status.DUPLICATE, message)
    else:
        jobs.finish(claim, Job.Status.DONE, message)
