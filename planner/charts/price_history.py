"""What did a GPU-hour cost, day by day? Stepped lines, and the moments at which list prices changed."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from planner.charts.layout import TALL_PX, Figure, Label, axis, chart_text, end_annotations, layout
from planner.charts.tables import Table
from planner.templatetags.units import count, day, percent_signed, usd_per_hour

Role = Literal["lowest", "median", "own", "contract"]
STYLES: dict[Role, dict[str, Any]] = {
    "lowest": {"width": 3, "dash": "solid"},
    "median": {"width": 1.5, "dash": "dash"},
    "own": {"width": 2, "dash": "solid"},
    "contract": {"width": 2, "dash": "longdashdot"},
}
TERM_COLOURS = {"on_demand": "var(--on-demand)", "spot": "var(--spot)"}  # all others are reserved
MARGIN = {"l": 46, "r": 96, "t": 18, "b": 28}
LONGEST_LABEL = 9
LABEL_GAP = timedelta(days=60)
EVERY = timedelta(days=7)  # a point at least, so that the hover is never far from the pointer
HEADROOM = 1.12
DOT_PX = 6
# where a fact may stand, below the top of its riser as plotly counts; the first that is free
BESIDE_PX = (8, 30, 52, -18, 74)
ABOVE_PX = (-18, -40, 30, 52, -62)


@dataclass(frozen=True)
class Span:
    """Days on which a line has one value; None is a gap. `text` is what the hover says."""

    first: date
    last: date
    usd_per_gpu_hour: float | None
    text: str
    href: str = ""  # what a press opens


@dataclass(frozen=True)
class PriceLine:
    """One line of the chart, its spans in order of time."""

    role: Role
    name: str
    spans: Sequence[Span]
    label: str = ""  # what stands at its end, where the name is too long for it

    @property
    def last_known(self) -> Span | None:
        return next((span for span in reversed(self.spans) if span.usd_per_gpu_hour is not None), None)


@dataclass(frozen=True)
class Fact:
    """A list price that changed on a day."""

    on: date
    old: float
    new: float
    what: str

    @property
    def text(self) -> str:
        change = percent_signed(self.new / self.old - 1)
        return f"{self.what} {change} on {day(self.on)}"


@dataclass(frozen=True)
class PriceHistory:
    """What the picture shows: the window, the lines, the facts, and when a price was last seen."""

    first: date
    last: date
    seen_until: date | None
    term: str
    lines: Sequence[PriceLine]
    facts: Sequence[Fact]


def price_history(shown: PriceHistory, height_px: int = TALL_PX) -> Figure | None:
    """Return the stepped lines; None where no day of any is known."""
    known = [value for line in shown.lines for value in _values(line)]
    if not known:
        return None
    top = max([*known, *(max(fact.old, fact.new) for fact in shown.facts)]) * HEADROOM
    days = _days(shown)
    end = shown.last + timedelta(days=1)
    return {
        "data": [_trace(line, shown.term, days) for line in shown.lines],
        "layout": layout(
            MARGIN,
            height_px,
            meta={"opens": "run"},
            xaxis=axis(
                range=[shown.first.isoformat(), end.isoformat()],
                showgrid=False,
                tickformat="%b %Y",
                hoverformat="%-d %b %Y",
                nticks=8,
            ),
            yaxis=axis(range=[0, top], tickprefix="$", nticks=6),
            shapes=[*_unseen(shown), *(_riser(fact) for fact in shown.facts)],
            annotations=[
                *end_annotations(_end_labels(shown), (0, top), height_px, MARGIN),
                *_fact_annotations(shown, (height_px - MARGIN["t"] - MARGIN["b"]) / top),
                *_unseen_annotation(shown),
            ],
        ),
    }


def price_history_label(name: str, shown: PriceHistory) -> str:
    """Return the answer of the chart in words, for people who do not see it."""
    ends = [
        f"{line.name} {usd_per_hour(last.usd_per_gpu_hour)}"
        for line in shown.lines
        if (last := line.last_known) is not None
    ]
    facts = "; ".join(fact.text for fact in shown.facts)
    until = f", last seen {day(shown.seen_until)}" if shown.seen_until else ""
    known = f"$/GPU-h of {name}{until}: {', '.join(ends)}." if ends else f"No price of {name} is known."
    return f"{known} {facts}.".strip() if facts else known


def price_history_table(shown: PriceHistory, offers: Sequence[tuple[date, int]]) -> Table:
    """Return the lines as a table: one row for each day on which one of them changed, the newest first."""
    since = [on for on, _ in offers]
    starts = sorted({span.first for line in shown.lines for span in line.spans}, reverse=True)
    columns = [_spans_at(line, starts) for line in shown.lines]
    rows = tuple(
        (
            day(start),
            (
                *(usd_per_hour(span and span.usd_per_gpu_hour) for span in cells),
                _offers(offers, since, start),
            ),
        )
        for start, *cells in zip(starts, *columns, strict=True)
    )
    heads = ("From", *(line.name for line in shown.lines), "Offers")
    return Table("$/GPU-h from the day named until the one above it", heads, rows)


def _rate(span: Span | None) -> str:
    return usd_per_hour(None if span is None else span.usd_per_gpu_hour)


def _offers(offers: Sequence[tuple[date, int]], since: Sequence[date], on: date) -> str:
    """Return how many offers counted on a day."""
    place = bisect_right(since, on) - 1
    return count(offers[place][1]) if place >= 0 else count("")


def _values(line: PriceLine) -> list[float]:
    return [span.usd_per_gpu_hour for span in line.spans if span.usd_per_gpu_hour is not None]


def _days(shown: PriceHistory) -> list[date]:
    """Return the days with a point: every change and every week, the same for all lines."""
    weekly = [shown.first + EVERY * week for week in range((shown.last - shown.first) // EVERY + 1)]
    edges = [edge for line in shown.lines for span in line.spans for edge in (span.first, span.last)]
    return sorted({shown.first, shown.last, *weekly, *edges})


def _spans_at(line: PriceLine, days: Sequence[date]) -> list[Span | None]:
    """Return the span of each of these days, which may be many."""
    starts = [span.first for span in line.spans]
    found: list[Span | None] = []
    for on in days:
        place = bisect_right(starts, on) - 1
        found.append(line.spans[place] if place >= 0 and on <= line.spans[place].last else None)
    return found


def _trace(line: PriceLine, term: str, days: Sequence[date]) -> dict[str, Any]:
    spans = _spans_at(line, days)
    values = [None if span is None else span.usd_per_gpu_hour for span in spans]
    hovers = {span.first: [chart_text(span.text), span.href] for span in line.spans}
    around = zip([None, *values], values, [*values[1:], None], strict=False)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": chart_text(line.name),
        "x": [on.isoformat() for on in days],
        "y": values,
        # a day between two gaps has no line on either side: only its dot shows it
        "marker": {"size": [DOT_PX if _is_alone(*three) else 0 for three in around]},
        "customdata": [["", ""] if span is None else hovers[span.first] for span in spans],
        "connectgaps": False,
        "line": {**STYLES[line.role], "shape": "hv", "color": _colour(line.role, term)},
        "hovertemplate": f"{chart_text(line.name)} %{{customdata[0]}}<extra></extra>",
    }


def _is_alone(before: float | None, value: float | None, after: float | None) -> bool:
    return before is None and after is None and value is not None


def _colour(role: Role, term: str) -> str:
    if role == "own":
        return "var(--ink)"
    if role == "contract":
        return "var(--owned)"
    if role == "median":
        return "var(--ink-3)"
    return TERM_COLOURS.get(term, "var(--reserved)")


def _end_labels(shown: PriceHistory) -> list[Label]:
    """Return the last known value of each line; the text in ink, since a fill is too pale for letters."""
    return [
        Label(
            last.usd_per_gpu_hour or 0.0,
            f"{chart_text((line.label or line.name)[:LONGEST_LABEL])} {usd_per_hour(last.usd_per_gpu_hour)}",
            "var(--ink)" if line.role in {"lowest", "own"} else "var(--ink-2)",
            700 if line.role == "lowest" else 500,
        )
        for line in shown.lines
        if (last := line.last_known) is not None
    ]


def _riser(fact: Fact) -> dict[str, Any]:
    """Return a thin line from the old price to the new one: its SKU need not be among the lines."""
    on = fact.on.isoformat()
    return {
        "type": "line",
        "x0": on,
        "x1": on,
        "y0": fact.old,
        "y1": fact.new,
        "line": {"color": "var(--ink)", "width": 1.5, "dash": "dot"},
    }


def _fact_annotations(shown: PriceHistory, px_per_usd: float) -> list[dict[str, Any]]:
    """Return the facts beside the top of their risers; the biggest always, the others where it is wide."""
    middle = shown.first + (shown.last - shown.first) / 2
    placed: list[float] = []
    answer = []
    for index, fact in enumerate(shown.facts):
        is_late = fact.on > middle
        # right of a fall the line is below; elsewhere it would lie under the words
        offsets = BESIDE_PX if fact.new < fact.old and not is_late else ABOVE_PX
        top = max(fact.old, fact.new) * px_per_usd
        free = [offset for offset in offsets if all(abs(top - offset - other) >= 20 for other in placed)]
        offset = (free or [*offsets])[0]
        placed.append(top - offset)
        answer.append(_fact_annotation(fact, index, is_late, offset))
    return answer


def _fact_annotation(fact: Fact, index: int, is_late: bool, offset_px: int) -> dict[str, Any]:
    prices = f"from {usd_per_hour(fact.old)} to {usd_per_hour(fact.new)}"
    return {
        "name": "mark" if index == 0 else "mark-wide",
        "x": fact.on.isoformat(),
        "y": max(fact.old, fact.new),
        "ax": -18 if is_late else 18,
        "ay": offset_px,
        "xanchor": "right" if is_late else "left",
        "text": f"{chart_text(fact.what)} {prices}, {day(fact.on)}",
        "arrowcolor": "var(--ink-3)",
        "arrowwidth": 1.2,
        "arrowhead": 0,
        "font": {"size": 12 if index == 0 else 11, "color": "var(--ink)"},
        "bgcolor": "var(--card)",
        "borderpad": 3,
    }


def _unseen(shown: PriceHistory) -> list[dict[str, Any]]:
    """Return the shade over the days after the last sight."""
    if shown.seen_until is None or shown.seen_until >= shown.last:
        return []
    return [
        {
            "type": "rect",
            "layer": "below",
            "yref": "paper",
            "x0": max(shown.seen_until, shown.first).isoformat(),
            "x1": (shown.last + timedelta(days=1)).isoformat(),
            "y0": 0,
            "y1": 1,
            "fillcolor": "var(--sunken)",
            "line": {"width": 0},
        }
    ]


def _unseen_annotation(shown: PriceHistory) -> list[dict[str, Any]]:
    if shown.seen_until is None or (shown.last - shown.seen_until) < LABEL_GAP:
        return []
    return [
        {
            "name": "unseen",
            "x": max(shown.seen_until, shown.first).isoformat(),
            "xanchor": "left",
            "xshift": 4,
            "yref": "paper",
            "y": 1,
            "yanchor": "top",
            "text": f"nothing seen<br>since {day(shown.seen_until)}",
            "align": "left",
            "showarrow": False,
            "font": {"size": 11, "color": "var(--ink-3)"},
        }
    ]
