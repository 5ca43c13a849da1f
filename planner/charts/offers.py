"""Where is a GPU cheapest? One mark for each offer, one row for each cloud, the shape is the term."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from planner.charts.layout import MEDIUM_PX, TALL_PX, Figure, axis, chart_text, layout
from planner.templatetags.units import usd_per_hour


@dataclass(frozen=True)
class TermLook:
    """How one term looks: its word, plotly's name of the shape, the same shape as a sign, its colour."""

    word: str
    shape: str
    sign: str
    colour: str


_COMMITTED = "var(--reserved)"
# every term of the price table, in the order of the legend
LOOKS = {
    "on_demand": TermLook("on demand", "circle", "●", "var(--on-demand)"),
    "reserved_1y": TermLook("1 year", "square", "■", _COMMITTED),
    "reserved_3y": TermLook("3 years", "diamond", "◆", _COMMITTED),
    "convertible_1y": TermLook("1 year, convertible", "triangle-down", "▼", _COMMITTED),
    "convertible_3y": TermLook("3 years, convertible", "triangle-sw", "◣", _COMMITTED),
    "compute_plan_1y": TermLook("savings plan, 1 year", "x", "✖", _COMMITTED),
    "compute_plan_3y": TermLook("savings plan, 3 years", "star", "★", _COMMITTED),
    "instance_plan_1y": TermLook("family savings plan, 1 year", "triangle-ne", "◥", _COMMITTED),
    "instance_plan_3y": TermLook("family savings plan, 3 years", "pentagon", "⬟", _COMMITTED),
    "capacity_block": TermLook("capacity block", "cross", "✚", "var(--owned)"),
    "spot": TermLook("spot", "triangle-up", "▲", "var(--spot)"),
}
STALE_COLOUR = "var(--idle)"
FEW_CLOUDS = 9
HOVER = "%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>"


@dataclass(frozen=True)
class Mark:
    """One offer that states a price; foreign text is as it came. `as_of` is its date and age in words."""

    cloud: str
    region: str
    sku: str
    term: str
    usd_per_gpu_hour: float
    as_of: str
    is_stale: bool = False


def strip(marks: Sequence[Mark], scale: str = "log") -> Figure:
    """Return the offers along a price axis; the cheapest cloud stands on top, stale marks are hollow."""
    clouds = _clouds(marks)
    ticks: dict[str, Any] = {"dtick": "D2"} if scale == "log" else {"nticks": 8, "rangemode": "tozero"}
    groups = [(term, stale) for stale in (True, False) for term in LOOKS]
    chosen = [[mark for mark in marks if (mark.term, mark.is_stale) == group] for group in groups]
    return {
        "data": [_trace(some, *group) for group, some in zip(groups, chosen, strict=True) if some],
        "layout": layout(
            {"l": 96, "r": 16, "t": 8, "b": 34},
            MEDIUM_PX if is_low(marks) else TALL_PX,
            hovermode="closest",
            xaxis=axis(type=scale, tickprefix="$", tickformat="~g", showgrid=True, **ticks),
            yaxis=axis(categoryorder="array", categoryarray=[*reversed(clouds)], showgrid=False),
        ),
    }


def strip_label(name: str, marks: Sequence[Mark]) -> str:
    """Return the answer of the chart in words; a stale price is no answer."""
    extent = f"{len(marks)} offers of {name} at {len(_clouds(marks))} clouds"
    fresh = [mark for mark in marks if not mark.is_stale]
    if not fresh:
        return f"{extent}; all of them are stale."
    best = min(fresh, key=lambda mark: mark.usd_per_gpu_hour)
    price = f"{usd_per_hour(best.usd_per_gpu_hour)} a GPU-hour, {LOOKS[best.term].word}"
    left = len(marks) - len(fresh)
    aside = f" {left} stale ones are left out of that." if left else ""
    return f"{extent}; the cheapest is {price}, at {best.cloud} {best.region}.{aside}"


def legend(marks: Sequence[Mark]) -> str:
    """Return the signs of the terms that the chart shows: ● on demand, ▲ spot."""
    shown = {mark.term for mark in marks}
    words = [f"{look.sign} {look.word}" for term, look in LOOKS.items() if term in shown]
    return ", ".join([*words, *(["hollow: stale"] if any(mark.is_stale for mark in marks) else [])])


def is_low(marks: Sequence[Mark]) -> bool:
    """Return whether the rows fit into a chart of medium height."""
    return len(_clouds(marks)) <= FEW_CLOUDS


def _clouds(marks: Sequence[Mark]) -> list[str]:
    """Return the clouds by their lowest price; one whose prices are all stale comes after the others."""
    lowest: dict[str, tuple[bool, float]] = {}
    for mark in marks:
        place = (mark.is_stale, mark.usd_per_gpu_hour)
        lowest[mark.cloud] = min(place, lowest.get(mark.cloud, place))
    return [chart_text(cloud) for cloud in sorted(lowest, key=lambda cloud: (lowest[cloud], cloud))]


def _trace(marks: Sequence[Mark], term: str, is_stale: bool) -> dict[str, Any]:
    look, plain = LOOKS[term], cache(chart_text)  # a few names stand on hundreds of marks
    colour = STALE_COLOUR if is_stale else look.colour
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{look.word}, stale" if is_stale else look.word,
        "x": [mark.usd_per_gpu_hour for mark in marks],
        "y": [plain(mark.cloud) for mark in marks],
        "customdata": [
            [
                f"{usd_per_hour(mark.usd_per_gpu_hour)} a GPU-hour, {look.word}",
                f"{plain(mark.cloud)} {plain(mark.region)}: {plain(mark.sku)}",
                f"as of {mark.as_of}",
            ]
            for mark in marks
        ],
        "marker": {
            "symbol": f"{look.shape}-open" if is_stale else look.shape,
            "size": 8 if is_stale else 9,
            "color": colour,
            "opacity": 0.75,
            "line": {"width": 1, "color": colour if is_stale else "var(--card)"},
        },
        "hovertemplate": HOVER,
    }
