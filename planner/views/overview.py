"""The first page: is the fleet busy enough for the plan?"""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone

from planner import charts, params
from planner.comparison.result import MeasuredUse
from planner.csv_cells import Column
from planner.downloads import Download, download, file_name, known_format
from planner.overview import DATA_NAMES, overview

KNOWN = ("data",)
WEEK_COLUMNS = (
    Column("week", "time"),
    Column("series"),
    Column("utilization_share", "number"),
    Column("busy_gpus", "number"),
    Column("unit"),
    Column("is_sample"),
    Column("as_of", "time"),
)


def overview_page(request: HttpRequest) -> HttpResponse:
    """Show the last measured week against the plan of record, or what to do first."""
    asked = request.GET.get("data", "")
    page = overview(timezone.now(), asked)
    notices = params.ignored_notice(params.unknown_parameters(request, KNOWN))
    if asked and asked not in DATA_NAMES:
        notices.append(f"data={params.shortened(asked)}: own or sample; {page.data} is shown.")
    # the explanations of figures are looked up under "comparison"
    context = {"page": page, "comparison": page, "notices": notices}
    if page.measured is not None:
        context |= {
            "use_figure": charts.weekly_use(page.measured, page.break_evens, height_px=charts.USE_PX),
            "use_label": charts.weekly_label(page.measured, page.break_evens),
            "use_table": charts.use_table(page.measured),
        }
    return render(request, "planner/overview.html", context)


def overview_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the weeks of the page's chart: the fleet and its pools."""
    known_format(fmt)
    now = timezone.now()
    page = overview(now, request.GET.get("data", ""))
    content = Download(
        name=file_name("overview", "weekly use", page.data, f"{now:%Y-%m-%d}"),
        address=params.address(reverse("overview"), [("data", page.data)]),
        as_of=page.measured_until or now,
        columns=WEEK_COLUMNS,
        rows=[
            [*row, "share of available GPU-hours", page.data == "sample", page.measured_until]
            for row in ([] if page.measured is None else _week_rows(page.measured))
        ],
    )
    return download(request, fmt, content)


def _week_rows(measured: MeasuredUse) -> Iterator[list[Any]]:
    for series in (measured.fleet, *measured.pools):
        is_fleet = series is measured.fleet
        for week, share, busy in zip(measured.weeks, series.shares, measured.busy_gpus, strict=True):
            yield [week, series.label, share, busy if is_fleet else None]


urlpatterns = [
    path("", overview_page, name="overview"),
    path("overview.<str:fmt>", overview_file, name="overview_file"),
]
