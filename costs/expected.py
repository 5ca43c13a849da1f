"""What the tables must hold by the accepted files alone, worked out file after file."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from msgspec import json

from .kinds import BY_ROW
from .models import Batch
from .replay import Replay
from .rowtext import key_of, offer_of, row_digest

Scope = tuple[str, str]  # source and its scope
Table = dict[tuple[str, ...], bytes]  # scope or mark, then natural key -> digest of what the row says
Observed = dict[datetime, tuple[Any, ...]]


@dataclass
class Series:
    """Every observation of one series, and the stretches in which it was watched."""

    observed: Observed = field(default_factory=dict)
    watched: list[tuple[datetime, datetime]] = field(default_factory=list)


@dataclass
class Expected:
    """What the tables must hold, by the row of each kind."""

    # scopes that hold rows of files which an earlier parser read: more may be there than can be proved
    loose: set[Scope] = field(default_factory=set)
    tables: dict[type, Table] = field(default_factory=dict)
    stated_by: dict[tuple[type, tuple[str, ...]], Scope] = field(default_factory=dict)
    series: dict[type, dict[tuple[str, ...], Series]] = field(default_factory=dict)

    def lose_track(self, batch: Batch) -> None:
        """Forget what the scope held: this file would be read otherwise today."""
        own = (batch.source, batch.scope)
        self.loose.add(own)
        for kind, table in self.tables.items():
            for key in [key for key in table if self.stated_by.get((kind, key)) == own]:
                del table[key]
        for of_kind in self.series.values():
            for key in [key for key in of_kind if key[:2] == own]:
                del of_kind[key]

    def follow(self, batch: Batch, again: Replay) -> None:
        """Do to what is expected what the batch did to the tables."""
        if again.moment:
            self._observe(batch, again)
            return
        own, kind = (batch.source, batch.scope), BY_ROW[again.kind]
        table = self.tables.setdefault(kind.row, {})
        begin: tuple[str, ...] = own
        if kind.shape == "series":
            is_sample = batch.params.get("sample") == "1"
            begin = ("sample" if is_sample else "own",) if kind.name == "utilization" else ()
        elif again.mode == "snapshot" and not again.unreadable:
            self._close(table, own, kind.row, again)
        for key, payload in again.facts.get(batch.scope, {}).items():
            table[*begin, *key] = row_digest(kind.row, payload)
            self.stated_by[kind.row, (*begin, *key)] = own

    def _close(self, table: Table, own: Scope, kind: type, again: Replay) -> None:
        kept = {offer_of(kind, key) for scope, key in again.held if scope == own[1]}
        for key in [k for k in table if k[:2] == own and offer_of(kind, k[2:]) not in kept]:
            del table[key]
        if not kept:
            self.loose.discard(own)

    def _observe(self, batch: Batch, again: Replay) -> None:
        of_kind = self.series.setdefault(again.kind, {})
        fresh: dict[tuple[str, ...], list[datetime]] = {}
        for payload in again.facts.get(batch.scope, {}).values():
            key = (batch.source, batch.scope, *key_of(again.kind, payload))
            at = datetime.fromisoformat(payload[again.moment])
            of_kind.setdefault(key, Series()).observed[at] = said_of(again.kind, payload)
            fresh.setdefault(key, []).append(at)
        for key, moments in fresh.items():
            of_kind[key].watched.append((min(moments), max(moments)))


def said_of(kind: type, payload: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an observation says, less which series it is of and when it was made."""
    spec = BY_ROW[kind]
    left_out = {*spec.key, *spec.uncounted, spec.moment}
    return tuple(value for name, value in payload.items() if name not in left_out)


def steps_of(series: Series) -> dict[datetime, bytes]:
    """Return the change points of a series by their start: digest of value, last sight and gap."""
    found: dict[datetime, bytes] = {}
    for begin, end in _united(series.watched):
        moments = sorted(at for at in series.observed if begin <= at <= end)
        starts = [at for i, at in enumerate(moments) if not i or _differs(series, moments[i - 1], at)]
        for start, later in zip(starts, [*starts[1:], None], strict=True):
            last = max(at for at in moments if at >= start and (later is None or at < later))
            found[start] = step_digest(series.observed[start], last, start == begin)
    return found


def step_digest(said: tuple[Any, ...], last: datetime, follows_gap: bool) -> bytes:
    return sha256(json.encode([said, last.isoformat(), follows_gap])).digest()


def _differs(series: Series, one: datetime, other: datetime) -> bool:
    return series.observed[one] != series.observed[other]


def _united(spans: list[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    united: list[tuple[datetime, datetime]] = []
    for begin, end in sorted(spans):
        if united and begin <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((begin, end))
    return united
