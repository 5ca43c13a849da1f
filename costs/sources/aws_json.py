"""The two JSON layouts of the AWS price list: the bulk offer file, and saved GetProducts answers.

JSON has no lines worth the name, so a raw line's number is that of the product in the file.
"""

import io
import mmap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, TypeVar

import msgspec

from costs.rows import FileError, RawLine, RowError

from .aws_facts import ACCELERATED_FAMILIES
from .aws_filters import OFFER, RULE
from .byte_stream import Limits, blocks_of_text
from .csv_file import RESERVED
from .dates import moment

TERMS = RESERVED + "terms"
BROKEN = RESERVED + "broken"  # why one product could not be read

# Only products that carry one of these are taken apart: a list of gigabytes has few of them.
NEEDLES = tuple(word.encode() for word in (*ACCELERATED_FAMILIES, "FreeTrial"))
_HELD_BYTES = 512 << 20  # of a packed file, which cannot be mapped


@dataclass(frozen=True)
class Offer:
    """What the file says of itself, and its products."""

    code: str
    version: str
    published: datetime
    lines: Iterator[RawLine]


class _Product(msgspec.Struct):
    sku: str = ""
    productFamily: str = ""
    attributes: dict[str, str] = {}


class _BulkTerms(msgspec.Struct):
    OnDemand: dict[str, msgspec.Raw] = {}
    Reserved: dict[str, msgspec.Raw] = {}


class _BulkFile(msgspec.Struct):
    formatVersion: str
    offerCode: str
    publicationDate: str
    products: dict[str, msgspec.Raw]
    terms: _BulkTerms
    version: str = ""


class _Page(msgspec.Struct):
    PriceList: list[str]
    FormatVersion: str = "aws_v1"
    NextToken: str | None = None


class _Heading(msgspec.Struct):
    publicationDate: str = ""
    version: str = ""
    serviceCode: str = ""


class _Item(_Heading):
    product: _Product = msgspec.field(default_factory=_Product)
    terms: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))


class _Kind(msgspec.Struct):
    """Enough of the outermost object to tell the layouts apart without holding what is inside."""

    products: msgspec.Raw = msgspec.Raw(b"")
    PriceList: msgspec.Raw = msgspec.Raw(b"")


_Buffer = bytes | memoryview
T = TypeVar("T")


def _buffer_of(file: BinaryIO, name: str, limits: Limits) -> _Buffer:
    """Return the text: mapped where the file lies on disk unpacked, else held, which is bounded."""
    if not name.lower().endswith(".gz"):
        next(blocks_of_text(file, name, limits))  # what the first bytes say, and whether it is packed
        try:
            size = file.seek(0, io.SEEK_END)
            if size > limits.total_bytes:
                raise FileError("file_too_large", f"at most {limits.total_bytes:,} bytes")
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            return view[3:] if bytes(view[:3]) == b"\xef\xbb\xbf" else view
        except (OSError, ValueError, io.UnsupportedOperation):
            pass  # a file that is only in memory
    held = bytearray()
    for block in blocks_of_text(file, name, limits):
        held += block
        if len(held) > _HELD_BYTES:
            raise FileError("file_too_large", f"at most {_HELD_BYTES:,} bytes; give a larger file unpacked")
    return bytes(held)


def _decode(text: _Buffer, kind: type[T], expected: str) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise FileError("json_wrong", expected, value=str(error)) from error


def published_at(text: str, line: int | None = None) -> datetime:
    """Return the publication date of a price list; a list without one cannot be told from an older one."""
    try:
        return moment("publicationDate", text)
    except RowError as error:
        raise FileError(
            error.rule, error.expected, line=line, column="publicationDate", value=text
        ) from error


def _flat(product: _Product) -> dict[str, str]:
    return {**product.attributes, "sku": product.sku, "productFamily": product.productFamily}


def _bulk_line(number: int, sku: str, product: msgspec.Raw, terms: _BulkTerms) -> RawLine:
    raw = bytes(product)
    if not any(needle in raw for needle in NEEDLES):
        return RawLine(number, {"sku": sku, RULE: "no_accelerator"})
    try:
        fields = _flat(msgspec.json.decode(raw, type=_Product))
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {"sku": sku, BROKEN: str(error)})
    parts = ((name, getattr(terms, name).get(sku)) for name in ("OnDemand", "Reserved"))
    found = [f'"{name}":{bytes(part).decode("utf-8", "replace")}' for name, part in parts if part is not None]
    return RawLine(number, {**fields, TERMS: "{" + ",".join(found) + "}"})


def _bulk(text: _Buffer) -> Offer:
    offer = _decode(
        text, _BulkFile, "an offer file: formatVersion, offerCode, publicationDate, products, terms"
    )
    if offer.formatVersion != "v1.0":
        raise FileError("format_unknown", "v1.0", column="formatVersion", value=offer.formatVersion)

    def lines() -> Iterator[RawLine]:
        for number, (sku, product) in enumerate(offer.products.items(), 1):
            if offer.offerCode == OFFER:
                yield _bulk_line(number, sku, product, offer.terms)
            else:
                yield RawLine(number, {"sku": sku, RULE: "not_ec2"})

    return Offer(offer.offerCode, offer.version, published_at(offer.publicationDate), lines())


def _check_pages(pages: list[_Page]) -> None:
    """Refuse answers of which some pages are missing: what they list would seem to be sold no more."""
    for number, page in enumerate(pages, 1):
        if page.FormatVersion != "aws_v1":
            raise FileError("format_unknown", "aws_v1", column="FormatVersion", value=page.FormatVersion)
        if bool(page.NextToken) != (number < len(pages)):
            raise FileError(
                "pages_missing",
                "every page of the answer in order: each but the last has a NextToken",
                column="NextToken",
                value=page.NextToken or "",
            )
    if not any(page.PriceList for page in pages):
        raise FileError("empty_file", "an answer with at least one product", column="PriceList")


def _item_line(number: int, text: str) -> RawLine:
    try:
        item = msgspec.json.decode(text, type=_Item)
        terms = bytes(item.terms).decode("utf-8")
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {BROKEN: f"{error}: {text[:200]}"})
    return RawLine(number, {**_flat(item.product), TERMS: terms})


def _headings(texts: list[str]) -> Iterator[_Heading]:
    for text in texts:
        try:
            yield msgspec.json.decode(text, type=_Heading)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            continue  # refused with its reason when its own turn comes


def _answers(pages: list[_Page]) -> Offer:
    _check_pages(pages)
    texts = [text for page in pages for text in page.PriceList]
    readable = list(_headings(texts))
    if not readable:
        expected = "strings of JSON, each a whole product: not one of these is"
        raise FileError("json_wrong", expected, line=1, column="PriceList", value=texts[0][:200])
    dated = [heading for heading in readable if heading.publicationDate]
    if not dated:
        raise FileError("not_a_time", "products that state their publicationDate", column="publicationDate")
    # one answer may mix versions while a new one is being rolled out: the newest dates the file
    newest = max(dated, key=lambda heading: published_at(heading.publicationDate))
    lines = (_item_line(number, text) for number, text in enumerate(texts, 1))
    return Offer(newest.serviceCode or OFFER, newest.version, published_at(newest.publicationDate), lines)


def read_json(file: BinaryIO, name: str, limits: Limits) -> Offer:
    """Return the offer in whichever of the two layouts the file is."""
    text = _buffer_of(file, name, limits)
    expected = 'an AWS price list: an object with "products" and "terms", or with "PriceList"'
    if bytes(text[:64]).lstrip()[:1] == b"[":
        return _answers(_decode(text, list[_Page], "a list of GetProducts answers"))
    kind = _decode(text, _Kind, expected)
    if bytes(kind.PriceList):
        return _answers([_decode(text, _Page, "a GetProducts answer: PriceList holds strings of JSON")])
    if not bytes(kind.products):
        raise FileError("json_wrong", expected)
    return _bulk(text)


def check_readable(fields: Mapping[str, str]) -> None:
    """Refuse a product that could not be read."""
    if BROKEN in fields:
        raise RowError("product", fields[BROKEN], "product_unreadable", "a product as AWS writes it")
