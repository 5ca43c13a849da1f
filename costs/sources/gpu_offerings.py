"""A hand-kept list of neocloud offers in JSON: one GPU for one hour, with what the seller adds to it.

The list is by people: a GPU is written "H100 SXM", "NVIDIA H100 SXM5" or "NVIDIA HGX H100", the memory stands
apart, and what makes a price no price stands in its caveats. Three kinds of it are heard here: a GPU whose
vCPUs and RAM are billed apart is not a machine's price, an estimate is nobody's price, and a reservation of
unstated length has no term. All other caveats go with the price.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .card_names import card_name
from .csv_file import RESERVED
from .dates import day, midnight
from .decimals import optional_number, price
from .json_text import as_text, whole_json
from .provider_names import our_name

NAME = "gpu_offerings"
TITLE = "Neocloud offers (JSON list)"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=31)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = True
INCREMENTAL = False

# held in memory whole
LIMITS = Limits(total_bytes=32 << 20, rows=50_000)
REQUIRED = (
    *("id", "provider_id", "gpu_model", "vram_gb", "tier", "is_spot", "price_usd_hour"),
    *("source_url", "collected_at"),
)
# the seller states no place
REGION = "global"
NO_OBJECT = RESERVED + "no_object"
# what the list calls a way to sell; whether it can be interrupted is said apart
_TIERS = frozenset(
    ("on-demand", "spot", "marketplace", "community", "secure", "prototyping", "production")
)  # fmt: skip
_RESERVED = frozenset(("reserved", "committed", "commitment"))
_APART = re.compile(r"\bbilled separately\b", re.IGNORECASE)
_ESTIMATED = re.compile(r"\b(estimated|approximate price)\b", re.IGNORECASE)
_REFERENCE_CHARS, _REASON_CHARS = 400, 200


def looks_like(head: str, name: str) -> bool:
    """Return whether the file is a list of objects with the keys that only this list has."""
    return head.lstrip().startswith("[") and all(
        f'"{key}"' in head for key in ("provider_id", "price_usd_hour")
    )


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the list is in a repository whose terms its reader has to see."""
    raise FileError("no_fetch", "a list of offers: upload it, or name it with --file")


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the offers, numbered from 1. The file is as of the newest day that one was collected on."""
    found = whole_json(file, name, limits)
    if not isinstance(found, list):
        raise FileError("layout_unknown", "a list of offers", value=type(found).__name__)
    if len(found) > limits.rows:
        raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=limits.rows + 1)
    lines = [RawLine(at, _fields(offer)) for at, offer in enumerate(found, 1)]
    for key in REQUIRED:
        if not any(key in line.fields for line in lines):
            raise FileError("columns_missing", f"offers with {', '.join(REQUIRED)}", column=key)
    return FileInfo(_newest(lines), {}), iter(lines)


def _fields(offer: object) -> dict[str, str]:
    if not isinstance(offer, dict):
        return {NO_OBJECT: as_text(offer)[:80]}
    return {key: as_text(value) for key, value in offer.items()}


def _newest(lines: list[RawLine]) -> datetime | None:
    days = []
    for raw in lines:
        # a line with a wrong date is refused by its number when it is parsed
        with suppress(RowError):
            days.append(day("collected_at", raw.fields.get("collected_at", "")))
    return midnight(max(days)) if days else None


def _complete(raw: RawLine) -> Mapping[str, str]:
    if NO_OBJECT in raw.fields:
        raise RowError("(offer)", raw.fields[NO_OBJECT], "not_an_object", "an object with named values")
    for key in REQUIRED:
        if not raw.fields.get(key):
            raise RowError(key, "", "empty", f"the {key.replace('_', ' ')}")
    return raw.fields


def _is_spot(fields: Mapping[str, str]) -> bool:
    tier = fields["tier"]
    if tier in _RESERVED:
        raise OutOfScope("reserved_term_unclear", "tier", tier, "a reservation that states its length")
    if tier not in _TIERS:
        raise RowError("tier", tier, "word_unknown", f"one of {', '.join(sorted(_TIERS))}")
    if fields["is_spot"] not in ("true", "false"):
        raise RowError("is_spot", fields["is_spot"], "word_unknown", "true or false")
    is_spot = fields["is_spot"] == "true"
    if tier == "spot" and not is_spot:
        raise RowError("is_spot", fields["is_spot"], "spot_contradicted", "true for the tier spot")
    return is_spot


def _no_price(fields: Mapping[str, str], stated: Decimal) -> str:
    """Return why the stated amount is not what a machine costs, or nothing."""
    caveats = fields.get("caveats", "")
    amount = f"{stated.normalize():f} USD per hour"
    if _APART.search(caveats):
        return f"{amount} is for the GPU alone: {caveats}"
    if _ESTIMATED.search(caveats):
        return f"{amount} is an estimate: {caveats}"
    if _ESTIMATED.search(fields.get("notes", "")):
        return f"{amount} is an estimate: {fields['notes']}"
    return ""


def _short(text: str, most: int) -> str:
    return textwrap.shorten(text, most, placeholder=" …")


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the price of one offer, or that there is none and why."""
    fields = _complete(raw)
    is_spot = _is_spot(fields)
    collected = day("collected_at", fields["collected_at"])
    stated = price("price_usd_hour", fields["price_usd_hour"])
    reason = _no_price(fields, stated)
    caveats = fields.get("caveats", "")
    reference = f"{fields['source_url']} ({collected})" + (f"; {caveats}" if caveats else "")
    return [
        PriceRow(
            provider=our_name(fields["provider_id"]),
            sku=fields["id"],
            accelerator_name=card_name(fields["gpu_model"], optional_number("vram_gb", fields["vram_gb"])),
            gpu_count=Decimal(1),
            region=REGION,
            term="spot" if is_spot else "on_demand",
            state="unknown" if reason else "priced",
            state_reason=_short(reason, _REASON_CHARS),
            price_per_hour=None if reason else stated,
            vcpus=optional_number("vcpu", fields.get("vcpu", "")),
            reference=_short(reference, _REFERENCE_CHARS),
            observed_on=collected,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: a new list replaces the offers of each provider that it names."""
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    return row.provider
