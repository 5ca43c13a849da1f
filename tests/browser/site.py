"""A real server of the product for browser tests: own folder, own database, the web server of `make run`."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@dataclass
class Site:
    """One running server; `manage` runs a management command against its database."""

    url: str
    env: dict[str, str]
    process: subprocess.Popen

    def manage(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        """Run code with Django set up, in a process of its own."""
        return self.manage("shell", "--no-imports", "-c", code)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def start(folder: Path) -> Site:
    """Prepare a database and static files in `folder`, and serve them on a free port."""
    env = {**os.environ, "VAR_DIR": str(folder), "DEBUG": "0", "LOG_LEVEL": "WARNING"}
    env.pop("DATABASE_URL", None)
    env.pop("REDIS_URL", None)
    subprocess.run(
        [sys.executable, "manage.py", "prepare"], cwd=ROOT, env=env, check=True, capture_output=True
    )
    listener = socket.create_server(("127.0.0.1", 0))
    handle = listener.fileno()
    command = [sys.executable, "-m", "planner.serve", str(handle)]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, pass_fds=[handle], stderr=log, stdout=log)
    site = Site(f"http://127.0.0.1:{listener.getsockname()[1]}", env, process)
    listener.close()
    _wait(site)
    return site


def _wait(site: Site) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert site.process.poll() is None, "the server ended at its start"
        try:
            with urllib.request.urlopen(f"{site.url}/healthz", timeout=2) as answer:  # noqa: S310 # our own address
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not answer within {START_SECONDS} s")
