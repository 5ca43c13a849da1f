"""Names of GPUs that no table knows: say what they mean, and read again what was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs.models import Accelerator, Job
from costs.names import accelerator_key
from costs.queries.spellings import UnmappedName, unmapped_names
from costs.sources import SOURCES
from costs.spellings import order_spelling, read_again
from costs.staging import known_accelerators
from planner import params
from planner.csv_cells import Column
from planner.downloads import Download, download, file_name, known_format
from planner.forms.spellings import SpellingForm
from planner.permissions import planner_required
from planner.source_words import title_of
from planner.templatetags.units import count

COLUMNS = (
    Column("name"),
    Column("means_now"),
    Column("lines", "number"),
    Column("source"),
    Column("file"),
    Column("file_lines", "number"),
    Column("first_line", "number"),
    Column("source_run", "number"),
)


@dataclass(frozen=True)
class NameLine:
    """One name of the list; `means` is the accelerator that it would find today."""

    unmapped: UnmappedName
    means: str

    @property
    def files(self) -> list[dict[str, Any]]:
        return [{"refusal": refusal, "title": title_of(refusal.source)} for refusal in self.unmapped.refusals]


def name_lines(now: datetime) -> list[NameLine]:
    """Return every name that the newest lists were refused for, those still unknown first."""
    names = unmapped_names(now, [name for name, source in SOURCES.items() if source.MODE == "snapshot"])
    slugs = known_accelerators().slug_by_key if names else {}
    lines = [NameLine(name, slugs.get(accelerator_key(name.name), "")) for name in names]
    return sorted(lines, key=lambda line: bool(line.means))


def spelling_list(request: HttpRequest) -> HttpResponse:
    """Show the names, each with a form that says what it means."""
    return _page(request, params.ignored_notice(params.unknown_parameters(request, ())))


def _page(request: HttpRequest, notices: Sequence[str], form: SpellingForm | None = None) -> HttpResponse:
    now = timezone.now()
    lines = name_lines(now)
    context = {
        "unknown": [line for line in lines if not line.means],
        "known": [line for line in lines if line.means],
        "accelerators": _accelerators() if lines else {},
        "form": form,
        "refused": form.data.get("spelling", "") if form else "",
        "open_jobs": Job.objects.filter(kind="ingest", params__source="aliases").exclude(
            status__in=Job.TERMINAL
        )[:5],
        "has_table": Accelerator.objects.exists(),
        "notices": notices,
    }
    return render(request, "planner/spellings.html", context, status=422 if form else 200)


def _accelerators() -> dict[str, str]:
    return dict(Accelerator.objects.values_list("slug", "name"))


def spelling_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send every name with every file that was refused for it."""
    known_format(fmt)
    now = timezone.now()
    content = Download(
        name=file_name("unmapped names", f"{now:%Y-%m-%d}"),
        address=reverse("spellings"),
        as_of=now,
        columns=COLUMNS,
        rows=[
            [
                line.unmapped.name,
                line.means,
                line.unmapped.lines,
                refusal.source,
                refusal.origin,
                refusal.lines,
                refusal.first_line,
                refusal.run_id,
            ]
            for line in name_lines(now)
            for refusal in line.unmapped.refusals
        ],
    )
    return download(request, fmt, content)


@require_POST
@planner_required
def spelling_add(request: HttpRequest) -> HttpResponse:
    """Queue the one-line file that says which GPU a name means."""
    slugs = known_accelerators().slug_by_key
    form = SpellingForm(request.POST, accelerators=_accelerators(), slugs=slugs)
    if not form.is_valid():
        return _page(request, [], form)
    said = form.cleaned_data
    order_spelling(
        said["spelling"],
        said["accelerator"],
        said["note"],
        requested_by=request.user.get_username(),
        now=timezone.now(),
    )
    messages.success(
        request,
        f"“{params.shortened(said['spelling'])}” will mean {form.accelerators[said['accelerator']]}. "
        "Then read its files again.",
    )
    return redirect("spellings")


@require_POST
@planner_required
def spelling_read_again(request: HttpRequest) -> HttpResponse:
    """Queue the files once more that were refused for names which are known by now."""
    now = timezone.now()
    runs = {run for line in name_lines(now) if line.means for run in line.unmapped.run_ids}
    made = read_again(runs, requested_by=request.user.get_username(), now=now)
    if len(made) == 1:
        return redirect("job_detail", made[0].pk)
    gone = len(runs) - len(made)
    told = f"{count(len(made))} files are read again; what ran lately stands on the page of sources."
    if gone:
        told += f" Of {count(gone)} the bytes are no longer stored: upload them again."
    if made:
        messages.success(request, told)
    else:
        messages.warning(request, "There is no file to read again." if not gone else told)
    return redirect("spellings")


urlpatterns = [
    path("data/spellings/", spelling_list, name="spellings"),
    path("data/spellings.<str:fmt>", spelling_file, name="spellings_file"),
    path("data/spellings/add/", spelling_add, name="spelling_add"),
    path("data/spellings/read-again/", spelling_read_again, name="spelling_read_again"),
]
