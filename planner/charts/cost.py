"""When does owning overtake renting? Cumulative cost, one line for each scenario."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from planner.charts.layout import (
    DASHES,
    TALL_PX,
    Figure,
    Label,
    axis,
    chart_text,
    currency_prefix,
    end_annotations,
    layout,
    line_trace,
    scenario_colour,
)
from planner.comparison.result import Comparison, Line, Mark
from planner.templatetags.units import month, usd_short, usd_short_signed

MOST_MARKS = 2


def cumulative(comparison: Comparison, height_px: int = TALL_PX) -> Figure | None:
    """Return the cumulative cost of every scenario by month; None where no month of any is known."""
    series = comparison.series
    known = [value for line in series.cumulative for value in line.values if value is not None]
    if not known:
        return None
    low, high = min(0.0, *known), max(0.0, *known) * 1.06
    best = next((column.letter for column in comparison.columns if column.is_cheapest), None)
    margin = {"l": 50, "r": 92, "t": 14, "b": 28}
    labels = [_end_label(line, best) for line in series.cumulative]
    return {
        "data": [_cost_trace(line, comparison, best) for line in series.cumulative],
        "layout": layout(
            margin,
            height_px,
            xaxis=axis(range=_ends(series.months), showgrid=False, tickformat="%b %Y", hoverformat="%B %Y"),
            yaxis=axis(
                range=[low, high], tickprefix=currency_prefix(comparison.currency), tickformat="~s", nticks=6
            ),
            annotations=[
                *end_annotations([label for label in labels if label], (low, high), height_px, margin),
                *(
                    _mark_annotation(mark, index, series.months)
                    for index, mark in enumerate(_shown_marks(series.marks, best))
                ),
            ],
        ),
    }


def cumulative_label(comparison: Comparison) -> str:
    """Return the answer of the cumulative chart in words, for people who do not see it."""
    ends = ", ".join(f"{line.letter} {line.end.text}" for line in comparison.series.cumulative)
    marks = "; ".join(mark.text for mark in comparison.series.marks)
    until = month(comparison.series.months[-1])
    return f"Cumulative cost to {until}: {ends}.{' ' + marks + '.' if marks else ''}"


def _cost_trace(line: Line, comparison: Comparison, best: str | None) -> dict[str, Any]:
    base = next(each for each in comparison.series.cumulative if each.letter == comparison.base)
    width = 3.5 if line.letter == best else 2
    colour = {"color": scenario_colour(line.letter), "width": width, "dash": DASHES[line.letter]}
    name = f"{line.letter} {chart_text(line.name)}"
    trace = line_trace([first.isoformat() for first in comparison.series.months], line.values, colour, "")
    return trace | {
        "name": name,
        "customdata": _hover_texts(line, base, comparison.currency),
        "hovertemplate": f"{name}: %{{customdata}}<extra></extra>",
    }


def _hover_texts(line: Line, base: Line, currency: str) -> list[str]:
    texts = []
    for value, other in zip(line.values, base.values, strict=True):
        text = usd_short(value, currency)
        if line.letter != base.letter and value is not None and other is not None:
            text += f" ({usd_short_signed(value - other, currency)} to {base.letter})"
        texts.append(text)
    return texts


def _end_label(line: Line, best: str | None) -> Label | None:
    known = [value for value in line.values if value is not None]
    if not known:
        return None
    weight = 700 if line.letter == best else 500
    return Label(known[-1], f"{line.letter} {line.end.text}", scenario_colour(line.letter, text=True), weight)


def _shown_marks(marks: Sequence[Mark], best: str | None) -> list[Mark]:
    """Return the facts of the cheapest scenario; of the first that has any where none is the cheapest.

    The facts of all four would cover the lines; the others stand in the cards.
    """
    letter = best if any(mark.letter == best for mark in marks) else marks[0].letter if marks else None
    return [mark for mark in marks if mark.letter == letter][:MOST_MARKS]


def _mark_annotation(mark: Mark, index: int, months: Sequence[date]) -> dict[str, Any]:
    """Return a dated fact with a thin pointer; the first always, the others where the screen is wide."""
    # right of a late mark stand the labels of the lines' ends
    is_late = months.index(mark.month) > len(months) / 2
    return {
        "name": "mark" if index == 0 else "mark-wide",
        "x": mark.month.isoformat(),
        "y": mark.value,
        # the first below its line, the next above theirs: they rarely meet
        "ax": (-40 if is_late else 56) if index == 0 else -8,
        "ay": 48 if index == 0 else -26 - 24 * index,
        "xanchor": ("right" if is_late else "left") if index == 0 else "center",
        "text": chart_text(mark.text),
        "arrowcolor": "var(--ink-3)",
        "arrowwidth": 1.2,
        "arrowhead": 0,
        "font": {"size": 12 if index == 0 else 11, "color": "var(--ink)" if index == 0 else "var(--ink-2)"},
        "bgcolor": "var(--card)",
        "borderpad": 3,
    }


def _ends(months: Sequence[date]) -> list[str]:
    return [months[0].isoformat(), months[-1].isoformat()]
