"""Spellings of accelerators, kept by the users: a name that no table knows becomes one more row."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO

from costs.names import accelerator_key
from costs.rows import AliasRow, FileError, FileInfo, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, open_table
from .repeats import marked, refuse_repeated

NAME = "aliases"
TITLE = "GPU spellings (own table)"
KIND = "aliases"
MODE = "series"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

COLUMNS = ("spelling", "accelerator", "note")
TEMPLATE = ",".join(COLUMNS) + (
    "\nNVIDIA H100 80GB HBM3e,h100-sxm-80gb,as our reseller writes it\n"
    "gpu-8x-h100,h100-sxm-80gb,a machine type works too: it says more than the name beside it\n"
)


def looks_like(head: str, name: str) -> bool:
    """Return whether the file's first line names the columns of this table."""
    header = [column.strip() for column in head.partition("\n")[0].split(",")]
    return set(COLUMNS) <= set(header)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: these spellings are the user's own."""
    raise FileError("no_fetch", "a table of spellings: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one whose spelling is an earlier one in other case or punctuation is marked."""
    table = open_table(file, name, COLUMNS, limits=limits)
    keyed = marked(table.lines, lambda raw: [accelerator_key(raw.fields.get("spelling", ""))])
    return FileInfo(None, {}), keyed


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one spelling."""
    fields = complete(raw)
    spelling = fields["spelling"].strip()
    if not accelerator_key(spelling):
        raise RowError("spelling", spelling, "empty", "a name with letters or digits")
    refuse_repeated(raw, "spelling")
    return [
        AliasRow(spelling=spelling, accelerator=fields["accelerator"].strip(), note=fields["note"].strip())
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the one scope of this table."""
    return "all"
