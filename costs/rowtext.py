"""A row as plain JSON values and back, rounded as the tables hold it; and its digest for the ledger."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from msgspec import json

from .rows import AcceleratorRow, PriceRow, Row, UtilizationRow

Payload = dict[str, Any]

# decimal places of the tables' columns; a test holds them against the models
PLACES: dict[type, dict[str, int]] = {
    PriceRow: {"gpu_count": 3, "price_per_hour": 9, "upfront": 6, "vcpus": 2, "memory_gib": 2},
    UtilizationRow: {
        "gpus_installed": 4,
        "gpus_available": 4,
        "gpus_allocated": 4,
        "gpus_pending": 4,
        "active_share": 6,
        "period_hours": 2,
    },
    AcceleratorRow: {
        "memory_gb": 3,
        "memory_bandwidth_gb_s": 1,
        "power_w": 1,
        "link_gb_s_per_direction": 2,
        "fp32_tflops": 3,
        "tf32_tflops": 3,
        "fp16_tflops": 3,
        "bf16_tflops": 3,
        "fp8_tflops": 3,
        "int8_tops": 3,
        "fp4_tflops": 3,
    },
}
_STEPS = {kind: {n: Decimal(1).scaleb(-p) for n, p in places.items()} for kind, places in PLACES.items()}
NAMES = {kind: tuple(f.name for f in fields(kind)) for kind in (PriceRow, UtilizationRow, AcceleratorRow)}
_TIMES: dict[type, dict[str, Callable[[str], date]]] = {
    PriceRow: {"effective_from": datetime.fromisoformat, "observed_on": date.fromisoformat},
    UtilizationRow: {"starts_at": datetime.fromisoformat},
    AcceleratorRow: {"launch_date": date.fromisoformat, "reference_date": date.fromisoformat},
}
KINDS: dict[str, type] = {"prices": PriceRow, "utilization": UtilizationRow, "accelerators": AcceleratorRow}

# what says which fact it is, and the number that a ledger sums
KEYS: dict[type, tuple[str, ...]] = {
    PriceRow: (
        "provider", "sku", "accelerator_name", "gpu_count", "region", "zone", "term", "payment",
    ),
    UtilizationRow: ("cluster", "pool", "gpu_type", "starts_at"),
    AcceleratorRow: ("slug",),
}  # fmt: skip
_SUMMED = {PriceRow: "price_per_hour", UtilizationRow: "gpus_allocated", AcceleratorRow: "memory_gb"}
# dates are kept with the price, but are no part of what the file says it costs now
_UNCOUNTED = {"effective_from", "observed_on", "vcpus", "memory_gib"}


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


def offer_of(key: tuple[str, ...]) -> tuple[str, ...]:
    """Return the key of a price without the accelerator's name and count.

    A refused line that spells the accelerator in a new way still speaks of the same offer.
    """
    provider, sku, _, _, *place = key
    return (provider, sku, *place)


def amount_of(kind: type, payload: Payload) -> Decimal:
    """Return the number of the row that a ledger sums, 0 where the row holds none."""
    return Decimal(payload[_SUMMED[kind]] or 0)


def row_digest(payload: Payload) -> bytes:
    """Return the SHA-256 of what the row says, whatever order its columns came in."""
    said = {name: value for name, value in payload.items() if name not in _UNCOUNTED}
    return hashlib.sha256(json.encode(said, order="sorted")).digest()


def rows_digest(digests: Iterable[bytes]) -> str:
    """Return one SHA-256 over the sorted digests of the rows: equal whatever order they came in."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()
