"""Claims about the quarantine: what is listed, what the file holds, and what a decision does."""

import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from costs.models import IngestRun, Job, Price, QuarantinedFact
from tests.fact_builders import make_job, make_run
from tests.planner.data_pages import body_of, catalogue, line, load, rows_of, text_of, work_off

pytestmark = pytest.mark.django_db
JANUARY = "skypilot_nebius_2026-01-02.csv"
FEBRUARY = "skypilot_nebius_2026-02-02.csv"
# eight times what stood, and an offer for nothing
JUMP = {"gpu1": line("gpu-1x-h100", "H100", 1, "24.00")}
NOTHING = {"free": line("gpu-free", "H100", 1, "0")}


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.RAW_DIR = tmp_path / "raw"
    load("accelerators")
    load("skypilot", catalogue(), JANUARY, tmp_path)
    return tmp_path


@pytest.fixture
def jumped(folder: Path) -> IngestRun:
    """A run that holds two facts back: a jump of eight times, and a price of 0."""
    run = load("skypilot", catalogue(**JUMP, **NOTHING), FEBRUARY, folder)
    assert run.status == "partial"
    return run


def fact(rule: str) -> QuarantinedFact:
    return QuarantinedFact.objects.get(rule=rule, status="open")


def price_now() -> str:
    row = Price.objects.get(sku__name="gpu-1x-h100", effective_to=None, term="on_demand")
    return f"{row.price_per_hour.normalize():f}"


def decide(client: Client, action: str, *facts: QuarantinedFact, note: str = "they wrote to us", **more: str):
    data = {"action": action, "note": note, "fact": [str(each.pk) for each in facts], **more}
    return client.post("/data/quarantine/decide/", data)


# the list


def test_each_fact_stands_there_in_words_with_its_evidence(viewer_client: Client, jumped: IngestRun) -> None:
    text = text_of(viewer_client.get("/data/quarantine/"))
    assert "2 records" in text
    assert "nebius gpu-1x-h100, 1 × H100, eu-north1, on demand" in text
    assert "24 is 8.00 times the 3 USD that stood before" in text
    assert "price jump · 1" in text
    assert "zero price · 1" in text
    assert f"run {jumped.pk}" in text
    assert "waiting; nothing to release" in text  # a price of 0 is none


def test_filters_live_in_the_address_and_narrow_the_list(viewer_client: Client, jumped: IngestRun) -> None:
    text = text_of(viewer_client.get("/data/quarantine/?rule=price_jump"))
    assert "1 record" in text
    assert "zero price · 1" not in text
    assert "Nothing here" in text_of(viewer_client.get("/data/quarantine/?status=kept_out"))
    assert "No record fits" in text_of(viewer_client.get("/data/quarantine/?source=vantage"))
    other = make_run(status="partial")
    assert "No record fits" in text_of(viewer_client.get(f"/data/quarantine/?run={other.pk}"))


def test_defaults_leave_the_address_and_what_makes_no_sense_is_named(viewer_client: Client, db: None) -> None:
    answer = viewer_client.get("/data/quarantine/?status=open&rule=&source=&page=1")
    assert (answer.status_code, answer["Location"]) == (302, "/data/quarantine/")
    text = text_of(viewer_client.get("/data/quarantine/?status=odd&source=nothing&run=x&colour=red"))
    for part in ("No status “odd”", "No source “nothing”", "No run “x”", "“colour”"):
        assert part in text


def test_the_file_holds_the_list_in_its_order(viewer_client: Client, jumped: IngestRun) -> None:
    rows = rows_of(viewer_client, "/data/quarantine.csv")
    assert [(row["rule"], row["value"], row["line"]) for row in rows] == [
        ("price_jump", "24", "2"),
        ("zero_price", "0", "7"),
    ]
    assert (rows[0]["fact"], rows[0]["source_run"]) == (
        "nebius gpu-1x-h100, 1 × H100, eu-north1, on demand",
        str(jumped.pk),
    )
    page = viewer_client.get("/data/quarantine/").content.decode()
    assert [page.index(row["evidence"]) for row in rows] == sorted(
        page.index(row["evidence"]) for row in rows
    )
    one = json.loads(body_of(viewer_client, "/data/quarantine.json?rule=zero_price"))
    assert [row["rule"] for row in one["rows"]] == ["zero_price"]
    assert one["address"] == "/data/quarantine/?rule=zero_price"
    assert viewer_client.get("/data/quarantine.pdf").status_code == 404


def test_the_list_is_paged_and_counts_all(viewer_client: Client) -> None:
    run = make_run(source="skypilot", status="partial")
    QuarantinedFact.objects.bulk_create(
        QuarantinedFact(run=run, source="skypilot", line=n, key=f"line {n}", rule="zero_price", digest=f"{n}")
        for n in range(1, 61)
    )
    text = text_of(viewer_client.get("/data/quarantine/"))
    assert "60 records" in text
    assert "1–50 of 60" in text
    assert "51–60 of 60" in text_of(viewer_client.get("/data/quarantine/?page=2"))
    assert len(rows_of(viewer_client, "/data/quarantine.csv")) == 60


def test_the_count_of_queries_does_not_grow_with_the_facts(viewer_client: Client) -> None:
    run = make_run(source="skypilot", status="partial")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert viewer_client.get("/data/quarantine/").status_code == 200
        return len(captured)

    QuarantinedFact.objects.create(run=run, source="skypilot", key="k", rule="price_jump", digest="0")
    queries()
    before = queries()
    for n in range(1, 9):
        other = make_run(source=f"source{n}", status="partial")
        QuarantinedFact.objects.create(
            run=other, source=other.source, key="k", rule=f"rule{n}", digest=f"{n}"
        )
    assert queries() == before <= 15


def test_hostile_text_is_shown_as_text_and_cannot_run_in_a_spreadsheet(viewer_client: Client) -> None:
    run = make_run(source="skypilot", status="partial")
    QuarantinedFact.objects.create(
        run=run, source="skypilot", line=1, key="<script>alert(1)</script>", rule="<b>x</b>", digest="1",
        value="=cmd|x", evidence="<img src=x onerror=alert(1)>", note="\u202e",
    )  # fmt: skip
    body = viewer_client.get("/data/quarantine/").content.decode()
    assert "<script>alert" not in body
    assert "<img src=x" not in body
    assert "<b>x</b>" not in body
    assert rows_of(viewer_client, "/data/quarantine.csv")[0]["value"] == "'=cmd|x"


def test_what_a_check_found_is_no_question_yet(planner_client: Client, folder: Path) -> None:
    run = make_run(source="skypilot", status="previewed", job=make_job(kind="preview"))
    held = QuarantinedFact.objects.create(run=run, source="skypilot", line=1, key="k", rule="r", digest="1")
    assert "Nothing waits" in text_of(planner_client.get("/data/quarantine/"))
    text = text_of(planner_client.get(f"/data/quarantine/?status=any&run={run.pk}"))
    assert "of a check" in text
    answer = decide(planner_client, "release", held)
    assert answer.status_code == 422
    assert "only checked" in text_of(answer)


# decisions


def test_a_release_takes_the_file_again_and_the_price_is_in(
    planner_client: Client, jumped: IngestRun
) -> None:
    answer = decide(planner_client, "release", fact("price_jump"))
    assert (answer.status_code, answer["Location"]) == (302, "/data/quarantine/")
    text = text_of(planner_client.get("/data/quarantine/"))
    assert "1 released. Its file is taken again with that." in text
    assert f"Being taken again after a release: {FEBRUARY}" in text
    assert price_now() == "3"
    work_off()
    assert price_now() == "24"
    assert "zero price · 1" in text_of(planner_client.get("/data/quarantine/"))
    text = text_of(planner_client.get("/data/quarantine/?status=released"))
    assert "planner@example.com" in text
    assert "they wrote to us" in text


def test_what_is_kept_out_is_refused_in_a_later_file_and_stands_there_once(
    planner_client: Client, jumped: IngestRun, folder: Path
) -> None:
    decide(planner_client, "keep_out", fact("price_jump"), note="a typo of theirs")
    load("skypilot", catalogue(**JUMP), FEBRUARY.replace("02-02", "02-03"), folder)
    assert price_now() == "3"
    assert QuarantinedFact.objects.filter(status="kept_out").count() == 2  # each run has its record
    rows = rows_of(planner_client, "/data/quarantine.csv?status=kept_out")
    assert [(row["rule"], row["note"], row["decided_by"]) for row in rows] == [
        ("price_jump", "a typo of theirs", "planner@example.com")
    ]
    assert "price jump · 1" not in text_of(planner_client.get("/data/quarantine/"))


def test_a_list_held_as_a_whole_says_how_much_and_can_be_released(
    planner_client: Client, folder: Path
) -> None:
    few = {f"gpu{n}": "" for n in (1, 2, 4)}
    load("skypilot", catalogue(**few), FEBRUARY, folder)
    text = text_of(planner_client.get("/data/quarantine/"))
    assert "all of nebius" in text
    assert "4 facts, under half of the 10 before" in text
    decide(planner_client, "release", fact("scope_shrank"))
    work_off()
    now = Price.objects.filter(source="skypilot", effective_to=None, term="on_demand")
    assert set(now.values_list("sku__name", flat=True)) == {"gpu-8x-h100", "gpu-16x-h100"}


@pytest.mark.parametrize("note", ["", "   "])
def test_a_decision_without_a_note_changes_nothing_and_keeps_what_was_ticked(
    planner_client: Client, jumped: IngestRun, note: str
) -> None:
    held = fact("price_jump")
    answer = decide(planner_client, "release", held, note=note)
    assert answer.status_code == 422
    assert "Write a note: why is this right?" in text_of(answer)
    assert re.search(rf'value="{held.pk}"[^>]* checked', answer.content.decode())
    assert fact("price_jump") == held
    assert not Job.objects.exclude(status__in=Job.TERMINAL).exists()


def test_what_has_no_price_cannot_be_released_and_the_page_says_why(
    planner_client: Client, jumped: IngestRun
) -> None:
    answer = decide(planner_client, "release", fact("zero_price"), fact("price_jump"))
    assert answer.status_code == 422
    assert "no price can be read from it" in text_of(answer)
    assert fact("price_jump").status == "open"  # all or nothing


def test_a_decision_about_nothing_asks_for_a_line(planner_client: Client, jumped: IngestRun) -> None:
    answer = decide(planner_client, "keep_out")
    assert answer.status_code == 422
    assert "Tick at least one line" in text_of(answer)


@pytest.mark.parametrize("value", ["x", "1e9", "9" * 40, "-1"])
def test_a_line_that_is_no_number_is_refused(planner_client: Client, jumped: IngestRun, value: str) -> None:
    data = {"action": "keep_out", "note": "n", "fact": [value]}
    assert planner_client.post("/data/quarantine/decide/", data).status_code == 422


def test_a_line_that_is_gone_or_decided_is_refused(planner_client: Client, jumped: IngestRun) -> None:
    held = fact("price_jump")
    decide(planner_client, "release", held)
    answer = decide(planner_client, "keep_out", held)
    assert answer.status_code == 422
    assert "decided already" in text_of(answer)
    data = {"action": "keep_out", "note": "n", "fact": ["999999"]}
    assert planner_client.post("/data/quarantine/decide/", data).status_code == 422


def test_all_that_match_can_be_decided_at_once_if_the_list_is_still_the_one_shown(
    planner_client: Client, jumped: IngestRun
) -> None:
    stale = decide(planner_client, "keep_out", everything="1", expected="1")
    assert stale.status_code == 422
    assert "The list has changed: 2 match now" in text_of(stale)
    done = decide(planner_client, "keep_out", everything="1", expected="1", rule="price_jump")
    assert done["Location"] == "/data/quarantine/?rule=price_jump"
    assert fact("zero_price").status == "open"
    assert QuarantinedFact.objects.get(rule="price_jump").status == "kept_out"


def test_who_may_only_look_finds_no_button_and_may_press_none(
    viewer_client: Client, jumped: IngestRun
) -> None:
    body = viewer_client.get("/data/quarantine/").content.decode()
    assert "Release" not in body.split("<main")[1].split("A released fact")[0]
    assert decide(viewer_client, "release", fact("price_jump")).status_code == 403
    assert fact("price_jump").status == "open"


def test_a_run_shows_what_it_holds_back_and_leads_to_the_decision(
    planner_client: Client, jumped: IngestRun
) -> None:
    answer = planner_client.get(f"/data/runs/{jumped.pk}/")
    text = text_of(answer)
    assert "Which facts look wrong?" in text
    assert "24 is 8.00 times the 3 USD that stood before" in text
    assert f"/data/quarantine/?run={jumped.pk}" in answer.content.decode()
    assert "lines in quarantine 2" in text
