"""Hold back facts that look wrong, remember what people decided about them, and let them in when released.

What is held lies in QuarantinedFact with the rule and its evidence; the prices of before keep serving. A
decision stands for what a fact says: the same fact in a later file is not asked about again. A release
takes the stored file once more, with the decision in force, on the one path of all facts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.db.models import Q, QuerySet

from . import bulk, jobs
from .models import IngestRun, Job, QuarantinedFact
from .rowtext import Payload
from .text import printable

Status = QuarantinedFact.Status
COLUMNS = (
    "run", "source", "scope", "line", "rows", "key", "digest", "rule", "column", "value", "evidence",
    "payload", "status", "note", "decided_by", "decided_at",
)  # fmt: skip


class Undecidable(Exception):
    """A decision that cannot be taken: the message says why."""


@dataclass(frozen=True)
class Held:
    """One fact, or one whole scope, that is kept out and why."""

    scope: str
    line: int | None  # None: all that a file says of the scope
    key: str
    digest: str
    rule: str
    column: str
    value: str
    evidence: str
    payload: Payload | None
    rows: int = 1


@dataclass(frozen=True)
class Decision:
    note: str
    decided_by: str
    decided_at: datetime | None


@dataclass(frozen=True)
class Decisions:
    """What people decided about facts of one source."""

    released: frozenset[str] = frozenset()
    kept_out: Mapping[str, Decision] = field(default_factory=dict)


def decisions(source: str) -> Decisions:
    """Return the newest decision on each fact of a source."""
    newest: dict[str, tuple[str, Decision]] = {}
    decided = QuarantinedFact.objects.filter(source=source, status__in=(Status.RELEASED, Status.KEPT_OUT))
    columns = ("digest", "status", "note", "decided_by", "decided_at")
    for digest, status, *rest in decided.order_by("decided_at", "pk").values_list(*columns):
        newest[digest] = (status, Decision(*rest))
    return Decisions(
        frozenset(digest for digest, (status, _) in newest.items() if status == Status.RELEASED),
        {digest: decision for digest, (status, decision) in newest.items() if status == Status.KEPT_OUT},
    )


def store(run: IngestRun, held: Iterable[Held], decided: Decisions) -> None:
    """Record what is held; what somebody refused before is refused again without asking."""
    bulk.insert(QuarantinedFact, COLUMNS, (_row(run, each, decided) for each in held))


def _row(run: IngestRun, held: Held, decided: Decisions) -> tuple[object, ...]:
    before = decided.kept_out.get(held.digest)
    return (
        run.pk, run.source, held.scope, held.line, held.rows, held.key[:600], held.digest, held.rule,
        printable(held.column, 120), printable(held.value, 500), printable(held.evidence, 500), held.payload,
        Status.KEPT_OUT if before else Status.OPEN,
        before.note if before else "", before.decided_by if before else "",
        before.decided_at if before else None,
    )  # fmt: skip


def whole_digest(source: str, scope: str, rule: str, sha256_of_file: str) -> str:
    """Return what a decision about all that one file says of a scope stands for."""
    return sha256("\x1f".join((source, scope, "whole", rule, sha256_of_file)).encode()).hexdigest()


def line_digest(source: str, rule: str, column: str, value: str) -> str:
    """Return what a decision about a line without a fact stands for."""
    return sha256("\x1f".join((source, "line", rule, column, value)).encode()).hexdigest()


def supersede(run: IngestRun, scopes: Collection[str]) -> None:
    """Close what earlier runs asked about the scopes that this run has spoken of."""
    earlier = QuarantinedFact.objects.filter(source=run.source, status=Status.OPEN).exclude(run=run)
    of_lines = Q(scope="", run__origin=run.origin)
    earlier.filter(Q(scope__in=list(scopes)) | of_lines).update(status=Status.SUPERSEDED)


# what people do


def open_facts() -> QuerySet[QuarantinedFact]:
    """Return what waits for a decision: previews ask nothing."""
    taken = (IngestRun.Status.PARTIAL, IngestRun.Status.DONE)
    return QuarantinedFact.objects.filter(status=Status.OPEN, run__status__in=taken)


def release(ids: Collection[int], *, decided_by: str, note: str, now: datetime) -> list[Job]:
    """Let facts in: they pass from now on, and their files are taken again. Return the jobs."""
    with transaction.atomic():
        facts = _decide(ids, Status.RELEASED, decided_by, note, now)
        runs = {fact.run_id: fact.run for fact in facts}
        return [
            jobs.enqueue(
                "ingest",
                {
                    "source": run.source,
                    "raw": run.raw.sha256 if run.raw else None,
                    "name": run.origin,
                    "params": run.job.params["params"],
                },
                key=f"release:{run.pk}:{max(fact.pk for fact in facts if fact.run_id == run.pk)}:{now:%s}",
                requested_by=decided_by,
                now=now,
            )
            for run in runs.values()
        ]


def keep_out(ids: Collection[int], *, decided_by: str, note: str, now: datetime) -> int:
    """Refuse facts for good: the same in a later file is refused without asking. Return how many."""
    with transaction.atomic():
        return len(_decide(ids, Status.KEPT_OUT, decided_by, note, now))


def _decide(
    ids: Collection[int], status: str, decided_by: str, note: str, now: datetime
) -> Sequence[QuarantinedFact]:
    if not note.strip():
        raise Undecidable("write a note: why is this right")
    rows = QuarantinedFact.objects.select_for_update(of=("self",)).filter(pk__in=ids)
    facts = list(rows.select_related("run__raw", "run__job").order_by("pk"))
    if len(facts) != len(set(ids)):
        raise Undecidable("some of these are no longer there")
    for fact in facts:
        _check(fact, status)
    rows.update(status=status, note=printable(note.strip(), 500), decided_by=decided_by[:254], decided_at=now)
    return facts


def _check(fact: QuarantinedFact, status: str) -> None:
    if fact.status not in (Status.OPEN, Status.KEPT_OUT) or fact.status == status:
        raise Undecidable(f"{fact.key}: this is {fact.get_status_display().lower()} already")
    if status == Status.RELEASED and fact.payload is None and fact.line is not None:
        raise Undecidable(
            f"{fact.key}: no price can be read from it ({fact.rule}), so there is none to release"
        )
    if status == Status.RELEASED and fact.run.raw is None:
        raise Undecidable(f"{fact.key}: the bytes of its file are no longer stored; load the file again")


def rules_of(run: IngestRun) -> Iterator[tuple[str, int]]:
    """Yield each rule that held facts of a run back, with their number."""
    counts: dict[str, int] = {}
    for rule, rows in run.quarantined.order_by("rule").values_list("rule", "rows"):
        counts[rule] = counts.get(rule, 0) + rows
    yield from counts.items()
