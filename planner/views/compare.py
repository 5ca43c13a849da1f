"""Which plan, next to what the fleet really does: the page, its live figures, its files, and saving."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone

from planner import compare_page
from planner.comparison import Address, Comparison, answer_address, read_address
from planner.comparison.address import MOST_SCENARIOS, PARAMETERS
from planner.comparison.build import FEWEST
from planner.comparison.gather import NothingToCompareError
from planner.downloads import known_format
from planner.exports import FORMATS, comparison_file, comparison_name, read_style
from planner.forms.save_as import SaveAsForm, suggested_name
from planner.models import Scenario
from planner.params import OF_FILES, ignored_notice, unknown_parameters
from planner.permissions import planner_required
from planner.queries import UnknownScenarioError
from planner.scenarios.revisions import create_scenario
from planner.scenarios.save_as import draft_with_overrides

LIVE = "live"  # a slider is moving: only what is drawn while it does


def compare_view(request: HttpRequest) -> HttpResponse:
    """Show the comparison, or the scenarios to choose from."""
    address = _address(request)
    notices = ignored_notice(unknown_parameters(request, PARAMETERS))
    if len(address.scenarios) < FEWEST:
        said = [*notices, *address.notices]
        if address.scenarios:
            said.append("One scenario alone is no comparison: choose two to four.")
        return _picker(request, said)
    try:
        comparison = _answer(address, notices)
    except NothingToCompareError as error:
        return _picker(request, error.notices)
    print_view = "print" in request.GET.getlist("view")
    context = compare_page.context(comparison, print_view=print_view) | {"choices": _choices(comparison)}
    return render(request, "planner/compare.html", context)


def _picker(request: HttpRequest, notices: Sequence[str]) -> HttpResponse:
    choices = Scenario.objects.only("slug", "name", "is_sample", "is_plan_of_record")
    return render(request, "planner/compare.html", {"choices": choices, "notices": notices})


def preview(request: HttpRequest) -> JsonResponse:
    """Answer a moved slider with the parts of the page that change."""
    address = _address(request)
    if len(address.scenarios) < FEWEST:
        raise Http404("two to four scenarios")
    live = request.GET.get(LIVE) == "1"
    notices = ignored_notice(unknown_parameters(request, (*PARAMETERS, LIVE)))
    comparison = _answer_or_404(address, notices)
    choices = [] if live else _choices(comparison)
    return JsonResponse(compare_page.preview(request, comparison, choices, live=live))


def compare_file(request: HttpRequest, fmt: str) -> HttpResponse:
    """Send what the page shows as a file."""
    known_format(fmt)
    address = _address(request)
    if len(address.scenarios) < FEWEST:
        raise Http404("two to four scenarios")
    notices = ignored_notice(unknown_parameters(request, (*PARAMETERS, *OF_FILES)))
    comparison = _answer_or_404(address, notices)
    content = comparison_file(comparison, fmt, read_style(request.GET.get))
    response = HttpResponse(content, content_type=FORMATS[fmt])
    response["Content-Disposition"] = f'attachment; filename="{comparison_name(comparison)}.{fmt}"'
    return response


@planner_required
def save(request: HttpRequest) -> HttpResponse:
    """Store one scenario with the what-if values of the address as a scenario of its own."""
    address = _address(request)
    if len(address.scenarios) < FEWEST:
        raise Http404("two to four scenarios")
    comparison = _answer_or_404(address, ())
    best = comparison.answer.letter or comparison.columns[-1].letter
    letters = [(column.letter, f"{column.letter} {column.name}") for column in comparison.columns]
    form = SaveAsForm(
        request.POST if request.method == "POST" else None,
        letters=letters,
        label_suffix="",
        initial={"letter": best, "name": suggested_name(comparison, best)},
    )
    if request.method == "POST" and form.is_valid():
        column = comparison.column(form.cleaned_data["letter"])
        scenario = create_scenario(
            form.cleaned_data["name"],
            draft_with_overrides(column, comparison),
            owner=request.user,  # type: ignore[arg-type] # every page needs a login, so this is a Person
            now=timezone.now(),
            is_sample=column.is_sample,
        )
        messages.success(request, f"Saved as {scenario.name}.")
        return redirect(f"{reverse('compare')}?{_with_saved(address, scenario.slug)}")
    context = {"form": form, "comparison": comparison, "query": _as_it_was(address, comparison)}
    return render(request, "planner/compare_save.html", context)


def _address(request: HttpRequest) -> Address:
    return read_address(dict(request.GET.lists()))


def _answer(address: Address, notices: Any) -> Comparison:
    try:
        return answer_address(address, timezone.now(), notices)
    except UnknownScenarioError as error:
        raise Http404(f"no scenario {error.args[0]!r}") from None


def _answer_or_404(address: Address, notices: Any) -> Comparison:
    try:
        return _answer(address, notices)
    except NothingToCompareError as error:
        raise Http404(str(error)) from None


def _choices(comparison: Comparison) -> Any:
    """Return the scenarios that could stand beside these."""
    shown = [column.slug for column in comparison.columns]
    rest = Scenario.objects.filter(is_sample=comparison.is_sample).exclude(slug__in=shown)
    return rest.only("slug", "name", "is_sample", "is_plan_of_record")


def _as_it_was(address: Address, comparison: Comparison) -> str:
    """Return the query of the comparison to go back to: live where the frozen one is what live shows."""
    live = replace(
        address, as_of=None, scenarios=tuple(replace(one, revision=None) for one in address.scenarios)
    )
    now = _answer_or_404(live, ()) if address.as_of is not None else comparison
    return live.query() if now.frozen_query == comparison.frozen_query else address.query()


def _with_saved(address: Address, slug: str) -> str:
    """Return the saved scenarios side by side: the new one in the last place, without the what-if values."""
    kept = [chosen.slug for chosen in address.scenarios][: MOST_SCENARIOS - 1]
    pairs = [f"s={one}" for one in (*kept, slug)]
    if address.view != "cash":
        pairs.append(f"view={address.view}")
    return "&".join(pairs)


urlpatterns = [
    path("compare/", compare_view, name="compare"),
    path("compare/preview/", preview, name="compare_preview"),
    path("compare/save/", save, name="compare_save"),
    path("compare.<str:fmt>", compare_file, name="compare_file"),
]
