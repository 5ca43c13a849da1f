"""What a GPU-hour costs, where, on which terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone

from costs.models import Price
from costs.queries import prices
from costs.sources import SOURCES
from planner import params
from planner.charts.offers import is_low, strip, strip_label
from planner.downloads import Download, download, file_name, known_format
from planner.fragments import page_or_fragment
from planner.prices import tables
from planner.prices.answer import most_widely_sold, price_answer
from planner.prices.filters import OfferFilter
from planner.prices.offer_marks import marks_of
from planner.templatetags.units import age, day

PAGE_SIZES = (25, 50, 100, 200)
DEFAULT_PAGE_SIZE = 50
KNOWN = (*OfferFilter.NAMES, "cols", "sort", "page", "per")


@dataclass(frozen=True)
class ListState:
    """What the address says besides the filters: which columns, in which order, which page."""

    columns: Sequence[tables.OfferColumn]
    sort: str
    page: int
    per: int
    notices: list[str]

    def pairs(self, **changes: Any) -> params.Pairs:
        """Return the parameters; what is as it is by default stays out of the address."""
        keys = [column.key for column in self.columns]
        chosen = {"sort": self.sort, "page": self.page, "per": self.per} | changes
        usual = {"sort": tables.DEFAULT_SORT, "page": 1, "per": DEFAULT_PAGE_SIZE}
        cols = [] if keys == list(tables.DEFAULT_COLUMNS) else [("cols", ",".join(keys))]
        return cols + [(name, str(value)) for name, value in chosen.items() if value != usual[name]]


def read_state(request: HttpRequest) -> ListState:
    """Return the columns, order and page that the address asks for; what makes no sense is named."""
    notices: list[str] = []
    asked = [key for value in request.GET.getlist("cols") for key in value.split(",") if key]
    unknown = [key for key in asked if key not in tables.BY_KEY]
    if unknown:
        notices.append(f"No column “{params.shortened(unknown[0])}”: ignored.")
    keys = list(dict.fromkeys(key for key in asked if key in tables.BY_KEY)) or tables.DEFAULT_COLUMNS
    sort = request.GET.get("sort", tables.DEFAULT_SORT)
    if sort.removeprefix("-") not in tables.BY_KEY:
        notices.append(f"No order by “{params.shortened(sort)}”: sorted by price instead.")
        sort = tables.DEFAULT_SORT
    per = params.whole_number(request.GET.get("per", ""), default=DEFAULT_PAGE_SIZE)
    return ListState(
        columns=[tables.BY_KEY[key] for key in keys],
        sort=sort,
        page=params.whole_number(request.GET.get("page", ""), default=1, most=10**8),
        per=per if per in PAGE_SIZES else DEFAULT_PAGE_SIZE,
        notices=notices,
    )


def prices_page(request: HttpRequest) -> HttpResponse:
    """Show the offers that the filters let through."""
    now = timezone.now()
    offered = prices.on_offer()
    chosen, state = OfferFilter(request.GET, offered, now), read_state(request)
    notices = params.ignored_notice(params.unknown_parameters(request, KNOWN))
    notices += chosen.notices + state.notices
    pairs = chosen.pairs() + state.pairs()
    if not notices and params.given_pairs(request, KNOWN) != pairs:
        # a form sends every field; the address keeps only what is not the default
        kept = params.given_pairs(request, params.EVERYWHERE)
        return redirect(params.address(reverse("prices"), pairs + kept))
    table = tables.offer_table(tables.in_order(chosen.offers, state.sort), state.columns)
    table.paginate(page=1, per_page=state.per)
    page = _page(table.paginator, state.page, notices)
    table.page = page
    context = {
        "ignored": notices,
        "filter": chosen,
        "fields": _fields(chosen),
        "chips": _chips(chosen, state),
        "table": table,
        "headers": _headers(chosen, state),
        "rows": _rows(table, state, now),
        "page": page,
        "pages": _pages(chosen, state, page),
        **_answer(chosen, offered, page.paginator.count),
        "late": _late_lines(_offers_of(page), now),
        "columns": [(column, column in state.columns) for column in tables.OFFER_COLUMNS],
        "state": state,
        "hidden_pairs": state.pairs(page=1),
        "filter_pairs": chosen.pairs(),
        "csv": params.address(reverse("prices_file", args=["csv"]), pairs),
        "json": params.address(reverse("prices_file", args=["json"]), pairs),
        "has_prices": bool(offered),
    }
    return page_or_fragment(request, "planner/prices.html", "planner/_prices.html", context)


def prices_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send all offers that the filters let through, in the order and with the columns of the page."""
    known_format(fmt)
    now = timezone.now()
    chosen, state = OfferFilter(request.GET, prices.on_offer(), now), read_state(request)
    columns = tables.file_columns(state.columns)
    offers = tables.in_order(chosen.offers, state.sort).iterator(chunk_size=2000)
    content = Download(
        name=file_name("prices", *(value for _, value in chosen.pairs()), f"{now:%Y-%m-%d}"),
        address=params.address(reverse("prices"), chosen.pairs() + state.pairs(page=1)),
        as_of=now,
        columns=[column.file_column for column in columns],
        rows=([column.value(offer) for column in columns] for offer in offers),
    )
    return download(request, fmt, content)


def _page(paginator: "Paginator[Any]", number: int, notices: list[str]) -> "Page[Any]":
    if number > paginator.num_pages:
        notices.append(f"There is no page {number}: this is the last one, {paginator.num_pages}.")
    return paginator.get_page(number)


def _offers_of(page: "Page[Any]") -> list[Price]:
    return [row.record for row in page.object_list]


def _link(chosen: OfferFilter, state: ListState, **changes: Any) -> str:
    return params.address(reverse("prices"), chosen.pairs() + state.pairs(**changes))


def _headers(chosen: OfferFilter, state: ListState) -> list[dict[str, Any]]:
    current, is_descending = state.sort.removeprefix("-"), state.sort.startswith("-")
    headers = []
    for column in state.columns:
        is_current = column.key == current
        turned = f"-{column.key}" if is_current and not is_descending else column.key
        order = ("descending" if is_descending else "ascending") if is_current else "none"
        href = _link(chosen, state, sort=turned, page=1)
        headers.append({"title": column.title, "number": column.is_number, "order": order, "href": href})
    return headers


def _chips(chosen: OfferFilter, state: ListState) -> list[dict[str, str]]:
    chips = chosen.chips()
    rest = state.pairs(page=1)
    return [
        {
            "text": chip.text,
            "without": params.address(
                reverse("prices"), [(c.name, c.value) for c in chips if c is not chip] + rest
            ),
        }
        for chip in chips
    ]


def _fields(chosen: OfferFilter) -> list[dict[str, Any]]:
    """Return the fields of the form. A list adds one value to those that its chips show."""
    values = chosen.values
    fields = []
    for name in OfferFilter.NAMES:
        field, value = chosen.form.fields[name], values.get(name)
        choices = getattr(field, "choices", None)
        if choices is None:
            shown = (
                format(value.normalize(), "f") if name == "min_gpus" and value is not None else value or ""
            )
            fields.append({"name": name, "label": field.label, "value": shown, "number": name == "min_gpus"})
            continue
        chosen_values = list(value or [])
        open_choices = [(key, words) for key, words in choices if key not in chosen_values]
        fields.append({"name": name, "label": field.label, "choices": open_choices, "chosen": chosen_values})
    return fields


def _pages(chosen: OfferFilter, state: ListState, page: "Page[Any]") -> dict[str, Any]:
    before = _link(chosen, state, page=page.previous_page_number()) if page.has_previous() else ""
    after = _link(chosen, state, page=page.next_page_number()) if page.has_next() else ""
    sizes = [(size, _link(chosen, state, per=size, page=1), size == state.per) for size in PAGE_SIZES]
    return {"before": before, "after": after, "sizes": sizes}


def _answer(chosen: OfferFilter, offered: Sequence[prices.Offered], found: int) -> dict[str, Any]:
    """Return the sentence and the picture; without a GPU chosen they are about the most widely sold one."""
    if not offered:
        return {}
    names = {row.slug: row.name for row in offered}
    slugs, rows = chosen.values.get("gpu"), chosen.offers
    example = None if slugs else most_widely_sold(offered)
    if example:
        slugs, rows = [example.slug], rows.filter(sku__accelerator__slug=example.slug)
    name = names[slugs[0]] if slugs and len(slugs) == 1 else "One of these GPUs"
    marks = marks_of(rows)
    picture = {"figure": strip(marks), "label": strip_label(name, marks)} if len(marks) > 1 else {}
    return {
        "answer": price_answer(name, prices.cheapest_by_term(rows), found, offered),
        "picture": picture | {"name": name, "size": "medium" if is_low(marks) else "tall"},
    }


def _is_late(offer: Price, now: datetime) -> bool:
    source = SOURCES.get(offer.source)
    return bool(source and source.CADENCE and now - offer.as_of > source.CADENCE)


def _late_lines(shown: Sequence[Price], now: datetime) -> list[str]:
    """Return one line for each source on this page whose prices are older than they should be."""
    oldest: dict[str, datetime] = {}
    for offer in shown:
        if _is_late(offer, now):
            oldest[offer.source] = min(offer.as_of, oldest.get(offer.source, now))
    return [
        f"{SOURCES[source].TITLE}: the oldest prices on this page are of {day(as_of)}, {age(as_of, now)}."
        for source, as_of in sorted(oldest.items())
    ]


def _rows(table: Any, state: ListState, now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "late": _is_late(row.record, now),
            "cells": [(column.is_number, row.get_cell(column.key)) for column in state.columns],
        }
        for row in table.page.object_list
    ]


urlpatterns = [
    path("prices/", prices_page, name="prices"),
    path("prices.<str:fmt>", prices_file, name="prices_file"),
]
