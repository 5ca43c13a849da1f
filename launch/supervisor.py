"""Start the web server and the workers, start again what dies, and leave nothing behind."""

import errno
import fcntl
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import TextIO

from launch import processes
from launch.environment import ROOT, SetupError

HOST = "127.0.0.1"
START_SECONDS = 60  # how long the pages may take to answer for the first time
LOCK_SECONDS = 4  # a copy that was killed a moment ago still cleans up
STEADY_SECONDS = 10  # a child that lived this long starts afresh at the shortest wait
WAITS_SECONDS = (0.2, 1, 2, 4, 8)  # before starting a child again, growing while it keeps dying


@dataclass
class Child:
    name: str
    command: list[str]
    keep: tuple[int, ...] = ()
    process: "Popen[bytes] | None" = None
    started: float = 0.0
    deaths: int = 0
    start_at: float = field(default=0.0)

    def wait_after_death(self, now: float) -> float:
        """Return the seconds before the next start; deaths in quick succession wait longer."""
        self.deaths = 0 if now - self.started > STEADY_SECONDS else self.deaths + 1
        return WAITS_SECONDS[min(self.deaths, len(WAITS_SECONDS) - 1)]


class Supervisor:
    def __init__(self, children: list[Child], environment: Mapping[str, str], listening: int) -> None:
        self.children = children
        self.environment = environment
        self.keeper = processes.Keeper(close=[listening])
        self.parent = os.getppid() if os.environ.get("MAKELEVEL") else None  # that is `make`
        self.asked_to_stop = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask_to_stop)

    def _ask_to_stop(self, number: int, frame: object) -> None:
        # a note alone: an exception from here could strike between starting a child and knowing of it
        self.asked_to_stop = True

    @property
    def should_stop(self) -> bool:
        return self.asked_to_stop or (self.parent is not None and os.getppid() != self.parent)

    def step(self) -> None:
        """Note what died and start what is due."""
        now = time.monotonic()
        for child in self.children:
            if child.process is not None and child.process.poll() is not None:
                self._buried(child, now)
            if child.process is None and now >= child.start_at:
                child.process = processes.start(child.command, ROOT, self.environment, child.keep)
                child.started = now
                self.keeper.watch(child.process.pid)

    def _buried(self, child: Child, now: float) -> None:
        assert child.process is not None  # noqa: S101 # the caller has looked
        code, group = child.process.returncode, child.process.pid
        processes.stop([group])  # what a killed head leaves of its group
        self.keeper.forget(group)
        child.process = None
        wait = child.wait_after_death(now)
        child.start_at = now + wait
        how = f"killed by signal {-code}" if code < 0 else f"ended with {code}"
        print(f"{child.name} {how}; starting it again in {wait:g} s", file=sys.stderr, flush=True)

    def stop(self) -> None:
        running = [child.process for child in self.children if child.process is not None]
        processes.stop([process.pid for process in running], lambda: [process.poll() for process in running])
        self.keeper.end()


@contextmanager
def only_copy(folder: Path) -> Iterator[None]:
    """Hold the lock of var/, so that no second copy works on the same data.

    The keeper inherits the lock and holds it until the last child is gone.
    """
    with _lock_file(folder) as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SetupError(
                        f"another copy is running on {folder}; stop it first, or set VAR_DIR"
                    ) from None
                time.sleep(0.2)
        yield


def _lock_file(folder: Path) -> TextIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / "run.lock").open("a")
    except OSError as error:
        raise SetupError(
            f"{folder} cannot be written: {error.strerror}; make it a folder of this user, or set VAR_DIR"
        ) from None


def listen(port: int) -> socket.socket:
    """Return a listening socket, held here so that pages wait while the web server restarts."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise SetupError(f"port {port} is taken; choose another: PORT={port + 1} make run") from None
        raise SetupError(f"port {port} cannot be opened: {error.strerror}") from None
    return listener


def port_from(environment: Mapping[str, str]) -> int:
    text = environment.get("PORT", "8000")
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise SetupError(f"PORT={text!r}: write a number from 1 to 65535")
    return int(text)


def children(python: Path, listener: socket.socket, environment: Mapping[str, str]) -> list[Child]:
    """Return what runs: the web server, and the job loop or, with Redis, Celery's two processes."""
    web = Child("web", [str(python), "-m", "planner.serve", str(listener.fileno())], (listener.fileno(),))
    if not environment.get("REDIS_URL"):
        return [web, Child("worker", [str(python), "manage.py", "worker"])]
    celery = [str(python), "-m", "celery", "-A", "planner"]
    schedule = Path(environment["VAR_DIR"]) / "beat-schedule"
    return [
        web,
        Child("worker", [*celery, "worker", "--loglevel", "WARNING", "--concurrency", "2"]),
        Child(
            "scheduler", [*celery, "beat", "--loglevel", "WARNING", "--schedule", str(schedule), "--pidfile="]
        ),
    ]


def answers(port: int) -> bool:
    """Return whether the health page says that all is well."""
    request = urllib.request.Request(f"http://{HOST}:{port}/healthz")
    try:
        with urllib.request.urlopen(request, timeout=1) as answer:  # noqa: S310 # an address of our own
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def supervise(python: Path, listener: socket.socket, environment: Mapping[str, str], greeting: str) -> None:
    """Run until Ctrl-C, a polite kill, or the end of `make`. `greeting` is printed once pages answer."""
    port = listener.getsockname()[1]
    supervisor = Supervisor(children(python, listener, environment), environment, listener.fileno())
    try:
        _until_answering(supervisor, port)
        if not supervisor.should_stop:
            print(greeting, flush=True)
        while not supervisor.should_stop:
            supervisor.step()
            time.sleep(0.2)
    finally:
        supervisor.stop()


def _until_answering(supervisor: Supervisor, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not supervisor.should_stop:
        supervisor.step()
        if _all_up(supervisor) and answers(port):
            return
        if any(child.deaths >= 2 for child in supervisor.children):
            raise SetupError("it does not start: the lines above say why")
        if time.monotonic() > deadline:
            raise SetupError(f"the pages do not answer after {START_SECONDS} s: the lines above may say why")
        time.sleep(0.1)


def _all_up(supervisor: Supervisor) -> bool:
    return all(child.process is not None and child.process.poll() is None for child in supervisor.children)
