"""Read what the fleet did: by week, by year, and the few figures that plans are measured against.

Shares are allocated over available GPU-hours (available = installed less down), summed over the hours
in which both are known. A share above 1 is kept: a fleet can be allocated beyond what reports as up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

import numpy as np
from django.db.models import Case, Count, DecimalField, Exists, F, Max, Min, Q, QuerySet, Sum, When

from costs.models import Batch, Utilization
from costs.queries.utc_buckets import HourOfWeek, UtcYear, WeekNumber

GPU_HOUR_STEP = Decimal("0.0001")  # SQLite adds decimals in binary: every sum is quantised to this
HOURS_PER_WEEK = 168
WEEK = timedelta(weeks=1)
FIRST_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
WEEKS_PER_MONTH = 365.25 / 12 / 7
WEEKS_OF_MEDIAN = 8
WEEKS_OF_GROWTH = 26
FEWEST_WEEKS_OF_GROWTH = 8


@dataclass(frozen=True)
class Period:
    """One week or year. Unknown shares are None, never 0."""

    start: datetime
    end: datetime
    allocated_gpu_hours: Decimal
    available_gpu_hours: Decimal
    installed_gpu_hours: Decimal
    share: float | None  # allocated / available
    active_share: float | None  # of allocated GPU-hours whose activity was measured
    hours_measured: Decimal
    hours_expected: Decimal
    # what the shares are of: hours in which both are known; None where there are none
    paired_allocated: Decimal | None = None
    paired_available: Decimal | None = None
    watched_gpu_hours: Decimal | None = None
    active_gpu_hours: Decimal | None = None

    @property
    def is_complete(self) -> bool:
        return self.hours_measured >= self.hours_expected


@dataclass(frozen=True)
class Measured:
    """What stands beside a plan. Shares and growth are shares (0.62, 0.017), GPUs are means over hours."""

    fleet_gpus: Decimal | None
    busy_gpus: Decimal
    share: float | None  # median of the last weeks
    share_low: float | None
    share_high: float | None
    active_share: float | None
    growth_per_month: float | None
    clusters: tuple[str, ...]
    pools: tuple[str, ...]
    since: datetime
    until: datetime
    weeks: tuple[Period, ...]


@dataclass(frozen=True)
class Extent:
    """From when to when there are rows, and of what."""

    since: datetime
    until: datetime
    clusters: tuple[str, ...]
    pools: tuple[str, ...]
    rows: int


def has_data(*, sample: bool) -> bool:
    """Return whether there is any utilization of that kind."""
    return Utilization.objects.filter(is_sample=sample).exists()


def kinds_on_file() -> tuple[bool, bool]:
    """Return whether there is any utilization of the own fleet, and any sample; one query."""
    rows = Utilization.objects.order_by()
    own, sample = Exists(rows.filter(is_sample=False)), Exists(rows.filter(is_sample=True))
    # any row will do to ask from: without a batch there is no utilization
    found = Batch.objects.order_by().values_list(own, sample)[:1]
    return next(iter(found), (False, False))


def extent(
    *, sample: bool, clusters: Iterable[str] | None = None, pools: Iterable[str] | None = None
) -> Extent | None:
    """Return from when to when there are rows, or None."""
    rows = _rows(sample, clusters, pools)
    names = {
        (row["cluster"], row["pool"]): row
        for row in rows.values("cluster", "pool").annotate(
            first=Min("starts_at"), last=Max("starts_at"), hours=Max("period_hours"), rows=Count("pk")
        )
    }
    if not names:
        return None
    return Extent(
        since=min(row["first"] for row in names.values()),
        until=max(row["last"] + _hours(row["hours"]) for row in names.values()),
        clusters=tuple(sorted({cluster for cluster, _ in names})),
        pools=tuple(sorted({pool for _, pool in names})),
        rows=sum(row["rows"] for row in names.values()),
    )


def weekly(
    *,
    sample: bool,
    clusters: Iterable[str] | None = None,
    pools: Iterable[str] | None = None,
    until: datetime | None = None,
    weeks: int = 12,
) -> list[Period]:
    """Return the last whole ISO weeks that ended at or before `until` (the last row's end), oldest first.

    Weeks without a row are left out: a gap is a gap. Before the first whole week has passed, the week
    that runs is returned, with `hours_measured` below `hours_expected`.
    """
    rows = _rows(sample, clusters, pools)
    end = until or _last_end(rows)
    if end is None:
        return []
    return _weeks(rows, end, weeks).get("", [])


def weekly_by_pool(
    *, sample: bool, clusters: Iterable[str] | None = None, until: datetime | None = None, weeks: int = 12
) -> dict[str, list[Period]]:
    """Return the same weeks for each pool, by the pool's name."""
    rows = _rows(sample, clusters, None)
    end = until or _last_end(rows)
    return {} if end is None else _weeks(rows, end, weeks, by_pool=True)


def yearly(
    *, sample: bool, clusters: Iterable[str] | None = None, pools: Iterable[str] | None = None
) -> list[Period]:
    """Return every UTC calendar year that has rows, oldest first."""
    rows = _rows(sample, clusters, pools)
    last = _last_end(rows)
    periods = []
    for row in _sums(rows.annotate(bucket=UtcYear("starts_at")), ["bucket"]):
        start = datetime(row["bucket"], 1, 1, tzinfo=UTC)
        end = datetime(row["bucket"] + 1, 1, 1, tzinfo=UTC)
        periods.append(_period(row, start, end, last))
    return periods


def hour_of_week_profile(
    *, sample: bool, pools: Iterable[str] | None = None, until: datetime, weeks: int = WEEKS_OF_MEDIAN
) -> tuple[float, ...] | None:
    """Return 168 factors of mean 1 for allocated GPUs, hour 0 being Monday 00:00 UTC.

    None where some hour of the week has no row: a shape with holes is not a shape.
    """
    end = _monday_on_or_before(until)
    rows = _rows(sample, None, pools).filter(starts_at__gte=end - weeks * WEEK, starts_at__lt=end)
    known = rows.filter(gpus_allocated__isnull=False, period_hours=1)
    grouped = known.annotate(bucket=HourOfWeek("starts_at")).values("bucket").order_by("bucket")
    means = {
        row["bucket"]: float(row["gpus"]) / row["hours"]
        for row in grouped.annotate(gpus=Sum("gpus_allocated"), hours=Count("starts_at", distinct=True))
    }
    values = np.array([means.get(hour, np.nan) for hour in range(HOURS_PER_WEEK)])
    if np.isnan(values).any() or not values.any():
        return None
    return tuple(float(value) for value in values / values.mean())


def measured(
    *,
    sample: bool,
    as_of: datetime,
    clusters: Iterable[str] | None = None,
    pools: Iterable[str] | None = None,
) -> Measured | None:
    """Return the figures of the weeks before `as_of`, or None where there are none."""
    known = extent(sample=sample, clusters=clusters, pools=pools)
    if known is None:
        return None
    until = min(known.until, as_of)
    weeks = weekly(sample=sample, clusters=clusters, pools=pools, until=until, weeks=WEEKS_OF_GROWTH)
    if not weeks:
        return None
    recent = weeks[-WEEKS_OF_MEDIAN:]
    shares = [week.share for week in recent if week.share is not None]
    active = [week.active_share for week in recent if week.active_share is not None]
    return Measured(
        fleet_gpus=_mean_gpus(weeks[-1].installed_gpu_hours, weeks[-1].hours_measured),
        busy_gpus=median(_busy_gpus(week) for week in recent),
        share=median(shares) if shares else None,
        share_low=min(shares, default=None),
        share_high=max(shares, default=None),
        active_share=median(active) if active else None,
        growth_per_month=_growth_per_month(weeks),
        clusters=known.clusters,
        pools=known.pools,
        since=known.since,
        until=until,
        weeks=tuple(weeks),
    )


def _rows(sample: bool, clusters: Iterable[str] | None, pools: Iterable[str] | None) -> QuerySet[Utilization]:
    rows = Utilization.objects.filter(is_sample=sample)
    if clusters is not None:
        rows = rows.filter(cluster__in=list(clusters))
    if pools is not None:
        rows = rows.filter(pool__in=list(pools))
    return rows


def _last_end(rows: QuerySet[Utilization]) -> datetime | None:
    last = rows.order_by("-starts_at").values_list("starts_at", "period_hours").first()
    return None if last is None else last[0] + _hours(last[1])


def _weeks(
    rows: QuerySet[Utilization], end: datetime, weeks: int, by_pool: bool = False
) -> dict[str, list[Period]]:
    last_monday = _monday_on_or_before(end)
    whole = rows.filter(starts_at__gte=last_monday - weeks * WEEK, starts_at__lt=last_monday)
    found = _grouped_weeks(whole, end, by_pool)
    if found:
        return found
    return _grouped_weeks(rows.filter(starts_at__gte=last_monday, starts_at__lt=end), end, by_pool)


def _grouped_weeks(rows: QuerySet[Utilization], end: datetime, by_pool: bool) -> dict[str, list[Period]]:
    groups = ["pool", "bucket"] if by_pool else ["bucket"]
    found: dict[str, list[Period]] = {}
    for row in _sums(rows.annotate(bucket=WeekNumber("starts_at")), groups):
        start = FIRST_MONDAY + row["bucket"] * WEEK
        found.setdefault(row["pool"] if by_pool else "", []).append(_period(row, start, start + WEEK, end))
    return found


def _sums(rows: QuerySet[Utilization], groups: Sequence[str]) -> Iterable[Any]:
    """Add up each group in one query, on SQLite and PostgreSQL alike."""
    known = Q(gpus_allocated__isnull=False)
    paired = known & Q(gpus_available__isnull=False)
    active = known & Q(active_share__isnull=False)
    sums: Iterable[Any] = (
        rows.values(*groups)
        .order_by(*groups)
        .annotate(
            allocated=_sum(F("gpus_allocated") * F("period_hours")),
            available=_sum(F("gpus_available") * F("period_hours")),
            installed=_sum(F("gpus_installed") * F("period_hours")),
            paired_allocated=_sum(F("gpus_allocated") * F("period_hours"), paired),
            paired_available=_sum(F("gpus_available") * F("period_hours"), paired),
            watched=_sum(F("gpus_allocated") * F("period_hours"), active),
            active=_sum(F("gpus_allocated") * F("period_hours") * F("active_share"), active),
            moments=Count("starts_at", distinct=True, filter=known),
            hours_each=Max("period_hours"),
        )
    )
    return sums


def _sum(expression: Any, only: Q | None = None) -> Sum:
    amount = DecimalField(max_digits=24, decimal_places=6)
    if only is not None:
        expression = Case(When(only, then=expression), output_field=amount)
    return Sum(expression, output_field=amount)


def _period(row: dict[str, Any], start: datetime, end: datetime, until: datetime | None) -> Period:
    expected = min(end, until or end) - start
    return Period(
        start=start,
        end=end,
        allocated_gpu_hours=_quantised(row["allocated"]),
        available_gpu_hours=_quantised(row["available"]),
        installed_gpu_hours=_quantised(row["installed"]),
        share=_ratio(row["paired_allocated"], row["paired_available"]),
        active_share=_ratio(row["active"], row["watched"]),
        hours_measured=row["moments"] * row["hours_each"],
        hours_expected=Decimal(int(expected.total_seconds())) / 3600,
        paired_allocated=row["paired_allocated"],
        paired_available=row["paired_available"],
        watched_gpu_hours=row["watched"],
        active_gpu_hours=row["active"],
    )


def _quantised(amount: Decimal | None) -> Decimal:
    return (amount or Decimal(0)).quantize(GPU_HOUR_STEP)


def _ratio(part: Decimal | None, whole: Decimal | None) -> float | None:
    if part is None or not whole:
        return None
    return float(part / whole)


def _mean_gpus(gpu_hours: Decimal, hours: Decimal) -> Decimal | None:
    return (gpu_hours / hours).quantize(GPU_HOUR_STEP) if gpu_hours and hours else None


def _busy_gpus(week: Period) -> Decimal:
    return _mean_gpus(week.allocated_gpu_hours, week.hours_measured) or Decimal(0)


def _growth_per_month(weeks: Sequence[Period]) -> float | None:
    """Return the growth of busy GPUs, from a straight line through their logarithms by week."""
    points = [(week.start, float(_busy_gpus(week))) for week in weeks if _busy_gpus(week) > 0]
    if len(points) < FEWEST_WEEKS_OF_GROWTH:
        return None
    ages = np.array([(start - points[0][0]) / WEEK for start, _ in points])
    slope = np.polyfit(ages, np.log([gpus for _, gpus in points]), 1)[0]
    return float(np.expm1(slope * WEEKS_PER_MONTH))


def _monday_on_or_before(moment: datetime) -> datetime:
    return FIRST_MONDAY + (moment - FIRST_MONDAY) // WEEK * WEEK


def _hours(period_hours: Decimal) -> timedelta:
    return timedelta(hours=float(period_hours))
