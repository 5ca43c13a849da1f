"""The bulk CSV layout of the AWS price list: five lines about the file, the header on line 6, then rates.

The file has gigabytes and millions of lines, of which few are about accelerators. Only those are taken
apart; the others are looked through for a few words, which is several times faster.
"""

import csv
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from costs.rows import FileError, OutOfScope, RawLine, RowError

from .aws_filters import OFFER, RULE, check_product
from .aws_json import NEEDLES, TERMS, Offer, published_at
from .aws_terms import Dimension, OfferTerm, is_standard
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, RESERVED, check_header, decode, text_lines

# the line whose price this line's amount went into
JOINED = RESERVED + "joined"

_PREAMBLE = ("FormatVersion", "Disclaimer", "Publication Date", "Version", "OfferCode")
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
_ATTRIBUTES = {
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
_MOST_HELD = 200_000  # halves of reserved terms that wait for the other half

_Row = dict[str, str]


def _record(line: bytes, number: int) -> list[str]:
    try:
        return next(csv.reader([decode(line, number)], strict=True), [])
    except csv.Error as error:
        raise FileError("csv_broken", "one well-formed CSV record", line=number, value=str(error)) from error


def _preamble(lines: Iterator[bytes]) -> _Row:
    """Return the five lines about the file."""
    found = {}
    for number, name in enumerate(_PREAMBLE, 1):
        record = _record(next(lines, b""), number)
        if len(record) != 2 or record[0] != name:
            raise FileError(
                "preamble_missing",
                f'line {number} with "{name}" and its value: an AWS price list begins with five such lines',
                line=number,
                value=", ".join(record),
            )
        found[name] = record[1]
    return found


def _checked(lines: Iterator[bytes], columns: int, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield the lines under the header; refuse a file that was cut in the middle of its last line."""
    number, line = 6, b""
    for number, line in enumerate(lines, 7):
        if number > limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} lines", line=number)
        if line.count(b'"') % 2:
            raise FileError("csv_broken", "closed quotes", line=number)
        yield number, line
    last = _record(line, number)
    if last and len(last) != columns:
        raise FileError("file_truncated", f"{columns} fields on the last line", line=number, value=len(last))


def _row_line(number: int, record: list[str], header: tuple[str, ...]) -> RawLine:
    row = dict(zip(header, record, strict=False))
    if len(record) != len(header):
        return RawLine(number, {**row, FIELD_COUNT: f"{len(record)}, header {len(header)}"})
    term = OfferTerm(
        {row["RateCode"]: Dimension(row["Unit"], {row["Currency"]: row["PricePerUnit"]}, "", _begin(row))},
        row["EffectiveDate"],
        {name: row[name] for name in ("LeaseContractLength", "PurchaseOption", "OfferingClass") if row[name]},
    )
    return _with_terms(number, row, {row["TermType"]: {row["OfferTermCode"]: term}})


def _begin(row: _Row) -> str:
    return row.get("StartingRange", "") or "0"


def _with_terms(number: int, row: _Row, terms: dict[str, dict[str, OfferTerm]]) -> RawLine:
    fields = {name: row[column] for column, name in _ATTRIBUTES.items() if column in row}
    return RawLine(number, {**fields, TERMS: msgspec.json.encode(terms).decode()})


def _half_of(raw: RawLine, record: list[str], header: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the key of a reserved term that this line states one half of, or None."""
    row = dict(zip(header, record, strict=False))
    if FIELD_COUNT in raw.fields or row["TermType"] != "Reserved" or row["PurchaseOption"] == "No Upfront":
        return None
    try:
        check_product(raw.fields, OFFER)
        standard = is_standard(OfferTerm(termAttributes={"OfferingClass": row["OfferingClass"]}))
    except (OutOfScope, RowError):
        return None  # raised again, with its reason, when the line is parsed
    return (row["SKU"], row["OfferTermCode"]) if standard else None


def _join(first: RawLine, second: RawLine) -> Iterator[RawLine]:
    """Yield the two halves of a term as one line that has both amounts, and one that was used up."""
    amounts = {}
    for raw in (first, second):
        ((_, terms),) = msgspec.json.decode(raw.fields[TERMS], type=dict[str, dict[str, OfferTerm]]).items()
        ((code, term),) = terms.items()
        amounts.update(term.priceDimensions)
    whole = OfferTerm(amounts, term.effectiveDate, term.termAttributes)
    text = msgspec.json.encode({"Reserved": {code: whole}}).decode()
    yield RawLine(first.line, {**first.fields, JOINED: str(second.line)})
    yield RawLine(second.line, {**second.fields, TERMS: text})


def _joined(lines: Iterator[tuple[RawLine, tuple[str, str] | None]]) -> Iterator[RawLine]:
    held: dict[tuple[str, str], RawLine] = {}
    for raw, key in lines:
        if key is None:
            yield raw
        elif key in held:
            yield from _join(held.pop(key), raw)
        else:
            held[key] = raw
            if len(held) > _MOST_HELD:
                raise FileError(
                    "terms_incomplete", "both amounts of a reserved term near each other", line=raw.line
                )
    yield from held.values()  # one amount only: right for some terms, refused for others when parsed


def _ec2_lines(
    lines: Iterator[tuple[int, bytes]], header: tuple[str, ...]
) -> Iterator[tuple[RawLine, tuple[str, str] | None]]:
    set_aside = {RULE: "no_accelerator"}
    gpu, asic, trial = NEEDLES  # written out: this is the one loop that runs millions of times
    for number, line in lines:
        if gpu in line or asic in line or trial in line:
            record = _record(line, number)
            raw = _row_line(number, record, header)
            yield raw, _half_of(raw, record, header)
        elif line.strip():
            yield RawLine(number, set_aside), None


def read_csv(file: BinaryIO, name: str, limits: Limits) -> Offer:
    """Return the offer, its lines streaming."""
    lines = text_lines(blocks_of_text(file, name, limits), limits)
    about = _preamble(lines)
    if about["FormatVersion"] != "v1.0":
        raise FileError("format_unknown", "v1.0", line=1, value=about["FormatVersion"])
    is_ec2 = about["OfferCode"] == OFFER
    header = check_header(_record(next(lines, b""), 6), _REQUIRED + (_REQUIRED_EC2 if is_ec2 else ()), 6)
    checked = _checked(lines, len(header), limits)
    if is_ec2:
        found = _joined(_ec2_lines(checked, header))
    else:
        found = (RawLine(number, {RULE: "not_ec2"}) for number, line in checked if line.strip())
    return Offer(about["OfferCode"], about["Version"], published_at(about["Publication Date"], 3), found)


def check_joined(raw: RawLine) -> None:
    """Set aside the half of a reserved term whose amount another line carries now."""
    if JOINED in raw.fields:
        line = raw.fields[JOINED]
        raise OutOfScope(
            "joined_line", "SKU", raw.fields["sku"], f"its amount is part of the price on line {line}"
        )
