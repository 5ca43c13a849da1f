"""The virtual environment: made from the lock file, again when the lock changes or a making was cut off."""

import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"  # holds every line of the other, and what tests need


class SetupError(Exception):
    """What stopped the set-up, in one line for a person."""


def prepare(lock: Path) -> Path:
    """Return the Python of an environment that holds exactly what `lock` asks for, made where it is missing.

    With VENV set that environment is taken as it is: whoever names one looks after it.
    """
    given = os.environ.get("VENV")
    if given:
        return _existing(Path(given))
    folder = ROOT / ".venv"
    if _is_current(folder, lock):
        return _python(folder)
    _make(folder)
    _install(folder, lock)
    return _python(folder)


def _existing(folder: Path) -> Path:
    python = _python(folder.resolve())
    if not python.exists():
        raise SetupError(f"VENV={folder}: there is no bin/python in it")
    return python


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _stamp(folder: Path, lock: Path) -> Path:
    return folder / f".installed-{lock.stem}"


def _digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def _is_current(folder: Path, lock: Path) -> bool:
    stamp = _stamp(folder, lock)
    with suppress(OSError):
        return stamp.read_text() == _digest(lock) and _answers(folder) and not _cut_off(folder).exists()
    return False


def _answers(folder: Path) -> bool:
    """Return whether the environment's Python starts: not so when the system's was removed."""
    with suppress(OSError):
        return subprocess.run([_python(folder), "-c", ""], capture_output=True, check=False).returncode == 0
    return False


def _cut_off(folder: Path) -> Path:
    return folder / ".installing"  # there while work is going on; found later, the work was killed


def _make(folder: Path) -> None:
    if folder.exists() and (_cut_off(folder).exists() or not _answers(folder)):
        shutil.rmtree(folder)
    fresh = not folder.exists()
    folder.mkdir(exist_ok=True)
    _cut_off(folder).touch()
    if not fresh:
        return
    print("Making .venv ...", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
    if made.returncode:
        shutil.rmtree(folder)
        hint = "on Debian and Ubuntu: apt-get install python3-venv"
        raise SetupError(f"{sys.executable} cannot make a virtual environment ({hint})")


def _install(folder: Path, lock: Path) -> None:
    print(f"Installing what {lock.name} lists ...", flush=True)
    command: list[str | Path] = [
        _python(folder),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    command += ["--no-input", "--no-deps", "--require-hashes", "-r", lock]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        why = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr.strip()]
        raise SetupError(f"the installation stopped: {why[0]} (run the same command again to go on)")
    for held in {lock, RUN_LOCK}:
        _stamp(folder, held).write_text(_digest(held))
    _cut_off(folder).unlink()
