"""One GPU: what its price is doing, on which terms and where it is sold, and what else there is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone

from costs.models import Accelerator
from costs.queries.fleet_share import fleet_share
from costs.queries.price_steps import origins
from costs.queries.spot_now import spot_now
from planner import params
from planner.charts.layout import PRINT_PX, TALL_PX
from planner.charts.price_history import price_history, price_history_label
from planner.context import PRINT
from planner.downloads import Download, download, file_name, known_format
from planner.fragments import page_or_fragment
from planner.gpus import alternatives, history_tables, lines, regions, term_tables
from planner.gpus.answer import answer_of
from planner.gpus.facts import facts_of
from planner.gpus.files import FILES
from planner.gpus.filters import DEFAULT_TERM, TERMS, WINDOWS, Chosen
from planner.gpus.offers import line_choices
from planner.gpus.subject import Subject, subject_of
from planner.gpus.tables import TableColumn
from planner.gpus.terms import term_rows


def gpu_list(request: HttpRequest) -> HttpResponse:
    """Show every accelerator that is on file with its cheapest offer."""
    now, term, notices = timezone.now(), *_term(request)
    rows = alternatives.gpu_rows(alternatives.accelerators(), term, now, pairs=Chosen(term=term).pairs())
    context = {
        "ignored": notices,
        "table": alternatives.gpu_table(rows, "Accelerators"),
        "total": len(rows),
        "sold": sum(row.best is not None for row in rows),
        "term": term,
        "table_term": TERMS[term],
        "terms": TERMS,
        "csv": params.address(reverse("gpu_list_file", args=["csv"]), Chosen(term=term).pairs()),
        "json": params.address(reverse("gpu_list_file", args=["json"]), Chosen(term=term).pairs()),
    }
    return render(request, "planner/gpu_list.html", context)


def gpu_list_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send every accelerator with its cheapest offer."""
    known_format(fmt)
    now, term, _ = timezone.now(), *_term(request)
    rows = alternatives.gpu_rows(alternatives.accelerators(), term, now)
    columns = alternatives.gpu_columns(origins(row.best.batch_id for row in rows if row.best))
    address = params.address(reverse("gpu_list"), Chosen(term=term).pairs())
    return _sent(request, fmt, columns, rows, address, file_name("gpus", term, f"{now:%Y-%m-%d}"))


def gpu_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what the price of a GPU does, and the terms of every cloud."""
    subject = _subject(request, slug)
    if (moved := _tidied(request, subject, "gpu_detail")) is not None:
        return moved
    rows = term_rows(subject, spot_now(slug), fleet_share(subject.now))
    shown, answer = lines.shown(subject), answer_of(subject, rows)
    changes = history_tables.change_rows(subject)
    facts = facts_of(subject.accelerator)
    context = _frame(request, subject) | {
        "answer": answer,
        "facts": facts,
        "fleet": rows[0].fleet if rows else None,
        "figure": price_history(shown, PRINT_PX if PRINT in request.GET.getlist("view") else TALL_PX),
        "label": price_history_label(subject.name, shown),
        "lines": history_tables.line_table(shown, lines.offers_by_day(subject)),
        "changes": history_tables.change_table(changes, subject.term_words),
        "changes_found": len(changes),
        "terms_table": term_tables.term_table(rows),
        "whys": answer.whys | term_tables.term_whys(rows),
        "late": lines.late_line(subject),
        "line_choices": line_choices(subject),
        "regions_href": _address("gpu_regions", subject),
        "alternatives_href": _alternatives_address(subject),
    }
    if not subject.every_step:
        sold = alternatives.gpu_rows(alternatives.accelerators(), DEFAULT_TERM, subject.now)
        context["nearest"] = alternatives.nearest(subject.accelerator, sold)
    return page_or_fragment(request, "planner/gpu.html", "planner/_gpu.html", context)


def gpu_regions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show where a GPU is sold: a card of its page, or a page of its own."""
    subject = _subject(request, slug)
    if (moved := _tidied(request, subject, "gpu_regions")) is not None:
        return moved
    rows = regions.region_rows(subject)
    context = _frame(request, subject) | {"part": "regions", "table": regions.region_table(rows)}
    return page_or_fragment(request, "planner/gpu_part.html", "planner/_gpu_regions.html", context)


def gpu_alternatives(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what else there is: a card of the page, or a page of its own."""
    accelerator = _accelerator(slug)
    term, notices = _term(request)
    pairs = Chosen(term=term).pairs()
    rows = alternatives.beside(slug, term, timezone.now())
    context = {
        "ignored": notices,
        "gpu": accelerator,
        "part": "alternatives",
        "term_words": TERMS[term],
        "table": alternatives.gpu_table(rows, f"Accelerators, {TERMS[term]}"),
        "page_href": params.address(reverse("gpu_detail", args=[slug]), pairs),
        "files": {"alternatives": _files(slug, "alternatives", pairs)},
    }
    return page_or_fragment(request, "planner/gpu_part.html", "planner/_gpu_alternatives.html", context)


def gpu_file(request: HttpRequest, slug: str, table: str, fmt: str) -> HttpResponseBase:
    """Send one table of a GPU's page, with where every row comes from."""
    known_format(fmt)
    if table not in FILES:
        raise Http404(f"no table {table!r}: one of {', '.join(FILES)}")
    subject = _subject(request, slug)
    columns, rows, route = FILES[table](subject)
    chosen = subject.chosen
    words = (slug, table, chosen.term, *chosen.clouds, chosen.region, chosen.window)
    name = file_name(*words, f"{subject.now:%Y-%m-%d}")
    return _sent(request, fmt, columns, rows, _address(route, subject), name)


def _accelerator(slug: str) -> Accelerator:
    return get_object_or_404(Accelerator.objects.select_related("batch"), slug=slug)


def _subject(request: HttpRequest, slug: str) -> Subject:
    return subject_of(_accelerator(slug), request.GET, timezone.now())


def _term(request: HttpRequest) -> tuple[str, list[str]]:
    term = request.GET.get("term", "")
    notices = params.ignored_notice(params.unknown_parameters(request, ("term",)))
    if term and term not in TERMS:
        notices.append(f"Term: “{params.shortened(term)}” is not among the choices: ignored.")
    return (term if term in TERMS else DEFAULT_TERM), notices


def _notices(request: HttpRequest, subject: Subject) -> list[str]:
    unknown = params.unknown_parameters(request, Chosen.NAMES)
    return [*params.ignored_notice(unknown), *subject.chosen.notices]


def _tidied(request: HttpRequest, subject: Subject, route: str) -> HttpResponse | None:
    """Return the way to the address without defaults and empty fields, where this is another one."""
    pairs = subject.chosen.pairs()
    if _notices(request, subject) or params.given_pairs(request, Chosen.NAMES) == pairs:
        return None
    kept = params.given_pairs(request, params.EVERYWHERE)
    return redirect(params.address(reverse(route, args=[subject.accelerator.slug]), pairs + kept))


def _address(route: str, subject: Subject) -> str:
    return params.address(reverse(route, args=[subject.accelerator.slug]), subject.chosen.pairs())


def _page_address(subject: Subject, **changes: Any) -> str:
    """Return the address of the page with some values changed."""
    pairs = replace(subject.chosen, **changes).pairs()
    return params.address(reverse("gpu_detail", args=[subject.accelerator.slug]), pairs)


def _alternatives_address(subject: Subject) -> str:
    pairs = Chosen(term=subject.chosen.term).pairs()
    return params.address(reverse("gpu_alternatives", args=[subject.accelerator.slug]), pairs)


def _frame(request: HttpRequest, subject: Subject) -> dict[str, Any]:
    """Return what the page and its parts share."""
    chosen = subject.chosen
    clouds = sorted({step.provider for step in subject.every_step})
    return {
        "ignored": _notices(request, subject),
        "subject": subject,
        "gpu": subject.accelerator,
        "chosen": chosen,
        "terms": TERMS,
        "windows": [
            (words, _page_address(subject, window=key), key == chosen.window)
            for key, words in WINDOWS.items()
        ],
        "open_clouds": [cloud for cloud in clouds if cloud not in chosen.clouds],
        "chips": _chips(subject),
        "page_href": _page_address(subject),
        "files": {table: _files(subject.accelerator.slug, table, chosen.pairs()) for table in FILES},
        "term_words": subject.term_words,
    }


def _files(slug: str, table: str, pairs: params.Pairs) -> list[tuple[str, str]]:
    """Return the name and the address of each file of a table."""
    formats = ("csv", "json")
    return [
        (fmt.upper(), params.address(reverse("gpu_file", args=[slug, table, fmt]), pairs)) for fmt in formats
    ]


def _chips(subject: Subject) -> list[dict[str, str]]:
    chosen = subject.chosen
    chips = []
    for cloud in chosen.clouds:
        others = tuple(one for one in chosen.clouds if one != cloud)
        chips.append((f"Cloud: {cloud}", _page_address(subject, clouds=others)))
    if chosen.region:
        chips.append((f"Region: {chosen.region}", _page_address(subject, region="")))
    if chosen.line:
        chips.append((f"Line: {chosen.line}", _page_address(subject, line="")))
    return [{"text": text, "without": href} for text, href in chips]


def _sent(
    request: HttpRequest,
    fmt: str,
    columns: Sequence[TableColumn[Any]],
    rows: Sequence[Any],
    address: str,
    name: str,
) -> HttpResponseBase:
    content = Download(
        name=name,
        address=address,
        as_of=timezone.now(),
        columns=[column.file_column for column in columns],
        rows=([column.value(row) for column in columns] for row in rows),
    )
    return download(request, fmt, content)


urlpatterns = [
    path("gpus/", gpu_list, name="gpu_list"),
    path("gpus.<str:fmt>", gpu_list_file, name="gpu_list_file"),
    path("gpus/<slug:slug>/", gpu_page, name="gpu_detail"),
    path("gpus/<slug:slug>/regions/", gpu_regions, name="gpu_regions"),
    path("gpus/<slug:slug>/alternatives/", gpu_alternatives, name="gpu_alternatives"),
    path("gpus/<slug:slug>/<slug:table>.<str:fmt>", gpu_file, name="gpu_file"),
]
