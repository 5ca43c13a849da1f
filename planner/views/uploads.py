"""Take a file: store its bytes, check it in the background, show what it would do, then import it."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs import jobs, raw
from costs.models import IngestRun, Job
from costs.sources import SOURCES
from costs.text import printable
from planner import params, run_page
from planner.forms.uploads import AUTO, UploadForm, choices, too_large, uploadable
from planner.fragments import page_or_fragment
from planner.permissions import planner_required
from planner.source_words import about, by_area, param_hint, param_label, parameters, title_of


@planner_required
def upload(request: HttpRequest) -> HttpResponse:
    """Take the file and queue its check; nothing is parsed here."""
    now = timezone.now()
    notices = params.ignored_notice(params.unknown_parameters(request, ("source",)))
    chosen = request.GET.get("source", AUTO)
    if chosen and chosen not in uploadable():
        notices.append(f"No source “{params.shortened(chosen)}” takes files: ignored.")
        chosen = AUTO
    form = UploadForm(chosen=chosen)
    status = 200
    if request.method == "POST":
        form = UploadForm(request.POST, request.FILES)
        if getattr(request, "upload_too_large", False):
            form.errors.pop("file", None)  # that no file came is what was made of it
            form.add_error("file", too_large())
        if form.is_valid():
            try:
                return redirect("upload_preview", _enqueue_check(request, form, now).pk)
            except OSError as error:
                form.add_error("file", f"It could not be stored ({error.strerror}); nothing has changed.")
        status, chosen = 422, form.data.get("source", AUTO)
    return render(request, "planner/upload.html", _context(form, chosen, notices), status=status)


def _context(form: UploadForm, chosen: str, notices: list[str]) -> dict[str, Any]:
    source = SOURCES.get(chosen)
    return {
        "form": form,
        "chosen": chosen if source else AUTO,
        "choices": choices(),
        "candidates": [(name, SOURCES[name].TITLE) for name in form.candidates],
        "layout": _layout(chosen) if source else None,
        "areas": [] if source else _layouts(),
        "notices": notices,
    }


def _enqueue_check(request: HttpRequest, form: UploadForm, now: Any) -> Job:
    file = form.cleaned_data["file"]
    name = printable(file.name, 255)
    stored = raw.store(file.chunks(), name, now)
    work = {
        "source": form.cleaned_data["source"],
        "raw": stored.sha256,
        "name": name,
        "params": form.params(),
    }
    key = f"upload:{uuid.uuid4()}"
    return jobs.enqueue("preview", work, key=key, requested_by=request.user.get_username(), now=now)


def _layouts() -> list[tuple[str, list[dict[str, Any]]]]:
    return [(area, [_layout(name) for name in names]) for area, names in by_area(uploadable())]


def _layout(name: str) -> dict[str, Any]:
    source = SOURCES[name]
    return {
        "name": name,
        "title": source.TITLE,
        "about": about(source),
        "suffixes": ", ".join(source.SUFFIXES),
        "template": source.TEMPLATE,
        "params": [(each, param_label(each), param_hint(each)) for each in parameters(source, of_file=True)],
    }


@planner_required
def upload_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what importing a checked file would do."""
    job = get_object_or_404(Job, pk=pk, kind="preview")
    run = job.runs.order_by("pk").last()
    page = params.whole_number(request.GET.get("page", ""), default=1)
    context = run_page.context(job, run, [], timezone.now(), page)
    context |= {
        "poll": request.path,
        "source_title": title_of(job.params["source"]),
        "told": sorted(job.params["params"].items()),
        "sample": run_page.sample_table(run) if run else {},
        "may_import": _may_import(run),
        "imported": Job.objects.filter(key=_import_key(job)).first(),
        "notices": params.ignored_notice(params.unknown_parameters(request, ("page",))),
    }
    return page_or_fragment(
        request,
        "planner/upload_preview.html",
        "planner/_upload_preview.html",
        context,
        stop_polling=job.is_terminal,
    )


@require_POST
@planner_required
def upload_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Queue the import of a checked file; a second press finds the first one's job."""
    job = get_object_or_404(Job, pk=pk, kind="preview")
    if not _may_import(job.runs.order_by("pk").last()):
        raise Http404("this file was not checked, or nothing of it can be taken")
    work = {name: job.params[name] for name in ("source", "raw", "name", "params")}
    started = jobs.enqueue(
        "ingest",
        work,
        key=_import_key(job),
        requested_by=request.user.get_username(),
        now=timezone.now(),
    )
    return redirect("job_detail", started.pk)


def _may_import(run: IngestRun | None) -> bool:
    return run is not None and run.status == IngestRun.Status.PREVIEWED and run.facts > 0


def _import_key(job: Job) -> str:
    return f"import:{job.pk}"


urlpatterns = [
    path("data/upload/", upload, name="upload"),
    path("data/upload/<int:pk>/", upload_preview, name="upload_preview"),
    path("data/upload/<int:pk>/import/", upload_import, name="upload_import"),
]
