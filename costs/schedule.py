"""Which fetches are due. The slot is part of the job's key, so that two clocks make one job.

What is fetched how often stands in the table Schedule: a row for every source that can fetch. Rows begin
switched off, since nothing leaves this machine before somebody says so; INGEST_SCHEDULE switches on what it
names, and the sources page does the same.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl
from zlib import crc32

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from . import jobs
from .jobs import KeyTaken
from .models import Job, Schedule
from .sources import SOURCES
from .sources.fetchable import can_fetch

EVERY = timedelta(days=1)  # where a source does not say how often it changes
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)  # slots are counted from here; UTC knows no summer time
MOST_JITTER = timedelta(minutes=20)
FEWEST_MINUTES, MOST_MINUTES = 5, 525_600  # as the table allows


def entries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield source and parameters of INGEST_SCHEDULE, written "aws_prices?region=us-east-1 list_prices"."""
    for entry in settings.INGEST_SCHEDULE:
        name, _, query = entry.partition("?")
        if name not in SOURCES:
            raise ImproperlyConfigured(
                f"INGEST_SCHEDULE: {name!r} is no source; there are {', '.join(sorted(SOURCES))}"
            )
        yield name, dict(parse_qsl(query))


def params_key(params: Mapping[str, str]) -> str:
    """Return parameters as one text, whatever order they came in."""
    return "&".join(f"{name}={value}" for name, value in sorted(params.items()))[:200]


def ensure_rows() -> None:
    """Make the rows that are missing: one of every source that can fetch, and those that the setting names.

    A row that is there is left as people made it.
    """
    wanted = {(name, ""): _new_row(name, {}) for name in SOURCES if can_fetch(name)}
    for name, params in entries():
        row = _new_row(name, params)
        row.is_enabled = True
        wanted[name, row.params_key] = row
    there = set(Schedule.objects.values_list("source", "params_key"))
    missing = [row for key, row in wanted.items() if key not in there]
    if missing:
        Schedule.objects.bulk_create(missing, ignore_conflicts=True)


def _new_row(name: str, params: dict[str, str]) -> Schedule:
    every = SOURCES[name].CADENCE or EVERY
    return Schedule(
        source=name,
        params=params,
        params_key=params_key(params),
        every_minutes=every // timedelta(minutes=1),
        jitter_seconds=int(min(every / 10, MOST_JITTER).total_seconds()),
        is_enabled=False,
    )


def change(pk: int, *, every_minutes: int, is_enabled: bool, changed_by: str, now: datetime) -> Schedule:
    """Set how often a source is fetched, and whether at all; raise ValueError where that is out of bounds."""
    if not FEWEST_MINUTES <= every_minutes <= MOST_MINUTES:
        raise ValueError(f"every {every_minutes} minutes; expected {FEWEST_MINUTES} to {MOST_MINUTES:,}")
    row = Schedule.objects.get(pk=pk)
    row.every_minutes, row.is_enabled = every_minutes, is_enabled
    row.changed_by, row.changed_at = changed_by[:254], now
    row.save()
    return row


def slot(row: Schedule, now: datetime) -> datetime:
    """Return the beginning of the span in which the row is fetched once."""
    every = timedelta(minutes=row.every_minutes)
    offset = jitter(row)
    return BEGIN + offset + every * ((now - BEGIN - offset) // every)


def jitter(row: Schedule) -> timedelta:
    """Return by how much the row's slots begin later than others': always the same for one row."""
    spread = min(row.jitter_seconds, row.every_minutes * 60 - 1)
    return timedelta(seconds=crc32(f"{row.source}?{row.params_key}".encode()) % (spread + 1))


def next_due(row: Schedule, now: datetime) -> datetime | None:
    """Return when the row is fetched next, None where it is switched off."""
    return slot(row, now) + timedelta(minutes=row.every_minutes) if row.is_enabled else None


def slot_key(row: Schedule, now: datetime) -> str:
    """Return the key of the one job that fetches the row in its present slot."""
    return f"{row.source}:{row.params_key or 'all'}:{slot(row, now):%Y-%m-%dT%H:%M:%S}"[:200]


def next_fetches(rows: Iterable[Schedule], now: datetime) -> dict[int, datetime]:
    """Return when each row that is on is fetched next: now, where its present slot has no job yet."""
    on = {slot_key(row, now): row for row in rows if row.is_enabled}
    made = set(Job.objects.filter(key__in=list(on)).values_list("key", flat=True))
    return {
        row.pk: slot(row, now) + timedelta(minutes=row.every_minutes) if key in made else now
        for key, row in on.items()
    }


def switch_on(names: Collection[str], *, changed_by: str, now: datetime) -> list[Job]:
    """Fetch sources from now on, each as often as its row says; return the jobs that begin with it."""
    ensure_rows()
    for row in Schedule.objects.filter(source__in=names, params_key="", is_enabled=False):
        change(row.pk, every_minutes=row.every_minutes, is_enabled=True, changed_by=changed_by, now=now)
    return [job for job in create_due(now) if job.params["source"] in names]


def open_job(source: str) -> Job | None:
    """Return the fetch of a source that waits or runs: there is one at a time."""
    fetches = Job.objects.filter(kind="ingest", params__source=source, params__raw=None)
    return fetches.exclude(status__in=Job.TERMINAL).order_by("pk").first()


def create_due(now: datetime) -> list[Job]:
    """Make the job of the present slot of every row that is on; missed slots are not made up for."""
    ensure_rows()
    made = []
    for row in Schedule.objects.filter(is_enabled=True):
        if row.source not in SOURCES or not can_fetch(row.source):
            continue  # of a source that this version no longer has
        key = slot_key(row, now)
        if Job.objects.filter(key=key).exists() or open_job(row.source):
            continue
        try:
            work = {"source": row.source, "raw": None, "name": "", "params": row.params}
            made.append(jobs.enqueue("ingest", work, key=key, requested_by="schedule", now=now))
        except KeyTaken:  # a person's key that reads like ours
            continue
    return made
