"""What a fleet did, hour by hour: our own layout, derived research series, and one publisher's daily file.

Empty is unknown and stays unknown. Allocated may exceed available: schedulers hand out more than they count
as up, so the figure is kept as it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, RawLine, Row, RowError, UtilizationRow

from .byte_stream import LIMITS, Limits
from .csv_file import check_header, complete, names_all, open_table
from .dates import hour
from .decimals import optional_number, to_step
from .utilization_daily import COLUMNS as DAILY_COLUMNS
from .utilization_daily import daily_row

NAME = "utilization_csv"
TITLE = "Hourly use (CSV)"
KIND = "utilization"
MODE = "series"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("cluster", "sample")
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

COLUMNS = (
    *("hour_utc", "cluster", "pool", "gpu_type"),
    *("gpus_installed", "gpus_available", "gpus_allocated", "gpus_pending", "active_share"),
)
_RESEARCH_COLUMNS = (
    *("hour_utc", "cluster", "pool", "gpu_type"),
    *("gpus_total", "gpus_allocated", "gpus_pending", "mean_gpu_utilization"),
)
# columns of the research series that say something else than we keep
_KNOWN_EXTRAS = frozenset(
    (
        *("gpus_down", "gpus_from_jobs_started_in_window", "carry_over_spread"),
        *("nodes_total", "nodes_active", "nodes_active_max", "minutes"),
        *("p50", "p90", "idle_share", "mean_gpu_memory_used_gib", "qps_api", "qps_generative"),
    )
)
TEMPLATE = ",".join(COLUMNS) + (
    "\n2026-11-29T13:00:00Z,main,training,H100,64,60,55.25,8,0.61"
    "\n2026-11-29T14:00:00Z,main,training,H100,64,60,58,,\n"
)
_STEP, _SHARE_STEP = Decimal("0.0001"), Decimal("0.000001")

Figures = tuple[Decimal | None, Decimal | None, Decimal | None, Decimal | None, Decimal | None]


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that begins so is for this source."""
    # the first columns are those of the research series as well
    return names_all(head, COLUMNS[:4]) or names_all(head, DAILY_COLUMNS[:2])


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: hours of use come from the scheduler of the fleet, as a file."""
    raise FileError("no_fetch", "a file of hours: upload it, or name it with --file")


def _gpus(fields: Mapping[str, str], column: str) -> Decimal | None:
    value = optional_number(column, fields[column])
    return None if value is None else to_step(value, _STEP)


def _own_figures(fields: Mapping[str, str]) -> Figures:
    share = optional_number("active_share", fields["active_share"])
    return (
        _gpus(fields, "gpus_installed"),
        _gpus(fields, "gpus_available"),
        _gpus(fields, "gpus_allocated"),
        _gpus(fields, "gpus_pending"),
        None if share is None else to_step(share, _SHARE_STEP),
    )


def _research_figures(fields: Mapping[str, str]) -> Figures:
    """Return the figures of a derived series: its use is in percent, its total includes what is down."""
    total = _gpus(fields, "gpus_total")
    down = _gpus(fields, "gpus_down") if "gpus_down" in fields else None
    available = None if total is None or down is None else total - down
    if available is not None and available < 0:
        raise RowError("gpus_down", fields["gpus_down"], "down_above_total", f"at most gpus_total, {total}")
    percent = optional_number("mean_gpu_utilization", fields["mean_gpu_utilization"])
    if percent is not None and not 0 <= percent <= 100:
        raise RowError("mean_gpu_utilization", percent, "percent_out_of_bounds", "0 to 100, or empty")
    return (
        total,
        available,
        _gpus(fields, "gpus_allocated"),
        _gpus(fields, "gpus_pending"),
        None if percent is None else to_step(percent / 100, _SHARE_STEP),
    )


def _hourly_row(fields: Mapping[str, str], cluster: str, figures: Figures) -> UtilizationRow:
    if all(figure is None for figure in figures):
        raise OutOfScope(
            "no_gpu_figures", "", "", "at least one figure about GPUs: all of them are unknown here"
        )
    for column in ("pool", "gpu_type", *(() if cluster else ("cluster",))):
        if not fields[column].strip():
            raise RowError(
                column, fields[column], "empty", f"a name; write unspecified where the {column} is not known"
            )
    return UtilizationRow(
        cluster or fields["cluster"],
        fields["pool"],
        fields["gpu_type"],
        hour("hour_utc", fields["hour_utc"]),
        *figures,
    )


@dataclass(frozen=True)
class _Layout:
    columns: tuple[str, ...]
    row: Callable[
        [Mapping[str, str], str], UtilizationRow
    ]  # fields and cluster, empty where the line names it


def _own_row(fields: Mapping[str, str], cluster: str) -> UtilizationRow:
    return _hourly_row(fields, cluster, _own_figures(fields))


def _research_row(fields: Mapping[str, str], cluster: str) -> UtilizationRow:
    return _hourly_row(fields, cluster, _research_figures(fields))


_LAYOUTS = {
    "own": _Layout(COLUMNS, _own_row),
    "research": _Layout(_RESEARCH_COLUMNS, _research_row),
    "daily": _Layout(DAILY_COLUMNS, daily_row),
}


def _layout_of(header: tuple[str, ...]) -> str:
    if "date_local" in header:
        return "daily"
    return "research" if "gpus_total" in header and "gpus_installed" not in header else "own"


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; the file's parameters name its layout and the columns that nothing reads."""
    table = open_table(file, name, (), limits=limits)
    layout = _layout_of(table.header)
    columns = _LAYOUTS[layout].columns
    check_header(table.header, columns, 1)
    unknown = [name for name in table.header if name not in columns and name not in _KNOWN_EXTRAS]
    found = {
        "layout": layout,
        "cluster": params.get("cluster", "").strip(),
        "unknown_columns": ", ".join(unknown)[:500],
    }
    return FileInfo(None, found), table.lines


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one hour, or one day where the publisher counts in days, of one pool and GPU model."""
    layout = _LAYOUTS[info.params["layout"]]
    return [layout.row(complete(raw), info.params["cluster"])]


def scope(row: Row, info: FileInfo) -> str:
    """Return the cluster."""
    if not isinstance(row, UtilizationRow):
        raise TypeError(f"{NAME} yields hours of use, not {type(row).__name__}")
    return row.cluster
