"""The oracle: every fact in the tables is in exactly one accepted file's latest word, and nothing is lost.

It reads the stored bytes of every accepted file again, follows what each did to its scope, and compares
the result with the tables.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, Min, OuterRef
from django.db.models.functions import Now

from .dated import DATED
from .expected import Expected, Scope, Table, steps_of
from .kinds import ALL, Kind
from .ledger_tables import found
from .models import Batch, IngestRun, Job, RawObject, StagedRow
from .replay import Replay, replay
from .rows import FileError
from .sources import SOURCES

Found = Iterable[tuple[Scope, tuple[str, ...], bytes]]
SHOWN = 5


@dataclass
class Report:
    batches: int = 0
    rows: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be proved, and is no fault


def verify() -> Report:
    """Return every difference between the accepted files and the tables, as of one moment."""
    with _one_moment():
        return _verify()


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read what stands at the first read, whatever workers publish meanwhile, and hold nobody up.

    Not Django's atomic(): on SQLite that takes the write lock, and the oracle reads for a minute.
    """
    if connection.in_atomic_block:
        yield
        return
    deferred = "BEGIN" if connection.vendor == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    with connection.cursor() as cursor:
        cursor.execute(deferred)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")


def _verify() -> Report:
    report = Report()
    report.problems += _check_bytes()
    expected = _follow_batches(report)
    for kind in ALL:
        table = _expected_table(expected, kind)
        report.problems += _compare(kind.name.replace("_", " "), table, found(kind), expected.loose)
        report.rows += len(table)
    for source, scope in sorted(expected.loose):
        report.notes.append(f"{source} {scope}: read by an earlier parser; load its file again to prove it")
    report.problems += _check_spans()
    report.problems += _check_current()
    report.problems += _check_queue()
    return report


def _expected_table(expected: Expected, kind: Kind) -> Table:
    table = dict(expected.tables.get(kind.row, {}))
    for key, series in expected.series.get(kind.row, {}).items():
        for start, digest in steps_of(series).items():
            table[*key, start.isoformat()] = digest
    return table


def _check_bytes() -> Iterable[str]:
    for raw in RawObject.objects.filter(batches__isnull=False).distinct():
        path = Path(settings.RAW_DIR) / raw.sha256
        if not path.is_file():
            yield f"stored bytes of {raw.name} are gone: {raw.sha256}"
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != raw.sha256 or path.stat().st_size != raw.size_bytes:
            yield f"stored bytes of {raw.name} changed: {raw.sha256} is now {found}"


def _follow_batches(report: Report) -> Expected:
    """Replay every accepted run in the order of publishing and follow what it did."""
    expected = Expected()
    accepted = IngestRun.objects.filter(batches__undone_at=None, batches__isnull=False)
    # a run that began earlier may have been published later
    for run in accepted.annotate(published=Min("batches__pk")).order_by("published"):
        batches = list(run.batches.filter(undone_at=None).order_by("scope"))
        report.batches += len(batches)
        if any(batch.parser_version != SOURCES[batch.source].PARSER_VERSION for batch in batches):
            for batch in batches:
                expected.lose_track(batch)
            continue
        try:
            again = replay(run)
        except (FileError, KeyError) as error:
            report.problems.append(f"run {run.pk} {run.origin}: cannot be read again: {error}")
            continue
        report.problems += again.problems
        report.problems += _check_run(run, again, batches)
        for batch in batches:
            expected.follow(batch, again)
    return expected


def _check_run(run: IngestRun, again: Replay, batches: list[Batch]) -> Iterable[str]:
    counted = run.lines_kept + run.lines_rejected + run.lines_quarantined
    if run.lines_read != again.lines or run.lines_read != counted:
        yield (
            f"run {run.pk}: {run.lines_read} lines read, {run.lines_kept} kept, {run.lines_rejected} "
            f"refused, {run.lines_quarantined} in quarantine; the file has {again.lines}"
        )
    # a batch without rows is that of a scope whose end somebody confirmed
    if {batch.scope for batch in batches if batch.rows} != set(again.facts):
        yield f"run {run.pk}: batches of {[b.scope for b in batches]}, the file speaks of {list(again.facts)}"
    for batch in batches:
        scope = batch.scope
        if (batch.rows, batch.total) != (again.rows(scope), again.total(scope)):
            yield (
                f"batch {batch.pk} {batch}: {batch.rows} rows with sum {batch.total}; "
                f"the file has {again.rows(scope)} with sum {again.total(scope)}"
            )
        if batch.rows_sha256 != again.sha256(scope):
            yield f"batch {batch.pk} {batch}: the file's rows have another SHA-256"


def _compare(what: str, expected: Table, found: Found, loose: set[Scope]) -> Iterable[str]:
    rows = list(found)
    table = {key: digest for _, key, digest in rows}
    doubled = [key for key, count in Counter(key for _, key, _ in rows).items() if count > 1]
    differences = {
        "missing": [key for key in expected if key not in table],
        "in no accepted file": [key for own, key, _ in rows if key not in expected and own not in loose],
        "other than the file": [key for key in expected if key in table and table[key] != expected[key]],
        "doubled": doubled,
    }
    for difference, keys in differences.items():
        if keys:
            shown = "; ".join(" ".join(part for part in key if part) for key in sorted(keys)[:SHOWN])
            yield f"{what}: {len(keys)} {difference}: {shown}"


def _check_spans() -> Iterable[str]:
    """No two facts of one key may hold at one moment."""
    for table in DATED.values():
        model, name = table.model, str(table.model._meta.verbose_name_plural)
        key = ("source", "scope", *table.own)
        rows = model._default_manager
        for same in rows.values(*key).annotate(n=Count("pk")).filter(n__gt=1):
            same.pop("n")
            spans = rows.filter(**same).order_by("effective_from")
            for (pk, _, end), (later, start, _) in pairwise(
                spans.values_list("pk", "effective_from", "effective_to")
            ):
                if end is None or end > start:
                    yield f"{name} {pk} and {later} hold at the same time"


def _check_current() -> Iterable[str]:
    newest: dict[tuple[str, str], Batch] = {}
    for batch in Batch.objects.filter(undone_at=None).order_by("pk"):
        before = newest.get((batch.source, batch.scope))
        if before and before.is_current:
            yield f"batch {before.pk} {before} is marked current, but {batch.pk} came after it"
        newest[batch.source, batch.scope] = batch
    for batch in newest.values():
        if not batch.is_current:
            yield f"batch {batch.pk} {batch} is the newest of its scope, but not marked current"


def _check_queue() -> Iterable[str]:
    holder = Job.objects.filter(
        pk=OuterRef("job"), status=Job.Status.RUNNING, lease_token=OuterRef("lease_token")
    )
    orphans = StagedRow.objects.annotate(is_held=Exists(holder)).filter(is_held=False)
    for job in orphans.values_list("job", flat=True).distinct():
        yield f"job {job}: staged rows that nobody will publish"
    for pk in Job.objects.filter(status=Job.Status.RUNNING, lease_until__lt=Now()).values_list(
        "pk", flat=True
    ):
        yield f"job {pk}: its worker fell silent and no tick has taken it back"
    for pk in Job.objects.filter(status=Job.Status.RUNNING, lease_until=None).values_list("pk", flat=True):
        yield f"job {pk}: runs without a lease"
    left = IngestRun.objects.filter(status=IngestRun.Status.RUNNING, job__status__in=Job.TERMINAL)
    for pk in left.values_list("pk", flat=True):
        yield f"run {pk}: open although its job has ended"
