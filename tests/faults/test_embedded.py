"""Faults on SQLite with the job loop of our own: nothing lost, nothing doubled, nothing stuck."""

import time

import pytest

from .installation import FAULTS, Copy, kill_at_random

pytestmark = pytest.mark.fault
ROWS = 6_000


def test_f01_workers_killed_at_random_moments_lose_and_double_nothing(embedded: Copy) -> None:
    ids = embedded.clusters(max(4, FAULTS // 2), ROWS)
    embedded.worker()
    embedded.worker()
    assert kill_at_random(embedded, ids, FAULTS, seed=1) == FAULTS
    embedded.wait_for(ids, 60 + 5 * FAULTS)
    embedded.check(ids)
    assert sum(tries for _, tries in embedded.jobs().values()) > len(ids), "no kill hit a running job"


def test_f02_a_job_that_kills_its_worker_ends_after_five_attempts(embedded: Copy) -> None:
    (job,) = embedded.order("kills_its_worker", {}, "poison")
    after = embedded.order_files(embedded.file("cluster", 50, seed=1))
    worker = embedded.worker()
    end = time.monotonic() + 60
    while embedded.jobs()[job][0] != "failed" and time.monotonic() < end:
        if not worker.is_alive():  # as the supervisor does
            worker.start()
        time.sleep(0.1)
    assert embedded.jobs()[job] == ("failed", 5)
    ((code, message),) = embedded.query("SELECT error_code, message FROM costs_job WHERE status = 'failed'")
    assert code == "attempts_used_up"
    assert "5 attempts" in message
    if not worker.is_alive():
        worker.start()
    embedded.wait_for(after, 30)
    embedded.check(after)


def test_f03_two_jobs_on_one_file_publish_it_once(embedded: Copy) -> None:
    ids = embedded.order_files(embedded.file("cluster", ROWS, seed=1), keys=("first", "second"))
    embedded.worker()
    embedded.worker()
    embedded.wait_for(ids, 60)
    assert sorted(embedded.jobs()[job][0] for job in ids) == ["done", "duplicate"]
    embedded.check(ids)
    assert embedded.query("SELECT count(*) FROM costs_batch") == [(1,)]


def test_f04_a_job_longer_than_its_lease_runs_once(embedded: Copy) -> None:
    (job,) = embedded.order("sleeps", {"seconds": 7}, "long")
    embedded.worker()
    embedded.worker()
    embedded.wait_for([job], 60)
    assert embedded.jobs()[job] == ("done", 1)


def test_f20_the_only_process_killed_and_started_again_goes_on_by_itself(embedded: Copy) -> None:
    ids = embedded.clusters(max(3, FAULTS // 2), ROWS)
    embedded.worker()
    assert kill_at_random(embedded, ids, FAULTS, seed=20) == FAULTS
    embedded.wait_for(ids, 60 + 5 * FAULTS)
    embedded.check(ids)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_loading_sample_data_goes_on_after_its_worker_ended(embedded: Copy, end: str) -> None:
    (job,) = embedded.order("sample", {}, "sample")
    worker = embedded.worker()
    # the file of the sample fleet is a job of its own, inside the one that loads the sample
    inner = "SELECT id FROM costs_job WHERE phase = 'stage' AND params LIKE '%sample_fleet%'"
    while not embedded.query(inner):
        assert embedded.jobs()[job][0] in ("queued", "running")
        time.sleep(0.05)
    getattr(worker, end)()
    worker.start()
    embedded.wait_for([job], 60)
    embedded.wait_for(list(embedded.jobs()), 60)
    assert {status for status, _ in embedded.jobs().values()} <= {"done", "duplicate"}
    assert embedded.run("manage.py", "verify_ledger").startswith("ledger exact")
    assert embedded.query("SELECT count(*) FROM planner_scenario") == [(4,)]


def test_f13_a_worker_told_to_stop_hands_its_job_back_and_loses_no_attempt(embedded: Copy) -> None:
    ids = embedded.clusters(2, ROWS)
    worker = embedded.worker()
    for _ in range(3):
        if embedded.wait_until_running(ids) is None:
            break
        time.sleep(0.3)
        began = time.monotonic()
        worker.stop()
        assert time.monotonic() - began < 3, "it did not stop politely"
        assert "running" not in {status for status, _ in embedded.jobs().values()}
        worker.start()
    embedded.wait_for(ids, 60)
    embedded.check(ids)
    assert {tries for _, tries in embedded.jobs().values()} == {1}


def test_f14_a_worker_that_slept_past_its_lease_writes_nothing_more(embedded: Copy) -> None:
    (job,) = embedded.clusters(1, ROWS)
    sleeper = embedded.worker()
    embedded.wait_until_running([job])
    time.sleep(0.3)
    sleeper.pause()
    embedded.worker()
    embedded.wait_for([job], 60)
    sleeper.resume()
    time.sleep(1)
    assert "LEASE_LOST" in embedded.logs()
    embedded.check([job])
