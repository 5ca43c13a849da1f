"""Measured traces of spot capacity: how many machines could be had, or kept, in a zone over time.

Two layouts. SkyPilot's JSON has one count per tick and the seconds between ticks; a line here is a tick
whose count differs from the one before, and the last tick. A cluster's log is CSV without a header: elapsed
time and size; two rows at one time are the size before and after a step, of which the later counts.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

import msgspec

from costs.rows import FileError, FileInfo, OutOfScope, RawLine, Row, RowError, SpotCapacityRow

from .aws_ec2 import read_whole
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, RESERVED, complete, records, text_lines
from .decimals import number
from .spot_traces_names import Subject, subject_of

NAME = "spot_traces"
TITLE = "Measured spot capacity"
KIND = "spot_capacity"
MODE = "steps"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz")
PARAMS: tuple[str, ...] = (
    *("starts_on", "trace", "measures", "nodes_wanted", "zone", "accelerator", "gpu_count", "provider"),
    *("region", "time_unit"),
)
HAS_NETWORK = False
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(total_bytes=16 << 20, rows=1_000_000)

SECONDS_PER = {"seconds": 1, "minutes": 60, "hours": 3600}
_LONGEST_GAP = 86_400
_LONGEST_SECONDS = 10 * 366 * 86_400  # of any trace
_RULE = RESERVED + "rule"
_COUNT_PAIR = re.compile(r"[0-9]+(\.[0-9]+)?,[0-9]+(\.[0-9]+)?")
_EXPECTED = 'a trace: {"metadata": {"gap_seconds": 195}, "data": [0, 1, …]}'


class _Metadata(msgspec.Struct):
    gap_seconds: int | float


class _Trace(msgspec.Struct):
    metadata: _Metadata
    data: list[object]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is a trace: by its gap, or by two lines of two numbers without a header."""
    if '"gap_seconds"' in head:
        return True
    lines = head.splitlines()[:2]
    return len(lines) == 2 and all(_COUNT_PAIR.fullmatch(line) for line in lines)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the traces carry no licence, so they come from the user as files."""
    raise FileError("no_fetch", "a trace: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the steps of a trace. It is as of its last tick."""
    head = next(blocks_of_text(file, name, limits))
    subject = subject_of(name, params)
    if head.lstrip()[:1] in (b"{", b"["):
        lasts_seconds, lines = _ticks(file, name, limits)
    else:
        lasts_seconds, lines = _log(file, name, limits, subject, params.get("time_unit", "").strip())
    ends_at = subject.starts_at + timedelta(seconds=float(lasts_seconds))
    return FileInfo(ends_at, subject.params()), lines


def _ticks(file: BinaryIO, name: str, limits: Limits) -> tuple[Decimal, Iterator[RawLine]]:
    try:
        trace = msgspec.json.decode(read_whole(file, name, limits), type=_Trace)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", _EXPECTED, value=str(error)) from error
    gap, data = Decimal(str(trace.metadata.gap_seconds)), trace.data
    if not 0 < gap <= _LONGEST_GAP:
        raise FileError("gap_wrong", f"above 0 and at most {_LONGEST_GAP}", column="gap_seconds", value=gap)
    if not data:
        raise FileError("empty_file", "a trace with at least one tick", column="data")
    if len(data) > limits.rows or gap * len(data) > _LONGEST_SECONDS:
        raise FileError("too_many_rows", f"at most {limits.rows:,} ticks and ten years", value=len(data))

    def lines() -> Iterator[RawLine]:
        for tick, nodes in enumerate(data):
            if tick == 0 or tick == len(data) - 1 or nodes != data[tick - 1] or not _is_count(nodes):
                yield RawLine(tick + 1, {"seconds": str(gap * tick), "nodes": _text(nodes)})

    return gap * (len(data) - 1), lines()


def _is_count(nodes: object) -> bool:
    return type(nodes) is int and nodes >= 0


def _text(nodes: object) -> str:
    return str(nodes) if isinstance(nodes, int | float | str) and not isinstance(nodes, bool) else repr(nodes)


def _log(
    file: BinaryIO, name: str, limits: Limits, subject: Subject, unit: str
) -> tuple[Decimal, Iterator[RawLine]]:
    found = records(text_lines(blocks_of_text(file, name, limits), limits), limits)
    rows: list[tuple[int, list[str], Decimal | None]] = []
    for line, record in found:
        if len(rows) >= limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=line)
        rows.append((line, record, _elapsed(record)))
    longest = max((elapsed for _, _, elapsed in rows if elapsed is not None), default=None)
    if longest is None:
        raise FileError("empty_file", "rows of two numbers: elapsed time and machines")
    factor = _seconds_per_unit(unit, longest, subject)
    if longest * factor > _LONGEST_SECONDS:
        raise FileError("trace_too_long", "at most ten years", column="time_unit", value=longest)

    def lines() -> Iterator[RawLine]:
        latest = Decimal(0)
        for at, (line, record, elapsed) in enumerate(rows):
            following = rows[at + 1][2] if at + 1 < len(rows) else None
            yield RawLine(line, _row(record, elapsed, following, latest, factor))
            latest = max(latest, elapsed) if elapsed is not None else latest

    return longest * factor, lines()


def _elapsed(record: list[str]) -> Decimal | None:
    with suppress(RowError):
        found = number("elapsed", record[0])
        return found if found >= 0 else None
    return None


def _row(
    record: list[str], elapsed: Decimal | None, following: Decimal | None, latest: Decimal, factor: int
) -> dict[str, str]:
    fields = {"elapsed": record[0], "nodes": record[1] if len(record) > 1 else ""}
    if len(record) != 2:
        fields[FIELD_COUNT] = f"{len(record)}, layout 2"
    elif elapsed is not None:
        fields["seconds"] = str(elapsed * factor)
        if elapsed < latest:
            fields[_RULE] = "time_goes_back"
        elif elapsed == following:
            fields[_RULE] = "before_the_step"
    return fields


def _seconds_per_unit(unit: str, longest: Decimal, subject: Subject) -> int:
    """Return the seconds of one unit of the first column; logs differ, and none of them names its unit.

    Of hours, minutes and seconds it is the largest with which the log ends within the span of its name.
    """
    if unit:
        if unit not in SECONDS_PER:
            raise FileError("time_unit_unknown", " or ".join(SECONDS_PER), column="time_unit", value=unit)
        return SECONDS_PER[unit]
    if subject.longest is not None:
        span = Decimal(int(subject.longest.total_seconds()))
        for seconds in sorted(SECONDS_PER.values(), reverse=True):
            if longest * seconds <= span:
                return seconds
    expected = f"the parameter time_unit: {', '.join(SECONDS_PER)}"
    raise FileError("time_unit_missing", expected, column="time_unit", value=longest)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return how many machines there were from one moment on."""
    fields, said = complete(raw), info.params
    if fields.get(_RULE) == "before_the_step":
        raise OutOfScope("before_the_step", "elapsed", fields["elapsed"], "the last row of a moment")
    if fields.get(_RULE) == "time_goes_back":
        raise RowError("elapsed", fields["elapsed"], "time_goes_back", "a time not before the row above")
    if "seconds" not in fields:
        raise RowError("elapsed", fields["elapsed"], "not_a_number", "elapsed time, 0 or more")
    nodes = number("nodes", fields["nodes"])
    wanted = number("nodes_wanted", said["nodes_wanted"]) if said["nodes_wanted"] else None
    if nodes != nodes.to_integral_value() or nodes < 0:
        raise RowError("nodes", fields["nodes"], "nodes_not_whole", "how many machines, 0 or more")
    if wanted is not None and nodes > wanted:
        raise RowError("nodes", fields["nodes"], "nodes_above_wanted", f"at most {wanted}")
    elapsed = timedelta(microseconds=int(number("seconds", fields["seconds"]) * 1_000_000))
    return [
        SpotCapacityRow(
            provider=said["provider"],
            trace=said["trace"],
            region=said["region"],
            zone=said["zone"],
            accelerator_name=said["accelerator"],
            gpu_count=Decimal(said["gpu_count"]),
            nodes_wanted=wanted,
            measures="preemption" if said["measures"] == "preemption" else "availability",
            observed_at=datetime.fromisoformat(said["starts_at"]) + elapsed,
            nodes=nodes,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the measurement; each of its zones is a series of its own."""
    return info.params["trace"]
