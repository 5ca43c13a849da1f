"""Are the GPUs busy enough? Measured weeks, solid ink, against the utilization at which plans pay."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.charts.layout import (
    DASHES,
    MEDIUM_PX,
    Figure,
    Label,
    axis,
    chart_text,
    end_annotations,
    layout,
    line_trace,
    scenario_colour,
)
from planner.comparison.result import BreakEvenLine, MeasuredUse, WeekSeries
from planner.templatetags.units import percent

MOST_POOLS = 3
MOST_WEEK_TICKS = 6
MILLISECONDS_PER_WEEK = 7 * 24 * 3600 * 1000


def weekly_use(
    measured: MeasuredUse, break_evens: Sequence[BreakEvenLine], height_px: int = MEDIUM_PX
) -> Figure:
    """Return the measured weeks, solid ink, with one line for each break-even."""
    pools = measured.pools[:MOST_POOLS]
    shown = [line for line in break_evens if line.share <= 1.2]
    low, high = _percent_range([measured.fleet, *pools], shown)
    margin = {"l": 42, "r": 144, "t": 10, "b": 28}
    labels = [_break_even_label(line) for line in shown]
    labels += [label for label in (_week_label(pool, "var(--ink-3)", 500) for pool in pools) if label]
    labels += [label for label in [_week_label(measured.fleet, "var(--ink)", 700)] if label]
    weeks = [week.isoformat() for week in measured.weeks]
    return {
        "data": [
            *(_week_trace(weeks, pool, {"color": "var(--idle)", "width": 1.5}) for pool in pools),
            _week_trace(weeks, measured.fleet, {"color": "var(--ink)", "width": 3}),
        ],
        "layout": layout(
            margin,
            height_px,
            xaxis=_weeks_axis(weeks),
            yaxis=axis(range=[low, high], ticksuffix="\u00a0%", nticks=6),
            shapes=[_break_even_shape(line) for line in shown],
            annotations=end_annotations(labels, (low, high), height_px, margin),
        ),
    }


def _weeks_axis(weeks: Sequence[str]) -> dict[str, Any]:
    each = -(-len(weeks) // MOST_WEEK_TICKS)
    ticks = {"tick0": weeks[0], "dtick": each * MILLISECONDS_PER_WEEK} if weeks else {}
    return axis(showgrid=False, tickformat="%-d %b", hoverformat="week of %-d %B %Y", **ticks)


def weekly_label(measured: MeasuredUse, break_evens: Sequence[BreakEvenLine]) -> str:
    """Return the answer of the chart in words, for people who do not see it."""
    lines = "; ".join(line.text for line in break_evens)
    return f"Measured utilization by week, last {measured.last.text}.{' ' + lines + '.' if lines else ''}"


def _week_trace(weeks: list[str], series: WeekSeries, line: Mapping[str, Any]) -> dict[str, Any]:
    shares = [None if share is None else 100 * share for share in series.shares]
    trace = line_trace(weeks, shares, line, f"{chart_text(series.label)} %{{y:.0f}}\u00a0%")
    # a week between two gaps has no line on either side: only its dot shows it
    marker = {"size": 6 if line["width"] == 3 else 4, "color": line["color"]}
    return trace | {"mode": "lines+markers", "marker": marker, "name": chart_text(series.label)}


def _week_label(series: WeekSeries, colour: str, weight: int) -> Label | None:
    known = [share for share in series.shares if share is not None]
    if not known:
        return None
    return Label(100 * known[-1], f"{chart_text(series.label[:14])} {percent(known[-1])}", colour, weight)


def _break_even_label(line: BreakEvenLine) -> Label:
    return Label(100 * line.share, chart_text(line.text), scenario_colour(line.letter, text=True), 600)


def _break_even_shape(line: BreakEvenLine) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": 100 * line.share,
        "y1": 100 * line.share,
        "line": {"color": scenario_colour(line.letter), "width": 2, "dash": DASHES[line.letter]},
    }


def _percent_range(weeks: Sequence[WeekSeries], lines: Sequence[BreakEvenLine]) -> tuple[float, float]:
    shares = [share for series in weeks for share in series.shares if share is not None]
    shares += [line.share for line in lines]
    if not shares:
        return 0.0, 100.0
    return max(0.0, 100 * min(shares) - 6), 100 * max(shares) + 6
