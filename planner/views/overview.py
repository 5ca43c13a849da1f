"""The first page: is the fleet busy enough for the plan?"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone

from planner import charts, params
from planner.overview import DATA_NAMES, overview

KNOWN = ("data",)


def overview_page(request: HttpRequest) -> HttpResponse:
    """Show the last measured week against the plan of record, or what to do first."""
    asked = request.GET.get("data", "")
    page = overview(timezone.now(), asked)
    notices = params.ignored_notice(params.unknown_parameters(request, KNOWN))
    if asked and asked not in DATA_NAMES:
        notices.append(f"data={params.shortened(asked)}: own or sample; {page.data} is shown.")
    context = {"page": page, "notices": notices}
    if page.measured is not None:
        context |= {
            "use_figure": charts.weekly_use(page.measured, page.break_evens, height_px=charts.USE_PX),
            "use_label": charts.weekly_label(page.measured, page.break_evens),
            "use_table": charts.use_table(page.measured),
        }
    return render(request, "planner/overview.html", context)


urlpatterns = [path("", overview_page, name="overview")]
