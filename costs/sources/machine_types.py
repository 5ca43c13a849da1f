"""The hand-kept table of machine types: accelerators, vCPUs, memory and quota bucket of each."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO

from costs.rows import FileInfo, MachineTypeRow, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, open_table
from .dates import day
from .decimals import number, optional_number
from .machines import FILE
from .packaged import chunks_of
from .repeats import marked, refuse_repeated

NAME = "machine_types"
TITLE = "Machine types (bundled table)"
KIND = "machine_types"
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

COLUMNS = (
    *("provider", "name", "accelerator", "accelerator_name", "gpu_count", "vcpus", "memory_gib"),
    *("quota_on_demand", "quota_spot", "reference", "reference_date"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\nexample-cloud,gpu-8x-h100,h100-sxm-80gb,H100,8,192,2048,gpus-h100,,"
    "https://example.com/machine-types,2026-11-30\n"
)


def looks_like(head: str, name: str) -> bool:
    """Return whether the file's first line names the columns that only this table has."""
    header = head.partition("\n")[0]
    return all(column in header for column in ("quota_on_demand", "quota_spot", "gpu_count", "memory_gib"))


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the table that comes with the product."""
    yield FILE, chunks_of(FILE)


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one that states a machine type of an earlier line again is marked as repeated."""
    table = open_table(file, name, COLUMNS, limits=limits)
    keyed = marked(table.lines, lambda raw: [_name_of(raw.fields)])
    return FileInfo(None, {}), keyed


def _name_of(fields: Mapping[str, str]) -> str:
    return " ".join((fields.get("provider", ""), fields.get("name", "")))


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one machine type."""
    fields = complete(raw)
    refuse_repeated(raw, "name")
    if fields["provider"] != fields["provider"].lower():
        raise RowError("provider", fields["provider"], "provider_wrong", "small letters such as aws")
    return [
        MachineTypeRow(
            provider=fields["provider"],
            name=fields["name"],
            accelerator=fields["accelerator"],
            gpu_count=number("gpu_count", fields["gpu_count"]),
            vcpus=optional_number("vcpus", fields["vcpus"]),
            memory_gib=optional_number("memory_gib", fields["memory_gib"]),
            quota_on_demand=fields["quota_on_demand"],
            quota_spot=fields["quota_spot"],
            reference=fields["reference"],
            reference_date=day("reference_date", fields["reference_date"]),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider."""
    if not isinstance(row, MachineTypeRow):
        raise TypeError(f"{NAME} yields machine types, not {type(row).__name__}")
    return row.provider
