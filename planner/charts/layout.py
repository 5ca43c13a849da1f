"""The look that every chart shares: colours by token, axes, direct labels that keep apart.

Colours are names of the style sheet's tokens, var(--owned): static/js/charts.js puts in what they mean in
the theme of the moment. No <b> or <span> in a text: they become style attributes, which the page's policy
drops; weight is font.weight.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.templatetags.units import SYMBOLS

Figure = dict[str, Any]

TALL_PX, MEDIUM_PX, LOW_PX = 420, 260, 230  # heights of .chart.tall, .chart.medium and .chart.low
USE_PX = 300  # of .chart.use, measured use on the first page
PRINT_PX = 220  # of every chart on paper
LABEL_GAP_PX = 16
DASHES = {"A": "dot", "B": "dash", "C": "solid", "D": "longdashdot"}
FONT = '-apple-system, "Segoe UI", Inter, Roboto, "Noto Sans", "Liberation Sans", system-ui, sans-serif'


@dataclass(frozen=True)
class Label:
    """A direct label at the end of a line: where the line ends, and what stands beside it."""

    y: float
    text: str
    colour: str
    weight: int = 500


def chart_text(text: str) -> str:
    """Return foreign text that plotly shows as it is: no tag, no entity, no direction or control mark.

    Plotly turns <a href> in a label into a link and swallows <br>.
    """
    shown = "".join(" " if unicodedata.category(sign) in {"Cc", "Cf"} else sign for sign in text)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def spread(positions_px: Sequence[float], height_px: float, gap_px: float = LABEL_GAP_PX) -> list[float]:
    """Return the positions moved apart to at least `gap_px`, in the same order, inside 0 to height.

    Labels that fit stay where they are. Where they cannot all fit, they are packed from the bottom.
    """
    order = sorted(range(len(positions_px)), key=lambda index: positions_px[index])
    placed = [positions_px[index] for index in order]
    for _ in range(len(placed) * 8):
        for low in range(len(placed) - 1):
            missing = gap_px - (placed[low + 1] - placed[low])
            if missing > 0:
                placed[low] -= missing / 2
                placed[low + 1] += missing / 2
    # what still overlaps after moving both sides is pushed up, then down from the upper edge
    floor = 0.0
    for index, position in enumerate(placed):
        placed[index] = max(position, floor)
        floor = placed[index] + gap_px
    ceiling = height_px
    for index in reversed(range(len(placed))):
        placed[index] = min(placed[index], ceiling)
        ceiling = placed[index] - gap_px
    if placed and placed[0] < 0:
        placed = [index * gap_px for index in range(len(placed))]
    moved = dict(zip(order, placed, strict=True))
    return [moved[index] for index in range(len(positions_px))]


def end_annotations(
    labels: Sequence[Label], span: tuple[float, float], height_px: int, margin: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Place labels right of the plot, each at its line's end but never closer than they can be read."""
    plot_px = height_px - margin["t"] - margin["b"]
    low, high = span
    ends = [(label.y - low) / ((high - low) or 1.0) * plot_px for label in labels]
    return [
        {
            "name": "end",
            "xref": "paper",
            "x": 1,
            "xshift": 6,
            "xanchor": "left",
            "y": label.y,
            "yanchor": "middle",
            "yshift": round(place - end, 2),
            "text": label.text,
            "showarrow": False,
            "font": {"size": 12, "color": label.colour, "weight": label.weight},
        }
        for label, end, place in zip(labels, ends, spread(ends, plot_px), strict=True)
    ]


def layout(margin: Mapping[str, int], height_px: int, **more: Any) -> dict[str, Any]:
    return {
        "height": height_px,
        "font": {"family": FONT, "size": 12, "color": "var(--ink-2)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": dict(margin),
        "showlegend": False,
        "hovermode": "x unified",
        "hoverlabel": {
            "bgcolor": "var(--card)",
            "bordercolor": "var(--line-2)",
            "font": {"size": 12, "color": "var(--ink)"},
            "align": "left",
            "namelength": -1,
        },
        **more,
    }


def axis(**more: Any) -> dict[str, Any]:
    return {
        "gridcolor": "var(--line)",
        "linecolor": "var(--line-2)",
        "tickfont": {"size": 11, "color": "var(--ink-3)"},
        "ticks": "",
        "tickangle": 0,
        "zeroline": False,
        "fixedrange": True,
        **more,
    }


def line_trace(
    moments: list[str], values: Sequence[float | None], line: Mapping[str, Any], hover: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": moments,
        "y": list(values),
        "connectgaps": False,
        "line": dict(line),
        "hovertemplate": f"{hover}<extra></extra>",
    }


def scenario_colour(letter: str, text: bool = False) -> str:
    # the grey of A is strong enough for a line but too pale for letters
    return "var(--scenario-a-text)" if text and letter == "A" else f"var(--scenario-{letter.lower()})"


def currency_prefix(currency: str) -> str:
    return SYMBOLS.get(currency, f"{currency}\u00a0")
