"""An import taken back leaves the tables as if its file had never come."""

from datetime import timedelta
from typing import Any

import pytest

from costs import jobs
from costs.ledger import verify
from costs.models import Batch, IngestRun, Job, StagedRow
from costs.undo import order_undo

from . import fake_prices
from .conftest import A_MOMENT, Take
from .tables import current_prices, history
from .test_kills import FILES, tables

pytestmark = pytest.mark.django_db
JANUARY = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\n"
FEBRUARY = "as_of 2026-02-02\na,8,east,70\nb,1,east,9.5\n"
MARCH = "as_of 2026-03-02\na,8,east,70\nb,1,east,9\n"


@pytest.fixture(autouse=True)
def ledger_is_exact(take: Take) -> Any:
    """Whatever a test did, the tables hold what the accepted files say."""
    yield
    assert verify().problems == []
    assert not StagedRow.objects.exists()


def undo(run: IngestRun) -> Job:
    job = order_undo(run, requested_by="ann@example.com", now=A_MOMENT + timedelta(hours=1))
    claim = jobs.claim(job.pk)
    assert claim is not None
    jobs.run(claim)
    return Job.objects.get(pk=job.pk)


@pytest.mark.parametrize(("source", "before", "after"), FILES.values(), ids=FILES)
def test_what_the_last_file_did_is_undone(take: Take, source: str, before: str, after: str) -> None:
    take(before, source, name="before.csv")
    wanted = tables()[:2]
    run = take(after, source, name="after.csv")
    assert undo(run).status == Job.Status.DONE
    assert tables()[:2] == wanted
    run.refresh_from_db()
    assert run.status == IngestRun.Status.UNDONE


@pytest.mark.parametrize(("source", "before", "after"), FILES.values(), ids=FILES)
def test_an_import_taken_back_can_be_made_again(take: Take, source: str, before: str, after: str) -> None:
    take(before, source, name="before.csv")
    run = take(after, source, name="after.csv")
    wanted = tables()[:2]
    undo(run)
    assert take(after, source, name="after.csv").status in ("done", "partial")
    assert tables()[:2] == wanted


def test_a_file_in_the_middle_is_taken_back_and_those_around_it_stay(take: Take) -> None:
    take(JANUARY)
    wrong = take(FEBRUARY)
    take(MARCH)
    undo(wrong)
    assert history("a") == [("80", "2026-01-02", "2026-03-02"), ("70", "2026-03-02", None)]
    assert history("b") == [("9.5", "2026-01-02", "2026-03-02"), ("9", "2026-03-02", None)]


def test_the_only_file_of_a_scope_leaves_nothing(take: Take) -> None:
    undo(take(JANUARY))
    assert current_prices() == {}
    assert not Batch.objects.filter(source="fake_prices", is_current=True).exists()


def test_what_was_taken_back_is_not_taken_back_twice(take: Take) -> None:
    take(JANUARY)
    run = take(FEBRUARY)
    first = order_undo(run, requested_by="ann@example.com", now=A_MOMENT)
    undo(run)
    claim = jobs.claim(first.pk)
    assert claim is not None
    jobs.run(claim)
    assert Job.objects.get(pk=first.pk).status == Job.Status.DUPLICATE
    assert current_prices()["a", "east"] == "80"
    with pytest.raises(ValueError, match="nothing that could be taken back"):
        order_undo(run, requested_by="ann@example.com", now=A_MOMENT)


def test_an_accelerator_that_prices_need_stays_and_the_reason_is_said(take: Take) -> None:
    take(JANUARY)
    job = undo(IngestRun.objects.get(source="accelerators"))
    assert (job.status, job.error_code) == (Job.Status.FAILED, "in_use")
    assert current_prices()["a", "east"] == "80"


def test_a_history_is_taken_back_as_a_whole(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_prices, "MODE", "history")
    take("as_of\na,8,east,29,USD,H100,2025-01-01\na,8,east,29,USD,H100,2025-01-09\n", name="one.csv")
    run = take("as_of\na,8,east,27,USD,H100,2025-01-05\na,8,east,29,USD,H100,2025-01-09\n", name="two.csv")
    assert len(history("a")) == 3
    undo(run)
    assert history("a") == [("29", "2025-01-01", None)]
