"""One run, one job: how far it is, what became of it, and taking it back."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs import jobs
from costs.models import IngestRun, Job
from costs.queries import runs
from costs.undo import order_undo
from planner import params, run_page
from planner.csv_cells import Column
from planner.downloads import Download, download, file_name
from planner.fragments import page_or_fragment
from planner.permissions import planner_required

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
def job_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask a job to end. What it had published stays; what it had not leaves no trace."""
    job = get_object_or_404(Job.objects.exclude(kind="sample"), pk=pk)
    jobs.cancel(job.pk)
    messages.info(request, "The job was asked to stop. Nothing of it is stored unless it had ended before.")
    return redirect("job_detail", job.pk)


@require_POST
@planner_required
def run_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue the removal of what a run brought; a second press finds the first one's job."""
    run = get_object_or_404(IngestRun, pk=pk)
    waiting = run_page.open_undo(run)
    if waiting is not None:
        return redirect("job_detail", waiting.pk)
    try:
        job = order_undo(run, requested_by=request.user.get_username(), now=timezone.now())
    except ValueError as error:
        raise Http404(str(error)) from None
    return redirect("job_detail", job.pk)


urlpatterns = [
    path("data/runs/<int:pk>/", run_detail, name="run_detail"),
    path("data/runs/<int:pk>/rejected.csv", run_rejected_file, name="run_rejected_file"),
    path("data/runs/<int:pk>/undo/", run_undo, name="run_undo"),
    path("data/jobs/<int:pk>/", job_detail, name="job_detail"),
    path("data/jobs/<int:pk>/cancel/", job_cancel, name="job_cancel"),
]
