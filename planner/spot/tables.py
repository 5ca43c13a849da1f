"""The columns of the spot page's files, each declared once: the table's first, then what says where from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from costs.queries.spot_changes import ChangePoint, Zone, change_points
from planner.csv_cells import Column, Kind
from planner.spot.gather import Spot
from planner.spot.zones import Known, ZoneLine


@dataclass(frozen=True)
class ZoneColumn:
    name: str
    value: Callable[[Spot, ZoneLine], Any]
    kind: Kind = "text"

    @property
    def file_column(self) -> Column:
        return Column(self.name, self.kind)


def _spread(name: str) -> Callable[[Spot, ZoneLine], Any]:
    return lambda spot, line: getattr(line.spread, name) if line.spread else None


def _band(name: str) -> Callable[[Spot, ZoneLine], Any]:
    return lambda spot, line: getattr(line.evidence.band, name) if line.evidence.band else None


def _on_demand(name: str) -> Callable[[Spot, ZoneLine], Any]:
    return lambda spot, line: getattr(line.on_demand, name) if line.on_demand else None


def _number(known: Callable[[ZoneLine], Known]) -> Callable[[Spot, ZoneLine], Any]:
    return lambda spot, line: known(line).value


def _word(known: Callable[[ZoneLine], Known]) -> Callable[[Spot, ZoneLine], Any]:
    """Return "exact" or "at least" for a figure, and its reason where there is none."""

    def word(spot: Spot, line: ZoneLine) -> str:
        figure = known(line)
        if figure.value is None:
            return figure.reason
        return "bound" if figure.is_bound else "figure"

    return word


def _measured(spot: Spot, line: ZoneLine) -> str:
    traces = line.evidence.measured.series if line.evidence.measured else ()
    return "; ".join(f"{one.trace} {one.zone}" for one in traces)


def _mtbf(spot: Spot, line: ZoneLine) -> float | None:
    hours = line.evidence.mtbf_hours
    return None if hours is None or hours == float("inf") else hours


COLUMNS = (
    ZoneColumn("zone", lambda spot, line: line.series.zone),
    ZoneColumn("zone_kind", lambda spot, line: line.series.zone_kind),
    ZoneColumn("zone_account", lambda spot, line: line.series.account),
    ZoneColumn("zone_id", lambda spot, line: line.series.zone_id),
    ZoneColumn("region", lambda spot, line: line.series.region),
    ZoneColumn("usd_per_gpu_h", lambda spot, line: line.now_usd, "number"),
    ZoneColumn("p5_usd_per_gpu_h", _spread("p5"), "number"),
    ZoneColumn("p25_usd_per_gpu_h", _spread("p25"), "number"),
    ZoneColumn("p50_usd_per_gpu_h", _spread("p50"), "number"),
    ZoneColumn("p75_usd_per_gpu_h", _spread("p75"), "number"),
    ZoneColumn("p95_usd_per_gpu_h", _spread("p95"), "number"),
    ZoneColumn("volatility", lambda spot, line: line.volatility, "number"),
    ZoneColumn("share_under_on_demand_x_0.6", lambda spot, line: line.under_share, "number"),
    ZoneColumn("band", _band("label")),
    ZoneColumn("band_share_low", _band("share_low"), "number"),
    ZoneColumn("band_share_high", _band("share_high"), "number"),
    ZoneColumn("band_as_of", _band("as_of"), "time"),
    ZoneColumn("effective_usd_per_useful_gpu_h", _number(lambda line: line.effective), "number"),
    ZoneColumn("effective_is", _word(lambda line: line.effective)),
    ZoneColumn("best_interval_h", _number(lambda line: line.best_interval), "number"),
    ZoneColumn("best_interval_is", _word(lambda line: line.best_interval)),
    ZoneColumn("share_late", _number(lambda line: line.missed), "number"),
    ZoneColumn("share_late_is", _word(lambda line: line.missed)),
    ZoneColumn("h_between_losses", _mtbf, "number"),
    ZoneColumn("h_between_losses_from", lambda spot, line: line.evidence.kind),
    ZoneColumn("traces", _measured),
    ZoneColumn("gpus_per_machine", lambda spot, line: line.gpu_count, "number"),
    ZoneColumn("price_per_machine_h", lambda spot, line: line.series.price_per_hour, "number"),
    ZoneColumn("currency", lambda spot, line: line.series.currency),
    ZoneColumn("on_demand_usd_per_gpu_h", lambda spot, line: line.on_demand_usd, "number"),
    ZoneColumn("on_demand_reason", lambda spot, line: line.on_demand_reason),
    ZoneColumn("on_demand_source", _on_demand("source")),
    ZoneColumn("on_demand_as_of", _on_demand("as_of"), "time"),
    ZoneColumn("on_demand_run", _on_demand("run_id"), "number"),
    ZoneColumn("watched_h", lambda spot, line: _watched_hours(line), "number"),
    ZoneColumn("price_since", lambda spot, line: line.series.since, "time"),
    ZoneColumn("last_seen_at", lambda spot, line: line.series.last_seen_at, "time"),
    ZoneColumn("state", lambda spot, line: line.state),
    ZoneColumn("cloud", lambda spot, line: spot.history.provider),
    ZoneColumn("machine_type", lambda spot, line: spot.history.sku),
    ZoneColumn("product", lambda spot, line: spot.history.product),
    ZoneColumn("source", lambda spot, line: line.series.source),
    ZoneColumn("source_run", lambda spot, line: line.series.run_id, "number"),
    ZoneColumn("band_run", _band("run_id"), "number"),
)

CHANGE_COLUMNS = (
    Column("zone"), Column("zone_kind"), Column("zone_account"), Column("region"),
    Column("starts_at", "time"), Column("last_seen_at", "time"), Column("follows_gap"),
    Column("usd_per_gpu_h", "number"),
    Column("price_per_machine_h", "number"), Column("currency"), Column("gpus_per_machine", "number"),
    Column("cloud"), Column("machine_type"), Column("product"), Column("source"),
    Column("fetched_at", "time"), Column("source_run", "number"), Column("file_sha256"),
    Column("line", "number"),
)  # fmt: skip


def zone_rows(spot: Spot) -> Iterator[list[Any]]:
    """Yield the rows of the table, in its order."""
    for line in spot.lines:
        yield [column.value(spot, line) for column in COLUMNS]


def change_rows(spot: Spot) -> Iterator[list[Any]]:
    """Yield the change points of the zones on the page, as far as their prices held in the window."""
    by_zone = {_zone(line): line for line in spot.lines}
    history = spot.history
    for point in change_points(
        history.provider, history.sku, history.product, spot.start, spot.end, list(by_zone)
    ):
        yield _change_row(spot, by_zone[point.of], point)


def _zone(line: ZoneLine) -> Zone:
    series = line.series
    return Zone(series.source, series.region, series.zone, series.zone_kind, series.account)


def _change_row(spot: Spot, line: ZoneLine, point: ChangePoint) -> list[Any]:
    in_dollars = line.per_gpu(point.price_per_hour) if point.currency == "USD" else None
    return [
        point.zone,
        point.zone_kind,
        point.account,
        point.region,
        point.starts_at,
        point.last_seen_at,
        "yes" if point.follows_gap else "no",
        in_dollars,
        point.price_per_hour,
        point.currency,
        line.gpu_count,
        spot.history.provider,
        spot.history.sku,
        spot.history.product,
        point.source,
        point.fetched_at,
        point.run_id,
        point.file_sha256,
        point.line,
    ]


def _watched_hours(line: ZoneLine) -> float | None:
    return None if line.spread is None else line.spread.watched.total_seconds() / 3600
