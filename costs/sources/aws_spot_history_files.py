"""The three layouts that AWS spot price histories come in, each as lines with one set of column names.

Saved answers of DescribeSpotPriceHistory as JSON, their rows as CSV under the same names, and rows without a
header between tabs: zone, type, product, price, moment. Zones are names in the first two, ids in the last.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from costs.rows import FileError, RawLine

from .aws_ec2 import flat, read_whole
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, RESERVED, decode, open_table, text_lines

COLUMNS = ("AvailabilityZone", "InstanceType", "ProductDescription", "SpotPrice", "Timestamp")
ZONE_ID = "AvailabilityZoneId"
BROKEN = RESERVED + "broken"  # why one record could not be read
_EXPECTED = 'an answer of "aws ec2 describe-spot-price-history": an object with SpotPriceHistory'


@dataclass(frozen=True)
class History:
    """The rows of a file, which can be gone through more than once, and whose zone names they use."""

    lines: Callable[[], Iterator[RawLine]]
    account: str = ""


class _Zone(msgspec.Struct):
    ZoneName: str = ""
    ZoneId: str = ""


class _Document(msgspec.Struct):
    SpotPriceHistory: list[msgspec.Raw]
    AvailabilityZones: list[_Zone] = []
    Account: str = ""


def _record(number: int, record: bytes, ids: Mapping[str, str]) -> RawLine:
    """Return one row; its zone gets the id that the same account's list of zones gives it."""
    try:
        fields = flat(record)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {BROKEN: f"{error}: {record[:200]!r}"})
    zone_id = ids.get(fields.get("AvailabilityZone", ""), "")
    return RawLine(number, {ZONE_ID: zone_id, **fields} if zone_id else fields)


def _json(file: BinaryIO, name: str, limits: Limits) -> History:
    try:
        document = msgspec.json.decode(read_whole(file, name, limits), type=_Document)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", _EXPECTED, value=str(error)) from error
    if len(document.SpotPriceHistory) > limits.rows:
        raise FileError("too_many_rows", f"at most {limits.rows:,} rows")
    ids = {zone.ZoneName: zone.ZoneId for zone in document.AvailabilityZones if zone.ZoneId}

    def lines() -> Iterator[RawLine]:
        for number, record in enumerate(document.SpotPriceHistory, 1):
            yield _record(number, bytes(record), ids)

    return History(lines, document.Account)


def _tabbed(file: BinaryIO, name: str, limits: Limits) -> History:
    def lines() -> Iterator[RawLine]:
        for number, line in enumerate(text_lines(blocks_of_text(file, name, limits), limits), 1):
            text = decode(line, number).rstrip("\r\n")
            if not text:
                continue
            if number > limits.rows:
                raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=number)
            values = text.split("\t")
            fields = dict(zip(COLUMNS, values, strict=False))
            if len(values) != len(COLUMNS):
                fields[FIELD_COUNT] = f"{len(values)}, layout {len(COLUMNS)}"
            yield RawLine(number, fields)

    return History(lines)


def open_history(file: BinaryIO, name: str, limits: Limits) -> History:
    """Return the rows of a file in whichever of the layouts it is."""
    head = next(blocks_of_text(file, name, limits))
    if head.lstrip()[:1] in (b"{", b"["):
        return _json(file, name, limits)
    if b"\t" in head.split(b"\n", 1)[0]:
        return _tabbed(file, name, limits)
    open_table(file, name, COLUMNS, limits=limits)  # a wrong header is said before anything is read
    return History(lambda: open_table(file, name, COLUMNS, limits=limits).lines)
