"""Spot prices of AWS per zone, as its price history states them: observations of a step function.

AWS gives a row when a price changes and, about once a day, when it does not. Rows come newest first, and the
first of a window may lie before its start.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import BinaryIO

from costs.rows import FileInfo, OutOfScope, RawLine, Row, RowError, SpotPriceRow

from .aws_ec2 import checked_account
from .aws_spot_history_fetch import NEEDS, RIGHTS, fetch
from .aws_spot_history_files import BROKEN, COLUMNS, ZONE_ID, open_history
from .aws_spot_history_types import check_accelerated
from .aws_spot_history_zones import looks_like_zone, place_of
from .byte_stream import Limits
from .csv_file import RESERVED, complete
from .dates import moment
from .decimals import price

NAME = "aws_spot_history"
TITLE = "AWS spot price history"
KIND = "spot_prices"
MODE = "steps"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
# each of the first three may hold several words between commas
PARAMS: tuple[str, ...] = ("region", "instance_types", "products", "starts_on", "account")
HAS_NETWORK = True
TEMPLATE = (
    "Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n"
    "2026-11-30T13:00:00+00:00,us-east-1a,p5.48xlarge,Linux/UNIX,21.500000\n"
)
WHOLE = False
INCREMENTAL = True
LIMITS = Limits(total_bytes=256 << 20, rows=2_000_000)

_VPC = " (Amazon VPC)"
_CLASSIC = RESERVED + "ec2 classic"

__all__ = ["NEEDS", "RIGHTS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is a spot price history, in any of its layouts."""
    if '"SpotPriceHistory"' in head:
        return True
    first = head.lstrip("\ufeff").split("\n", 1)[0].strip()
    if "\t" in first:
        values = first.split("\t")
        return len(values) == len(COLUMNS) and looks_like_zone(values[0])
    return set(COLUMNS) <= {cell.strip() for cell in first.split(",")}


def _series(fields: Mapping[str, str]) -> tuple[str, ...]:
    product = fields.get("ProductDescription", "").removesuffix(_VPC)
    return fields.get("AvailabilityZone", ""), fields.get("InstanceType", ""), product


def _survey(lines: Iterable[RawLine]) -> tuple[datetime | None, set[tuple[str, ...]]]:
    """Return the newest moment of a file, and the series that it also states for VPCs by name."""
    newest: datetime | None = None
    in_vpc: set[tuple[str, ...]] = set()
    for raw in lines:
        # a row with a wrong moment is refused by its number when it is parsed
        with suppress(RowError):
            at = moment("Timestamp", raw.fields.get("Timestamp", ""))
            newest = at if newest is None else max(newest, at)
        if raw.fields.get("ProductDescription", "").endswith(_VPC):
            in_vpc.add(_series(raw.fields))
    return newest, in_vpc


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the rows. The file is as of its newest price, however late it is loaded.

    Until 2022 AWS stated two prices for a type: with "(Amazon VPC)" for machines as they are now, without it
    for those of EC2-Classic. Where a file has both for a series, the plain ones are marked.
    """
    history = open_history(file, name, limits)
    account = history.account or params.get("account", "").strip()
    newest, in_vpc = _survey(history.lines())

    def lines() -> Iterator[RawLine]:
        for raw in history.lines():
            fields = raw.fields
            is_plain = not fields.get("ProductDescription", "").endswith(_VPC)
            if in_vpc and is_plain and _series(fields) in in_vpc:
                yield RawLine(raw.line, {**fields, _CLASSIC: "yes"})
            else:
                yield raw

    return FileInfo(newest, {"account": checked_account(account)}), lines()


def _check(raw: RawLine) -> Mapping[str, str]:
    if BROKEN in raw.fields:
        raise RowError("(record)", raw.fields[BROKEN], "record_unreadable", "an object of texts")
    fields = complete(raw)
    for column in COLUMNS:
        if not fields.get(column):
            raise RowError(column, "", "empty", f"a row with its {column}")
    check_accelerated("InstanceType", fields["InstanceType"])
    if _CLASSIC in fields:
        product = fields["ProductDescription"]
        raise OutOfScope("ec2_classic", "ProductDescription", product, "a price for machines in a VPC")
    return fields


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one observation of a price."""
    fields = _check(raw)
    column = ZONE_ID if fields.get(ZONE_ID) else "AvailabilityZone"
    region, kind = place_of(column, fields[column])
    return [
        SpotPriceRow(
            provider="aws",
            sku=fields["InstanceType"],
            region=region,
            zone=fields[column],
            zone_kind=kind,
            account=info.params["account"] if kind == "name" else "",
            product=fields["ProductDescription"].removesuffix(_VPC),
            observed_at=moment("Timestamp", fields["Timestamp"]),
            price_per_hour=price("SpotPrice", fields["SpotPrice"]),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the region: histories are asked for, and continued, region by region."""
    if not isinstance(row, SpotPriceRow):
        raise TypeError(f"{NAME} yields spot prices, not {type(row).__name__}")
    return row.region
