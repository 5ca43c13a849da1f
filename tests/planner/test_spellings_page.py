"""Claims about GPU names that no table knows: where they stand, what maps them, and what reads them again."""

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from costs.models import Alias, IngestRun, Job, Price, RejectedRow
from tests.fact_builders import make_accelerator, make_run
from tests.planner.data_pages import catalogue, line, load, rows_of, text_of, work_off

pytestmark = pytest.mark.django_db
NAME = "skypilot_nebius_2026-01-02.csv"
WARP = {"warp": line("warp-8x", "Warp9 <b>", 8, "24.00"), "warp1": line("warp-1x", "Warp9 <b>", 1, "3.00")}
RULE = "accelerator_unknown"


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.RAW_DIR = tmp_path / "raw"
    load("accelerators")
    return tmp_path


@pytest.fixture
def refused(folder: Path) -> IngestRun:
    """A run with two lines of a GPU that nobody knows."""
    run = load("skypilot", catalogue(**WARP), NAME, folder)
    assert run.rejected_by_rule[RULE] == 2
    return run


def add(client: Client, accelerator: str, spelling: str = "Warp9 <b>", note: str = "their own word"):
    return client.post(
        "/data/spellings/add/", {"spelling": spelling, "accelerator": accelerator, "note": note}
    )


def sold() -> set[str]:
    return set(Price.objects.filter(effective_to=None).values_list("sku__name", flat=True))


def test_a_name_stands_there_with_its_lines_an_example_and_the_file(
    viewer_client: Client, refused: IngestRun
) -> None:
    answer = viewer_client.get("/data/spellings/")
    text = text_of(answer)
    assert "1 name without a GPU" in text
    assert f"Warp9 <b> 2 SkyPilot catalogue: {NAME} , line 7 and 1 more" in text
    assert "Warp9 <b>" not in answer.content.decode()
    row = rows_of(viewer_client, "/data/spellings.csv")
    assert [(each["name"], each["lines"], each["first_line"], each["source_run"]) for each in row] == [
        ("Warp9 <b>", "2", "7", str(refused.pk))
    ]
    assert "1 GPU name is unknown here" in text_of(viewer_client.get("/data/"))


def test_a_name_is_mapped_its_file_is_read_again_and_its_lines_are_in(
    planner_client: Client, refused: IngestRun
) -> None:
    answer = add(planner_client, "H100")
    assert (answer.status_code, answer["Location"]) == (302, "/data/spellings/")
    job = Job.objects.get(kind="ingest", params__source="aliases")
    assert (job.requested_by, job.status) == ("planner@example.com", "queued")
    assert "Names on their way into the table" in text_of(planner_client.get("/data/spellings/"))
    work_off()
    alias = Alias.objects.get()
    assert (alias.spelling, alias.accelerator, alias.note) == (
        "Warp9 <b>",
        "h100-sxm-80gb",
        "their own word",
    )
    text = text_of(planner_client.get("/data/spellings/"))
    assert "1 name is known now, and its lines are still out" in text
    assert "Warp9 <b> = h100-sxm-80gb" in text
    assert "warp-8x" not in sold()
    started = planner_client.post("/data/spellings/read-again/")
    work_off()
    assert "done" in text_of(planner_client.get(started["Location"]))
    assert {"warp-8x", "warp-1x"} <= sold()
    assert "Every name is known" in text_of(planner_client.get("/data/spellings/"))


@pytest.mark.parametrize("typed", ["h100-sxm-80gb", "NVIDIA H100 SXM5 80 GB", "h100 sxm", "H100"])
def test_a_gpu_is_chosen_by_its_name_or_its_slug(planner_client: Client, folder: Path, typed: str) -> None:
    assert add(planner_client, typed).status_code == 302


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"accelerator": "H9000"}, "No GPU of the table has this name"),
        ({"accelerator": ""}, "This field is required"),
        ({"accelerator": "h100-sxm-80gb", "spelling": " - "}, "A name with letters or digits"),
        ({"accelerator": "h100-sxm-80gb", "spelling": "x" * 81}, "at most 80 characters"),
        ({"accelerator": "h100-sxm-80gb", "spelling": "a\u202eb"}, "printable characters"),
    ],
)
def test_what_means_nothing_is_refused_and_nothing_is_queued(
    planner_client: Client, folder: Path, fields: dict[str, str], complaint: str
) -> None:
    answer = add(planner_client, **fields)
    assert answer.status_code == 422
    assert complaint in text_of(answer)
    assert not Job.objects.filter(params__source="aliases", params__raw__isnull=False).exists()


def test_a_new_gpu_is_a_row_and_makes_its_name_known(planner_client: Client, refused: IngestRun) -> None:
    assert "A new GPU is a row, not a release" in text_of(planner_client.get("/data/spellings/"))
    make_accelerator(slug="warp-9", name="Warp 9", aliases=["Warp9 <b>"])
    text = text_of(planner_client.get("/data/spellings/"))
    assert "Warp9 <b> = warp-9" in text


def test_a_later_list_without_the_name_ends_the_question(
    viewer_client: Client, refused: IngestRun, folder: Path
) -> None:
    load("skypilot", catalogue(), NAME.replace("01-02", "02-02"), folder)
    assert "Every name is known" in text_of(viewer_client.get("/data/spellings/"))


def test_reading_again_without_a_known_name_says_that_there_is_none(
    planner_client: Client, refused: IngestRun
) -> None:
    before = Job.objects.count()
    answer = planner_client.post("/data/spellings/read-again/")
    assert answer["Location"] == "/data/spellings/"
    assert "There is no file to read again" in text_of(planner_client.get("/data/spellings/"))
    assert Job.objects.count() == before


def test_a_file_whose_bytes_are_gone_is_named_as_such(planner_client: Client, refused: IngestRun) -> None:
    IngestRun.objects.filter(pk=refused.pk).update(raw=None)
    make_accelerator(slug="warp-9", name="Warp 9", aliases=["Warp9 <b>"])
    planner_client.post("/data/spellings/read-again/")
    assert "upload them again" in text_of(planner_client.get("/data/spellings/"))


def test_who_may_only_look_finds_no_form_and_may_press_none(
    viewer_client: Client, refused: IngestRun
) -> None:
    assert "name-form" not in viewer_client.get("/data/spellings/").content.decode()
    assert add(viewer_client, "H100").status_code == 403
    assert viewer_client.post("/data/spellings/read-again/").status_code == 403


def test_the_count_of_queries_does_not_grow_with_the_names(viewer_client: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert viewer_client.get("/data/spellings/").status_code == 200
        return len(captured)

    def refuse(name: str) -> None:
        run = make_run(
            source="gpu_offerings", origin=f"{name}.json", status="partial", rejected_by_rule={RULE: 1}
        )
        IngestRun.objects.filter(pk=run.pk).update(started_at=run.job.created_at)
        RejectedRow.objects.create(
            run=run, kind="wrong", line=1, column="accelerator_name", value=name, rule=RULE, expected="e"
        )

    refuse("first")
    queries()
    before = queries()
    for number in range(6):
        refuse(f"name {number}")
    assert queries() == before <= 16
