"""One line of the spot page: what a zone costs, how it moved, and what a useful hour of it comes to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from costs.queries.on_demand import Stated
from costs.queries.runs import State, cadence_of, state_of
from costs.queries.spot import ZoneSeries
from costs.queries.spot_statistics import Step, share_at_or_below
from planner.core.spot import TOO_OFTEN, SpotWork, spot_work
from planner.forms.spot import Job
from planner.spot.evidence import NO_DATA, Evidence

PLANNING_CURRENCY = "USD"
# under this part of the on-demand price spot is a bargain that interruptions seldom eat up
FAR_UNDER = Decimal("0.6")
SHARES = tuple(Decimal(share) for share in ("0.05", "0.25", "0.5", "0.75", "0.95"))
A_TICK = timedelta(microseconds=1)
PRICE_STEP = Decimal("0.000000001")
ADVISOR = "spot_advisor"  # the one source of bands
WITHHELD = "the price is older than twice its cadence"


@dataclass(frozen=True)
class Known:
    """A figure, or the reason why there is none."""

    value: float | None
    reason: str = ""
    is_bound: bool = False  # True: no more than a bound is known

    @property
    def word(self) -> str:
        """Return what a narrow cell says in place of the reason."""
        if self.reason == NO_DATA:
            return "no data"
        if self.reason == TOO_OFTEN:
            return "lost too often"
        return "withheld" if self.reason == WITHHELD else "unknown"


@dataclass(frozen=True)
class Spread:
    """The price per GPU that held at most for 5, 25, 50, 75 and 95 % of the watched time."""

    p5: Decimal
    p25: Decimal
    p50: Decimal
    p75: Decimal
    p95: Decimal
    samples: int
    watched: timedelta


@dataclass(frozen=True)
class ZoneLine:
    """One zone. Prices are dollars per GPU-hour, or per machine-hour where its GPUs are not on file."""

    series: ZoneSeries
    gpu_count: Decimal | None
    counts_at: datetime  # of which the on-demand price counts
    age: timedelta
    state: State
    spread: Spread | None
    volatility: Decimal | None
    on_demand: Stated | None
    on_demand_reason: str
    under_share: Decimal | None
    evidence: Evidence
    work: SpotWork | None  # at the interval that was asked for
    best: SpotWork | None  # at the best one
    job: Job

    def per_gpu(self, usd_per_hour: Decimal | None) -> Decimal | None:
        """Return a price of the machine as one of its GPUs; the machine's where its GPUs are not known."""
        return None if usd_per_hour is None else (usd_per_hour / (self.gpu_count or 1)).quantize(PRICE_STEP)

    @property
    def not_watched(self) -> str:
        """Return why there is no spread."""
        if not self.is_in_dollars:
            return f"in {self.series.currency}"
        return "one sample" if self.series.steps else "none here"

    @property
    def is_in_dollars(self) -> bool:
        return self.series.currency == PLANNING_CURRENCY

    @property
    def now_usd(self) -> Decimal | None:
        return self.per_gpu(self.series.price_per_hour) if self.is_in_dollars else None

    @property
    def on_demand_usd(self) -> Decimal | None:
        return self.per_gpu(self.on_demand.usd_per_hour) if self.on_demand else None

    @property
    def is_held_against_another_day(self) -> bool:
        """Return whether the on-demand price is not the one that held at the moment that counts."""
        return self.on_demand is not None and not self.on_demand.held_at(self.counts_at)

    @property
    def is_on_demand_old(self) -> bool:
        """Return whether the on-demand price was stated so long before that its source is stale."""
        stated = self.on_demand
        return stated is not None and is_stale(stated.source, stated.as_of, self.counts_at)

    @property
    def is_band_old(self) -> bool:
        """Return whether the band is older than twice the cadence of what publishes it."""
        band = self.evidence.band
        return band is not None and is_stale(ADVISOR, band.as_of, self.counts_at)

    @property
    def label(self) -> str:
        return self.series.zone

    @property
    def key(self) -> str:
        """Return the zone as an address names it: another account's us-east-1a is another zone."""
        account = self.series.account
        return f"{self.series.zone}@{account}" if account else self.series.zone

    @property
    def whose(self) -> str:
        """Return what the zone's label is: an id that means the same for all, or the name of an account."""
        if self.series.zone_kind == "name":
            return (
                f"name in account {self.series.account}" if self.series.account else "name, account unknown"
            )
        return "zone id" if self.series.zone_kind == "id" else "whole region"

    @property
    def also(self) -> str:
        """Return the id of a name, or the names of an id, as far as the lists of zones say."""
        if self.series.zone_kind == "name":
            return self.series.zone_id
        return ", ".join(f"{name} in account {account}" for account, name in self.series.zone_names)

    @property
    def pays_under(self) -> Known:
        """Return the share of paid hours that losses may cost before spot is the dearer one."""
        if self.on_demand_usd is None or self.now_usd is None:
            return Known(None, self.on_demand_reason or f"the price is in {self.series.currency}")
        return Known(float(1 - self.now_usd / self.on_demand_usd))

    @property
    def costs_share(self) -> Known:
        """Return the share of paid hours that losses, and the checkpoints against them, cost."""
        if self.work is None:
            return Known(None, self.evidence.reason or NO_DATA)
        if self.work.refusal:
            return Known(None, self.work.refusal)
        return Known(1 - self.work.useful_work_factor, is_bound=self.evidence.is_bound)

    @property
    def effective(self) -> Known:
        """Return dollars per useful GPU-hour at the interval that was asked for."""
        return self._effective(self.work)

    @property
    def best_effective(self) -> Known:
        return self._effective(self.best)

    @property
    def is_withheld(self) -> bool:
        return self.state == "stale"

    @property
    def best_interval(self) -> Known:
        """Return the best hours of work between checkpoints; for a band the longest that can be best."""
        if self.best is None:
            return Known(None, self.evidence.reason or NO_DATA)
        if self.best.refusal:
            return Known(None, self.best.refusal)
        if math.isinf(self.best.interval_hours):
            return Known(None, "the band begins at 0 %: it bounds nothing")
        return Known(self.best.interval_hours, is_bound=self.evidence.is_bound)

    @property
    def under(self) -> Known:
        """Return the share of watched time at most at 0.6 of the on-demand price."""
        if self.under_share is None:
            return Known(None, self.on_demand_reason or self.not_watched)
        return Known(float(self.under_share))

    @property
    def missed(self) -> Known:
        """Return how often the job is late on spot alone, from measured traces."""
        if self.evidence.measured is None:
            return Known(None, NO_DATA)
        if self.job.work_hours + self.job.restart_hours > self.job.deadline_hours:
            return Known(None, "the deadline is shorter than the work and one restart")
        share = self.evidence.measured.share_missed
        reason = "" if share is not None else "the deadline is longer than any trace"
        return Known(share, reason)

    def _effective(self, work: SpotWork | None) -> Known:
        if self.now_usd is None:
            return Known(None, f"the price is in {self.series.currency}")
        if self.is_withheld:
            return Known(None, WITHHELD)
        if work is None:
            return Known(None, self.evidence.reason or NO_DATA)
        if work.refusal:
            return Known(None, work.refusal)
        usd = work.usd_per_useful_gpu_hour(float(self.now_usd))
        return Known(usd, is_bound=self.evidence.is_bound)


def is_stale(source: str, as_of: datetime, moment: datetime) -> bool:
    """Return whether what a source stated on a date is older than twice its cadence at a moment."""
    return state_of(max(moment - as_of, timedelta(0)), cadence_of(source, "prices")) == "stale"


def age_of(series: ZoneSeries, until: datetime) -> tuple[timedelta, State]:
    """Return how old the newest price is, and the word for it against its source's cadence."""
    age = max(until - series.last_seen_at, timedelta(0))
    return age, state_of(age, cadence_of(series.source, "spot_prices"))


def counts_at(series: ZoneSeries, until: datetime) -> datetime:
    """Return the moment of which the on-demand price counts: a stale price was worth it in its own days."""
    return series.last_seen_at if age_of(series, until)[1] == "stale" else until


def zone_line(
    series: ZoneSeries,
    gpu_count: Decimal | None,
    until: datetime,
    on_demand: Stated | None,
    on_demand_reason: str,
    evidence: Evidence,
    job: Job,
) -> ZoneLine:
    """Return the line of a zone, looked at from a moment."""
    age, state = age_of(series, until)
    usd = on_demand.usd_per_hour if on_demand else None
    in_dollars = series.currency == PLANNING_CURRENCY
    return ZoneLine(
        series=series,
        gpu_count=gpu_count,
        counts_at=counts_at(series, until),
        age=age,
        state=state,
        spread=_spread(series, gpu_count) if in_dollars else None,
        volatility=series.statistics.variation if series.statistics else None,
        on_demand=on_demand,
        on_demand_reason=on_demand_reason,
        under_share=share_at_or_below(series.steps, usd * FAR_UNDER) if usd and in_dollars else None,
        evidence=evidence,
        work=_work(evidence, job, job.interval_hours),
        best=_work(evidence, job, None),
        job=job,
    )


def _work(evidence: Evidence, job: Job, interval_hours: float | None) -> SpotWork | None:
    if evidence.mtbf_hours is None:
        return None
    if job.checkpoint_hours > evidence.mtbf_hours:
        # not even a checkpoint gets done: the formula would answer with powers of e
        return SpotWork(evidence.mtbf_hours, interval_hours or math.nan, math.nan, math.nan, TOO_OFTEN)
    return spot_work(
        instances=1,  # the time between losses is the whole job's already
        mtbf_hours_per_instance=evidence.mtbf_hours,
        checkpoint_hours=job.checkpoint_hours,
        restart_hours=job.restart_hours,
        interval_hours=interval_hours,
    )


def _spread(series: ZoneSeries, gpu_count: Decimal | None) -> Spread | None:
    if series.statistics is None:
        return None
    p5, p25, p50, p75, p95 = (
        (price / (gpu_count or 1)).quantize(PRICE_STEP) for price in quantiles(series.steps, SHARES)
    )
    return Spread(p5, p25, p50, p75, p95, len(series.steps), series.statistics.watched)


def quantiles(steps: Sequence[Step], shares: Sequence[Decimal]) -> list[Decimal]:
    """Return for each share the lowest price at or below which the price was for that part of the time.

    The same as `quantile` of the statistics for each of them, in one pass: a year has thousands of steps.
    """
    held = sorted((step.price_per_hour, step.held) for step in steps if step.held)
    watched = sum((time for _, time in held), timedelta(0))
    found: list[Decimal] = []
    passed = timedelta(0)
    for price, time in held:
        passed += time
        while len(found) < len(shares) and passed // A_TICK >= shares[len(found)] * (watched // A_TICK):
            found.append(price)
    return found


def priced(lines: Sequence[ZoneLine]) -> list[ZoneLine]:
    """Return the lines whose price is in dollars."""
    return [line for line in lines if line.now_usd is not None]
