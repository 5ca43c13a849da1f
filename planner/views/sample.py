"""Look around with sample data: load it, watch it come, remove it."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs import jobs
from costs.models import Job
from planner import run_page
from planner.fragments import go_on, page_or_fragment
from planner.params import address
from planner.permissions import planner_required
from planner.sample import load as sample
from planner.templatetags.units import count


@require_POST
@planner_required
def sample_load(request: HttpRequest) -> HttpResponse:
    """Queue the load; while one is under way, show that one."""
    job = Job.objects.filter(kind="sample").exclude(status__in=Job.TERMINAL).first()
    if job is None:
        job = jobs.enqueue(
            "sample",
            {},
            key=f"sample:{uuid.uuid4()}",
            requested_by=request.user.get_username(),
            now=timezone.now(),
        )
    return redirect("sample_progress", job.pk)


@planner_required
def sample_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far the load is, then go on to the comparison of its four plans."""
    job = get_object_or_404(Job, pk=pk, kind="sample")
    compare = _compare_address()
    if job.status == Job.Status.DONE and compare:
        return go_on(request, compare)
    context = {
        "job": job,
        "poll": request.path,
        "ended": job.is_terminal,
        "state": run_page.state(job.status),
        "progress": None if job.is_terminal else run_page.progress(job, None, timezone.now()),
    }
    return page_or_fragment(
        request,
        "planner/sample_progress.html",
        "planner/_sample_progress.html",
        context,
        stop_polling=job.is_terminal,
    )


def _compare_address() -> str:
    slugs = sample.scenario_slugs()
    return address(reverse("compare"), [("s", slug) for slug in slugs]) if slugs else ""


@require_POST
@planner_required
def sample_remove(request: HttpRequest) -> HttpResponse:
    """Remove every sample fact and plan at once."""
    removed = sample.remove()
    messages.success(
        request,
        f"Sample data are gone: {count(removed['utilization'])} hours of use and "
        f"{count(removed['scenarios'])} plans. Your own data are untouched.",
    )
    return redirect("overview")


urlpatterns = [
    path("sample/load/", sample_load, name="sample_load"),
    path("sample/<int:pk>/", sample_progress, name="sample_progress"),
    path("sample/remove/", sample_remove, name="sample_remove"),
]
