"""Claims about uploads: what a file is taken for, what its check shows, and what is refused."""

import errno
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from costs.ingest import ingest
from costs.models import IngestRun, Job, Price, RawObject, Utilization
from costs.sources import SOURCES, aliases, list_prices, utilization_csv
from planner.source_words import FETCH_PARAMS, PARAM_HINTS, PARAM_LABELS, parameters
from tests.planner.data_pages import catalogue, line, load, text_of, work_off

HOUR = "2026-11-29T{hour:02d}:00:00Z,main,training,H100,64,60,55,8,0.61\n"
HEADER = utilization_csv.TEMPLATE.splitlines()[0] + "\n"
GOOD = HEADER + "".join(HOUR.format(hour=hour) for hour in range(5))
# line 3: more than all hours of use, line 4: no time
HALF_WRONG = (
    GOOD + "2026-11-29T07:00:00Z,main,training,H100,64,60,55,8,1.61\nyesterday,main,training,H100,1,1,1,1,\n"
)


@pytest.fixture
def planner(planner_client: Client, settings: Any, tmp_path: Path) -> Client:
    """A client of somebody who may load data."""
    settings.RAW_DIR = tmp_path / "raw"
    return planner_client


def send(
    client: Client, content: bytes | str, name: str = "use.csv", source: str = "utilization_csv", **more: str
):
    data = content.encode() if isinstance(content, str) else content
    file = SimpleUploadedFile(name, data, content_type="text/csv")
    return client.post("/data/upload/", {"source": source, "file": file, **more})


# the check and the import


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


# let the file say


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("anything.csv", GOOD, "utilization_csv"),
        ("anything.csv", aliases.TEMPLATE, "aliases"),
        ("skypilot_nebius_2026-01-02.csv.gz", gzip.compress(catalogue().encode(), mtime=0), "skypilot"),
    ],
)
def test_a_file_says_itself_what_it_is(planner: Client, name: str, content: Any, source: str) -> None:
    answer = send(planner, content, name, source="")
    job = Job.objects.get()
    assert answer["Location"] == f"/data/upload/{job.pk}/"
    assert (job.params["source"], job.params["params"]) == (source, {})
    assert f"read as {SOURCES[source].TITLE}" in text_of(planner.get(answer["Location"]))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("a,b\n1,2\n", "No source has this layout"),
        ("<!doctype html><html>", "the data themselves: this is a web page"),
        (b"PK\x03\x04rest", "not a zip archive or a workbook"),
        (b"\xff\xfe" + GOOD.encode("utf-16-le"), "save the file again as"),
        (b"", "The file is empty"),
        (gzip.compress(b"x", mtime=0), "a name that ends in .gz"),
    ],
)
def test_what_no_source_knows_is_refused_at_once_and_nothing_is_stored(
    planner: Client, content: Any, complaint: str
) -> None:
    answer = send(planner, content, source="")
    assert answer.status_code == 422
    assert complaint in text_of(answer)
    assert not Job.objects.exists()
    assert not RawObject.objects.exists()


@pytest.mark.django_db
def test_of_several_sources_a_person_chooses_one(planner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SOURCES["skypilot"], "looks_like", lambda head, name: True)
    answer = send(planner, GOOD, source="")
    assert answer.status_code == 422
    assert "It may be SkyPilot catalogue or Hourly use (CSV): choose one" in text_of(answer)
    body = answer.content.decode()
    assert "/data/upload/?source=skypilot" in body
    assert "/data/upload/?source=utilization_csv" in body
    assert send(planner, GOOD).status_code == 302


@pytest.mark.django_db
def test_a_layout_that_is_known_under_a_name_that_its_source_does_not_take(planner: Client) -> None:
    answer = send(planner, GOOD, "use.xlsx", source="")
    assert answer.status_code == 422
    assert "takes files that end in .csv or .csv.gz" in text_of(answer)


# what the file does not say


@pytest.mark.django_db
@pytest.mark.parametrize("source", [name for name, module in SOURCES.items() if module.SUFFIXES])
def test_each_source_asks_for_what_its_files_may_lack(planner: Client, source: str) -> None:
    body = planner.get(f"/data/upload/?source={source}").content.decode()
    asked = parameters(SOURCES[source], of_file=True)
    assert [name for name in PARAM_LABELS if f'name="{name}"' in body] == sorted(asked)
    assert not FETCH_PARAMS & set(asked)
    for name in SOURCES[source].PARAMS:
        assert name == "sample" or (PARAM_LABELS[name] and PARAM_HINTS[name]), name


@pytest.mark.django_db
def test_days_are_checked_by_the_form_and_told_as_iso(planner: Client) -> None:
    wrong = send(planner, "{}", "q.json", source="aws_quotas", as_of="yesterday")
    assert wrong.status_code == 422
    assert "Enter a valid date" in text_of(wrong)
    send(planner, "{}", "q.json", source="aws_quotas", as_of="2026-11-29", region="us-east-1")
    assert Job.objects.get().params["params"] == {"as_of": "2026-11-29", "region": "us-east-1"}


@pytest.mark.django_db
def test_an_address_with_a_source_that_takes_no_files_says_so(planner: Client) -> None:
    text = text_of(planner.get("/data/upload/?source=nothing&colour=red"))
    assert "No source “nothing” takes files" in text
    assert "“colour”" in text


# what looks wrong


@pytest.mark.django_db(transaction=True)
def test_a_check_shows_what_would_be_held_with_its_evidence(planner: Client, tmp_path: Path) -> None:
    load("accelerators")
    load("skypilot", catalogue(), "skypilot_nebius_2026-01-02.csv", tmp_path)
    jumped = catalogue(gpu1=line("gpu-1x-h100", "H100", 1, "24.00"), new=line("gpu-32x", "H100", 32, "96.00"))
    address = send(planner, jumped, "skypilot_nebius_2026-02-02.csv", source="")["Location"]
    work_off()
    text = text_of(planner.get(address))
    assert "add 2, change 0, leave 9 as they are, skip 0 lines, hold 1" in text
    assert "24 is 8.00 times the 3 USD that stood before" in text
    assert "asked after the import" in text
    assert "Nothing waits" in text_of(planner.get("/data/quarantine/"))
    imported = planner.post(f"{address}import/")
    work_off()
    assert "Decide" in text_of(planner.get(imported["Location"]))
    assert "1 record" in text_of(planner.get("/data/quarantine/"))
