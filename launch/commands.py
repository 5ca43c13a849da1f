"""What `make run`, `make setup` and `make test` do before anything of the product can be imported."""

import os
import sys
from pathlib import Path

from launch import browser, environment, processes, supervisor
from launch.environment import DEV_LOCK, ROOT, RUN_LOCK, SetupError


def main(arguments: list[str]) -> int:
    """Run one command by name; say in one line what stops it."""
    commands = {"run": _run, "setup": _setup, "setup-dev": _setup_dev}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(f"usage: python -m launch {'|'.join(commands)}", file=sys.stderr)
        return 2
    try:
        commands[arguments[0]]()
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _setup() -> None:
    environment.prepare(RUN_LOCK)


def _setup_dev() -> None:
    environment.prepare(DEV_LOCK)
    browser.prepare()


def _run() -> None:
    port = supervisor.port_from(os.environ)
    settings = _environment()
    with supervisor.only_copy(Path(settings["VAR_DIR"])), supervisor.listen(port) as listener:
        python = environment.prepare(RUN_LOCK)
        address = f"http://{supervisor.HOST}:{port}/"
        prepared = processes.run([python, "manage.py", "prepare", "--first-admin"], ROOT, settings)
        if prepared.returncode:
            raise SetupError("the preparation stopped: the lines above say why")
        token = prepared.stdout.strip()
        supervisor.supervise(python, listener, settings, _greeting(address, token))


def _environment() -> dict[str, str]:
    """Return the environment of every child: ours, with var/ named in full and debugging off."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    settings["VAR_DIR"] = str(Path(settings.get("VAR_DIR") or ROOT / "var").resolve())
    settings |= {"DEBUG": "0", "PYTHONUNBUFFERED": "1"}
    return settings


def _greeting(address: str, token: str) -> str:
    lines = ["", f"GPU Planner answers at {address} (this machine only; Ctrl-C stops it)"]
    if token:
        lines += ["There is no user yet. Create the administrator here, once, within 15 minutes:"]
        lines += [f"{address}first-run/{token}/"]
    return "\n".join(lines)
