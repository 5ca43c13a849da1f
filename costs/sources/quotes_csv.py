"""Quotes that sellers made to us alone: rentals, servers and capacity blocks, as a CSV that people write.

A quote is kept after its last day, with that day: what was offered once says what may be asked for again.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO, cast

from costs.rows import PRICE_STEP, FileError, FileInfo, QuoteKind, QuoteRow, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, open_table
from .dates import day, midnight
from .decimals import number, optional_number, price, to_step
from .repeats import marked, refuse_repeated

NAME = "quotes"
TITLE = "Quotes (own table)"
KIND = "quotes"
MODE = "amend"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

COLUMNS = (
    *("quote", "provider", "kind", "item", "accelerator", "gpu_count", "region", "zone"),
    *("units_min", "units_max", "starts_on", "ends_on", "term_months"),
    *("price_per_unit_hour", "price_per_gpu_hour", "price_per_unit", "upfront", "deposit", "currency"),
    *("take_or_pay_share", "lead_time_days", "warranty_years", "power_w"),
    *("quoted_on", "valid_until", "reference", "note"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\nQ-2026-117,example-cloud,rental,gpu-8x-h100,H100,8,eu-north,,16,64,2027-01-01,2029-01-01,24,"
    ",2.15,,500000,250000,USD,0.8,45,,,2026-11-20,2026-12-20,mail of 2026-11-20,"
    "price per GPU-hour; 80 % of the volume is due whether used or not\n"
    "Q-2026-131,example-hardware,server,HGX B200 8-GPU,B200,8,,,4,,,,,"
    ",,415000,,,EUR,,120,3,14300,2026-11-25,2026-12-31,offer 131.pdf,"
    "per server with network cards; delivered\n"
    "Q-2026-140,aws,capacity_block,p5.48xlarge,H100,8,us-east-2,,1,1,2027-02-01,2027-02-15,,"
    "34.608,,,11628.29,,USD,,,,,2026-11-28,2026-11-29,,"
    "a block is paid whole at its start\n"
)
_KINDS = ("rental", "server", "capacity_block")
_HOURLY = ("price_per_unit_hour", "price_per_gpu_hour")


def looks_like(head: str, name: str) -> bool:
    """Return whether the first line names the columns that only quotes have."""
    header = [column.strip() for column in head.partition("\n")[0].split(",")]
    return {"quote", "take_or_pay_share", "quoted_on"} <= set(header)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: quotes come from people."""
    raise FileError("no_fetch", "a table of quotes: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; one that states a quote of an earlier line again is marked as repeated."""
    table = open_table(file, name, COLUMNS, limits=limits)
    keyed = marked(
        table.lines, lambda raw: [" / ".join((raw.fields.get("provider", ""), raw.fields.get("quote", "")))]
    )
    return FileInfo(None, {}), keyed


def _kind(fields: Mapping[str, str]) -> QuoteKind:
    if fields["kind"] not in _KINDS:
        raise RowError("kind", fields["kind"], "word_unknown", f"one of {', '.join(_KINDS)}")
    return cast(QuoteKind, fields["kind"])


def _refuse(fields: Mapping[str, str], kind: str, *columns: str) -> None:
    for column in columns:
        if fields[column]:
            raise RowError(column, fields[column], "not_of_this_kind", f"empty for a {kind}")


def _price_per_hour(fields: Mapping[str, str], kind: QuoteKind, gpu_count: Decimal) -> Decimal | None:
    """Return the hourly price of one unit, whichever way it is quoted."""
    if kind == "server":
        _refuse(fields, kind, *_HOURLY)
        return None
    stated = [column for column in _HOURLY if fields[column]]
    if len(stated) != 1:
        shown = " and ".join(fields[column] for column in stated)
        raise RowError(_HOURLY[0], shown, "one_price", f"a price in {' or in '.join(_HOURLY)}, not in both")
    amount = price(stated[0], fields[stated[0]])
    return to_step(amount * gpu_count, PRICE_STEP) if stated[0] == "price_per_gpu_hour" else amount


def _price_per_unit(fields: Mapping[str, str], kind: QuoteKind) -> Decimal | None:
    if kind != "server":
        _refuse(fields, kind, "price_per_unit", "warranty_years")
        return None
    amount = optional_number("price_per_unit", fields["price_per_unit"])
    if amount is None or amount <= 0:
        raise RowError("price_per_unit", fields["price_per_unit"], "no_price", "what one server costs")
    return amount


def _period(fields: Mapping[str, str], kind: QuoteKind) -> tuple[datetime | None, datetime | None]:
    starts, ends = (
        midnight(day(column, fields[column])) if fields[column] else None
        for column in ("starts_on", "ends_on")
    )
    if kind == "capacity_block" and not (starts and ends):
        column = "ends_on" if starts else "starts_on"
        raise RowError(column, "", "empty", "the first day of the block, and the day after its last")
    if starts and ends and ends <= starts:
        raise RowError("ends_on", fields["ends_on"], "ends_before_start", "a day after starts_on")
    return starts, ends


def _units(fields: Mapping[str, str]) -> tuple[Decimal | None, Decimal | None]:
    least, most = (optional_number(column, fields[column]) for column in ("units_min", "units_max"))
    if least is not None and most is not None and most < least:
        raise RowError("units_max", fields["units_max"], "units_reversed", "at least units_min, or empty")
    return least, most


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one quote."""
    fields = {column: text.strip() for column, text in complete(raw).items()}
    refuse_repeated(raw, "quote")
    kind = _kind(fields)
    gpu_count = number("gpu_count", fields["gpu_count"])
    units_min, units_max = _units(fields)
    starts_at, ends_at = _period(fields, kind)
    return [
        QuoteRow(
            provider=fields["provider"],
            quote=fields["quote"],
            kind=kind,
            item=fields["item"],
            accelerator_name=fields["accelerator"],
            gpu_count=gpu_count,
            region=fields["region"],
            zone=fields["zone"],
            units_min=units_min,
            units_max=units_max,
            starts_at=starts_at,
            ends_at=ends_at,
            term_months=optional_number("term_months", fields["term_months"]),
            price_per_hour=_price_per_hour(fields, kind, gpu_count),
            price_per_unit=_price_per_unit(fields, kind),
            upfront=optional_number("upfront", fields["upfront"]),
            deposit=optional_number("deposit", fields["deposit"]),
            take_or_pay_share=optional_number("take_or_pay_share", fields["take_or_pay_share"]),
            lead_time_days=optional_number("lead_time_days", fields["lead_time_days"]),
            warranty_years=optional_number("warranty_years", fields["warranty_years"]),
            power_w=optional_number("power_w", fields["power_w"]),
            currency=fields["currency"],
            quoted_on=day("quoted_on", fields["quoted_on"]),
            valid_until=day("valid_until", fields["valid_until"]) if fields["valid_until"] else None,
            reference=fields["reference"],
            note=fields["note"],
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the seller."""
    if not isinstance(row, QuoteRow):
        raise TypeError(f"{NAME} yields quotes, not {type(row).__name__}")
    return row.provider
