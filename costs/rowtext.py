"""A row as plain JSON values and back, rounded as the tables hold it; and its digest for the ledger."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, get_type_hints

from msgspec import json

from .kinds import ALL, BY_ROW
from .rows import PriceRow, Row

Payload = dict[str, Any]
KEY_SEPARATOR = " / "  # of a key in words

PLACES = {kind.row: kind.places for kind in ALL}
KEYS = {kind.row: kind.key for kind in ALL}
KINDS = {kind.name: kind.row for kind in ALL}
NAMES = {row: tuple(f.name for f in fields(row)) for row in KEYS}
_STEPS = {row: {n: Decimal(1).scaleb(-p) for n, p in places.items()} for row, places in PLACES.items()}


def _times(row: type) -> dict[str, Callable[[str], date]]:
    hints = get_type_hints(row)
    readers = {datetime: datetime.fromisoformat, date: date.fromisoformat}
    return {
        name: readers[kind]
        for name in NAMES[row]
        for kind in (datetime, date)
        if hints[name] in (kind, kind | None)
    }


_TIMES = {row: _times(row) for row in KEYS}


def to_payload(row: Row) -> Payload:
    """Return the row as JSON values, its numbers rounded to what the tables hold."""
    kind = type(row)
    steps = _STEPS[kind]
    payload: Payload = {}
    for name in NAMES[kind]:
        value = getattr(row, name)
        if isinstance(value, Decimal):
            value = format(value.quantize(steps[name], ROUND_HALF_EVEN), "f")
        elif isinstance(value, datetime):
            value = value.astimezone(UTC).isoformat()
        elif isinstance(value, date):
            value = value.isoformat()
        elif isinstance(value, tuple):
            value = list(value)
        payload[name] = value
    return payload


def to_values(kind: type, payload: Payload) -> dict[str, Any]:
    """Return the payload with its Decimals, moments and dates."""
    values: dict[str, Any] = dict(payload)
    for name in _STEPS[kind]:
        if values[name] is not None:
            values[name] = Decimal(values[name])
    for name, read in _TIMES[kind].items():
        if values[name] is not None:
            values[name] = read(values[name])
    return values


def key_of(kind: type, payload: Payload) -> tuple[str, ...]:
    """Return what says which fact this is."""
    return tuple(payload[name] for name in KEYS[kind])


def fact_key(kind: type, payload: Payload, moment: str) -> tuple[str, ...]:
    """Return the key of a fact; `moment` names the field that tells many statements of one fact apart."""
    key = key_of(kind, payload)
    return (*key, str(payload[moment])) if moment else key


def offer_of(kind: type, key: tuple[str, ...]) -> tuple[str, ...]:
    """Return the key of a fact without what a wrong line may spell in a new way: it is still that offer.

    Of a price that is the accelerator's name and count.
    """
    if kind is not PriceRow:
        return key
    provider, sku, _, _, *place = key
    return (provider, sku, *place)


def amount_of(kind: type, payload: Payload) -> Decimal:
    """Return the number of the row that a ledger sums, 0 where the row holds none."""
    summed = BY_ROW[kind].summed
    return Decimal((payload[summed] if summed else None) or 0)


def row_digest(kind: type, payload: Payload) -> bytes:
    """Return the SHA-256 of what the row says, whatever order its columns came in."""
    uncounted = BY_ROW[kind].uncounted
    said = {name: value for name, value in payload.items() if name not in uncounted}
    return hashlib.sha256(json.encode(said, order="sorted")).digest()


def rows_digest(digests: Iterable[bytes]) -> str:
    """Return one SHA-256 over the sorted digests of the rows: equal whatever order they came in."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()
