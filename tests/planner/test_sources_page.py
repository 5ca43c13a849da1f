"""Claims about the pages of sources and runs: freshness, filters, what waits, what ran, what was refused."""

import csv
import io
import json
import re
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from costs.models import IngestRun, Job, Price, QuarantinedFact, RejectedRow
from costs.sources import SOURCES, utilization_csv
from planner import run_page
from planner.source_words import KINDS, area_of
from tests.fact_builders import make_batch, make_hours, make_job, make_run
from tests.planner.data_pages import body_of, rows_of, text_of, work_off

HEADER = utilization_csv.TEMPLATE.splitlines()[0] + "\n"
HOUR = "2026-11-29T{hour:02d}:00:00Z,main,training,H100,64,60,55,8,0.61\n"


@pytest.fixture
def planner(planner_client: Client, settings: Any, tmp_path: Path) -> Client:
    """A client of somebody who may load data."""
    settings.RAW_DIR = tmp_path / "raw"
    return planner_client


@pytest.fixture
def viewer(viewer_client: Client) -> Client:
    return viewer_client


def send(client: Client, content: str, name: str = "use.csv"):
    file = SimpleUploadedFile(name, content.encode(), content_type="text/csv")
    return client.post("/data/upload/", {"source": "utilization_csv", "file": file})


def shown(client: Client, address: str) -> list[str]:
    """Return the names of the sources on the page, in its order."""
    return re.findall(r'<tr id="([a-z_]+)"', client.get(address).content.decode())


# sources


@pytest.mark.django_db
def test_every_source_is_listed_with_state_in_words(viewer):
    make_batch(source="skypilot", as_of=timezone.now() - timedelta(days=9), rows=12_345)
    make_batch(source="list_prices", as_of=timezone.now())
    text = text_of(viewer.get("/data/"))
    assert "1 of 2 sources with data are fresh" in text
    for source in SOURCES.values():
        assert source.TITLE in text
    assert "late, 9 d old" in text
    assert "12,345" in text
    assert "never" in text


@pytest.mark.django_db
def test_the_file_of_sources_says_what_the_page_says(viewer):
    make_batch(source="skypilot", as_of=timezone.now() - timedelta(days=9), rows=12_345)
    rows = {row["source"]: row for row in rows_of(viewer, "/data.csv")}
    assert list(rows) == shown(viewer, "/data/")
    assert set(rows) == set(SOURCES)
    late = rows["skypilot"]
    assert (late["state"], late["rows"], late["age_hours"]) == ("late", "12345", "216")
    assert (rows["aws_prices"]["state"], rows["aws_prices"]["age_hours"]) == ("never", "")
    in_json = json.loads(body_of(viewer, "/data.json"))["rows"]
    assert [row["state"] for row in in_json] == [row["state"] for row in rows.values()]
    assert viewer.get("/data.pdf").status_code == 404


@pytest.mark.django_db
def test_sources_with_data_or_runs_come_first_and_the_others_are_folded(viewer):
    make_batch(source="skypilot", as_of=timezone.now())
    make_run(source="ecb_rates", status="failed")
    page = viewer.get("/data/")
    assert shown(viewer, "/data/")[:2] == ["ecb_rates", "skypilot"]
    assert f"{len(SOURCES) - 2} more sources never used" in text_of(page)
    assert '<details class="card unused">' in page.content.decode()
    names = shown(viewer, "/data/")[2:]
    areas = [area_of(SOURCES[name].KIND) for name in names]
    assert len([area for area, _ in groupby(areas)]) == len(set(areas))  # each area stands together


@pytest.mark.django_db
def test_three_ways_to_begin_are_offered_until_more_than_the_bundled_tables_is_there(planner):
    ways = ("Load price lists", "Upload your own", "Look around with sample data")
    make_batch(source="list_prices")
    make_batch(source="accelerators")
    text = text_of(planner.get("/data/"))
    assert all(way in text for way in ways)
    assert "Remove all sample data" not in text
    make_hours(
        1, timezone.now(), make_batch(source="utilization_csv", params={"sample": "1"}), is_sample=True
    )
    assert "Remove all sample data" in text_of(planner.get("/data/"))
    make_run(source="skypilot", status="failed")
    assert "Load price lists" not in text_of(planner.get("/data/"))


@pytest.mark.django_db
def test_a_source_without_a_key_says_which_and_what_it_unlocks(viewer):
    text = text_of(viewer.get("/data/"))
    assert f"needs {SOURCES['aws_quotas'].NEEDS}" in text
    make_run(source="aws_quotas", status="failed")
    assert f"needs {SOURCES['aws_quotas'].NEEDS}" in text_of(viewer.get("/data/?state=never"))
    make_batch(source="aws_quotas", as_of=timezone.now())
    assert f"needs {SOURCES['aws_quotas'].NEEDS}" not in text_of(viewer.get("/data/"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("kind=quotas", lambda name: SOURCES[name].KIND == "quotas"),
        ("state=late", lambda name: name == "skypilot"),
        ("kind=prices&state=never", lambda name: SOURCES[name].KIND == "prices" and name != "skypilot"),
        ("source=azure", lambda name: "azure" in SOURCES[name].TITLE.casefold()),
        ("source=google+history", lambda name: name == "gcp_price_history"),
        ("kind=zones&state=late", lambda name: False),
    ],
)
def test_filters_live_in_the_address_and_narrow_page_and_file_alike(viewer, query, holds):
    make_batch(source="skypilot", as_of=timezone.now() - timedelta(days=9))
    names = shown(viewer, f"/data/?{query}")
    assert set(names) == {name for name in SOURCES if holds(name)}
    assert [row["source"] for row in rows_of(viewer, f"/data.csv?{query}")] == names
    if not names:
        assert "No source fits" in text_of(viewer.get(f"/data/?{query}"))


@pytest.mark.django_db
def test_empty_filters_leave_the_address_and_what_makes_no_sense_is_named(viewer):
    answer = viewer.get("/data/?kind=&state=&source=+azure++prices+")
    assert (answer.status_code, answer["Location"]) == (302, "/data/?source=azure+prices")
    text = text_of(viewer.get("/data/?kind=shoes&state=old"))
    assert "No kind “shoes”" in text
    assert "No state “old”; there are fresh, late, stale, never" in text


@pytest.mark.django_db
def test_what_waits_for_a_decision_is_counted_by_source_and_leads_to_it(viewer):
    make_batch(source="skypilot")
    run = make_run(source="skypilot", status="partial")
    for number in range(3):
        QuarantinedFact.objects.create(run=run, source="skypilot", key="k", rule="r", digest=f"{number}")
    check = make_run(source="skypilot", status="previewed")
    QuarantinedFact.objects.create(run=check, source="skypilot", key="k", rule="r", digest="4")
    page = viewer.get("/data/")
    assert "3 facts look wrong and wait for a decision" in text_of(page)
    assert '<a href="/data/quarantine/?source=skypilot"' in page.content.decode()
    assert {row["source"]: row["quarantined"] for row in rows_of(viewer, "/data.csv")}["skypilot"] == "3"
    assert "What waits for a decision? 3 r" in text_of(viewer.get("/data/skypilot/"))


@pytest.mark.django_db
def test_every_kind_of_fact_has_a_word_and_a_heading():
    for source in SOURCES.values():
        assert source.KIND in KINDS
        assert area_of(source.KIND) != "Other"


# one source


@pytest.mark.django_db
@pytest.mark.parametrize("source", list(SOURCES))
def test_each_source_has_a_page_that_says_what_it_is_and_needs(viewer, source):
    module = SOURCES[source]
    text = text_of(viewer.get(f"/data/{source}/"))
    assert module.TITLE in text
    assert "What is it?" in text
    assert " ".join(module.NEEDS.split()) in text
    assert all(right in text for right in module.RIGHTS)
    assert "No run yet" in text


@pytest.mark.django_db
def test_the_runs_of_a_source_are_paged_and_the_queries_stay(viewer):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert viewer.get("/data/skypilot/").status_code == 200
        return len(captured)

    make_run(source="skypilot")
    queries()
    before = queries()
    for _ in range(30):
        make_run(source="skypilot", job=make_job(requested_by="ann@example.com"))
    make_run(source="vantage")
    assert queries() == before <= 18
    text = text_of(viewer.get("/data/skypilot/"))
    assert "31 runs, newest first" in text
    assert "1–25 of 31" in text
    assert "26–31 of 31" in text_of(viewer.get("/data/skypilot/?page=2"))
    assert "ann@example.com" in text


@pytest.mark.django_db
def test_stale_data_are_said_to_be_so_on_the_page_of_their_source(viewer):
    make_batch(source="skypilot", as_of=timezone.now() - timedelta(days=15))
    text = text_of(viewer.get("/data/skypilot/"))
    assert "stale, 15 d old" in text
    assert "more than twice as old as they should be" in text


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/data/nothing/", "/data/quarantines/", "/data/run/"])
def test_what_is_no_source_is_not_found(viewer, address):
    assert viewer.get(address).status_code == 404


@pytest.mark.django_db
def test_a_viewer_sees_no_button_and_may_press_none(viewer):
    body = viewer.get("/data/").content.decode()
    assert "/run/" not in body
    assert "/data/upload/" not in body
    assert "/data/load-price-lists/" not in body
    job = make_job(status="queued")
    for address in (
        "/data/list_prices/run/",
        f"/data/jobs/{job.pk}/cancel/",
        f"/data/upload/{job.pk}/import/",
    ):
        assert viewer.post(address).status_code == 403
    assert viewer.get("/data/upload/").status_code == 403
    assert send(viewer, HEADER).status_code == 403
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_the_count_of_queries_does_not_grow_with_runs(viewer):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert viewer.get("/data/").status_code == 200
        return len(captured)

    make_run(source="skypilot")
    queries()
    before = queries()
    for _ in range(10):
        make_run(source="skypilot")
        make_batch(source="skypilot")
    assert queries() == before <= 16


@pytest.mark.django_db(transaction=True)
def test_run_now_queues_one_job_and_leads_to_its_page(planner):
    first = planner.post("/data/accelerators/run/")
    second = planner.post("/data/accelerators/run/")
    job = Job.objects.get()
    assert first["Location"] == second["Location"] == f"/data/jobs/{job.pk}/"
    assert (job.kind, job.requested_by, job.params["raw"]) == ("ingest", "planner@example.com", None)
    work_off()
    text = text_of(planner.get(first["Location"]))
    assert "done" in text
    assert "rows added" in text


@pytest.mark.django_db
@pytest.mark.parametrize("source", ["skypilot", "utilization_csv", "nothing"])
def test_there_is_nothing_to_run_where_nothing_is_fetched(planner, source):
    assert planner.post(f"/data/{source}/run/").status_code == 404


# runs


@pytest.mark.django_db
def test_a_job_that_waits_says_so_and_names_a_missing_worker(viewer):
    job = make_job(status="queued", created_at=timezone.now(), run_after=timezone.now())
    assert "queued waiting for a worker" in text_of(viewer.get(f"/data/jobs/{job.pk}/"))
    old = timezone.now() - timedelta(minutes=5)
    Job.objects.update(created_at=old, run_after=old)
    assert "No worker has taken this job yet" in text_of(viewer.get(f"/data/jobs/{job.pk}/"))


@pytest.mark.django_db
def test_a_running_job_shows_lines_done_of_expected_and_polls(viewer):
    job = make_job(status="running", phase="stage", done_units=250, total_units=1000)
    run = make_run(job=job, status="running", lines_read=500)
    page = viewer.get(f"/data/runs/{run.pk}/")
    assert "reading lines: 500 lines of about 2,000" in text_of(page)
    assert 'hx-trigger="every 1s"' in page.content.decode()
    part = viewer.get(f"/data/runs/{run.pk}/", headers={"HX-Request": "true"})
    assert part.status_code == 200
    assert "<html" not in part.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("passed", "attempts", "told"),
    [
        (10, 1, "reading lines: 500 lines of about 2,000, 50 a second, about 30 s left"),
        (2, 1, "reading lines: 500 lines of about 2,000"),  # too soon to tell
        (10, 2, "reading lines: 500 lines of about 2,000"),  # when this attempt began is not known
    ],
)
def test_a_running_job_tells_its_pace_once_it_can_be_told(passed, attempts, told):
    now = timezone.now()
    job = make_job(status="running", phase="stage", done_units=250, total_units=1000, attempts=attempts)
    run = make_run(job=job, status="running", lines_read=500, started_at=now - timedelta(seconds=passed))
    assert run_page.progress(job, run, now).text == told


@pytest.mark.django_db
def test_a_run_says_how_long_it_took_and_where_unknown_names_are_mapped(viewer):
    run = make_run(source="skypilot", status="partial", rejected_by_rule={"accelerator_unknown": 1})
    IngestRun.objects.filter(pk=run.pk).update(finished_at=run.started_at + timedelta(seconds=75))
    RejectedRow.objects.create(run=run, kind="wrong", line=2, rule="accelerator_unknown", expected="e")
    page = viewer.get(f"/data/runs/{run.pk}/")
    assert "took 1 min 15 s" in text_of(page)
    assert 'href="/data/spellings/"' in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["done", "duplicate", "failed", "cancelled"])
def test_polling_ends_with_the_job(viewer, status):
    run = make_run(job=make_job(status=status), status=status)
    page = viewer.get(f"/data/runs/{run.pk}/")
    assert "hx-trigger" not in page.content.decode().split('id="run"')[1]
    assert viewer.get(f"/data/runs/{run.pk}/", headers={"HX-Request": "true"}).status_code == 286


@pytest.mark.django_db(transaction=True)
def test_a_failed_run_says_file_line_column_value_and_what_would_be_right(planner):
    send(planner, HEADER + HOUR.format(hour=1) + '2026-11-29T02:00:00Z,main,"training', "half.csv")
    work_off()
    run = IngestRun.objects.get()
    text = text_of(planner.get(f"/data/runs/{run.pk}/"))
    assert run.status == "failed"
    assert "The file was not taken; nothing of it is stored." in text
    assert "File half.csv" in text
    assert "Line 3" in text
    assert f"What would be right {run.error['expected']}" in text


@pytest.mark.django_db
def test_rejected_lines_are_listed_and_can_be_had_as_a_file(viewer):
    run = make_run(status="partial", rejected_by_rule={"price_out_of_bounds": 60})
    wrong = {"kind": "wrong", "column": "Price", "value": "=-1", "rule": "price_out_of_bounds"}
    RejectedRow.objects.bulk_create(
        RejectedRow(run=run, line=line, expected="above 0", **wrong) for line in range(2, 62)
    )
    text = text_of(viewer.get(f"/data/runs/{run.pk}/"))
    assert "60 price_out_of_bounds" in text
    assert "1–50 of 60" in text
    assert "51–60 of 60" in text_of(viewer.get(f"/data/runs/{run.pk}/?page=2"))
    content = b"".join(viewer.get(f"/data/runs/{run.pk}/rejected.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [int(row["line"]) for row in rows] == list(range(2, 62))
    assert (rows[0]["value"], rows[0]["expected"], rows[0]["rule"]) == (
        "'=-1",
        "above 0",
        "price_out_of_bounds",
    )


@pytest.mark.django_db
def test_hostile_text_of_a_file_is_shown_as_text(viewer):
    error = {"line": 1, "column": "<b>", "value": "<img src=x>", "rule": "x", "expected": "y"}
    run = make_run(
        origin="<script>alert(1)</script>\u202e.csv",
        status="failed",
        error_code="x",
        job=make_job(status="failed"),
        error=error,
    )
    RejectedRow.objects.create(run=run, kind="wrong", line=1, value="<script>", rule="r", expected="e")
    for address in (f"/data/runs/{run.pk}/", "/data/"):
        body = viewer.get(address).content.decode()
        assert "<script>alert" not in body
        assert "<img src=x" not in body


@pytest.mark.django_db
def test_unknown_runs_jobs_and_parameters(viewer):
    assert viewer.get("/data/runs/99999/").status_code == 404
    assert viewer.get("/data/jobs/99999/").status_code == 404
    assert viewer.get("/data/runs/99999/rejected.csv").status_code == 404
    assert "“odd”" in text_of(viewer.get("/data/?odd=1"))


@pytest.mark.django_db(transaction=True)
def test_a_job_that_waits_can_be_cancelled(planner):
    planner.post("/data/list_prices/run/")
    job = Job.objects.get()
    planner.post(f"/data/jobs/{job.pk}/cancel/")
    work_off()
    assert "cancelled" in text_of(planner.get(f"/data/jobs/{job.pk}/"))
    assert not Price.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("source", [name for name, module in SOURCES.items() if module.TEMPLATE])
def test_a_template_can_be_had_and_names_the_columns(viewer, source):
    response = viewer.get(f"/data/{source}/template.csv")
    assert (
        response["Content-Disposition"] == f'attachment; filename="{source.replace("_", "_")}_template.csv"'
    )
    assert response.content.decode() == SOURCES[source].TEMPLATE
    assert viewer.get("/data/nothing/template.csv").status_code == 404
