"""Snapshots of a GPU marketplace over time, as JSON lines: the lowest price of each seller at each moment.

Prime Intellect lists the offers of many sellers. One line is one snapshot of one GPU: per seller the lowest
price per GPU. Its percentiles, means and stock counts are statistics over all sellers and no offers: nobody
sells at them, so they become no price. Neither do the prices per machine size, whose seller is not named.

A seller that was listed in one snapshot and is missing in the next sells none at that moment: its price ends
there. Sellers that the marketplace names "dc_…" do not want to be known: they stand under the marketplace.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import BinaryIO

from costs.rows import FileError, FileInfo, OutOfScope, PriceRow, PriceState, RawLine, Row, RowError

from .byte_stream import Limits, blocks_of_text
from .csv_file import RESERVED, decode, text_lines
from .dates import moment
from .decimals import price
from .json_text import as_text, decoded, objects
from .provider_names import our_name

NAME = "market_history"
TITLE = "Marketplace price history (JSON lines)"
KIND = "prices"
MODE = "history"
CADENCE: timedelta | None = None
PARSER_VERSION = 1
SUFFIXES = (".jsonl", ".jsonl.gz")
PARAMS: tuple[str, ...] = ()
HAS_NETWORK = False
TEMPLATE = ""
NEEDS = ""
RIGHTS: tuple[str, ...] = ()
WHOLE = False
INCREMENTAL = False

LIMITS = Limits(rows=1_000_000)
MARKETPLACE = "primeintellect"
REGION = "global"
SELLERS = "by_provider"
# the whole line as JSON, and the sellers that the snapshot before this one had and this one has not
LINE, GONE = RESERVED + "line", RESERVED + "gone"
_ANONYMOUS = re.compile(r"dc_[a-z0-9_]+")
_SELLER = re.compile(r"[a-z0-9][a-z0-9._-]{0,38}")
_TIMESTAMP = re.compile(rb'"timestamp": ?"([0-9T:.Z+-]{10,40})"')
_GPU = re.compile(r"(.+)_([0-9]+GB)")
_REFERENCE = (
    "Prime Intellect marketplace: lowest price per GPU of this seller's offers; "
    "whether they may be interrupted is not stated"
)
_NO_OFFER = "the marketplace lists no offer of this seller at this moment"


def looks_like(head: str, name: str) -> bool:
    """Return whether the first line is a snapshot."""
    first = head.partition("\n")[0]
    return first.startswith("{") and all(f'"{key}"' in first for key in ("gpu_type", "price_stats", SELLERS))


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Refuse: somebody recorded the marketplace, and the recording comes as a file."""
    raise FileError("no_fetch", "recorded snapshots: upload them, or name them with --file")


def _sellers(text: str) -> set[str]:
    """Return the sellers of a snapshot, none where it cannot be read."""
    try:
        found = decoded(text)
    except ValueError:
        return set()
    sellers = found.get(SELLERS) if isinstance(found, dict) else None
    return set(sellers) if isinstance(sellers, dict) else set()


def read(
    file: BinaryIO, name: str, params: Mapping[str, str], *, limits: Limits = LIMITS
) -> tuple[FileInfo, Iterator[RawLine]]:
    """Return the snapshots, each with the sellers that have gone since the one before it in the file.

    Reads the file twice: it is as of its newest snapshot.
    """
    newest = _newest(text_lines(blocks_of_text(file, name, limits), limits))
    blocks = blocks_of_text(file, name, limits)

    def lines() -> Iterator[RawLine]:
        before: set[str] = set()
        for number, line in enumerate(text_lines(blocks, limits), 1):
            if number > limits.rows:
                raise FileError("too_many_rows", f"at most {limits.rows:,} rows", line=number)
            text = decode(line, number).strip()
            if text:
                sellers = _sellers(text)
                yield RawLine(number, {LINE: text, GONE: "\n".join(sorted(before - sellers))})
                before = sellers or before

    return FileInfo(newest, {}), lines()


def _newest(lines: Iterable[bytes]) -> datetime | None:
    newest = None
    for line in lines:
        found = _TIMESTAMP.search(line)
        # a line with a wrong moment is refused by its number when it is parsed
        with suppress(RowError):
            at = moment("timestamp", found[1].decode("ascii") if found else "")
            newest = max(newest or at, at)
    return newest


def _snapshot(text: str) -> dict[str, object]:
    try:
        found = decoded(text)
    except ValueError as error:
        raise RowError("(line)", text[:80], "json_broken", "one JSON object on the line") from error
    if not isinstance(found, dict):
        raise RowError("(line)", text[:80], "not_an_object", "one JSON object on the line")
    return found


def _card(snapshot: Mapping[str, object]) -> str:
    """Return the card as other catalogues write it: "H100 SXM5 80GB" for H100_80GB on SXM5.

    >>> _card({"gpu_type": "H200_141GB", "socket_type": None})
    'H200 141GB'
    """
    text = as_text(snapshot.get("gpu_type"))
    match = _GPU.fullmatch(text)
    if not match:
        raise RowError("gpu_type", text, "gpu_type_unreadable", "a GPU and its memory, such as H100_80GB")
    parts = (match[1].replace("_", " "), as_text(snapshot.get("socket_type")), match[2])
    return " ".join(part for part in parts if part)


def _row(seller: str, card: str, at: datetime, amount: Decimal | None) -> PriceRow:
    if not _SELLER.fullmatch(seller):
        raise RowError(SELLERS, seller, "provider_wrong", "small letters, digits and hyphens")
    anonymous = _ANONYMOUS.fullmatch(seller) is not None
    state: PriceState = "not_sold" if amount is None else "priced"
    return PriceRow(
        provider=MARKETPLACE if anonymous else our_name(seller),
        sku=f"marketplace 1x {card}",
        accelerator_name=card,
        gpu_count=Decimal(1),
        region=REGION,
        zone=seller if anonymous else "",
        term="on_demand",
        state=state,
        state_reason=_NO_OFFER if amount is None else "",
        price_per_hour=amount,
        effective_from=at,
        observed_on=at.date(),
        reference=_REFERENCE,
    )


def parse(raw: RawLine, info: FileInfo) -> list[Row]:
    """Return the lowest price of each seller of one snapshot, and which sellers have none any more."""
    snapshot = _snapshot(raw.fields[LINE])
    at = moment("timestamp", as_text(snapshot.get("timestamp")))
    card = _card(snapshot)
    rows: list[Row] = [
        _row(seller, card, at, price(f"{SELLERS}.{seller}.min"[:120], as_text(figures.get("min"))))
        for seller, figures in objects(snapshot, SELLERS)
    ]
    rows += [_row(seller, card, at, None) for seller in raw.fields[GONE].splitlines()]
    if not rows:
        raise OutOfScope("no_offer", SELLERS, "{}", "a snapshot with at least one seller")
    return rows


def scope(row: Row, info: FileInfo) -> str:
    """Return the GPU: the recordings lie in one file per GPU."""
    if not isinstance(row, PriceRow):
        raise TypeError(f"{NAME} yields prices, not {type(row).__name__}")
    return row.accelerator_name
