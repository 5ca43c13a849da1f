"""Who serves the demand? One stacked area for each scenario, all on the same scale."""

from collections.abc import Sequence
from typing import Any

from planner.charts.layout import LOW_PX, Figure, axis, layout, line_trace
from planner.comparison.result import MeasuredUse, Series, Served

SUPPLY_COLOURS = {
    "owned": "var(--owned)",
    "reserved": "var(--reserved)",
    "spot": "var(--spot)",
    "on_demand": "var(--on-demand)",
}
SUPPLY_LABELS = {"owned": "owned", "reserved": "reserved", "spot": "spot", "on_demand": "on demand"}


def served(series: Series, height_px: int = LOW_PX) -> dict[str, Figure]:
    """Return one stacked area for each scenario by letter: who serves the demand, all on the same scale."""
    highest = max([0.0, *(value for each in series.served for value in each.demand)])
    if series.measured:
        highest = max(highest, *(gpus or 0.0 for gpus in series.measured.busy_gpus))
    return {
        each.letter: _served_figure(each, series, max(highest * 1.08, 1.0), height_px)
        for each in series.served
    }


def _served_figure(each: Served, series: Series, top: float, height_px: int) -> Figure:
    months = [first.isoformat() for first in series.months]
    traces = [_area(months, kind, values) for kind, values in each.kinds.items() if any(values)]
    if any(each.unmet):
        traces.append(_unmet_area(months, each.unmet))
    start = months[0]
    if series.measured and any(gpus is not None for gpus in series.measured.busy_gpus):
        traces.append(_measured_gpus(series.measured))
        start = min(start, series.measured.weeks[0].isoformat())
    ink = {"color": "var(--ink)", "width": 1.5, "dash": "dot"}
    traces.append(line_trace(months, each.demand, ink, "demand %{y:,.0f}"))
    return {
        "data": traces,
        "layout": layout(
            {"l": 30, "r": 6, "t": 8, "b": 24},
            height_px,
            xaxis=axis(showgrid=False, tickformat="%Y", hoverformat="%B %Y", dtick="M12", tick0="2027-01-01")
            | {"range": [start, months[-1]]},
            yaxis=axis(range=[0, top], nticks=5),
        ),
    }


def _area(months: list[str], kind: str, values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": months,
        "y": list(values),
        "stackgroup": "supply",
        "mode": "none",
        "name": SUPPLY_LABELS[kind],
        "fillcolor": SUPPLY_COLOURS[kind],
        "hovertemplate": f"{SUPPLY_LABELS[kind]} %{{y:,.0f}}<extra></extra>",
    }


def _unmet_area(months: list[str], values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": months,
        "y": list(values),
        "stackgroup": "supply",
        "mode": "none",
        "name": "not served",
        "fillpattern": {"shape": "/", "fgcolor": "var(--bad)", "bgcolor": "var(--card)", "size": 5},
        "hovertemplate": "not served %{y:,.0f}<extra></extra>",
    }


def _measured_gpus(measured: MeasuredUse) -> dict[str, Any]:
    weeks = [week.isoformat() for week in measured.weeks]
    return line_trace(weeks, measured.busy_gpus, {"color": "var(--ink)", "width": 2.5}, "measured %{y:,.0f}")
