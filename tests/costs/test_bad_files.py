"""A file that is not what it says changes nothing that was known, and says where it is wrong."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from costs import jobs
from costs.jobs import Claim
from costs.ledger import verify
from costs.models import IngestRun, Price, RawObject, Utilization

from .conftest import Take
from .tables import current_prices, dump

pytestmark = pytest.mark.django_db
TWO = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\n"
LATER = "as_of 2026-02-03\n"
SKYPILOT = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n"
HOURS = (
    "hour_utc,cluster,pool,gpu_type,gpus_installed,gpus_available,gpus_allocated,gpus_pending,active_share\n"
)


def test_two_currencies_in_one_list_refuse_the_whole_file(take: Take) -> None:
    take(TWO)
    before = dump()
    # the wrong one stands first: nobody can tell
    run = take(LATER + "a,8,east,570,CNY\nb,1,east,9.5,USD\n")
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "currency_mixed")
    assert (run.error["line"], run.error["column"], run.error["value"]) == (3, "currency", "USD")
    assert "CNY as on line 2" in run.error["expected"]
    assert dump() == before


def test_two_lists_in_one_file_may_each_have_their_own_currency(take: Take) -> None:
    run = take("as_of 2026-01-02\na,8,east,80,USD\na,8,north,570,CNY\n")
    assert run.status == IngestRun.Status.DONE
    assert set(Price.objects.values_list("region", "currency")) == {("east", "USD"), ("north", "CNY")}


def test_a_price_stays_when_its_line_now_spells_the_accelerator_in_an_unknown_way(take: Take) -> None:
    others = "d,1,east,6\ne,1,east,7\n"
    take(TWO + "c,1,east,5\n" + others)
    run = take(LATER + "a,8,east,81,USD,Warp9\nb,1,east,9.5\n" + others)
    kept = {("a", "east"): "80", ("b", "east"): "9.5", ("d", "east"): "6", ("e", "east"): "7"}
    assert current_prices() == kept  # c was not listed any more
    assert (run.held, run.closed) == (1, 1)
    assert verify().problems == []


@pytest.mark.parametrize("line", ["a\x01,8,east,81", "a" * 161 + ",8,east,81"])
def test_no_price_ends_when_a_line_hides_which_one_it_states(take: Take, line: str) -> None:
    take(TWO)
    run = take(LATER + line + "\nb,1,east,9.5\n")
    assert (run.held, run.closed, run.lines_rejected) == (1, 0, 1)
    assert current_prices() == {("a", "east"): "80", ("b", "east"): "9.5"}
    assert verify().problems == []


def test_a_list_dated_in_the_future_is_refused_since_it_would_never_be_replaced(take: Take) -> None:
    take(TWO)
    before = dump()
    run = take("as_of 2026-12-03\na,8,east,81\n")  # today is 2026-11-30
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "dated_in_future")
    assert (run.error["value"], run.error["expected"]) == ("2026-12-03", "a file of 2026-11-30 or before")
    assert dump() == before
    assert take("as_of 2026-12-01\na,8,east,82\n").status == IngestRun.Status.DONE  # has begun elsewhere


def test_an_hour_that_is_not_over_was_not_measured(take: Take) -> None:
    text = HOURS + "2026-11-30T11:00:00Z,m,p,H100,8,8,4,,\n2026-12-03T11:00:00Z,m,p,H100,8,8,4,,\n"
    run = take(text, "utilization_csv", "hours.csv")
    refused = run.rejected.get()
    assert (refused.line, refused.rule, refused.expected) == (3, "hour_in_future", "an hour that is over")
    assert Utilization.objects.count() == 1
    assert verify().problems == []


def test_a_header_without_lines_is_a_failed_run(take: Take) -> None:
    run = take(HOURS, "utilization_csv", "hours.csv")
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "no_lines")
    assert "below the header" in run.message


@pytest.mark.parametrize("name", ["", " ", "\u00a0"])
def test_a_pool_without_a_name_is_refused(take: Take, name: str) -> None:
    run = take(HOURS + f"2026-11-30T11:00:00Z,m,{name},H100,8,8,4,,\n", "utilization_csv", "hours.csv")
    assert [(row.column, row.rule) for row in run.rejected.all()] == [("pool", "empty")]


@pytest.mark.parametrize(
    ("column", "value"),
    [("vcpus", "1e20"), ("vcpus", "-4"), ("memory_gib", "1e30"), ("memory_gib", "9" * 30)],
)
def test_a_machine_of_absurd_size_is_refused_alone(take: Take, column: str, value: str) -> None:
    sizes = {"vcpus": "96", "memory_gib": "1152"} | {column: value}
    text = (
        SKYPILOT
        + f"p5.48xlarge,H100,8,{sizes['vcpus']},{sizes['memory_gib']},55.04,,us-east-1\n"
        + "p4d.24xlarge,A100,8,96,1152,21.95,,us-east-1\n"
    )
    run = take(text, "skypilot", "skypilot_aws.csv")
    refused = run.rejected.get()
    assert (refused.line, refused.column, refused.rule) == (2, column, f"{column}_out_of_bounds")
    assert "or empty when unknown" in refused.expected
    assert set(Price.objects.values_list("sku__name", flat=True)) == {"p4d.24xlarge"}


def test_one_list_under_the_names_of_two_clouds_gives_both_their_prices(take: Take) -> None:
    text = SKYPILOT + "gpu-8x,H100,8,96,1152,23.6,,east\n"
    assert take(text, "skypilot", "skypilot_nebius.csv").status == IngestRun.Status.DONE
    assert take(text, "skypilot", "skypilot_verda.csv").status == IngestRun.Status.DONE
    on_demand = Price.objects.filter(term="on_demand", effective_to=None)
    assert set(on_demand.values_list("sku__provider", flat=True)) == {"nebius", "verda"}
    # the same cloud under another name is still the same list
    assert take(text, "skypilot", "verda.csv").status == IngestRun.Status.DUPLICATE
    assert verify().problems == []


def test_what_steers_a_terminal_is_written_out(take: Take) -> None:
    run = take(TWO + "x\x1b[31m,1,east,5\n", name="red\n\x1b[2J.csv")
    assert run.origin == "red\\n\\x1b[2J.csv"
    assert run.rejected.get().value == "x\\x1b[31m"
    assert run.message.isprintable()


# the shell


def test_the_shell_says_in_one_line_what_is_no_file(take: Take, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    cases = {
        tmp_path / "folder.csv": "a directory",
        tmp_path / "missing.csv": "no such file",
        Path("/dev/zero"): "no regular file",
        tmp_path / ("x" * 5000): "file name too long",
    }
    before = RawObject.objects.count()
    for path, words in cases.items():
        with pytest.raises(CommandError, match=words) as caught:
            call_command("ingest", "skypilot", file=[path])
        assert "expected a file" in str(caught.value)
        assert len(str(caught.value)) < 400
    assert RawObject.objects.count() == before


def test_the_shell_says_in_one_line_that_a_file_may_not_be_read(
    take: Take, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "closed.csv"
    path.write_text(SKYPILOT)

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # the tests may run as root, who may read everything
    with pytest.raises(CommandError, match=r"closed\.csv: permission denied"):
        call_command("ingest", "skypilot", file=[path])


def test_the_shell_says_in_one_line_that_the_database_is_full(
    take: Take, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "skypilot_aws.csv"
    path.write_text(SKYPILOT + "p4d.24xlarge,A100,8,96,1152,21.95,,us-east-1\n")

    def full(*args: object, **options: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("costs.ingest.jobs.run", full)
    with pytest.raises(CommandError, match=r"skypilot_aws\.csv: the database: database or disk is full"):
        call_command("ingest", "skypilot", file=[path])


@pytest.mark.parametrize("text", ['{"PriceList": ["{", "{\\"product\\": "]}', '{"PriceList": ["[[[["]}'])
def test_an_answer_whose_products_are_all_cut_says_so(take: Take, text: str) -> None:
    run = take(text, "aws_prices", "gp.json")
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "json_wrong")
    assert (run.error["line"], run.error["column"]) == (1, "PriceList")
    assert "strings of JSON" in run.error["expected"]


@pytest.mark.parametrize("value", ["\udcff", "a\nb", "a\x1b[31m"])
def test_the_shell_refuses_parameters_that_no_database_holds(take: Take, tmp_path: Path, value: str) -> None:
    path = tmp_path / "use.csv"
    path.write_text(HOURS)
    with pytest.raises(CommandError, match="without control characters"):
        call_command("ingest", "utilization_csv", file=[path], param=[f"cluster={value}"])


def test_the_shell_takes_a_file_whose_name_is_no_text(take: Take, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"skypilot_aws_\xff.csv")
    path.write_text(SKYPILOT + "p4d.24xlarge,A100,8,96,1152,21.95,,us-east-1\n")
    call_command("ingest", "skypilot", file=[path], provider="aws")
    assert IngestRun.objects.latest("pk").origin == "skypilot_aws_\\udcff.csv"


def test_a_stored_file_that_lost_its_end_is_not_taken_for_a_shorter_list(
    take: Take, raw_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(TWO)
    before = dump()
    run_job = jobs.run

    def cut_first(claim: Claim) -> None:
        stored = raw_dir / claim.params["raw"]
        stored.write_text(stored.read_text().removesuffix("b,1,east,9.5\n"))
        run_job(claim)

    monkeypatch.setattr("costs.ingest.jobs.run", cut_first)
    run = take(LATER + "a,8,east,81\nb,1,east,9.5\n")
    assert (run.status, run.error_code) == (IngestRun.Status.FAILED, "bytes_changed")
    assert "load the file again" in run.message
    assert dump() == before
