"""Making and editing plans."""

from datetime import datetime
from decimal import Decimal

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from costs.models import Accelerator
from costs.queries import utilization
from planner.core.evaluate import evaluate
from planner.forms.editor import Editor
from planner.forms.listed_price import suggestions
from planner.forms.offered_supply import PARAMETER, offered_rows
from planner.forms.wizard import WizardForm
from planner.models import Person, Revision, Scenario
from planner.params import address
from planner.permissions import planner_required
from planner.queries import load_plan, whole_revisions
from planner.scenarios.changes import changes_between
from planner.scenarios.plan_cache import data_date
from planner.scenarios.revisions import StaleEditError, add_revision, create_scenario
from planner.scenarios.wizard import PLACE_MARK, Answers, drafts, gpus, offer_at, places, regions_selling

REGIONS_NAMED = 6


@planner_required
def scenario_new(request: HttpRequest) -> HttpResponse:
    """Ask five questions, then show the answer on Compare."""
    now = timezone.now()
    as_of = data_date(now).as_of
    offered = gpus(as_of)
    data = request.POST if request.method == "POST" else None
    form = WizardForm(data, gpus=offered, places=places(as_of), initial=_measured(as_of), label_suffix="")
    if request.method == "POST" and form.is_valid():
        slugs = _made(request, form, as_of, now)
        if slugs:
            return redirect(address(reverse("compare"), [("s", slug) for slug in slugs]))
    return render(request, "planner/scenario_new.html", {"form": form, "has_prices": bool(offered)})


@planner_required
def scenario_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit the newest revision; saving makes the next one."""
    scenario = get_object_or_404(Scenario, slug=slug)
    newest = whole_revisions().filter(scenario=scenario).order_by("-number")[0]
    as_of = data_date(timezone.now()).as_of
    if request.method != "POST":
        added = offered_rows(request.GET.getlist(PARAMETER), newest, as_of)
        editor = Editor(newest, _gpu_models(newest), added=added)
        return _editor_page(request, scenario, editor, newest, as_of, added=len(added))
    base = _edited(request, scenario, newest)
    editor = Editor(base, _gpu_models(newest), request.POST)
    changed: list[str] = []
    if editor.is_valid(as_of):
        try:
            return _saved(request, scenario, editor, as_of)
        except StaleEditError as stale:
            theirs = whole_revisions().get(pk=stale.newest.pk)
            changed = changes_between(base, theirs)
            editor.accept_newest(theirs)
        except ValueError as refused:
            editor.plan.add_error(None, str(refused))
    return _editor_page(request, scenario, editor, newest, as_of, changed)


def _measured(as_of: datetime) -> dict[str, Decimal]:
    """Return what the fleet's own measurement answers already."""
    found = utilization.measured(sample=False, as_of=as_of)
    if found is None:
        return {"growth": Decimal(0)}
    growth = Decimal(str(round(found.growth_per_month or 0.0, 4)))
    return {"gpus_busy": found.busy_gpus.quantize(Decimal("0.1")), "growth": growth}


def _made(request: HttpRequest, form: WizardForm, as_of: datetime, now: datetime) -> list[str]:
    """Save the scenarios of the answers and return their addresses; none where the GPU is not sold."""
    values = form.cleaned_data
    provider, _, region = values["place"].partition(PLACE_MARK)
    answers = Answers(
        values["gpu"], values["gpus_busy"], values["growth"], provider, region, values["usd_per_gpu"]
    )
    offer = offer_at(answers, as_of)
    if offer is None:
        selling = regions_selling(answers.gpu, as_of)
        listed = "; ".join(selling[:REGIONS_NAMED]) or "no cloud on file"
        more = f" and {len(selling) - REGIONS_NAMED} more" if len(selling) > REGIONS_NAMED else ""
        form.add_error("place", f"This GPU has no on-demand price there. It has one at: {listed}{more}.")
        return []
    with transaction.atomic():
        made = [
            create_scenario(name, draft, owner=person_of(request), now=now)
            for name, draft in drafts(answers, offer, as_of)
        ]
    return [scenario.slug for scenario in made]


def _saved(request: HttpRequest, scenario: Scenario, editor: Editor, as_of: datetime) -> HttpResponse:
    values = editor.plan.cleaned_data
    scenario.name, scenario.note = values["name"], values["note"]
    with transaction.atomic():
        revision = add_revision(
            scenario,
            editor.draft(),
            edited=values["edited"],
            author=person_of(request),
            now=timezone.now(),
        )
        # the core refuses what no field can see alone; then nothing is stored
        evaluate(load_plan(whole_revisions().get(pk=revision.pk), as_of).plan)
    messages.success(request, f"Saved as revision {revision.number}.")
    return redirect("scenario_detail", slug=scenario.slug)


def _edited(request: HttpRequest, scenario: Scenario, newest: Revision) -> Revision:
    """Return the revision that the browser edited, the newest where it names none."""
    text = request.POST.get("edited", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        return newest
    return whole_revisions().filter(scenario=scenario, number=int(text)).first() or newest


def _editor_page(
    request: HttpRequest,
    scenario: Scenario,
    editor: Editor,
    newest: Revision,
    as_of: datetime,
    changed: list[str] | None = None,
    added: int = 0,
) -> HttpResponse:
    context = {
        "scenario": scenario,
        "editor": editor,
        "newest": newest,
        "changed": changed,
        "added": added,
        "suggestions": suggestions(newest.gpu_model, newest.prices_as_of or as_of),
    }
    return render(request, "planner/scenario_edit.html", context)


def _gpu_models(revision: Revision) -> list[tuple[str, str]]:
    known = list(Accelerator.objects.values_list("slug", "name").order_by("name"))
    if revision.gpu_model not in {slug for slug, _ in known}:
        known.append((revision.gpu_model, revision.gpu_model))
    return known


def person_of(request: HttpRequest) -> Person:
    """Return who is logged in: every page that plans needs that."""
    if not isinstance(request.user, Person):
        raise TypeError("this page needs a login")
    return request.user
