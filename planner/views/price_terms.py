"""Terms of chosen offers side by side, and the way from there into a scenario."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone

from costs.queries.prices import PriceKey
from planner import params
from planner.csv_cells import Column
from planner.downloads import Download, download, file_name, known_format
from planner.forms.listed_price import ListedPriceField, key_text
from planner.models import Scenario
from planner.prices.as_of import NAME as AS_OF
from planner.prices.as_of import read_as_of
from planner.prices.terms import MOST_PLACES, PlaceTerms, TermRow, answer, compare_terms, places_of

OFFER = "o"
KNOWN = (OFFER, AS_OF)
MOST_SCENARIOS = 15
COLUMNS = (
    Column("cloud"),
    Column("sku"),
    Column("region"),
    Column("zone"),
    Column("term"),
    Column("payment"),
    Column("usd_per_gpu_h", "number"),
    Column("against_on_demand", "number"),
    Column("pays_above_use", "number"),
    Column("usd_per_h", "number"),
    Column("upfront_usd", "number"),
    Column("price_state"),
    Column("state_reason"),
    Column("age_state"),
    Column("price_per_h", "number"),
    Column("currency"),
    Column("fx_rate", "number"),
    Column("fx_date", "time"),
    Column("as_of", "time"),
    Column("source"),
    Column("source_run", "number"),
    Column("reference"),
)


def price_terms(request: HttpRequest) -> HttpResponse:
    """Show every term of the chosen offers."""
    as_of = read_as_of(request.GET.dict(), timezone.now())
    chosen, notices = _chosen(request.GET.getlist(OFFER))
    notices = params.ignored_notice(params.unknown_parameters(request, KNOWN)) + notices
    notices += [as_of.notice] if as_of.notice else []
    pairs = _pairs(chosen) + as_of.pairs()
    if not notices and params.given_pairs(request, KNOWN) != pairs:
        kept = params.given_pairs(request, params.EVERYWHERE)
        return redirect(params.address(reverse("price_terms"), pairs + kept))
    found = compare_terms(chosen, as_of.moment)
    context = {
        "ignored": notices,
        "as_of": as_of,
        "places": found,
        "answer": answer(found),
        "scenarios": Scenario.objects.order_by("-is_plan_of_record", "-updated_at")[:MOST_SCENARIOS],
        "csv": params.address(reverse("price_terms_file", args=["csv"]), pairs),
        "json": params.address(reverse("price_terms_file", args=["json"]), pairs),
    }
    return render(request, "planner/price_terms.html", context)


def price_terms_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the rows of the page."""
    known_format(fmt)
    as_of = read_as_of(request.GET.dict(), timezone.now())
    chosen, _ = _chosen(request.GET.getlist(OFFER))
    content = Download(
        name=file_name("price_terms", *(key.sku for key in chosen), f"{as_of.moment:%Y-%m-%d}"),
        address=params.address(reverse("price_terms"), _pairs(chosen) + as_of.pairs()),
        as_of=as_of.moment,
        columns=COLUMNS,
        rows=_cells(compare_terms(chosen, as_of.moment)),
    )
    return download(request, fmt, content)


def _pairs(chosen: Sequence[PriceKey]) -> params.Pairs:
    return [(OFFER, key_text(key)) for key in chosen]


def _chosen(texts: Sequence[str]) -> tuple[list[PriceKey], list[str]]:
    """Return the offers of an address, each once; what is none, or too many, is named."""
    field, keys, notices = ListedPriceField(), dict[PriceKey, None](), list[str]()
    for text in texts:
        try:
            key = field.clean(text)
        except ValidationError as error:
            notices.append(f"“{params.shortened(text)}” was ignored. {' '.join(error.messages)}")
            continue
        if key is not None:
            keys[key] = None
    kept = set(places_of(keys)[:MOST_PLACES])
    left = places_of(keys)[MOST_PLACES:]
    if left:
        names = ", ".join(params.shortened(f"{place.sku} {place.region}") for place in left)
        notices.append(f"At most {MOST_PLACES} machines are compared; left out: {names}.")
    return [key for key in keys if (key.provider, key.sku, key.region) in kept], notices


def _cells(found: Sequence[PlaceTerms]) -> Iterator[list[Any]]:
    for place in found:
        for row in place.rows:
            yield _row_cells(row)


def _row_cells(row: TermRow) -> list[Any]:
    quote = row.quote
    return [
        quote.key.provider,
        quote.key.sku,
        quote.key.region,
        quote.zone,
        quote.key.term,
        quote.key.payment,
        quote.usd_per_gpu_hour,
        row.against_on_demand,
        row.pays_above,
        quote.usd_per_hour,
        quote.upfront,
        quote.state,
        quote.reason,
        row.age_state,
        quote.price_per_hour,
        quote.currency,
        quote.fx_rate,
        quote.fx_date,
        quote.as_of,
        quote.source,
        quote.run_id,
        quote.reference,
    ]


urlpatterns = [
    path("prices/terms/", price_terms, name="price_terms"),
    path("prices/terms.<str:fmt>", price_terms_file, name="price_terms_file"),
]
