"""How long taking 35,000 hours of use takes, and how long publishing them holds the write lock.

Run as `python -m benchmarks.ingest [ROWS]`; on the database of DATABASE_URL, or on SQLite in a temporary
folder. The anchor, measured in the same run, is sqlite3's executemany of the same rows.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

HEADER = (
    "hour_utc,cluster,pool,gpu_type,gpus_installed,gpus_available,gpus_allocated,gpus_pending,active_share\n"
)
Hours = list[tuple[str, str, str, str, str, str, str]]


def hours(rows: int) -> Hours:
    start = datetime(2015, 1, 1, tzinfo=UTC)
    return [
        (
            f"{start + timedelta(hours=n):%Y-%m-%dT%H:00:00Z}",
            "bench",
            "all",
            "H100",
            "64",
            "62",
            f"{n % 60}.25",
        )
        for n in range(rows)
    ]


@contextmanager
def clock(times: dict[str, float], name: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    times[name] = time.perf_counter() - began


def anchor(rows: Hours, folder: Path) -> float:
    """Return the seconds that executemany takes for the same upsert."""
    connection = sqlite3.connect(folder / "anchor.sqlite3")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(
        "CREATE TABLE hours (id INTEGER PRIMARY KEY, hour, cluster, pool, gpu, installed NUMERIC, "
        "available NUMERIC, allocated NUMERIC, UNIQUE (cluster, pool, gpu, hour))"
    )
    began = time.perf_counter()
    connection.executemany(
        "INSERT INTO hours (hour, cluster, pool, gpu, installed, available, allocated) "
        "VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET allocated = excluded.allocated",
        rows,
    )
    connection.commit()
    return time.perf_counter() - began


def measure(rows: int) -> dict[str, float]:
    """Return seconds by what was done."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
        os.environ["VAR_DIR"], os.environ["LOG_LEVEL"] = name, "ERROR"
        import django

        django.setup()
        from django.core.management import call_command
        from django.utils import timezone

        import costs.ingest

        call_command("migrate", verbosity=0, skip_checks=True)
        times: dict[str, float] = {"executemany": anchor(hours(rows), folder)}
        write = costs.ingest.write

        for step, used in (("first", "62"), ("changed", "61"), ("unchanged", "61")):
            path = folder / f"{step}.csv"
            # a blank line at the end makes other bytes of the same rows
            lines = [",".join((*row[:5], used, *row[6:], "", "")) + "\n" for row in hours(rows)]
            path.write_text(HEADER + "".join(lines) + "\n" * (step == "unchanged"))

            def timed(*arguments: object, step: str = step) -> object:
                with clock(times, f"{step}: publish"):
                    return write(*arguments)

            with patch("costs.ingest.write", timed), clock(times, f"{step}: in all"):
                run = costs.ingest.ingest(
                    "utilization_csv", file=path, name=path.name, params={}, requested_by="bench",
                    now=timezone.now(),
                )  # fmt: skip
            assert run.status == "done", run.message
            print(f"{step}: {run.message}")
        return times


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 35_000
    times = measure(rows)
    unit = times["executemany"]
    for name, seconds in times.items():
        print(f"{name:20} {seconds:7.2f} s  {rows / seconds:10,.0f} rows/s  {seconds / unit:5.2f}x")
    assert times["first: publish"] < 2, "the write lock is held for too long"


if __name__ == "__main__":
    main()
