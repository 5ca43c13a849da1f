"""Is the data complete, fresh and right? All sources, and the page of each with its schedule."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs import jobs, schedule
from costs.models import Schedule
from costs.queries import runs, utilization
from costs.sources import SOURCES
from costs.sources.fetchable import BUNDLED, can_fetch
from planner import params, run_page, source_page, sources_page
from planner.context import side_foot
from planner.downloads import Download, download, file_name, known_format
from planner.forms.schedules import ScheduleForm
from planner.permissions import planner_required
from planner.source_words import KINDS, title_of, without_key
from planner.sources_page import COLUMNS, FILTERS, SourceFilter
from planner.views import quarantine, spellings, uploads
from planner.views import runs as run_views


def source_list(request: HttpRequest) -> HttpResponse:
    """Show every source with its age, what waits for somebody, and the newest runs."""
    now = timezone.now()
    chosen = sources_page.read_filter(request.GET)
    unknown = params.unknown_parameters(request, FILTERS)
    if not unknown and not chosen.notices and params.given_pairs(request, FILTERS) != chosen.pairs():
        kept = params.given_pairs(request, params.EVERYWHERE)
        return redirect(_list_address(chosen.pairs() + kept))
    rows = runs.freshness(now)
    lines = sources_page.source_lines(rows, now)
    shown = [line for line in lines if chosen.takes(line)]
    used = [line for line in shown if line.row.is_used]
    known = [row for row in rows if row.state != "never"]
    context = {
        "chosen": chosen,
        "kinds": sorted({row.kind: KINDS.get(row.kind, row.kind) for row in rows}.items()),
        "states": runs.STATES,
        "chips": [(text, _list_address(pairs)) for text, pairs in sources_page.chips(chosen)],
        "areas": sources_page.in_areas(used),
        "unused": sources_page.in_areas(line for line in shown if not line.row.is_used),
        "unused_count": len(shown) - len(used),
        "fresh": sum(row.state == "fresh" for row in known),
        "total": len(known),
        "waiting": sum(line.waiting for line in lines),
        "unmapped": sum(not line.means for line in spellings.name_lines(now)),
        # what comes with the product is there from the first start
        "is_start": all(line.row.name in BUNDLED for line in lines if line.row.is_used),
        "load": [title_of(name) for name in without_key()],
        "recent": [{"run": run, "state": run_page.state(run.status)} for run in runs.recent_runs(12)],
        "now": now,
        "side_foot": side_foot(rows),  # the same rows: asked for once
        "has_sample": utilization.has_data(sample=True),
        "csv": _file_address(chosen, "csv"),
        "json": _file_address(chosen, "json"),
        "notices": params.ignored_notice(unknown) + list(chosen.notices),
    }
    return render(request, "planner/sources.html", context)


def _list_address(pairs: params.Pairs) -> str:
    return params.address(reverse("source_list"), pairs)


def _file_address(chosen: SourceFilter, fmt: str) -> str:
    return params.address(reverse("source_list_file", args=[fmt]), chosen.pairs())


def source_list_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the table of sources as it stands on the page."""
    known_format(fmt)
    now, chosen = timezone.now(), sources_page.read_filter(request.GET)
    lines = sources_page.source_lines(runs.freshness(now), now)
    content = Download(
        name=file_name("sources", *(value for _, value in chosen.pairs()), f"{now:%Y-%m-%d}"),
        address=_list_address(chosen.pairs()),
        as_of=now,
        columns=COLUMNS,
        rows=[line.cells for line in lines if chosen.takes(line)],
    )
    return download(request, fmt, content)


@require_POST
@planner_required
def load_price_lists(request: HttpRequest) -> HttpResponse:
    """Fetch, now and from now on, what tells prices and needs no key."""
    names = without_key()
    made = schedule.switch_on(names, changed_by=request.user.get_username(), now=timezone.now())
    listed = ", ".join(title_of(job.params["source"]) for job in made)
    told = f"Being loaded: {listed}." if made else "They are on already; each comes when it is due."
    messages.success(request, f"{told} The worker goes through them; what ran lately stands below.")
    return redirect("source_list")


def source_detail(request: HttpRequest, source: str) -> HttpResponse:
    """Show what one source is, when it is fetched, and every run of it."""
    return _detail(request, _known(source))


def _detail(request: HttpRequest, name: str, posted: ScheduleForm | None = None) -> HttpResponse:
    page = params.whole_number(request.GET.get("page", ""), default=1)
    context = source_page.context(name, timezone.now(), page, posted)
    context["notices"] = params.ignored_notice(params.unknown_parameters(request, ("page",)))
    return render(request, "planner/source.html", context, status=422 if posted else 200)


def _known(source: str) -> str:
    if source not in SOURCES:
        raise Http404(f"no source {source!r}")
    return source


@require_POST
@planner_required
def schedule_change(request: HttpRequest, source: str) -> HttpResponse:
    """Set how often a source is fetched, and whether it is."""
    if not can_fetch(_known(source)):
        raise Http404(f"nothing to fetch for {source}")
    form = ScheduleForm(request.POST)
    if not form.is_valid():
        return _detail(request, source, form)
    said, now = form.cleaned_data, timezone.now()
    row = _schedule(source, said["params_key"])
    schedule.change(
        row.pk,
        every_minutes=said["minutes"],
        is_enabled=said["is_on"],
        changed_by=request.user.get_username(),
        now=now,
    )
    words = "comes by itself, the first time within a minute" if said["is_on"] else "comes no more by itself"
    messages.success(request, f"Saved: {title_of(source)} {words}.")
    return redirect("source_detail", source)


def _schedule(source: str, params_key: str) -> Schedule:
    schedule.ensure_rows()  # where no worker has made them yet
    row = Schedule.objects.filter(source=source, params_key=params_key).first()
    if row is None:
        raise Http404(f"no schedule of {source} with {params_key!r}")
    return row


@require_POST
@planner_required
def run_now(request: HttpRequest, source: str) -> HttpResponse:
    """Queue a fetch of a source that has something to fetch."""
    if source not in SOURCES or not can_fetch(source):
        raise Http404(f"nothing to fetch for {source}")
    job = schedule.open_job(source)
    if job is None:
        work: dict[str, Any] = {"source": source, "raw": None, "name": "", "params": {}}
        by = request.user.get_username()
        job = jobs.enqueue(
            "ingest", work, key=f"run:{source}:{uuid.uuid4()}", requested_by=by, now=timezone.now()
        )
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
    path("data/load-price-lists/", load_price_lists, name="load_price_lists"),
    *run_views.urlpatterns,
    *uploads.urlpatterns,
    *quarantine.urlpatterns,
    *spellings.urlpatterns,
    # a source's name comes last: what is above is no source
    path("data/<slug:source>/", source_detail, name="source_detail"),
    path("data/<slug:source>/template.csv", source_template, name="source_template"),
    path("data/<slug:source>/run/", run_now, name="run_now"),
    path("data/<slug:source>/schedule/", schedule_change, name="schedule_change"),
]
