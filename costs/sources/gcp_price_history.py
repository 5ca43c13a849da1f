"""When the prices of Google Cloud machines with GPUs changed: every change that snapshots of a list saw.

A line states all prices of a machine in a region from its day on, until the next line of that machine
and region. The amounts come from a calculator with binary fractions: half of the lines differ from the
one before in the fifteenth digit only, and say the same at the nine digits that the tables keep.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .csv_file import FIELD_COUNT, RESERVED, complete, names_all, open_table
from .dates import day, midnight
from .gcp_machine_prices import Priced, terms_of
from .machines import Machine, machine_of

NAME = "gcp_price_history"
TITLE = "Google Cloud price history"
KIND = "prices"
MODE = "history"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

# one short entry per line is held while the file is read the first time
LIMITS = Limits(rows=500_000)
COLUMNS = (
    *("date", "machine_type", "region", "hour", "hour_spot"),
    *("month", "month_1y", "month_3y", "month_spot"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\n2025-01-30,a2-highgpu-1g,us-central1,3.65,1.46,2664.5,1679,949,1065.8\n"
    "2025-03-13,a2-highgpu-1g,us-central1,3.65,1.1,2664.5,1679,949,803\n"
)
# The snapshots hold no spot price of any machine before this day and one of every machine on it, so a
# blank before it says nothing of what was sold. After it a blank occurs only where a machine type enters
# a region (G4 in two regions on 2026-05-14, priced two days later) and no price was ever followed by a
# blank: there it means that spot was not sold yet.
SPOT_KNOWN_FROM = date(2023, 5, 8)
_SUPERSEDED = RESERVED + "superseded"  # the later line of the same day


def looks_like(head: str, name: str) -> bool:
    """Return whether the file's first line names the columns of this table."""
    return names_all(head, COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the history is made of many versions of a public file, which the user brings."""
    raise FileError("no_fetch", "a table of price changes: upload it, or name it with --file")


def _key(fields: Mapping[str, str]) -> tuple[str, str, str]:
    return fields["date"], fields["machine_type"], fields["region"]


def _newest(lines: Iterable[RawLine], last: dict[tuple[str, str, str], int]) -> datetime | None:
    """Note which line of each day, machine and region comes last; return the newest day."""
    newest: date | None = None
    for raw in lines:
        if FIELD_COUNT in raw.fields:
            continue
        last[_key(raw.fields)] = raw.line
        # a line with a wrong date is refused by its number when it is parsed
        with suppress(RowError):
            found = day("date", raw.fields["date"])
            newest = max(newest or found, found)
    return midnight(newest) if newest else None


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one that a later line of its day replaces carries that line. Reads the file twice."""
    last: dict[tuple[str, str, str], int] = {}
    newest = _newest(open_table(file, name, COLUMNS, limits=limits).lines, last)

    def lines() -> Iterator[RawLine]:
        for raw in open_table(file, name, COLUMNS, limits=limits).lines:
            later = raw.line if FIELD_COUNT in raw.fields else last[_key(raw.fields)]
            if later == raw.line:
                yield raw
            else:
                yield RawLine(raw.line, {**raw.fields, _SUPERSEDED: str(later)})

    return FileInfo(newest, {}), lines()


def _machine(fields: Mapping[str, str]) -> Machine:
    name = fields["machine_type"]
    machine = machine_of("gcp", name)
    if machine is None:
        raise RowError(
            "machine_type", name, "machine_unknown", "a machine type of the table; add it there with its GPUs"
        )
    return machine


def _is_known(priced: Priced, on: date) -> bool:
    return priced.state == "priced" or priced.term != "spot" or on >= SPOT_KNOWN_FROM


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return what the line says of each term from its day on."""
    fields = complete(raw)
    on = day("date", fields["date"])
    if _SUPERSEDED in fields:
        raise OutOfScope(
            "changed_again_same_day",
            "date",
            fields["date"],
            f"the last state of a day: line {fields[_SUPERSEDED]} gives a later one",
        )
    machine = _machine(fields)
    return [
        PriceRow(
            provider="gcp",
            sku=machine.name,
            accelerator_name=machine.accelerator,
            gpu_count=machine.gpu_count,
            region=fields["region"],
            term=priced.term,
            payment=priced.payment,
            state=priced.state,
            state_reason=priced.reason,
            price_per_hour=priced.per_hour,
            effective_from=midnight(on),
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
        )
        for priced in terms_of(fields)
        if _is_known(priced, on)
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider."""
    return "gcp"
