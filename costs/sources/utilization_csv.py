"""What a fleet did, hour by hour: our own layout, derived research series, and one publisher's daily file.

Empty is unknown and stays unknown. Allocated may exceed available: schedulers hand out more than they count
as up, so the figure is kept as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, RawLine, Row, RowError, UtilizationRow

from .byte_stream import LIMITS, Limits
from .csv_file import RESERVED, check_header, complete, open_table
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
_REPEATED = RESERVED + "repeated"
_STEP, _SHARE_STEP = Decimal("0.0001"), Decimal("0.000001")

Figures = tuple[Decimal | None, Decimal | None, Decimal | None, Decimal | None, Decimal | None]


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
        if not fields[column]:
            raise RowError(column, "", "empty", f"a name; write unspecified where the {column} is not known")
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
    row: Callable[[Mapping[str, str], str], UtilizationRow]
    key: tuple[str, ...]  # what may stand once per file


_LAYOUTS = {
    "own": _Layout(
        COLUMNS, lambda fields, cluster: _hourly_row(fields, cluster, _own_figures(fields)), COLUMNS[:4]
    ),
    "research": _Layout(
        _RESEARCH_COLUMNS,
        lambda fields, cluster: _hourly_row(fields, cluster, _research_figures(fields)),
        COLUMNS[:4],
    ),
    "daily": _Layout(DAILY_COLUMNS, daily_row, ("date_local",)),
}


def _layout_of(header: tuple[str, ...]) -> str:
    if "date_local" in header:
        return "daily"
    return "research" if "gpus_total" in header and "gpus_installed" not in header else "own"


def _marked(lines: Iterable[RawLine], key: tuple[str, ...]) -> Iterator[RawLine]:
    """Mark a line whose hour, pool and model an earlier line had: one file states each once.

    Hashes stand for the keys, so that a file of millions of lines takes little memory.
    """
    seen: set[int] = set()
    for raw in lines:
        mark = hash(tuple(raw.fields.get(column, "") for column in key))
        if mark in seen:
            yield RawLine(raw.line, {**raw.fields, _REPEATED: "1"})
            continue
        seen.add(mark)
        yield raw


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
    return FileInfo(None, found), _marked(table.lines, _LAYOUTS[layout].key)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one hour, or one day where the publisher counts in days, of one pool and GPU model."""
    fields, layout = complete(raw), _LAYOUTS[info.params["layout"]]
    row = layout.row(fields, info.params["cluster"])
    if _REPEATED in fields:
        column = layout.key[0]
        raise RowError(column, fields[column], "repeated", f"each {' / '.join(layout.key)} once in the file")
    return [row]


def scope(row: Row, info: FileInfo) -> str:
    """Return the cluster."""
    if not isinstance(row, UtilizationRow):
        raise TypeError(f"{NAME} yields hours of use, not {type(row).__name__}")
    return row.cluster
