"""Requests to raise limits, kept by hand: for clouds whose own history nobody can read."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO, cast, get_args

from costs.rows import FileError, FileInfo, QuotaRequestRow, RawLine, RequestStatus, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, open_table
from .dates import day, midnight, moment
from .decimals import number, optional_number
from .quota_csv import provider_in
from .quota_params import file_date

NAME = "quota_requests_csv"
TITLE = "Quota requests kept by hand (CSV)"
KIND = "quota_requests"
MODE = "amend"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("as_of",)
HAS_NETWORK = False
WHOLE = False
INCREMENTAL = False
RIGHTS: tuple[str, ...] = ()
NEEDS = ""

REQUIRED = ("provider", "region", "code", "request", "asked", "status", "requested_at")
TEMPLATE = (
    "provider,account,region,code,request,name,asked,status,requested_at,decided_at,granted,case,note\n"
    "azure,,eastus,standardNDSH100v5Family,QR-118,ND H100 v5,768,partly_granted,2026-10-20,2026-11-10,384,"
    "2610200040001,half of it; the rest in January\n"
    "example-cloud,,eu-north,h100,QR-119,H100 GPUs,64,open,2026-11-28,,,,\n"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_GRANTED_ALL = "granted: taken as what was asked"


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so has the columns of requests kept by hand."""
    names = {cell.strip() for cell in head.partition("\n")[0].split(",")}
    return set(REQUIRED) <= names


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: these requests are kept by hand."""
    raise FileError("no_fetch", "a file of requests: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines."""
    return FileInfo(file_date(name, params), {}), open_table(file, name, REQUIRED, limits=limits).lines


def _when(column: str, text: str) -> datetime:
    """Return a moment, or the start of a day."""
    return midnight(day(column, text)) if _DAY.fullmatch(text) else moment(column, text)


def _granted(status: str, text: str, asked: Decimal) -> Decimal | None:
    """Return what was granted; it must fit what the status says."""
    value = optional_number("granted", text)
    fits = {
        "open": value is None,
        "granted": value is None or value >= asked,
        "partly_granted": value is not None and 0 < value < asked,
        "denied": not value,
        "cancelled": value is None,
    }
    if not fits[status]:
        expected = "a part of what was asked for partly_granted, all of it for granted, else empty"
        raise RowError("granted", text, "granted_contradicts_status", expected)
    return asked if status == "granted" and value is None else value or None


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one request, as it stands."""
    fields = complete(raw)
    status, decided = fields["status"], fields.get("decided_at", "")
    if status not in get_args(RequestStatus):
        raise RowError("status", status, "word_unknown", f"one of {', '.join(get_args(RequestStatus))}")
    if (status == "open") and decided:
        raise RowError("decided_at", decided, "open_and_decided", "empty while the request is open")
    asked, note, granted = number("asked", fields["asked"]), fields.get("note", ""), fields.get("granted", "")
    if status == "granted" and not granted:
        note = f"{note}; {_GRANTED_ALL}" if note else _GRANTED_ALL
    return [
        QuotaRequestRow(
            provider=provider_in(fields),
            account=fields.get("account", ""),
            region=fields["region"],
            code=fields["code"],
            request=fields["request"],
            name=fields.get("name", ""),
            asked=asked,
            status=cast(RequestStatus, status),
            requested_at=_when("requested_at", fields["requested_at"]),
            decided_at=_when("decided_at", decided) if decided else None,
            granted=_granted(status, granted, asked),
            case=fields.get("case", ""),
            note=note,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider."""
    if not isinstance(row, QuotaRequestRow):
        raise TypeError(f"{NAME} yields requests, not {type(row).__name__}")
    return row.provider
