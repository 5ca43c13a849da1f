"""How cheap spot is in each zone, how shaky, and whether it is worth it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone

from costs.queries.spot_machines import SpotMachine, spot_machines
from planner import params
from planner.downloads import Download, download, file_name, known_format
from planner.forms.spot import NAMES as JOB_NAMES
from planner.fragments import page_or_fragment
from planner.spot import tables
from planner.spot.answer import answer_of, on_demand_line
from planner.spot.ask import AGAINST, HELD, NAMES, NEAREST, WINDOWS, read_ask
from planner.spot.costs import interval_text, job_facts, money_text
from planner.spot.explanations import explanations, keys_of
from planner.spot.gather import Spot, gather, window_words
from planner.spot.pictures import is_thinned, panels, price_table, spread_of
from planner.spot.zones import ZoneLine


def spot_page(request: HttpRequest) -> HttpResponse:
    """Show one machine type in the zones that the filters let through."""
    now = timezone.now()
    machines = spot_machines()
    if not machines:
        return page_or_fragment(request, "planner/spot.html", "planner/_spot.html", {"has_prices": False})
    spot = gather(read_ask(request.GET, machines), now)
    notices = params.ignored_notice(params.unknown_parameters(request, NAMES)) + list(spot.notices)
    pairs = spot.pairs()
    if not notices and params.given_pairs(request, NAMES) != pairs:
        # a form sends every field; the address keeps only what is not the default
        return redirect(_address(pairs + params.given_pairs(request, params.EVERYWHERE)))
    told = explanations(spot)
    opens = keys_of(spot.lines, told)
    context = {
        "has_prices": True,
        "no_year": date(1, 1, 1),  # beside histories of years ago every day says its year
        "ignored": notices,
        "spot": spot,
        "answer": answer_of(spot),
        "window": window_words(spot),
        "machines": _grouped(machines),
        "products": [each.product for each in spot.ask.machine.on_file],
        "windows": [(key, words, key == spot.ask.window) for key, words in WINDOWS.items()],
        "against": [(key, words, key == spot.ask.against) for key, words in AGAINST.items()],
        "open_zones": [line for line in spot.zones if line.key not in spot.chosen_zones],
        "chips": _chips(spot),
        "panels": panels(spot),
        "is_thinned": is_thinned(spot),
        "price_table": price_table(spot),
        "spread": spread_of(spot),
        "rows": [_row(line, keys) for line, keys in zip(spot.lines, opens, strict=True)],
        "facts": _facts(spot, opens),
        "fields": spot.ask.job.fields(),
        "hidden_pairs": [pair for pair in pairs if pair[0] in {"as_of", *JOB_NAMES}],
        "filter_pairs": [pair for pair in pairs if pair not in spot.ask.job.pairs()],
        "origins": sorted({(line.series.source, line.series.run_id) for line in spot.lines}),
        "on_demand_line": on_demand_line(spot),
        "nearest_is_on_file": bool(spot.on_demand.stated),
        "explanations": told,
        **_links(spot, pairs),
    }
    return page_or_fragment(request, "planner/spot.html", "planner/_spot.html", context)


def spot_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the table of zones as it is on the page."""
    return _file(request, fmt, "spot", [column.file_column for column in tables.COLUMNS], tables.zone_rows)


def spot_changes_file(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the change points that the panels draw."""
    return _file(request, fmt, "spot_changes", tables.CHANGE_COLUMNS, tables.change_rows)


def _file(request: HttpRequest, fmt: str, name: str, columns: Sequence[Any], rows: Any) -> HttpResponseBase:
    known_format(fmt)
    now = timezone.now()
    machines = spot_machines()
    spot = gather(read_ask(request.GET, machines), now) if machines else None
    pairs = spot.pairs() if spot else []
    # a slug drops the marks inside a name: p5.48xlarge would be p548xlarge
    said = (spot.history.sku, spot.history.product) if spot else ()
    words = [word.replace(".", "-").replace("/", "-") for word in said]
    content = Download(
        name=file_name(name, *words, f"{(spot.end if spot else now):%Y-%m-%d}"),
        address=_address(pairs),
        as_of=spot.until if spot else now,
        columns=columns,
        rows=rows(spot) if spot else (),
    )
    return download(request, fmt, content)


def _address(pairs: params.Pairs) -> str:
    return params.address(reverse("spot"), pairs)


def _links(spot: Spot, pairs: params.Pairs) -> dict[str, str]:
    """Return the addresses that change one thing, and the files of what is shown."""
    return {
        "at_the_end": _changed(spot, as_of=spot.ends_at),
        "live": _changed(spot, as_of=None),
        "nearest": _changed(spot, against=NEAREST),
        "held": _changed(spot, against=HELD),
        "everywhere": _address(spot.ask.pairs(regions=(), zones=())),
        **{
            f"{name}_{fmt}": params.address(reverse(f"{route}_file", args=[fmt]), pairs)
            for name, route in (("table", "spot"), ("changes", "spot_changes"))
            for fmt in ("csv", "json")
        },
    }


def _changed(spot: Spot, **changes: Any) -> str:
    asked = replace(spot.ask, **changes)
    return _address(asked.pairs(regions=spot.chosen_regions, zones=spot.chosen_zones))


def _grouped(machines: Sequence[SpotMachine]) -> list[tuple[str, list[SpotMachine]]]:
    """Return the machines under the name of their accelerator, for the list of a select."""
    groups: dict[str, list[SpotMachine]] = {}
    for machine in machines:
        groups.setdefault(machine.accelerator_name or "Other machines", []).append(machine)
    return list(groups.items())


def _chips(spot: Spot) -> list[dict[str, str]]:
    chips = [("region", region, f"Region: {region}") for region in spot.chosen_regions]
    chips += [("zone", zone, f"Zone: {zone}") for zone in spot.chosen_zones]
    pairs = spot.pairs()
    return [
        {"text": text, "without": _address([pair for pair in pairs if pair != (name, value)])}
        for name, value, text in chips
    ]


def _row(line: ZoneLine, keys: dict[str, str]) -> dict[str, Any]:
    return {
        "line": line,
        "effective": money_text(line.effective),
        "interval": interval_text(line.best_interval),
        "open": keys,
    }


def _facts(spot: Spot, opens: Sequence[dict[str, str]]) -> list[Any]:
    if spot.best is None:
        return []
    return job_facts(spot, spot.best, opens[spot.lines.index(spot.best)])


urlpatterns = [
    path("spot/", spot_page, name="spot"),
    path("spot.<str:fmt>", spot_file, name="spot_file"),
    path("spot/changes.<str:fmt>", spot_changes_file, name="spot_changes_file"),
]
