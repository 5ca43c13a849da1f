"""Load a made-up fleet with four plans to look around with, and take all of it away again."""

import tempfile
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from costs import jobs
from costs.ingest import ingest, remove_sample
from costs.jobs import Claim
from costs.models import Batch, IngestRun, Job
from costs.queries import utilization
from planner.models import Person, Scenario
from planner.sample.fleet import ROWS, csv_chunks, last_full_hour
from planner.sample.scenarios import create_scenarios
from planner.scenarios.revisions import remove_scenarios

SOURCE = "utilization_csv"
FILE_NAME = "sample_fleet.csv"
# what the plans name: loaded by `make run`, and here where it is not there yet
REFERENCE_DATA = ("accelerators", "list_prices")
WRITTEN = {IngestRun.Status.DONE, IngestRun.Status.DUPLICATE}


class SampleError(Exception):
    """The sample could not be loaded; the message says why."""


def run_load(claim: Claim) -> None:
    """Load the sample fleet and its plans; what is there already stays as it is."""
    jobs.progress(claim, "fetch", 0, ROWS)
    for source in REFERENCE_DATA:
        if not Batch.objects.filter(source=source, is_current=True).exists():
            _take(claim, source, None, source)
    if not utilization.has_data(sample=True):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / FILE_NAME
            # of the job's own date: a worker that takes the job over writes the same bytes
            with path.open("wb") as file:
                file.writelines(csv_chunks(last_full_hour(claim.job.created_at)))
            _take(claim, SOURCE, path, FILE_NAME)
    jobs.renew(claim, "publish", ROWS, ROWS)
    with transaction.atomic():
        jobs.lock(claim)
        if not Scenario.objects.filter(is_sample=True).exists():
            owner = Person.objects.filter(email=claim.job.requested_by).first()
            create_scenarios(claim.job.created_at, owner)
        jobs.finish(claim, message="the sample fleet and its four plans are loaded")


def _take(claim: Claim, source: str, file: Path | None, name: str) -> None:
    """Take one file through the one path of ingest, and pass its progress on in rows."""

    def on_progress(phase: str, done: int, total: int | None) -> None:
        share = done / total if total else 0.0
        rows = ROWS if phase in {"check", "publish"} else round(ROWS * share)
        jobs.progress(claim, phase, rows if source == SOURCE else 0, ROWS)

    run = ingest(
        source,
        file=file,
        name=name,
        params={"sample": "1"} if source == SOURCE else {},
        requested_by=claim.job.requested_by,
        now=timezone.now(),
        on_progress=on_progress,
    )
    if run.status not in WRITTEN:
        raise SampleError(f"{name}: {run.message}")


def remove() -> dict[str, int]:
    """Remove every sample fact and plan; return how many of each."""
    for job in Job.objects.filter(kind="sample").exclude(status__in=Job.TERMINAL):
        jobs.cancel(job.pk)
    return remove_sample() | {"scenarios": remove_scenarios(Scenario.objects.filter(is_sample=True))}


def scenario_slugs() -> list[str]:
    """Return the addresses of the sample plans in the order in which they were made."""
    plans = Scenario.objects.filter(is_sample=True).order_by("pk")
    return list(plans.values_list("slug", flat=True)[:4])
