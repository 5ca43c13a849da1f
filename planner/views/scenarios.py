"""Plans: the list, one plan's result, making and editing them."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from planner.comparison.address import ONE_DATE, Address, moment_text, read_address
from planner.downloads import Download, download, file_name, known_format
from planner.exports import FORMATS, LIST_COLUMNS, list_file_rows, read_style, result_file, result_name
from planner.models import Revision, Scenario
from planner.params import OF_FILES, address, ignored_notice, unknown_parameters, whole_number
from planner.permissions import planner_required
from planner.queries import UnknownScenarioError, scenarios_by_slug
from planner.scenarios.listing import list_rows
from planner.scenarios.old_prices import old_prices, use_todays_prices
from planner.scenarios.plan_cache import data_date, loaded_plans
from planner.scenarios.result import ScenarioResult, scenario_result
from planner.scenarios.revisions import StaleEditError, make_plan_of_record
from planner.views import scenario_forms

PER_PAGE = 50
LIST_PARAMETERS = ("q", "page")
RESULT_PARAMETERS = ("view", "as_of", "prices", "rev")


def scenario_list(request: HttpRequest) -> HttpResponse:
    """Show which plans exist and which one is followed."""
    date = data_date(timezone.now())
    chosen = _chosen(request)
    paginator = Paginator(chosen, PER_PAGE)
    page = paginator.get_page(whole_number(request.GET.get("page", ""), default=1))
    rows = list_rows(list(page.object_list), date)
    context = {
        "rows": rows,
        "old_prices": old_prices(rows, timezone.now()),
        "page": page,
        "pages": _pages(request, page),
        "q": request.GET.get("q", ""),
        "query": _list_query(request),
        "record": Scenario.objects.filter(is_plan_of_record=True).first(),
        "as_of": date.as_of,
        "notices": ignored_notice(unknown_parameters(request, LIST_PARAMETERS)),
    }
    return render(request, "planner/scenario_list.html", context)


def scenario_list_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the list as a file: all rows that the search finds."""
    known_format(fmt)
    date = data_date(timezone.now())
    rows = list_rows(list(_chosen(request)), date)
    content = Download(
        name=file_name("scenarios", request.GET.get("q", ""), f"{date.as_of:%Y-%m-%d}"),
        address=reverse("scenario_list") + _list_query(request),
        as_of=date.as_of,
        columns=LIST_COLUMNS,
        rows=list_file_rows(rows),
    )
    return download(request, fmt, content)


def scenario_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what one plan costs, when, and where its numbers come from."""
    try:
        result, notices = _result(request, slug, RESULT_PARAMETERS)
    except ValueError as refused:
        scenario = get_object_or_404(Scenario, slug=slug)
        return render(request, "planner/scenario_refused.html", {"scenario": scenario, "reason": refused})
    context = {
        "result": result,
        "comparison": result,  # the explanations of figures are looked up there
        "notices": notices,
        "revisions": _revisions(result.scenario),
        "others": Scenario.objects.filter(is_sample=result.scenario.is_sample)
        .exclude(pk=result.scenario.pk)
        .only("slug", "name")[:3],
    }
    return render(request, "planner/scenario_detail.html", context)


def scenario_file(request: HttpRequest, slug: str, fmt: str) -> HttpResponse:
    """Send the months of one plan as a file."""
    known_format(fmt)
    try:
        result, _ = _result(request, slug, (*RESULT_PARAMETERS, *OF_FILES))
    except ValueError as refused:
        raise Http404(str(refused)) from None
    content = result_file(result, fmt, read_style(request.GET.get))
    response = HttpResponse(content, content_type=FORMATS[fmt])
    response["Content-Disposition"] = f'attachment; filename="{result_name(result)}.{fmt}"'
    return response


@planner_required
@require_POST
def scenario_record(request: HttpRequest, slug: str) -> HttpResponse:
    """Make one plan the plan of record."""
    scenario = get_object_or_404(Scenario, slug=slug)
    make_plan_of_record(scenario)
    messages.success(request, f"{scenario.name} is now the plan of record.")
    return redirect("scenario_detail", slug=slug)


@planner_required
@require_POST
def scenario_refresh(request: HttpRequest) -> HttpResponse:
    """Save the scenarios named by `s` again, each in a new revision with today's prices."""
    now = timezone.now()
    try:
        scenarios = scenarios_by_slug(list(dict.fromkeys(request.POST.getlist("s")[:PER_PAGE])))
    except UnknownScenarioError as error:
        raise Http404(f"no scenario {error.args[0]!r}") from None
    person, date = scenario_forms.person_of(request), data_date(now)
    for scenario in scenarios:
        try:
            said = use_todays_prices(scenario, date, author=person, now=now)
        except StaleEditError:
            messages.error(request, f"{scenario.name} was saved by somebody else meanwhile: try again.")
        else:
            messages.success(request, said)
    if len(scenarios) == 1:
        return redirect("scenario_detail", slug=scenarios[0].slug)
    return redirect("scenario_list")


def _chosen(request: HttpRequest) -> Any:
    scenarios = Scenario.objects.select_related("owner")
    words = request.GET.get("q", "").encode("utf-8", "ignore").decode().replace("\0", " ").split()
    for word in words:
        scenarios = scenarios.filter(name__icontains=word)
    return scenarios


def _list_query(request: HttpRequest) -> str:
    q = request.GET.get("q", "")
    return address("", [("q", q)]) if q else ""


def _pages(request: HttpRequest, page: Any) -> dict[str, Any]:
    def link(number: int) -> str:
        pairs = [("q", request.GET["q"])] if request.GET.get("q") else []
        return address(reverse("scenario_list"), [*pairs, ("page", str(number))])

    return {
        "before": link(page.previous_page_number()) if page.has_previous() else "",
        "after": link(page.next_page_number()) if page.has_next() else "",
    }


def _result(request: HttpRequest, slug: str, known: tuple[str, ...]) -> tuple[ScenarioResult, list[str]]:
    scenario = get_object_or_404(Scenario.objects.select_related("owner"), slug=slug)
    asked = _asked(request)
    notices = [*ignored_notice(unknown_parameters(request, known)), *asked.notices]
    date = data_date(timezone.now(), asked.as_of, for_all=asked.one_date)
    loaded = loaded_plans([_revision(request, scenario, notices)], date)[0]
    kept = {"rev": request.GET.get("rev", "") and str(loaded.revision.number)}
    if asked.as_of is not None:
        kept["as_of"] = moment_text(date.as_of)
    if asked.one_date:
        kept["prices"] = ONE_DATE
    return scenario_result(scenario, loaded, asked.view, date, kept), notices


def _asked(request: HttpRequest) -> Address:
    return read_address({name: request.GET.getlist(name) for name in ("view", "as_of", "prices")})


def _revision(request: HttpRequest, scenario: Scenario, notices: list[str]) -> Revision:
    newest = scenario.revisions.order_by("-number").first()
    if newest is None:
        raise Http404("a scenario without a revision")
    text = request.GET.get("rev", "")
    if not text:
        return newest
    number = whole_number(text, default=0, most=10**8)
    found = scenario.revisions.filter(number=number).first()
    if found is None:
        notices.append(f"There is no such revision: this is the newest, {newest.number}.")
        return newest
    return found


def _revisions(scenario: Scenario) -> Any:
    return scenario.revisions.select_related("author").order_by("-number")[:20]


urlpatterns = [
    path("scenarios/", scenario_list, name="scenario_list"),
    path("scenarios.<str:fmt>", scenario_list_file, name="scenario_list_file"),
    path("scenarios/new/", scenario_forms.scenario_new, name="scenario_new"),
    # two parts, so that no scenario's address can be this one
    path("scenarios/prices/refresh/", scenario_refresh, name="scenario_refresh"),
    path("scenarios/<slug:slug>.<str:fmt>", scenario_file, name="scenario_file"),
    path("scenarios/<slug:slug>/", scenario_detail, name="scenario_detail"),
    path("scenarios/<slug:slug>/edit/", scenario_forms.scenario_edit, name="scenario_edit"),
    path("scenarios/<slug:slug>/record/", scenario_record, name="scenario_record"),
]
