"""What the page of one job shows: how far it is, how it ended, and what was not taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator

from costs.models import IngestRun, Job, RejectedRow
from costs.queries import runs
from costs.sources import SOURCES
from planner.params import shortened

# after this long without a worker the page says so
PATIENCE = timedelta(seconds=15)
ROWS_PER_PAGE = 50
PHASES = {
    "": "waiting for a worker",
    "fetch": "fetching",
    "stage": "reading lines",
    "check": "checking",
    "publish": "publishing",
}
TONES = {
    "queued": "",
    "running": "info",
    "done": "good",
    "duplicate": "good",
    "previewed": "good",
    "partial": "warn",
    "failed": "bad",
    "cancelled": "warn",
}
WORDS = {
    "queued": "queued",
    "running": "running",
    "done": "done",
    "duplicate": "nothing new",
    "previewed": "checked",
    "partial": "partly taken",
    "failed": "failed",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class Progress:
    """How far a job is: a share for the bar where the end is known, and words in any case."""

    share: float | None
    text: str
    note: str


def progress(job: Job, run: IngestRun | None, now: datetime) -> Progress:
    """Return how far a job is."""
    if job.status == Job.Status.QUEUED:
        late = now - max(job.created_at, job.run_after) > PATIENCE
        note = "No worker has taken this job yet. It starts by itself as soon as one runs." if late else ""
        if job.attempts:
            note = f"Attempt {job.attempts} stopped: {job.message}. It is tried again."
        return Progress(None, PHASES[""], note)
    share = min(1.0, job.done_units / job.total_units) if job.total_units else None
    return Progress(share, f"{PHASES.get(job.phase, job.phase)}: {_amount(job, run, share)}", "")


def _amount(job: Job, run: IngestRun | None, share: float | None) -> str:
    if job.phase == "fetch":
        return f"{job.done_units / 1e6:,.1f} MB so far"
    if job.phase == "stage" and run is not None:
        # the file's length in lines is known at its end; its length in bytes tells how many there will be
        expected = f" of about {round(run.lines_read / share, -2):,.0f}" if share else ""
        return f"{run.lines_read:,} lines{expected}"
    if run is not None:
        return f"{run.facts:,} rows"
    return f"{job.done_units:,} of {job.total_units:,}" if job.total_units else "in work"


def state(status: str) -> dict[str, str]:
    """Return the word and the tone of a job's or run's status."""
    return {"word": WORDS.get(status, status), "tone": TONES.get(status, "")}


def context(
    job: Job, run: IngestRun | None, all_runs: Sequence[IngestRun], now: datetime, page: int
) -> dict[str, Any]:
    """Return what the run page needs, whole or swapped."""
    rejected = runs.rejected_rows(run) if run else RejectedRow.objects.none()
    paginator = Paginator(rejected, ROWS_PER_PAGE)
    ended = job.is_terminal
    status = run.status if run and (ended or run.status != IngestRun.Status.RUNNING) else job.status
    return {
        "job": job,
        "run": run,
        "runs": all_runs if len(all_runs) > 1 else [],
        "ended": ended,
        "state": state(status),
        "progress": None if ended else progress(job, run, now),
        "title": title(job),
        "counts": counts(run) if run else [],
        "error": error_facts(run) if run else [],
        "rejected": paginator.get_page(page),
        "rejected_by_rule": sorted((run.rejected_by_rule if run else {}).items()),
        "is_price": run is not None and _kind(run.source) == "prices",
    }


def title(job: Job) -> str:
    """Return what a job is about."""
    name = job.params.get("source", "")
    source = SOURCES.get(name)
    words = source.TITLE if source else name or "Sample data"
    return f"{words}: check of a file" if job.kind == "preview" else words


def counts(run: IngestRun) -> list[tuple[str, int]]:
    """Return the counts of a run by name, those that say something."""
    always = [
        ("lines read", run.lines_read),
        ("lines kept", run.lines_kept),
        ("lines not taken", run.lines_rejected),
    ]
    if run.status in {IngestRun.Status.FAILED, IngestRun.Status.DUPLICATE, IngestRun.Status.CANCELLED}:
        return always
    rows = [
        ("rows added", run.added),
        ("rows changed", run.changed),
        ("rows as before", run.unchanged),
        ("rows closed", run.closed),
        ("missing but kept", run.held),
    ]
    return always + [(name, number) for name, number in rows if number]


def error_facts(run: IngestRun) -> list[tuple[str, str]]:
    """Return where a file was wrong and what would be right, name by name."""
    error: Mapping[str, Any] = run.error or {}
    if not error:
        return []
    facts = [
        ("File", run.origin),
        ("Line", str(error.get("line") or "")),
        ("Column", str(error.get("column") or "")),
        ("Value", shortened(str(error.get("value") or ""))),
        ("What is wrong", str(error.get("rule") or run.error_code).replace("_", " ")),
        ("What would be right", str(error.get("expected") or "")),
    ]
    return [(name, text) for name, text in facts if text]


def sample_table(run: IngestRun) -> dict[str, Any]:
    """Return the first rows of a checked file as a table; columns without any value are left out."""
    rows: list[Mapping[str, Any]] = run.sample_rows
    names = [
        name for name in (rows[0] if rows else {}) if any(row.get(name) not in (None, "", []) for row in rows)
    ]
    return {
        "names": [name.replace("_", " ") for name in names],
        "rows": [[_shown(row.get(name)) for name in names] for row in rows],
    }


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return "" if value is None else str(value)


def _kind(source: str) -> str:
    module = SOURCES.get(source)
    return str(module.KIND) if module else ""
