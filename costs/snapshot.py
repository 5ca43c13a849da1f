"""Write prices: each from one moment to another, the current one without an end.

The file of a scope is its whole list. What it states anew opens at the file's date (or at the later date
that the row states), what it no longer states closes there. Two files of the same moment cannot follow
each other in time: the second corrects the first in place, and a price that it lacks was never there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any

from django.db.models import Max

from . import bulk
from .counts import Counts
from .gate import Known
from .judge import Fact, FactKey
from .models import Accelerator, Batch, Price, Sku
from .rows import PriceRow
from .rowtext import key_of, offer_of, to_values

Key = tuple[str, ...]
SKU_KEY = ("provider", "name", "accelerator_name", "gpu_count")
SAID = ("state", "price_per_hour", "upfront", "currency")  # another value is another price
NOTED = ("state_reason", "reference")  # may change without a new price
PK_CHUNK = 1_000
COLUMNS = (
    "source", "scope", "sku_id", "region", "zone", "term", "payment", *SAID, *NOTED, "as_of",
    "effective_from", "batch_id", "line",
)  # fmt: skip


@dataclass
class Plan:
    """What one scope's file does to its prices."""

    opens: list[tuple[Key, dict[str, Any], int, datetime]]
    ends: list[tuple[int, datetime]]  # price and the moment it ends
    corrects: list[tuple[Price, dict[str, Any], int]]
    notes: list[tuple[Price, dict[str, Any]]]
    confirms: list[tuple[int, datetime]]  # price and the date of which it is stated again, unchanged
    voids: list[int]  # prices that never came into force
    counts: Counts


def write_prices(
    batch: Batch, facts: Iterable[Fact], known: Known, held: set[FactKey], *, may_close: bool
) -> Counts:
    """Bring the prices of the batch's scope to what its file states."""
    current = {_key(price): price for price in _prices(batch).filter(effective_to=None)}
    ended = {
        _key_of_values(row[:-1]): row[-1]
        for row in _prices(batch)
        .exclude(effective_to=None)
        .values_list(
            "sku__provider", "sku__name", "sku__accelerator_name", "sku__gpu_count",
            "region", "zone", "term", "payment",
        )
        .annotate(last=Max("effective_to"))
    }  # fmt: skip
    kept = {offer_of(PriceRow, key) for scope, key in held if scope == batch.scope}
    plan = _plan(batch, facts, current, ended, None if not may_close else kept)
    _apply(batch, plan, known)
    return plan.counts


def _prices(batch: Batch) -> Any:
    return Price.objects.filter(source=batch.source, scope=batch.scope).select_related("sku")


def _key(price: Price) -> Key:
    sku = price.sku
    return _key_of_values(
        (sku.provider, sku.name, sku.accelerator_name, sku.gpu_count, price.region, price.zone, price.term,
         price.payment)
    )  # fmt: skip


def _key_of_values(values: Iterable[Any]) -> Key:
    return tuple(f"{value:.3f}" if isinstance(value, Decimal) else value for value in values)


def _plan(
    batch: Batch,
    facts: Iterable[Fact],
    current: Mapping[Key, Price],
    ended: Mapping[Key, datetime],
    kept: set[Key] | None,
) -> Plan:
    plan = Plan([], [], [], [], [], [], Counts())
    added = changed = unchanged = closed = held = 0
    missing = dict(current)
    for _, line, payload in facts:
        key, row = key_of(PriceRow, payload), to_values(PriceRow, payload)
        price = missing.pop(key, None)
        stated = row["effective_from"]
        if price is None:
            start = max(filter(None, (stated or batch.as_of, ended.get(key))))
            plan.opens.append((key, row, line, start))
            added += 1
        elif all(getattr(price, name) == row[name] for name in SAID):
            if any(getattr(price, name) != row[name] for name in NOTED):
                plan.notes.append((price, row))
            if price.as_of != _as_of(batch, row):
                plan.confirms.append((price.pk, _as_of(batch, row)))
            unchanged += 1
        else:
            start = stated if stated and stated > price.effective_from else batch.as_of
            if start > price.effective_from:
                plan.ends.append((price.pk, start))
                plan.opens.append((key, row, line, start))
            else:
                plan.corrects.append((price, row, line))
            changed += 1
    for key, price in missing.items():
        if kept is None or offer_of(PriceRow, key) in kept:
            held += 1
            continue
        closed += 1
        if price.effective_from < batch.as_of:
            plan.ends.append((price.pk, batch.as_of))
        else:
            plan.voids.append(price.pk)
    plan.counts = Counts(added, changed, unchanged, closed, held)
    return plan


def _as_of(batch: Batch, row: Mapping[str, Any]) -> datetime:
    """Return the date of which a row states its price."""
    day = row["observed_on"]
    return batch.as_of if day is None else datetime.combine(day, time(), UTC)


def _apply(batch: Batch, plan: Plan, known: Known) -> None:
    Price.objects.filter(pk__in=plan.voids).delete()
    # ends first: a price may open only when no other is open
    _set_moments("effective_to", plan.ends)
    _set_moments("as_of", plan.confirms)
    said = (*SAID, *NOTED)
    bulk.update(
        Price,
        (*said, "as_of", "batch_id", "line"),
        (
            (price.pk, *(row[name] for name in said), _as_of(batch, row), batch.pk, line)
            for price, row, line in plan.corrects
        ),
    )
    bulk.update(Price, NOTED, ((price.pk, *(row[name] for name in NOTED)) for price, row in plan.notes))
    skus = _skus([row for _, row, _, _ in plan.opens], known)
    bulk.insert(
        Price,
        COLUMNS,
        (
            (
                batch.source, batch.scope, skus[key[:4]], *key[4:],
                *(row[name] for name in (*SAID, *NOTED)), _as_of(batch, row), start, batch.pk, line,
            )
            for key, row, line, start in plan.opens
        ),
    )  # fmt: skip


def _set_moments(field: str, moments: Sequence[tuple[int, datetime]]) -> None:
    """Set a date of many prices: few dates, so one statement for each and for every thousand prices."""
    for moment in sorted({moment for _, moment in moments}):
        keys = [pk for pk, each in moments if each == moment]
        for start in range(0, len(keys), PK_CHUNK):
            Price.objects.filter(pk__in=keys[start : start + PK_CHUNK]).update(**{field: moment})


def _skus(rows: list[dict[str, Any]], known: Known) -> dict[Key, int]:
    """Return the SKU of every row by its key, made or brought up to date where needed."""
    accelerators = dict(Accelerator.objects.values_list("slug", "pk"))
    wanted: dict[Key, tuple[Any, ...]] = {}
    for row in rows:
        key = (row["provider"], row["sku"], row["accelerator_name"], row["gpu_count"])
        accelerator = accelerators[known.slug_of(row["sku"], row["accelerator_name"]) or ""]
        wanted[_key_of_values(key)] = (*key, accelerator, row["vcpus"], row["memory_gib"])
    rows_by_key = [wanted[key] for key in sorted(wanted)]
    columns = (*SKU_KEY, "accelerator_id", "vcpus", "memory_gib")
    extra = columns[4:]
    # a source that does not state the machine's size does not wipe what another one stated
    sized = [row for row in rows_by_key if None not in row]
    bulk.insert(Sku, columns, sized, on_key=SKU_KEY, update=extra)
    bulk.insert(Sku, columns, rows_by_key, on_key=SKU_KEY)
    found = Sku.objects.filter(provider__in={row[0] for row in rows_by_key})
    return {_key_of_values(row[:4]): row[4] for row in found.values_list(*SKU_KEY, "pk")}
