"""Publish the staged rows of one file in one transaction, or count what that would do.

The transaction holds the job's row: a worker whose token is old, or whose job was cancelled, publishes
nothing. Publishing is serialized, so that two files of one source cannot both become the current one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import ModuleType

from django.db import connection

from .counts import Counts
from .dated import write_dated
from .jobs import Claim
from .judge import Fact
from .kinds import BY_ROW
from .models import Batch, IngestRun, StagedRow
from .rows import FileError
from .rowtext import amount_of, row_digest, rows_digest
from .series import write_series
from .staging import Staged, known_accelerators
from .stepwise import write_steps

READ_ROWS = 5_000
PUBLISH_LOCK = 7_301  # PostgreSQL's advisory lock: any number, always the same


@dataclass
class Summary:
    """What the ledger holds of one scope's rows."""

    rows: int = 0
    total: Decimal = Decimal(0)
    digests: list[bytes] = field(default_factory=list)

    @property
    def sha256(self) -> str:
        return rows_digest(self.digests)


def facts_of(claim: Claim, scope: str | None = None) -> Iterator[Fact]:
    """Yield our own staged rows, scope by scope, in the order of the file."""
    rows = StagedRow.objects.filter(job=claim.job.pk, lease_token=claim.token)
    if scope is not None:
        rows = rows.filter(scope=scope)
    yield from (
        rows.order_by("scope", "line", "pk").values_list("scope", "line", "payload").iterator(READ_ROWS)
    )


def summarize(kind: type, facts: Iterator[Fact]) -> dict[str, Summary]:
    """Return count, sum and digest of the rows of each scope. Done before any lock is taken."""
    summaries: dict[str, Summary] = {}
    for scope, _, payload in facts:
        summary = summaries.setdefault(scope, Summary())
        summary.rows += 1
        summary.total += amount_of(kind, payload)
        summary.digests.append(row_digest(kind, payload))
    return summaries


def serialize() -> None:
    """Let one publishing transaction through at a time; on SQLite BEGIN IMMEDIATE does."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [PUBLISH_LOCK])


def write(
    claim: Claim, run: IngestRun, source: ModuleType, staged: Staged, summaries: dict[str, Summary],
    now: datetime,
) -> Counts:  # fmt: skip
    """Write batches and facts; to be called in the transaction that closes the run."""
    batches = _batches(run, source, staged, summaries, now)
    kind, mode = BY_ROW[staged.kind], source.MODE
    if kind.shape == "series":
        rows = sum(summary.rows for summary in summaries.values())
        is_sample = claim.params["params"].get("sample") == "1"
        return write_series(kind.row, claim, run, rows, is_sample=is_sample)
    counts, known = Counts(), known_accelerators()
    for scope, batch in batches.items():
        facts = facts_of(claim, scope)
        if kind.shape == "steps" or mode == "history":
            counts += write_steps(kind.row, batch, facts, known)
            continue
        counts += write_dated(
            kind.row,
            batch,
            facts,
            known,
            staged.held,
            closes=mode == "snapshot",
            may_close=not staged.unreadable_lines,
        )
    return counts


def _batches(
    run: IngestRun, source: ModuleType, staged: Staged, summaries: dict[str, Summary], now: datetime
) -> dict[str, Batch]:
    """Make the new current batch of every scope; refuse a price list older than the one there."""
    batches = {}
    for scope, summary in sorted(summaries.items()):
        current = Batch.objects.filter(source=run.source, scope=scope, is_current=True)
        newest = current.first()
        if newest and source.MODE in ("snapshot", "amend") and staged.as_of < newest.as_of:
            raise FileError(
                "older_than_current",
                f"a file of {newest.as_of:%Y-%m-%d %H:%M} or later: {scope} is already known as of then",
                value=f"{staged.as_of:%Y-%m-%d %H:%M}",
            )
        current.update(is_current=False)
        batches[scope] = Batch.objects.create(
            run=run,
            source=run.source,
            scope=scope,
            raw=staged.raw,
            parser_version=source.PARSER_VERSION,
            params=run.job.params["params"],
            as_of=staged.as_of,
            published_at=now,
            rows=summary.rows,
            rows_sha256=summary.sha256,
            total=summary.total,
        )
    return batches
