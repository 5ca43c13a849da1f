"""The three layouts of AWS savings plan rates, each read as lines with the columns of the offer CSV.

The offer file of a region as CSV (five lines about it, the header on line 6) or as JSON, and answers of
DescribeSavingsPlansOfferingRates. A region's file has millions of rates; those of machines that hold no
accelerators are counted, not taken apart. A line of JSON is one rate, numbered in the file's order.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

import msgspec

from costs.rows import FileError, RawLine, RowError

from .aws_csv import preamble, record_of
from .aws_filters import RULE
from .aws_json import BROKEN, Buffer, buffer_of, check_no_index, decode, published_at
from .aws_sieve import check_line
from .byte_stream import Limits, blocks_of_text
from .csv_file import FIELD_COUNT, check_header, text_lines
from .dates import day_in_name

COLUMNS = (
    *("SKU", "RateCode", "Unit", "EffectiveDate", "DiscountedRate", "Currency", "DiscountedServiceCode"),
    *("DiscountedUsageType", "DiscountedOperation", "PurchaseOption", "LeaseContractLength"),
    *("LeaseContractLengthUnit", "Product Family", "DiscountedRegionCode", "DiscountedInstanceType"),
)
PLANS = ("ComputeSavingsPlans", "EC2InstanceSavingsPlans")
_PLAN_WORDS = tuple(plan.encode() for plan in PLANS)
# a type whose family begins so may hold accelerators; it stands behind its usage, "BoxUsage:p5.48xlarge"
_ACCELERATED = re.compile(rb":(?:u-)?(?:p|g|gr|trn|inf|dl)[0-9]")
_OFFER = re.compile(r'"productFamily"\s*:\s*"\w+SavingsPlans"')
_FIRST_ROW = 7
_PLAN_BY_TYPE = {"Compute": PLANS[0], "EC2Instance": PLANS[1]}
_YEARS_BY_SECONDS = {31_536_000: "1", 94_608_000: "3"}


@dataclass(frozen=True)
class Rates:
    """What the file says of itself, and its rates."""

    version: str
    published: datetime | None
    lines: Iterator[RawLine]


class _Offering(msgspec.Struct):
    offeringId: str = ""
    paymentOption: str = ""
    planType: str = ""
    durationSeconds: int = 0
    currency: str = ""


class _Property(msgspec.Struct):
    name: str = ""
    value: str = ""


class _OfferingRate(msgspec.Struct):
    savingsPlanOffering: _Offering = msgspec.field(default_factory=_Offering)
    rate: str = ""
    unit: str = ""
    serviceCode: str = ""
    usageType: str = ""
    operation: str = ""
    properties: list[_Property] = []


class _Page(msgspec.Struct):
    searchResults: list[msgspec.Raw]
    nextToken: str | None = None


class _Lease(msgspec.Struct):
    duration: int
    unit: str


class _Price(msgspec.Struct):
    price: str
    currency: str


class _Rate(msgspec.Struct):
    discountedRate: _Price
    unit: str
    rateCode: str = ""
    discountedServiceCode: str = ""
    discountedUsageType: str = ""
    discountedOperation: str = ""
    discountedRegionCode: str = ""
    discountedInstanceType: str = ""


class _Term(msgspec.Struct):
    sku: str
    effectiveDate: str
    leaseContractLength: _Lease
    rates: list[msgspec.Raw]


class _Terms(msgspec.Struct):
    savingsPlan: list[_Term]


class _Product(msgspec.Struct):
    sku: str
    productFamily: str = ""
    attributes: dict[str, str] = {}


class _File(msgspec.Struct):
    version: str
    publicationDate: str
    products: list[_Product]
    terms: _Terms
    regionCode: str = ""


class _Kind(msgspec.Struct):
    searchResults: msgspec.Raw = msgspec.Raw(b"")
    products: msgspec.Raw = msgspec.Raw(b"")
    regions: msgspec.Raw = msgspec.Raw(b"")
    offers: msgspec.Raw = msgspec.Raw(b"")
    versions: msgspec.Raw = msgspec.Raw(b"")


def is_offer_json(head: str) -> bool:
    """Tell whether a JSON file that begins so is an offer of savings plans, not of a service."""
    return _OFFER.search(head) is not None


def may_hold_accelerators(machine: str) -> bool:
    """Tell whether a type is called as those with accelerators are, known or not."""
    return _ACCELERATED.match(f":{machine}".encode()) is not None


def _rule_of(line: bytes) -> str:
    """Return the rule by which a line is set aside without being taken apart, or ""."""
    for word in _PLAN_WORDS:
        if word in line:
            return "" if _ACCELERATED.search(line) else "no_accelerator"
    return "other_plan"


def _csv_lines(lines: Iterator[bytes], header: tuple[str, ...], limits: Limits) -> Iterator[RawLine]:
    run, first, count = "", 0, 0  # lines in a row that are set aside: the rule, where they begin, how many
    number, last = _FIRST_ROW, b""
    for number, line in enumerate(lines, _FIRST_ROW):
        if number > limits.rows:
            raise FileError("too_many_rows", f"at most {limits.rows:,} lines", line=number)
        check_line(line, number)
        if not line.strip():
            continue
        last, rule = line, _rule_of(line)
        if rule == run and number == first + count:
            count += 1
            continue
        if count:
            yield RawLine(first, {RULE: run}, count)
        run, first, count = rule, number, 1
        if not rule:
            count = 0
            yield _csv_line(number, line, header)
    if count:
        yield RawLine(first, {RULE: run}, count)
    if last and len(record := record_of(last, number)) != len(header):
        expected = f"{len(header)} fields on the last line"
        raise FileError("file_truncated", expected, line=number, value=len(record))


def _csv_line(number: int, line: bytes, header: tuple[str, ...]) -> RawLine:
    record = record_of(line, number)
    fields = dict(zip(header, record, strict=False))
    if len(record) != len(header):
        fields[FIELD_COUNT] = f"{len(record)}, header {len(header)}"
    return RawLine(number, fields)


def read_csv(file: BinaryIO, name: str, limits: Limits) -> Rates:
    """Return the rates of the offer file of a region."""
    lines = text_lines(blocks_of_text(file, name, limits), limits)
    about = preamble(lines)
    header = check_header(record_of(next(lines, b""), _FIRST_ROW - 1), COLUMNS, _FIRST_ROW - 1)
    published = published_at(about["Publication Date"], 3)
    return Rates(about["Version"], published, _csv_lines(lines, header, limits))


def _offer_line(number: int, raw: msgspec.Raw, term: _Term, product: _Product, region: str) -> RawLine:
    text = bytes(raw)
    if product.productFamily not in PLANS:
        return RawLine(number, {RULE: "other_plan"})
    if not _ACCELERATED.search(text):
        return RawLine(number, {RULE: "no_accelerator"})
    try:
        rate = msgspec.json.decode(text, type=_Rate)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {BROKEN: str(error)})
    lease = term.leaseContractLength
    return RawLine(
        number,
        {
            "SKU": term.sku,
            "RateCode": rate.rateCode,
            "Unit": rate.unit,
            "EffectiveDate": term.effectiveDate,
            "DiscountedRate": rate.discountedRate.price,
            "Currency": rate.discountedRate.currency,
            "DiscountedServiceCode": rate.discountedServiceCode,
            "DiscountedUsageType": rate.discountedUsageType,
            "DiscountedOperation": rate.discountedOperation,
            "PurchaseOption": product.attributes.get("purchaseOption", ""),
            "LeaseContractLength": str(lease.duration),
            "LeaseContractLengthUnit": lease.unit,
            "Product Family": product.productFamily,
            "DiscountedRegionCode": rate.discountedRegionCode or region,
            "DiscountedInstanceType": rate.discountedInstanceType,
        },
    )


def _offer(text: Buffer) -> Rates:
    offer = decode(text, _File, "a savings plan offer file: version, publicationDate, products, terms")
    products = {product.sku: product for product in offer.products}
    unknown = [term.sku for term in offer.terms.savingsPlan if term.sku not in products]
    if unknown:
        raise FileError("json_wrong", "a product for each term", column="sku", value=unknown[0])

    def lines() -> Iterator[RawLine]:
        number = 0
        for term in offer.terms.savingsPlan:
            for raw in term.rates:
                number += 1
                yield _offer_line(number, raw, term, products[term.sku], offer.regionCode)

    return Rates(offer.version, published_at(offer.publicationDate), lines())


def _answer_line(number: int, raw: msgspec.Raw) -> RawLine:
    try:
        rate = msgspec.json.decode(raw, type=_OfferingRate)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        return RawLine(number, {BROKEN: str(error)})
    offering = rate.savingsPlanOffering
    said = {each.name: each.value for each in rate.properties}
    years = _YEARS_BY_SECONDS.get(offering.durationSeconds, "")
    return RawLine(
        number,
        {
            "SKU": offering.offeringId,
            "RateCode": "",
            "Unit": rate.unit,
            "EffectiveDate": "",  # the answer does not say: from the day it was asked for
            "DiscountedRate": rate.rate,
            "Currency": offering.currency,
            "DiscountedServiceCode": rate.serviceCode,
            "DiscountedUsageType": rate.usageType,
            "DiscountedOperation": rate.operation,
            "PurchaseOption": offering.paymentOption,
            "LeaseContractLength": years or str(offering.durationSeconds),
            "LeaseContractLengthUnit": "year" if years else "second",
            "Product Family": _PLAN_BY_TYPE.get(offering.planType, offering.planType),
            "DiscountedRegionCode": said.get("region", ""),
            "DiscountedInstanceType": said.get("instanceType", ""),
        },
    )


def _answers(pages: list[_Page], name: str) -> Rates:
    for number, page in enumerate(pages, 1):
        if bool(page.nextToken) != (number < len(pages)):
            expected = "every page of the answer in order: each but the last has a nextToken"
            raise FileError("pages_missing", expected, column="nextToken", value=page.nextToken or "")
    results = [raw for page in pages for raw in page.searchResults]
    if not results:
        raise FileError("empty_file", "an answer with at least one rate", column="searchResults")
    lines = (_answer_line(number, raw) for number, raw in enumerate(results, 1))
    return Rates("", day_in_name(name), lines)


def read_json(file: BinaryIO, name: str, limits: Limits) -> Rates:
    """Return the rates of an offer file or of answers."""
    text = buffer_of(file, name, limits)
    expected = 'savings plan rates: an object with "products" and "terms", or with "searchResults"'
    if bytes(text[:64]).lstrip()[:1] == b"[":
        return _answers(decode(text, list[_Page], "a list of answers with searchResults"), name)
    kind = decode(text, _Kind, expected)
    if bytes(kind.searchResults):
        return _answers([decode(text, _Page, "an answer with searchResults")], name)
    if not bytes(kind.products):
        check_no_index(bytes(kind.regions), bytes(kind.offers), bytes(kind.versions))
        raise FileError("json_wrong", expected)
    return _offer(text)


def check_readable(fields: Mapping[str, str]) -> None:
    """Refuse a rate that could not be read."""
    if BROKEN in fields:
        raise RowError("rate", fields[BROKEN], "rate_unreadable", "a rate as AWS writes it")
