"""A worker that dies at any batch boundary, twice-delivered work and repeated files leave the same tables."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from django.db import transaction

from costs import jobs, upkeep
from costs.ingest import run_ingest
from costs.jobs import Claim
from costs.kinds import ALL
from costs.ledger import verify
from costs.ledger_tables import found
from costs.models import IngestRun, Job, Price, QuarantinedFact, StagedRow
from costs.raw import store

from .conftest import A_MOMENT, Take

pytestmark = pytest.mark.django_db

SPOT = "Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n"
# for each shape of facts: what is there before, and what is being taken when the worker dies
FILES = {
    "a price list": (
        "fake_prices",
        "as_of 2026-01-02\n" + "".join(f"m{i},8,east,{20 + i}\n" for i in range(7)),
        "as_of 2026-02-02\n" + "".join(f"m{i},8,east,{19 + i}\n" for i in range(1, 8)) + "m9,8,east,0.001\n",
    ),
    "hours of use": (
        "fake_hours",
        "".join(f"c1,2026-01-01T{hour:02}:00,8,4\n" for hour in range(9)),
        "".join(f"c1,2026-01-01T{hour:02}:00,8,5\n" for hour in range(4, 14)),
    ),
    "spot prices": (
        "aws_spot_history",
        SPOT + "".join(f"2021-03-0{d}T00:00:00+00:00,us-east-1a,p3.2xlarge,Linux/UNIX,0.9{d // 3}\n"
                       for d in range(1, 8)),
        SPOT + "".join(f"2021-03-{d:02}T00:00:00+00:00,us-east-1{z},p3.2xlarge,Linux/UNIX,0.9{d // 3}\n"
                       for d in range(5, 12) for z in "ab"),
    ),
}  # fmt: skip


class Killed(BaseException):
    """The process is gone: no handler of the product runs."""


def tables() -> list[Any]:
    """Return what every fact table says, whatever numbers the database gave its rows."""
    facts = [(kind.name, sorted((own, key, said.hex()) for own, key, said in found(kind))) for kind in ALL]
    spans = sorted(Price.objects.values_list("sku__name", "effective_from", "price_per_hour", "as_of"))
    held = sorted(QuarantinedFact.objects.values_list("rule", "key", "status").distinct())
    return [facts, spans, held]


def order(source: str, text: str, key: str) -> Job:
    raw = store([text.encode()], "file.csv", A_MOMENT)
    work = {"source": source, "raw": raw.sha256, "name": "file.csv", "params": {}}
    return jobs.enqueue("ingest", work, key=key, requested_by="test", now=A_MOMENT)


def claimed(job: Job) -> Claim:
    claim = jobs.claim(job.pk)
    assert claim is not None
    return claim


def die_at(claim: Claim, boundary: int) -> bool:
    """Run the job until it renews its lease for the nth time; return whether it lived that long."""
    renew: Callable[..., None] = jobs.renew
    left = [boundary]

    def renewing(*args: Any, **kwargs: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise Killed
        renew(*args, **kwargs)

    with mock.patch("costs.jobs.renew", renewing):
        try:
            run_ingest(claim)
        except Killed:
            return True
    return False


def take_over(job: Job) -> None:
    """Let the lease run out, and another worker finish the job."""
    Job.objects.filter(pk=job.pk).update(lease_until=A_MOMENT.replace(year=2020))
    upkeep.tick(A_MOMENT)
    jobs.run(claimed(job))


@pytest.fixture(autouse=True)
def short_chunks(settings: Any) -> None:
    settings.INGEST_CHUNK_ROWS = 2
    settings.JOB_PROGRESS_SECONDS = 0


@pytest.mark.parametrize(("source", "before", "after"), FILES.values(), ids=FILES)
def test_a_worker_killed_at_any_boundary_is_made_good_by_the_next(
    take: Take, source: str, before: str, after: str
) -> None:
    jobs.run(claimed(order(source, before, "before")))
    with transaction.atomic():
        jobs.run(claimed(order(source, after, "undisturbed")))
        wanted = tables()
        transaction.set_rollback(True)
    boundary = 1
    died = True
    while died:
        with transaction.atomic():
            job = order(source, after, f"killed at {boundary}")
            died = die_at(claimed(job), boundary)
            if died:
                take_over(job)
            job.refresh_from_db()
            assert tables() == wanted, f"killed at boundary {boundary}"
            assert verify().problems == []
            assert not StagedRow.objects.exists()
            assert job.runs.get().status in (IngestRun.Status.DONE, IngestRun.Status.PARTIAL)
            transaction.set_rollback(True)
        boundary += 1
    assert boundary > 6, "too few boundaries: the chunks are not short"


@pytest.mark.parametrize(("source", "before", "after"), FILES.values(), ids=FILES)
def test_the_same_day_again_or_delivered_twice_changes_nothing(
    take: Take, source: str, before: str, after: str
) -> None:
    for text in (before, after):
        jobs.run(claimed(order(source, text, f"first {text}"[:200])))
    wanted = tables()
    one, other = order(source, after, "one"), order(source, after, "other")
    mine, theirs = claimed(one), claimed(other)
    jobs.run(theirs)
    jobs.run(mine)
    assert tables() == wanted
    assert verify().problems == []
    assert {job.status for job in (Job.objects.get(pk=one.pk), Job.objects.get(pk=other.pk))} == {"duplicate"}


@pytest.mark.parametrize(("source", "before", "after"), FILES.values(), ids=FILES)
def test_a_worker_that_wakes_after_its_lease_writes_nothing(
    take: Take, source: str, before: str, after: str
) -> None:
    job = order(source, after, "late")
    late = claimed(job)
    take_over(job)
    wanted = tables()
    jobs.run(late)
    assert tables() == wanted
    assert verify().problems == []
