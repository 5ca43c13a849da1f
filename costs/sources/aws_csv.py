"""The bulk CSV layout of the AWS price list: five lines about the file, the header on line 6, then rates.

The file has gigabytes and millions of lines, of which few are about accelerators. Only those are taken
apart, and of lines in a row that say the same of one product only the first.
"""

import csv
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import BinaryIO

from costs.rows import FileError, RawLine

from .aws_filters import OFFER, RULE, is_ours
from .aws_json import FREE_TIER, TERMS, Offer, published_at
from .aws_labels import labels_in
from .aws_sieve import Sieve, Stretch, check_line
from .aws_terms import Dimension, OfferTerm, encode_terms
from .aws_terms_joined import Half, joined
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, check_header, decode, text_lines

PREAMBLE = ("FormatVersion", "Disclaimer", "Publication Date", "Version", "OfferCode")
_FIRST_ROW = 7
_MACHINE = b',"Compute Instance'  # the family of a product, behind a comma, as no text within a field is
_REQUIRED = (
    *("SKU", "OfferTermCode", "RateCode", "TermType", "EffectiveDate", "Unit", "PricePerUnit", "Currency"),
    *("Product Family", "serviceCode", "usageType", "operation"),
)
# only the EC2 list has these, and it cannot be read without them
_REQUIRED_EC2 = (
    *("LeaseContractLength", "PurchaseOption", "OfferingClass", "Location", "Instance Type"),
    *("Instance Family", "vCPU", "Memory", "Tenancy", "Operating System", "License Model", "CapacityStatus"),
    *("GPU", "MarketOption", "Pre Installed S/W", "Region Code"),
)
# columns to the attributes of the JSON layouts
ATTRIBUTES = {
    "SKU": "sku",
    "Product Family": "productFamily",
    "serviceCode": "servicecode",
    "Location": "location",
    "Instance Type": "instanceType",
    "Instance Family": "instanceFamily",
    "vCPU": "vcpu",
    "Memory": "memory",
    "Tenancy": "tenancy",
    "Operating System": "operatingSystem",
    "License Model": "licenseModel",
    "Group": "group",
    "usageType": "usagetype",
    "operation": "operation",
    "CapacityStatus": "capacitystatus",
    "GPU": "gpu",
    "MarketOption": "marketoption",
    "Pre Installed S/W": "preInstalledSw",
    "Region Code": "regionCode",
}
_Row = dict[str, str]
_Header = tuple[str, ...]


def record_of(line: bytes, number: int) -> list[str]:
    """Return the fields of one line."""
    try:
        return next(csv.reader([decode(line, number)], strict=True), [])
    except csv.Error as error:
        raise FileError("csv_broken", "one well-formed CSV record", line=number, value=str(error)) from error


def preamble(lines: Iterator[bytes]) -> _Row:
    """Return the five lines about the file."""
    found = {}
    for number, name in enumerate(PREAMBLE, 1):
        record = record_of(next(lines, b""), number)
        if len(record) != 2 or record[0] != name:
            raise FileError(
                "preamble_missing",
                f'line {number} with "{name}" and its value: an AWS price list begins with five such lines',
                line=number,
                value=", ".join(record),
            )
        found[name] = record[1]
    if found["FormatVersion"] != "v1.0":
        raise FileError("format_unknown", "v1.0", line=1, value=found["FormatVersion"])
    return found


def blocks_behind(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the blocks without their first `size` bytes."""
    for block in blocks:
        if size < len(block):
            yield block[size:] if size else block
        size = max(0, size - len(block))


def check_last(sieve: Sieve, columns: int) -> None:
    """Refuse a file that was cut in the middle of its last line."""
    number, line = sieve.last
    check_line(line, number)
    last = record_of(line, number)
    if last and len(last) != columns:
        raise FileError("file_truncated", f"{columns} fields on the last line", line=number, value=len(last))


def _with_term(product: _Row, row: _Row) -> _Row:
    dimension = Dimension(
        row["Unit"], {row["Currency"]: row["PricePerUnit"]}, "", row.get("StartingRange", "") or "0"
    )
    attributes = {name: row[name] for name in ("LeaseContractLength", "PurchaseOption", "OfferingClass")}
    term = OfferTerm(
        {row["RateCode"]: dimension},
        row["EffectiveDate"],
        {name: value for name, value in attributes.items() if value},
    )
    return {**product, TERMS: encode_terms({row["TermType"]: {row["OfferTermCode"]: term}})}


def _half_of(row: _Row) -> Half | None:
    """Return the key of a reserved term that this line states one half of, or None."""
    if row["TermType"] != "Reserved" or row["PurchaseOption"] == "No Upfront":
        return None
    return row["SKU"], row["OfferTermCode"]


class _Products:
    """The lines of products with accelerators, one product after the other."""

    def __init__(self, header: _Header) -> None:
        self._header = header
        columns = {name: header.index(column) for column, name in ATTRIBUTES.items() if column in header}
        self._names, self._values = tuple(columns), itemgetter(*columns.values())

    def lines(self, product: Stretch) -> Iterator[tuple[RawLine, Half | None]]:
        """Yield the lines of a product, all together where the first says that it is not ours."""
        lines = product.text.removesuffix(b"\n").split(b"\n")
        for number, line in enumerate(lines, product.line):
            check_line(line, number)
            left = product.line + len(lines) - number
            if rule := _other_system(line):
                yield RawLine(number, {RULE: rule}, left), None
                return
            record = record_of(line, number)
            if len(record) != len(self._header):
                yield self._odd_line(number, record), None
                continue
            fields = dict(zip(self._names, self._values(record), strict=True))
            if not is_ours(fields):
                yield RawLine(number, fields, left), None
                return
            row = dict(zip(self._header, record, strict=True))
            yield RawLine(number, _with_term(fields, row)), _half_of(row)

    def _odd_line(self, number: int, record: list[str]) -> RawLine:
        fields = dict(zip(self._header, record, strict=False))
        return RawLine(number, {**fields, FIELD_COUNT: f"{len(record)}, header {len(self._header)}"})


def _other_system(line: bytes) -> str:
    """Return the rule by which a machine is set aside that runs something else than Linux, or "".

    Most lines are such. A field that is exactly Linux stands in none of them.
    """
    if _MACHINE not in line or b'"Linux"' in line or b",Linux," in line:
        return ""
    return "windows" if b'"Windows"' in line else "other_operating_system"


def _ec2_lines(sieve: Sieve, header: _Header) -> Iterator[tuple[RawLine, Half | None]]:
    products, no_accelerator = _Products(header), {RULE: "no_accelerator"}
    for stretch in sieve:
        if stretch.text:
            yield from products.lines(stretch)
        else:
            yield RawLine(stretch.line, no_accelerator, stretch.lines), None
    check_last(sieve, len(header))


def _other_lines(sieve: Sieve, columns: int) -> Iterator[RawLine]:
    for number, lines, _ in sieve:
        yield RawLine(number, {RULE: "not_ec2"}, lines)
    check_last(sieve, columns)


def read_csv(file: BinaryIO, name: str, limits: Limits) -> Offer:
    """Return the offer, its lines streaming."""
    size = 0

    def counted(lines: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal size
        for line in lines:
            size += len(line)
            yield line

    top = counted(text_lines(blocks_of_text(file, name, limits), limits))
    about = preamble(top)
    is_ec2 = about["OfferCode"] == OFFER
    names = record_of(next(top, b""), _FIRST_ROW - 1)
    header = check_header(names, _REQUIRED + (_REQUIRED_EC2 if is_ec2 else ()), _FIRST_ROW - 1)
    published = published_at(about["Publication Date"], 3)
    labels = labels_in(file, name, header, limits) if is_ec2 else ()  # reads the file, so before `blocks`
    blocks = blocks_behind(blocks_of_text(file, name, limits), size)
    sieve = Sieve(blocks, (*labels, FREE_TIER), _FIRST_ROW, limits)
    lines = joined(_ec2_lines(sieve, header)) if is_ec2 else _other_lines(sieve, len(header))
    return Offer(about["OfferCode"], about["Version"], published, lines)
