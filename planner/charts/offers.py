"""Where is a GPU cheapest? One mark for each offer, one row for each cloud, the shape is the term."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.charts.layout import MEDIUM_PX, TALL_PX, Figure, axis, chart_text, layout
from planner.templatetags.units import usd_per_hour

TERM_WORDS = {
    "on_demand": "on demand",
    "reserved_1y": "1 year",
    "reserved_3y": "3 years",
    "spot": "spot",
}
SHAPES = {"on_demand": "circle", "reserved_1y": "square", "reserved_3y": "diamond", "spot": "triangle-up"}
COLOURS = {
    "on_demand": "var(--on-demand)",
    "reserved_1y": "var(--reserved)",
    "reserved_3y": "var(--reserved)",
    "spot": "var(--spot)",
}
FEW_CLOUDS = 9
HOVER = "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>"


@dataclass(frozen=True)
class Mark:
    """One offer that states a price; foreign text is as it came."""

    cloud: str
    region: str
    sku: str
    term: str
    usd_per_gpu_hour: float
    as_of: str


def strip(marks: Sequence[Mark]) -> Figure:
    """Return the offers along a logarithmic price axis; the cheapest cloud stands on top."""
    clouds = _clouds(marks)
    return {
        "data": [_trace(marks, term) for term in SHAPES if any(mark.term == term for mark in marks)],
        "layout": layout(
            {"l": 96, "r": 16, "t": 8, "b": 34},
            MEDIUM_PX if is_low(marks) else TALL_PX,
            hovermode="closest",
            xaxis=axis(type="log", tickprefix="$", dtick="D2", tickformat="~g", showgrid=True),
            yaxis=axis(categoryorder="array", categoryarray=[*reversed(clouds)], showgrid=False),
        ),
    }


def strip_label(name: str, marks: Sequence[Mark]) -> str:
    """Return the answer of the chart in words."""
    best = min(marks, key=lambda mark: mark.usd_per_gpu_hour)
    price = f"{usd_per_hour(best.usd_per_gpu_hour)} a GPU-hour, {TERM_WORDS[best.term]}"
    extent = f"{len(marks)} offers of {name} at {len(_clouds(marks))} clouds"
    return f"{extent}; the cheapest is {price}, at {best.cloud} {best.region}."


def is_low(marks: Sequence[Mark]) -> bool:
    """Return whether the rows fit into a chart of medium height."""
    return len(_clouds(marks)) <= FEW_CLOUDS


def _clouds(marks: Sequence[Mark]) -> list[str]:
    lowest: dict[str, float] = {}
    for mark in marks:
        lowest[mark.cloud] = min(mark.usd_per_gpu_hour, lowest.get(mark.cloud, mark.usd_per_gpu_hour))
    return [chart_text(cloud) for cloud in sorted(lowest, key=lambda cloud: (lowest[cloud], cloud))]


def _trace(marks: Sequence[Mark], term: str) -> dict[str, Any]:
    chosen = [mark for mark in marks if mark.term == term]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": TERM_WORDS[term],
        "x": [mark.usd_per_gpu_hour for mark in chosen],
        "y": [chart_text(mark.cloud) for mark in chosen],
        "customdata": [
            [
                f"{usd_per_hour(mark.usd_per_gpu_hour)} a GPU-hour, {TERM_WORDS[term]}",
                chart_text(f"{mark.cloud} {mark.region}: {mark.sku}"),
                f"as of {mark.as_of}",
            ]
            for mark in chosen
        ],
        "marker": {
            "symbol": SHAPES[term],
            "size": 9,
            "color": COLOURS[term],
            "opacity": 0.75,
            "line": {"width": 1, "color": "var(--card)"},
        },
        "hovertemplate": HOVER,
    }
