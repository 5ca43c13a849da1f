"""Claims about the data pages: freshness, runs, uploads with their check, and what is refused."""

import csv
import errno
import gzip
import io
import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from costs import jobs
from costs.ingest import ingest
from costs.models import IngestRun, Job, Price, RawObject, RejectedRow, Utilization
from costs.sources import SOURCES, list_prices, utilization_csv
from planner.models import Person
from tests.fact_builders import make_batch, make_job, make_run

HOUR = "2026-11-29T{hour:02d}:00:00Z,main,training,H100,64,60,55,8,0.61\n"
HEADER = utilization_csv.TEMPLATE.splitlines()[0] + "\n"
GOOD = HEADER + "".join(HOUR.format(hour=hour) for hour in range(5))
# line 3: more than all hours of use, line 4: no time
HALF_WRONG = (
    GOOD + "2026-11-29T07:00:00Z,main,training,H100,64,60,55,8,1.61\nyesterday,main,training,H100,1,1,1,1,\n"
)


@pytest.fixture
def raw_folder(settings, tmp_path):
    settings.RAW_DIR = tmp_path / "raw"


@pytest.fixture
def planner(client, raw_folder):
    """A client of somebody who may load data."""
    client.force_login(Person.objects.create_user("planner@example.com", role="planner"))
    return client


@pytest.fixture
def viewer(client):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    return client


def text_of(response) -> str:
    body = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"\s+", " ", unescape(body)).replace("\u00a0", " ")


def send(client, content: bytes | str, name: str = "use.csv", source: str = "utilization_csv", **fields):
    data = content.encode() if isinstance(content, str) else content
    file = SimpleUploadedFile(name, data, content_type="text/csv")
    return client.post("/data/upload/", {"source": source, "file": file, **fields})


def work_off() -> None:
    """Do all queued jobs, as a worker does."""
    while claim := jobs.claim():
        jobs.run(claim)


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
    rows = {row["source"]: row for row in csv.DictReader(io.StringIO(body_of(viewer, "/data.csv")))}
    assert list(rows) == list(SOURCES)
    late = rows["skypilot"]
    assert (late["state"], late["rows"], late["age_hours"]) == ("late", "12345", "216")
    assert (rows["aws_prices"]["state"], rows["aws_prices"]["age_hours"]) == ("never", "")
    in_json = json.loads(body_of(viewer, "/data.json"))["rows"]
    assert [row["state"] for row in in_json] == [row["state"] for row in rows.values()]
    assert viewer.get("/data.pdf").status_code == 404


def body_of(client, address):
    return b"".join(client.get(address).streaming_content).decode()


@pytest.mark.django_db
def test_a_viewer_sees_no_button_and_may_press_none(viewer):
    body = viewer.get("/data/").content.decode()
    assert "Run now" not in body
    assert "/data/upload/" not in body
    job = make_job(status="queued")
    for address in (
        "/data/list_prices/run/",
        f"/data/jobs/{job.pk}/cancel/",
        f"/data/upload/{job.pk}/import/",
    ):
        assert viewer.post(address).status_code == 403
    assert viewer.get("/data/upload/").status_code == 403
    assert send(viewer, GOOD).status_code == 403
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
    assert queries() == before <= 14


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
@pytest.mark.parametrize("status", ["done", "duplicate", "failed", "cancelled"])
def test_polling_ends_with_the_job(viewer, status):
    run = make_run(job=make_job(status=status), status=status)
    page = viewer.get(f"/data/runs/{run.pk}/")
    assert "hx-trigger" not in page.content.decode().split('id="run"')[1]
    assert viewer.get(f"/data/runs/{run.pk}/", headers={"HX-Request": "true"}).status_code == 286


@pytest.mark.django_db(transaction=True)
def test_a_failed_run_says_file_line_column_value_and_what_would_be_right(planner):
    send(planner, HEADER + HOUR.format(hour=1) + '2026-11-29T02:00:00Z,main,"training', name="half.csv")
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


# uploads


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_checked_shown_and_then_imported(planner):
    answer = send(planner, HALF_WRONG)
    job = Job.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/data/upload/{job.pk}/")
    assert job.kind == "preview"
    assert "waiting for a worker" in text_of(planner.get(answer["Location"]))
    work_off()
    assert not Utilization.objects.exists()
    page = planner.get(answer["Location"])
    text = text_of(page)
    assert "add 5, change 0, leave 0 as they are, skip 2 lines" in text
    assert "active_share" in text
    assert "1.61" in text
    assert "First rows as they were read 5 of 5" in text
    started = planner.post(f"/data/upload/{job.pk}/import/")
    again = planner.post(f"/data/upload/{job.pk}/import/")
    assert started["Location"] == again["Location"]
    work_off()
    assert Utilization.objects.count() == 5
    text = text_of(planner.get(started["Location"]))
    assert "partly taken" in text
    assert "rows added 5" in text
    assert "See the import" in text_of(planner.get(answer["Location"]))


@pytest.mark.django_db(transaction=True)
def test_importing_what_is_there_already_changes_nothing(planner):
    for _ in range(2):
        job = Job.objects.get(pk=int(send(planner, GOOD)["Location"].split("/")[-2]))
        work_off()
        planner.post(f"/data/upload/{job.pk}/import/")
        work_off()
    assert Utilization.objects.count() == 5
    assert Job.objects.order_by("pk").last().status == "duplicate"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("<!doctype html><html><body>Log in</body></html>", "use.csv"),
        ("a,b\n1,2\n", "use.csv"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-9], "use.csv.gz"),
        (b"\xff\xfe" + GOOD.encode("utf-16-le"), "use.csv"),
        ("x" * 3_000_000, "use.csv"),
    ],
)
def test_a_file_that_is_not_what_it_says_ends_as_a_failed_check_with_its_reason(planner, content, name):
    address = send(planner, content, name)["Location"]
    work_off()
    run = IngestRun.objects.get()
    text = text_of(planner.get(address))
    if run.status == "failed":
        assert "The file was not taken" in text
        assert "What would be right" in text
        assert "Import" not in text.split("Choose another file")[0].split("Check")[-1]
        assert planner.post(f"{address}import/").status_code == 404
    else:  # UTF-16 with its mark can be read
        assert (name, run.status, run.facts) == ("use.csv", "previewed", 5)
    assert not Utilization.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": "use.xlsx"}, "takes files that end in .csv or .csv.gz"),
        ({"content": b""}, "The file is empty."),
        ({"source": "nothing"}, "Select a valid choice"),
        ({"source": "skypilot", "provider": "a\x00b"}, "Null characters"),
        ({"source": "skypilot", "provider": "=cmd|x"}, "Letters, digits"),
        ({"cluster": "x" * 81}, "at most 80 characters"),
    ],
)
def test_a_form_that_is_wrong_says_so_at_the_field_and_stores_nothing(planner, fields, complaint):
    response = send(planner, **{"content": GOOD} | fields)
    assert response.status_code == 422
    assert complaint in text_of(response)
    assert not Job.objects.exists()
    assert not RawObject.objects.exists()


@pytest.mark.django_db
def test_a_form_without_a_file_asks_for_one(planner):
    response = planner.post("/data/upload/", {"source": "utilization_csv"})
    assert response.status_code == 422
    assert "This field is required" in text_of(response)


@pytest.mark.django_db
def test_a_file_over_the_limit_is_refused_with_the_limit_and_a_way_out(planner, settings):
    settings.UPLOAD_MAX_BYTES = 100_000
    response = send(planner, b"x" * 300_000)
    assert response.status_code == 422
    text = text_of(response)
    assert "larger than 97.7 KB" in text
    assert "required" not in text
    assert "manage.py ingest" in text
    assert not RawObject.objects.exists()


@pytest.mark.django_db
def test_a_full_disk_is_said_at_the_file(planner, settings, monkeypatch):
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("costs.raw.os.fsync", full)
    response = send(planner, "a,b\n")
    assert response.status_code == 422
    assert "No space left on device" in text_of(response)
    assert not Job.objects.exists()
    assert not RawObject.objects.exists()
    assert not list(Path(settings.RAW_DIR).iterdir())


@pytest.mark.django_db
def test_what_is_said_beside_the_file_reaches_the_parser(planner):
    content = SOURCES["skypilot"].TEMPLATE
    send(
        planner,
        content,
        name="../../etc/catalogue.csv",
        source="skypilot",
        provider="lambda",
        cluster="ignored",
    )
    job = Job.objects.get()
    assert job.params["params"] == {"provider": "lambda"}
    assert job.params["name"] == "catalogue.csv"
    assert json.loads(json.dumps(job.params))["raw"] == RawObject.objects.get().sha256


@pytest.mark.django_db
@pytest.mark.parametrize("source", [name for name, module in SOURCES.items() if module.TEMPLATE])
def test_a_template_can_be_had_and_names_the_columns(viewer, source):
    response = viewer.get(f"/data/{source}/template.csv")
    assert (
        response["Content-Disposition"] == f'attachment; filename="{source.replace("_", "_")}_template.csv"'
    )
    assert response.content.decode() == SOURCES[source].TEMPLATE
    assert viewer.get("/data/nothing/template.csv").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_last_good_prices_stay_when_a_later_file_fails(planner, tmp_path):
    now = timezone.now()
    for source in ("accelerators", "list_prices"):
        ingest(source, file=None, name="", params={}, requested_by="test", now=now)
    before = Price.objects.filter(effective_to=None).count()
    broken = list_prices.TEMPLATE.splitlines()[0] + "\nexample,x,h100-sxm-80gb,8,r,,on_demand,,NaN,priced\n"
    path = Path(tmp_path / "broken.csv")
    path.write_text(broken)
    run = ingest("list_prices", file=path, name="broken.csv", params={}, requested_by="test", now=now)
    assert run.status in {"failed", "partial"}
    assert Price.objects.filter(effective_to=None).count() == before > 0
