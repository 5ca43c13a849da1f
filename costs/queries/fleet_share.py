"""Read the share of the fleet's GPU-hours that were used of late: what a break-even is held against."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import median

from django.db.models import DecimalField, F, Max, Sum

from costs.models import Utilization

from .utc_buckets import WeekNumber
from .utilization import FIRST_MONDAY, WEEK, WEEKS_OF_MEDIAN

_HOURS = DecimalField(max_digits=24, decimal_places=6)


@dataclass(frozen=True)
class FleetShare:
    """The median of whole weeks: allocated of available GPU-hours, where both are known."""

    share: float
    weeks: int
    until: datetime
    is_sample: bool
    shares: tuple[float, ...] = ()  # of each week, in order


def fleet_share(now: datetime) -> FleetShare | None:
    """Return the share of the last eight whole weeks, of the own fleet or else of the sample; one query.

    Weeks that ended longer ago than eight weeks do not count: None says that nothing is known of late.
    """
    until = FIRST_MONDAY + (now - FIRST_MONDAY) // WEEK * WEEK
    known = Utilization.objects.filter(
        starts_at__gte=until - WEEKS_OF_MEDIAN * WEEK,
        starts_at__lt=until,
        gpus_allocated__isnull=False,
        gpus_available__isnull=False,
    )
    groups = known.annotate(week=WeekNumber("starts_at")).values("is_sample", "week")
    rows = groups.annotate(
        allocated=Sum(F("gpus_allocated") * F("period_hours"), output_field=_HOURS),
        available=Sum(F("gpus_available") * F("period_hours"), output_field=_HOURS),
        last=Max("starts_at"),
    ).order_by("is_sample", "week")
    shares: dict[bool, list[tuple[float, datetime]]] = {}
    for row in rows:
        if row["available"]:
            share = float(Decimal(row["allocated"]) / Decimal(row["available"]))
            shares.setdefault(row["is_sample"], []).append((share, row["last"]))
    for is_sample in (False, True):
        if found := shares.get(is_sample):
            last = max(moment for _, moment in found).astimezone(UTC) + timedelta(hours=1)
            each = tuple(share for share, _ in found)
            return FleetShare(median(each), len(found), last, is_sample, each)
    return None
