"""What stands around the code: settings that refuse nonsense, lock files, the compose file, the Makefile."""

import importlib.resources
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from django.conf import settings

ROOT = Path(__file__).resolve().parent.parent
KEY = "k3y-" * 20


def run(*command: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the project with the given environment alone, and return what it said."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        command, cwd=ROOT, env=kept | environment, capture_output=True, text=True, timeout=120
    )


# ---- settings ----


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DEBUG", "maybe", "DEBUG='maybe': write 1 or 0"),
        ("SERVED_OVER_TLS", "on", "SERVED_OVER_TLS='on': write 1 or 0"),
        ("SECRET_KEY", "short", "SECRET_KEY: at least 50 characters"),
        ("ALLOWED_HOSTS", "*", "ALLOWED_HOSTS: name each host"),
        ("ALLOWED_HOSTS", "ok.example,*.example", "ALLOWED_HOSTS: name each host"),
        ("CSRF_TRUSTED_ORIGINS", "planner.example.com", "write it as https://host"),
        ("DATABASE_URL", "mysql://root:hunter22@db/planner", "PostgreSQL and SQLite"),
        ("DATABASE_URL", "planner", "DATABASE_URL: write postgresql://"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL: write redis://"),
        ("TRUSTED_PROXIES", "-1", "TRUSTED_PROXIES='-1': write a whole number"),
        ("JOB_LEASE_SECONDS", "0", "JOB_LEASE_SECONDS='0': write a number of seconds, 0.001 or more"),
        ("JOB_TICK_SECONDS", "nan", "JOB_TICK_SECONDS='nan': write a number of seconds, 0.001 or more"),
        ("INGEST_CHUNK_PAUSE_SECONDS", "-1", "write a number of seconds, 0 or more"),
        ("FIRST_ADMIN_LINK_SECONDS", "soon", "write a number of seconds, 0.001 or more"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL='LOUD': write DEBUG"),
    ],
)
def test_a_setting_that_makes_no_sense_stops_the_start(
    name: str, value: str, says: str, tmp_path: Path
) -> None:
    done = run(sys.executable, "-c", "import planner.settings", VAR_DIR=str(tmp_path), **{name: value})
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert says in last
    assert "hunter22" not in done.stderr  # a password in an address is not repeated


def _read_settings(names: list[str], **environment: str) -> dict[str, Any]:
    code = f"import json, planner.settings as s; print(json.dumps({{n: getattr(s, n) for n in {names}}}))"
    done = run(sys.executable, "-c", code, **environment)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_without_any_variable_it_is_safe_on_this_machine_alone(tmp_path: Path) -> None:
    names = [
        "DEBUG",
        "ALLOWED_HOSTS",
        "SESSION_COOKIE_NAME",
        "SESSION_COOKIE_SECURE",
        "REDIS_URL",
        "PASSWORD_HASHERS",
    ]
    values = _read_settings(names, VAR_DIR=str(tmp_path))
    assert values == {
        "DEBUG": False,
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"],
        "SESSION_COOKIE_NAME": "session",
        "SESSION_COOKIE_SECURE": False,
        "REDIS_URL": "",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
    }


def test_over_tls_cookies_are_bound_to_the_host(tmp_path: Path) -> None:
    names = ["SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE"]
    values = _read_settings(names, VAR_DIR=str(tmp_path), SERVED_OVER_TLS="1")
    assert values == dict(zip(names, ["__Host-session", "__Host-csrf", True, True], strict=True))


def test_the_key_is_made_once_and_for_the_owner_alone(tmp_path: Path) -> None:
    first = _read_settings(["SECRET_KEY"], VAR_DIR=str(tmp_path))
    assert _read_settings(["SECRET_KEY"], VAR_DIR=str(tmp_path)) == first
    assert len(first["SECRET_KEY"]) >= 64
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


# ---- lock files ----


def _pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)==([^\s\\;]+)", text, re.MULTILINE))


def test_what_runs_is_what_is_tested() -> None:
    run_pins, dev_pins = _pins("requirements.lock"), _pins("requirements-dev.lock")
    assert len(run_pins) > 40
    assert {name: dev_pins.get(name) for name in run_pins} == run_pins
    assert (run_pins["celery"], run_pins["kombu"]) == ("5.6.3", "5.6.2")


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_package_is_locked_by_its_content(lock: str) -> None:
    text = (ROOT / lock).read_text()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert re.findall(r"https?://\S+|/(?:tmp|home|root)/\S+|--(?:extra-)?index-url", text) == []


# ---- docker compose ----


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def test_the_compose_file_keeps_the_compose_specification(compose: dict[str, Any]) -> None:
    schemas = importlib.resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    specification = json.loads((schemas / "compose-spec.json").read_text())
    jsonschema.validate(compose, specification)
    compose_without_image = {**compose, "services": {"web": {"image": 7}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(compose_without_image, specification)


def test_it_brings_up_the_whole_product(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"prepare", "web", "worker", "scheduler", "proxy", "postgres", "redis"}
    for name in ("web", "proxy", "postgres", "redis"):
        assert "healthcheck" in services[name], name
    for name in ("web", "worker", "scheduler"):
        assert services[name]["depends_on"]["prepare"] == {"condition": "service_completed_successfully"}
    named = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    assert {name for name in named if not name.startswith(".")} == set(compose["volumes"])
    # the proxy alone can be reached from outside
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert "noeviction" in services["redis"]["command"][-1]
    assert "--appendonly yes" in services["redis"]["command"][-1]
    assert "requirepass" in services["redis"]["command"][-1]


def _environment(compose: dict[str, Any], env_file: dict[str, str]) -> dict[str, str]:
    """Return the web service's environment with the values of an .env file put in, as compose does."""

    def fill(match: "re.Match[str]") -> str:
        name, _, rest = match[1].partition(":")
        return env_file.get(name) or rest.removeprefix("-")

    values = compose["services"]["web"]["environment"]
    return {name: re.sub(r"\$\{([^}]+)\}", fill, value) for name, value in values.items()}


def test_every_secret_comes_from_outside_and_has_no_default(compose: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    example = (ROOT / ".env.example").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "HOST_NAME"):
        assert re.search(rf"\$\{{{name}:\?", text), f"{name} must stop the start where it is missing"
        assert re.search(rf"^{name}=", example, re.MULTILINE), name
    assert re.findall(r"^(?:SECRET_KEY|\w+_PASSWORD)=.+", example, re.MULTILINE) == []


def test_django_finds_nothing_to_warn_of_in_the_compose_settings(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    filled = {"HOST_NAME": "planner.example.com", "SECRET_KEY": "aB3-" + os.urandom(40).hex()}
    filled |= {"POSTGRES_PASSWORD": "data-word", "REDIS_PASSWORD": "queue-word"}
    environment = _environment(compose, filled) | {"VAR_DIR": str(tmp_path)}
    assert environment["REDIS_URL"] == "redis://:queue-word@redis:6379/0"
    done = run(sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **environment)
    assert (done.returncode, done.stdout.strip()) == (0, "System check identified no issues (0 silenced)."), (
        done.stderr
    )


def test_the_image_runs_as_nobody_in_particular_and_holds_no_secret() -> None:
    steps = (ROOT / "Dockerfile").read_text().splitlines()
    assert steps.index("USER planner") < next(i for i, step in enumerate(steps) if step.startswith("CMD"))
    assert any("--require-hashes" in step for step in steps)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert ignored[0] == "*"  # all but what is named
    copied = {name.removeprefix("!") for name in ignored if name.startswith("!")}
    assert copied == {"costs", "launch", "planner", "static", "templates", "manage.py", "requirements.lock"}


def test_the_proxy_takes_whole_requests_and_says_where_they_came_from() -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for line in (
        "proxy_request_buffering on;",
        "proxy_buffering on;",
        "proxy_set_header X-Forwarded-Proto https;",
    ):
        assert line in text
    limit = re.search(r"client_max_body_size (\d+)m;", text)
    assert limit is not None
    assert int(limit[1]) * 1024 * 1024 > settings.UPLOAD_MAX_BYTES


# ---- what a newcomer meets ----


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_no_python_or_an_old_one_is_said_in_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")  # what the version question gets from an old Python
    old.chmod(0o755)
    make = subprocess.run(["which", "make"], capture_output=True, text=True).stdout.strip()
    done = run(make, "run", PATH=str(tmp_path))
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1
    assert "Python 3.11 or newer is needed" in lines[0]


@pytest.mark.parametrize("port", ["http", "0", "70000", "-1"])
def test_a_port_that_is_none_is_said_in_one_line(port: str, tmp_path: Path) -> None:
    done = run(sys.executable, "-m", "launch", "run", PORT=port, VAR_DIR=str(tmp_path), VENV=sys.prefix)
    assert (done.returncode, done.stderr) == (1, f"PORT='{port}': write a number from 1 to 65535\n")


def test_the_readme_names_both_commands_and_only_files_that_exist() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make run" in text
    assert "make test" in text
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_the_backup_of_the_guide_is_a_whole_copy(tmp_path: Path) -> None:
    original, backup = tmp_path / "gpu-planner.sqlite3", tmp_path / "backup.sqlite3"
    migrated = run(sys.executable, "manage.py", "migrate", "--verbosity", "0", VAR_DIR=str(tmp_path))
    assert migrated.returncode == 0, migrated.stderr
    guide = (ROOT / "docs" / "operations.md").read_text()
    code = re.search(r'python -c "(import sqlite3[^"]+)"', guide)
    assert code is not None
    done = run(sys.executable, "-c", code[1], original, backup)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(original) as before, sqlite3.connect(backup) as after:
        listing = "SELECT name, sql FROM sqlite_master ORDER BY name"
        assert after.execute(listing).fetchall() == before.execute(listing).fetchall()
        assert after.execute("SELECT count(*) FROM django_migrations").fetchone()[0] > 10


def test_every_setting_is_in_the_operations_guide() -> None:
    code = (ROOT / "planner" / "settings.py").read_text()
    read = set(re.findall(r"""(?:environ\.get|_flag|_seconds|_count|_list)\(\s*"([A-Z_]+)\"""", code))
    guide = (ROOT / "docs" / "operations.md").read_text()
    assert len(read) > 12
    assert [name for name in sorted(read) if f"`{name}`" not in guide] == []


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_var_that_is_no_folder_is_said_in_one_line(tmp_path: Path, inside: str) -> None:
    (tmp_path / "var").write_text("a file")
    folder = tmp_path / "var" / inside
    done = run(sys.executable, "-m", "launch", "run", VAR_DIR=str(folder), PORT="8000")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{folder} cannot be written" in done.stderr
    settings = run(sys.executable, "-c", "import planner.settings", VAR_DIR=str(folder))
    assert f"VAR_DIR={folder}" in settings.stderr.strip().splitlines()[-1]


def test_a_database_that_is_broken_is_said_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "gpu-planner.sqlite3"
    broken.write_bytes(b"no database at all\n" * 500)
    done = run(sys.executable, "manage.py", "prepare", VAR_DIR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == [
        f"CommandError: the database {broken} cannot be used: file is not a database"
    ]
    assert broken.read_bytes() == b"no database at all\n" * 500


def test_a_database_server_that_is_away_is_said_in_one_line(tmp_path: Path) -> None:
    url = "postgres://planner:hunter22@127.0.0.1:1/planner"
    done = run(sys.executable, "manage.py", "prepare", VAR_DIR=str(tmp_path), DATABASE_URL=url)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "the database planner cannot be used" in done.stderr
    assert "hunter22" not in done.stderr
