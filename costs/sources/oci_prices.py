"""Oracle's price list: whole machines put together from the price of one GPU.

The list prices parts by the hour of one GPU while machines are sold whole; which unit a price is for stands
in metricName. A first tier at 0 is the free tier. Prices are the same in every commercial region.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import BinaryIO

import msgspec

from costs import egress
from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .dates import day_in_name, midnight, moment
from .decimals import number, price
from .json_records import decode, flat, readable, text_of, whole_text
from .machines import Machine, machine_of

NAME = "oci_prices"
TITLE = "Oracle Cloud price list"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=7)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("currency",)
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(total_bytes=64 << 20, rows=100_000)  # the whole list has about 2 MB

ADDRESS = "https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/"
_EXPECTED = 'an answer of Oracle\'s price list API: {"items": […]}'
_METRIC = "GPU Per Hour"
_CATEGORY = "Compute - GPU"
_MODEL = "PAY_AS_YOU_GO"
_CURRENCY = re.compile(r"[A-Z]{3}")
_MONTH_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})-([01][0-9])(?![0-9-])")
# Part number -> the shapes that are billed by it. Up to B98415: price list API of 2024-01-19, whose names say
# the generation (X7, E3, …) that https://docs.oracle.com/iaas/Content/Compute/References/computeshapes.htm
# gives each shape (2025-02). After it: part numbers and shapes as public copies of the list of 2026-08 and
# 2026-09 state them.
_SHAPES = {
    "B88517": ("BM.GPU2.2",),
    "B88518": ("VM.GPU2.1",),
    "B89734": ("VM.GPU3.1", "VM.GPU3.2", "VM.GPU3.4", "BM.GPU3.8"),
    "B92740": ("BM.GPU4.8",),
    "B95907": ("BM.GPU.A100-v2.8",),
    "B95909": ("VM.GPU.A10.1", "VM.GPU.A10.2", "BM.GPU.A10.4"),
    "B98415": ("BM.GPU.H100.8",),
    "B109479": ("BM.GPU.L40S.4",),
    "B109485": ("BM.GPU.MI300X.8",),
    "B110519": ("BM.GPU.H200.8",),
    "B110978": ("BM.GPU.B200.8",),
    "B110979": ("BM.GPU.GB200.4",),
    "B111758": ("BM.GPU.MI355X.8",),
    "B112140": ("BM.GPU.GB300.4",),
    "B112237": ("BM.GPU.B300.8",),
    "B112613": ("BM.GPU.RTXPRO.8",),
}


class _Price(msgspec.Struct):
    model: str
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Localized(msgspec.Struct):
    currencyCode: str
    prices: list[_Price] = []


class _Answer(msgspec.Struct):
    items: list[msgspec.Raw]
    lastUpdated: str = ""
    hasMore: bool = False


def looks_like(head: str, name: str) -> bool:
    """Return whether the file begins like an answer of the price list API."""
    return all(word in head for word in ('"partNumber"', '"metricName"', '"currencyCodeLocalizations"'))


def _currency(params: Mapping[str, str]) -> str:
    given = params.get("currency", "").strip() or "USD"
    if not _CURRENCY.fullmatch(given):
        raise FileError("currency_wrong", "three capitals such as USD", value=given)
    return given


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the list in one currency, as Oracle sends it."""
    currency = _currency(params)
    yield f"oci_prices_{currency}_{now:%Y-%m-%d}.json", egress.get(f"{ADDRESS}?currencyCode={currency}")


def _as_of(name: str, answer: _Answer) -> datetime | None:
    """Return the date that the list states of itself, or the day or the month in the file's name."""
    if answer.lastUpdated:
        try:
            return moment("lastUpdated", answer.lastUpdated)
        except RowError as error:
            raise FileError(
                error.rule, error.expected, column="lastUpdated", value=answer.lastUpdated
            ) from error
    match = _MONTH_IN_NAME.search(name)
    if match and 1 <= int(match[2]) <= 12:
        return midnight(date(int(match[1]), int(match[2]), 1))
    return day_in_name(name)


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the items of the list, each with its prices as JSON text."""
    answer = decode(whole_text(file, name, limits), _Answer, _EXPECTED)
    if answer.hasMore:
        raise FileError("pages_missing", "the whole list in one answer", column="hasMore")
    if not answer.items:
        raise FileError("empty_file", "at least one item", column="items")
    if len(answer.items) > limits.rows:
        raise FileError("too_many_rows", f"at most {limits.rows:,} items")
    lines = (RawLine(line, flat(item)) for line, item in enumerate(answer.items, 1))
    return FileInfo(_as_of(name, answer), {"currency": _currency(params)}), lines


def _localized(fields: Mapping[str, str], currency: str) -> list[_Price]:
    """Return an item's prices in one currency."""
    text, part = fields.get("currencyCodeLocalizations", ""), fields["partNumber"]
    try:
        localized = msgspec.json.decode(text or "[]", type=list[_Localized])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RowError("currencyCodeLocalizations", text, "record_unreadable", str(error)) from error
    for each in localized:
        if each.currencyCode == currency:
            return each.prices
    raise OutOfScope("currency_not_listed", "currencyCode", currency, f"a currency in which {part} is priced")


def _per_gpu_hour(fields: Mapping[str, str], currency: str) -> str:
    """Return the price of all usage, or of all that follows the free tier."""
    tiers = [text_of(each.value) for each in _localized(fields, currency) if each.model == _MODEL]
    if not tiers:
        raise RowError("model", "", "model_missing", f"a price on the model {_MODEL}")
    # the tiers stand in the order of usage, and only its price says that the first of them is free
    if len(tiers) > 1 and number("value", tiers[0]) == 0:
        tiers = tiers[1:]
    if len(tiers) > 1:
        raise RowError("prices", ", ".join(tiers), "many_tiers", "one price, or a free tier and one price")
    return tiers[0]


def _machine(name: str) -> Machine:
    machine = machine_of("oci", name)
    if machine is None:
        raise RowError("partNumber", name, "machine_unknown", "a machine type of the table; add it there")
    return machine


def _machines(fields: Mapping[str, str]) -> list[Machine]:
    part = fields["partNumber"]
    if part not in _SHAPES:
        raise RowError(
            "partNumber", part, "part_unknown", "a part whose machines are known; add it to the facts"
        )
    return [_machine(name) for name in _SHAPES[part]]


def _check_kind(fields: Mapping[str, str]) -> None:
    for column in ("partNumber", "metricName", "serviceCategory"):
        if not fields.get(column):
            raise RowError(column, "", "empty", f"the {column} of the item")
    if fields["metricName"] != _METRIC:
        raise OutOfScope("not_gpu_hour", "metricName", fields["metricName"], _METRIC)
    if fields["serviceCategory"] != _CATEGORY:
        raise OutOfScope("not_gpu_machine", "serviceCategory", fields["serviceCategory"], _CATEGORY)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return every machine that is billed by the part: the price of one GPU times their count."""
    fields, currency = readable(raw), info.params["currency"]
    _check_kind(fields)
    machines = _machines(fields)
    text = _per_gpu_hour(fields, currency)
    return [
        PriceRow(
            provider="oci",
            sku=machine.name,
            accelerator_name=machine.accelerator,
            gpu_count=machine.gpu_count,
            region="global",
            term="on_demand",
            state="priced",
            price_per_hour=price("value", text) * machine.gpu_count,
            currency=currency,
            vcpus=machine.vcpus,
            memory_gib=machine.memory_gib,
            reference=f"Oracle price list, part {fields['partNumber']}, {text} {currency} per GPU and hour",
        )
        for machine in machines
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: the list has every part."""
    return "oci"
