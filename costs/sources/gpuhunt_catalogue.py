"""The catalogue that gpuhunt publishes: one CSV per provider, on-demand and spot prices as rows of their own.

The lines are read by gpuhunt's own model, which knows its older layouts; the price alone is taken from the
text, since the model holds it as a binary number. A price is that of the whole machine. The files come in
zip archives, one per provider and version, from https://github.com/dstackai/gpuhunt (Mozilla Public License).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError, Term

from .byte_stream import LIMITS, Limits
from .card_names import card_name
from .csv_file import complete, open_table
from .dates import day_in_name
from .decimals import number, optional_number, price
from .gpuhunt_archive import PUBLISHED, catalogue_of
from .machines import machine_of
from .provider_names import our_name
from .tpu import chips_of
from .words import words

if TYPE_CHECKING:
    from gpuhunt import CatalogItem

NAME = "gpuhunt_catalogue"
TITLE = "gpuhunt catalogue"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
# several between commas to fetch, one to say whose file is uploaded
PARAMS: tuple[str, ...] = ("provider",)
HAS_NETWORK = True
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False  # one file is one provider
INCREMENTAL = False

COLUMNS = (
    *("instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory"),
    "spot",
)
# sold for days that are booked ahead, at $0.00 among the on-demand prices of AWS
_CAPACITY_BLOCKS = re.compile(r"(p4d|p4de|p5|p5e|p5en|p6-b200|p6-b300|trn1|trn2)\.|p6e-|u-p6e-")
# those that the library asks live publish no file; its own command line writes one
_PROVIDERS = (
    *PUBLISHED,
    *("crusoe", "digitalocean", "hotaisle", "jarvislabs", "lium", "seeweb", "vastai", "vultr"),
)
_ZONE = re.compile(r"[a-z]+-[a-z]+[0-9]+-[a-z]")
# offers that stand a second time for old clients of the library
_FOR_OLD_CLIENTS = "gcp-g4-preview"
_CALENDAR = "gcp-dws-calendar-mode"
_CLUSTER = "runpod-cluster"
_HALF = "oci-spot"


@cache
def _load() -> Any:
    # slow to load: it brings an HTTP library of its own, which is never used here
    from gpuhunt._internal import storage

    return storage


def looks_like(head: str, name: str) -> bool:
    """Return whether the first line names the columns of this catalogue."""
    header = [column.strip() for column in head.partition("\n")[0].split(",")]
    return set(COLUMNS) <= set(header)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the newest file of each provider that is asked for, of all without a wish."""
    wanted = words(params.get("provider", "").lower()) or list(PUBLISHED)
    for provider in wanted:
        if provider not in PUBLISHED:
            raise FileError("provider_unknown", f"one of {', '.join(PUBLISHED)}", value=provider)
    for provider in dict.fromkeys(wanted):
        yield f"{provider}.csv", catalogue_of(provider)


def provider_of(name: str, params: Mapping[str, str]) -> str:
    """Return the provider by the file's name or the parameter, as the library calls it.

    >>> provider_of("gpuhunt_verda_2026-11-30.csv.gz", {}), provider_of("prices.csv", {"provider": "oci"})
    ('verda', 'oci')
    """
    given = words(params.get("provider", "").lower())
    stem = PurePosixPath(name.replace("\\", "/").lower()).name.removesuffix(".gz").removesuffix(".csv")
    parts = stem.split("_")
    found = parts[1] if parts[0] == "gpuhunt" and len(parts) > 1 else stem
    if found not in _PROVIDERS or (given and found not in given):
        if len(given) != 1 or given[0] not in _PROVIDERS:
            expected = "a name such as gpuhunt_verda_2026-11-30.csv or verda.csv, or the parameter provider: "
            raise FileError("provider_unknown", expected + ", ".join(_PROVIDERS), value=name)
        return given[0]
    return found


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines of one provider's file."""
    table = open_table(file, name, COLUMNS, limits=limits)
    return FileInfo(day_in_name(name), {"provider": provider_of(name, params)}), table.lines


def _item(fields: Mapping[str, str], provider: str) -> "CatalogItem":
    """Return the line as the library reads it; refuse what the library would skip with a warning."""
    try:
        item: CatalogItem = _load().item_from_row(fields, provider=provider)
    except (ValueError, RecursionError) as error:
        text = " ".join(str(error).split())
        raise RowError("(line)", text, "item_unreadable", "a line that gpuhunt can read") from error
    return item


def _check_kept(item: "CatalogItem", fields: Mapping[str, str]) -> None:
    if not item.gpu_count:
        raise OutOfScope("no_accelerator", "gpu_count", fields["gpu_count"], "a machine with accelerators")
    if _FOR_OLD_CLIENTS in item.flags:
        raise OutOfScope("stands_twice", "flags", fields["flags"], "the same offer without this flag")
    is_free = number("price", fields["price"]) == 0
    if is_free and item.provider == "aws" and not item.spot and _CAPACITY_BLOCKS.match(item.instance_name):
        raise OutOfScope("capacity_block", "price", fields["price"], "the on-demand price")


def _accelerator(item: "CatalogItem", fields: Mapping[str, str], provider: str) -> tuple[str, Decimal]:
    """Return the accelerator's name and count; the library counts a part of a card as a whole one."""
    if not item.gpu_name:
        raise RowError("gpu_name", "", "empty", "the accelerator's name")
    if item.gpu_vendor == "google":
        return chips_of("gpu_name", item.gpu_name)
    count = number("gpu_count", fields["gpu_count"])
    machine = machine_of(provider, item.instance_name)
    if machine is None:
        return card_name(item.gpu_name, optional_number("gpu_memory", fields["gpu_memory"])), count
    is_part = machine.gpu_count < 1 and count == 1
    return machine.accelerator_name, machine.gpu_count if is_part else count


def _place(location: str, provider: str) -> tuple[str, str]:
    """Return region and zone: the library gives Google's zones and everybody else's regions.

    >>> _place("us-central1-a", "gcp"), _place("EU-RO-1", "runpod")
    (('us-central1', 'us-central1-a'), ('EU-RO-1', ''))
    """
    if provider == "gcp" and _ZONE.fullmatch(location):
        return location.rpartition("-")[0], location
    return location, ""


def _term(item: "CatalogItem") -> Term:
    if _CALENDAR in item.flags:
        return "capacity_block"
    return "spot" if item.spot else "on_demand"


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the price of one machine in one place, on demand or spot."""
    fields = complete(raw)
    item = _item(fields, info.params["provider"])
    _check_kept(item, fields)
    provider = our_name(item.provider)
    name, count = _accelerator(item, fields, provider)
    region, zone = _place(item.location, provider)
    is_half = _HALF in item.flags
    return [
        PriceRow(
            provider=provider,
            # sold from two machines of eight: another price than that of one
            sku=item.instance_name + (" cluster" if _CLUSTER in item.flags else ""),
            accelerator_name=name,
            gpu_count=count,
            region=region,
            zone=zone,
            term=_term(item),
            state="priced",
            price_per_hour=price("price", fields["price"]),
            vcpus=number("cpu", fields["cpu"]),
            memory_gib=number("memory", fields["memory"]),
            reference="gpuhunt catalogue" + (": half of the on-demand price" if is_half else ""),
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    """Return the provider: a new file replaces its prices."""
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    return row.provider
