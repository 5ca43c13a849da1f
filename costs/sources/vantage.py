"""The list of EC2 prices that ec2instances.info (Vantage) publishes, whole or cut down by others.

A line is one machine, one region and one platform of it. Of the platforms only plain Linux on shared hardware
is ours. A commitment's price is blended: its upfront fee is spread over the hours of the term.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, cast

from costs.rows import FileError, FileInfo, PriceRow, RawLine, Row, RowError

from .byte_stream import Limits
from .dates import day, day_in_name, midnight
from .json_records import readable, whole_text
from .vantage_lines import REDUCED, lines_of
from .vantage_rows import full_rows, reduced_rows

NAME = "vantage"
TITLE = "EC2 prices of ec2instances.info"
KIND = "prices"
MODE = "snapshot"
CADENCE: timedelta | None = timedelta(days=31)
PARSER_VERSION = 1
SUFFIXES = (".json", ".json.gz")
PARAMS: tuple[str, ...] = ("as_of",)
HAS_NETWORK = False
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False
LIMITS = Limits(rows=2_000_000)

_MONTH_IN_NAME = re.compile(r"(?<![0-9])(20[0-9]{2})-(0[1-9]|1[0-2])(?![0-9]|-[0-9])")
_FULL = ('"instance_type"', '"pricing"', '"ondemand"')
_CUT_DOWN = ('"apiName"', '"pricing"', '"onDemand"')
# one number for each type and region, as OpenCost keeps effective rates of reservations
_BARE_NUMBERS = re.compile(r'\{\s*"[a-z0-9-]+\.[a-z0-9-]+/[a-z]{2}(?:-[a-z]+)+-[0-9]+"\s*:\s*[0-9]')


def looks_like(head: str, name: str) -> bool:
    """Tell whether a file is such a list, or one of the bare numbers that are refused by name here."""
    return (
        all(word in head for word in _FULL)
        or all(word in head for word in _CUT_DOWN)
        or _BARE_NUMBERS.match(head.lstrip()) is not None
    )


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: the list is another firm's work, so it comes from the user as a file."""
    raise FileError("no_fetch", "a file such as instances.json: upload it, or name it with --file")


def _as_of(name: str, params: Mapping[str, str]) -> datetime | None:
    """Return the date of the list, which does not state it: a parameter, or the file's name.

    A name may give the month alone; its first day is then taken.
    """
    given = params.get("as_of", "").strip()
    if given:
        try:
            return midnight(day("as_of", given))
        except RowError as error:
            raise FileError(error.rule, error.expected, column="as_of", value=given) from error
    found = day_in_name(name)
    month = _MONTH_IN_NAME.search(name)
    if found is None and month:
        return datetime(int(month[1]), int(month[2]), 1, tzinfo=UTC)
    return found


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return a line for each platform of each machine in each region."""
    text = whole_text(file, name, limits)
    start = text[:4096].decode("utf-8", "replace").lstrip()
    if _BARE_NUMBERS.match(start):
        expected = "prices that say their term and payment: these are one number for each type and region"
        raise FileError("term_unknown", expected, value=start[:80])
    found = lines_of(text, limits)
    told = {"layout": found.layout, "plans": found.plans, "only": found.only}
    return FileInfo(_as_of(name, params), told), found.lines


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return every price of one platform of a machine in a region, and the terms that are not sold."""
    fields = readable(raw)
    if info.params["layout"] == REDUCED:
        return list(reduced_rows(fields))
    return list(full_rows(fields, info.params["plans"]))


def scope(row: Row, info: FileInfo) -> str:
    """Return layout and region: a list of China lacks the rest of the world, a cut-down one most terms.

    A file with one machine replaces that machine's prices only.
    """
    place = cast(PriceRow, row).region
    return ":".join(part for part in (info.params["layout"], place, info.params["only"]) if part)
