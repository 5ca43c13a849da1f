"""What Celery calls. The message is a hint; the job's row is the truth."""

from celery import shared_task
from django.utils import timezone

from . import jobs, upkeep


@shared_task(name="costs.tasks.run_job")  # type: ignore[untyped-decorator] # celery has no types
def run_job(job_id: int) -> None:
    """Run a job unless another worker holds it or it has ended."""
    claim = jobs.claim(job_id)
    if claim is not None:
        jobs.run(claim)


@shared_task(name="costs.tasks.tick")  # type: ignore[untyped-decorator] # celery has no types
def tick() -> None:
    """Do the upkeep of the queue."""
    upkeep.tick(timezone.now())
