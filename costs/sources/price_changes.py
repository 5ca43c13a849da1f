"""Changes of a cloud catalogue in SkyPilot's layout, as the versions of a public copy show them.

A line says what an offer costs from a moment on: first seen, added, changed or removed. Google Cloud stands
there in halves, which `price_changes_gcp` puts together.

On some days the copy took Azure's Windows meters for its Linux ones and back, a few hours later. Those
lines are read as they stand: whether a price is to be believed is judged where prices are published.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, PriceState, RawLine, Row, RowError, Term

from .byte_stream import LIMITS, Limits
from .csv_file import FIELD_COUNT, complete, names_all, open_table
from .dates import moment
from .decimals import number, price
from .machines import machine_of
from .price_changes_gcp import REMOVED, Together, machine_rows

NAME = "catalogue_changes"
TITLE = "Cloud catalogue changes"
KIND = "prices"
MODE = "history"
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
    *("observed_at", "cloud", "instance_type", "accelerator", "accelerator_count"),
    *("region", "zone", "price", "spot_price", "event"),
)
TEMPLATE = ",".join(COLUMNS) + (
    "\n2026-05-07T07:27:08+00:00,lambda,gpu_8x_h100_sxm5,H100,8,us-east-1,,31.92,,added\n"
    "2026-05-07T09:00:00+00:00,lambda,gpu_8x_h100_sxm5,H100,8,us-east-1,,,,removed\n"
)
_EVENTS = ("initial", "added", "changed", REMOVED)
_CLOUD = re.compile(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]")
_OUR_NAMES = {"do": "digitalocean"}
_TERMS: tuple[tuple[str, Term, str], ...] = (
    ("price", "on_demand", "the catalogue gives no on-demand price"),
    ("spot_price", "spot", "the catalogue gives no spot price: spot is not offered"),
)


def looks_like(head: str, name: str) -> bool:
    """Return whether the file's first line names the columns of this table."""
    return names_all(head, COLUMNS)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the table is made of many versions of a catalogue without a licence."""
    raise FileError("no_fetch", "a table of catalogue changes: upload it, or name it with --file")


def _newest(file: BinaryIO, name: str, limits: Limits) -> datetime | None:
    """Return the last moment of the file, having seen that its lines stand in the order of time.

    Halves can only be put together in that order, so a moment that cannot be read spoils the whole file.
    """
    newest: datetime | None = None
    for raw in open_table(file, name, COLUMNS, limits=limits).lines:
        text = raw.fields.get("observed_at", "")
        try:
            found = moment("observed_at", text)
        except RowError as error:
            raise FileError(
                error.rule, error.expected, line=raw.line, column="observed_at", value=text
            ) from error
        if newest and found < newest:
            expected = f"lines in the order of time: {newest.isoformat()} or later"
            raise FileError("not_in_order", expected, line=raw.line, column="observed_at", value=text)
        newest = found
    return newest


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines; those of Google Cloud carry the machines that they change. Reads the file twice."""
    newest = _newest(file, name, limits)
    table = open_table(file, name, COLUMNS, limits=limits)
    return FileInfo(newest, {}), _with_machines(table.lines)


def _with_machines(lines: Iterator[RawLine]) -> Iterator[RawLine]:
    """Yield the lines, one moment after the other."""
    together, waiting, at = Together(), list[RawLine](), None
    for raw in lines:
        if (found := moment("observed_at", raw.fields["observed_at"])) != at:
            yield from together.stated(waiting)
            waiting, at = [], found
        if raw.fields.get("cloud") == "gcp" and FIELD_COUNT not in raw.fields:
            waiting.append(raw)
        else:
            yield raw
    yield from together.stated(waiting)


def _provider(fields: Mapping[str, str]) -> str:
    cloud = fields["cloud"]
    if not _CLOUD.fullmatch(cloud):
        raise RowError("cloud", cloud, "provider_wrong", "small letters, digits and hyphens, such as aws")
    return _OUR_NAMES.get(cloud, cloud)


def _check_event(fields: Mapping[str, str]) -> None:
    event = fields["event"]
    if event not in _EVENTS:
        raise RowError("event", event, "word_unknown", f"one of {', '.join(_EVENTS)}")
    for column, _, _ in _TERMS:
        if event == REMOVED and fields[column]:
            raise RowError(column, fields[column], "price_of_removed", "no price of an offer that is removed")


def _count(fields: Mapping[str, str], provider: str) -> Decimal:
    machine = fields["instance_type"]
    for column in ("instance_type", "accelerator", "accelerator_count"):
        if not fields[column]:
            raise RowError(column, "", "empty", f"the {column.replace('_', ' ')}")
    count = number("accelerator_count", fields["accelerator_count"])
    known = machine_of(provider, machine)
    # the catalogue counts some partitioned cards of Azure (NVas_v4) as whole ones
    if known and known.gpu_count < 1 == count:
        raise OutOfScope(
            "gpu_count_wrong",
            "accelerator_count",
            fields["accelerator_count"],
            f"{known.gpu_count}: {machine} holds a part of a card",
        )
    return count


def _priced(fields: Mapping[str, str], column: str, absent: str) -> tuple[PriceState, Decimal | None, str]:
    if fields["event"] == REMOVED:
        return "not_sold", None, "the catalogue lists the offer no longer"
    if not fields[column]:
        return "not_sold", None, absent
    return "priced", price(column, fields[column]), ""


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return what an offer costs from the moment of the line on, on demand and as spot."""
    fields = complete(raw)
    provider = _provider(fields)
    _check_event(fields)
    at = moment("observed_at", fields["observed_at"])
    if provider == "gcp":
        return list(machine_rows(fields, at))
    count = _count(fields, provider)
    rows: list[Row] = []
    for column, term, absent in _TERMS:
        state, amount, reason = _priced(fields, column, absent)
        rows.append(
            PriceRow(
                provider=provider,
                sku=fields["instance_type"],
                accelerator_name=fields["accelerator"],
                gpu_count=count,
                region=fields["region"],
                zone=fields["zone"],
                term=term,
                state=state,
                state_reason=reason,
                price_per_hour=amount,
                effective_from=at,
            )
        )
    return rows


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider."""
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    return row.provider
