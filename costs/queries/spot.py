"""Read spot prices per zone, what is published about interruptions, and measured capacity."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import F, Max, Min, OrderBy, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from costs.models import Interruption, MachineType, SpotCapacity, SpotPrice, Zone

from .spot_statistics import Statistics, Step, clipped, share_at_or_below, statistics

# what tells one series from another; zone ids and names are never the same series
_SERIES = ("source", "scope", "provider", "sku", "region", "zone", "zone_kind", "account", "product")
_SAYS = ("starts_at", "last_seen_at", "follows_gap", "price_per_hour", "currency", "batch__run_id")
# the advisor knows two systems; licences are paid on top of a Linux machine
_SYSTEM_OF_PRODUCT = {"Windows": "Windows"}


@dataclass(frozen=True)
class ZoneSeries:
    """The price of one machine type in one zone over a window."""

    source: str
    region: str
    zone: str
    zone_kind: str  # id, name or region
    account: str  # whose name the zone's is
    zone_id: str  # "" where a name has no id on file
    zone_names: tuple[tuple[str, str], ...]  # (account, name) that are on file for the id
    steps: tuple[Step, ...]
    price_per_hour: Decimal  # the newest that was seen
    currency: str
    since: datetime  # when that price began, as far as it was watched
    last_seen_at: datetime
    run_id: int  # of that price
    statistics: Statistics | None  # None where nothing was watched for longer than a moment

    def share_at_or_below(self, price_per_hour: Decimal) -> Decimal | None:
        """Return the share of watched time at a price or less, such as that of on demand."""
        return share_at_or_below(self.steps, price_per_hour)


@dataclass(frozen=True)
class Band:
    """What a provider published about interruptions in a region: shares of a month, no hazard rate."""

    region: str
    label: str
    share_low: Decimal
    share_high: Decimal | None
    saving_share: Decimal | None
    as_of: datetime
    run_id: int


@dataclass(frozen=True)
class SpotHistory:
    """One machine type under one product, in every zone that is on file."""

    provider: str
    sku: str
    product: str
    gpu_count: Decimal | None
    zones: tuple[ZoneSeries, ...]
    bands: Mapping[str, Band]  # by region

    @property
    def last_seen_at(self) -> datetime | None:
        """Return when a price was last seen in any zone."""
        return max((zone.last_seen_at for zone in self.zones), default=None)

    def usd_per_gpu_hour(self, zone: ZoneSeries) -> Decimal | None:
        """Return the newest price per GPU; None in another currency, or where the GPUs are not known."""
        if not self.gpu_count or zone.currency != "USD":
            return None
        return (zone.price_per_hour / self.gpu_count).quantize(Decimal("0.000000001"))


@dataclass(frozen=True)
class OnFile:
    """A machine type of which spot prices are stored."""

    provider: str
    sku: str
    product: str
    first_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class CapacitySeries:
    """One measured trace of one zone, as the model takes it: change points and gaps."""

    source: str
    provider: str
    trace: str
    region: str
    zone: str
    accelerator_name: str
    gpu_count: Decimal
    nodes_wanted: Decimal | None
    measures: str
    starts_at: tuple[datetime, ...]
    last_seen_at: tuple[datetime, ...]
    follows_gap: tuple[bool, ...]
    nodes: tuple[Decimal, ...]


class _Point(NamedTuple):
    """One change point, with the columns of _SERIES and _SAYS in their order."""

    source: str
    scope: str
    provider: str
    sku: str
    region: str
    zone: str
    zone_kind: str
    account: str
    product: str
    starts_at: datetime
    last_seen_at: datetime
    follows_gap: bool
    price_per_hour: Decimal
    currency: str
    run_id: int


class _CapacityPoint(NamedTuple):
    """One change point of a trace: first what tells one trace from another."""

    source: str
    scope: str
    provider: str
    trace: str
    region: str
    zone: str
    accelerator_name: str
    gpu_count: Decimal
    measures: str
    nodes_wanted: Decimal | None
    starts_at: datetime
    last_seen_at: datetime
    follows_gap: bool
    nodes: Decimal


def spot_history(
    provider: str,
    sku: str,
    product: str,
    start: datetime,
    end: datetime,
    *,
    regions: Sequence[str] = (),
    gpu_count: Decimal | None = None,
) -> SpotHistory:
    """Return the prices of a window, zone by zone, cheapest now first; four queries whatever there is.

    A caller that has read the GPUs of the machine hands them on, and saves one of them.
    A price that began before the window and held into it is part of it. What was last seen before the window
    begins has no steps in it, and still its newest price.
    """
    series = _series(_window(provider, sku, product, start, end, regions))
    names = _zone_names(provider, {rows[0].region for rows in series})
    zones = [_zone_series(rows, names, start, end) for rows in series if rows[0].starts_at < end]
    if gpu_count is None:
        machine = MachineType.objects.filter(provider=provider, name=sku)
        gpu_count = machine.values_list("gpu_count", flat=True).first()
    return SpotHistory(
        provider=provider,
        sku=sku,
        product=product,
        gpu_count=gpu_count,
        zones=tuple(sorted(zones, key=lambda zone: (zone.price_per_hour, zone.region, zone.zone))),
        bands=bands(provider, sku, product, end),
    )


def bands(provider: str, sku: str, product: str, as_of: datetime) -> dict[str, Band]:
    """Return what was published about a machine type at a moment, by region; the newest where two say so."""
    still_open = Q(effective_to__isnull=True) | Q(effective_to__gt=as_of)
    system = _SYSTEM_OF_PRODUCT.get(product, "Linux")
    rows = Interruption.objects.filter(
        still_open, provider=provider, sku=sku, product=system, effective_from__lte=as_of
    )
    return {
        row.region: Band(
            row.region,
            row.band_label,
            row.share_low,
            row.share_high,
            row.saving_share,
            row.as_of,
            row.batch.run_id,
        )
        for row in rows.select_related("batch").order_by("as_of", "pk")
    }


def on_file() -> list[OnFile]:
    """Return the machine types and products that have spot prices, by name; one query."""
    rows = SpotPrice.objects.values("provider", "sku", "product").order_by("provider", "sku", "product")
    return [
        OnFile(**row) for row in rows.annotate(first_at=Min("starts_at"), last_seen_at=Max("last_seen_at"))
    ]


def capacity_traces(
    *,
    accelerator_name: str = "",
    trace: str = "",
    spellings: Sequence[str] = (),
    gpu_count: Decimal | None = None,
    measures: str = "",
    regions: Sequence[str] = (),
) -> list[CapacitySeries]:
    """Return the measured traces, each with its change points in order of time; one query.

    `spellings` are names of one accelerator: a trace has the one that its measurer wrote.
    """
    rows = SpotCapacity.objects.order_by("provider", "trace", "zone", "gpu_count", "starts_at", "pk")
    if accelerator_name:
        rows = rows.filter(accelerator_name=accelerator_name)
    if trace:
        rows = rows.filter(trace=trace)
    if spellings:
        rows = rows.filter(accelerator_name__in=spellings)
    if gpu_count is not None:
        rows = rows.filter(gpu_count=gpu_count)
    if measures:
        rows = rows.filter(measures=measures)
    if regions:
        rows = rows.filter(region__in=regions)
    series: dict[tuple[Any, ...], list[_CapacityPoint]] = {}
    # tuples here as well: a trace of six weeks has hundreds of change points
    for row in rows.values_list(*_CapacityPoint._fields).iterator():
        point = _CapacityPoint(*row)
        series.setdefault(point[: _CapacityPoint._fields.index("nodes_wanted")], []).append(point)
    return [_capacity_series(found) for found in series.values()]


def _window(
    provider: str, sku: str, product: str, start: datetime, end: datetime, regions: Sequence[str]
) -> list[_Point]:
    """Return the change points of a window, and of each series the last before it and the first after it.

    The one before may hold in the window, and the one after says how long the window's last one held.
    """
    rows = SpotPrice.objects.filter(provider=provider, sku=sku, product=product)
    if regions:
        rows = rows.filter(region__in=regions)
    before = _first_of_each(rows.filter(starts_at__lt=start), F("starts_at").desc())
    after = _first_of_each(rows.filter(starts_at__gte=end), F("starts_at").asc())
    within = Q(starts_at__gte=start, starts_at__lt=end)
    found = rows.filter(within | Q(pk__in=before) | Q(pk__in=after)).order_by(*_SERIES, "starts_at")
    # tuples, not objects: a machine type has tens of thousands of change points in a season
    return [_Point(*row) for row in found.values_list(*_SERIES, *_SAYS).iterator()]


def _first_of_each(rows: QuerySet[SpotPrice], order: OrderBy) -> QuerySet[Any, Any]:
    place = Window(RowNumber(), partition_by=[F(name) for name in _SERIES], order_by=order)
    return rows.annotate(place=place).filter(place=1).values("pk")


def _series(points: Iterable[_Point]) -> list[list[_Point]]:
    """Return the points of each series, which follow each other."""
    return [list(found) for _, found in groupby(points, key=itemgetter(slice(len(_SERIES))))]


def _steps(rows: Sequence[_Point]) -> list[Step]:
    """Return change points as spans: each holds to the next, and before a gap to when it was last seen."""
    steps = []
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        is_followed = following is not None and not following.follows_gap
        ends_at = following.starts_at if following is not None and is_followed else row.last_seen_at
        steps.append(
            Step(row.starts_at, ends_at, row.price_per_hour, row.currency, row.follows_gap, row.last_seen_at)
        )
    return steps


def _zone_series(
    rows: Sequence[_Point],
    names: Mapping[tuple[str, str], str],
    start: datetime,
    end: datetime,
) -> ZoneSeries:
    newest = [row for row in rows if row.starts_at < end][-1]
    steps = clipped(_steps(rows), start, end)
    zone_id, zone_names = _identity(newest, names)
    return ZoneSeries(
        source=newest.source,
        region=newest.region,
        zone=newest.zone,
        zone_kind=newest.zone_kind,
        account=newest.account,
        zone_id=zone_id,
        zone_names=zone_names,
        steps=tuple(steps),
        price_per_hour=newest.price_per_hour,
        currency=newest.currency,
        since=newest.starts_at,
        last_seen_at=newest.last_seen_at,
        run_id=newest.run_id,
        statistics=statistics(steps),
    )


def _zone_names(provider: str, regions: set[str]) -> dict[tuple[str, str], str]:
    """Return the id of each (account, name) on file. A list that names no account joins nothing."""
    rows = Zone.objects.filter(provider=provider, region__in=regions).exclude(account="")
    found = rows.values_list("account", "zone_name", "zone_id").order_by("account", "zone_name")
    return {(account, name): zone_id for account, name, zone_id in found}


def _identity(row: _Point, names: Mapping[tuple[str, str], str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the zone's id, and the names that accounts know it by; nothing is inferred from a name."""
    if row.zone_kind == "name":
        zone_id = names.get((row.account, row.zone), "")
    else:
        zone_id = row.zone if row.zone_kind == "id" else ""
    return zone_id, tuple(name for name, found in names.items() if zone_id and found == zone_id)


def _capacity_series(rows: Sequence[_CapacityPoint]) -> CapacitySeries:
    first = rows[0]
    return CapacitySeries(
        source=first.source,
        provider=first.provider,
        trace=first.trace,
        region=first.region,
        zone=first.zone,
        accelerator_name=first.accelerator_name,
        gpu_count=first.gpu_count,
        nodes_wanted=first.nodes_wanted,
        measures=first.measures,
        starts_at=tuple(row.starts_at for row in rows),
        last_seen_at=tuple(row.last_seen_at for row in rows),
        follows_gap=tuple(row.follows_gap for row in rows),
        nodes=tuple(row.nodes for row in rows),
    )
