"""What every test may use, and what no test may touch: the var/ folder of a running copy."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from planner.models import Person
from planner.scenarios import plan_cache

pytest_plugins = ["tests.services"]

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
SKIPS_FAIL = os.environ.get("SKIPS_FAIL") == "1"
# a busy machine is no fault of the code: speed has its own budgets, in benchmarks/
# the same examples every time, so that a run says something about a change; NEW_EXAMPLES=1 looks for others
NEW_EXAMPLES = os.environ.get("NEW_EXAMPLES") == "1"
hypothesis.settings.register_profile("steady", deadline=None, derandomize=not NEW_EXAMPLES)
hypothesis.settings.load_profile("steady")
FAST_EXAMPLES = 20  # of each law in the fast gate; `make test` draws as many as the law asks for
_var = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Move everything that is written into a folder of this run alone, before Django opens anything."""
    config.stash[_var] = tempfile.TemporaryDirectory(prefix="gpu-planner-tests-", ignore_cleanup_errors=True)
    folder = Path(config.stash[_var].name)
    settings.VAR_DIR = folder
    settings.RAW_DIR = folder / "raw"
    settings.STATIC_ROOT = folder / "static"
    settings.STATIC_ROOT.mkdir()
    # pages are tested without collectstatic; tests/planner/test_static.py runs the real storage
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    # Argon2 is slow on purpose; test_security.py looks at the setting as it is
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # a file, as in real life: threads and processes must meet SQLite's real locks
        database.setdefault("TEST", {})["NAME"] = str(folder / "test.sqlite3")


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_var].cleanup()


# servers that throttle and hang up, laws over many draws, a kill at each boundary: minutes in all
SLOW_FILES = frozenset(
    (
        *("test_egress.py", "test_kills.py", "test_ledger.py", "test_price_history.py", "test_properties.py"),
        *("test_quarantine.py", "test_sample.py", "test_setup.py", "test_source_aws_zones.py"),
        *("test_source_fuzz.py", "test_spot_tables.py", "test_steps.py", "test_undo.py", "test_gate_eval.py"),
        *("test_source_aws_capacity_block_offers.py", "test_source_aws_savings_plans_fetch.py"),
        *("test_source_aws_commitments_fetch.py", "test_source_aws_fetch.py", "test_source_aws_offers.py"),
        *("test_source_aws_quotas_fetch.py", "test_source_aws_spot_history_fetch.py"),
        # every role at every page, every figure of every view, files of every kind
        *("test_security.py", "test_explanations.py", "test_gpu_files.py", "test_ingest.py"),
        *("test_bad_files.py", "test_optimize_plan.py", "test_optimize_solve.py", "test_risk_stress.py"),
        *("test_optimize_stochastic.py", "test_explain_recompute.py", "test_sources_page.py"),
        *(
            "test_prices_page.py",
            "test_scenario_forms.py",
            "test_properties_of_money.py",
            "test_properties.py",
        ),
    )
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what the fast gate leaves out, and let it draw fewer examples of each law."""
    is_fast = "not slow" in config.option.markexpr
    for item in items:
        if item.path.name in SLOW_FILES:
            item.add_marker(pytest.mark.slow)
        law = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
        if is_fast and hypothesis.is_hypothesis_test(law):
            asked = law._hypothesis_internal_use_settings  # a law may state its own number of examples
            fewer = min(asked.max_examples, FAST_EXAMPLES)
            law._hypothesis_internal_use_settings = hypothesis.settings(asked, max_examples=fewer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Turn a skip into a failure where SKIPS_FAIL=1 says that everything must run."""
    report: Any = yield
    if SKIPS_FAIL and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and SKIPS_FAIL=1 allows no skips: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Turn the skip of a whole module into a failure in the same way."""
    report: Any = yield
    if SKIPS_FAIL and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, and SKIPS_FAIL=1 allows no skips: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """Let no test see what another one cached or counted."""
    cache.clear()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real-world samples, or skip: it is not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip("the real-world samples (../shared) are not on this machine")
    return SHARED


def _client(role: Person.Role) -> Client:
    client = Client()
    person = Person.objects.create_user(f"{role.value}@example.com", "a password for tests", role=role)
    client.force_login(person)
    return client


@pytest.fixture
def viewer_client(db: None) -> Client:
    """Return a client that may look and not write."""
    return _client(Person.Role.VIEWER)


@pytest.fixture
def planner_client(db: None) -> Client:
    """Return a client that may look and plan."""
    return _client(Person.Role.PLANNER)


@pytest.fixture(autouse=True)
def _forget_loaded_plans() -> None:
    """Let no test see plans of another: each test's database is rolled back under this process."""
    plan_cache.forget()
