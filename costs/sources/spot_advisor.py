"""What AWS publishes about interruptions of spot machines: a band per machine type, region and system.

A band is the share of machines that were interrupted in the month before; it is no hazard rate. Each entry
names its band by `r`, an index into `ranges`, and the saving against on demand by `s`, in whole percent.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

import msgspec

from costs import egress
from costs.rows import FileError, FileInfo, InterruptionRow, RawLine, Row, RowError

from .aws_ec2 import flat, read_whole
from .aws_spot_history_types import check_accelerated
from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import day_in_name

NAME = "spot_advisor"
TITLE = "AWS spot advisor"
KIND = "interruptions"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = ""  # the file is public
RIGHTS: tuple[str, ...] = ()
WHOLE = True
INCREMENTAL = False
LIMITS = Limits(total_bytes=128 << 20, rows=500_000)
ADDRESS = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"

_BROKEN = RESERVED + "broken"
_LABEL = RESERVED + "label"
_EXPECTED = "the file of AWS's spot advisor: an object with ranges and spot_advisor"
# "<5%", "5-10%", ">20%". The `max` beside each label says 5, 11, 16, 22 and 100: the labels are what is shown
_BELOW = re.compile(r"<([0-9]{1,3})%")
_BETWEEN = re.compile(r"([0-9]{1,3})-([0-9]{1,3})%")
_ABOVE = re.compile(r">([0-9]{1,3})%")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,3}")


class _Range(msgspec.Struct):
    index: int
    label: str


class _Document(msgspec.Struct):
    ranges: list[_Range]
    spot_advisor: dict[str, dict[str, dict[str, msgspec.Raw]]]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is the advisor's; its parts stand in any order."""
    return '"spot_advisor"' in head or ('"instance_types"' in head and '"ram_gb"' in head and '"emr"' in head)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the public file. Its name states no date, since the file does not: it is as of now."""
    yield "spot-advisor-data.json", egress.get(ADDRESS)


def shares(label: str) -> tuple[Decimal, Decimal | None] | None:
    """Return the shares that a band lies between, None for the end of the highest; None if unreadable.

    >>> shares("5-10%")
    (Decimal('0.05'), Decimal('0.1'))
    """
    if match := _BELOW.fullmatch(label):
        return Decimal(0), Decimal(match[1]) / 100
    if match := _BETWEEN.fullmatch(label):
        return Decimal(match[1]) / 100, Decimal(match[2]) / 100
    if match := _ABOVE.fullmatch(label):
        return Decimal(match[1]) / 100, None
    return None


def _labels(ranges: list[_Range]) -> dict[int, str]:
    labels = {each.index: each.label for each in ranges}
    if not labels or len(labels) != len(ranges) or any(shares(label) is None for label in labels.values()):
        shown = ", ".join(each.label for each in ranges)
        raise FileError("ranges_wrong", "bands such as <5%, 5-10% and >20%", column="ranges", value=shown)
    return labels


def _line(number: int, where: Mapping[str, str], entry: bytes, labels: Mapping[int, str]) -> RawLine:
    try:
        fields = flat(entry)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {**where, _BROKEN: f"{error}: {entry[:200]!r}"})
    index = fields.get("r", "")
    label = labels.get(int(index), "") if _WHOLE_NUMBER.fullmatch(index) else ""
    return RawLine(number, {**fields, **where, _LABEL: label})


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return one line per machine type, system and region, in the file's order."""
    try:
        document = msgspec.json.decode(read_whole(file, name, limits), type=_Document)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", _EXPECTED, value=str(error)) from error
    labels = _labels(document.ranges)

    def lines() -> Iterator[RawLine]:
        number = 0
        for region, systems in document.spot_advisor.items():
            for system, types in systems.items():
                for instance_type, entry in types.items():
                    number += 1
                    if number > limits.rows:
                        raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=number)
                    where = {"region": region, "product": system, "type": instance_type}
                    yield _line(number, where, bytes(entry), labels)

    return FileInfo(day_in_name(name), {}), lines()


def _saving(fields: Mapping[str, str]) -> Decimal | None:
    """Return the saving against on demand. It is below zero where spot costs more, which happens."""
    text = fields.get("s", "")
    if not text:
        return None
    if not _WHOLE_NUMBER.fullmatch(text) or int(text) > 100:
        raise RowError("s", text, "not_a_number", "a saving in whole percent, at most 100")
    return Decimal(text) / 100


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return what is published of one machine type on one system in one region."""
    fields = raw.fields
    if _BROKEN in fields:
        raise RowError("(entry)", fields[_BROKEN], "record_unreadable", "an object with r and s")
    check_accelerated("type", fields["type"])
    label = fields[_LABEL]
    bounds = shares(label)
    if bounds is None:
        raise RowError("r", fields.get("r", ""), "band_unknown", "the index of one of the ranges")
    return [
        InterruptionRow(
            provider="aws",
            sku=fields["type"],
            region=fields["region"],
            product=fields["product"],
            band=int(fields["r"]),
            band_label=label,
            share_low=bounds[0],
            share_high=bounds[1],
            saving_share=_saving(fields),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the region: a new file replaces what was published of each region that it names."""
    if not isinstance(row, InterruptionRow):
        raise TypeError(f"{NAME} yields interruptions, not {type(row).__name__}")
    return row.region
