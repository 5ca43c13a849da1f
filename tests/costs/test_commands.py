"""The shell's doors: what they print, and with which number they end."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from costs import jobs
from costs.models import Alias, IngestRun, Job
from costs.sources import SOURCES, utilization_csv

from .conftest import Take
from .tables import current_prices

pytestmark = pytest.mark.django_db
TWO = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\n"


def ingest(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("ingest", *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def files(take: Take, tmp_path: Path) -> Path:
    """A folder with a sound file, one with a wrong line and one that is none."""
    (tmp_path / "sound.csv").write_text(TWO)
    (tmp_path / "partial.csv").write_text(TWO.replace("east", "west") + "c,1,west,abc\n")
    (tmp_path / "page.csv").write_text("<html>")
    return tmp_path


def test_ingest_tells_what_became_of_each_file(files: Path) -> None:
    told = ingest("fake_prices", f"--file={files / 'sound.csv'}", f"--file={files / 'partial.csv'}")
    assert told.splitlines() == [
        "sound.csv: done: 2 lines kept of 2; 2 added",
        "partial.csv: partial: 2 lines kept of 3, 1 wrong: line 4, column price, value 'abc', "
        "expected a number above 0; 2 added",
    ]
    assert "duplicate" in ingest("fake_prices", f"--file={files / 'sound.csv'}")


def test_ingest_ends_with_the_reason_of_a_failed_file_and_takes_the_others(files: Path) -> None:
    with pytest.raises(CommandError) as error:
        ingest("fake_prices", f"--file={files / 'page.csv'}", f"--file={files / 'sound.csv'}")
    assert str(error.value) == (
        "page.csv: columns missing: line 1, column as_of, value '['<html>']', "
        "expected a first line with as_of"
    )
    assert len(current_prices()) == 2


def test_ingest_takes_nothing_when_a_file_is_not_there(files: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.csv: no such file"):
        ingest("fake_prices", f"--file={files / 'sound.csv'}", f"--file={files / 'nowhere.csv'}")
    assert not IngestRun.objects.filter(source="fake_prices").exists()


def test_ingest_hands_parameters_on_and_refuses_unknown_ones(files: Path) -> None:
    ingest("fake_prices", f"--file={files / 'sound.csv'}", "--provider=other")
    assert IngestRun.objects.get(source="fake_prices").scope == "other east"
    with pytest.raises(CommandError, match="no parameter colour; it has: provider"):
        ingest("fake_prices", "--param=colour=red")
    with pytest.raises(CommandError, match="write NAME=VALUE"):
        ingest("fake_prices", "--param=colour")


def test_ingest_of_an_unknown_source_names_those_there_are(take: Take) -> None:
    with pytest.raises(CommandError, match="accelerators"):
        ingest("weather")


def test_a_provider_that_is_away_ends_the_command_and_leaves_a_failed_run(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(params: Any, now: Any) -> Any:
        raise LookupError("503 slow down")

    monkeypatch.setattr("tests.costs.fake_prices.fetch", away)
    with pytest.raises(CommandError, match="503 slow down"):
        ingest("fake_prices")
    assert IngestRun.objects.get(source="fake_prices").status == IngestRun.Status.FAILED
    assert Job.objects.order_by("-pk")[0].status == Job.Status.FAILED


def test_ctrl_c_ends_the_job_so_that_no_worker_goes_on_with_it(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("costs.ingest.write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ingest("fake_prices", f"--file={files / 'sound.csv'}")
    run = IngestRun.objects.get(source="fake_prices")
    assert (run.status, run.job.status) == (IngestRun.Status.CANCELLED, Job.Status.CANCELLED)


USE = utilization_csv.TEMPLATE.splitlines()[0] + "\n2026-11-29T01:00:00Z,main,training,H100,64,60,55,8,\n"
NAMES = "spelling,accelerator,note\nHopper 8-way,h100-sxm-80gb,\n"


@pytest.fixture
def known_files(db: None, tmp_path: Path) -> Path:
    """A folder with files that say themselves what they are, and two that do not."""
    ingest("accelerators")
    (tmp_path / "names.csv").write_text(NAMES)
    (tmp_path / "use.csv").write_text(USE)
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    (tmp_path / "page.csv").write_text("<html>")
    return tmp_path


def test_auto_reads_each_file_as_what_its_first_lines_say(known_files: Path) -> None:
    told = ingest("auto", f"--file={known_files / 'names.csv'}", f"--file={known_files / 'use.csv'}")
    assert told.splitlines() == [
        "names.csv: read as aliases",
        "names.csv: done: 1 lines kept of 1; 1 added",
        "use.csv: read as utilization_csv",
        "use.csv: done: 1 lines kept of 1; 1 added",
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("odd.csv", r"odd\.csv: not recognised; expected a file in the layout of one of the sources"),
        ("page.csv", r"page\.csv: html instead of data; expected the data themselves"),
    ],
)
def test_auto_takes_the_others_and_ends_with_why_one_was_not_recognised(
    known_files: Path, name: str, why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        ingest("auto", f"--file={known_files / name}", f"--file={known_files / 'names.csv'}")
    assert Alias.objects.count() == 1


def test_auto_names_the_sources_where_a_file_may_be_of_two(
    known_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SOURCES["skypilot"], "looks_like", lambda head, name: True)
    with pytest.raises(CommandError, match="several sources: it may be aliases, skypilot"):
        ingest("auto", f"--file={known_files / 'names.csv'}")
    assert not Alias.objects.exists()


def test_auto_refuses_a_parameter_that_the_files_source_does_not_have(known_files: Path) -> None:
    with pytest.raises(CommandError, match="aliases has no parameter cluster"):
        ingest("auto", f"--file={known_files / 'names.csv'}", "--param=cluster=a")


def test_auto_without_a_file_asks_for_one(db: None) -> None:
    with pytest.raises(CommandError, match="at least one file"):
        ingest("auto")


def test_a_file_of_which_no_line_could_be_taken_ends_the_command_with_its_reason(files: Path) -> None:
    (files / "wrong.csv").write_text("as_of 2026-01-02\na,8,east,abc\n")
    with pytest.raises(CommandError, match=r"wrong\.csv: 0 lines kept of 1, 1 wrong: line 2, column price"):
        ingest("fake_prices", f"--file={files / 'wrong.csv'}", f"--file={files / 'sound.csv'}")
    assert len(current_prices()) == 2


def test_a_file_that_is_held_as_a_whole_ends_the_command_with_its_reason(files: Path) -> None:
    (files / "held.csv").write_text("as_of 2026-01-02\na,8,east,0\n")
    with pytest.raises(CommandError, match="1 held in quarantine"):
        ingest("fake_prices", f"--file={files / 'held.csv'}")


def test_a_file_of_lines_that_are_not_ours_is_no_failure(files: Path) -> None:
    (files / "cpus.csv").write_text("as_of 2026-01-02\na,0,east,1\n")
    assert "1 without an accelerator" in ingest("fake_prices", f"--file={files / 'cpus.csv'}")


@pytest.mark.django_db(transaction=True)
def test_a_worker_does_what_waits_and_ends_when_asked_to(files: Path) -> None:
    raw = jobs.enqueue(
        "ingest",
        {"source": "accelerators", "raw": None, "name": "", "params": {}},
        key="again",
        requested_by="test",
        now=timezone.now(),
    )
    call_command("worker", "--once")
    raw.refresh_from_db()
    assert raw.status == Job.Status.DUPLICATE
