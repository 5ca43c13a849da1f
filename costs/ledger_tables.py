"""What the fact tables hold, row by row, in the form in which the ledger compares it with the files."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from .dated import DATED
from .expected import Scope, said_of, step_digest
from .kinds import Kind
from .models import Utilization
from .rows import PriceRow
from .rowtext import NAMES, key_of, row_digest, to_payload
from .skus import SKU_KEY
from .sources import SOURCES
from .stepwise import STEPS
from .tables import TABLES

Row = tuple[Scope, tuple[str, ...], bytes]  # whose it is, its key, the digest of what it says


def found(kind: Kind) -> Iterator[Row]:
    """Yield what the tables hold of one kind; of dated facts what holds now."""
    if kind.shape == "steps":
        yield from _steps(kind)
    elif kind.shape == "series":
        yield from _series(kind)
    else:
        histories = [name for name, source in SOURCES.items() if source.MODE == "history"]
        model = DATED[kind.row].model
        now = model._default_manager.filter(effective_to=None)
        yield from _dated(kind, now.exclude(source__in=histories) if kind.row is PriceRow else now)
        if kind.row is PriceRow:
            yield from _price_steps(kind, histories)


def _columns(kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a row's values that a table keeps, and the columns that hold them."""
    if kind.row is not PriceRow:
        return NAMES[kind.row], NAMES[kind.row]
    of_sku = dict(zip(kind.key, SKU_KEY, strict=False))
    names = tuple(name for name in NAMES[PriceRow] if name not in kind.uncounted)
    return names, tuple(f"sku__{of_sku[name]}" if name in of_sku else name for name in names)


def _payload(kind: Kind, names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    said = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in zip(names, values, strict=True)
    }
    return to_payload(kind.row(**said))


def _dated(kind: Kind, rows: QuerySet[Any]) -> Iterator[Row]:
    names, columns = _columns(kind)
    for source, scope, *rest in rows.values_list("source", "scope", *columns).iterator():
        payload = _payload(kind, names, tuple(rest))
        yield (source, scope), (source, scope, *key_of(kind.row, payload)), row_digest(kind.row, payload)


def _series(kind: Kind) -> Iterator[Row]:
    model, names = TABLES[kind.row], NAMES[kind.row]
    of_use = model is Utilization
    own = ("source", "scope", "is_sample") if of_use else ("batch__source", "batch__scope")
    for row in model._default_manager.values_list(*own, *names).iterator():
        payload = _payload(kind, names, row[len(own) :])
        begin = ("sample" if row[2] else "own",) if of_use else ()
        yield (row[0], row[1]), (*begin, *key_of(kind.row, payload)), row_digest(kind.row, payload)


def _steps(kind: Kind) -> Iterator[Row]:
    table = STEPS[kind.row]
    names = tuple(name for name in NAMES[kind.row] if name != kind.moment)
    columns = ("source", "scope", table.starts, table.seen, table.gap, *names)
    rows = table.model._default_manager.values_list(*columns)
    for source, scope, starts, seen, gap, *rest in rows.iterator():
        payload = _payload(kind, (*names, kind.moment), (*rest, starts))
        key = (source, scope, *key_of(kind.row, payload), starts.isoformat())
        yield (source, scope), key, step_digest(said_of(kind.row, payload), seen, gap)


def _price_steps(kind: Kind, histories: list[str]) -> Iterator[Row]:
    names, columns = _columns(kind)
    model = DATED[kind.row].model
    rows = model._default_manager.filter(source__in=histories)
    own = ("source", "scope", "effective_from", "as_of", "follows_gap")
    for source, scope, starts, seen, gap, *rest in rows.values_list(*own, *columns).iterator():
        payload = _payload(kind, names, tuple(rest))
        key = (source, scope, *key_of(kind.row, payload), starts.isoformat())
        yield (source, scope), key, step_digest(said_of(kind.row, payload), seen, gap)
