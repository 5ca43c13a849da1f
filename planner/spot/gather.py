"""Read everything that the spot page says about one machine type, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from costs.queries import spot
from costs.queries.on_demand import OnDemand, Stated, on_demand
from costs.queries.spot import SpotHistory, ZoneSeries
from planner.params import Pairs
from planner.spot.ask import HELD, USUAL_PRODUCT, Ask, kept
from planner.spot.days import full_day
from planner.spot.evidence import AVAILABILITY, Traces, evidence_for
from planner.spot.zones import ZoneLine, counts_at, is_stale, priced, zone_line

MOST_PANELS = 8


@dataclass(frozen=True)
class Spot:
    """One machine type under one product in the zones that were asked for, cheapest now first."""

    ask: Ask
    now: datetime
    start: datetime
    end: datetime
    until: datetime  # facts are looked at up to here: now, or the date of the address
    history: SpotHistory
    lines: tuple[ZoneLine, ...]
    regions: tuple[str, ...]  # on file, whatever was asked for
    zones: tuple[ZoneLine, ...]
    chosen_regions: tuple[str, ...]
    chosen_zones: tuple[str, ...]
    on_demand: OnDemand
    notices: tuple[str, ...]

    @property
    def panels(self) -> tuple[ZoneLine, ...]:
        return tuple(priced(self.lines)[:MOST_PANELS])

    @property
    def without_panel(self) -> tuple[ZoneLine, ...]:
        shown = self.panels
        return tuple(line for line in self.lines if line not in shown)

    @property
    def is_per_gpu(self) -> bool:
        return bool(self.history.gpu_count)

    @property
    def unit(self) -> str:
        return "GPU\u2011h" if self.is_per_gpu else "machine\u2011h"

    @property
    def ends_at(self) -> datetime | None:
        """Return when a price of these zones was last seen."""
        return max((line.series.last_seen_at for line in self.lines), default=None)

    @property
    def is_stale(self) -> bool:
        """Return whether every zone's newest price is older than twice the cadence of its source."""
        return bool(self.lines) and all(line.is_withheld for line in self.lines)

    @cached_property
    def best(self) -> ZoneLine | None:
        """Return the zone to look at first: the cheapest useful hour where it is known, else the cheapest."""
        lines = [line for line in priced(self.lines) if not line.is_withheld] or priced(self.lines)
        lines = [line for line in lines if line.on_demand_usd is not None] or lines
        known = [line for line in lines if line.effective.value is not None and not line.effective.is_bound]
        if known:
            return min(known, key=lambda line: line.effective.value or 0.0)
        return next(iter(lines), None)

    @property
    def withheld(self) -> tuple[ZoneLine, ...]:
        """Return the zones whose newest price is stale while others go on."""
        return () if self.is_stale else tuple(line for line in self.lines if line.is_withheld)

    @property
    def mixes_ids_and_names(self) -> bool:
        return len({line.series.zone_kind for line in self.lines}) > 1

    @property
    def on_demand_is_stand_in(self) -> bool:
        """Return whether a price stands in that did not hold at the end of the window."""
        return any(line.is_held_against_another_day for line in self.lines)

    def pairs(self) -> Pairs:
        """Return the address of what is shown."""
        return self.ask.pairs(regions=self.chosen_regions, zones=self.chosen_zones)


def gather(ask: Ask, now: datetime) -> Spot:
    """Return the page's facts; five queries, and one each for a machine and rates that are not known yet."""
    start, end = ask.span(now)
    until = ask.until(now)
    machine = ask.machine
    history = spot.spot_history(
        machine.provider, machine.sku, ask.product, start, end, gpu_count=machine.gpu_count
    )
    regions = sorted({zone.region for zone in history.zones})
    # those on file are the prices of Linux: they are drawn beside no other system
    of_regions = regions if ask.product == USUAL_PRODUCT else ()
    prices = on_demand(machine.provider, machine.sku, of_regions, until)
    traces = _traces(ask, regions)
    zones = tuple(_line(ask, history, zone, prices, traces, until) for zone in history.zones)
    notices = list(ask.notices)
    chosen_regions = kept(ask.regions, regions, "Region", notices)
    chosen_zones = kept(ask.zones, [zone.key for zone in zones], "Zone", notices)
    return Spot(
        ask=ask,
        now=now,
        start=start,
        end=end,
        until=until,
        history=history,
        lines=tuple(line for line in zones if _is_meant(line, chosen_regions, chosen_zones)),
        regions=tuple(regions),
        zones=zones,
        chosen_regions=tuple(chosen_regions),
        chosen_zones=tuple(chosen_zones),
        on_demand=prices,
        notices=tuple(notices),
    )


def _traces(ask: Ask, regions: Sequence[str]) -> Traces:
    machine = ask.machine
    if not machine.spellings or machine.gpu_count is None or not regions:
        return Traces((), ask.job)
    spellings = sorted({text for each in machine.spellings for text in (each, each.upper())})
    found = spot.capacity_traces(
        spellings=spellings, gpu_count=machine.gpu_count, measures=AVAILABILITY, regions=regions
    )
    return Traces([one for one in found if one.provider == machine.provider], ask.job)


def _line(
    ask: Ask, history: SpotHistory, zone: ZoneSeries, prices: OnDemand, traces: Traces, until: datetime
) -> ZoneLine:
    stated, reason = _on_demand(ask, zone, prices, counts_at(zone, until))
    evidence = evidence_for(zone, history.bands, traces, ask.job)
    return zone_line(zone, history.gpu_count, until, stated, reason, evidence, ask.job)


def _on_demand(ask: Ask, zone: ZoneSeries, prices: OnDemand, moment: datetime) -> tuple[Stated | None, str]:
    """Return the on-demand price that spot is held against, or why there is none."""
    if ask.product != USUAL_PRODUCT:
        return None, f"on-demand prices on file are those of {USUAL_PRODUCT}"
    held = prices.at(zone.region, moment)
    nearest = prices.nearest(zone.region, moment)
    if ask.against != HELD:
        held = nearest
    if held is not None and held.usd_per_hour is not None:
        if ask.against == HELD and is_stale(held.source, held.as_of, moment):
            return None, f"that on file is of {full_day(held.as_of)}, older than twice its cadence"
        return held, ""
    if held is not None:
        return None, held.reason or f"{held.state.replace('_', ' ')} on demand"
    if nearest is not None and nearest.usd_per_hour is not None:
        return None, f"none is on file for {full_day(moment)}; the nearest is of {full_day(nearest.as_of)}"
    return None, f"no on-demand price of {ask.machine.sku} in {zone.region} is on file"


def _is_meant(line: ZoneLine, regions: Sequence[str], zones: Sequence[str]) -> bool:
    return (not regions or line.series.region in regions) and (not zones or line.key in zones)


def window_words(spot_: Spot) -> str:
    """Return the window as words: 2 Mar – 31 May 2021."""
    last = spot_.end - timedelta(seconds=1)
    return f"{full_day(spot_.start)} to {full_day(last)}"
