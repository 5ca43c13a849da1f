"""Faults on PostgreSQL, Redis and Celery: nothing lost, nothing doubled, nothing stuck."""

import time
from collections.abc import Callable

import pytest

from ..services import Postgres, RedisServer, make_redis
from .installation import FAULTS, Copy, kill_at_random

pytestmark = [pytest.mark.fault, pytest.mark.services]
ROWS = 6_000


def until(is_so: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)


def deliver(copy: Copy, ids: list[int]) -> None:
    """Send the message about each job once more."""
    script = (
        "import sys, django; django.setup(); from celery import current_app\n"
        "for job in sys.argv[1:]: current_app.send_task('costs.tasks.run_job', args=[int(job)])"
    )
    copy.run("-c", script, *map(str, ids))


def test_f01_workers_killed_at_random_moments_lose_and_double_nothing(served: Copy) -> None:
    ids = served.clusters(max(4, FAULTS // 2), ROWS)
    served.scheduler()
    served.worker()
    served.worker()
    assert kill_at_random(served, ids, FAULTS, seed=1) == FAULTS
    served.wait_for(ids, 90 + 5 * FAULTS)
    served.check(ids)
    assert sum(tries for _, tries in served.jobs().values()) > len(ids), "no kill hit a running job"


def test_f02_a_job_that_kills_its_child_process_ends_after_five_attempts(served: Copy) -> None:
    (job,) = served.order("kills_its_worker", {}, "poison")
    after = served.order_files(served.file("cluster", 50, seed=1))
    served.scheduler()
    served.worker()
    served.wait_for([job, *after], 90)
    assert served.jobs()[job] == ("failed", 5)
    time.sleep(3)
    assert served.jobs()[job] == ("failed", 5), "an endless loop"
    served.check(after)


def test_f03_messages_that_come_twice_and_two_jobs_on_one_file_publish_it_once(served: Copy) -> None:
    ids = served.order_files(served.file("cluster", ROWS, seed=1), keys=("first", "second"))
    deliver(served, ids)
    served.scheduler()
    served.worker()
    served.worker()
    served.wait_for(ids, 90)
    deliver(served, ids)
    assert sorted(served.jobs()[job][0] for job in ids) == ["done", "duplicate"]
    served.check(ids)
    assert served.query("SELECT count(*) FROM costs_batch") == [(1,)]


def test_f04_a_message_that_comes_again_while_its_job_runs_finds_it_held(served: Copy) -> None:
    (job,) = served.order("sleeps", {"seconds": 7}, "long")
    served.worker()
    served.worker()
    served.scheduler()
    served.wait_until_running([job])
    for _ in range(3):
        deliver(served, [job])
    served.wait_for([job], 60)
    assert served.jobs()[job] == ("done", 1)


def test_f05_redis_stopped_while_a_job_runs_and_started_empty_costs_nothing(
    served: Copy, redis_server: RedisServer
) -> None:
    (running,) = served.order("sleeps", {"seconds": 5}, "long")
    served.scheduler()
    worker = served.worker()
    served.wait_until_running([running])
    waiting = served.clusters(2, ROWS)
    redis_server.stop()
    asked = time.monotonic()
    while_away = served.order_files(served.file("asked-while-away", 50, seed=9))
    assert served.jobs()[while_away[0]][0] == "queued", "it is in the database, whatever the broker does"
    time.sleep(max(0.0, 6 - (time.monotonic() - asked)))
    redis_server.forget()
    redis_server.start()
    if not worker.is_alive():  # as the supervisor does
        worker.start()
    served.wait_for([running, *waiting, *while_away], 90)
    assert served.jobs()[running][0] == "done"
    later = served.order_files(served.file("later", 50, seed=10))
    served.wait_for(later, 60)
    served.check([*waiting, *while_away, *later])


def test_f07_a_queue_that_was_flushed_is_filled_again_from_the_database(
    served: Copy, redis_server: RedisServer
) -> None:
    count = 100
    ids = served.order("sleeps", {"seconds": 0}, *[f"job-{n}" for n in range(count)])
    redis_server.flush()
    served.scheduler()
    served.worker()
    served.wait_for(ids, 90)
    assert set(served.jobs().values()) == {("done", 1)}


def test_f10_a_worker_refuses_a_redis_that_may_drop_the_queue(served: Copy) -> None:
    eager = make_redis("allkeys-lru")
    try:
        served.redis_url = eager.url
        worker = served.worker()
        until(lambda: not worker.is_alive(), 30, "the worker refuses to start")
        assert "maxmemory-policy allkeys-lru" in served.logs()
        served.settings["REDIS_EVICTION_ACCEPTED"] = "1"
        accepting = served.worker()
        until(lambda: "ready" in accepting.log.read_text(), 30, "the worker starts when told that it may")
    finally:
        served.stop()
        eager.remove()


def test_f21_postgresql_that_crashes_under_load_loses_and_doubles_nothing(
    served: Copy, postgres: Postgres
) -> None:
    ids = served.clusters(max(4, FAULTS // 2), ROWS)
    served.scheduler()
    served.worker()
    served.worker()
    for number in range(max(2, FAULTS // 2)):
        served.wait_until_running(ids)
        postgres.restart_at_once()
        kill_at_random(served, ids, 1 + (number == 0), seed=21 + number)
    served.wait_for(ids, 120 + 5 * FAULTS)
    served.check(ids)


def test_f08_f09_a_redis_that_takes_no_message_leaves_the_job_in_the_queue(
    served: Copy, redis_server: RedisServer
) -> None:
    with redis_server.client() as client:
        client.config_set("maxmemory", 1)
        full = served.order_files(served.file("while-full", 50, seed=1))
        client.config_set("maxmemory", 0)
    redis_server.stop()
    away = served.order_files(served.file("while-away", 50, seed=2))
    redis_server.start()
    assert {status for status, _ in served.jobs().values()} == {"queued"}
    served.scheduler()
    served.worker()
    served.wait_for([*full, *away], 60)
    served.check([*full, *away])
