"""Private PostgreSQL and Redis servers for tests, on this machine and away when the tests are.

Both run as an unprivileged user when the tests run as root: PostgreSQL refuses to be root, and Redis has
no reason to be. They listen on 127.0.0.1 and keep their files in a temporary folder.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest
from redis import Redis

START_SECONDS = 30


def free_port() -> int:
    """Return a port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Return whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(is_so: object, seconds: float, what: str) -> None:
    """Wait until the function says so; fail with the reason after some seconds."""
    assert callable(is_so)
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            pytest.fail(f"not within {seconds:g} s: {what}")
        time.sleep(0.05)


def unprivileged() -> dict[str, int]:
    """Return the user that servers run as: none in particular unless the tests are root's."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid}
    return missing("an unprivileged user, postgres or nobody")


def missing(what: str) -> NoReturn:
    """Skip for want of something; where every test must run, a skip is a failure (conftest.py)."""
    pytest.skip(f"{what} is not on this machine")


def _home(prefix: str) -> Path:
    # not pytest's own folder: its parents are closed to other users
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    owner = unprivileged()
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    return folder


@dataclass
class Server:
    """One server process in a folder of its own."""

    name: str
    command: list[str]
    home: Path
    port: int
    stop_signal: signal.Signals
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        """Start the server and wait until it listens."""
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
                extra_groups=[] if unprivileged() else None,
                **unprivileged(),
            )
        wait_until(lambda: answers(self.port), START_SECONDS, f"{self.name} listens")

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Stop the server as its operator would."""
        self._end(self.stop_signal)

    def kill(self) -> None:
        """Kill the server and what it started, as a crash would."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(START_SECONDS)

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)


@dataclass
class Postgres(Server):
    """A PostgreSQL cluster; `url` is its empty database, `database()` makes another."""

    programs: Path = Path()

    @property
    def url(self) -> str:
        return f"postgres://planner@127.0.0.1:{self.port}/postgres"

    def database(self, name: str, template: str = "template1") -> str:
        """Make a database, empty or like another one that nobody is using, and return its address."""
        sql = [
            f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)',
            f'CREATE DATABASE "{name}" TEMPLATE "{template}"',
        ]
        for command in sql:
            subprocess.run(
                [self.programs / "psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "planner",
                 "-d", "postgres", "-c", command],
                check=True,
                capture_output=True,
            )  # fmt: skip
        return f"postgres://planner@127.0.0.1:{self.port}/{name}"

    def restart_at_once(self) -> None:
        """Stop without a checkpoint, as a power cut would, and start with recovery."""
        self._end(signal.SIGQUIT)
        self.start()

    def start(self) -> None:
        """Start the server and wait until it has recovered and takes connections."""
        super().start()
        wait_until(self._is_ready, START_SECONDS, "PostgreSQL is ready")

    def _is_ready(self) -> bool:
        ready = [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready).returncode == 0


@dataclass
class RedisServer(Server):
    """A Redis that keeps its queue: append-only file, no eviction."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> Redis:
        return Redis.from_url(self.url)

    def flush(self) -> None:
        """Empty the running server."""
        with self.client() as client:
            client.flushall()

    def forget(self) -> None:
        """Throw away what a stopped server had on disk."""
        shutil.rmtree(self.home / "appendonlydir", ignore_errors=True)
        (self.home / "dump.rdb").unlink(missing_ok=True)


def postgres_programs() -> Path | None:
    """Return the folder of the newest PostgreSQL programs, None without any."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parent.parent.name)
    )
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def make_postgres() -> Postgres:
    """Make a cluster and start it."""
    programs = postgres_programs()
    if programs is None:
        missing("PostgreSQL (apt-get install postgresql)")
    home, port = _home("planner-pg-"), free_port()
    data = home / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "planner", "--auth=trust", "-E", "UTF8", "--no-locale"],
        check=True,
        capture_output=True,
        cwd=home,
        extra_groups=[] if unprivileged() else None,
        **unprivileged(),
    )
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(home),
        "port": port,
        "max_connections": 60,
        "shared_buffers": "64MB",
        "log_min_messages": "error",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    server = Postgres(
        "PostgreSQL",
        [str(programs / "postgres"), "-D", str(data), *options],
        home,
        port,
        signal.SIGINT,
        programs=programs,
    )
    server.start()
    return server


def make_redis(policy: str = "noeviction") -> RedisServer:
    """Make a Redis and start it."""
    program = shutil.which("redis-server")
    if program is None:
        missing("Redis (apt-get install redis-server)")
    home, port = _home("planner-redis-"), free_port()
    options = [
        "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--appendonly", "yes",
        "--appendfsync", "everysec", "--save", "", "--maxmemory-policy", policy,
    ]  # fmt: skip
    server = RedisServer("Redis", [program, *options], home, port, signal.SIGTERM)
    server.start()
    return server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A private PostgreSQL."""
    server = make_postgres()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A private Redis."""
    server = make_redis()
    yield server
    server.remove()
