"""Many rows in one statement, on SQLite and on PostgreSQL alike.

Django's bulk_create took more than ten times as long for hourly series, and held its lock as long.
Names in these statements come from the models, never from data.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connection, models
from msgspec import json

from .models import Batch, StagedRow

SQLITE_VARIABLES = 32_000  # of 32,766 in one statement
POSTGRESQL_ROWS = 2_000


def insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    on_key: Sequence[str] = (),
    update: Sequence[str] = (),
) -> int:
    """Insert the rows and return how many were written.

    With `on_key`, a row whose key is there changes the columns of `update` where one of them differs;
    without `update` it is left alone.
    """
    prepare = [_prepare(model._meta.get_field(name)) for name in columns]
    names = ", ".join(_column(model, name) for name in columns)
    tail = _on_conflict(model, on_key, update, update) if on_key else ""
    size = SQLITE_VARIABLES // len(columns) if connection.vendor == "sqlite" else POSTGRESQL_ROWS
    one = f"({', '.join(['%s'] * len(columns))})"
    written, source = 0, iter(rows)
    with connection.cursor() as cursor:
        while chunk := list(islice(source, size)):
            sql = f"INSERT INTO {_table(model)} ({names}) VALUES {', '.join([one] * len(chunk))} {tail}"  # noqa: S608 # see above
            cursor.execute(sql, [change(v) for row in chunk for change, v in zip(prepare, row, strict=True)])
            written += cursor.rowcount
    return written


def update(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Set columns of many rows; each of `rows` is a primary key and its values.

    Django's bulk_update took half a minute for 16,000 prices, all of it under the write lock.
    """
    prepare = [_prepare(model._meta.get_field(name)) for name in columns]
    sets = ", ".join(f"{_column(model, name)} = %s" for name in columns)
    sql = f"UPDATE {_table(model)} SET {sets} WHERE {_column(model, 'id')} = %s"  # noqa: S608 # see above
    changed = [
        [*(change(value) for change, value in zip(prepare, values, strict=True)), pk] for pk, *values in rows
    ]
    if changed:
        with connection.cursor() as cursor:
            cursor.executemany(sql, changed)


def insert_staged(
    model: type[models.Model],
    staged: tuple[int, UUID, int],
    values: Sequence[str],
    origin: Mapping[str, str],
    constants: Mapping[str, Any],
    *,
    on_key: Sequence[str],
) -> int:
    """Move staged rows into their table and return how many were written.

    `staged` is job, token and run; `values` are names in the payload and columns at once; `origin` gives
    a column an expression of the staged row `s` and its batch `b`. A row whose key is there is written
    again, origin and all, where one of the values differs.
    """
    fields = {name: model._meta.get_field(name) for name in values}
    columns = [*values, *origin, *constants]
    sources = [_from_payload(name, field) for name, field in fields.items()]
    selected = ", ".join([*sources, *origin.values(), *["%s"] * len(constants)])
    compared = [name for name in values if name not in on_key]
    updated = [*compared, *origin]
    job, token, run = staged
    sql = (
        f"INSERT INTO {_table(model)} ({', '.join(_column(model, name) for name in columns)}) "  # noqa: S608 # see above
        f"SELECT {selected} FROM {_table(StagedRow)} s "
        f"JOIN {_table(Batch)} b ON b.run_id = %s AND b.scope = s.scope "
        "WHERE s.job_id = %s AND s.lease_token = %s "
        f"{_on_conflict(model, on_key, updated, compared)}"
    )
    prepared = _prepare(StagedRow._meta.get_field("lease_token"))(token)
    with connection.cursor() as cursor:
        cursor.execute(sql, [*constants.values(), run, job, prepared])
        return int(cursor.rowcount)


def _table(model: type[models.Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _column(model: type[models.Model], name: str) -> str:
    field = model._meta.get_field(name)
    return connection.ops.quote_name(str(getattr(field, "column", name)))


def _on_conflict(
    model: type[models.Model], on_key: Sequence[str], update: Sequence[str], compare: Sequence[str]
) -> str:
    keys = ", ".join(_column(model, name) for name in on_key)
    if not update:
        return f"ON CONFLICT ({keys}) DO NOTHING"
    # SQLite learnt IS DISTINCT FROM in 3.39; its IS NOT says the same and is older
    differs = "IS NOT" if connection.vendor == "sqlite" else "IS DISTINCT FROM"
    sets = ", ".join(f"{c} = excluded.{c}" for c in (_column(model, name) for name in update))
    changed = " OR ".join(
        f"{_table(model)}.{c} {differs} excluded.{c}" for c in (_column(model, name) for name in compare)
    )
    return f"ON CONFLICT ({keys}) DO UPDATE SET {sets} WHERE {changed}"


_POSTGRESQL_TYPES = {"DecimalField": "numeric", "DateTimeField": "timestamptz", "DateField": "date"}


def _from_payload(name: str, field: Any) -> str:
    """Return the SQL that takes a value out of a staged row, typed as its column."""
    kind = field.get_internal_type()
    if connection.vendor == "postgresql":
        if kind == "JSONField":
            return f"s.payload -> '{name}'"
        return f"(s.payload ->> '{name}')::{_POSTGRESQL_TYPES.get(kind, 'text')}"
    value = f"json_extract(s.payload, '$.{name}')"
    if kind == "DateTimeField":
        # as Django writes moments there: with a blank, without the zone
        return f"replace(replace({value}, 'T', ' '), '+00:00', '')"
    return value


def _prepare(field: Any) -> Callable[[Any], Any]:
    """Return how a value of the field is handed to the database's driver."""
    kind = field.get_internal_type()
    on_sqlite = connection.vendor == "sqlite"
    if kind == "JSONField":
        return lambda value: json.encode(value).decode()
    if kind == "DateTimeField" and on_sqlite:
        return lambda moment: moment and str(moment.astimezone(UTC).replace(tzinfo=None))
    if kind == "DateField" and on_sqlite:
        return lambda day: day and str(day)
    if kind == "DecimalField" and on_sqlite:
        return lambda number: None if number is None else str(number)
    if kind == "UUIDField" and on_sqlite:
        return lambda value: value.hex
    return lambda value: value
