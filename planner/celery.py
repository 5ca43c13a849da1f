"""The Celery application. Only hints travel through it; the Job table is the queue of record."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
app = Celery("planner")
app.autodiscover_tasks(["costs"])
