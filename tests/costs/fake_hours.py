"""A series source in few lines: cluster,hour,installed,allocated; an empty number is unknown."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileInfo, RawLine, Row, RowError, UtilizationRow

NAME, TITLE, KIND, MODE = "fake_hours", "Fake hours", "utilization", "series"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".csv",)
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
TEMPLATE = ""


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield from ()


def read(file: BinaryIO, name: str, params: Mapping[str, str]) -> tuple[FileInfo, Iterator[RawLine]]:
    return FileInfo(None, {}), _lines(file)


def _lines(file: BinaryIO) -> Iterator[RawLine]:
    for number, line in enumerate(file, 1):
        names = ("cluster", "hour", "installed", "allocated")
        yield RawLine(number, dict(zip(names, line.decode().rstrip("\n").split(","), strict=True)))


def _gpus(name: str, text: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except ArithmeticError:
        raise RowError(name, text, "not_a_number", "a number of GPUs, or empty when unknown") from None


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    installed = _gpus("installed", raw.fields["installed"])
    return [
        UtilizationRow(
            cluster=raw.fields["cluster"],
            pool="all",
            gpu_type="H100",
            starts_at=datetime.fromisoformat(raw.fields["hour"] + "+00:00"),
            gpus_installed=installed,
            gpus_available=installed,
            gpus_allocated=_gpus("allocated", raw.fields["allocated"]),
            gpus_pending=None,
            active_share=None,
        )
    ]


def scope(row: Row, info: FileInfo) -> str:
    assert isinstance(row, UtilizationRow)
    return row.cluster
