"""What the page of one job shows: how far it is, how it ended, and what was not taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator

from costs.models import Batch, IngestRun, Job, QuarantinedFact, RejectedRow
from costs.queries import quarantine, runs
from costs.queries.quarantine import ANY
from costs.sources import SOURCES
from planner.params import shortened
from planner.quarantine_page import in_rules, lines
from planner.source_words import title_of

# after this long without a worker the page says so
PATIENCE = timedelta(seconds=15)
ROWS_PER_PAGE = 50
SHOWN_HELD = 20
SOONEST = timedelta(seconds=3)  # before that the rate of a run says nothing
PHASES = {
    "": "waiting for a worker",
    "fetch": "fetching",
    "stage": "reading lines",
    "check": "checking",
    "publish": "publishing",
}
UNDO_PHASES = PHASES | {"stage": "reading the files that stay", "publish": "taking it back"}
TONES = {
    "queued": "",
    "running": "info",
    "done": "good",
    "duplicate": "good",
    "previewed": "good",
    "partial": "warn",
    "failed": "bad",
    "cancelled": "warn",
    "undone": "warn",
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
    "undone": "taken back",
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
    phases = UNDO_PHASES if job.kind == "undo" else PHASES
    text = f"{phases.get(job.phase, job.phase)}: {_amount(job, run, share)}{_pace(job, run, share, now)}"
    return Progress(share, text, "")


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


def _pace(job: Job, run: IngestRun | None, share: float | None, now: datetime) -> str:
    """Return lines a second and the time left, where a first attempt has read for long enough to tell."""
    passed = now - run.started_at if run is not None else timedelta(0)
    if run is None or job.phase != "stage" or job.attempts > 1 or passed < SOONEST or not run.lines_read:
        return ""
    rate = f", {run.lines_read / passed.total_seconds():,.0f} a second"
    return f"{rate}, about {seconds(passed * (1 / share - 1))} left" if share else rate


def seconds(span: timedelta) -> str:
    """Return how long something took.

    >>> seconds(timedelta(seconds=3.21)), seconds(timedelta(seconds=75)), seconds(timedelta(hours=3))
    ('3.2 s', '1 min 15 s', '3 h 0 min')
    """
    whole = round(span.total_seconds())
    if whole < 10:
        return f"{max(span.total_seconds(), 0):.1f} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


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
        "known_source": _known_source(job, run),
        "counts": counts(run) if run else [],
        "took": seconds(run.finished_at - run.started_at) if run and run.finished_at else "",
        "error": error_facts(run) if run else [],
        "rejected": paginator.get_page(page),
        "rejected_by_rule": sorted((run.rejected_by_rule if run else {}).items()),
        "is_price": run is not None and _kind(run.source) == "prices",
        **held(run if ended else None),
        **undo(job, run if ended else None),
    }


def held(run: IngestRun | None) -> dict[str, Any]:
    """Return the facts that an ended run holds back: the first of them, and how many of each rule."""
    if run is None or not (run.lines_quarantined or run.quarantined.exists()):
        return {"held_groups": [], "held_count": 0}
    facts = quarantine.held_facts(status=ANY, run=run.pk)
    rules = quarantine.rules_of(facts)
    return {
        "held_groups": in_rules(lines(facts[:SHOWN_HELD]), rules),
        "held_count": sum(rule.records for rule in rules),
        "held_rows": sum(rule.rows for rule in rules),
        "held_waits": facts.filter(status=QuarantinedFact.Status.OPEN).exists(),
        "held_shown": SHOWN_HELD,
    }


def undo(job: Job, run: IngestRun | None) -> dict[str, Any]:
    """Return whether a run can be taken back, is being, or was, and by whom."""
    if job.kind == "undo":
        return {"undoes": IngestRun.objects.filter(pk=job.params.get("run")).first()}
    if run is None:
        return {}
    if run.status == IngestRun.Status.UNDONE:
        gone = Batch.objects.filter(run=run).exclude(undone_at=None).order_by("pk").last()
        return {"undone": gone}
    if run.status not in quarantine.TAKEN:
        return {}
    standing = list(runs.standing_batches(run))
    return {
        "undo_job": open_undo(run),
        "standing": {
            "scopes": len(standing),
            "rows": sum(batch.rows for batch in standing),
        }
        if standing
        else None,
    }


def open_undo(run: IngestRun) -> Job | None:
    """Return the job that takes a run back, while it waits or runs."""
    undoing = Job.objects.filter(kind="undo", params__run=run.pk)
    return undoing.exclude(status__in=Job.TERMINAL).order_by("pk").first()


def title(job: Job) -> str:
    """Return what a job is about."""
    if job.kind == "undo":
        return f"Taking back run {job.params.get('run')}"
    name = job.params.get("source", "")
    words = title_of(name) if name else "Sample data"
    return f"{words}: check of a file" if job.kind == "preview" else words


def _known_source(job: Job, run: IngestRun | None) -> str:
    name = run.source if run else str(job.params.get("source", ""))
    return name if name in SOURCES else ""


def counts(run: IngestRun) -> list[tuple[str, int]]:
    """Return the counts of a run by name, those that say something."""
    always = [
        ("lines read", run.lines_read),
        ("lines kept", run.lines_kept),
        ("lines not taken", run.lines_rejected),
    ]
    if run.lines_quarantined:
        always.append(("lines in quarantine", run.lines_quarantined))
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
