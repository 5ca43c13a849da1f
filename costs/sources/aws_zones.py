"""What one AWS account calls each availability zone, and the zone's own id.

AWS shuffles the names per account: us-east-1a of one firm may be us-east-1c of another. Prices and capacity
that are stated by name can be joined with those stated by id through this list alone, and only by that
account's own.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO

import msgspec

from costs.rows import FileError, FileInfo, RawLine, Row, RowError, ZoneRow

from .aws_ec2 import REGIONS, account_of, checked_account, flat, read_whole, zones_in
from .byte_stream import Limits
from .words import words

NAME = "aws_zones"
TITLE = "AWS availability zones"
KIND = "zones"
MODE = "series"
CADENCE: timedelta | None = timedelta(days=92)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region", "account")
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = (
    "AWS keys with ec2:DescribeAvailabilityZones and sts:GetCallerIdentity; they unlock the joining of what"
    " is stated by zone name with what is stated by zone id"
)
RIGHTS = ("ec2:DescribeAvailabilityZones", "sts:GetCallerIdentity")
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(total_bytes=64 << 20, rows=100_000)

_EXPECTED = 'an answer of "aws ec2 describe-availability-zones": an object with AvailabilityZones'


class _Document(msgspec.Struct):
    AvailabilityZones: list[msgspec.Raw]
    Account: str = ""


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is a list of zones; answers about spot prices may hold one too."""
    return '"AvailabilityZones"' in head and '"ZoneId"' in head and '"SpotPriceHistory"' not in head


def _document(region: str) -> Iterator[bytes]:
    account = account_of(region, NEEDS)
    yield f'{{"Account": {json.dumps(account)}, "AvailabilityZones": [\n'.encode()
    yield ",\n".join(json.dumps(zone) for zone in zones_in(region, NEEDS)).encode()
    yield b"\n]}\n"


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the zones of each region as one file."""
    for region in words(params.get("region", "") or REGIONS):
        yield f"aws_zones_{region}_{now:%Y-%m-%d}.json", _document(region)


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the zones; refuse a list that does not say whose names it holds."""
    try:
        document = msgspec.json.decode(read_whole(file, name, limits), type=_Document)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", _EXPECTED, value=str(error)) from error
    account = document.Account or params.get("account", "").strip()
    if not account:
        expected = "the parameter account: zone names mean something within one account only"
        raise FileError("account_missing", expected, column="account")

    def lines() -> Iterator[RawLine]:
        for number, record in enumerate(document.AvailabilityZones, 1):
            try:
                yield RawLine(number, flat(bytes(record)))
            except (msgspec.MsgspecError, RecursionError, UnicodeError):
                yield RawLine(number, {})

    return FileInfo(None, {"account": checked_account(account)}), lines()


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return what the account calls one zone."""
    for column in ("RegionName", "ZoneName", "ZoneId"):
        if not raw.fields.get(column):
            raise RowError(column, "", "empty", f"a zone with its {column}")
    return [
        ZoneRow(
            provider="aws",
            account=info.params["account"],
            region=raw.fields["RegionName"],
            zone_name=raw.fields["ZoneName"],
            zone_id=raw.fields["ZoneId"],
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the account: names mean something within one only."""
    return info.params["account"]
