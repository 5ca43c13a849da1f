"""The daily file of the University of Chicago's Data Science Institute: GPU-hours per local day."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from costs.rows import OutOfScope, RowError, UtilizationRow

from .dates import day
from .decimals import optional_number, to_step

COLUMNS = (
    *("date_local", "hours_in_day", "gpu_hours_reported", "gpu_hours_down", "gpu_hours_available"),
    *("gpu_hours_allocated", "gpu_hours_idle", "utilization_available_published"),
    *("allocated_over_available_uncapped", "gpus_installed_est", "jobs", "active_users"),
    *("wait_p50_s", "wait_p90_s", "gpu_hours_hourly_sum"),
)
_ZONE = ZoneInfo("America/Chicago")
_CLUSTER = "uchicago-dsi (daily)"
_POOL, _GPU_TYPE = "all", "mixed A40/A100/L40S/H100/H200"
# On the first day the publisher reported 519,226 GPU-hours for 56 GPUs, which spoils its whole year. What
# was installed and available that day is unknown; what was allocated is not in doubt.
_CAPACITY_UNKNOWN = frozenset({"2023-05-04"})
_STEP = Decimal("0.0001")


def _midnight(date_local: str) -> tuple[datetime, int]:
    """Return the start of a local day in UTC, and its hours: 23 or 25 where the clocks change."""
    first = day("date_local", date_local)
    start, end = (
        datetime(at.year, at.month, at.day, tzinfo=_ZONE).astimezone(UTC)
        for at in (first, first + timedelta(days=1))
    )
    return start, (end - start) // timedelta(hours=1)


def daily_row(fields: Mapping[str, str], cluster: str) -> UtilizationRow:
    """Return one local day: mean GPUs are GPU-hours by the hours of that day."""
    start, hours = _midnight(fields["date_local"])
    stated = optional_number("hours_in_day", fields["hours_in_day"])
    if stated != hours:
        raise RowError("hours_in_day", fields["hours_in_day"], "hours_in_day_wrong", f"{hours} on this day")

    def gpus(column: str) -> Decimal | None:
        value = optional_number(column, fields[column])
        return None if value is None else to_step(value / hours, _STEP)

    is_known = fields["date_local"] not in _CAPACITY_UNKNOWN
    installed = gpus("gpu_hours_reported") if is_known else None
    available = gpus("gpu_hours_available") if is_known else None
    allocated = gpus("gpu_hours_allocated")
    if installed is None and available is None and allocated is None:
        raise OutOfScope(
            "no_gpu_figures", "", "", "at least one figure about GPUs: all of them are unknown here"
        )
    return UtilizationRow(
        cluster or _CLUSTER,
        _POOL,
        _GPU_TYPE,
        start,
        installed,
        available,
        allocated,
        None,
        None,
        Decimal(hours),
    )
