"""Take a list of ec2instances.info apart: a line for each platform of each machine in each region."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from costs.rows import FileError, RawLine

from .byte_stream import Limits
from .csv_file import RESERVED
from .json_records import BROKEN, decode, flat

FULL: Literal["full"] = "full"
REDUCED: Literal["reduced"] = "reduced"
REGION = RESERVED + "region"
PLATFORM = RESERVED + "platform"
PRICES = RESERVED + "prices"
NOWHERE = "no region"  # a machine that the list names without any

PLANS_APART = "apart"
PLANS_MIXED = "mixed"
_EXPECTED = "machines with instance_type and pricing, as instances.json has them, or with apiName and pricing"
_INSTANCE_PLAN = b"InstanceSavings."
_PROBED = 100


@dataclass(frozen=True)
class List:
    """What kind of list the file is, and its lines."""

    layout: Literal["full", "reduced"]
    # Until July 2026 the list kept the rates of Compute and of EC2 Instance savings plans under one key, and
    # whichever came last stayed. Later lists have keys for both.
    # https://github.com/vantage-sh/ec2instances.info/issues/767
    plans: str
    only: str  # the machine type of a file that holds one object
    lines: Iterator[RawLine]


def lines_of(text: bytes, limits: Limits) -> List:
    """Return the lines of a list, or of one machine of it."""
    is_one = text.lstrip()[:1] == b"{"
    records = [msgspec.Raw(text)] if is_one else decode(text, list[msgspec.Raw], _EXPECTED)
    layout = _layout(records)
    only = flat(records[0]).get("instance_type" if layout == FULL else "apiName", "") if is_one else ""
    plans = PLANS_APART if _INSTANCE_PLAN in text else PLANS_MIXED
    return List(layout, plans, only, _numbered(records, layout, limits))


def _layout(records: list[msgspec.Raw]) -> Literal["full", "reduced"]:
    for record in records[:_PROBED]:
        fields = flat(record)
        if "instance_type" in fields and "pricing" in fields:
            return FULL
        if ("apiName" in fields or "gpuCount" in fields) and "pricing" in fields:
            return REDUCED
    raise FileError("json_wrong", _EXPECTED, value=str(sorted(flat(records[0])))[:200] if records else "[]")


def _numbered(records: list[msgspec.Raw], layout: str, limits: Limits) -> Iterator[RawLine]:
    count = 0
    for record in records:
        for fields in _split(flat(record), layout):
            count += 1
            if count > limits.rows:
                raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=count)
            yield RawLine(count, fields)


def _split(fields: dict[str, str], layout: str) -> Iterator[Mapping[str, str]]:
    """Yield the fields of a machine with each of its prices; what has no price is a line as well."""
    if BROKEN in fields:
        yield fields
        return
    text = fields.pop("pricing", "")
    # a list writes 0 or nothing for a machine without prices
    regions = flat(text.encode()) if text not in ("", "0") else {}
    if BROKEN in regions:
        yield {**fields, BROKEN: f"pricing: {regions[BROKEN]}"}
        return
    if not regions:
        yield {**fields, REGION: NOWHERE}
    for region, prices in regions.items():
        if layout == REDUCED:
            yield {**fields, REGION: region, PRICES: prices}
        else:
            yield from _platforms({**fields, REGION: region}, prices)


def _platforms(fields: dict[str, str], prices: str) -> Iterator[Mapping[str, str]]:
    platforms = flat(prices.encode() or b"{}")
    if BROKEN in platforms:
        yield {**fields, BROKEN: f"pricing of {fields[REGION]}: {platforms[BROKEN]}"}
        return
    if not platforms:
        yield fields
    for platform, found in platforms.items():
        yield {**fields, PLATFORM: platform, PRICES: found}
