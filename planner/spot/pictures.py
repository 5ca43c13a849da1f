"""What the charts of the spot page draw, and the same numbers as tables."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from costs.queries.spot_statistics import Step
from planner.charts.layout import Figure
from planner.charts.spot import (
    Box,
    Panel,
    PanelPoint,
    highest,
    is_low,
    panel_label,
    spread,
    spread_label,
    zone_panel,
)
from planner.charts.tables import Table
from planner.core.spot_traces import spells
from planner.spot.days import full_day
from planner.spot.evidence import AN_HOUR, as_trace
from planner.spot.gather import Spot
from planner.spot.zones import SHARES, ZoneLine
from planner.templatetags.units import NBSP, count, percent, usd_per_hour

MOST_BOXES = 12
TAIL = 25  # of a window's length, the part beyond its end that says: no data since
# more points than a panel has pixels: of each part of the window its lowest and highest are kept
MOST_POINTS = 800
ROW_LENGTHS = {"30d": timedelta(days=1), "90d": timedelta(days=7)}
MOST_ROWS = 60


@dataclass(frozen=True)
class Drawn:
    """One chart with everything its template needs."""

    id: str
    line: ZoneLine
    figure: Figure
    label: str


@dataclass(frozen=True)
class Spread:
    figure: Figure
    label: str
    size: str
    table: Table
    rest: int  # zones that are in the table alone


def panels(spot: Spot) -> list[Drawn]:
    """Return the panels of the first zones, with one price axis for all."""
    made = [_panel(spot, line) for line in spot.panels]
    top = highest(made)
    last = spot.end + (spot.end - spot.start) / TAIL if spot.is_stale else spot.end
    span = (_text(spot.start), _text(last))
    return [
        Drawn(
            id=f"zone-{number}",
            line=line,
            figure=zone_panel(panel, span, top, spot.unit),
            label=_label(spot, line),
        )
        for number, (line, panel) in enumerate(zip(spot.panels, made, strict=True))
    ]


def is_thinned(spot: Spot) -> bool:
    """Return whether a panel leaves out points."""
    return any(len(line.series.steps) > MOST_POINTS for line in spot.panels)


def _label(spot: Spot, line: ZoneLine) -> str:
    found, usd = line.series.statistics, line.now_usd
    low, high = (line.per_gpu(found.lowest), line.per_gpu(found.highest)) if found else (None, None)
    extent = None if low is None or high is None else (float(low), float(high))
    last_seen = full_day(line.series.last_seen_at) if line.is_withheld else ""
    text = panel_label(line.label, float(usd or 0), extent, spot.unit, last_seen)
    return f"{text} On demand {usd_per_hour(line.on_demand_usd)}."


def _panel(spot: Spot, line: ZoneLine) -> Panel:
    gone = line.is_withheld
    return Panel(
        points=_points(line),
        on_demand=_on_demand(spot, line),
        unwatched_from=_text(max(line.series.last_seen_at, spot.start)) if gone else "",
        losses=_losses(spot, line),
    )


def _points(line: ZoneLine) -> tuple[PanelPoint, ...]:
    """Return the start of each step; where a step ends without a following one, its end and a gap."""
    points: list[PanelPoint] = []
    steps = _thinned(line.series.steps)
    for step, following in pairwise([*steps, None]):
        if step is None:
            continue
        points.append(_point(line, step, step.starts_at))
        if following is None or following.follows_gap:
            points.append(_point(line, step, step.ends_at))
            if following is not None:
                points.append(PanelPoint(_text(step.ends_at), None, ""))
    return tuple(points)


def _thinned(steps: Sequence[Step]) -> list[Step]:
    """Return so many steps as a panel can show: of each part of the window the lowest and the highest."""
    if len(steps) <= MOST_POINTS:
        return list(steps)
    size = -(-2 * len(steps) // MOST_POINTS)
    kept: list[Step] = []
    for first in range(0, len(steps), size):
        part = steps[first : first + size]
        chosen = {min(part, key=_price), max(part, key=_price), part[-1]}
        # a gap is never drawn over, and nothing stops short of it
        chosen |= {step for pair in pairwise(part) if pair[1].follows_gap for step in pair}
        chosen |= {step for step in part[:1] if step.follows_gap}
        kept += [step for step in part if step in chosen]
    return kept


def _price(step: Step) -> tuple[object, datetime]:
    return step.price_per_hour, step.starts_at


def _point(line: ZoneLine, step: Step, moment: datetime) -> PanelPoint:
    usd = line.per_gpu(step.price_per_hour)
    share = ""
    if usd is not None and line.on_demand_usd:
        share = f"<br>{percent(usd / line.on_demand_usd)} of on demand"
    is_alone = step.starts_at == step.ends_at
    return PanelPoint(_text(moment), None if usd is None else float(usd), share, is_alone)


def _on_demand(spot: Spot, line: ZoneLine) -> tuple[tuple[str, float | None], ...]:
    """Return the price that held in each part of the window; one that stands in holds for all of it."""
    if line.is_held_against_another_day:
        usd = line.on_demand_usd
        flat = None if usd is None else float(usd)
        return ((_text(spot.start), flat), (_text(spot.end), flat))
    points: list[tuple[str, float | None]] = []
    for first, last, usd in spot.on_demand.steps(line.series.region, spot.start, spot.end):
        each = line.per_gpu(usd)
        value = None if each is None else float(each)
        points += [(_text(first), value), (_text(last), value)]
    return tuple(points)


def _losses(spot: Spot, line: ZoneLine) -> tuple[str, ...]:
    """Return when machines were lost in this very zone: a loss somewhere in its region is none of it."""
    measured = line.evidence.measured
    if measured is None or not measured.of_zone:
        return ()
    found = []
    for series in measured.series:
        for spell in spells(as_trace(series), line.job.machines):
            at = series.starts_at[0] + spell.end_hours * AN_HOUR
            if spell.is_available and spell.end_is_seen and spot.start <= at < spot.end:
                found.append(_text(at))
    return tuple(found)


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"


# --- spread ---


def spread_of(spot: Spot) -> Spread | None:
    """Return the chart of spreads; None where nothing was watched for longer than a moment."""
    lines = [line for line in spot.lines if line.spread is not None]
    boxes = [box for box in (_box(line, _names(lines)) for line in lines[:MOST_BOXES]) if box]
    if not boxes:
        return None
    return Spread(
        figure=spread(boxes),
        label=spread_label(boxes),
        size="low" if is_low(boxes) else "tall",
        table=_spread_table(spot, lines),
        rest=len(lines) - len(boxes),
    )


def _names(lines: Sequence[ZoneLine]) -> dict[str, str]:
    """Return what each zone is called: with its account where two accounts use one name."""
    labels = [line.label for line in lines]
    return {line.key: line.label if labels.count(line.label) == 1 else line.key for line in lines}


def _box(line: ZoneLine, names: dict[str, str]) -> Box | None:
    found = line.spread
    if found is None:
        return None
    p5, p25, p50, p75, p95 = (float(usd) for usd in (found.p5, found.p25, found.p50, found.p75, found.p95))
    said = (
        f"{names[line.key]}: p5 {usd_per_hour(found.p5)}, p25 {usd_per_hour(found.p25)}, "
        f"p50 {usd_per_hour(found.p50)}, p75 {usd_per_hour(found.p75)}, p95 {usd_per_hour(found.p95)}; "
        f"{count(found.samples)} prices"
    )
    return Box(names[line.key], (p5, p25, p50, p75, p95), said)


def _spread_table(spot: Spot, lines: Sequence[ZoneLine]) -> Table:
    rows = []
    for line in lines:
        found = line.spread
        if found is None:
            continue
        prices = (found.p5, found.p25, found.p50, found.p75, found.p95)
        cells = (*(usd_per_hour(usd) for usd in prices), count(found.samples), _length(found.watched))
        rows.append((_names(lines)[line.key], cells))
    heads = ("Zone", *(f"p{int(share * 100)}" for share in SHARES), "Prices", "Watched")
    return Table(f"Price of one {spot.unit} by zone, weighted by time", heads, tuple(rows))


def _length(passed: timedelta) -> str:
    hours = passed / AN_HOUR
    return f"{count(hours / 24)}{NBSP}d" if hours >= 48 else f"{count(hours)}{NBSP}h"


# --- table of the panels ---


def price_table(spot: Spot) -> Table:
    """Return the prices that held at even moments, one column a zone; a file holds every change."""
    moments = _moments(spot)
    lines = spot.panels
    columns = [_cells(line, moments) for line in lines]
    rows = tuple(
        (_moment_name(moment, spot), tuple(column[place] for column in columns))
        for place, moment in enumerate(moments)
    )
    heads = ("At 00:00 UTC on", *(_names(lines)[line.key] for line in lines))
    return Table(f"Price of one {spot.unit} that held", heads, rows)


def _moments(spot: Spot) -> list[datetime]:
    first = spot.start.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    days = max((spot.end - first) / timedelta(days=1), 0)
    step = ROW_LENGTHS.get(spot.ask.window) or timedelta(days=max(1, -(-int(days) // MOST_ROWS)))
    moments: list[datetime] = []
    while first < spot.end and len(moments) <= MOST_ROWS:
        moments.append(first)
        first += step
    # the newest price of a window shorter than a day has no midnight
    return [*moments, spot.end - timedelta(seconds=1)]


def _moment_name(moment: datetime, spot: Spot) -> str:
    return f"{full_day(moment)}, last" if moment >= spot.end - timedelta(seconds=1) else full_day(moment)


def _cells(line: ZoneLine, moments: Sequence[datetime]) -> list[str]:
    """Return the price that held at each moment; what was seen at a moment alone held at that moment."""
    steps = line.series.steps
    starts = [step.starts_at for step in steps]
    cells = []
    for moment in moments:
        place = bisect_right(starts, moment) - 1
        held = place >= 0 and (moment < steps[place].ends_at or moment <= steps[place].last_seen_at)
        cells.append(usd_per_hour(line.per_gpu(steps[place].price_per_hour)) if held else "not watched")
    return cells
