"""A fresh copy of the product for each fault. Tables are made once and copied."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..services import Postgres, RedisServer
from .installation import Copy


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a migrated SQLite database."""
    copy = Copy(tmp_path_factory.mktemp("template"))
    copy.migrate()
    return copy.folder


@pytest.fixture(scope="session")
def postgres_template(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a migrated PostgreSQL database."""
    Copy(tmp_path_factory.mktemp("template"), postgres.database("migrated")).migrate()
    return "migrated"


@pytest.fixture
def embedded(tmp_path: Path, sqlite_template: Path) -> Iterator[Copy]:
    """A copy on SQLite, without Redis."""
    shutil.copytree(sqlite_template, tmp_path / "copy")
    copy = Copy(tmp_path / "copy")
    yield copy
    copy.stop()


@pytest.fixture
def served(
    tmp_path: Path, postgres: Postgres, postgres_template: str, redis_server: RedisServer
) -> Iterator[Copy]:
    """A copy on PostgreSQL, Redis and Celery; nothing is in them yet."""
    if not redis_server.is_alive():
        redis_server.start()
    redis_server.flush()
    copy = Copy(tmp_path / "copy", postgres.database("faults", postgres_template), redis_server.url)
    copy.folder.mkdir()
    yield copy
    copy.stop()
