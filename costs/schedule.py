"""Which fetches are due. The slot is part of the job's key, so that two clocks make one job."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from . import jobs
from .jobs import KeyTaken
from .models import Job
from .sources import SOURCES

EVERY = timedelta(days=1)  # where a source does not say how often it changes


def entries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield source and parameters of INGEST_SCHEDULE, written "aws_prices?region=us-east-1 list_prices"."""
    for entry in settings.INGEST_SCHEDULE:
        name, _, query = entry.partition("?")
        if name not in SOURCES:
            raise ImproperlyConfigured(
                f"INGEST_SCHEDULE: {name!r} is no source; there are {', '.join(sorted(SOURCES))}"
            )
        yield name, dict(parse_qsl(query))


def slot(source: str, now: datetime) -> datetime:
    """Return the beginning of the span in which the source is fetched once. UTC knows no summer time."""
    every = SOURCES[source].CADENCE or EVERY
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    return begin + every * ((now - begin) // every)


def create_due(now: datetime) -> list[Job]:
    """Make the job of the present slot of every scheduled source; missed slots are not made up for."""
    made = []
    for source, params in entries():
        scope = "&".join(f"{name}={value}" for name, value in sorted(params.items())) or "all"
        key = f"{source}:{scope}:{slot(source, now):%Y-%m-%dT%H:%M}"[:200]
        if Job.objects.filter(key=key).exists():
            continue
        try:
            work = {"source": source, "raw": None, "name": "", "params": params}
            made.append(jobs.enqueue("ingest", work, key=key, requested_by="schedule", now=now))
        except KeyTaken:  # a person's key that reads like ours
            continue
    return made
