"""Say in words how two revisions of a scenario differ."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Model

from planner.forms.fields import plain
from planner.models import OwnedSupply, Revision
from planner.queries import supplies_of
from planner.templatetags.units import moment

NOT_COMPARED = {
    "id",
    "uid",
    "scenario",
    "number",
    "revision",
    "position",
    "author",
    "created_at",
    "note",
    "price",
    "kept_quotes",  # follow from the date and the supplies
}

EMPTY_WORDS = {"prices_as_of": "newest"}


def changes_between(old: Revision, new: Revision) -> list[str]:
    """Return one line for each thing that differs, "months: 36 → 24"."""
    return [
        *_differences("", _values(old), _values(new)),
        *_rows("workload", _workloads(old), _workloads(new)),
        *_rows("supply", _supplies(old), _supplies(new)),
    ]


def _rows(word: str, old: Mapping[str, dict[str, Any]], new: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    for name in old:
        if name not in new:
            yield f"{word} {name}: removed"
    for name, values in new.items():
        if name not in old:
            yield f"{word} {name}: added"
        else:
            yield from _differences(f"{name}, ", old[name], values)


def _differences(prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            empty = EMPTY_WORDS.get(name, "empty")
            before, after = _text(old.get(name), empty), _text(new.get(name), empty)
            yield f"{prefix}{name.replace('_', ' ')}: {before} → {after}"


def _text(value: Any, empty: str) -> str:
    if value is None or value == "":
        return empty
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Decimal):
        return plain(value)
    return "changed shape" if isinstance(value, list) else str(value)


def _values(row: Model) -> dict[str, Any]:
    return {
        field.name: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in NOT_COMPARED
    }


def _workloads(revision: Revision) -> dict[str, dict[str, Any]]:
    return {row.name: _values(row) for row in revision.workloads.all()}


def _supplies(revision: Revision) -> dict[str, dict[str, Any]]:
    found = {}
    for row in supplies_of(revision):
        values = {"kind": row._meta.verbose_name} | _values(row)
        if not isinstance(row, OwnedSupply):
            values |= {f"price {name}": value for name, value in _values(row.price).items()}
        found[row.name] = values
    return found
