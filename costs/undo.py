"""Take an import back: what its scopes held is built anew from the other accepted files.

Nothing else would be right: a list that came later may have closed, corrected or confirmed what this one
brought. The files are read again before any lock is taken; where another file of the same scopes is
published meanwhile, they are read again.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError, QuerySet

from . import bulk, jobs
from .dated import write_dated
from .jobs import Claim, TryAgain
from .judge import Fact
from .kinds import BY_ROW, Kind
from .models import Batch, IngestRun, Job, QuarantinedFact
from .publish import serialize
from .replay import Replay, replay
from .rows import FileError
from .rowtext import KINDS, NAMES, key_of, to_values
from .sources import SOURCES
from .staging import known_accelerators
from .stepwise import write_steps
from .tables import TABLES

MOST_TRIES = 5
Scopes = Sequence[tuple[str, str]]  # sources and their scopes


@dataclass(frozen=True)
class Kept:
    """A batch that stays, and what its file says when read now."""

    batch: Batch
    again: Replay

    def facts(self) -> Iterator[Fact]:
        scope = self.batch.scope
        for key, payload in self.again.facts.get(scope, {}).items():
            yield scope, self.again.line_of[scope, key], payload


def order_undo(run: IngestRun, *, requested_by: str, now: datetime) -> Job:
    """Queue the removal of what a run published; raise ValueError where it published nothing."""
    if not run.batches.filter(undone_at=None).exists():
        raise ValueError(f"run {run.pk} has published nothing that could be taken back")
    key = f"undo:{run.pk}:{uuid.uuid4()}"
    return jobs.enqueue("undo", {"run": run.pk}, key=key, requested_by=requested_by, now=now)


def run_undo(claim: Claim) -> None:
    """Take back what the job's run published."""
    run = IngestRun.objects.get(pk=claim.params["run"])
    kind = BY_ROW[KINDS[SOURCES[run.source].KIND]]
    for _ in range(MOST_TRIES):
        batches = list(run.batches.filter(undone_at=None).order_by("pk"))
        if not batches:
            jobs.finish(claim, Job.Status.DUPLICATE, f"run {run.pk} was taken back before")
            return
        staying = _staying(kind, run, batches)
        before = list(staying.values_list("pk", flat=True))
        kept = _read_again(claim, list(staying.select_related("run__raw", "run__job")))
        with transaction.atomic():
            jobs.lock(claim)
            serialize()
            if list(_staying(kind, run, batches).values_list("pk", flat=True)) != before:
                continue
            _take_back(claim, kind, run, batches, kept)
            return
    raise TryAgain(f"run {run.pk}: other files of its scopes are being published all the time")


def _staying(kind: Kind, run: IngestRun, batches: Sequence[Batch]) -> QuerySet[Batch]:
    """Return the batches that tell what the tables hold without the run, in the order of publishing."""
    others = Batch.objects.filter(undone_at=None).exclude(run=run).order_by("pk")
    if kind.shape == "series":  # an hour, or a name, may have been stated by any source of the kind
        same = [name for name, source in SOURCES.items() if kind.name == source.KIND]
        return others.filter(source__in=same)
    return others.filter(source=run.source, scope__in=[batch.scope for batch in batches])


def _read_again(claim: Claim, batches: Sequence[Batch]) -> list[Kept]:
    read: dict[int, Replay] = {}
    for done, batch in enumerate(batches):
        jobs.progress(claim, "stage", done, len(batches))
        if batch.run_id not in read:
            try:
                read[batch.run_id] = replay(batch.run)
            except (FileError, KeyError) as error:
                raise FileError(
                    "cannot_be_undone", "the stored bytes of every file that stays", value=f"{batch}: {error}"
                ) from error
    return [Kept(batch, read[batch.run_id]) for batch in batches]


def _take_back(
    claim: Claim, kind: Kind, run: IngestRun, batches: Sequence[Batch], kept: Sequence[Kept]
) -> None:
    model = TABLES[kind.row]
    run.batches.update(
        undone_at=claim.job.created_at, undone_by=claim.job.requested_by[:254], is_current=False
    )
    if kind.shape == "series":
        _restore_series(kind, batches, kept)
    else:
        known = known_accelerators()
        for scope in sorted({batch.scope for batch in batches}):
            model._default_manager.filter(source=run.source, scope=scope).delete()
            for each in kept:
                if each.batch.scope == scope:
                    _write(kind, each, known)
    for scope in {batch.scope for batch in batches}:
        left = Batch.objects.filter(source=run.source, scope=scope, undone_at=None).order_by("pk").last()
        if left is not None:
            Batch.objects.filter(pk=left.pk).update(is_current=True)
    QuarantinedFact.objects.filter(run=run, status=QuarantinedFact.Status.OPEN).update(
        status=QuarantinedFact.Status.SUPERSEDED
    )
    said = f"taken back by {claim.job.requested_by}"
    IngestRun.objects.filter(pk=run.pk).update(status=IngestRun.Status.UNDONE, message=said)
    jobs.finish(claim, Job.Status.DONE, f"run {run.pk} ({run.origin}) was taken back")


def _write(kind: Kind, each: Kept, known: Any) -> None:
    mode = SOURCES[each.batch.source].MODE
    if kind.shape == "steps" or mode == "history":
        write_steps(kind.row, each.batch, each.facts(), known)
        return
    may_close = not each.again.unreadable
    closes = mode == "snapshot"
    write_dated(
        kind.row, each.batch, each.facts(), known, each.again.held, closes=closes, may_close=may_close
    )


def _restore_series(kind: Kind, batches: Sequence[Batch], kept: Sequence[Kept]) -> None:
    """Delete what the run wrote; put back what the other files say of the same facts."""
    model, of_use = TABLES[kind.row], kind.name == "utilization"
    marks = ["is_sample"] if of_use else []
    gone = model._default_manager.filter(batch__in=batches)
    missing = {key_text(kind, row) for row in gone.values_list(*marks, *kind.key)}
    try:
        gone.delete()
    except ProtectedError as error:
        raise FileError("in_use", "a row that no price and no plan needs", value=str(error)[:200]) from error
    found: dict[tuple[str, ...], tuple[Kept, int, dict[str, Any]]] = {}
    for each in kept:
        mark = (str(each.batch.params.get("sample") == "1"),) if of_use else ()
        for _, line, payload in each.facts():
            key = (*mark, *key_of(kind.row, payload))
            if key in missing:
                found[key] = (each, line, payload)
    names = NAMES[kind.row]
    extra = ("source", "scope", "line", "is_sample") if of_use else ()
    rows = []
    for each, line, payload in found.values():
        values = to_values(kind.row, payload)
        batch = each.batch
        own = (batch.source, batch.scope, line, batch.params.get("sample") == "1") if of_use else ()
        rows.append((*(values[name] for name in names), batch.pk, *own))
    bulk.insert(model, (*names, "batch_id", *extra), rows)


def key_text(kind: Kind, values: Sequence[Any]) -> tuple[str, ...]:
    """Return the key of a row of a table as payloads write it."""
    return tuple(value.isoformat() if hasattr(value, "isoformat") else str(value) for value in values)
