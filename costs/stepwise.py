"""Write observations of step functions: change points are kept, and loading order does not matter.

Each step has the mark of a gap where nobody watched before it: equal values on both sides of a gap stay two
steps, or the order in which files come would matter. Price histories lie with the other prices: each holds
until the next one, and `as_of` is when it was last seen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models

from . import bulk
from .counts import Counts
from .dated import DATED, Resolve
from .gate import Known
from .judge import Fact
from .kinds import ALL, BY_ROW
from .models import Batch
from .rows import PriceRow
from .rowtext import NAMES, key_of, to_values
from .skus import key_of_values
from .steps import Run, merge
from .tables import TABLES

Key = tuple[str, ...]
Values = dict[str, Any]
Seen = tuple[datetime, tuple[Any, ...], tuple[int, int]]
DELETE_CHUNK = 1_000


@dataclass(frozen=True)
class StepTable:
    """How the change points of one kind lie in their table."""

    kind: type
    model: type[models.Model]
    lookups: tuple[str, ...]  # from a row of the table to each part of the key
    own: tuple[str, ...]  # columns that hold the key
    value: tuple[str, ...]  # columns that hold the value
    starts: str
    seen: str
    gap: str
    ends: str  # "" where the end of a step is the start of the next
    resolve: Resolve


def _plain(row: type) -> StepTable:
    kind = BY_ROW[row]
    value = tuple(name for name in NAMES[row] if name not in (*kind.key, kind.moment))

    def resolve(rows: Sequence[Values], known: Known) -> Callable[[Key, Values], tuple[Any, ...]]:
        return lambda key, values: tuple(values[name] for name in kind.key)

    return StepTable(
        row, TABLES[row], kind.key, kind.key, value, "starts_at", "last_seen_at", "follows_gap", "", resolve
    )


def _of_prices() -> StepTable:
    dated = DATED[PriceRow]
    return StepTable(
        PriceRow, dated.model, dated.lookups, dated.own, (*dated.said, *dated.noted), "effective_from",
        "as_of", "follows_gap", "effective_to", dated.resolve,
    )  # fmt: skip


STEPS: dict[type, StepTable] = {
    **{kind.row: _plain(kind.row) for kind in ALL if kind.shape == "steps"},
    PriceRow: _of_prices(),
}


def write_steps(kind: type, batch: Batch, facts: Iterable[Fact], known: Known) -> Counts:
    """Merge the observations of one scope into its change points."""
    table = STEPS[kind]
    seen: dict[Key, list[Seen]] = {}
    sample: dict[Key, Values] = {}  # one fact of each series, to make the columns of its key
    for _, line, payload in facts:
        key, row = key_of(kind, payload), to_values(kind, payload)
        sample.setdefault(key, row)
        said = tuple(row[name] for name in table.value)
        seen.setdefault(key, []).append((row[BY_ROW[kind].moment], said, (batch.pk, line)))
    stored = stored_steps(table, batch.source, batch.scope, set(seen))
    writing = _Writing(table, batch, {}, [], [])
    counts = Counts()
    for key, observed in seen.items():
        counts += writing.series(key, stored.get(key, {}), observed)
    writing.apply(sample, known)
    return counts


@dataclass(frozen=True)
class Stored:
    """A change point as the table has it."""

    pk: int
    run: Run
    ends: datetime | None


def stored_steps(
    table: StepTable, source: str, scope: str, keys: set[Key] | None = None
) -> dict[Key, dict[datetime, Stored]]:
    """Return the change points of a scope by series and start."""
    many, width = len(table.lookups), len(table.value)
    extra = [table.gap, *filter(None, (table.ends,))]
    columns = (*table.lookups, *table.value, table.starts, table.seen, "batch_id", "line", "pk", *extra)
    found: dict[Key, dict[datetime, Stored]] = {}
    rows = table.model._default_manager.filter(source=source, scope=scope).order_by(table.starts)
    for row in rows.values_list(*columns).iterator():
        key = key_of_values(row[:many])
        if keys is not None and key not in keys:
            continue
        starts, seen, batch, line, pk, *rest = row[many + width :]
        of_series = found.setdefault(key, {})
        run = Run(row[many : many + width], starts, seen, rest[0], (batch, line))
        of_series[starts] = Stored(pk, run, rest[-1] if table.ends else None)
    return found


@dataclass
class _Writing:
    """The differences between what is stored and what is now known, gathered over all series."""

    table: StepTable
    batch: Batch
    opens: dict[Key, list[tuple[Run, datetime | None]]]
    changes: list[tuple[Any, ...]]
    voids: list[int]

    def series(self, key: Key, stored: Mapping[datetime, Stored], observed: Sequence[Seen]) -> Counts:
        known = [each.run for each in stored.values()]
        merged = merge(known, observed, gaps=True)
        added = changed = 0
        starts = [run.starts_at for run in merged[1:]]
        for run, later in zip(merged, [*starts, None], strict=True):
            end = later if self.table.ends else None
            there = stored.get(run.starts_at)
            if there is None:
                self.opens.setdefault(key, []).append((run, end))
                added += 1
            elif not _is_same(there, run, end):
                self.changes.append((there.pk, *self._moving(run, end)))
                changed += there.run.value != run.value
        gone = set(stored) - {run.starts_at for run in merged}
        self.voids += [stored[moment].pk for moment in gone]
        return Counts(added=added, changed=changed, unchanged=len(observed) - added, closed=len(gone))

    def _moving(self, run: Run, end: datetime | None) -> tuple[Any, ...]:
        ends = (end,) if self.table.ends else ()
        value: tuple[Any, ...] = run.value  # type: ignore[assignment] # as write_steps made it
        return (*value, run.last_seen_at, *run.tag, run.follows_gap, *ends)

    def apply(self, sample: Mapping[Key, Values], known: Known) -> None:
        table, model = self.table, self.table.model
        moving = (*table.value, table.seen, "batch_id", "line", table.gap, *filter(None, (table.ends,)))
        for start in range(0, len(self.voids), DELETE_CHUNK):
            model._default_manager.filter(pk__in=self.voids[start : start + DELETE_CHUNK]).delete()
        # ends before openings: only one price of a key may be without an end
        bulk.update(model, moving, sorted(self.changes, key=lambda row: row[-1] is None))
        columns_of_key = table.resolve([sample[key] for key in self.opens], known)
        bulk.insert(
            model,
            ("source", "scope", *table.own, table.starts, *moving),
            (
                (
                    self.batch.source, self.batch.scope, *columns_of_key(key, sample[key]), run.starts_at,
                    *self._moving(run, end),
                )
                for key, runs in self.opens.items()
                for run, end in runs
            ),
        )  # fmt: skip


def _is_same(there: Stored, run: Run, end: datetime | None) -> bool:
    return (there.run, there.ends) == (run, end)
