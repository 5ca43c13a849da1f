"""The hand-kept table of accelerators: what their makers state about them."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.names import accelerator_key
from costs.rows import AcceleratorRow, FileInfo, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, names_all, open_table
from .dates import day
from .decimals import optional_number
from .packaged import chunks_of
from .repeats import marked, refuse_repeated

NAME = "accelerators"
TITLE = "Accelerators (bundled table)"
KIND = "accelerators"
MODE = "snapshot"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

_RATES = (
    "memory_gb",
    "memory_bandwidth_gb_s",
    "power_w",
    "link_gb_s_per_direction",
    "fp32_tflops",
    "tf32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "int8_tops",
    "fp4_tflops",
)
COLUMNS = (
    *("slug", "name", "vendor", "form_factor"),
    *_RATES,
    *("launch_date", "reference", "reference_date", "aliases", "notes"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\nexample-80gb,Example 80 GB,Example,SXM,80,2000,400,300,19.5,156,312,312,,624,,2020-05-14,"
    "Example data sheet,2026-11-30,EX80|Example-80GB,Write your own line like this one\n"
)
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MOST = Decimal(999_999)  # what the narrowest column holds; no rate of a part comes near


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that begins so is for this source."""
    return names_all(head, COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the table that comes with the product."""
    yield "accelerators.csv", chunks_of("accelerators.csv")


def _aliases(fields: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(alias.strip() for alias in fields.get("aliases", "").split("|") if alias.strip())


def _keys(raw: RawLine) -> list[str]:
    fields = raw.fields
    names = (fields.get("slug", ""), fields.get("name", ""), *_aliases(fields))
    return [accelerator_key(name) for name in names if name]


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one whose name or alias belongs to an earlier line is marked as repeated."""
    table = open_table(file, name, COLUMNS, limits=limits)
    return FileInfo(None, {}), marked(table.lines, _keys)


def _rate(fields: Mapping[str, str], column: str) -> Decimal | None:
    value = optional_number(column, fields[column])
    if value is not None and not 0 < value <= _MOST:
        raise RowError(column, value, "rate_out_of_bounds", f"above 0 and at most {_MOST}, or empty")
    return value


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one accelerator."""
    fields = complete(raw)
    refuse_repeated(raw, "aliases")
    for column in ("slug", "name", "vendor", "reference"):
        if not fields[column]:
            raise RowError(column, "", "empty", f"a {column}")
    if not _SLUG.fullmatch(fields["slug"]):
        raise RowError("slug", fields["slug"], "slug_wrong", "small letters, digits and single hyphens")
    rates = {column: _rate(fields, column) for column in _RATES}
    return [
        AcceleratorRow(
            slug=fields["slug"],
            name=fields["name"],
            vendor=fields["vendor"],
            form_factor=fields["form_factor"],
            memory_gb=rates["memory_gb"],
            memory_bandwidth_gb_s=rates["memory_bandwidth_gb_s"],
            power_w=rates["power_w"],
            link_gb_s_per_direction=rates["link_gb_s_per_direction"],
            fp32_tflops=rates["fp32_tflops"],
            tf32_tflops=rates["tf32_tflops"],
            fp16_tflops=rates["fp16_tflops"],
            bf16_tflops=rates["bf16_tflops"],
            fp8_tflops=rates["fp8_tflops"],
            int8_tops=rates["int8_tops"],
            fp4_tflops=rates["fp4_tflops"],
            launch_date=day("launch_date", fields["launch_date"]) if fields["launch_date"] else None,
            reference=fields["reference"],
            reference_date=day("reference_date", fields["reference_date"]),
            aliases=_aliases(fields),
            notes=fields["notes"],
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the one scope of this table: a new file replaces all of it."""
    return "all"
