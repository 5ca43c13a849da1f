"""The hand-kept table of public list prices, each with the page it was read on and the day."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import BinaryIO, cast

from costs.rows import FileInfo, Payment, PriceRow, PriceState, RawLine, Row, RowError, Term

from .byte_stream import LIMITS, Limits
from .csv_file import complete, names_all, open_table
from .dates import day, midnight
from .decimals import number, price
from .packaged import chunks_of
from .repeats import marked, refuse_repeated

NAME = "list_prices"
TITLE = "Public list prices (bundled table)"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=92)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

COLUMNS = (
    *("provider", "sku", "accelerator", "gpu_count", "region", "zone", "term", "payment"),
    *("usd_per_hour", "price_state", "effective_from", "source", "source_date", "notes"),
)
_KEY = ("provider", "sku", "accelerator", "gpu_count", "region", "zone", "term", "payment")
TEMPLATE = ",".join(COLUMNS) + (
    "\nexample-cloud,gpu-8x,h100-sxm-80gb,8,eu-north,,on_demand,,23.60,priced,2026-11-01,"
    "https://example.com/pricing,2026-11-30,Write your own line like this one\n"
)
_TERMS = ("on_demand", "spot", "reserved_1y", "reserved_3y")
_PAYMENTS = ("", "no_upfront", "partial_upfront", "all_upfront")
_STATES = ("priced", "not_sold", "reservation_only", "unknown")


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that begins so is for this source."""
    return names_all(head, COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the table that comes with the product."""
    yield "list_prices.csv", chunks_of("list_prices.csv")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one that prices an offer of an earlier line again is marked as repeated.

    The file is as of the newest day on which one of its pages was read, however late it is loaded.
    """
    newest = _newest(open_table(file, name, COLUMNS, limits=limits).lines)
    table = open_table(file, name, COLUMNS, limits=limits)
    keyed = marked(table.lines, lambda raw: [" / ".join(raw.fields.get(column, "") for column in _KEY)])
    return FileInfo(newest, {}), keyed


def _newest(lines: Iterable[RawLine]) -> datetime | None:
    days = []
    for raw in lines:
        # a line with a wrong date is refused by its number when it is parsed
        with suppress(RowError):
            days.append(day("source_date", raw.fields.get("source_date", "")))
    return midnight(max(days)) if days else None


def _one_of(fields: Mapping[str, str], column: str, allowed: tuple[str, ...]) -> str:
    if fields[column] not in allowed:
        shown = ", ".join(word or "(empty)" for word in allowed)
        raise RowError(column, fields[column], "word_unknown", f"one of {shown}")
    return fields[column]


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one price, or one offer whose price is missing with the reason that its notes give."""
    fields = complete(raw)
    refuse_repeated(raw, "sku")
    for column in ("accelerator", "source"):
        if not fields[column]:
            raise RowError(column, "", "empty", f"the {column}")
    state = cast(PriceState, _one_of(fields, "price_state", _STATES))
    term = cast(Term, _one_of(fields, "term", _TERMS))
    payment = cast(Payment, _one_of(fields, "payment", _PAYMENTS))
    if payment and not term.startswith("reserved"):
        raise RowError("payment", payment, "payment_without_term", "empty for on_demand and spot")
    if state != "priced" and not fields["notes"]:
        raise RowError("notes", "", "empty", "why there is no price")
    text = fields["usd_per_hour"]
    if (state == "priced") != bool(text):
        raise RowError("usd_per_hour", text, "price_without_state", "a price when priced and none otherwise")
    return [
        PriceRow(
            provider=fields["provider"],
            sku=fields["sku"],
            accelerator_name=fields["accelerator"],
            gpu_count=number("gpu_count", fields["gpu_count"]),
            region=fields["region"],
            zone=fields["zone"],
            term=term,
            payment=payment,
            state=state,
            state_reason="" if state == "priced" else fields["notes"],
            price_per_hour=price("usd_per_hour", text) if text else None,
            effective_from=midnight(day("effective_from", fields["effective_from"])),
            reference=f"{fields['source']} ({day('source_date', fields['source_date'])})",
            observed_on=day("source_date", fields["source_date"]),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: a new file replaces the list prices of each provider that it names."""
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    return row.provider
