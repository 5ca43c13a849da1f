"""Is the data complete, fresh and right? Sources, runs, and what was not taken."""

import uuid
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs import jobs
from costs.models import IngestRun, Job
from costs.queries import runs, utilization
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch
from planner import params, run_page
from planner.csv_cells import Column
from planner.downloads import Download, download, file_name, known_format
from planner.fragments import page_or_fragment
from planner.permissions import planner_required
from planner.views import uploads

REJECTED_COLUMNS = (
    Column("line", "number"),
    Column("kind"),
    Column("column"),
    Column("value"),
    Column("rule"),
    Column("expected"),
    Column("file"),
    Column("source"),
    Column("source_run", "number"),
)
SOURCE_COLUMNS = (
    Column("source"),
    Column("title"),
    Column("kind"),
    Column("data_of", "time"),
    Column("state"),
    Column("age_hours", "number"),
    Column("rows", "number"),
    Column("changed_rows", "number"),
    Column("rejected_lines", "number"),
    Column("next_expected", "time"),
    Column("last_run_state"),
    Column("as_of", "time"),
    Column("source_run", "number"),
)


def source_list(request: HttpRequest) -> HttpResponse:
    """Show every source with its age, and the newest runs."""
    now = timezone.now()
    rows = runs.freshness(now)
    recent = [{"run": run, "state": run_page.state(run.status)} for run in runs.recent_runs()]
    known = [row for row in rows if row.state != "never"]
    context = {
        "sources": [{"row": row, "bar": _bar(row.age_share), "state": _last_state(row)} for row in rows],
        "fresh": sum(row.state == "fresh" for row in known),
        "total": len(known),
        "recent": recent,
        "now": now,
        "has_sample": utilization.has_data(sample=True),
        "notices": params.ignored_notice(params.unknown_parameters(request, ())),
    }
    return render(request, "planner/sources.html", context)


def source_list_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the table of sources as it stands on the page."""
    known_format(fmt)
    now = timezone.now()
    content = Download(
        name=file_name("sources", f"{now:%Y-%m-%d}"),
        address=reverse("source_list"),
        as_of=now,
        columns=SOURCE_COLUMNS,
        rows=[_source_cells(row, now) for row in runs.freshness(now)],
    )
    return download(request, fmt, content)


def _source_cells(row: runs.Freshness, now: datetime) -> list[Any]:
    run = row.last_run
    return [
        row.name,
        row.title,
        row.kind,
        row.data_as_of,
        row.state,
        None if row.age is None else round(row.age.total_seconds() / 3600, 2),
        row.rows,
        run.changed if run else None,
        run.lines_rejected if run else None,
        row.next_expected,
        _last_state(row)["word"] if run else "",
        now,
        run.pk if run else None,
    ]


def _bar(age_share: float | None) -> float | None:
    """Return the width of the age bar: full at twice the cadence, where late becomes stale."""
    return None if age_share is None else round(min(age_share / 2, 1) * 100, 1)


def _last_state(row: runs.Freshness) -> dict[str, str]:
    return run_page.state(row.last_run.status) if row.last_run else {"word": "—", "tone": ""}


def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one run: progress while it runs, then counts and the lines that were not taken."""
    run = get_object_or_404(IngestRun.objects.select_related("job", "raw"), pk=pk)
    return _page(request, run.job, run)


def job_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one job: before its run exists, and while it runs."""
    job = get_object_or_404(Job.objects.exclude(kind="sample"), pk=pk)
    return _page(request, job, None)


def _page(request: HttpRequest, job: Job, run: IngestRun | None) -> HttpResponse:
    all_runs = list(job.runs.order_by("pk"))
    shown = run or (all_runs[-1] if all_runs else None)
    page = params.whole_number(request.GET.get("page", ""), default=1)
    context = run_page.context(job, shown, all_runs, timezone.now(), page)
    context["poll"] = request.path
    context["notices"] = params.ignored_notice(params.unknown_parameters(request, ("page",)))
    return page_or_fragment(
        request, "planner/run.html", "planner/_run.html", context, stop_polling=job.is_terminal
    )


def run_rejected_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send every line that a run did not take, with the reason."""
    run = get_object_or_404(IngestRun, pk=pk)
    rows = runs.rejected_rows(run).iterator(chunk_size=2000)
    content = Download(
        name=file_name("rejected", run.source, f"run {run.pk}"),
        address=request.path,
        as_of=run.as_of or run.started_at,
        columns=REJECTED_COLUMNS,
        rows=(
            [
                row.line,
                row.kind,
                row.column,
                row.value,
                row.rule,
                row.expected,
                run.origin,
                run.source,
                run.pk,
            ]
            for row in rows
        ),
    )
    return download(request, "csv", content)


@require_POST
@planner_required
def run_now(request: HttpRequest, source: str) -> HttpResponse:
    """Queue a fetch of a source that has something to fetch."""
    if source not in SOURCES or not can_fetch(source):
        raise Http404(f"nothing to fetch for {source}")
    now = timezone.now()
    waiting = Job.objects.filter(kind="ingest", params__source=source, params__raw=None)
    job = waiting.exclude(status__in=Job.TERMINAL).first()
    if job is None:
        work: dict[str, Any] = {"source": source, "raw": None, "name": "", "params": {}}
        key = f"run:{source}:{uuid.uuid4()}"
        job = jobs.enqueue("ingest", work, key=key, requested_by=request.user.get_username(), now=now)
    return redirect("job_detail", job.pk)


@require_POST
@planner_required
def job_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a job to end. What it had published stays; what it had not leaves no trace."""
    job = get_object_or_404(Job.objects.exclude(kind="sample"), pk=pk)
    jobs.cancel(job.pk)
    messages.info(request, "The job was asked to stop. Nothing of it is stored unless it had ended before.")
    return redirect("job_detail", job.pk)


def source_template(request: HttpRequest, source: str) -> HttpResponse:
    """Send a small example in the layout of a source."""
    module = SOURCES.get(source)
    if module is None or not module.TEMPLATE:
        raise Http404(f"no template for {source}")
    response = HttpResponse(module.TEMPLATE, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name(source)}_template.csv"'
    return response


urlpatterns = [
    path("data/", source_list, name="source_list"),
    path("data.<str:fmt>", source_list_file, name="source_list_file"),
    path("data/runs/<int:pk>/", run_detail, name="run_detail"),
    path("data/runs/<int:pk>/rejected.csv", run_rejected_file, name="run_rejected_file"),
    path("data/jobs/<int:pk>/", job_detail, name="job_detail"),
    path("data/jobs/<int:pk>/cancel/", job_cancel, name="job_cancel"),
    *uploads.urlpatterns,
    path("data/<slug:source>/template.csv", source_template, name="source_template"),
    path("data/<slug:source>/run/", run_now, name="run_now"),
]
