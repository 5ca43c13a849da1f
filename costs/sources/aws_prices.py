"""The AWS price list: on-demand prices and reservations of machines with accelerators.

One parser for four layouts, told apart by their content: the bulk offer file as JSON or CSV, saved or
fetched GetProducts answers, and one product out of such an answer. Amounts stay decimal from the text to the
table: us-east-1 and us-west-2 differ in the sixth place of some of them.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileInfo, PriceRow, RawLine, Row, RowError

from .aws_csv import read_csv
from .aws_facts import REGION_BY_LOCATION, accelerator_of
from .aws_fetch import NEEDS, RIGHT, fetch_products
from .aws_filters import OFFER, RULE, check_product
from .aws_json import TERMS, check_readable, read_json
from .aws_offers import EC2, offer_files
from .aws_savings_plans_layouts import is_offer_json
from .aws_terms import Rate, decode_terms, rates
from .aws_terms_joined import check_joined
from .byte_stream import Limits, blocks_of_text
from .csv_file import complete
from .decimals import optional_number
from .words import words

NAME = "aws_prices"
TITLE = "AWS price list"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 2
SUFFIXES = (".json", ".json.gz", ".csv", ".csv.gz")
# each may hold several words between commas
PARAMS: tuple[str, ...] = ("region", "instance_types")
HAS_NETWORK = True
TEMPLATE = ""
RIGHTS: tuple[str, ...] = (RIGHT,)  # for `instance_types` alone: the lists of whole regions are public
WHOLE = False
INCREMENTAL = False

# an offer file has gigabytes and millions of lines
LIMITS = Limits(total_bytes=16 << 30, rows=20_000_000)
_GIB = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})*|[0-9]+)(\.[0-9]+)? GiB")

__all__ = ["NEEDS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file that begins so is an AWS price list, or an index of such lists."""
    start = head.lstrip("\ufeff \r\n\t")
    if start.startswith(("FormatVersion,", '"FormatVersion",')):
        return "OfferTermCode" in head
    return start.startswith(("{", "[")) and (
        '"PriceList"' in head
        or ('"offerCode"' in head and '"publicationDate"' in head and not is_offer_json(head))
        or ('"product"' in head and '"terms"' in head and '"instanceType"' in head)
        or '"/offers/v1.0/' in head
    )


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the lists of whole regions, a file each; with `instance_types` answers about these alone."""
    if words(params.get("instance_types", "")):
        yield from fetch_products(params, now)
    else:
        yield from offer_files(EC2, "aws_offer_AmazonEC2", params, now)


def _is_json(file: BinaryIO, name: str, limits: Limits) -> bool:
    head = next(blocks_of_text(file, name, limits))
    return head.lstrip()[:1] in (b"{", b"[")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return what the list says of itself, and its products or rates."""
    offer = read_json(file, name, limits) if _is_json(file, name, limits) else read_csv(file, name, limits)
    only = "+".join(sorted(words(params.get("instance_types", "") or offer.only)))
    return FileInfo(
        offer.published, {"offer": offer.code, "version": offer.version, "only": only}
    ), offer.lines


def _accelerator(fields: Mapping[str, str]) -> tuple[str, Decimal]:
    machine = fields["instanceType"]
    part = accelerator_of(machine)
    if part is None:
        raise RowError(
            "instanceType",
            machine,
            "family_unknown",
            "a family whose accelerator is known; add it to the facts",
        )
    count = optional_number("gpu", fields.get("gpu", ""))
    if count is None:
        raise RowError("gpu", "", "empty", f"how many accelerators {machine} holds")
    return part, count


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
