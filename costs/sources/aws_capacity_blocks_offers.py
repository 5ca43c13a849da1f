"""Capacity Blocks that AWS offers to an account now: when they start, how long they last, what they cost.

AWS offers a block for one price that is due at once. It moves with demand, and an offer lasts for minutes
only, so each is kept as the quote that it was.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, BinaryIO, cast

from costs.rows import PRICE_STEP, FileError, FileInfo, OutOfScope, QuoteRow, RawLine, Row, RowError

from .aws_commitments_fetch import Question, saved
from .aws_commitments_json import EMPTY, Document, at, check_answered, needed, read_lists
from .aws_ec2 import REGIONS
from .byte_stream import Limits
from .dates import day, midnight
from .decimals import number, to_step
from .json_records import readable
from .machines import machine_of
from .words import words

NAME = "aws_capacity_block_offers"
TITLE = "AWS Capacity Blocks on offer"
KIND = "quotes"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region", "instance_types", "instance_count", "duration_hours", "as_of")
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = (
    "AWS keys with ec2:DescribeCapacityBlockOfferings; they unlock the Capacity Blocks on offer with their"
    " start and price"
)
RIGHTS = ("ec2:DescribeCapacityBlockOfferings",)
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(total_bytes=64 << 20, rows=100_000)

_QUESTION = Question(
    "ec2", "describe_capacity_block_offerings", "ec2:DescribeCapacityBlockOfferings",
    "CapacityBlockOfferings", "NextToken", "aws_capacity_block_offers", NEEDS,
)  # fmt: skip
_TYPES = "p5.48xlarge,p5en.48xlarge,p6-b200.48xlarge"
_EXPECTED = "an answer of aws ec2 describe-capacity-block-offerings"
_LOOKS = re.compile(r'"CapacityBlockOfferings"\s*:\s*\[')
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]+")
_FEE_MOST = Decimal(10**9)
_FEE_STEP = Decimal("0.000001")


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is an answer about Capacity Blocks on offer."""
    return _LOOKS.search(head) is not None


def _whole(params: Mapping[str, str], name: str, otherwise: str) -> list[int]:
    found = words(params.get(name, "")) or words(otherwise)
    if not all(text.isascii() and text.isdigit() and 0 < int(text) < 10_000 for text in found):
        raise FileError("parameter_wrong", "whole numbers above 0", column=name, value=params.get(name, ""))
    return [int(text) for text in found]


def _asked(machine: str, count: int, hours: int) -> dict[str, Any]:
    """Return the question about one kind of block; UltraServers are asked for by another name."""
    what = "Ultraserver" if machine.startswith("u-") else "Instance"
    return {f"{what}Type": machine, f"{what}Count": count, "CapacityDurationHours": hours}


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield what is on offer of each machine for each duration in each region."""
    counts = _whole(params, "instance_count", "1")
    durations = _whole(params, "duration_hours", "24")
    for region in words(params.get("region", "") or REGIONS):
        for machine in words(params.get("instance_types", "") or _TYPES):
            for count in counts:
                for hours in durations:
                    name = f"{_QUESTION.file}_{region}_{count}x_{machine}_{hours}h_{now:%Y-%m-%d}.json"
                    asked = _asked(machine, count, hours)
                    yield name, saved(_QUESTION, region, asked, lambda: "", now)


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the offers; refuse an answer that does not say when it was given."""
    found = read_lists(file, name, {_QUESTION.answer: "offer"}, limits, _EXPECTED)
    as_of, given = found.as_of, params.get("as_of", "").strip()
    if as_of is None and given:
        try:
            as_of = midnight(day("as_of", given))
        except RowError as error:
            raise FileError(error.rule, error.expected, column="as_of", value=given) from error
    if as_of is None:
        expected = (
            "the day of the answer in the file's name (offers_2026-11-30.json) or as the parameter as_of"
        )
        raise FileError("date_missing", expected, column="as_of", value=name)
    region = found.region or params.get("region", "").strip()
    return FileInfo(as_of, {"region": region}, _scopes(found, region)), found.lines


def _scopes(found: Document, region: str) -> tuple[str, ...]:
    """Return the scope of the question, where the answer says what was asked: none on offer is an answer."""
    asked = found.asked
    item = asked.get("InstanceType") or asked.get("UltraserverType")
    count = asked.get("InstanceCount") or asked.get("UltraserverCount")
    if not (found.answered and region and item and count):
        return ()
    return (f"{region}:{count}x {item}:{asked['CapacityDurationHours']} hours",)


def _unit(fields: dict[str, str]) -> tuple[str, Decimal]:
    """Return what a block holds and how many of it."""
    start = "Ultraserver" if fields.get("ultraservertype") else "Instance"
    count = number(f"{start}Count", needed(fields, f"{start}Count"))
    if count <= 0:
        raise RowError(f"{start}Count", count, "count_out_of_bounds", "at least 1")
    return needed(fields, f"{start}Type"), count


def _hours(fields: dict[str, str]) -> Decimal:
    """Return how long a block lasts; AWS states whole hours, and minutes beyond them."""
    hours = number("CapacityBlockDurationHours", needed(fields, "CapacityBlockDurationHours"))
    minutes = number("CapacityBlockDurationMinutes", fields.get("capacityblockdurationminutes") or "0")
    total = hours + minutes / 60
    if total <= 0:
        raise RowError("CapacityBlockDurationHours", total, "duration_out_of_bounds", "above 0")
    return total


def _fee(fields: dict[str, str]) -> Decimal:
    """Return the price of the whole block."""
    text = needed(fields, "UpfrontFee")
    fee = number("UpfrontFee", text)
    if fee == 0:
        raise RowError("UpfrontFee", text, "zero_price", "a fee above 0")
    if not 0 < fee <= _FEE_MOST:
        raise RowError("UpfrontFee", text, "price_out_of_bounds", f"above 0 and at most {_FEE_MOST}")
    return to_step(fee, _FEE_STEP)


def _region(fields: dict[str, str], info: FileInfo) -> str:
    match = _REGION.match(fields.get("availabilityzone", ""))
    region = match[0] if match else info.params["region"]
    if not region or "," in region:
        raise RowError("region", region, "region_unknown", "the parameter region, or a zone in the offer")
    return region


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one offer; its price per hour is the fee over the hours and the machines of the block."""
    if EMPTY in raw.fields:
        raise OutOfScope("none_offered", raw.fields[EMPTY], info.params["region"], "at least one offer")
    check_answered(raw, info.params["region"])
    fields = readable(raw)
    item, count = _unit(fields)
    fee, hours = _fee(fields), _hours(fields)
    machine = machine_of("aws", item)
    if machine is None:
        raise RowError("InstanceType", item, "machine_unknown", "a type of the machine table; add it there")
    return [
        QuoteRow(
            provider="aws",
            quote=needed(fields, "CapacityBlockOfferingId"),
            kind="capacity_block",
            item=item,
            accelerator_name=machine.accelerator_name,
            gpu_count=machine.gpu_count,
            region=_region(fields, info),
            zone=fields.get("availabilityzone", ""),
            units_min=count,
            units_max=count,
            starts_at=at(fields, "StartDate"),
            ends_at=at(fields, "EndDate"),
            term_months=None,
            price_per_hour=to_step(fee / (hours * count), PRICE_STEP),
            price_per_unit=None,
            upfront=fee,
            deposit=None,
            take_or_pay_share=Decimal(1),
            lead_time_days=None,
            warranty_years=None,
            power_w=None,
            currency=fields.get("currencycode", "") or "USD",
            quoted_on=cast(datetime, info.as_of).date(),
            valid_until=None,
            note=f"{hours.normalize():f} hours",
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the question: a new answer to it replaces what was on offer before."""
    found = cast(QuoteRow, row)
    return f"{found.region}:{(found.units_min or Decimal(0)).normalize():f}x {found.item}:{found.note}"
