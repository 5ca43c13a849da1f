"""Google Cloud machines with GPUs per region and term, as a table with hourly and monthly amounts.

The public price calculator behind it adds the prices of GPU, cores, memory and local SSD itself, and
counts 730 hours to the month.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import (
    PRICE_STEP,
    FileError,
    FileInfo,
    Payment,
    PriceRow,
    PriceState,
    RawLine,
    Row,
    RowError,
    Term,
)

from .byte_stream import LIMITS, Limits
from .csv_file import complete, names_all, open_table
from .dates import day_in_name
from .decimals import number, price, to_step

NAME = "gcp_machine_prices"
TITLE = "Google Cloud machine prices"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=31)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

COLUMNS = (
    *("machine_type", "region", "cpu", "ram_gb", "attached", "hour", "hour_spot"),
    *("month", "month_1y", "month_3y", "month_spot"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\na2-highgpu-1g,us-central1,12,85,a100=1,3.65,1.46,2664.5,1679,949,1065.8\n"
    "g4-standard-48,europe-west4,48,180,rtx6000=1,4.5,,3285,,1445.4,\n"
)
HOURS_PER_MONTH = 730
# what the table calls a part, where it is not the name that everybody uses: `rtx6000` elsewhere is the
# Quadro RTX 6000 of 2018
_ACCELERATORS = {
    "a100": "a100-sxm-40gb",
    "a100-80gb": "a100-sxm-80gb",
    "h100-80gb": "h100-sxm-80gb",
    "h100-80gb-mega": "h100-sxm-80gb",
    "l4": "l4-24gb",
    "rtx6000": "rtx-pro-6000-server-96gb",
}
_LOCAL_SSD = "local-ssd"


@dataclass(frozen=True)
class Priced:
    """What one column says of one term."""

    term: Term
    payment: Payment
    state: PriceState
    per_hour: Decimal | None
    reason: str


def looks_like(head: str, name: str) -> bool:
    """Return whether the file's first line names the columns of this table."""
    return names_all(head, COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the table is made of a public calculator's file, which the user brings."""
    raise FileError("no_fetch", "a table of machine prices: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; the file is of the day in its name."""
    return FileInfo(day_in_name(name), {}), open_table(file, name, COLUMNS, limits=limits).lines


def _month_per_hour(column: str, text: str) -> Decimal:
    """Return a month's amount per hour. A whole machine's month may cost more than any hour."""
    amount = number(column, text)
    if amount <= 0:
        return price(column, text)  # refuses it by the rule for its kind
    return price(column, f"{amount / HOURS_PER_MONTH:.15f}")


def check_month(fields: Mapping[str, str], hour: str, month: str) -> None:
    """Refuse a month that is not 730 of the hours beside it: one of the two would be wrong.

    The hour is the month divided by 730 and cut somewhere behind the twelfth digit.
    """
    if bool(fields[hour]) != bool(fields[month]):
        raise RowError(month, fields[month], "hour_without_month", f"{hour} and {month}, or neither")
    if not fields[hour]:
        return
    stated = number(hour, fields[hour])
    if abs(number(month, fields[month]) / HOURS_PER_MONTH - stated) > PRICE_STEP:
        expected = to_step(stated * HOURS_PER_MONTH, PRICE_STEP)
        raise RowError(month, fields[month], "month_not_730_hours", f"730 times {hour}: {expected}")


def _hourly(fields: Mapping[str, str], column: str, term: Term) -> Priced:
    if not fields[column]:
        reason = "the table gives no spot price" if term == "spot" else "the table gives no on-demand price"
        return Priced(term, "", "not_sold", None, reason)
    return Priced(term, "", "priced", price(column, fields[column]), "")


def _committed(fields: Mapping[str, str], column: str, term: Term) -> Priced:
    # a resource commitment is billed month by month
    if not fields[column]:
        years = "1 year" if term == "reserved_1y" else "3 years"
        return Priced(term, "no_upfront", "not_sold", None, f"the table gives no commitment of {years}")
    return Priced(term, "no_upfront", "priced", _month_per_hour(column, fields[column]), "")


def terms_of(fields: Mapping[str, str]) -> list[Priced]:
    """Return what a line says of each term: a price, or that the machine is not sold so."""
    check_month(fields, "hour", "month")
    check_month(fields, "hour_spot", "month_spot")
    return [
        _hourly(fields, "hour", "on_demand"),
        _hourly(fields, "hour_spot", "spot"),
        _committed(fields, "month_1y", "reserved_1y"),
        _committed(fields, "month_3y", "reserved_3y"),
    ]


def _attached(text: str) -> tuple[str, Decimal]:
    """Return accelerator and count of a list such as "a100-80gb=1;local-ssd=375"."""
    parts = dict(part.partition("=")[::2] for part in text.split(";"))
    parts.pop(_LOCAL_SSD, None)
    if len(parts) != 1 or "" in parts:
        raise RowError("attached", text, "attached_unreadable", "one accelerator, such as a100=8")
    ((name, count),) = parts.items()
    return _ACCELERATORS.get(name, name), number("attached", count)


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the price of each term, or that the machine is not sold on it."""
    fields = complete(raw)
    name, count = _attached(fields["attached"])
    return [
        PriceRow(
            provider="gcp",
            sku=fields["machine_type"],
            accelerator_name=name,
            gpu_count=count,
            region=fields["region"],
            term=priced.term,
            payment=priced.payment,
            state=priced.state,
            state_reason=priced.reason,
            price_per_hour=priced.per_hour,
            vcpus=number("cpu", fields["cpu"]),
            memory_gib=number("ram_gb", fields["ram_gb"]),  # Google writes GB and means GiB
        )
        for priced in terms_of(fields)
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: the table lists every machine in every region."""
    return "gcp"
