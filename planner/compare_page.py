"""What the Compare page shows of a Comparison: its charts, their tables, and the parts that swap."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from costs.queries import runs
from costs.queries.runs import Freshness
from planner import charts
from planner.comparison.result import Comparison, SourceLine

# element id -> template. While a slider moves only the first are drawn; the rest when it rests.
LIVE_PARTS = {"answer": "_compare_answer.html", "cards": "_compare_cards.html"}
REST_PARTS = {
    "chips": "_compare_chips.html",
    "actions": "_compare_actions.html",
    "gaps": "_compare_gaps.html",
    "cost-data": "_compare_cost_data.html",
    "use-data": "_compare_use_data.html",
    "served-data": "_compare_served_data.html",
    "lines": "_compare_lines.html",
    "sources": "_compare_sources.html",
    "explanations": "_explanations.html",
}


@dataclass(frozen=True)
class Multiple:
    """One of the small charts of who serves the demand."""

    letter: str
    name: str
    figure: charts.Figure
    label: str

    @property
    def id(self) -> str:
        return f"served-{self.letter}"


@dataclass(frozen=True)
class SourceGroup:
    """Where one price comes from, and which scenarios use it."""

    letters: tuple[str, ...]
    line: SourceLine


def context(comparison: Comparison, *, print_view: bool = False) -> dict[str, Any]:
    """Return what compare.html needs besides the choices and notices."""
    return {
        **_live(comparison, print_view),
        "cost_table": charts.cumulative_table(comparison),
        "served_table": charts.served_table(comparison.series),
        "multiples": _multiples(comparison, print_view),
        "source_groups": _source_groups(comparison),
        "late_sources": _late_sources(comparison),
        **_use(comparison, print_view),
    }


def preview(request: HttpRequest, comparison: Comparison, choices: Any, *, live: bool) -> dict[str, Any]:
    """Return the parts and figures that changed, ready for JSON. `live`: only what is drawn in a drag."""
    values = _live(comparison, False) if live else context(comparison)
    parts = LIVE_PARTS if live else LIVE_PARTS | REST_PARTS
    return {
        "parts": {
            name: render_to_string(f"planner/{template}", {**values, "choices": choices}, request)
            for name, template in parts.items()
        },
        "figures": _figures(values),
        "said": f"{comparison.answer.text} {comparison.answer.detail_text}",
        "changed": comparison.changed_text,
        "sliders": {
            slider.key: {"value": slider.value, "is_changed": slider.is_changed, "hint": slider.hint}
            for slider in comparison.sliders
        },
        "notices": list(comparison.notices),
        "query": comparison.query,
    }


def _figures(values: dict[str, Any]) -> dict[str, charts.Figure]:
    figures = {"cost": values["cost_figure"]}
    figures |= {each.id: each.figure for each in values.get("multiples", ())}
    figures["use"] = values.get("use_figure")
    return {name: figure for name, figure in figures.items() if figure}


def _live(comparison: Comparison, print_view: bool) -> dict[str, Any]:
    height = {"height_px": charts.PRINT_PX} if print_view else {}
    return {
        "comparison": comparison,
        "best": next((column.letter for column in comparison.columns if column.is_cheapest), ""),
        "cost_figure": charts.cumulative(comparison, **height),
        "cost_label": charts.cumulative_label(comparison),
    }


def _source_groups(comparison: Comparison) -> list[SourceGroup]:
    """Return every source once, with the letters of all that buy at it."""
    letters: dict[tuple[str, str], list[str]] = {}
    lines: dict[tuple[str, str], SourceLine] = {}
    for line in comparison.sources:
        key = (line.supply, line.text)
        lines.setdefault(key, line)
        letters.setdefault(key, []).append(line.letter)
    return [SourceGroup(tuple(dict.fromkeys(letters[key])), line) for key, line in lines.items()]


def _late_sources(comparison: Comparison) -> list[Freshness]:
    """Return the sources behind the prices that are late now; a frozen page says its date instead."""
    if comparison.is_frozen or not comparison.runs:
        return []
    used = runs.sources_of(comparison.runs)
    known = runs.freshness(timezone.now())
    return [source for source in known if source.name in used and source.state in ("late", "stale")]


def _use(comparison: Comparison, print_view: bool) -> dict[str, Any]:
    measured = comparison.series.measured
    if measured is None:
        return {"use_figure": None}
    height = {"height_px": charts.PRINT_PX} if print_view else {}
    break_evens = comparison.series.break_evens
    return {
        "use_figure": charts.weekly_use(measured, break_evens, **height),
        "use_label": charts.weekly_label(measured, break_evens),
        "use_table": charts.use_table(measured),
    }


def _multiples(comparison: Comparison, print_view: bool) -> list[Multiple]:
    height = {"height_px": charts.PRINT_PX} if print_view else {}
    figures = charts.served(comparison.series, **height)
    return [
        Multiple(each.letter, each.name, figures[each.letter], card.mix_text)
        for each, card in zip(comparison.series.served, comparison.cards, strict=True)
    ]
