"""Claims about taking an import back from its page."""

from pathlib import Path

import pytest
from django.test import Client

from costs.ledger import verify
from costs.models import IngestRun, Job, Price
from tests.fact_builders import make_job, make_run
from tests.planner.data_pages import catalogue, line, load, text_of, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.RAW_DIR = tmp_path / "raw"
    load("accelerators")
    return tmp_path


@pytest.fixture
def later(folder: Path) -> IngestRun:
    """The second of two lists: it changes one price."""
    load("skypilot", catalogue(), "skypilot_nebius_2026-01-02.csv", folder)
    changed = catalogue(gpu1=line("gpu-1x-h100", "H100", 1, "2.90"))
    return load("skypilot", changed, "skypilot_nebius_2026-02-02.csv", folder)


def prices() -> set[str]:
    rows = Price.objects.filter(sku__name="gpu-1x-h100", term="on_demand")
    return {f"{row.price_per_hour.normalize():f}" for row in rows}


def test_an_import_is_taken_back_and_the_run_says_by_whom(planner_client: Client, later: IngestRun) -> None:
    page = planner_client.get(f"/data/runs/{later.pk}/")
    assert "Undo import" in text_of(page)
    assert "10 rows of 1 scope" in text_of(page)
    answer = planner_client.post(f"/data/runs/{later.pk}/undo/")
    again = planner_client.post(f"/data/runs/{later.pk}/undo/")
    job = Job.objects.get(kind="undo")
    assert answer["Location"] == again["Location"] == f"/data/jobs/{job.pk}/"
    assert "This import is being taken back" in text_of(planner_client.get(f"/data/runs/{later.pk}/"))
    work_off()
    assert prices() == {"3"}
    assert verify().problems == []
    text = text_of(planner_client.get(answer["Location"]))
    assert f"Taking back run {later.pk}" in text
    assert "was taken back" in text
    text = text_of(planner_client.get(f"/data/runs/{later.pk}/"))
    assert "taken back" in text
    assert "Taken back by planner@example.com" in text
    assert "Undo import" not in text
    assert planner_client.post(f"/data/runs/{later.pk}/undo/").status_code == 404


def test_a_viewer_sees_no_way_back_and_has_none(viewer_client: Client, later: IngestRun) -> None:
    assert "Undo import" not in text_of(viewer_client.get(f"/data/runs/{later.pk}/"))
    assert viewer_client.post(f"/data/runs/{later.pk}/undo/").status_code == 403
    assert not Job.objects.filter(kind="undo").exists()


@pytest.mark.parametrize("status", ["failed", "previewed", "duplicate", "cancelled", "partial"])
def test_what_published_nothing_cannot_be_taken_back(planner_client: Client, status: str) -> None:
    run = make_run(status=status, job=make_job(params={"source": "skypilot", "params": {}}))
    assert "Undo import" not in text_of(planner_client.get(f"/data/runs/{run.pk}/"))
    assert planner_client.post(f"/data/runs/{run.pk}/undo/").status_code == 404


def test_an_undo_that_cannot_be_done_says_why(planner_client: Client, folder: Path, later: IngestRun) -> None:
    raw = IngestRun.objects.filter(source="skypilot").order_by("pk")[0].raw
    assert raw is not None
    (folder / "raw" / raw.sha256).unlink()
    answer = planner_client.post(f"/data/runs/{later.pk}/undo/")
    work_off()
    text = text_of(planner_client.get(answer["Location"]))
    assert "failed" in text
    assert "the stored bytes of every file that stays" in text
    assert prices() == {"3", "2.9"}


def test_an_unknown_run_has_nothing_to_take_back(planner_client: Client) -> None:
    assert planner_client.post("/data/runs/99999/undo/").status_code == 404
