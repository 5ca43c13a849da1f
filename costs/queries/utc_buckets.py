"""Group moments by UTC week, hour of the week and year inside the database.

Django's own truncation calls Python for each row on SQLite, which takes seconds for a year of hours.
"""

from typing import Any

from django.db.models import Func, IntegerField


class WeekNumber(Func):
    """Weeks since Monday 5 January 1970."""

    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "((CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) - 345600) / 604800)"
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "FLOOR((EXTRACT(EPOCH FROM %(expressions)s) - 345600) / 604800)::int"
        return self.as_sql(compiler, connection, template=template, **extra)


class HourOfWeek(Func):
    """Hours since Monday 00:00 UTC, 0 to 167."""

    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "((CAST(strftime('%%%%s', %(expressions)s) AS INTEGER) - 345600) / 3600 %%%% 168)"
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "((EXTRACT(EPOCH FROM %(expressions)s)::bigint - 345600) / 3600 %%%% 168)::int"
        return self.as_sql(compiler, connection, template=template, **extra)


class UtcYear(Func):
    """The calendar year in UTC."""

    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="CAST(strftime('%%%%Y', %(expressions)s) AS INTEGER)", **extra
        )

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = "EXTRACT(YEAR FROM %(expressions)s AT TIME ZONE 'UTC')::int"
        return self.as_sql(compiler, connection, template=template, **extra)
