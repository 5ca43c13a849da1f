"""The JSON layouts of the AWS price list: the bulk offer file, GetProducts answers, and one product of one.

JSON has no lines worth the name, so a raw line's number is that of the product in the file.
"""

import io
import mmap
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, TypeVar

import msgspec

from costs.rows import FileError, RawLine, RowError

from .aws_facts import ACCELERATED_FAMILIES, ACCELERATOR_BY_FAMILY
from .aws_filters import OFFER, RULE
from .byte_stream import Limits, blocks_of_text
from .csv_file import RESERVED
from .dates import moment

TERMS = RESERVED + "terms"
BROKEN = RESERVED + "broken"  # why one product could not be read

FREE_TIER = b"FreeTrial"
# Only products that carry one of these, or are of a type that we know, are taken apart: a list of gigabytes
# has few of them.
_WORDS = (*(word.encode() for word in ACCELERATED_FAMILIES), FREE_TIER)
_TYPE = re.compile(rb'"instanceType"\s*:\s*"([a-z0-9-]+)\.')
_FAMILIES = frozenset(family.encode() for family in ACCELERATOR_BY_FAMILY)
_HELD_BYTES = 512 << 20  # of a packed file, which cannot be mapped


@dataclass(frozen=True)
class Offer:
    """What the file says of itself, and its products."""

    code: str
    version: str
    published: datetime
    lines: Iterator[RawLine]
    only: str = ""  # the instance type, where the file is about one alone


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


class _Date(msgspec.Struct):
    effectiveDate: str = ""


class _Dates(msgspec.Struct):
    OnDemand: dict[str, _Date] = {}
    Reserved: dict[str, _Date] = {}


class _Kind(msgspec.Struct):
    """Enough of the outermost object to tell the layouts apart without holding what is inside."""

    products: msgspec.Raw = msgspec.Raw(b"")
    PriceList: msgspec.Raw = msgspec.Raw(b"")
    product: msgspec.Raw = msgspec.Raw(b"")
    # of lists of price lists
    regions: msgspec.Raw = msgspec.Raw(b"")
    offers: msgspec.Raw = msgspec.Raw(b"")
    versions: msgspec.Raw = msgspec.Raw(b"")


Buffer = bytes | memoryview
T = TypeVar("T")


def buffer_of(file: BinaryIO, name: str, limits: Limits) -> Buffer:
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


def decode(text: Buffer, kind: type[T], expected: str) -> T:
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


def _may_be_ours(product: bytes) -> bool:
    for word in _WORDS:
        if word in product:
            return True
    found = _TYPE.search(product)  # a label that was renamed
    return found is not None and found[1] in _FAMILIES


def _bulk_line(number: int, sku: str, product: msgspec.Raw, terms: _BulkTerms) -> RawLine:
    raw = bytes(product)
    if not _may_be_ours(raw):
        return RawLine(number, {"sku": sku, RULE: "no_accelerator"})
    try:
        fields = _flat(msgspec.json.decode(raw, type=_Product))
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {"sku": sku, BROKEN: str(error)})
    parts = ((name, getattr(terms, name).get(sku)) for name in ("OnDemand", "Reserved"))
    found = [f'"{name}":{bytes(part).decode("utf-8", "replace")}' for name, part in parts if part is not None]
    return RawLine(number, {**fields, TERMS: "{" + ",".join(found) + "}"})


def _bulk(text: Buffer) -> Offer:
    offer = decode(
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


def _one_product(text: Buffer) -> Offer:
    """Return the offer of a single product, as it is taken out of an answer.

    Where it has lost the list's date, it holds as of the newest date on which one of its prices began: that
    it still holds today is not known. It says nothing of other types, so it replaces no prices of theirs.
    """
    item = decode(text, _Item, "a product with its terms, as a string in a GetProducts answer")
    terms = decode(bytes(item.terms), _Dates, "terms as AWS writes them")
    begun = [term.effectiveDate for each in (terms.OnDemand, terms.Reserved) for term in each.values()]
    published = item.publicationDate or max((date for date in begun if date), default="")
    lines = iter((_item_line(1, bytes(text).decode("utf-8", "replace")),))
    only = item.product.attributes.get("instanceType", "")
    return Offer(item.serviceCode or OFFER, item.version, published_at(published), lines, only)


def check_no_index(regions: bytes, offers: bytes, versions: bytes) -> None:
    """Refuse the list of price lists that lies beside them."""
    if regions or offers or versions:
        shown = (regions or offers or versions)[:200].decode("utf-8", "replace")
        expected = "an offer file: this is an index, which names the addresses of offer files"
        raise FileError("index_not_offer", expected, value=shown)


def read_json(file: BinaryIO, name: str, limits: Limits) -> Offer:
    """Return the offer in whichever of the layouts the file is."""
    text = buffer_of(file, name, limits)
    expected = 'an AWS price list: an object with "products" and "terms", or with "PriceList"'
    if bytes(text[:64]).lstrip()[:1] == b"[":
        return _answers(decode(text, list[_Page], "a list of GetProducts answers"))
    kind = decode(text, _Kind, expected)
    if bytes(kind.PriceList):
        return _answers([decode(text, _Page, "a GetProducts answer: PriceList holds strings of JSON")])
    if bytes(kind.product):
        return _one_product(text)
    if not bytes(kind.products):
        check_no_index(bytes(kind.regions), bytes(kind.offers), bytes(kind.versions))
        raise FileError("json_wrong", expected)
    return _bulk(text)


def check_readable(fields: Mapping[str, str]) -> None:
    """Refuse a product that could not be read."""
    if BROKEN in fields:
        raise RowError("product", fields[BROKEN], "product_unreadable", "a product as AWS writes it")
