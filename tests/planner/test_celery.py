"""Only hints travel through Celery, and without Redis nothing does."""

from planner.celery import app


def test_without_redis_there_is_no_broker() -> None:
    assert app.conf.broker_url is None


def test_the_only_timed_entry_is_the_tick_and_an_old_one_is_dropped() -> None:
    assert [entry["task"] for entry in app.conf.beat_schedule.values()] == ["costs.tasks.tick"]
    (entry,) = app.conf.beat_schedule.values()
    assert entry["options"]["expires"] <= entry["schedule"]


def test_a_message_outlives_its_worker() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.broker_transport_options["visibility_timeout"] > app.conf.task_time_limit


def test_messages_are_plain_data_and_carry_no_results() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_ignore_result
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert ours == {"costs.tasks.run_job", "costs.tasks.tick"}
