"""Plain tables of prices: one machine type, one region, one price per line, as people keep them.

Two layouts, told apart by their header: region, instance_type, price_per_hour, currency; and the Azure
comparison of spot and pay-as-you-go that a public script writes.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import BinaryIO, cast

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError, Term

from .byte_stream import Limits
from .csv_file import complete, open_table
from .dates import day_in_name
from .decimals import price
from .price_table_machines import machine_for

NAME = "price_table"
TITLE = "Plain price tables"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=31)
PARSER_VERSION = 1
SUFFIXES = (".csv", ".csv.gz")
PARAMS: tuple[str, ...] = ("provider",)
HAS_NETWORK = False
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(rows=500_000)

COLUMNS = ("region", "instance_type", "price_per_hour")
AZURE_COLUMNS = (
    *("armSkuName", "Currency", "Spot Unit Price", "PayGo Unit Price", "Unit of Measure"),
    *("Region", "Product Name"),
)
TEMPLATE = "region,instance_type,price_per_hour,currency\nus-east-1,p5.48xlarge,55.040000,USD\n"
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]")
# providers whose machine types the product knows: only of these can a table without GPU columns be read
KNOWN_PROVIDERS = frozenset({"aws", "azure", "gcp", "lambda", "oci"})
_WINDOWS = re.compile(r" Win(?:dows)?$")


def header_of(head: str) -> list[str]:
    """Return the column names on the first line of a file's beginning."""
    first = head.removeprefix("\ufeff").partition("\n")[0]
    return [name.strip().strip('"') for name in first.split(",")]


def looks_like(head: str, name: str) -> bool:
    """Tell whether the header is one of the two."""
    header = header_of(head)
    return header[:3] == list(COLUMNS) or set(AZURE_COLUMNS) <= set(header)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: these are files of your own."""
    raise FileError("no_fetch", "a table of prices: upload it, or name it with --file")


def provider_of(name: str, params: Mapping[str, str]) -> str:
    """Return the provider from the parameter or from the first word of the file's name.

    >>> provider_of("tables/aws_ondemand_us-east-1_2026-07-20.csv", {})
    'aws'
    """
    given = params.get("provider", "").strip().lower()
    found = given or re.split(r"[_.-]", name.replace("\\", "/").rpartition("/")[2].lower())[0]
    if given and not _PROVIDER.fullmatch(given):
        raise FileError("provider_wrong", "small letters, digits and hyphens, such as aws", value=given)
    if found not in KNOWN_PROVIDERS:
        raise FileError(
            "provider_unknown",
            f"a name that begins with one of {', '.join(sorted(KNOWN_PROVIDERS))}, or the parameter provider:"
            " the machine types of others are not known here",
            value=given or name,
        )
    return found


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the lines of the table, dated by the day in its name."""
    table = open_table(file, name, (), limits=limits)
    if set(AZURE_COLUMNS) <= set(table.header):
        return FileInfo(day_in_name(name), {"provider": "azure", "layout": "azure_spot"}), table.lines
    missing = [column for column in COLUMNS if column not in table.header]
    if missing:
        raise FileError(
            "columns_missing",
            f"a header with {', '.join(COLUMNS)}, or with {', '.join(AZURE_COLUMNS)}",
            line=1,
            column=missing[0],
            value=", ".join(table.header),
        )
    told = {"provider": provider_of(name, params), "layout": "plain"}
    return FileInfo(day_in_name(name), told), table.lines


def _row(
    provider: str, sku: str, region: str, term: Term, amount: str, column: str, currency: str
) -> PriceRow:
    machine = machine_for(provider, sku, "instance_type")
    return PriceRow(
        provider=provider,
        sku=sku,
        accelerator_name=machine.accelerator_name,
        gpu_count=machine.gpu_count,
        region=region,
        term=term,
        state="priced",
        price_per_hour=price(column, amount),
        currency=currency or ("CNY" if region.startswith("cn-") else "USD"),
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
    )


def _azure_rows(fields: Mapping[str, str]) -> Iterator[PriceRow]:
    """Yield both prices of a Linux line.

    A Windows line has its own spot price beside the pay-as-you-go price of Linux, so it is of no use.
    """
    sku, product = fields["armSkuName"], fields["Product Name"]
    machine_for("azure", sku, "armSkuName")
    if _WINDOWS.search(product):
        raise OutOfScope("windows", "Product Name", product, "a product without Windows")
    if fields["Unit of Measure"] != "1 Hour":
        raise RowError("Unit of Measure", fields["Unit of Measure"], "unit_unknown", "1 Hour")
    terms: tuple[tuple[Term, str], ...] = (("spot", "Spot Unit Price"), ("on_demand", "PayGo Unit Price"))
    for term, column in terms:
        yield _row("azure", sku, fields["Region"], term, fields[column], column, fields["Currency"])


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the on-demand price of a line, or the spot and pay-as-you-go price of Azure's."""
    fields = complete(raw)
    if info.params["layout"] == "azure_spot":
        return list(_azure_rows(fields))
    sku, region, currency = fields["instance_type"], fields["region"], fields.get("currency", "")
    amount = fields["price_per_hour"]
    return [_row(info.params["provider"], sku, region, "on_demand", amount, "price_per_hour", currency)]


def scope(row: Row, info: FileInfo) -> str:
    """Return layout, provider and region: a table replaces what an earlier one said of the same region."""
    found = cast(PriceRow, row)
    return f"{info.params['layout']}:{found.provider}:{found.region}"
