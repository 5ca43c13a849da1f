"""Fixtures for tests that take files."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from costs.egress import patience
from costs.ingest import ingest
from costs.models import IngestRun
from costs.sources import SOURCES

from . import fake_hours, fake_prices
from .feeds import Feed

A_MOMENT = datetime(2026, 11, 30, 12, tzinfo=UTC)
Take = Callable[..., IngestRun]


@pytest.fixture(autouse=True)
def raw_dir(settings: Any, tmp_path: Path) -> Path:
    """Keep the bytes of every file in a folder of the test's own."""
    settings.RAW_DIR = tmp_path / "raw"
    return tmp_path / "raw"


@pytest.fixture
def take(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Return a function that takes a text as a file of a source; accelerators are loaded."""
    for source in (fake_prices, fake_hours):
        monkeypatch.setitem(SOURCES, source.NAME, source)
    monkeypatch.setattr(fake_prices, "OFFERED", [])

    def take(
        text: str | None, source: str = "fake_prices", name: str = "prices.csv", **params: str
    ) -> IngestRun:
        path = None
        if text is not None:
            path = tmp_path / name
            path.write_text(text)
        return ingest(
            source, file=path, name=name if path else "", params=params, requested_by="shell", now=A_MOMENT
        )

    assert take(None, "accelerators").status == IngestRun.Status.DONE
    return take


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Feed]:
    """Return a server that plays scripted answers and may be connected to."""
    served = Feed()
    monkeypatch.setenv("EGRESS_ALLOW", served.origin)
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    yield served
    served.close()
