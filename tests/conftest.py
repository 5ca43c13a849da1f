"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real-world samples, or skip: it is not part of the repository."""
    if not SHARED.is_dir():
        reason = "the real-world samples (../shared) are not on this machine"
        if os.environ.get("SKIPS_FAIL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return SHARED
