"""Write dated facts: each holds from one moment to another, the current one without an end.

The file of a scope is its whole list. What it states anew opens at the file's date (or at the later date
that the row states), what it no longer states closes there. Two files of the same moment cannot follow
each other in time: the second corrects the first in place, and a fact that it lacks was never there.
A file that amends closes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django.db import models
from django.db.models import Max

from . import bulk
from .counts import Counts
from .gate import Known
from .judge import Fact, FactKey
from .kinds import ALL, Kind
from .models import Batch, Price
from .rows import PriceRow
from .rowtext import NAMES, key_of, offer_of, to_values
from .skus import SKU_KEY, key_of_values, skus_of
from .tables import TABLES

Key = tuple[str, ...]
Values = dict[str, Any]
# from the facts to open to the function that gives the columns of a key
Resolve = Callable[[Sequence[Values], Known], Callable[[Key, Values], tuple[Any, ...]]]
PK_CHUNK = 1_000


@dataclass(frozen=True)
class DatedTable:
    """How the facts of one kind lie in their table."""

    kind: Kind
    model: type[models.Model]
    lookups: tuple[str, ...]  # from a row of the table to each part of the key
    own: tuple[str, ...]  # columns that hold the key
    said: tuple[str, ...]  # another value is another fact
    resolve: Resolve

    @property
    def noted(self) -> tuple[str, ...]:
        return self.kind.noted

    def values_of(self, row: Values) -> tuple[Any, ...]:
        return tuple(row[name] for name in (*self.said, *self.noted))


def _plain(kind: Kind) -> DatedTable:
    said = [n for n in NAMES[kind.row] if n not in (*kind.key, *kind.noted, *kind.uncounted)]

    def resolve(rows: Sequence[Values], known: Known) -> Callable[[Key, Values], tuple[Any, ...]]:
        return lambda key, row: tuple(row[name] for name in kind.key)

    return DatedTable(kind, TABLES[kind.row], kind.key, kind.key, tuple(said), resolve)


def _prices(kind: Kind) -> DatedTable:
    def resolve(rows: Sequence[Values], known: Known) -> Callable[[Key, Values], tuple[Any, ...]]:
        skus = skus_of(rows, known)
        return lambda key, row: (skus[key[:4]], *key[4:])

    place = ("region", "zone", "term", "payment")
    return DatedTable(
        kind=kind,
        model=Price,
        lookups=(*(f"sku__{name}" for name in SKU_KEY), *place),
        own=("sku_id", *place),
        said=("state", "price_per_hour", "upfront", "currency"),
        resolve=resolve,
    )


DATED: dict[type, DatedTable] = {
    kind.row: _prices(kind) if kind.row is PriceRow else _plain(kind) for kind in ALL if kind.shape == "dated"
}


@dataclass
class Plan:
    """What one scope's file does to its facts."""

    opens: list[tuple[Key, Values, int, datetime]]
    ends: list[tuple[int, datetime]]  # row and the moment it ends
    corrects: list[tuple[int, Values, int]]
    notes: list[tuple[int, Values]]
    confirms: list[tuple[int, datetime]]  # row and the date of which it is stated again, unchanged
    voids: list[int]  # facts that never came into force
    counts: Counts


@dataclass(frozen=True)
class Standing:
    """A fact that holds now, as the table has it."""

    pk: int
    effective_from: datetime
    as_of: datetime
    said: tuple[Any, ...]
    noted: tuple[Any, ...]


def write_dated(
    kind: type,
    batch: Batch,
    facts: Iterable[Fact],
    known: Known,
    held: set[FactKey],
    *,
    closes: bool,
    may_close: bool,
) -> Counts:
    """Bring the facts of the batch's scope to what its file states.

    `closes` tells that the file is its scope's whole list; `may_close` that no unreadable line may have
    stated what seems to be missing.
    """
    table = DATED[kind]
    current = standing(table, batch.source, batch.scope)
    kept = {offer_of(kind, key) for scope, key in held if scope == batch.scope} if may_close else None
    plan = _plan(table, batch, facts, current, _ended(table, batch), kept, closes=closes)
    _apply(table, batch, plan, known)
    return plan.counts


def standing(table: DatedTable, source: str, scope: str) -> dict[Key, Standing]:
    """Return what holds now in a scope, by key."""
    many = len(table.lookups)
    columns = (*table.lookups, "pk", "effective_from", "as_of", *table.said, *table.noted)
    rows = table.model._default_manager.filter(source=source, scope=scope, effective_to=None)
    said, end = many + 3, many + 3 + len(table.said)
    return {
        key_of_values(row[:many]): Standing(row[many], row[many + 1], row[many + 2], row[said:end], row[end:])
        for row in rows.values_list(*columns)
    }


def _ended(table: DatedTable, batch: Batch) -> dict[Key, datetime]:
    rows = table.model._default_manager.filter(source=batch.source, scope=batch.scope)
    past = rows.exclude(effective_to=None).values_list(*table.lookups).annotate(last=Max("effective_to"))
    return {key_of_values(row[:-1]): row[-1] for row in past}


def _plan(
    table: DatedTable,
    batch: Batch,
    facts: Iterable[Fact],
    current: Mapping[Key, Standing],
    ended: Mapping[Key, datetime],
    kept: set[Key] | None,
    *,
    closes: bool,
) -> Plan:
    kind = table.kind.row
    plan = Plan([], [], [], [], [], [], Counts())
    added = changed = unchanged = closed = held = 0
    missing = dict(current)
    for _, line, payload in facts:
        key, row = key_of(kind, payload), to_values(kind, payload)
        there = missing.pop(key, None)
        stated = row.get("effective_from")
        if there is None:
            start = max(filter(None, (stated or batch.as_of, ended.get(key))))
            plan.opens.append((key, row, line, start))
            added += 1
        elif there.said == tuple(row[name] for name in table.said):
            if there.noted != tuple(row[name] for name in table.noted):
                plan.notes.append((there.pk, row))
            if there.as_of != _as_of(batch, row):
                plan.confirms.append((there.pk, _as_of(batch, row)))
            unchanged += 1
        else:
            start = stated if stated and stated > there.effective_from else batch.as_of
            if start > there.effective_from:
                plan.ends.append((there.pk, start))
                plan.opens.append((key, row, line, start))
            else:
                plan.corrects.append((there.pk, row, line))
            changed += 1
    for key, there in missing.items() if closes else ():
        if kept is None or offer_of(kind, key) in kept:
            held += 1
            continue
        closed += 1
        if there.effective_from < batch.as_of:
            plan.ends.append((there.pk, batch.as_of))
        else:
            plan.voids.append(there.pk)
    plan.counts = Counts(added, changed, unchanged, closed, held)
    return plan


def _as_of(batch: Batch, row: Values) -> datetime:
    """Return the date of which a row states its fact."""
    day = row.get("observed_on")
    return batch.as_of if day is None else datetime.combine(day, time(), UTC)


def _apply(table: DatedTable, batch: Batch, plan: Plan, known: Known) -> None:
    model, said = table.model, (*table.said, *table.noted)
    model._default_manager.filter(pk__in=plan.voids).delete()
    # ends first: a fact may open only when no other is open
    _set_moments(model, "effective_to", plan.ends)
    _set_moments(model, "as_of", plan.confirms)
    bulk.update(
        model,
        (*said, "as_of", "batch_id", "line"),
        ((pk, *table.values_of(row), _as_of(batch, row), batch.pk, line) for pk, row, line in plan.corrects),
    )
    if table.noted:
        bulk.update(
            model, table.noted, ((pk, *(row[name] for name in table.noted)) for pk, row in plan.notes)
        )
    columns_of_key = table.resolve([row for _, row, _, _ in plan.opens], known)
    bulk.insert(
        model,
        ("source", "scope", *table.own, *said, "as_of", "effective_from", "batch_id", "line"),
        (
            (
                batch.source, batch.scope, *columns_of_key(key, row), *table.values_of(row),
                _as_of(batch, row), start, batch.pk, line,
            )
            for key, row, line, start in plan.opens
        ),
    )  # fmt: skip


def _set_moments(model: type[models.Model], field: str, moments: Sequence[tuple[int, datetime]]) -> None:
    """Set a date of many rows: few dates, so one statement for each and for every thousand rows."""
    for moment in sorted({moment for _, moment in moments}):
        keys = [pk for pk, each in moments if each == moment]
        for start in range(0, len(keys), PK_CHUNK):
            model._default_manager.filter(pk__in=keys[start : start + PK_CHUNK]).update(**{field: moment})
