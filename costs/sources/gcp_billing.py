"""Google's Cloud Billing Catalog: the prices of machines with GPUs, put together from their SKUs.

A line is one SKU. The SKU of a GPU carries the machines with that GPU in its regions; the SKUs of cores,
memory and local SSD are parts of those sums and give no price of their own.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO

import msgspec

from costs.rows import FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .csv_file import RESERVED
from .dates import day_in_name
from .gcp_billing_fetch import NEEDS, fetch
from .gcp_billing_machines import Composed, Offer, Offers, gpus_beside
from .gcp_billing_pages import Document, document_of
from .gcp_billing_skus import Meter, Sku, meter_of, rate_of
from .machines import machine_of

NAME = "gcp_billing"
TITLE = "Google Cloud price list"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = True
TEMPLATE = ""
RIGHTS: tuple[str, ...] = ()  # the key alone: it belongs to a project, not to a person with roles
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(rows=500_000)

_SKU = "sku"
_COMPOSED = RESERVED + "composed"
_CONTRADICTED = RESERVED + "contradicted"
_WANTED = RESERVED + "wanted"  # whether a GPU's SKU makes a machine with this part

__all__ = ["NEEDS", "fetch", "looks_like", "parse", "read", "scope"]


def looks_like(head: str, name: str) -> bool:
    """Return whether the file begins like a page of the catalogue, or like several."""
    return head.lstrip("\ufeff \r\n\t")[:1] in ("{", "[") and all(
        word in head for word in ('"skuId"', '"serviceRegions"', '"pricingInfo"')
    )


def _decoded(text: bytes) -> Sku:
    try:
        return msgspec.json.decode(text, type=Sku)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        shown = text[:200].decode("utf-8", "replace")
        raise RowError("sku", shown, "sku_unreadable", f"a SKU as Google writes it: {error}") from error


def _priced(text: bytes) -> tuple[Sku, Meter, Offer]:
    """Return what a SKU prices, without its line."""
    sku = _decoded(text)
    meter = meter_of(sku)
    return sku, meter, Offer(sku.skuId, 0, rate_of(sku, meter))


def _offers(document: Document) -> Offers:
    """Return what the document's SKUs state; one that is refused states nothing."""
    found = []
    for line, text in document.skus():
        try:
            sku, meter, offer = _priced(text)
        except (RowError, OutOfScope):
            continue
        own = Offer(offer.sku, line, offer.rate)
        found += [(meter, region, own) for region in sku.serviceRegions]
    offers = Offers()
    offers.settle(found)
    return offers


def _extra(offers: Offers, line: int, text: bytes) -> dict[str, str]:
    """Return what the other SKUs of the document say about this one."""
    if line in offers.contradicted:
        return {_CONTRADICTED: offers.contradicted[line]}
    try:
        sku, meter, _ = _priced(text)
    except (RowError, OutOfScope):
        return {}  # refused for the same reason when it is parsed
    if meter.resource.startswith("GPU"):
        composed = offers.composed(meter, line, sku.serviceRegions)
        return {_COMPOSED: msgspec.json.encode(composed).decode()}
    wanted = any(
        (Meter(resource, meter.term), region) in offers.by_place
        for resource in gpus_beside(meter.resource)
        for region in sku.serviceRegions
    )
    return {_WANTED: "1"} if wanted else {}


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the SKUs, each GPU's with its machines. The file is of the day in its name, or in its prices."""
    document = document_of(file, name, limits)
    offers = _offers(document)
    lines = (
        RawLine(line, {_SKU: text.decode(), **_extra(offers, line, text)}) for line, text in document.skus()
    )
    as_of = day_in_name(name) or _newest(offers)
    return FileInfo(as_of, {"is_whole": "1" if document.is_whole else ""}), lines


def _newest(offers: Offers) -> datetime | None:
    moments = (offer.rate.effective_from for offer in offers.by_place.values())
    return max((moment for moment in moments if moment), default=None)


def _row(composed: Composed) -> PriceRow:
    machine = machine_of("gcp", composed.machine)
    if machine is None:
        raise TypeError(f"the machine table lost {composed.machine}")
    return PriceRow(
        provider="gcp",
        sku=machine.name,
        accelerator_name=machine.accelerator,
        gpu_count=machine.gpu_count,
        region=composed.region,
        term=composed.term,
        # a resource commitment is billed month by month
        payment="no_upfront" if composed.term.startswith("reserved") else "",
        state="unknown" if composed.per_hour is None else "priced",
        state_reason=composed.reason[:200],
        price_per_hour=composed.per_hour,
        effective_from=composed.effective_from,
        currency=composed.currency,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        reference=f"Cloud Billing Catalog, SKUs {', '.join(composed.skus)}",
    )


def _refuse_part(fields: Mapping[str, str], description: str) -> OutOfScope:
    if _WANTED in fields:
        expected = "its price is added to that of the GPUs, whose SKU gives the whole machine"
        return OutOfScope("part_of_machine", "description", description, expected)
    expected = "a SKU of the GPUs of its machines in one of its regions: there is no sum without one"
    return OutOfScope("part_missing", "description", description, expected)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the machines of a GPU's SKU, those without a sum as unknown; refuse every other SKU by name."""
    fields = raw.fields
    sku, meter, _ = _priced(fields[_SKU].encode())
    if _CONTRADICTED in fields:
        raise RowError(
            "unitPrice",
            sku.skuId,
            "two_prices_for_one_resource",
            f"one price of {meter.resource} per region; {fields[_CONTRADICTED]} states another",
        )
    if not meter.resource.startswith("GPU"):
        raise _refuse_part(fields, sku.description)
    composed = msgspec.json.decode(fields[_COMPOSED], type=list[Composed])
    if not composed:
        raise OutOfScope("repeated_sku", "skuId", sku.skuId, "each meter and region once in the document")
    if all(each.per_hour is None for each in composed):
        reasons = sorted({each.reason for each in composed})
        raise OutOfScope("part_missing", "description", sku.description, f"its machines whole: {reasons[0]}")
    return [_row(each) for each in composed]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider. A list of which pages are missing replaces only what such a list gave before."""
    return "gcp" if info.params["is_whole"] else "gcp:part"
