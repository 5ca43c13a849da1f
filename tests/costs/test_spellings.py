"""A spelling comes in as a file like every fact, and what was refused for want of it is read again."""

import pytest

from costs import jobs
from costs.ledger import verify
from costs.models import Alias, IngestRun, Job
from costs.spellings import order_spelling, read_again
from costs.undo import order_undo

from .conftest import A_MOMENT, Take
from .tables import current_prices

pytestmark = pytest.mark.django_db
BY = {"requested_by": "ann@example.com", "now": A_MOMENT}
LIST = "as_of 2026-01-02\na,8,east,80,USD,Warp9\nb,1,east,9.5\n"


def run_the_jobs() -> None:
    while claim := jobs.claim():
        jobs.run(claim)


def test_a_spelling_is_added_and_the_file_then_says_more(take: Take) -> None:
    refused = take(LIST, provider="acme")
    assert current_prices() == {("b", "east"): "9.5"}
    job = order_spelling("Warp9", "h100-sxm-80gb", "their word", **BY)
    assert job.requested_by == "ann@example.com"
    run_the_jobs()
    (again,) = read_again([refused.pk], **BY)
    assert again.params == refused.job.params  # the same file with the same parameters
    run_the_jobs()
    assert current_prices() == {("a", "east"): "80", ("b", "east"): "9.5"}
    assert verify().problems == []


@pytest.mark.parametrize("spelling", ['a "quoted", name', "=1+1", "  edges", "ünï"])
def test_a_spelling_reaches_the_table_as_it_is_written(take: Take, spelling: str) -> None:
    order_spelling(spelling, "h100-sxm-80gb", "a, b", **BY)
    run_the_jobs()
    alias = Alias.objects.get()
    assert (alias.spelling, alias.note) == (spelling.strip(), "a, b")


def test_a_spelling_of_nothing_is_refused_by_the_gate(take: Take) -> None:
    job = order_spelling("Warp9", "warp-9", "", **BY)
    run_the_jobs()
    run = job.runs.get()
    assert (run.status, run.lines_kept) == (IngestRun.Status.PARTIAL, 0)
    assert run.rejected.get().column == "accelerator"
    assert not Alias.objects.exists()


def test_a_spelling_said_again_with_another_meaning_counts_and_can_be_taken_back(take: Take) -> None:
    first = order_spelling("Warp9", "h100-sxm-80gb", "", **BY)
    run_the_jobs()
    second = order_spelling("Warp9", "h200-sxm-141gb", "", **BY)
    run_the_jobs()
    assert Alias.objects.get().accelerator == "h200-sxm-141gb"
    order_undo(second.runs.get(), **BY)
    run_the_jobs()
    assert Alias.objects.get().accelerator == "h100-sxm-80gb"
    assert first.runs.get().status == IngestRun.Status.DONE


def test_files_whose_bytes_are_gone_are_left_out(take: Take) -> None:
    kept, gone = take(LIST), take(LIST.replace("01-02", "01-03"), name="gone.csv")
    IngestRun.objects.filter(pk=gone.pk).update(raw=None)
    made = read_again([kept.pk, gone.pk], **BY)
    assert [job.params["name"] for job in made] == ["prices.csv"]
    assert Job.objects.filter(status=Job.Status.QUEUED).count() == 1
