"""Child processes that cannot outlive this one, however it ends."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

GRACE_SECONDS = 1.5  # between asking and killing; together with the rest it stays under 3 s
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def start(
    command: list[str], cwd: Path, environment: Mapping[str, str], keep: Iterable[int] = ()
) -> "subprocess.Popen[bytes]":
    """Start a command as the head of a process group of its own; `keep` are open files it may use."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=tuple(keep),
        preexec_fn=_die_with_parent,  # noqa: PLW1509 # no threads run here, so no lock can be held
    )


def run(
    command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end and return what it wrote to its standard output."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=_die_with_parent,  # no threads run here, so no lock can be held
    )


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent; the keeper does the same where there is no such call."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def stop(groups: Iterable[int], reap: Callable[[], object] = lambda: None) -> None:
    """End process groups: politely, and after the grace without asking."""
    groups = list(groups)
    _signal(groups, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        reap()
        if not any(_alive(group) for group in groups):
            return
        time.sleep(0.05)
    _signal(groups, signal.SIGKILL)
    reap()


def _signal(groups: Iterable[int], number: int) -> None:
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _alive(group: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, 0)
        return True
    return False


class Keeper:
    """A second process that waits for this one's death, even by kill -9, and then ends the children.

    It learns the children's process groups through a pipe. The pipe closes when this process is gone. A
    kernel's parent-death signal reaches children only, and not the children of children that a Celery
    worker has; the keeper reaches whole groups, on every Unix.
    """

    def __init__(self, close: Iterable[int] = ()) -> None:
        read, self._write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._write)
            for handle in close:
                os.close(handle)
            _keep(read)
        os.close(read)

    def watch(self, group: int) -> None:
        os.write(self._write, f"+{group}\n".encode())

    def forget(self, group: int) -> None:
        os.write(self._write, f"-{group}\n".encode())

    def end(self) -> None:
        """Let the keeper go; it first ends what it still watches."""
        os.close(self._write)
        os.waitpid(self.pid, 0)


def _keep(read: int) -> None:
    """Watch until the pipe closes, end the groups, and leave without running anything of the parent's."""
    try:
        os.setsid()  # a signal to the parent's whole group must not reach the keeper
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        groups: set[int] = set()
        with os.fdopen(read) as lines:
            for line in lines:
                group = int(line[1:])
                groups.add(group) if line[0] == "+" else groups.discard(group)
        stop(groups)
    finally:
        os._exit(0)
