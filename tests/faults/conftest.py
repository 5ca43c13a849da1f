"""A fresh copy of the product for each fault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..services import Postgres, RedisServer
from .installation import Copy


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Copy]:
    """A copy on SQLite, without Redis."""
    copy = Copy(tmp_path / "copy")
    copy.prepare()
    yield copy
    copy.stop()


@pytest.fixture
def served(tmp_path: Path, postgres: Postgres, redis_server: RedisServer) -> Iterator[Copy]:
    """A copy on PostgreSQL, Redis and Celery, both servers empty."""
    if not redis_server.is_alive():
        redis_server.start()
    redis_server.flush()
    copy = Copy(tmp_path / "copy", postgres.database("faults"), redis_server.url)
    copy.prepare()
    yield copy
    copy.stop()
