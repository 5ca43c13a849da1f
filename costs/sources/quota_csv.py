"""Limits typed by hand: for clouds without an API, and for what an account manager said."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO, cast, get_args

from costs.rows import FileError, FileInfo, Purchase, QuotaRow, QuotaUnit, RawLine, Row, RowError

from .byte_stream import LIMITS, Limits
from .csv_file import complete, open_table
from .decimals import number, optional_number
from .quota_params import file_date

NAME = "quota_csv"
TITLE = "Limits typed by hand (CSV)"
KIND = "quotas"
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

REQUIRED = ("provider", "region", "code", "purchase", "unit", "limit")
TEMPLATE = (
    "provider,account,region,code,name,bucket,purchase,unit,limit,used,default_limit,adjustable,reference\n"
    "aws,123456789012,us-east-1,L-417A185B,Running On-Demand P instances,P,on_demand,vcpu,384,192,0,yes,"
    "support case of 2026-11-01\n"
    "example-cloud,,eu-north,h100,H100 GPUs,h100-sxm-80gb,any,gpu,64,,,,mail of their sales 2026-11-20\n"
)
_UNLIMITED = "unlimited"
_ADJUSTABLE = {"": None, "yes": True, "no": False}
PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]")


def looks_like(head: str, name: str) -> bool:
    """Return whether a file that starts so has the columns of typed limits."""
    names = {cell.strip() for cell in head.partition("\n")[0].split(",")}
    return set(REQUIRED) <= names


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: these limits are typed."""
    raise FileError("no_fetch", "a file of typed limits: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines."""
    return FileInfo(file_date(name, params), {}), open_table(file, name, REQUIRED, limits=limits).lines


def provider_in(fields: Mapping[str, str]) -> str:
    """Return the provider of a line; one spelled in another way would be another provider."""
    if not PROVIDER.fullmatch(fields["provider"]):
        raise RowError(
            "provider", fields["provider"], "provider_wrong", "small letters, digits, hyphens: aws"
        )
    return fields["provider"]


def _one_of(fields: Mapping[str, str], column: str, allowed: tuple[str, ...]) -> str:
    if fields[column] not in allowed:
        raise RowError(column, fields[column], "word_unknown", f"one of {', '.join(allowed)}")
    return fields[column]


def _limit(text: str) -> tuple[Decimal | None, bool]:
    """Return the limit; empty is unknown, which is neither 0 nor unlimited."""
    if text.strip().lower() == _UNLIMITED:
        return None, True
    return optional_number("limit", text), False


def _adjustable(text: str) -> bool | None:
    if text.lower() not in _ADJUSTABLE:
        raise RowError("adjustable", text, "word_unknown", "yes, no or empty")
    return _ADJUSTABLE[text.lower()]


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return one limit."""
    fields = complete(raw)
    limit, is_unlimited = _limit(fields["limit"])
    default = optional_number("default_limit", fields.get("default_limit", ""))
    if limit is None and not is_unlimited and default is None:
        raise RowError("limit", "", "empty", "a number or unlimited; empty only where default_limit is known")
    used = fields.get("used", "")
    return [
        QuotaRow(
            provider=provider_in(fields),
            account=fields.get("account", ""),
            region=fields["region"],
            code=fields["code"],
            name=fields.get("name", "") or fields["code"],
            bucket=fields.get("bucket", ""),
            purchase=cast(Purchase, _one_of(fields, "purchase", get_args(Purchase))),
            unit=cast(QuotaUnit, _one_of(fields, "unit", get_args(QuotaUnit))),
            limit=limit,
            is_unlimited=is_unlimited,
            used=number("used", used) if used else None,
            default_limit=default,
            is_adjustable=_adjustable(fields.get("adjustable", "")),
            reference=fields.get("reference", ""),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider."""
    if not isinstance(row, QuotaRow):
        raise TypeError(f"{NAME} yields limits, not {type(row).__name__}")
    return row.provider
