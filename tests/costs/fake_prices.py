"""A price source in few lines: what it reads is plain enough to work out by hand.

The first line is the date of the file ("as_of 2026-01-02", or "as_of" for none). Then one offer a line:
sku,gpus,region,price[,currency[,accelerator[,since]]].
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, RawLine, Row, RowError

NAME, TITLE, KIND, MODE = "fake_prices", "Fake prices", "prices", "snapshot"
CADENCE: timedelta | None = timedelta(days=1)
PARSER_VERSION = 1
SUFFIXES = (".csv",)
PARAMS: tuple[str, ...] = ("provider",)
HAS_NETWORK = False
TEMPLATE = ""
OFFERED: list[tuple[str, bytes]] = []  # what fetch yields; a test fills it


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    for name, content in OFFERED:
        yield name, iter([content])


def read(file: BinaryIO, name: str, params: Mapping[str, str]) -> tuple[FileInfo, Iterator[RawLine]]:
    first = file.readline().decode().split()
    if first[:1] != ["as_of"]:
        raise FileError("columns_missing", "a first line with as_of", line=1, column="as_of", value=first)
    as_of = datetime.fromisoformat(first[1]).replace(tzinfo=UTC) if len(first) > 1 else None
    return FileInfo(as_of, params), _lines(file)


def _lines(file: BinaryIO) -> Iterator[RawLine]:
    for number, line in enumerate(file, 2):
        text = line.decode().rstrip("\n")
        if text == "cut":
            raise FileError("file_cut", "a whole file", line=number, column="sku", value=text)
        names = ("sku", "gpus", "region", "price", "currency", "accelerator", "since")
        yield RawLine(number, dict(zip(names, text.split(","), strict=False)))


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    fields = raw.fields
    if fields["gpus"] == "0":
        raise OutOfScope("no_accelerator", "gpus", "0", "at least one accelerator")
    if fields["price"] == "boom":
        raise ZeroDivisionError("a mistake of ours")
    try:
        price = Decimal(fields["price"])
    except ArithmeticError:
        raise RowError("price", fields["price"], "not_a_number", "a number above 0") from None
    since = fields.get("since")
    return [
        PriceRow(
            provider=info.params.get("provider", "acme"),
            sku=fields["sku"],
            accelerator_name=fields.get("accelerator") or "H100",
            gpu_count=Decimal(fields["gpus"]),
            region=fields["region"],
            term="on_demand",
            state="priced",
            price_per_hour=price,
            currency=fields.get("currency") or "USD",
            effective_from=datetime.fromisoformat(since).replace(tzinfo=UTC) if since else None,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    assert isinstance(row, PriceRow)
    return f"{row.provider} {row.region}"
