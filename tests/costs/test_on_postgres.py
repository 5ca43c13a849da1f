"""What holds on SQLite holds on PostgreSQL: the same tests, on a private server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..services import Postgres

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = (
    *("test_jobs.py", "test_ingest.py", "test_bad_files.py", "test_ledger.py", "test_commands.py"),
    *("test_queries_fx.py", "test_quarantine.py", "test_price_history.py", "test_undo.py"),
    *("test_kills.py", "test_spot_tables.py", "test_queries_spot.py", "test_queries_quotas.py"),
    *("test_queries_runs.py", "test_queries_quarantine.py", "test_queries_spellings.py", "test_spellings.py"),
    *("test_queries_offers.py", "test_queries_price_ages.py", "test_queries_price_changes.py"),
    "test_queries_held_prices.py",
    *("test_queries_price_history.py", "test_queries_price_moves.py", "test_queries_gpu_facts.py"),
)


@pytest.mark.services
def test_jobs_ingest_and_ledger_hold_on_postgresql(postgres: Postgres) -> None:
    env = os.environ | {"DATABASE_URL": postgres.database("costs"), "REDIS_URL": ""}
    # none of the caller's options, such as a part of the tests or a place for the report
    env.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"tests/costs/{name}" for name in TESTS)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
