"""Azure retail prices: pay as you go, spot, reservations and savings plans of machines with accelerators.

Linux and Windows share meter and size, and only the product's name tells them apart. A reservation's price
is the total of its term, though its unit says an hour.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

import msgspec

from costs.rows import (
    PRICE_STEP,
    FileInfo,
    OutOfScope,
    Payment,
    PriceRow,
    RawLine,
    Row,
    RowError,
    Term,
)

from .azure_prices_fetch import TYPES, fetch
from .azure_prices_json import LIMITS, check_item, read_answers
from .byte_stream import Limits
from .dates import day_in_name, moment
from .decimals import number, price, to_step
from .machines import Machine, machine_of

NAME = "azure_prices"
TITLE = "Azure retail prices"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("region",)  # may hold several words between commas
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = ""  # the API asks for no key
RIGHTS: tuple[str, ...] = ()
WHOLE = False  # each file answers one question
INCREMENTAL = False

__all__ = ["LIMITS", "fetch", "looks_like", "parse", "read", "scope"]

_MEMBERS = (
    "type",
    "productName",
    "meterName",
    "unitOfMeasure",
    "currencyCode",
    "armRegionName",
    "retailPrice",
)
_N_SERIES = re.compile(r"(?:Standard_)?N[A-Z]{1,3}[0-9]", re.IGNORECASE)
_FPGA = re.compile(r"Standard_NP[0-9]", re.IGNORECASE)
_WINDOWS_PRODUCT = (" Windows", " Win")
_WINDOWS = re.compile(r"\bwindows\b", re.IGNORECASE)
_SPOT = re.compile(r"\bspot\b", re.IGNORECASE)
# (rule, member, pattern, what would be ours)
_NOT_OURS = (
    ("low_priority", ("meterName", "skuName"), re.compile(r"\blow ?priority\b", re.I), "a spot meter"),
    ("cloud_services", ("productName",), re.compile(r"\bcloud ?services\b", re.I), "a virtual machine"),
    ("dedicated_host", ("productName",), re.compile(r"\bdedicated host\b", re.I), "a virtual machine"),
    ("promotion", ("meterName", "skuName", "armSkuName"), re.compile(r"(\b|_)promo\b", re.I), "a list price"),
    ("expired", ("meterName", "skuName"), re.compile(r"\bexpired\b", re.I), "a meter in use"),
)
_YEARS = {"1 Year": 1, "3 Years": 3}
_HOURS_PER_YEAR = 8760
_RESERVED: dict[int, Term] = {1: "reserved_1y", 3: "reserved_3y"}
_PLAN: dict[int, Term] = {1: "compute_plan_1y", 3: "compute_plan_3y"}


def looks_like(head: str, name: str) -> bool:
    """Return whether the text begins like an answer of the Retail Prices API.

    A list of machine sizes is taken for one: it is refused with the reason why it has no prices.
    """
    is_answer = '"Items"' in head and '"armRegionName"' in head
    is_sizes = '"resourceType"' in head and '"locationInfo"' in head and '"virtualMachines"' in head
    return head.lstrip()[:1] in ("{", "[") and (is_answer or is_sizes)


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the items of the answer; its date is that of the file's name, for it states none."""
    question, lines = read_answers(file, name, limits)
    return FileInfo(day_in_name(name), {"question": question}), lines


@dataclass(frozen=True)
class _Offer:
    """One price of an item."""

    term: Term
    per_hour: Decimal
    payment: Payment = ""
    upfront: Decimal | None = None
    note: str = ""


def _check_size(fields: Mapping[str, str]) -> None:
    size = fields.get("armSkuName", "")
    if not _N_SERIES.match(size):
        raise OutOfScope(
            "no_accelerator", "armSkuName", size, "a size of the N series, which have accelerators"
        )
    if _FPGA.match(size):
        raise OutOfScope("fpga", "armSkuName", size, "a GPU: the NP sizes have FPGAs")


def _check_product(fields: Mapping[str, str]) -> None:
    """Refuse by name what is not a Linux machine at its list price."""
    if fields["productName"].endswith(_WINDOWS_PRODUCT):
        raise OutOfScope("windows", "productName", fields["productName"], "a product for Linux")
    for name in ("productName", "meterName", "skuName"):
        if _WINDOWS.search(fields.get(name, "")):
            raise RowError(
                name, fields[name], "system_unclear", "Windows at the end of productName, or nowhere"
            )
    for rule, names, pattern, wanted in _NOT_OURS:
        for name in names:
            if pattern.search(fields.get(name, "")):
                raise OutOfScope(rule, name, fields[name], wanted)
    if fields.get("isPrimaryMeterRegion") == "false":
        raise OutOfScope(
            "not_primary_meter", "isPrimaryMeterRegion", "false", "the meter that sets the price"
        )


def _check_kind(fields: Mapping[str, str]) -> None:
    if fields["type"] == "DevTestConsumption":
        raise OutOfScope("dev_test", "type", fields["type"], "Consumption or Reservation")
    if fields["type"] not in TYPES:
        raise RowError(
            "type", fields["type"], "type_unknown", f"one of {', '.join(TYPES)}, DevTestConsumption"
        )
    if fields["unitOfMeasure"] != "1 Hour":
        raise RowError("unitOfMeasure", fields["unitOfMeasure"], "unit_unknown", "1 Hour")
    if number("tierMinimumUnits", fields.get("tierMinimumUnits") or "0") > 0:
        raise OutOfScope(
            "tiered", "tierMinimumUnits", fields["tierMinimumUnits"], "0: the price from the start"
        )


def _check_time(fields: Mapping[str, str], info: FileInfo) -> datetime | None:
    """Return since when the price holds; refuse one that is over, or not yet there, on the file's date."""
    start, end = fields.get("effectiveStartDate", ""), fields.get("effectiveEndDate", "")
    since = moment("effectiveStartDate", start) if start else None
    if info.as_of is not None:
        today = info.as_of.date()
        if since is not None and since.date() > today:
            raise OutOfScope("not_yet", "effectiveStartDate", start, f"{today} or before")
        if end and moment("effectiveEndDate", end).date() <= today:
            raise OutOfScope("ended", "effectiveEndDate", end, f"after {today}, or none")
    return since


def _machine(fields: Mapping[str, str]) -> Machine:
    size = fields["armSkuName"]
    found = machine_of("azure", size)
    if found is None:
        raise RowError(
            "armSkuName", size, "machine_unknown", "a size of the table of machine types; add it there"
        )
    return found


def _years(column: str, text: str) -> int:
    years = _YEARS.get(text)
    if years is None:
        raise RowError(column, text, "term_unknown", f"one of {', '.join(_YEARS)}")
    return years


def _reservation(fields: Mapping[str, str]) -> _Offer:
    years = _years("reservationTerm", fields.get("reservationTerm", ""))
    total = number("retailPrice", fields["retailPrice"])
    if total <= 0:
        price("retailPrice", fields["retailPrice"])  # says which of the two it is
    per_hour = to_step(total / (_HOURS_PER_YEAR * years), PRICE_STEP)
    note = f"; {total} for the term, due at once or in equal months"
    return _Offer(_RESERVED[years], per_hour, "all_upfront", total, note)


class _Plan(msgspec.Struct):
    term: str
    unitPrice: msgspec.Raw = msgspec.Raw(b"")
    retailPrice: msgspec.Raw = msgspec.Raw(b"")


def _plans(text: str) -> Iterator[_Offer]:
    """Yield the savings plans of a size, which are stated per hour."""
    try:
        plans = msgspec.json.decode(text, type=list[_Plan]) if text else []
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise RowError("savingsPlan", text, "plans_unreadable", "a list of term and unitPrice") from error
    for plan in plans:
        years = _years("savingsPlan.term", plan.term)
        stated = bytes(plan.retailPrice) or bytes(plan.unitPrice)
        yield _Offer(_PLAN[years], price("savingsPlan.unitPrice", stated.decode()), "no_upfront")


def _offers(fields: Mapping[str, str]) -> Iterator[_Offer]:
    if fields["type"] == "Reservation":
        yield _reservation(fields)
        return
    is_spot = any(_SPOT.search(fields.get(name, "")) for name in ("meterName", "skuName"))
    yield _Offer("spot" if is_spot else "on_demand", price("retailPrice", fields["retailPrice"]))
    yield from _plans(fields.get("savingsPlan", ""))


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the prices of one item: of its meter, and of the savings plans that stand with it."""
    fields = raw.fields
    check_item(fields)
    _check_size(fields)
    for name in _MEMBERS:
        if not fields.get(name):
            raise RowError(name, "", "empty", f"an item with {', '.join(_MEMBERS)}")
    _check_product(fields)
    _check_kind(fields)
    since = _check_time(fields, info)
    machine = _machine(fields)
    meter = fields.get("meterId") or fields["meterName"]
    return [
        PriceRow(
            provider="azure",
            sku=machine.name,
            accelerator_name=machine.accelerator_name,
            gpu_count=machine.gpu_count,
            region=fields["armRegionName"],
            term=offer.term,
            state="priced",
            price_per_hour=offer.per_hour,
            effective_from=since,
            payment=offer.payment,
            upfront=offer.upfront,
            currency=fields["currencyCode"],
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
            reference=f"Azure Retail Prices, meter {meter}{offer.note}",
        )
        for offer in _offers(fields)
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the question whose answer the file is: the next answer to it replaces this one.

    A file that names no question was asked for by somebody else. Of each size and region that it names it
    has either all that is paid as it goes, or all reservations, or both, and nothing is known of the rest.
    """
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    kind = TYPES[1] if row.term in _RESERVED.values() else TYPES[0]
    return info.params["question"] or f"{row.region}:{row.sku}:{kind}"
