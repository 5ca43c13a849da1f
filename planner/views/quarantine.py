"""What looks wrong and waits for a person: the list, its file, and the decision."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from costs.fact_words import rule_words
from costs.models import Job, QuarantinedFact
from costs.quarantine import Undecidable, keep_out, release
from costs.queries import quarantine
from planner import params
from planner.downloads import Download, download, file_name, known_format
from planner.forms.quarantine import DecisionForm
from planner.permissions import planner_required
from planner.quarantine_page import (
    COLUMNS,
    FILTERS,
    STATUSES,
    HeldFilter,
    in_rules,
    lines,
    read_filter,
)
from planner.source_words import title_of
from planner.templatetags.units import count

PER_PAGE = 50
KNOWN = (*FILTERS, "page")


def quarantine_list(request: HttpRequest) -> HttpResponse:
    """Show what was held back and why, by rule."""
    chosen = read_filter(request.GET)
    unknown = params.unknown_parameters(request, KNOWN)
    number = params.whole_number(request.GET.get("page", ""), default=1, most=10**6)
    pairs = chosen.pairs(page=number if number > 1 else "")
    if not unknown and not chosen.notices and params.given_pairs(request, KNOWN) != pairs:
        kept = params.given_pairs(request, params.EVERYWHERE)
        return redirect(params.address(reverse("quarantine"), pairs + kept))
    notices = params.ignored_notice(unknown) + list(chosen.notices)
    return _page(request, chosen, number, notices)


def _page(
    request: HttpRequest,
    chosen: HeldFilter,
    number: int,
    notices: list[str],
    form: DecisionForm | None = None,
) -> HttpResponse:
    rows = _rows(chosen)
    rules = quarantine.rules_of(_rows(chosen, rule=""))
    page = Paginator(rows, PER_PAGE).get_page(number)
    context = {
        "chosen": chosen,
        "form": form or DecisionForm(matching=rows),
        "groups": in_rules(lines(page.object_list), rules),
        "rules": [(rule, rule_words(rule.rule), _link(chosen, rule=rule.rule)) for rule in rules],
        "all_rules": _link(chosen, rule=""),
        "rows_held": sum(rule.rows for rule in rules if chosen.rule in ("", rule.rule)),
        "statuses": [
            (status, words, _link(chosen, status=status, rule="")) for status, words in STATUSES.items()
        ],
        "sources": _sources(chosen),
        "page": page,
        "pages": {
            "before": _link(chosen, page=page.previous_page_number()) if page.has_previous() else "",
            "after": _link(chosen, page=page.next_page_number()) if page.has_next() else "",
        },
        "decidable": quarantine.decidable(rows).count(),
        "filter_pairs": chosen.pairs(),
        "csv": params.address(reverse("quarantine_file", args=["csv"]), chosen.pairs()),
        "json": params.address(reverse("quarantine_file", args=["json"]), chosen.pairs()),
        "reading": Job.objects.filter(key__startswith="release:").exclude(status__in=Job.TERMINAL)[:5],
        "notices": notices,
    }
    status = 422 if form is not None else 200
    return render(request, "planner/quarantine.html", context, status=status)


def _rows(chosen: HeldFilter, **changes: Any) -> Any:
    values = {name: getattr(chosen, name) for name in FILTERS} | changes
    return quarantine.held_facts(**values)


def _link(chosen: HeldFilter, **changes: Any) -> str:
    return params.address(reverse("quarantine"), chosen.pairs(**changes))


def _sources(chosen: HeldFilter) -> list[tuple[str, str]]:
    """Return the sources that ever had something held back, and the one that is asked for."""
    names = set(QuarantinedFact.objects.order_by().values_list("source", flat=True).distinct())
    names |= {chosen.source} - {""}
    return sorted(((name, title_of(name)) for name in names), key=lambda pair: pair[1])


def quarantine_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send all records that the filters let through, in the order of the page."""
    known_format(fmt)
    now, chosen = timezone.now(), read_filter(request.GET)
    words = [value for _, value in chosen.pairs()]
    content = Download(
        name=file_name("quarantine", *words, f"{now:%Y-%m-%d}"),
        address=_link(chosen),
        as_of=now,
        columns=COLUMNS,
        rows=(line.cells for line in lines(_rows(chosen).iterator(chunk_size=2000))),
    )
    return download(request, fmt, content)


@require_POST
@planner_required
def quarantine_decide(request: HttpRequest) -> HttpResponse:
    """Let facts in, or keep them out for good; the note says why."""
    chosen = read_filter(request.POST)
    matching = quarantine.decidable(_rows(chosen))
    form = DecisionForm(request.POST, matching=matching)
    if form.is_valid():
        try:
            return _decide(request, form, chosen)
        except Undecidable as error:
            form.add_error(None, f"Nothing was decided. {error}.")
    return _page(request, chosen, 1, list(chosen.notices), form)


def _decide(request: HttpRequest, form: DecisionForm, chosen: HeldFilter) -> HttpResponse:
    ids, note = form.cleaned_data["fact"], form.cleaned_data["note"]
    if quarantine.decidable(QuarantinedFact.objects.filter(pk__in=ids)).count() != len(ids):
        raise Undecidable("some of these lines are decided already, or are of a file that was only checked")
    by, now = request.user.get_username(), timezone.now()
    if form.cleaned_data["action"] == "release":
        made = release(ids, decided_by=by, note=note, now=now)
        files = "Its file is" if len(made) == 1 else f"{count(len(made))} files are"
        messages.success(request, f"{count(len(ids))} released. {files} taken again with that.")
    else:
        kept = keep_out(ids, decided_by=by, note=note, now=now)
        messages.success(request, f"{count(kept)} kept out: the same in a later file is refused unasked.")
    return redirect(_link(chosen))


urlpatterns = [
    path("data/quarantine/", quarantine_list, name="quarantine"),
    path("data/quarantine.<str:fmt>", quarantine_file, name="quarantine_file"),
    path("data/quarantine/decide/", quarantine_decide, name="quarantine_decide"),
]
