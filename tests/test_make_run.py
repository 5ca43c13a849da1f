"""`make run` as a newcomer meets it: real processes, killed in every way, in a copy of the project."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from launch import environment

from .services import Postgres, RedisServer, free_port

pytestmark = pytest.mark.fault
ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 90  # on a busy machine; the second start is far below
BACK_SECONDS = 10
GONE_SECONDS = 3


def within(seconds: float, is_so: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds} s: {what}")
        time.sleep(0.1)


@dataclass
class Copy:
    """A copy of the project with its own var/, using the virtual environment that runs the tests."""

    folder: Path
    port: int = field(default_factory=free_port)
    make: "subprocess.Popen[bytes] | None" = None
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.folder / "var" / "make-run.log"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def environment(self, **changes: str) -> dict[str, str]:
        changes = self.settings | changes
        names = ("PATH", "HOME", "LANG")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return kept | {"VENV": sys.prefix, "PORT": str(self.port)} | changes

    def start(self) -> str:
        """Start `make run` in a session of its own and return what it said once pages answer."""
        self.log.parent.mkdir(exist_ok=True)
        with self.log.open("wb") as out:
            self.make = subprocess.Popen(
                ["make", "run"],
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        within(START_SECONDS, lambda: "answers at" in self.said() or self.ended(), "the address is printed")
        assert not self.ended(), self.said()
        return self.said()

    def said(self) -> str:
        return self.log.read_text()

    def ended(self) -> bool:
        return self.make is not None and self.make.poll() is not None

    def run_again(self, **changes: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["make", "run"],
            cwd=self.folder,
            env=self.environment(**changes),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )

    def processes(self) -> dict[int, str]:
        """Return what runs in the copy's folder, by process id; the dead that nobody buried do not count."""
        found = {}
        for entry in Path("/proc").iterdir():
            with suppress(OSError):  # not a process, or gone meanwhile
                if entry.name.isdecimal() and (entry / "cwd").readlink() == self.folder:
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return {pid: command for pid, command in found.items() if command}

    def pids(self, words: str) -> set[int]:
        return {pid for pid, command in self.processes().items() if words in command}

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.address + "healthz", timeout=2) as answer:  # noqa: S310 # our own address
                return answer.status == 200
        except OSError:
            return False

    def get(self, path: str) -> tuple[int, str, dict[str, str]]:
        try:
            with urllib.request.urlopen(self.address + path.lstrip("/"), timeout=20) as answer:  # noqa: S310 # as above
                return answer.status, answer.read().decode(), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), dict(error.headers)

    def all_gone(self) -> bool:
        if self.make is not None:
            self.make.poll()
        return not self.processes()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what git would take: nothing of this checkout's var/ or environment."""
    folder = tmp_path_factory.mktemp("project").resolve()
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture
def copy(project: Path) -> Iterator[Copy]:
    made = Copy(project)
    yield made
    for pid in made.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if made.make is not None:
        made.make.wait()
    shutil.rmtree(project / "var", ignore_errors=True)


def test_it_starts_says_where_and_comes_back_after_every_kill(copy: Copy) -> None:
    said = copy.start()
    assert f"answers at {copy.address}" in said
    link = re.search(rf"^{re.escape(copy.address)}(first-run/[\w-]+/)$", said, re.MULTILINE)
    assert link is not None, said
    status, page, _ = copy.get(link[1])
    assert status == 200
    assert "Create the administrator" in page

    status, page, _ = copy.get("accounts/login/")
    sheet = re.search(r'href="/(static/css/app\.[0-9a-f]{12}\.css)"', page)
    assert sheet is not None
    assert copy.get(sheet[1])[2]["Cache-Control"] == "max-age=315360000, public, immutable"
    status, page, headers = copy.get("no-such-page")
    assert status == 404
    assert "DEBUG" not in page
    assert "waitress" not in headers.get("Server", "")

    for words in ("planner.serve", "manage.py worker"):
        before = copy.pids(words)
        assert len(before) == 1, copy.processes()
        os.kill(before.pop(), signal.SIGKILL)
        within(BACK_SECONDS, lambda: copy.pids(words) - before, f"{words} is back")  # noqa: B023 # used at once
        within(BACK_SECONDS, copy.answers, "pages answer")
    assert "killed by signal 9; starting it again" in copy.said()

    other = copy.run_again(PORT=str(free_port()))
    assert other.returncode != 0
    assert "another copy is running on" in other.stderr
    assert len(other.stderr.strip().splitlines()) == 2  # ours, and make's own

    assert copy.make is not None
    os.killpg(copy.make.pid, signal.SIGINT)  # what a terminal does at Ctrl-C
    within(GONE_SECONDS, copy.all_gone, f"nothing is left of {copy.processes()}")

    # again: all is prepared, and the old link has ended
    said = copy.start()
    assert "Loading" not in said
    assert copy.get(link[1])[0] == 404


@pytest.mark.parametrize("killed", ["launch run", "make run"])
def test_its_parents_death_leaves_nothing(copy: Copy, killed: str) -> None:
    copy.start()
    assert copy.make is not None
    keepers_and_supervisor = copy.pids("launch run")
    assert len(keepers_and_supervisor) == 2
    victim = copy.make.pid if killed == "make run" else min(keepers_and_supervisor)
    os.kill(victim, signal.SIGKILL)
    within(GONE_SECONDS, copy.all_gone, f"nothing is left of {copy.processes()}")


@pytest.mark.services
def test_with_redis_celery_does_the_work_and_leaves_nothing_either(
    copy: Copy, redis_server: RedisServer, postgres: Postgres
) -> None:
    copy.settings = {"REDIS_URL": redis_server.url, "DATABASE_URL": postgres.database("make_run")}
    copy.start()
    assert not copy.pids("manage.py worker")
    assert len(copy.pids("celery -A planner beat")) == 1
    workers = copy.pids("celery -A planner worker")
    within(START_SECONDS, lambda: len(copy.pids("celery -A planner worker")) == 3, "one head and two hands")

    head = min(workers)
    os.kill(head, signal.SIGKILL)
    again = lambda: copy.pids("celery -A planner worker") - workers  # noqa: E731 # named for the next line
    within(BACK_SECONDS, again, "the Celery worker is back")

    os.kill(min(copy.pids("launch run")), signal.SIGKILL)
    within(GONE_SECONDS, copy.all_gone, f"nothing is left of {copy.processes()}")


def test_a_taken_port_is_said_in_one_line(copy: Copy) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", copy.port))
        other.listen()
        done = copy.run_again()
    assert done.returncode != 0
    assert f"port {copy.port} is taken" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2  # ours, and make's own
    assert copy.all_gone()


# ---- the virtual environment ----


@pytest.fixture
def empty_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lock = tmp_path / "requirements.lock"
    lock.write_text("# nothing\n")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "RUN_LOCK", lock)
    monkeypatch.delenv("VENV", raising=False)
    return lock


def test_the_environment_is_made_once_and_again_when_the_lock_changes(empty_lock: Path) -> None:
    python = environment.prepare(empty_lock)
    made = python.lstat().st_ctime_ns
    stamp = empty_lock.parent / ".venv" / ".installed-requirements"
    first = stamp.read_text()
    assert environment.prepare(empty_lock) == python
    empty_lock.write_text("# something\n")
    environment.prepare(empty_lock)
    assert stamp.read_text() != first
    assert python.lstat().st_ctime_ns == made  # installed into, not made anew


def test_a_making_that_was_killed_is_done_again_from_the_start(empty_lock: Path) -> None:
    folder = empty_lock.parent / ".venv"
    environment.prepare(empty_lock)
    (folder / "half-installed").touch()
    (folder / ".installing").touch()  # a kill leaves this behind
    python = environment.prepare(empty_lock)
    assert not (folder / "half-installed").exists()
    assert subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0


def test_an_environment_whose_python_is_gone_is_made_again(empty_lock: Path) -> None:
    python = environment.prepare(empty_lock)
    python.unlink()
    python.symlink_to("/no/such/python")
    assert subprocess.run([environment.prepare(empty_lock), "-c", ""]).returncode == 0


def test_what_stops_an_installation_is_said_in_one_line(empty_lock: Path) -> None:
    empty_lock.write_text("no-such-package-of-this-name==1.0\n")  # and no hash
    with pytest.raises(environment.SetupError) as stopped:
        environment.prepare(empty_lock)
    assert len(str(stopped.value).splitlines()) == 1
    assert "the installation stopped" in str(stopped.value)


def test_a_named_environment_that_is_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VENV", str(tmp_path))
    with pytest.raises(environment.SetupError, match="no bin/python"):
        environment.prepare(environment.RUN_LOCK)
