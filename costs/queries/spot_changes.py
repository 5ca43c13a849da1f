"""Read the change points of spot prices with the file and line that each came with, for files."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import chain, pairwise
from typing import NamedTuple

from django.db.models import Q

from costs.models import SpotPrice

_COLUMNS = (
    "region", "scope", "zone", "zone_kind", "account", "starts_at", "last_seen_at", "follows_gap",
    "price_per_hour", "currency", "source", "batch__published_at", "batch__run_id", "batch__raw__sha256",
    "line",
)  # fmt: skip


class Zone(NamedTuple):
    """What tells the prices of one zone from another's: names of two accounts are two zones."""

    source: str
    region: str
    zone: str
    zone_kind: str
    account: str


class ChangePoint(NamedTuple):
    """A price from one moment on, as it lies in the table."""

    region: str
    scope: str
    zone: str
    zone_kind: str
    account: str
    starts_at: datetime
    last_seen_at: datetime
    follows_gap: bool  # nothing is known of the time between the row before and this one
    price_per_hour: Decimal
    currency: str
    source: str
    fetched_at: datetime
    run_id: int
    file_sha256: str
    line: int

    @property
    def of(self) -> Zone:
        return Zone(self.source, self.region, self.zone, self.zone_kind, self.account)


def change_points(
    provider: str,
    sku: str,
    product: str,
    start: datetime,
    end: datetime,
    zones: Sequence[Zone],
) -> Iterator[ChangePoint]:
    """Yield the points whose price held in a window, zone by zone; one query.

    The first of a zone may have begun before the window: its price held into it.
    """
    meant = Q()
    for zone in zones:
        meant |= Q(**zone._asdict())
    if not zones:
        return
    rows = SpotPrice.objects.filter(meant, provider=provider, sku=sku, product=product, starts_at__lt=end)
    ordered = rows.order_by(
        "region", "zone", "zone_kind", "account", "source", "scope", "starts_at"
    ).values_list(*_COLUMNS)
    points = (ChangePoint(*row) for row in ordered.iterator(chunk_size=2000))
    for point, following in pairwise(chain(points, [None])):
        if point is not None and _held_until(point, following) >= start:
            yield point


def _held_until(point: ChangePoint, following: ChangePoint | None) -> datetime:
    """Return how long a price is known to have held: to the next one, before a gap to its last sight."""
    if following is None or (following.of, following.scope) != (point.of, point.scope):
        return point.last_seen_at
    return point.last_seen_at if following.follows_gap else following.starts_at
