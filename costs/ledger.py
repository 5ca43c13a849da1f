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
from django.db.models import Count, Exists, OuterRef
from django.db.models.functions import Now

from .models import Accelerator, Batch, IngestRun, Job, Price, RawObject, StagedRow, Utilization
from .replay import Replay, replay
from .rows import AcceleratorRow, FileError, PriceRow, UtilizationRow
from .rowtext import PLACES, key_of, offer_of, row_digest, to_payload
from .sources import SOURCES

Scope = tuple[str, str]  # source and its scope
Table = dict[tuple[str, ...], bytes]  # scope or mark, then natural key -> digest of what the row says
Found = Iterable[tuple[Scope, tuple[str, ...], bytes]]
SHOWN = 5


@dataclass
class Report:
    batches: int = 0
    rows: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be proved, and is no fault


@dataclass
class Expected:
    """What the tables must hold by the files alone."""

    # scopes that hold rows of files which an earlier parser read: more may be there than can be proved
    loose: set[Scope] = field(default_factory=set)

    prices: Table = field(default_factory=dict)
    hours: Table = field(default_factory=dict)
    stated_by: dict[tuple[str, ...], Scope] = field(default_factory=dict)
    accelerators: Table = field(default_factory=dict)


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
    report.problems += _compare("prices", expected.prices, _prices(), expected.loose)
    report.problems += _compare("hours of use", expected.hours, _hours(), expected.loose)
    report.problems += _compare("accelerators", expected.accelerators, _accelerators(), expected.loose)
    for source, scope in sorted(expected.loose):
        report.notes.append(f"{source} {scope}: read by an earlier parser; load its file again to prove it")
    report.problems += _check_spans()
    report.problems += _check_current()
    report.problems += _check_queue()
    report.rows = len(expected.prices) + len(expected.hours) + len(expected.accelerators)
    return report


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
    for run in IngestRun.objects.filter(batches__isnull=False).distinct().order_by("pk"):
        batches = list(run.batches.order_by("scope"))
        report.batches += len(batches)
        if any(batch.parser_version != SOURCES[batch.source].PARSER_VERSION for batch in batches):
            for batch in batches:
                _lose_track(expected, batch)
            continue
        try:
            again = replay(run)
        except (FileError, KeyError) as error:
            report.problems.append(f"run {run.pk} {run.origin}: cannot be read again: {error}")
            continue
        report.problems += again.problems
        report.problems += _check_run(run, again, batches)
        for batch in batches:
            _follow(expected, batch, again)
    return expected


def _check_run(run: IngestRun, again: Replay, batches: list[Batch]) -> Iterable[str]:
    if run.lines_read != again.lines or run.lines_read != run.lines_kept + run.lines_rejected:
        yield (
            f"run {run.pk}: {run.lines_read} lines read, {run.lines_kept} kept, {run.lines_rejected} "
            f"refused; the file has {again.lines}"
        )
    if {batch.scope for batch in batches} != set(again.facts):
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


def _lose_track(expected: Expected, batch: Batch) -> None:
    """Forget what the scope held: this file would be read otherwise today."""
    own = (batch.source, batch.scope)
    expected.loose.add(own)
    for table in (expected.prices, expected.hours, expected.accelerators):
        for key in [key for key in table if expected.stated_by.get(key) == own]:
            del table[key]


def _follow(expected: Expected, batch: Batch, again: Replay) -> None:
    own = (batch.source, batch.scope)
    begin: tuple[str, ...] = ()
    table = expected.accelerators
    if again.kind is UtilizationRow:
        begin = ("sample" if batch.params.get("sample") == "1" else "own",)
        table = expected.hours
    elif again.kind is PriceRow:
        begin, table = own, expected.prices
        if not again.unreadable:
            kept = {offer_of(PriceRow, key) for scope, key in again.held if scope == batch.scope}
            for key in [k for k in expected.prices if k[:2] == own and offer_of(PriceRow, k[2:]) not in kept]:
                del expected.prices[key]
            if not kept:
                expected.loose.discard(own)
    for key, payload in again.facts.get(batch.scope, {}).items():
        table[*begin, *key] = row_digest(again.kind, payload)
        expected.stated_by[*begin, *key] = own


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


def _prices() -> Found:
    names = ("region", "zone", "term", "payment", "state", "state_reason", "price_per_hour", "upfront",
             "currency", "reference")  # fmt: skip
    sku = ("provider", "name", "accelerator_name", "gpu_count")
    columns = ("source", "scope", *(f"sku__{name}" for name in sku), *names)
    for source, scope, provider, offer, accelerator, count, *rest in (
        Price.objects.filter(effective_to=None).values_list(*columns).iterator()
    ):
        row = PriceRow(
            provider=provider,
            sku=offer,
            accelerator_name=accelerator,
            gpu_count=count,
            **dict(zip(names, rest, strict=True)),
        )
        payload = to_payload(row)
        yield (source, scope), (source, scope, *key_of(PriceRow, payload)), row_digest(PriceRow, payload)


def _hours() -> Found:
    names = ("cluster", "pool", "gpu_type", "starts_at", *PLACES[UtilizationRow])
    columns = ("source", "scope", "is_sample", *names)
    for source, scope, is_sample, *rest in Utilization.objects.values_list(*columns).iterator():
        payload = to_payload(UtilizationRow(**dict(zip(names, rest, strict=True))))
        key = ("sample" if is_sample else "own", *key_of(UtilizationRow, payload))
        yield (source, scope), key, row_digest(UtilizationRow, payload)


def _accelerators() -> Found:
    names = tuple(name for name in AcceleratorRow.__dataclass_fields__ if name != "aliases")
    columns = ("batch__source", "batch__scope", "aliases", *names)
    for source, scope, aliases, *rest in Accelerator.objects.values_list(*columns).iterator():
        values = dict(zip(names, rest, strict=True))
        payload = to_payload(AcceleratorRow(**values, aliases=tuple(aliases)))
        yield (source, scope), key_of(AcceleratorRow, payload), row_digest(AcceleratorRow, payload)


def _check_spans() -> Iterable[str]:
    """No two prices of one offer may hold at one moment."""
    key = ("source", "scope", "sku_id", "region", "zone", "term", "payment")
    for same in Price.objects.values(*key).annotate(n=Count("pk")).filter(n__gt=1):
        same.pop("n")
        spans = list(
            Price.objects.filter(**same)
            .order_by("effective_from")
            .values_list("pk", "effective_from", "effective_to")
        )
        for (pk, _, end), (later, start, _) in pairwise(spans):
            if end is None or end > start:
                yield f"prices {pk} and {later} hold at the same time"


def _check_current() -> Iterable[str]:
    newest: dict[tuple[str, str], Batch] = {}
    for batch in Batch.objects.order_by("pk"):
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
