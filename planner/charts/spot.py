"""How cheap, how shaky: one small panel of prices for each zone, and how widely each zone's price spread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.charts.layout import LOW_PX, TALL_PX, Figure, axis, chart_text, layout
from planner.templatetags.units import usd_per_hour

PANEL_PX = 190  # height of .chart.panel
FEW_ZONES = 5
ALONE_PX = 7  # a price that was seen once has no line, only this dot
ROOM = 1.08  # over the highest line
SPOT, ON_DEMAND = "var(--spot)", "var(--ink-3)"


@dataclass(frozen=True)
class PanelPoint:
    """From `moment` on the price holds; None is the start of a time that nobody watched."""

    moment: str
    usd: float | None
    said: str  # share of the on-demand price
    is_alone: bool = False  # seen at this moment only: no line leads to it


@dataclass(frozen=True)
class Panel:
    """One zone over the window. Moments are ISO texts in UTC."""

    points: tuple[PanelPoint, ...]
    on_demand: tuple[tuple[str, float | None], ...]
    unwatched_from: str  # "" where the newest price is not stale
    losses: tuple[str, ...]  # measured in this zone


@dataclass(frozen=True)
class Box:
    """The price of a zone that held at most for 5, 25, 50, 75 and 95 % of the watched time."""

    label: str
    shares: tuple[float, float, float, float, float]
    said: str


def highest(panels: Sequence[Panel]) -> float:
    """Return the upper end of the axis that all panels share."""
    prices = [point.usd for panel in panels for point in panel.points]
    prices += [usd for panel in panels for _, usd in panel.on_demand]
    return ROOM * max((usd for usd in prices if usd is not None), default=1.0)


def zone_panel(panel: Panel, span: tuple[str, str], top: float, unit: str) -> Figure:
    """Return one panel: the price in steps, on demand in grey, a tick for each measured loss."""
    return {
        "data": [*_on_demand(panel, unit), _prices(panel, unit), *_losses(panel)],
        "layout": layout(
            {"l": 40, "r": 8, "t": 6, "b": 24},
            PANEL_PX,
            hovermode="x unified",
            xaxis=axis(
                range=list(span),
                type="date",
                showgrid=False,
                nticks=4,
                tickformat=_ticks(span),
                fixedrange=False,
            ),
            yaxis=axis(range=[0, top], tickprefix="$", nticks=5, tickformat="~g"),
            shapes=[_tail(panel.unwatched_from, span[1])] if panel.unwatched_from else [],
        ),
    }


def _ticks(span: tuple[str, str]) -> str:
    """Return the format of dates: a year says more than a day where the window is longer than one."""
    return "%b %Y" if int(span[1][:4]) - int(span[0][:4]) > 1 else "%-d %b"


def _prices(panel: Panel, unit: str) -> dict[str, Any]:
    points = panel.points
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "spot",
        "x": [point.moment for point in points],
        "y": [point.usd for point in points],
        "customdata": [point.said for point in points],
        "connectgaps": False,
        "cliponaxis": False,
        "line": {"color": SPOT, "width": 2, "shape": "hv"},
        "marker": {"color": SPOT, "size": [ALONE_PX if point.is_alone else 0 for point in points]},
        "hovertemplate": f"spot $%{{y:.4~f}}/{unit}%{{customdata}}<extra></extra>",
    }


def _on_demand(panel: Panel, unit: str) -> list[dict[str, Any]]:
    if all(usd is None for _, usd in panel.on_demand):
        return []
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "on demand",
            "x": [moment for moment, _ in panel.on_demand],
            "y": [usd for _, usd in panel.on_demand],
            "connectgaps": False,
            "line": {"color": ON_DEMAND, "width": 1.5, "shape": "hv"},
            "hovertemplate": f"on demand $%{{y:.4~f}}/{unit}<extra></extra>",
        }
    ]


def _losses(panel: Panel) -> list[dict[str, Any]]:
    if not panel.losses:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "loss",
            "x": list(panel.losses),
            "y": [0.0] * len(panel.losses),
            "cliponaxis": False,
            "marker": {"symbol": "line-ns-open", "size": 8, "color": "var(--bad)"},
            "hovertemplate": "machine lost<extra></extra>",
        }
    ]


def _tail(first: str, last: str) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": first,
        "x1": last,
        "y0": 0,
        "y1": 1,
        "fillcolor": "var(--warn-back)",
        "line": {"width": 0},
        "layer": "below",
    }


def spread(boxes: Sequence[Box]) -> Figure:
    """Return one box a zone, the first on top: whiskers from p5 to p95, the box from p25 to p75."""
    height = LOW_PX if is_low(boxes) else TALL_PX
    labels = [chart_text(box.label) for box in boxes]
    columns = list(zip(*(box.shares for box in boxes), strict=True))
    names = ("lowerfence", "q1", "median", "q3", "upperfence")
    return {
        "data": [
            {
                "type": "box",
                "orientation": "h",
                "name": "spot",
                "y": labels,
                **{name: list(column) for name, column in zip(names, columns, strict=True)},
                "line": {"color": SPOT, "width": 1.5},
                "fillcolor": "var(--card)",
                "width": 0.5,
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": "median",
                "x": [box.shares[2] for box in boxes],
                "y": labels,
                "customdata": [chart_text(box.said) for box in boxes],
                "marker": {"color": "var(--ink)", "size": 7},
                "hovertemplate": "%{customdata}<extra></extra>",
            },
        ],
        "layout": layout(
            {"l": 96, "r": 16, "t": 8, "b": 34},
            height,
            hovermode="closest",
            xaxis=axis(tickprefix="$", nticks=5, tickformat="~g", showgrid=True),
            yaxis=axis(
                type="category", categoryorder="array", categoryarray=[*reversed(labels)], showgrid=False
            ),
        ),
    }


def is_low(boxes: Sequence[Box]) -> bool:
    """Return whether the rows fit into a low chart."""
    return len(boxes) <= FEW_ZONES


def panel_label(
    name: str, usd: float, extent: tuple[float, float] | None, unit: str, last_seen: str = ""
) -> str:
    """Return the answer of one panel in words; `last_seen` is the day of a price that is stale."""
    price = f"{usd_per_hour(usd)}/{unit}"
    said = f"{price} when last seen on {last_seen}" if last_seen else f"{price} now"
    if extent is None:
        return f"{name}: {said}; nothing was watched in the window."
    low, high = extent
    moved = "unchanged" if low == high else f"{usd_per_hour(low)} to {usd_per_hour(high)}"
    return f"{name}: {said}, {moved} in the window."


def spread_label(boxes: Sequence[Box]) -> str:
    """Return the answer of the chart of spreads in words."""
    widest = max(boxes, key=lambda box: box.shares[4] - box.shares[0])
    low, high = usd_per_hour(widest.shares[0]), usd_per_hour(widest.shares[4])
    return f"{len(boxes)} zones; the price moved most in {widest.label}: p5 {low}, p95 {high}."
