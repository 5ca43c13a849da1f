"""The queue of record: who holds a job, how it ends, and what the tick repairs."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from kombu.exceptions import OperationalError as BrokerError

from costs import jobs, schedule, upkeep
from costs.jobs import Cancelled, Claim, HandedBack, KeyTaken, LeaseLost
from costs.models import IngestRun, Job, RawObject, Schedule, StagedRow
from costs.raw import drop_unused, open_raw, store
from costs.rows import FileError
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch

from ..fact_builders import make_batch, make_raw, make_run

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAST = datetime(2026, 1, 1, tzinfo=UTC)


def enqueue(key: str = "a", **changes: Any) -> Job:
    fields = {"kind": "ingest", "params": {}, "key": key, "requested_by": "test", "now": NOW} | changes
    return jobs.enqueue(**fields)


def claimed(job: Job | None = None) -> Claim:
    claim = jobs.claim((job or enqueue()).pk)
    assert claim is not None
    return claim


def let_lease_run_out(claim: Claim) -> None:
    Job.objects.filter(pk=claim.job.pk).update(lease_until=PAST)


def run_as(monkeypatch: pytest.MonkeyPatch, work: Any) -> Claim:
    monkeypatch.setattr("costs.ingest.run_ingest", work)
    claim = claimed()
    jobs.run(claim)
    claim.job.refresh_from_db()
    return claim


def raising(error: Exception) -> Any:
    def work(claim: Claim) -> None:
        raise error

    return work


# enqueue


def test_the_same_key_twice_is_one_job() -> None:
    assert enqueue("k", params={"a": 1}).pk == enqueue("k", params={"a": 1}).pk
    assert Job.objects.count() == 1


def test_a_key_stands_for_one_piece_of_work() -> None:
    enqueue("k", params={"a": 1})
    with pytest.raises(KeyTaken):
        enqueue("k", params={"a": 2})


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of job"):
        enqueue(kind="dance")


# claim


def test_a_job_is_held_by_one_worker() -> None:
    job = enqueue()
    assert jobs.claim(job.pk) is not None
    assert jobs.claim(job.pk) is None
    assert jobs.claim() is None


def test_the_job_that_waits_longest_comes_first() -> None:
    late = enqueue("late")
    early = enqueue("early", run_after=PAST)
    enqueue("tomorrow", run_after=timezone.now() + timedelta(days=1))
    taken = [jobs.claim(), jobs.claim(), jobs.claim()]
    assert [claim and claim.job.pk for claim in taken] == [early.pk, late.pk, None]


def test_a_lease_that_ran_out_goes_to_another_worker() -> None:
    first = claimed()
    let_lease_run_out(first)
    second = jobs.claim(first.job.pk)
    assert second is not None
    assert second.token != first.token
    assert second.job.attempts == 2


def test_the_lease_follows_the_database_and_no_workers_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = claimed()
    monkeypatch.setattr(timezone, "now", lambda: datetime(2036, 1, 1, tzinfo=UTC))
    assert jobs.claim(claim.job.pk) is None
    assert jobs.requeue_expired() == 0


def test_a_worker_that_lost_its_lease_changes_nothing() -> None:
    old = claimed()
    let_lease_run_out(old)
    new = claimed(old.job)
    for write in (
        lambda: jobs.renew(old, "stage", 1, 2),
        lambda: jobs.lock(old),
        lambda: jobs.finish(old),
        lambda: jobs.remember(old, fetched=[]),
    ):
        with pytest.raises(LeaseLost):
            write()
    jobs.hand_back(old)
    jobs.retry(old, "late")
    new.job.refresh_from_db()
    assert (new.job.status, new.job.lease_token) == (Job.Status.RUNNING, new.token)


def test_what_a_late_worker_wrote_is_undone_with_its_finish() -> None:
    old = claimed()
    let_lease_run_out(old)
    claimed(old.job)

    def write() -> None:
        with transaction.atomic():
            make_raw(name="written too late")
            jobs.finish(old)

    with pytest.raises(LeaseLost):
        write()
    assert not RawObject.objects.filter(name="written too late").exists()


def test_a_shell_holds_its_job_from_the_first_moment() -> None:
    claim = jobs.start("ingest", {}, key="shell", requested_by="shell", now=NOW)
    assert jobs.claim() is None
    assert claim.job.status == Job.Status.RUNNING


# progress, cancel, hand back


def test_progress_is_written_at_most_once_a_second_within_a_phase() -> None:
    claim, told = claimed(), []
    claim.on_progress = lambda phase, done, total: told.append((phase, done))
    for done in range(50):
        jobs.progress(claim, "stage", done, 50)
    jobs.progress(claim, "check", 0)
    assert told == [("stage", 0), ("check", 0)]


def test_renewing_moves_the_lease_on() -> None:
    claim = claimed()
    let_lease_run_out(claim)
    jobs.renew(claim, "stage", 3, 10)
    job = Job.objects.get(pk=claim.job.pk)
    assert job.lease_until is not None
    assert job.lease_until > PAST
    assert (job.phase, job.done_units, job.total_units) == ("stage", 3, 10)


def test_a_waiting_job_is_cancelled_at_once() -> None:
    job = enqueue()
    jobs.cancel(job.pk)
    job.refresh_from_db()
    assert job.status == Job.Status.CANCELLED
    assert jobs.claim(job.pk) is None


def test_a_running_job_is_cancelled_at_its_next_step() -> None:
    claim = claimed()
    jobs.cancel(claim.job.pk)
    with pytest.raises(Cancelled):
        jobs.renew(claim, "stage", 1, 2)
    with pytest.raises(Cancelled):
        jobs.lock(claim)


def test_a_job_that_ended_is_not_cancelled_after_the_fact() -> None:
    claim = claimed()
    jobs.finish(claim)
    jobs.cancel(claim.job.pk)
    claim.job.refresh_from_db()
    assert (claim.job.status, claim.job.cancel_requested) == (Job.Status.DONE, False)


def test_a_stopping_worker_hands_its_job_back_without_counting_the_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(claim: Claim) -> None:
        jobs.STOP.set()
        jobs.renew(claim, "stage", 1, 2)

    try:
        claim = run_as(monkeypatch, work)
    finally:
        jobs.STOP.clear()
    assert (claim.job.status, claim.job.attempts, claim.job.lease_token) == (Job.Status.QUEUED, 0, None)
    assert jobs.claim(claim.job.pk) is not None


def test_stopping_is_told_apart_from_losing_the_lease() -> None:
    claim = claimed()
    jobs.STOP.set()
    try:
        with pytest.raises(HandedBack):
            jobs.renew(claim, "stage", 1, 2)
    finally:
        jobs.STOP.clear()


# how a job ends


def test_a_job_whose_work_returns_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_as(monkeypatch, lambda claim: None).job.status == Job.Status.DONE


def test_a_file_that_is_wrong_fails_its_job_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    job = run_as(monkeypatch, raising(FileError("html_instead_of_data", "a CSV", line=1))).job
    assert (job.status, job.error_code, job.attempts) == (Job.Status.FAILED, "html_instead_of_data", 1)


def test_a_mistake_of_ours_fails_its_job_at_once_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    job = run_as(monkeypatch, raising(ZeroDivisionError("by zero"))).job
    assert (job.status, job.error_code, job.message) == (
        Job.Status.FAILED,
        "unexpected",
        "ZeroDivisionError: by zero",
    )


@pytest.mark.parametrize("error", [OSError("unreachable"), jobs.TryAgain("503"), OperationalError("down")])
def test_trouble_that_may_pass_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    job = run_as(monkeypatch, raising(error)).job
    assert (job.status, job.message) == (Job.Status.QUEUED, str(error))
    assert jobs.claim(job.pk) is None, "not before its pause is over"


def test_trouble_that_does_not_pass_ends_after_five_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("costs.ingest.run_ingest", raising(OSError("unreachable")))
    job, attempts = enqueue(), 0
    while claim := jobs.claim(job.pk):
        attempts += 1
        jobs.run(claim)
        Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED).update(run_after=PAST)
    job.refresh_from_db()
    assert (attempts, job.status, job.error_code) == (5, Job.Status.FAILED, "attempts_used_up")
    assert "unreachable" in job.message


def test_a_job_that_kills_its_worker_ends_after_five_attempts() -> None:
    job, attempts = enqueue(), 0
    while claim := jobs.claim(job.pk):
        attempts += 1
        let_lease_run_out(claim)
        upkeep.tick(NOW)
    job.refresh_from_db()
    assert (attempts, job.status, job.error_code) == (5, Job.Status.FAILED, "attempts_used_up")
    assert "5 attempts" in job.message


def test_a_cancelled_job_whose_worker_died_ends_cancelled() -> None:
    claim = claimed()
    jobs.cancel(claim.job.pk)
    let_lease_run_out(claim)
    upkeep.tick(NOW)
    claim.job.refresh_from_db()
    assert claim.job.status == Job.Status.CANCELLED


# hints


@pytest.fixture
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    settings.REDIS_URL = "redis://nowhere"
    ids: list[int] = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda name, args: ids.append(args[0]))
    return ids


def test_the_hint_is_sent_when_the_job_can_be_seen(
    sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = enqueue()
        assert sent == []
    assert sent == [job.pk]


def test_without_redis_no_hint_is_sent(
    sent: list[int], settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.REDIS_URL = ""
    with django_capture_on_commit_callbacks(execute=True):
        enqueue()
    upkeep.tick(NOW)
    assert sent == []


def test_a_broker_that_is_away_leaves_the_job_queued(
    settings: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    settings.REDIS_URL = "redis://nowhere"

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise BrokerError("connection refused")

    monkeypatch.setattr(jobs.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        job = enqueue()
    job.refresh_from_db()
    assert (job.status, job.hinted_at) == (Job.Status.QUEUED, None)


def test_a_lost_hint_is_sent_again_and_a_fresh_one_is_not(sent: list[int]) -> None:
    lost, fresh, never = enqueue("lost"), enqueue("fresh"), enqueue("never")
    Job.objects.filter(pk=lost.pk).update(hinted_at=PAST)
    Job.objects.filter(pk=fresh.pk).update(hinted_at=timezone.now())
    upkeep.tick(NOW)
    assert sorted(sent) == [lost.pk, never.pk]
    upkeep.tick(NOW)
    assert sorted(sent) == [lost.pk, never.pk]


def test_a_job_taken_back_gets_a_new_hint(sent: list[int]) -> None:
    claim = claimed()
    Job.objects.filter(pk=claim.job.pk).update(hinted_at=timezone.now())
    let_lease_run_out(claim)
    upkeep.tick(NOW)
    assert sent == [claim.job.pk]


# schedule


def test_nothing_is_fetched_unless_the_schedule_says_so() -> None:
    upkeep.tick(NOW)
    assert not Job.objects.exists()


def test_two_clocks_make_one_job_per_slot_and_missed_slots_collapse(settings: Any) -> None:
    settings.INGEST_SCHEDULE = ["list_prices"]
    every = schedule.SOURCES["list_prices"].CADENCE or schedule.EVERY
    for moment in (NOW, NOW, NOW + every, NOW + 9 * every):
        upkeep.tick(moment)
        upkeep.tick(moment)
        Job.objects.update(status=Job.Status.DONE)
    assert Job.objects.count() == 3
    assert {job.requested_by for job in Job.objects.all()} == {"schedule"}


def test_a_source_that_is_being_fetched_is_not_fetched_beside_itself(settings: Any) -> None:
    settings.INGEST_SCHEDULE = ["list_prices"]
    every = schedule.SOURCES["list_prices"].CADENCE or schedule.EVERY
    upkeep.tick(NOW)
    upkeep.tick(NOW + every)
    assert Job.objects.count() == 1


def test_every_source_that_can_fetch_has_a_row_which_begins_switched_off() -> None:
    upkeep.tick(NOW)
    assert set(Schedule.objects.values_list("source", flat=True)) == set(filter(can_fetch, SOURCES))
    assert not Schedule.objects.filter(is_enabled=True).exists()


def test_a_row_that_people_changed_stays_as_they_left_it(settings: Any) -> None:
    upkeep.tick(NOW)
    row = Schedule.objects.get(source="list_prices")
    schedule.change(row.pk, every_minutes=60, is_enabled=True, changed_by="ann@example.com", now=NOW)
    settings.INGEST_SCHEDULE = ["list_prices"]
    upkeep.tick(NOW)
    row.refresh_from_db()
    assert (row.every_minutes, row.is_enabled, row.changed_by) == (60, True, "ann@example.com")
    assert Job.objects.get().key.startswith("list_prices:all:2026-11-30T")


@pytest.mark.parametrize("minutes", [4, 0, -1, 525_601])
def test_a_span_that_no_source_is_fetched_in_is_refused(minutes: int) -> None:
    upkeep.tick(NOW)
    with pytest.raises(ValueError, match="expected 5 to 525,600"):
        schedule.change(
            Schedule.objects.first().pk, every_minutes=minutes, is_enabled=True, changed_by="", now=NOW
        )  # type: ignore[union-attr] # there are rows


@given(source=st.sampled_from(sorted(SOURCES)), every=st.integers(5, 20_000), after=st.integers(0, 10**7))
def test_slots_follow_each_other_without_a_hole_and_jitter_stays_within_its_bound(
    source: str, every: int, after: int
) -> None:
    row = Schedule(source=source, every_minutes=every, jitter_seconds=600)
    now = NOW + timedelta(seconds=after)
    begin, length = schedule.slot(row, now), timedelta(minutes=every)
    assert begin <= now < begin + length
    assert schedule.slot(row, begin + length) == begin + length
    assert timedelta(0) <= schedule.jitter(row) <= timedelta(seconds=600)


def test_parameters_of_the_schedule_reach_the_job(settings: Any) -> None:
    settings.INGEST_SCHEDULE = ["list_prices?region=us-east-1"]
    upkeep.tick(NOW)
    assert Job.objects.get().params["params"] == {"region": "us-east-1"}


def test_a_schedule_with_an_unknown_source_is_refused_by_name(settings: Any) -> None:
    settings.INGEST_SCHEDULE = ["weather"]
    with pytest.raises(ImproperlyConfigured, match="'weather' is no source"):
        upkeep.tick(NOW)


# tidying


def test_staged_rows_go_unless_their_worker_is_at_work() -> None:
    alive, dead = claimed(enqueue("alive")), claimed(enqueue("dead"))
    for claim in (alive, dead):
        StagedRow.objects.create(job=claim.job, lease_token=claim.token, line=1, payload={})
    let_lease_run_out(dead)
    upkeep.tick(NOW)
    assert [row.job_id for row in StagedRow.objects.all()] == [alive.job.pk]


def test_a_run_whose_job_ended_without_it_is_closed() -> None:
    job = enqueue()
    run = make_run(job=job, status="running")
    jobs.fail(claimed(job), "attempts_used_up", "given up")
    upkeep.tick(NOW)
    run.refresh_from_db()
    assert (run.status, run.message) == (IngestRun.Status.FAILED, "given up")


def test_the_same_bytes_are_stored_once() -> None:
    first, second = store([b"ab", b"c"], "a.csv", NOW), store([b"abc"], "b.csv", NOW)
    assert first.pk == second.pk
    assert open_raw(first).read() == b"abc"


def test_a_path_in_a_files_name_is_not_kept() -> None:
    assert store([b"x"], "../../etc/passwd", NOW).name == "passwd"


def test_bytes_go_after_seven_days_unless_something_needs_them(raw_dir: Any) -> None:
    then = NOW - timedelta(days=8)
    kept = store([b"of a batch"], "a", then)
    make_batch(run=make_run(raw=kept, started_at=then))
    awaited = store([b"of a waiting job"], "b", then)
    enqueue(params={"raw": awaited.sha256})
    failed = store([b"of a failed run"], "c", then)
    run = make_run(raw=failed, started_at=then, status="failed")
    fresh = store([b"fresh"], "d", NOW - timedelta(days=6))
    assert drop_unused(NOW) == 1
    assert {path.name for path in raw_dir.iterdir()} == {kept.sha256, awaited.sha256, fresh.sha256}
    run.refresh_from_db()
    assert run.raw is None


def test_halves_of_a_killed_fetch_go_after_seven_days(raw_dir: Any) -> None:
    raw_dir.mkdir()
    old, new = raw_dir / "part-old", raw_dir / "part-new"
    for path in (old, new):
        path.write_bytes(b"half")
    assert drop_unused(datetime.now(UTC)) == 0
    assert drop_unused(datetime.fromtimestamp(time.time(), UTC) + timedelta(days=8)) == 2
