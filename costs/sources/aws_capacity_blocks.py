"""List rates of Capacity Blocks for ML, as a public scraper saves the page of AWS as JSON.

A rate is that of the whole instance or UltraServer for one hour. The page also gives the rate of one
accelerator, and the two must agree: some editions of the file give an UltraServer of 72 accelerators the
rate of one, which would be a seventieth of its price.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

import msgspec

from costs.rows import FileError, FileInfo, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .dates import moment
from .decimals import number, price
from .json_records import BROKEN, decode, flat, readable, text_of, whole_text
from .machines import machine_of

NAME = "aws_capacity_blocks"
TITLE = "AWS Capacity Blocks, list rates"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=31)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = True
INCREMENTAL = False
LIMITS = Limits(total_bytes=16 << 20, rows=100_000)

_EXPECTED = "metadata with last_updated, and instance_types with accelerator_count and pricing"
# what the page rounds or cuts off a rate of one accelerator: it writes three decimals
_ROUNDED = Decimal("0.001")
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]")
# us-east-1-dfw-2a is a zone of the Local Zone us-east-1-dfw-2, which price lists write as a region
_LOCAL_ZONE = re.compile(r"([a-z]{2}(?:-[a-z]+)+-[0-9]-[a-z]+-[0-9])[a-z]")


class _Type(msgspec.Struct):
    pricing: list[msgspec.Raw]
    accelerator_type: str = ""
    accelerator_count: msgspec.Raw = msgspec.Raw(b"null")


class _File(msgspec.Struct):
    metadata: dict[str, msgspec.Raw]
    instance_types: dict[str, msgspec.Raw]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is the scraped list of Capacity Block rates."""
    return '"instance_types"' in head and '"accelerator_hourly_rate_usd"' in head


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: AWS publishes the list as a web page only."""
    raise FileError("no_fetch", "a file with the list rates: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the rates, one line for each machine and region; the file states when the page was read."""
    found = decode(whole_text(file, name, limits), _File, _EXPECTED)
    stated = text_of(found.metadata.get("last_updated", msgspec.Raw(b"null")))
    try:
        as_of = moment("last_updated", stated)
    except RowError as error:
        raise FileError(error.rule, error.expected, column="last_updated", value=stated) from error

    def lines() -> Iterator[RawLine]:
        count = 0
        for machine, record in found.instance_types.items():
            for fields in _rates(record):
                count += 1
                yield RawLine(count, {"instance_type": machine, **fields})

    source_url = text_of(found.metadata.get("source_url", msgspec.Raw(b"null")))
    return FileInfo(as_of, {"source_url": source_url}), lines()


def _rates(record: msgspec.Raw) -> Iterator[dict[str, str]]:
    """Yield the rates of one machine; one that has none, or cannot be read, is a line that says so."""
    try:
        machine = msgspec.json.decode(record, type=_Type)
        held = {
            "accelerator_type": machine.accelerator_type,
            "accelerator_count": text_of(machine.accelerator_count),
        }
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        yield {BROKEN: f"{error}"}
        return
    if not machine.pricing:
        yield {BROKEN: "no rates in pricing"}
    for rate in machine.pricing:
        yield {**flat(rate), **held}


def _place(fields: Mapping[str, str]) -> tuple[str, str]:
    """Return region and zone; Local Zones are given by a zone of theirs."""
    code = fields.get("region_code", "")
    local = _LOCAL_ZONE.fullmatch(code)
    if local:
        return local[1], code
    if not _REGION.fullmatch(code):
        shown = " ".join(fields.get("region", "").split())
        raise RowError(
            "region_code",
            f"{code} ({shown})",
            "region_unknown",
            "the code of a region or of a Local Zone's zone",
        )
    return code, ""


def _check_agreement(fields: Mapping[str, str], count: Decimal, rate: Decimal) -> None:
    """Refuse a rate that is not `count` times the rate of one accelerator beside it."""
    text = fields.get("accelerator_hourly_rate_usd", "")
    if text and abs(rate / count - number("accelerator_hourly_rate_usd", text)) > _ROUNDED:
        raise RowError(
            "hourly_rate_usd",
            f"{fields['hourly_rate_usd']} for {count} accelerators at {text}",
            "rate_contradicts_accelerator_rate",
            f"{count} times the rate of one accelerator: {fields['hourly_rate_usd']} may be that of one",
        )


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the rate of one machine in one region."""
    fields = readable(raw)
    rate = price("hourly_rate_usd", fields.get("hourly_rate_usd", ""))
    count = number("accelerator_count", fields.get("accelerator_count", ""))
    if not 0 < count <= 1024:
        raise RowError("accelerator_count", count, "gpu_count_out_of_bounds", "1 to 1024")
    _check_agreement(fields, count, rate)
    region, zone = _place(fields)
    machine = machine_of("aws", fields["instance_type"])
    return [
        PriceRow(
            provider="aws",
            sku=fields["instance_type"],
            accelerator_name=machine.accelerator_name if machine else fields["accelerator_type"],
            gpu_count=count,
            region=region,
            zone=zone,
            term="capacity_block",
            payment="all_upfront",
            state="priced",
            price_per_hour=rate,
            vcpus=machine.vcpus if machine else None,
            memory_gib=machine.memory_gib if machine else None,
            reference=info.params["source_url"][:400],
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the one scope: the page lists every rate there is."""
    return "list"
