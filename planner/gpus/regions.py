"""Where is a GPU to be had: price, spot and its interruptions, limits of the accounts, zones, by region."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from costs.models import Interruption, Price
from costs.queries.price_steps import Origin, Step
from costs.queries.quota_allowances import Allowance, allowances, most_gpus
from costs.queries.spot_bands import spot_bands
from costs.queries.spot_now import SpotNow, spot_now
from planner.gpus.subject import Subject
from planner.gpus.tables import Table, TableColumn, money, on_screen, provenance, run_cell, text
from planner.gpus.terms import STATES
from planner.templatetags.units import NBSP, count, day, usd_per_hour

NO_LIMIT_ON_FILE = "no limit on file"
SPOT = Price.Term.SPOT.value


@dataclass
class RegionRow:
    """One region of one cloud. What is not known stays None or empty, and says so on screen."""

    cloud: str
    region: str
    on_demand: Step | None = None  # the cheapest that is not stale, else the cheapest
    usd_on_demand: Decimal | None = None
    is_stale: bool = False
    state: str = ""  # why there is no on-demand price
    reason: str = ""
    spot: Step | SpotNow | None = None
    usd_spot: Decimal | None = None
    is_spot_stale: bool = False
    bands: list[Interruption] = field(default_factory=list)
    limits: list[Allowance] = field(default_factory=list)
    zones: set[str] = field(default_factory=set)

    @property
    def batch_id(self) -> int | None:
        return self.on_demand.batch_id if self.on_demand else None

    @property
    def as_of(self) -> datetime | None:
        return self.on_demand.seen_at if self.on_demand else None

    @property
    def band_text(self) -> str:
        """Return the bands as published: one where all machine types share it, else the range."""
        found = sorted({(band.band, band.band_label) for band in self.bands})
        if not found:
            return ""
        return found[0][1] if len(found) == 1 else f"{found[0][1]} to {found[-1][1]}"

    @property
    def bands_as_of(self) -> datetime | None:
        return min((band.as_of for band in self.bands), default=None)

    @property
    def free_gpus(self) -> Decimal | None:
        """Return the GPUs that may still be started, of the account with the most room."""
        return max((one.free_gpus for one in self.limits if one.free_gpus is not None), default=None)

    @property
    def allowed_gpus(self) -> Decimal | None:
        return max((one.gpus for one in self.limits if one.gpus is not None), default=None)

    @property
    def limit_text(self) -> str:
        """Return the quota of each account in whole GPUs."""
        if not self.limits:
            return NO_LIMIT_ON_FILE
        return "; ".join(_limit_words(one, several=len(self.limits) > 1) for one in self.limits)

    @property
    def limits_as_of(self) -> datetime | None:
        gates = [gate.limit.as_of for one in self.limits for gate in one.gates]
        return min(gates, default=None)


def region_rows(subject: Subject) -> list[RegionRow]:
    """Return every region that sells the GPU or has limits for it, the cheapest on demand first."""
    rows: dict[tuple[str, str], RegionRow] = {}
    for step in subject.steps:
        if step.is_open:
            row = rows.setdefault((step.provider, step.region), RegionRow(step.provider, step.region))
            row.zones |= {step.zone} - {""}
    _add_prices(rows, subject)
    slug = subject.accelerator.slug
    _add_watched(rows, subject, spot_now(slug))
    for band in spot_bands(slug, subject.now):
        if (band.provider, band.region) in rows:
            rows[band.provider, band.region].bands.append(band)
    _add_limits(rows, subject, slug)
    never = Decimal("Infinity")

    def order(row: RegionRow) -> tuple[bool, Decimal, Decimal, str, str]:
        on_demand, spot = row.usd_on_demand or never, row.usd_spot or never
        return row.is_stale, on_demand, spot, row.cloud, row.region

    return sorted(rows.values(), key=order)


def _add_prices(rows: Mapping[tuple[str, str], RegionRow], subject: Subject) -> None:
    """Put the cheapest price of each region into its row; what is stale only where all is."""
    for found, is_stale in ((subject.fresh, False), (subject.stale, True)):
        for step in sorted(found.values(), key=lambda step: subject.usd(step) or Decimal(0)):
            row, usd = rows[step.provider, step.region], subject.usd(step)
            if usd is None:
                continue
            if step.term == "on_demand" and row.on_demand is None:
                row.on_demand, row.usd_on_demand, row.is_stale = step, usd, is_stale
            if step.term == SPOT and row.spot is None:
                row.spot, row.usd_spot, row.is_spot_stale = step, usd, is_stale
    for step in subject.steps:
        if step.is_open and step.term == "on_demand" and step.price_per_hour is None:
            row = rows[step.provider, step.region]
            if row.on_demand is None and not row.state:
                row.state, row.reason = step.state, step.state_reason


def _add_watched(
    rows: dict[tuple[str, str], RegionRow], subject: Subject, watched: Iterable[SpotNow]
) -> None:
    """Put watched spot prices in: a fresh one wins over a stale one, the cheaper over the dearer."""
    for spot in watched:
        usd = spot.usd_per_gpu_hour
        if usd is None or not subject.chosen.lets_through(spot.provider, spot.region):
            continue
        row = rows.setdefault((spot.provider, spot.region), RegionRow(spot.provider, spot.region))
        row.zones |= {spot.zone} - {spot.region, ""}
        is_stale = spot.is_stale(subject.now)
        if row.usd_spot is None or (is_stale, usd) < (row.is_spot_stale, row.usd_spot):
            row.spot, row.usd_spot, row.is_spot_stale = spot, usd, is_stale


def _add_limits(rows: dict[tuple[str, str], RegionRow], subject: Subject, slug: str) -> None:
    found = allowances(subject.now, accelerator=slug, purchases=("on_demand",))
    best = most_gpus(found)
    unknown = {(one.provider, one.account, one.region, one.accelerator, one.purchase): one for one in found}
    for one in {**unknown, **best}.values():
        if subject.chosen.lets_through(one.provider, one.region):
            row = rows.setdefault((one.provider, one.region), RegionRow(one.provider, one.region))
            row.limits.append(one)


def _limit_words(one: Allowance, *, several: bool) -> str:
    account = f"{one.account}: " if several and one.account else ""
    if one.is_unlimited:
        return f"{account}no limit"
    if one.gpus is None:
        return f"{account}unknown: {one.reason}" if one.reason else f"{account}unknown"
    most = "at most " if one.missing else ""
    if one.free_gpus is None:
        return f"{account}{most}{count(one.gpus)} allowed, use unknown"
    return f"{account}{most}{count(one.free_gpus)} free of {count(one.gpus)}"


def region_columns(origins: Mapping[int, Origin]) -> tuple[TableColumn[RegionRow], ...]:
    """Return the columns of the regions; what a file says of its source is about the on-demand price."""
    columns: tuple[TableColumn[RegionRow], ...] = (
        TableColumn("cloud", "Cloud", attrgetter("cloud"), shown=lambda row: text(row.cloud)),
        TableColumn("region", "Region", attrgetter("region"), shown=lambda row: text(row.region)),
        TableColumn(
            "on_demand_usd_per_gpu_h", "On demand, $/GPU-h", attrgetter("usd_on_demand"), "number", _on_demand
        ),
        TableColumn("sku", "", lambda row: row.on_demand.sku if row.on_demand else ""),
        TableColumn("as_of", "", attrgetter("as_of"), "time"),
        TableColumn("is_stale", "", attrgetter("is_stale")),
        TableColumn("spot_usd_per_gpu_h", "Spot now, $/GPU-h", attrgetter("usd_spot"), "number", _spot),
        TableColumn("spot_as_of", "", lambda row: row.spot.seen_at if row.spot else None, "time"),
        TableColumn("spot_is_stale", "", attrgetter("is_spot_stale")),
        TableColumn("interruptions_a_month", "Interrupted a month", attrgetter("band_text"), shown=_band),
        TableColumn("interruptions_as_of", "", attrgetter("bands_as_of"), "time"),
        TableColumn("quota_gpus", "Quota, whole GPUs", attrgetter("limit_text"), shown=_limit),
        TableColumn("quota_gpus_allowed", "", attrgetter("allowed_gpus"), "number"),
        TableColumn("quota_gpus_free", "", attrgetter("free_gpus"), "number"),
        TableColumn("quota_as_of", "", attrgetter("limits_as_of"), "time"),
        TableColumn("zones", "Zones", lambda row: " ".join(sorted(row.zones)), shown=_zones),
        TableColumn("run", "Run", _run_text, shown=_run),
    )
    return (*columns, *provenance(attrgetter("on_demand"), origins))


def region_table(rows: Sequence[RegionRow]) -> Table:
    """Return the regions on screen."""
    return on_screen("Regions", region_columns({}), rows, lambda row: "late" if row.is_stale else "")


def _dated(usd: Any, as_of: datetime, is_stale: bool) -> SafeString | str:
    if not is_stale:
        return usd_per_hour(usd)
    return format_html('{} <small class="warn-text nowrap">stale, {}</small>', usd_per_hour(usd), day(as_of))


def _on_demand(row: RegionRow) -> SafeString | str:
    if row.on_demand is not None:
        return _dated(row.usd_on_demand, row.on_demand.seen_at, row.is_stale)
    if row.state in STATES and row.state != "priced":
        return format_html('<span title="{}">{}</span>', row.reason, STATES[row.state])
    return money(None, "no on-demand price on file")


def _spot(row: RegionRow) -> SafeString | str:
    if row.spot is None:
        return money(None, "no spot price on file")
    return _dated(row.usd_spot, row.spot.seen_at, row.is_spot_stale)


def _band(row: RegionRow) -> SafeString | str:
    if not row.bands:
        return money(None, "nothing is published about it")
    of_each = ", ".join(f"{band.sku} {band.band_label}" for band in row.bands)
    return format_html(
        '<span class="nowrap" title="{}">{}</span> <small class="muted nowrap">{}</small>',
        of_each,
        row.band_text,
        day(row.bands_as_of),
    )


def _limit(row: RegionRow) -> SafeString | str:
    if not row.limits:
        return format_html('<span class="muted">{}</span>', NO_LIMIT_ON_FILE)
    as_of: date | None = row.limits_as_of
    return format_html('<bdi>{}</bdi> <small class="muted nowrap">{}</small>', row.limit_text, day(as_of))


def _zones(row: RegionRow) -> SafeString | str:
    if not row.zones:
        return ""
    names = ", ".join(sorted(row.zones))
    if len(row.zones) == 1:
        return text(names)
    return format_html('<span title="{}">{}{}zones</span>', names, len(row.zones), NBSP)


def _run(row: RegionRow) -> SafeString | str:
    return run_cell(row.on_demand.source, row.on_demand.run_id) if row.on_demand else ""


def _run_text(row: RegionRow) -> str:
    return f"{row.on_demand.source} run {row.on_demand.run_id}" if row.on_demand else ""
