"""What a GPU-hour costs, where, on which terms."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone

from costs.fact_words import rule_words
from costs.queries import offers, prices
from costs.queries.held_prices import held_by_rule
from planner import params
from planner.charts.offers import is_low, legend, strip, strip_label
from planner.downloads import Download, download, file_name, known_format
from planner.forms.listed_price import key_text
from planner.fragments import page_or_fragment
from planner.prices import answer, listing, tables
from planner.prices.age_lines import age_lines
from planner.prices.as_of import AsOf, read_as_of
from planner.prices.filters import NUMBERS, OfferFilter, plain_number
from planner.prices.listing import ListState
from planner.prices.offer_marks import marks_of
from planner.prices.rows import OfferRow
from planner.views import price_terms

KNOWN = (*OfferFilter.NAMES, *listing.NAMES)


def prices_page(request: HttpRequest) -> HttpResponse:
    """Show the offers that the filters let through."""
    as_of, offered, chosen, state = _asked(request)
    notices = params.ignored_notice(params.unknown_parameters(request, KNOWN))
    notices += chosen.notices + state.notices
    pairs = chosen.pairs() + state.pairs()
    if not notices and params.given_pairs(request, KNOWN) != pairs:
        # a form sends every field; the address keeps only what is not the default
        kept = params.given_pairs(request, params.EVERYWHERE)
        return redirect(params.address(reverse("prices"), pairs + kept))
    context = {
        "ignored": notices,
        "filter": chosen,
        "fields": _fields(chosen),
        "chips": _chips(chosen, state),
        "as_of": as_of,
        "live": _link(chosen, state, without=as_of.pairs()),
        "state": state,
        "csv": params.address(reverse("prices_file", args=["csv"]), pairs),
        "json": params.address(reverse("prices_file", args=["json"]), pairs),
        "has_prices": bool(offered),
        "oldest": None if offered or not as_of.is_frozen else prices.oldest_price(),
    }
    if offered:
        context |= _found(as_of, offered, chosen, state, notices)
    return page_or_fragment(request, "planner/prices.html", "planner/_prices.html", context)


def prices_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send all offers that the filters let through, in the order and with the columns of the page."""
    known_format(fmt)
    as_of, _, chosen, state = _asked(request)
    columns = tables.file_columns(state.columns)
    rows = listing.every_row(chosen.offers, as_of, state)
    content = Download(
        name=file_name("prices", *(value for _, value in chosen.pairs()), f"{as_of.moment:%Y-%m-%d}"),
        address=params.address(reverse("prices"), chosen.pairs() + state.pairs(page=1)),
        as_of=as_of.moment,
        columns=[column.file_column for column in columns],
        rows=([column.value(row) for column in columns] for row in rows),
    )
    return download(request, fmt, content)


def _asked(request: HttpRequest) -> tuple[AsOf, list[prices.Offered], OfferFilter, ListState]:
    as_of = read_as_of(request.GET.dict(), timezone.now())
    offered = prices.on_offer(as_of.moment if as_of.is_frozen else None)
    return as_of, offered, OfferFilter(request.GET, offered, as_of), listing.read_state(request.GET)


def _found(
    as_of: AsOf,
    offered: Sequence[prices.Offered],
    chosen: OfferFilter,
    state: ListState,
    notices: list[str],
) -> dict[str, Any]:
    """Return what the offers come to: the sentence, the picture, the rows."""
    sources = offers.by_source(chosen.matching)
    count = sum(source.count for source in sources)
    page = listing.page_of(count, state, notices)
    name, cheapest, example = _cheapest(as_of, offered, chosen)
    first = answer.headline(cheapest)
    shown = listing.prices_on(page, chosen.offers, state.sort)
    rows, moved = listing.in_rows(shown, as_of, state, [first] if first else [])
    return {
        "answer": answer.price_answer(name, cheapest, moved.get(first.pk) if first else None, as_of.moment),
        "extent": answer.extent(count, offered),
        "picture": _picture(name, cheapest, chosen, state, as_of, example),
        "headers": _headers(chosen, state),
        "rows": [_row(row, state) for row in rows],
        "page": page,
        "pages": _pages(chosen, state, page),
        "late": age_lines(sources, as_of.moment),
        "held": None if as_of.is_frozen else _held(chosen),
        "columns": [(column, column in state.columns) for column in tables.OFFER_COLUMNS],
        "hidden_pairs": state.pairs(page=1),
        "filter_pairs": chosen.pairs(),
    }


def _link(
    chosen: OfferFilter, state: ListState, *, without: Sequence[tuple[str, str]] = (), **changes: Any
) -> str:
    pairs = [pair for pair in chosen.pairs() if pair not in without]
    return params.address(reverse("prices"), pairs + state.pairs(**changes))


def _headers(chosen: OfferFilter, state: ListState) -> list[dict[str, Any]]:
    current, is_descending = state.sort.removeprefix("-"), state.sort.startswith("-")
    headers = []
    for column in state.columns:
        is_current = column.key == current
        turned = f"-{column.key}" if is_current and not is_descending else column.key
        order = ("descending" if is_descending else "ascending") if is_current else "none"
        href = _link(chosen, state, sort=turned, page=1) if column.order else ""
        headers.append({"title": column.title, "number": column.is_number, "order": order, "href": href})
    return headers


def _chips(chosen: OfferFilter, state: ListState) -> list[dict[str, str]]:
    return [
        {"text": chip.text, "without": _link(chosen, state, without=[(chip.name, chip.value)], page=1)}
        for chip in chosen.chips()
    ]


def _fields(chosen: OfferFilter) -> list[dict[str, Any]]:
    """Return the fields of the form. A list adds one value to those that its chips show."""
    values: dict[str, Any] = dict(chosen.values)
    fields = []
    for name in OfferFilter.FIELDS:
        field, value = chosen.form.fields[name], values.get(name)
        choices = getattr(field, "choices", None)
        if choices is None:
            shown = plain_number(value) if name in NUMBERS and value is not None else value or ""
            most = getattr(field, "max_value", None)
            fields.append({"name": name, "label": field.label, "value": shown, "most": most})
            continue
        chosen_values = list(value or [])
        open_choices = [(key, words) for key, words in choices if key not in chosen_values]
        fields.append({"name": name, "label": field.label, "choices": open_choices, "chosen": chosen_values})
    return fields


def _pages(chosen: OfferFilter, state: ListState, page: "Page[int]") -> dict[str, Any]:
    before = _link(chosen, state, page=page.previous_page_number()) if page.has_previous() else ""
    after = _link(chosen, state, page=page.next_page_number()) if page.has_next() else ""
    sizes = [(size, _link(chosen, state, per=size, page=1), size == state.per) for size in listing.PAGE_SIZES]
    return {"before": before, "after": after, "sizes": sizes}


def _cheapest(
    as_of: AsOf, offered: Sequence[prices.Offered], chosen: OfferFilter
) -> tuple[str, list[offers.Offer], str]:
    """Return a GPU's name and its cheapest offers; without one chosen, those of the most widely sold one."""
    names = {row.slug: row.name for row in offered}
    slugs, rows, example = chosen.values.get("gpu"), chosen.offers, ""
    if not slugs:
        widest = answer.most_widely_sold(offered)
        example = widest.slug if widest else ""
        slugs, rows = [example], rows.filter(sku__accelerator__slug=example)
    name = names[slugs[0]] if len(slugs) == 1 else "One of these GPUs"
    return name, offers.cheapest(rows, chosen.every, as_of.moment), example


def _picture(
    name: str,
    cheapest: Sequence[offers.Offer],
    chosen: OfferFilter,
    state: ListState,
    as_of: AsOf,
    example: str,
) -> dict[str, Any] | None:
    marks = marks_of(cheapest, as_of.moment)
    if len(marks) < 2:
        return None
    here = chosen.pairs() + ([("gpu", example)] if example else [])
    return {
        "name": name,
        "figure": strip(marks, state.scale),
        "label": strip_label(name, marks),
        "legend": legend(marks),
        "size": "medium" if is_low(marks) else "tall",
        "scales": [(each, _link(chosen, state, scale=each), each == state.scale) for each in listing.SCALES],
        "data": f"{params.address(reverse('prices'), here + state.pairs(page=1))}#offers",
    }


def _held(chosen: OfferFilter) -> dict[str, Any] | None:
    """Return how many prices wait in quarantine, and by which rules."""
    rules = held_by_rule(**chosen.values)
    if not rules:
        return None
    links = {rule: params.address(reverse("quarantine"), [("rule", rule)]) for rule in rules}
    return {
        "count": sum(rules.values()),
        "rules": [(count, rule_words(rule), links[rule]) for rule, count in rules.items()],
    }


def _row(row: OfferRow, state: ListState) -> dict[str, Any]:
    price = row.price
    key = prices.PriceKey(
        price.sku.provider, price.sku.name, price.region, price.term, price.payment, price.zone
    )
    return {
        "age": row.age_state,
        "key": key_text(key),
        "cells": [(column.is_number, column.cell(row)) for column in state.columns],
    }


urlpatterns = [
    path("prices/", prices_page, name="prices"),
    path("prices.<str:fmt>", prices_file, name="prices_file"),
    *price_terms.urlpatterns,
]
