"""Read what one machine type costs on demand, region by region, and from when to when each price held."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

from costs.models import Price

from .fx import give_rates
from .prices import usd_per_hour


@dataclass(frozen=True)
class Stated:
    """One price as one source stated it. Without dollars, `state` and `reason` say why."""

    region: str
    zone: str
    starts_at: datetime
    ends_at: datetime | None  # None: it still holds
    usd_per_hour: Decimal | None
    state: str
    reason: str
    source: str
    run_id: int
    as_of: datetime  # the newest date of which the source stated it

    def held_at(self, moment: datetime) -> bool:
        return self.starts_at <= moment and (self.ends_at is None or moment < self.ends_at)


@dataclass(frozen=True)
class OnDemand:
    """Every on-demand price on file of one machine type in some regions."""

    stated: tuple[Stated, ...]

    def at(self, region: str, moment: datetime) -> Stated | None:
        """Return the price that held at a moment: the newest list first, then the region's over a zone's."""
        held = [one for one in self.stated if one.region == region and one.held_at(moment)]
        return min(held, key=_preference, default=None)

    def nearest(self, region: str, moment: datetime) -> Stated | None:
        """Return the price that held at a moment, else the one in dollars whose dates are nearest to it."""
        held = self.at(region, moment)
        if held is not None and held.usd_per_hour is not None:
            return held
        priced = [one for one in self.stated if one.region == region and one.usd_per_hour is not None]
        return min(priced, key=lambda one: (_distance(one, moment), *_preference(one)), default=held)

    def steps(
        self, region: str, start: datetime, end: datetime
    ) -> list[tuple[datetime, datetime, Decimal | None]]:
        """Return the parts of a window with the price of each; None where none is on file."""
        edges = {start, end}
        for one in self.stated:
            if one.region == region:
                edges |= {at for at in (one.starts_at, one.ends_at) if at is not None and start < at < end}
        ordered = sorted(edges)
        parts = []
        for first, last in pairwise(ordered):
            held = self.at(region, first)
            parts.append((first, last, held.usd_per_hour if held else None))
        return parts


def on_demand(provider: str, sku: str, regions: Collection[str], as_of: datetime) -> OnDemand:
    """Return the prices on file; one query, and one more for rates where currencies differ.

    Prices in another currency become dollars at the rates of `as_of`.
    """
    rows = Price.objects.filter(
        sku__provider=provider, sku__name=sku, region__in=sorted(regions), term=Price.Term.ON_DEMAND
    )
    found: Sequence[Price] = list(rows.select_related("sku", "batch").order_by("effective_from", "pk"))
    give_rates(found, as_of.astimezone(UTC).date())
    return OnDemand(tuple(_stated(row) for row in found))


def _stated(row: Price) -> Stated:
    usd = usd_per_hour(row)
    state, reason = row.state, row.state_reason
    if usd is None and row.price_per_hour is not None:
        state, reason = "unknown", f"the price is in {row.currency} and no exchange rate is on file"
    return Stated(
        region=row.region,
        zone=row.zone,
        starts_at=row.effective_from,
        ends_at=row.effective_to,
        usd_per_hour=usd,
        state=state,
        reason=reason,
        source=row.source,
        run_id=row.batch.run_id,
        as_of=row.as_of,
    )


def _preference(one: Stated) -> tuple[bool, float, bool, Decimal, str]:
    return (
        one.usd_per_hour is None,
        -one.as_of.timestamp(),
        bool(one.zone),
        one.usd_per_hour or Decimal(0),
        one.source,
    )


def _distance(one: Stated, moment: datetime) -> float:
    if one.starts_at > moment:
        return (one.starts_at - moment).total_seconds()
    ended = one.ends_at
    return (moment - ended).total_seconds() if ended is not None and ended <= moment else 0.0
