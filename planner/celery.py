"""The Celery application. Only hints travel through it; the Job table is the queue of record.

Without REDIS_URL nothing here connects anywhere: `manage.py worker` runs the same jobs.
"""

import logging
import os
from typing import Any, cast

from celery import Celery
from celery.signals import celeryd_init
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError, ResponseError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
log = logging.getLogger("planner.celery")
app = Celery("planner")
app.conf.update(
    broker_url=settings.REDIS_URL or None,
    task_serializer="json",
    result_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,  # how a job ended stands in its row
    # a message is done when its task is: a worker that dies leaves it for another
    task_acks_late=True,
    # a killed child too; the attempt counter of the job ends the loop that this could be
    task_reject_on_worker_lost=True,
    # an error is noted at the job: whether it runs again is the queue's decision, not the broker's
    task_acks_on_failure_or_timeout=True,
    # with more than one message in hand, a restart of Redis under load has killed whole workers
    worker_prefetch_multiplier=1,
    broker_transport_options={
        # above the hard limit; too high only delays, twice does no harm
        "visibility_timeout": settings.CELERY_VISIBILITY_SECONDS,
        # the default is to wait for ever
        "socket_timeout": 5,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 25,
    },
    task_soft_time_limit=settings.JOB_TIME_LIMIT_SECONDS * 0.9,
    task_time_limit=settings.JOB_TIME_LIMIT_SECONDS,
    # a page that asks for work must not hang on a broker that is away: the tick asks again
    task_publish_retry_policy={
        "max_retries": 2,
        "interval_start": 0,
        "interval_step": 0.2,
        "interval_max": 0.5,
    },
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # lease and token make a second run safe, so the first may end
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_soft_shutdown_timeout=30,
    # against slow leaks
    worker_max_tasks_per_child=100,
    worker_max_memory_per_child=1_500_000,  # kB
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    timezone="UTC",
    enable_utc=True,
    # the only entry: what is due is decided in the database
    beat_schedule={
        "tick": {
            "task": "costs.tasks.tick",
            "schedule": settings.JOB_TICK_SECONDS,
            "options": {"expires": settings.JOB_TICK_SECONDS},
        }
    },
)
app.autodiscover_tasks(["costs"])


@celeryd_init.connect  # type: ignore[untyped-decorator] # celery has no types
def check_broker(**kwargs: Any) -> None:
    """Refuse to start on a Redis that may throw messages away to make room."""
    if not settings.REDIS_URL or settings.REDIS_EVICTION_ACCEPTED:
        return
    try:
        redis = Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=5)
        # typed for the asynchronous client as well
        policy = cast(dict[str, str], redis.config_get("maxmemory-policy"))
    except ResponseError:
        log.warning("Redis does not tell its maxmemory-policy; it should be noeviction")
        return
    except RedisError as error:
        log.warning("Redis does not answer yet (%s); its maxmemory-policy should be noeviction", error)
        return
    found = policy.get("maxmemory-policy", "")
    if found and found != "noeviction":
        raise SystemExit(
            f"Redis has maxmemory-policy {found}: it may drop the whole queue when memory is short. "
            "Set `maxmemory-policy noeviction`, or REDIS_EVICTION_ACCEPTED=1 if that cannot be changed."
        )
