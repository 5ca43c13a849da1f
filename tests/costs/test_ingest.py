"""What becomes of a file: published whole, refused whole, or in part with each refused line named."""

import time
from decimal import Decimal
from typing import Any, get_type_hints

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from costs import jobs, staging
from costs.ingest import remove_sample
from costs.jobs import Claim
from costs.kinds import ALL, Kind
from costs.ledger import verify
from costs.models import (
    Accelerator,
    Alias,
    Batch,
    Commitment,
    IngestRun,
    Job,
    Price,
    RejectedRow,
    Sku,
    StagedRow,
    Utilization,
)
from costs.raw import store
from costs.rowtext import NAMES
from costs.tables import TABLES

from . import fake_prices
from .conftest import A_MOMENT, Take
from .tables import current_prices, dump, history

pytestmark = pytest.mark.django_db
TWO = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\n"


@pytest.fixture(autouse=True)
def ledger_is_exact(take: Take) -> Any:
    """Whatever a test did, the tables hold what the accepted files say."""
    yield
    assert verify().problems == []
    assert not StagedRow.objects.exists()


def preview(text: str) -> IngestRun:
    raw = store([text.encode()], "p.csv", A_MOMENT)
    work = {"source": "fake_prices", "raw": raw.sha256, "name": "p.csv", "params": {}}
    job = jobs.enqueue("preview", work, key="p", requested_by="test", now=A_MOMENT)
    claim = jobs.claim(job.pk)
    assert claim is not None
    jobs.run(claim)
    return IngestRun.objects.get(job=job)


# whole files


def test_a_sound_file_is_published_whole_and_counted(take: Take) -> None:
    run = take(TWO)
    assert current_prices() == {("a", "east"): "80", ("b", "east"): "9.5"}
    assert run.status == IngestRun.Status.DONE
    assert (run.lines_read, run.lines_kept, run.lines_rejected, run.facts, run.added) == (2, 2, 0, 2, 2)
    assert (run.scope, f"{run.as_of:%Y-%m-%d}") == ("acme east", "2026-01-02")
    batch = Batch.objects.get(source="fake_prices")
    assert (batch.rows, f"{batch.total.normalize():f}", batch.scope) == (2, "89.5", "acme east")


def test_the_same_bytes_again_change_nothing(take: Take) -> None:
    take(TWO)
    before = dump()
    run = take(TWO, name="another name.csv")
    assert (run.status, run.job.status) == (IngestRun.Status.DUPLICATE, Job.Status.DUPLICATE)
    assert dump() == before


def test_the_same_bytes_with_refused_lines_again_change_nothing(take: Take) -> None:
    take(TWO + "c,1,east,nan\n")
    before = dump()
    assert take(TWO + "c,1,east,nan\n").status == IngestRun.Status.DUPLICATE
    assert dump() == before


def test_other_parameters_are_another_file(take: Take) -> None:
    take(TWO)
    assert take(TWO, provider="other").status == IngestRun.Status.DONE
    assert Sku.objects.count() == 4


def test_each_scope_of_a_file_is_a_batch(take: Take) -> None:
    run = take("as_of 2026-01-02\na,8,east,80\na,8,west,82\n")
    assert sorted(run.batches.values_list("scope", "rows")) == [("acme east", 1), ("acme west", 1)]


# prices from one moment to another


def test_a_changed_price_ends_where_the_new_one_begins(take: Take) -> None:
    take(TWO)
    run = take("as_of 2026-02-03\na,8,east,72\nb,1,east,9.5\n")
    assert (run.changed, run.unchanged, run.added, run.closed) == (1, 1, 0, 0)
    assert history("a") == [("80", "2026-01-02", "2026-02-03"), ("72", "2026-02-03", None)]
    assert history("b") == [("9.5", "2026-01-02", None)]


def test_a_price_is_as_of_the_newest_file_that_states_it(take: Take) -> None:
    take("as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\n")
    take("as_of 2026-03-01\na,8,east,80\nb,1,east,9.9\n")
    stated = {price.sku.name: price for price in Price.objects.filter(effective_to=None)}
    # unchanged since January, and known to be so in March
    assert f"{stated['a'].effective_from:%Y-%m-%d}" == "2026-01-02"
    assert f"{stated['a'].as_of:%Y-%m-%d}" == f"{stated['b'].as_of:%Y-%m-%d}" == "2026-03-01"


def test_an_offer_that_left_the_list_ends_and_may_come_back(take: Take) -> None:
    take(TWO)
    run = take("as_of 2026-02-03\na,8,east,80\n")
    assert (run.closed, run.unchanged) == (1, 1)
    take("as_of 2026-03-04\na,8,east,80\nb,1,east,8\n")
    assert history("b") == [("9.5", "2026-01-02", "2026-02-03"), ("8", "2026-03-04", None)]


def test_a_scope_that_a_file_does_not_name_stays(take: Take) -> None:
    take("as_of 2026-01-02\na,8,east,80\na,8,west,82\n")
    take("as_of 2026-02-03\na,8,east,70\n")
    assert current_prices() == {("a", "east"): "70", ("a", "west"): "82"}


def test_a_second_file_of_the_same_moment_corrects_the_first(take: Take) -> None:
    take(TWO)
    run = take("as_of 2026-01-02\na,8,east,81\nc,1,east,7\n")
    assert (run.changed, run.added, run.closed) == (1, 1, 1)
    assert history("a") == [("81", "2026-01-02", None)]
    assert history("b") == []
    assert history("c") == [("7", "2026-01-02", None)]


def test_a_row_may_state_when_its_price_began(take: Take) -> None:
    take("as_of 2026-01-02\na,8,east,80,,,2025-06-05\n")
    take("as_of 2026-02-03\na,8,east,72,,,2026-01-20\n")
    take("as_of 2026-03-04\na,8,east,71,,,2025-12-01\n")
    assert history("a") == [
        ("80", "2025-06-05", "2026-01-20"),
        ("72", "2026-01-20", "2026-03-04"),
        ("71", "2026-03-04", None),
    ]


def test_an_offer_that_comes_back_does_not_reach_into_its_past(take: Take) -> None:
    take("as_of 2026-01-02\na,8,east,80,,,2025-06-05\nb,1,east,9\n")
    take("as_of 2026-02-03\nb,1,east,9\n")
    take("as_of 2026-03-04\na,8,east,80,,,2025-06-05\nb,1,east,9\n")
    assert history("a") == [("80", "2025-06-05", "2026-02-03"), ("80", "2026-02-03", None)]


def test_a_file_older_than_what_is_known_is_refused(take: Take) -> None:
    take(TWO)
    before = dump()
    run = take("as_of 2025-12-31\na,8,east,1000\nb,1,east,9\n")
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "older_than_current")
    assert "2026-01-02" in run.message
    assert "2025-12-31" in run.message
    assert dump() == before


def test_a_file_without_a_date_counts_from_its_run(take: Take) -> None:
    run = take("as_of\na,8,east,80\n")
    assert Price.objects.get().effective_from == run.started_at


# refused lines


def test_a_wrong_line_is_refused_by_name_and_the_others_are_taken(take: Take) -> None:
    run = take(TWO + "c,1,east,abc\nd,0,east,1\n")
    assert run.status == IngestRun.Status.PARTIAL
    assert (run.lines_read, run.lines_kept, run.lines_rejected) == (4, 2, 2)
    assert run.rejected_by_rule == {"not_a_number": 1, "no_accelerator": 1}
    wrong = run.rejected.get(kind="wrong")
    assert (wrong.line, wrong.column, wrong.value, wrong.expected) == (
        4, "price", "abc", "a number above 0",
    )  # fmt: skip
    assert run.message == (
        "2 lines kept of 4, 1 without an accelerator, 1 wrong: line 4, column price, value 'abc', "
        "expected a number above 0; 2 added"
    )


def test_a_price_stays_when_its_line_may_be_the_unreadable_one(take: Take) -> None:
    take(TWO)
    run = take("as_of 2026-02-03\na,8,east,80\nb,1,east,abc\n")
    assert (run.held, run.closed) == (1, 0)
    assert current_prices() == {("a", "east"): "80", ("b", "east"): "9.5"}


def test_a_price_stays_when_its_own_line_was_refused_and_others_end(take: Take) -> None:
    take(TWO + "c,1,east,5\n")
    run = take("as_of 2026-02-03\na,8,east,80\nb,1,east,99999\n")
    assert (run.held, run.closed) == (1, 1)
    assert current_prices() == {("a", "east"): "80", ("b", "east"): "9.5"}


@pytest.mark.parametrize(
    ("line", "rule", "expected"),
    [
        ("x,1,east,5,USD,Warp9", "accelerator_unknown", "accelerator table"),
        ("x,1,north,5,XYZ", "currency_unknown", "one of USD"),
        ("x" * 161 + ",1,east,5", "text_too_long", "at most 160 characters"),
        ("x\x00,1,east,5", "text_unreadable", "without control or direction characters"),
        ("x\u202egnp,1,east,5", "text_unreadable", "without control or direction characters"),
    ],
)
def test_the_gate_refuses_by_name(take: Take, line: str, rule: str, expected: str) -> None:
    run = take(TWO + line + "\n")
    refused = run.rejected.get()
    assert (refused.line, refused.kind, refused.rule) == (4, "wrong", rule)
    assert expected in refused.expected
    assert len(current_prices()) == 2


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("x,1,east,-5", "price_out_of_bounds"),
        ("x,1,east,nan", "price_out_of_bounds"),
        ("x,1,east,Infinity", "price_out_of_bounds"),
        ("x,1,east,1e400", "price_out_of_bounds"),
        ("x,1,east,-0", "price_out_of_bounds"),
        # would be stored as 0.000 GPUs, by which pages divide
        ("x,0.0004,east,0.001", "gpu_count_out_of_bounds"),
    ],
)
def test_what_no_table_can_hold_waits_in_quarantine_by_its_rule(take: Take, line: str, rule: str) -> None:
    run = take(TWO + line + "\n")
    held = run.quarantined.get()
    assert (held.line, held.rule, held.payload, held.status) == (4, rule, None, "open")
    assert (run.lines_read, run.lines_kept, run.lines_rejected, run.lines_quarantined) == (3, 2, 0, 1)
    assert run.status == IngestRun.Status.PARTIAL
    assert len(current_prices()) == 2


def test_two_lines_that_contradict_each_other_both_wait_in_quarantine(take: Take) -> None:
    run = take(TWO + "a,8,east,81\n")
    assert current_prices() == {("b", "east"): "9.5"}
    assert (run.lines_kept, run.lines_quarantined, run.facts) == (1, 2, 1)
    held = {row.line: row.evidence for row in run.quarantined.all()}
    assert held.keys() == {2, 4}
    assert "line 4" in held[2]
    assert "line 2" in held[4]


def test_a_line_that_repeats_another_is_counted_and_left(take: Take) -> None:
    run = take(TWO + "a,8,east,80.0\n")
    assert run.status == IngestRun.Status.DONE
    assert run.rejected_by_rule == {"repeated_line": 1}
    assert len(current_prices()) == 2


def test_an_accelerator_that_becomes_known_lets_the_same_file_in(take: Take) -> None:
    text = TWO + "x,1,east,5,USD,Warp9\n"
    assert take(text).status == IngestRun.Status.PARTIAL
    accelerator = Accelerator.objects.get(slug__startswith="h100-sxm")
    Accelerator.objects.filter(pk=accelerator.pk).update(aliases=[*accelerator.aliases, "Warp9"])
    assert take(text).status == IngestRun.Status.DONE
    assert current_prices()["x", "east"] == "5"
    Accelerator.objects.filter(pk=accelerator.pk).update(aliases=accelerator.aliases)


def test_rows_out_of_scope_are_kept_up_to_a_number_and_counted_beyond(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "OUT_OF_SCOPE_KEPT", 3)
    run = take(TWO + "cpu,0,east,1\n" * 10 + "x,1,east,abc\n" * 5)
    assert run.rejected_by_rule == {"no_accelerator": 10, "not_a_number": 5}
    assert run.rejected.filter(kind=RejectedRow.Kind.OUT_OF_SCOPE).count() == 3
    assert run.rejected.filter(kind=RejectedRow.Kind.WRONG).count() == 5


def test_a_file_of_which_nothing_can_be_taken_replaces_nothing(take: Take) -> None:
    take(TWO)
    before = dump()
    run = take("as_of 2026-02-03\ncpu,0,east,1\n")
    assert (run.status, run.facts) == (IngestRun.Status.PARTIAL, 0)
    assert dump() == before
    assert "stays" in run.message


# files that fail


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [("<html>", 1, "columns_missing"), (TWO + "c,1,east,abc\ncut\n", 5, "file_cut")],
)
def test_a_file_that_breaks_leaves_only_its_failed_run(take: Take, text: str, line: int, code: str) -> None:
    take("as_of 2026-01-01\na,8,east,79\n")
    before = dump()
    run = take(text, name="broken.csv")
    assert dump() == before
    assert (run.status, run.job.status, run.error_code) == ("failed", Job.Status.FAILED, code)
    assert run.error is not None
    assert (run.error["line"], run.error["rule"]) == (line, code)
    assert run.message.startswith("broken.csv: ")
    assert f"line {line}" in run.message
    assert "expected" in run.message


def test_a_failed_run_shows_the_lines_refused_before_it_broke(take: Take) -> None:
    run = take(TWO + "c,1,east,abc\ncut\n")
    assert [row.line for row in run.rejected.all()] == [4]
    assert run.lines_read == 3


def test_a_mistake_of_ours_fails_the_run_with_its_name(take: Take) -> None:
    run = take(TWO + "c,1,east,boom\n")
    assert (run.status, run.error_code) == ("failed", "unexpected")
    assert "ZeroDivisionError: a mistake of ours" in run.message
    assert current_prices() == {}


def test_a_failure_while_publishing_undoes_all_of_it(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    take(TWO)
    before = dump()

    def fail(*args: Any) -> None:
        raise RuntimeError("disk on fire")

    monkeypatch.setattr("costs.dated.skus_of", fail)
    run = take("as_of 2026-02-03\na,8,east,1000\nb,1,east,9.5\nc,1,east,3\n")
    assert run.status == IngestRun.Status.FAILED
    assert dump() == before


def test_an_unknown_source_fails_by_name(take: Take) -> None:
    job = jobs.enqueue(
        "ingest", {"source": "weather", "params": {}}, key="w", requested_by="test", now=A_MOMENT
    )
    claim = jobs.claim(job.pk)
    assert claim is not None
    jobs.run(claim)
    job.refresh_from_db()
    assert (job.status, job.error_code) == (Job.Status.FAILED, "source_unknown")


# preview, cancel, fence


def test_a_preview_counts_what_publishing_would_do_and_does_not(take: Take) -> None:
    take(TWO)
    before = dump()
    run = preview("as_of 2026-02-03\na,8,east,72\nc,1,east,3\nd,1,east,abc\n")
    assert dump() == before
    assert (run.status, run.job.status) == (IngestRun.Status.PREVIEWED, Job.Status.DONE)
    assert (run.added, run.changed, run.held, run.lines_rejected) == (1, 1, 1, 1)
    assert [(row["line"], row["sku"], row["price_per_hour"]) for row in run.sample_rows] == [
        (2, "a", "72.000000000"),
        (3, "c", "3.000000000"),
    ]


def test_a_preview_holds_the_first_twenty_rows(take: Take) -> None:
    run = preview("as_of 2026-02-03\n" + "".join(f"s{n},1,east,3\n" for n in range(30)))
    assert [row["sku"] for row in run.sample_rows] == [f"s{n}" for n in range(20)]


@pytest.mark.parametrize("phase", ["stage", "publish"])
def test_a_cancelled_ingest_publishes_nothing(
    take: Take, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    before = dump()
    renew = jobs.renew

    def cancel_after(claim: Claim, now_in: str, done: int, total: int | None) -> None:
        renew(claim, now_in, done, total)
        if now_in == phase:
            jobs.cancel(claim.job.pk)

    monkeypatch.setattr(jobs, "renew", cancel_after)
    run = take(TWO)
    assert (run.status, run.job.status) == (IngestRun.Status.CANCELLED, Job.Status.CANCELLED)
    assert dump() == before


def test_a_worker_that_lost_its_lease_before_publishing_publishes_nothing(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump()
    lock = jobs.lock

    def lose(claim: Claim) -> None:
        if claim.phase == "publish":
            Job.objects.filter(pk=claim.job.pk).update(lease_token="0" * 32)
        lock(claim)

    monkeypatch.setattr(jobs, "lock", lose)
    with pytest.raises(jobs.TryAgain, match="a worker has taken this over"):
        take(TWO)
    assert dump() == before
    run = IngestRun.objects.get(source="fake_prices")
    assert run.status == IngestRun.Status.RUNNING, "it is the other worker's to close"
    jobs.cancel(run.job.pk)
    Job.objects.filter(pk=run.job.pk).update(status=Job.Status.CANCELLED)
    IngestRun.objects.filter(pk=run.pk).update(status=IngestRun.Status.CANCELLED)


def test_a_worker_that_takes_over_goes_on_with_the_same_run(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = store([(TWO + "c,1,east,abc\n").encode()], "p.csv", A_MOMENT)
    work = {"source": "fake_prices", "raw": raw.sha256, "name": "p.csv", "params": {}}
    job = jobs.enqueue("ingest", work, key="k", requested_by="test", now=A_MOMENT)
    lock = jobs.lock

    def die(claim: Claim) -> None:
        if claim.phase == "publish":
            raise KeyboardInterrupt
        lock(claim)

    first = jobs.claim(job.pk)
    assert first is not None
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "lock", die)
        with pytest.raises(KeyboardInterrupt):
            jobs.run(first)
    Job.objects.filter(pk=job.pk).update(lease_until=A_MOMENT)
    second = jobs.claim(job.pk)
    assert second is not None
    jobs.run(second)
    run = IngestRun.objects.get(job=job)
    assert (run.status, run.lines_read, run.lines_kept, run.rejected.count()) == ("partial", 3, 2, 1)
    assert len(current_prices()) == 2


# fetching


def test_a_source_may_fetch_several_files(take: Take) -> None:
    fake_prices.OFFERED[:] = [
        ("east.csv", b"as_of 2026-01-02\na,8,east,80\n"),
        ("west.csv", b"as_of 2026-01-02\na,8,west,82\n"),
    ]
    job = take(None).job
    assert [(run.origin, run.status) for run in job.runs.order_by("pk")] == [
        ("east.csv", "done"),
        ("west.csv", "done"),
    ]
    assert job.status == Job.Status.DONE
    assert take(None).job.status == Job.Status.DUPLICATE


def test_one_broken_file_of_several_fails_the_job_and_not_the_others(take: Take) -> None:
    fake_prices.OFFERED[:] = [("east.csv", b"<html>"), ("west.csv", b"as_of 2026-01-02\na,8,west,82\n")]
    job = take(None).job
    assert [run.status for run in job.runs.order_by("pk")] == ["failed", "done"]
    assert (job.status, job.error_code) == (Job.Status.FAILED, "columns_missing")
    assert current_prices() == {("a", "west"): "82"}


def test_a_source_that_offers_nothing_says_what_to_do(take: Take) -> None:
    run = take(None)
    assert (run.status, run.error_code) == ("failed", "nothing_fetched")
    assert "--file" in run.message


def test_a_provider_that_is_away_is_tried_again(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(params: Any, now: Any) -> Any:
        raise LookupError("503 slow down")

    monkeypatch.setattr(fake_prices, "fetch", away)
    work = {"source": "fake_prices", "raw": None, "name": "", "params": {}}
    job = jobs.enqueue("ingest", work, key="f", requested_by="test", now=A_MOMENT)
    claim = jobs.claim(job.pk)
    assert claim is not None
    jobs.run(claim)
    job.refresh_from_db()
    assert job.status == Job.Status.QUEUED
    assert "503 slow down" in job.message


# series and sample data

HOURS = "c1,2026-01-01T00:00,10,6\nc1,2026-01-01T01:00,10,\n"


def test_hours_are_added_corrected_and_left(take: Take) -> None:
    take(HOURS, "fake_hours")
    run = take(
        "c1,2026-01-01T01:00,10,7.5\nc1,2026-01-01T02:00,10,8\nc1,2026-01-01T00:00,10,6\n", "fake_hours"
    )
    assert (run.added, run.changed, run.unchanged) == (1, 1, 1)
    rows = Utilization.objects.order_by("starts_at").values_list("gpus_allocated", flat=True)
    assert [str(value) for value in rows] == ["6.0000", "7.5000", "8.0000"]


def test_an_unknown_hour_is_empty_and_not_zero(take: Take) -> None:
    take(HOURS, "fake_hours")
    assert Utilization.objects.get(starts_at__hour=1).gpus_allocated is None


def test_an_earlier_series_file_again_is_a_duplicate_when_nothing_differs(take: Take) -> None:
    take(HOURS, "fake_hours")
    take("c1,2026-02-01T00:00,10,6\n", "fake_hours")
    before = dump()
    assert take(HOURS, "fake_hours").status == IngestRun.Status.DUPLICATE
    assert dump() == before


def test_sample_hours_stand_beside_our_own_and_leave_no_trace(take: Take) -> None:
    take(HOURS, "fake_hours")
    before = dump()
    take(HOURS.replace(",6", ",9"), "fake_hours", sample="1")
    assert Utilization.objects.filter(is_sample=True).count() == 2
    assert verify().problems == []
    assert remove_sample() == {"utilization": 2, "batches": 1}
    assert dump() == before
    assert take(HOURS.replace(",6", ",9"), "fake_hours", sample="1").status == IngestRun.Status.DONE


# what the tables can hold


def column(kind: Kind, name: str) -> Any:
    """Return the column that holds a value of a kind's row."""
    of_sku = {"sku": "name", "provider": "provider", "accelerator_name": "accelerator_name"}
    if kind.name == "prices" and name in (*of_sku, "gpu_count", "vcpus", "memory_gib"):
        return Sku._meta.get_field(of_sku.get(name, name))
    return TABLES[kind.row]._meta.get_field(name)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: str(kind.name))
def test_texts_and_numbers_of_a_kind_fit_the_columns_of_its_table(kind: Kind) -> None:
    hints = get_type_hints(kind.row)
    texts = {name for name in NAMES[kind.row] if hints[name] is str and name != "currency"}
    assert set(kind.texts) == texts
    for name, most in kind.texts.items():
        assert column(kind, name).max_length == most, name
    decimals = {name for name in NAMES[kind.row] if hints[name] in (Decimal, Decimal | None)}
    assert set(kind.places) == decimals
    for name, places in kind.places.items():
        assert column(kind, name).decimal_places == places, name
    assert set(kind.key) <= set(NAMES[kind.row])


def test_the_job_is_held_while_a_source_reads_for_long_before_its_first_line(
    take: Take, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.JOB_PROGRESS_SECONDS = 0.001
    told: list[tuple[str, int]] = []
    renew, read = jobs.renew, fake_prices.read

    def noted(claim: Claim, phase: str, done: int, total: int | None) -> None:
        told.append((phase, done))
        renew(claim, phase, done, total)

    def slow(file: Any, name: str, params: Any) -> Any:
        while file.read(1 << 16):
            time.sleep(0.002)
        told.append(("first line", 0))
        file.seek(0)
        return read(file, name, params)

    monkeypatch.setattr(jobs, "renew", noted)
    monkeypatch.setattr(fake_prices, "read", slow)
    take(TWO + f"cpu,0,east,{1:030000}\n" * 100)
    before = told[: told.index(("first line", 0))]
    assert max(done for phase, done in before if phase == "stage") > 1_000_000


def test_a_correction_of_many_prices_takes_no_more_statements_than_one_of_a_few(take: Take) -> None:
    """Every statement is run under the one write lock, for which pages wait, too."""

    def updates(lines: int, day: str) -> int:
        first, second = (
            f"as_of {day}\n" + "".join(f"m{n},1,east,{price}\n" for n in range(lines)) for price in (5, 6)
        )
        take(first)
        with CaptureQueriesContext(connection) as captured:
            run = take(second)
        assert (run.changed, run.unchanged) == (lines, 0)
        return sum('UPDATE "costs_price"' in query["sql"] for query in captured.captured_queries)

    assert updates(20, "2026-01-02") == updates(1_500, "2026-01-03") == 1
    assert {price for _, price in current_prices().items()} == {"6"}
    assert verify().problems == []


def test_an_answer_that_nothing_is_held_ends_what_was_held(take: Take) -> None:
    document = '{"Account": "012345678901", "Region": "us-east-1", "AsOf": "%s", "ReservedInstances": [%s]}'
    held = (
        '{"ReservedInstancesId": "r1", "InstanceType": "p4d.24xlarge", "InstanceCount": 1, "State": "active",'
        ' "Duration": 31536000, "FixedPrice": 0, "Start": "2026-01-01T00:00:00Z",'
        ' "End": "2027-01-01T00:00:00Z"}'
    )
    take(document % ("2026-10-01T00:00:00Z", held), "aws_commitments", name="one.json")
    run = take(document % ("2026-10-02T00:00:00Z", ""), "aws_commitments", name="none.json")
    (commitment,) = Commitment.objects.all()
    assert f"{commitment.effective_to:%Y-%m-%d}" == "2026-10-02"
    assert (run.status, run.closed) == ("done", 1)


def test_a_spelling_that_somebody_adds_lets_the_same_file_in(take: Take) -> None:
    text = TWO + "x,1,east,5,USD,Hopper Prime\n"
    assert take(text).rejected.get().rule == "accelerator_unknown"
    take("spelling,accelerator,note\nhopper-prime,h100-sxm-80gb,as their sales call it\n", "aliases")
    assert take(text).status == IngestRun.Status.DONE
    assert Sku.objects.get(name="x").accelerator.slug == "h100-sxm-80gb"


@pytest.mark.parametrize("slug", ["h1000", "H100-SXM-80GB", "h100"])
def test_a_spelling_of_no_accelerator_of_the_table_is_refused(take: Take, slug: str) -> None:
    run = take(f"spelling,accelerator,note\nhopper-prime,{slug},\n", "aliases")
    assert run.rejected.get().rule == "accelerator_unknown"
    assert not Alias.objects.exists()


def test_a_machine_type_of_no_accelerator_of_the_table_is_refused(take: Take) -> None:
    head = "provider,name,accelerator,accelerator_name,gpu_count,vcpus,memory_gib,quota_on_demand,quota_spot,"
    run = take(
        head + "reference,reference_date\naws,p9.48xlarge,x900,X900,8,192,2048,,,AWS,2026-01-01\n",
        "machine_types",
    )
    assert run.rejected.get().rule == "accelerator_unknown"
