"""A whole copy of the product in a folder of its own: real processes that tests may kill."""

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FAULTS = int(os.environ.get("FAULTS", "5"))  # how often each test does its harm
MOST_HITS = 4  # of one job: the fifth attempt is its last, and would rightly fail it
HEADER = (
    "hour_utc,cluster,pool,gpu_type,gpus_installed,gpus_available,gpus_allocated,gpus_pending,active_share"
)
TERMINAL = ("done", "duplicate", "failed", "cancelled")


@dataclass
class Process:
    """A process and everything that it starts."""

    command: list[str]
    env: dict[str, str]
    log: Path
    popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                self.command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )

    def is_alive(self) -> bool:
        return self.popen is not None and self.popen.poll() is None

    def kill(self) -> None:
        """Kill -9 the whole group."""
        self._signal_group(signal.SIGKILL)
        assert self.popen is not None
        self.popen.wait(10)

    def pause(self) -> None:
        """Freeze the process, as a suspended machine would."""
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_group(signal.SIGCONT)

    def stop(self) -> None:
        """Ask to stop, as a supervisor does, and then insist."""
        if self.popen is None:
            return
        self.popen.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(10)
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        assert self.popen is not None
        try:
            os.killpg(self.popen.pid, number)
        except ProcessLookupError:
            return


@dataclass
class Copy:
    """A copy of the product, its workers and what the tests gave it to do."""

    folder: Path
    database_url: str = ""
    redis_url: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    workers: list[Process] = field(default_factory=list)
    expected: dict[tuple[str, datetime], Decimal] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {
            **keep,
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
            "VAR_DIR": str(self.folder / "var"),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "JOB_LEASE_SECONDS": "2",
            "JOB_TICK_SECONDS": "0.2",
            "JOB_POLL_SECONDS": "0.1",
            "JOB_HINT_SECONDS": "1",
            "INGEST_CHUNK_PAUSE_SECONDS": "0.05",
            **self.settings,
        }

    def run(self, *arguments: str) -> str:
        """Run a command to its end and return what it said; fail with what it said otherwise."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def migrate(self) -> None:
        """Make the tables in the empty database."""
        self.folder.mkdir(exist_ok=True)
        self.run("manage.py", "migrate", "--skip-checks", "-v", "0")

    def worker(self, *extra: str) -> Process:
        """Start a worker: the loop without Redis, or Celery with it."""
        command = [sys.executable, "manage.py", "worker"]
        if self.redis_url:
            command = [sys.executable, "-m", "celery", "-A", "planner", "worker", "-c", "2", "-l", "INFO"]
        return self._begin([*command, *extra], f"worker-{len(self.workers)}.log")

    def scheduler(self) -> Process:
        """Start Celery's clock."""
        state = str(self.folder / "beat")
        command = [sys.executable, "-m", "celery", "-A", "planner", "beat", "-s", state, "--pidfile="]
        return self._begin(command, "beat.log")

    def _begin(self, command: list[str], log: str) -> Process:
        process = Process(command, self.env, self.folder / log)
        process.start()
        self.workers.append(process)
        return process

    def stop(self) -> None:
        for process in self.workers:
            process.stop()

    def file(self, cluster: str, rows: int, seed: int) -> Path:
        """Write a file of hours and note what must be found in the table afterwards."""
        draw, path = random.Random(seed), self.folder / f"{cluster}.csv"
        start = datetime(2024, 1, 1, tzinfo=UTC)
        with path.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(HEADER.split(","))
            for number in range(rows):
                hour, used = start + timedelta(hours=number), Decimal(draw.randrange(0, 64_000)) / 1000
                out.writerow([f"{hour:%Y-%m-%dT%H:%M:%SZ}", cluster, "all", "H100", 64, 64, used, "", ""])
                self.expected[cluster, hour] = used
        return path

    def order(self, kind: str, params: dict[str, Any], *keys: str) -> list[int]:
        """Put work in the queue and return the ids of its jobs."""
        told = self.run("-m", "tests.faults.order", kind, json.dumps(params), *keys)
        return [int(line) for line in told.split()]

    def order_files(self, *paths: Path, keys: tuple[str, ...] = ("",)) -> list[int]:
        """Put each file in the queue, once for each key."""
        params = {"source": "utilization_csv", "files": [str(path) for path in paths], "params": {}}
        return self.order("ingest", params, *keys)

    def clusters(self, count: int, rows: int) -> list[int]:
        """Order the ingest of some files, each of a cluster of its own."""
        return self.order_files(*[self.file(f"cluster-{n}", rows, seed=n) for n in range(count)])

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database, past our own code."""
        if self.database_url:
            with psycopg.connect(self.database_url.replace("postgres://", "postgresql://")) as connection:
                return list(connection.execute(sql).fetchall())  # type: ignore[call-overload]
        connection = sqlite3.connect(self.folder / "var" / "gpu-planner.sqlite3", timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def jobs(self) -> dict[int, tuple[str, int]]:
        """Return status and attempts of every job."""
        return {
            pk: (status, tries)
            for pk, status, tries in self.query("SELECT id, status, attempts FROM costs_job")
        }

    def wait_for(self, ids: list[int], seconds: float) -> None:
        """Wait until the jobs have ended; show the logs when they do not."""
        end = time.monotonic() + seconds
        while not all(self.jobs()[pk][0] in TERMINAL for pk in ids):
            if time.monotonic() > end:
                pytest.fail(f"stuck after {seconds:g} s: {self.jobs()}\n{self.logs()}")
            time.sleep(0.2)

    def wait_until_running(self, ids: list[int], seconds: float = 30) -> int | None:
        """Return a job that is running and may be hit once more; None when all have ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.jobs()
            for pk in ids:
                status, attempts = found[pk]
                if status == "running" and attempts <= MOST_HITS:
                    return pk
            if all(found[pk][0] in TERMINAL for pk in ids):
                return None
            time.sleep(0.05)
        pytest.fail(f"nothing runs: {self.jobs()}\n{self.logs()}")

    def logs(self) -> str:
        return "\n".join(f"== {log.name}\n{log.read_text()[-3000:]}" for log in self.folder.glob("*.log"))

    def check(self, ids: list[int]) -> None:
        """Every job ended well, the ledger is exact, and the table holds the files' rows and no others."""
        ended = self.jobs()
        assert {ended[pk][0] for pk in ids} <= {"done", "duplicate"}, self.logs()
        assert self.run("manage.py", "verify_ledger").startswith("ledger exact")
        rows = self.query("SELECT cluster, starts_at, gpus_allocated FROM costs_utilization")
        found = {(cluster, _moment(moment)): Decimal(str(used)) for cluster, moment, used in rows}
        assert len(rows) == len(found) == len(self.expected), "rows lost or doubled"
        assert found == self.expected


def _moment(value: str | datetime) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def kill_at_random(copy: Copy, ids: list[int], times: int, seed: int) -> int:
    """Kill a worker while one of the jobs runs and start it again, some times; return how often it hit."""
    draw, hits = random.Random(seed), 0
    for _ in range(times):
        if copy.wait_until_running(ids) is None:
            break
        time.sleep(draw.uniform(0, 0.8))
        process = draw.choice([worker for worker in copy.workers if "beat" not in worker.command])
        process.kill()
        hits += 1
        process.start()
    return hits
