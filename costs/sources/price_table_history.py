"""Prices of one machine type as somebody wrote them down day by day: timestamp, instance, price_usd.

Each line is an observation. What holds between two equal ones is one price, and the first that differs is
the moment of the change, as far as anybody saw it.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, cast

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .csv_file import complete, open_table
from .dates import day, midnight, moment
from .decimals import price
from .price_table import header_of, provider_of
from .price_table_machines import machine_for

NAME = "price_history_table"
TITLE = "Daily price histories"
KIND = "prices"
MODE = "history"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("provider", "region")
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(rows=1_000_000)

COLUMNS = ("timestamp", "instance", "price_usd")
TEMPLATE = (
    ",".join(COLUMNS) + "\n2025-06-04T07:23:25,p5.48xlarge,98.32\n2025-06-05T07:22:36,p5.48xlarge,55.04\n"
)
_REGION = re.compile(r"(?<![a-z])[a-z]{2}(?:-[a-z]+)+-[0-9](?![0-9])")
_PLAIN_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]{5,15}")


def looks_like(head: str, name: str) -> bool:
    """Tell whether the header is that of a price history."""
    return header_of(head) == list(COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: these are files of your own."""
    raise FileError("no_fetch", "a history of prices: upload it, or name it with --file")


def region_of(name: str, params: Mapping[str, str]) -> str:
    """Return the region from the parameter or the file's name; the lines do not give it.

    >>> region_of("aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv", {})
    'us-east-1'
    """
    given = params.get("region", "").strip()
    found = _REGION.search(name)
    if not given and not found:
        expected = "the region in the file's name (aws_us-east-1_daily.csv) or as the parameter region"
        raise FileError("region_unknown", expected, column="region", value=name)
    return given or cast(re.Match[str], found)[0]


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the observations, in whatever order the file has them."""
    table = open_table(file, name, COLUMNS, limits=limits)
    return FileInfo(
        None, {"provider": provider_of(name, params), "region": region_of(name, params)}
    ), table.lines


def seen_at(text: str) -> datetime:
    """Return when a price was seen. A stamp without a zone is read as UTC, a date as its first moment.

    >>> seen_at("2025-06-05T07:22:36").isoformat()
    '2025-06-05T07:22:36+00:00'
    """
    if len(text) == len("2025-06-05"):
        return midnight(day("timestamp", text))
    if _PLAIN_MOMENT.fullmatch(text):
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError as error:
            raise RowError("timestamp", text, "not_a_time", "a moment such as 2026-11-30T13:00:00") from error
    return moment("timestamp", text)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the price that was seen; a line without one says that nobody saw any."""
    fields = complete(raw)
    seen, provider, sku = seen_at(fields["timestamp"]), info.params["provider"], fields["instance"]
    machine = machine_for(provider, sku, "instance")
    if not fields["price_usd"].strip():
        raise OutOfScope("no_observation", "price_usd", fields["timestamp"], "a price that was seen")
    return [
        PriceRow(
            provider=provider,
            sku=sku,
            accelerator_name=machine.accelerator_name,
            gpu_count=machine.gpu_count,
            region=info.params["region"],
            term="on_demand",
            state="priced",
            price_per_hour=price("price_usd", fields["price_usd"]),
            effective_from=seen,
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return provider and region."""
    found = cast(PriceRow, row)
    return f"{found.provider}:{found.region}"
