"""The AWS price list: on-demand prices and standard reservations of machines with accelerators.

One parser for three layouts, told apart by their content: the bulk offer file as JSON or CSV, and saved or
fetched GetProducts answers. Amounts stay decimal from the text to the table: us-east-1 and us-west-2 differ
in the sixth place of some of them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileInfo, PriceRow, RawLine, Row, RowError

from .aws_csv import check_joined, read_csv
from .aws_facts import ACCELERATOR_BY_FAMILY, REGION_BY_LOCATION
from .aws_fetch import fetch
from .aws_filters import OFFER, RULE, check_product
from .aws_json import TERMS, check_readable, read_json
from .aws_terms import Rate, decode_terms, rates
from .byte_stream import Limits, blocks_of_text
from .csv_file import complete
from .decimals import optional_number
from .words import words

NAME = "aws_prices"
TITLE = "AWS price list"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz")
# each may hold several words between commas
PARAMS: tuple[str, ...] = ("region", "instance_types")
HAS_NETWORK = True
TEMPLATE = ""

# an offer file has gigabytes and millions of lines
LIMITS = Limits(total_bytes=16 << 30, rows=20_000_000)
_GIB = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})*|[0-9]+)(\.[0-9]+)? GiB")

__all__ = ["fetch", "parse", "read", "scope"]


def _is_json(file: BinaryIO, name: str, limits: Limits) -> bool:
    head = next(blocks_of_text(file, name, limits))
    return head.lstrip()[:1] in (b"{", b"[")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the list says of itself, and its products or rates."""
    offer = read_json(file, name, limits) if _is_json(file, name, limits) else read_csv(file, name, limits)
    only = "+".join(sorted(words(params.get("instance_types", ""))))
    return FileInfo(
        offer.published, {"offer": offer.code, "version": offer.version, "only": only}
    ), offer.lines


def _accelerator(fields: Mapping[str, str]) -> tuple[str, Decimal]:
    machine = fields["instanceType"]
    family = machine.partition(".")[0]
    if family not in ACCELERATOR_BY_FAMILY:
        raise RowError(
            "instanceType",
            machine,
            "family_unknown",
            "a family whose accelerator is known; add it to the facts",
        )
    count = optional_number("gpu", fields.get("gpu", ""))
    if count is None:
        raise RowError("gpu", "", "empty", f"how many accelerators {machine} holds")
    return ACCELERATOR_BY_FAMILY[family], count


def _region(fields: Mapping[str, str]) -> str:
    location = fields.get("location", "")
    region = fields.get("regionCode") or REGION_BY_LOCATION.get(location, "")
    if not region:
        raise RowError(
            "regionCode", location, "region_unknown", "a region code, or a location whose code is known"
        )
    return region


def _memory_gib(text: str) -> Decimal | None:
    """Return the memory of "1,952 GiB"; AWS writes NA where it does not say."""
    match = _GIB.fullmatch(text)
    return Decimal(match[1].replace(",", "") + (match[2] or "")) if match else None


def _row(fields: Mapping[str, str], info: FileInfo, rate: Rate) -> PriceRow:
    part, count = _accelerator(fields)
    vcpu = fields.get("vcpu", "")
    return PriceRow(
        provider="aws",
        sku=fields["instanceType"],
        accelerator_name=part,
        gpu_count=count,
        region=_region(fields),
        term=rate.term,
        state="priced",
        price_per_hour=rate.per_hour,
        effective_from=rate.effective_from,
        payment=rate.payment,
        upfront=rate.upfront,
        currency=rate.currency,
        vcpus=None if vcpu == "NA" else optional_number("vcpu", vcpu),
        memory_gib=_memory_gib(fields.get("memory", "")),
        reference=f"AWS Price List, {OFFER} {info.params['version']}, SKU {fields['sku']}",
    )


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return every price of a product, or the one price of a line of the CSV layout."""
    if RULE not in raw.fields:
        check_readable(raw.fields)
        complete(raw)
    check_product(raw.fields, info.params["offer"])
    check_joined(raw)
    try:
        return [_row(raw.fields, info, rate) for rate in rates(decode_terms(raw.fields[TERMS]))]
    except RowError as error:
        sku = raw.fields.get("sku", "")
        raise RowError(
            f"{error.column} of SKU {sku}"[:120], error.value, error.rule, error.expected
        ) from error


def scope(row: Row, info: FileInfo) -> str:
    """Return offer and region: a new list replaces the prices of the regions that it covers.

    An answer that was asked for some instance types only replaces what the same question gave before.
    """
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    only = info.params["only"]
    return f"{OFFER}:{row.region}" + (f":{only}" if only else "")
