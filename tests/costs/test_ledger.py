"""The oracle finds whatever is off, and finds nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from io import StringIO
from pathlib import Path
from threading import Thread
from types import ModuleType
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from costs import jobs, ledger
from costs.ledger import verify
from costs.models import Accelerator, Batch, IngestRun, Job, Price, RawObject, StagedRow, Utilization
from costs.quarantine_rules import Verdict
from costs.rows import UtilizationRow
from costs.rowtext import row_digest, rows_digest, to_payload

from . import fake_hours, fake_prices
from .conftest import A_MOMENT, Take
from .tables import current_prices

pytestmark = pytest.mark.django_db
PRICES = "as_of 2026-01-02\na,8,east,80\nb,1,east,9.5\nbad,1,east,abc\n"
HOURS = "c1,2026-01-01T00:00,10,6\nc1,2026-01-01T01:00,10,\n"


@pytest.fixture
def books(take: Take) -> Take:
    """Load an accelerator table, prices that changed once, and hours."""
    take(PRICES)
    take("as_of 2026-02-03\na,8,east,72\nc,1,east,3\n")
    take(HOURS, "fake_hours")
    return take


def found() -> str:
    return "\n".join(verify().problems)


def test_sound_books_are_exact(books: Take) -> None:
    report = verify()
    assert report.problems == []
    # accelerators, two lists of prices, hours; two prices that hold and two hours besides the accelerators
    assert (report.batches, report.rows) == (4, Accelerator.objects.count() + 2 + 2)


def job_without_worker() -> Job:
    job = jobs.enqueue("ingest", {}, key="x", requested_by="test", now=A_MOMENT)
    assert jobs.claim(job.pk) is not None
    Job.objects.filter(pk=job.pk).update(lease_until=A_MOMENT - timedelta(days=300))
    return job


def stage_orphan() -> object:
    job = jobs.enqueue("ingest", {}, key="x", requested_by="test", now=A_MOMENT)
    return StagedRow.objects.create(job=job, line=1, payload={})


def overlap() -> object:
    ended = Price.objects.get(sku__name="a", effective_to__isnull=False)
    return Price.objects.filter(pk=ended.pk).update(effective_to=datetime(2026, 9, 9, tzinfo=UTC))


def copy_price() -> object:
    price = Price.objects.get(sku__name="c")
    price.pk, price.region = None, "west"
    return price.save()


TAMPERING: dict[str, tuple[Callable[[], object], str]] = {
    "a lost price": (lambda: Price.objects.filter(sku__name="c").delete(), "prices: 1 missing"),
    "another price": (
        lambda: Price.objects.filter(sku__name="c").update(price_per_hour=Decimal("3.01")),
        "prices: 1 other than the file",
    ),
    "a price from nowhere": (copy_price, "prices: 1 in no accepted file"),
    "two prices at one moment": (overlap, "hold at the same time"),
    "a lost hour": (
        lambda: Utilization.objects.filter(starts_at__hour=0).delete(),
        "utilization: 1 missing",
    ),
    "unknown turned into zero": (
        lambda: Utilization.objects.filter(gpus_allocated=None).update(gpus_allocated=0),
        "utilization: 1 other than the file",
    ),
    "sample turned into own": (
        lambda: Utilization.objects.filter(starts_at__hour=0).update(is_sample=True),
        "utilization: 1 in no accepted file",
    ),
    "another accelerator": (
        lambda: Accelerator.objects.filter(slug__startswith="h100-sxm").update(memory_gb=81),
        "accelerators: 1 other than the file",
    ),
    "a wrong count": (lambda: Batch.objects.filter(source="fake_hours").update(rows=3), "3 rows with sum"),
    "a wrong sum": (lambda: Batch.objects.filter(source="fake_hours").update(total=7), "the file has 2"),
    "a wrong digest": (
        lambda: Batch.objects.filter(source="fake_hours").update(rows_sha256="0" * 64),
        "another SHA-256",
    ),
    "a wrong line count": (
        lambda: IngestRun.objects.filter(source="fake_hours").update(lines_read=3),
        "3 lines read, 2 kept",
    ),
    "a refused line without its record": (
        lambda: IngestRun.objects.get(source="fake_prices", status="partial").rejected.all().delete(),
        "line 4 is wrong",
    ),
    "two current batches' marks lost": (
        lambda: Batch.objects.filter(source="fake_hours").update(is_current=False),
        "not marked current",
    ),
    "staged rows of nobody": (stage_orphan, "staged rows that nobody will publish"),
    "a silent worker": (job_without_worker, "fell silent"),
    "an open run of an ended job": (
        lambda: IngestRun.objects.filter(source="fake_hours").update(status="running"),
        "open although its job has ended",
    ),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_the_oracle_names_what_is_off(books: Take, name: str) -> None:
    tamper, told = TAMPERING[name]
    tamper()
    assert told in found()


@pytest.mark.parametrize(("module", "again"), [(fake_prices, PRICES), (fake_hours, HOURS)])
def test_files_of_an_earlier_parser_are_noted_and_proved_once_loaded_again(
    take: Take, monkeypatch: pytest.MonkeyPatch, module: ModuleType, again: str
) -> None:
    take(PRICES)
    take(HOURS, "fake_hours")
    monkeypatch.setattr(module, "PARSER_VERSION", 2)
    report = verify()
    assert report.problems == []
    assert ["read by an earlier parser" in note for note in report.notes] == [True]
    assert take(again, module.NAME).status in ("done", "partial"), "it is no repeat: it may read otherwise"
    assert verify().problems == []
    # what only an earlier parser read would still be missed
    Utilization.objects.filter(starts_at__hour=0).delete()
    Price.objects.filter(sku__name="a").delete()
    assert len(verify().problems) == 2


def test_the_oracle_sees_bytes_that_changed_or_are_gone(books: Take, raw_dir: Path) -> None:
    raw = RawObject.objects.get(batches__source="fake_hours")
    path = raw_dir / raw.sha256
    path.write_text(HOURS.replace(",6", ",5"))
    assert "changed" in found()
    path.unlink()
    assert "are gone" in found()
    assert "cannot be read again" in found()


def test_the_command_ends_with_an_error_and_the_reasons(books: Take) -> None:
    out = StringIO()
    call_command("verify_ledger", stdout=out)
    assert out.getvalue().startswith("ledger exact: 4 batches")
    Price.objects.filter(sku__name="c").delete()
    with pytest.raises(CommandError, match="1 problem"):
        call_command("verify_ledger", stdout=out)
    assert "prices: 1 missing" in out.getvalue()


def test_the_digest_of_a_row_is_that_of_its_json_with_sorted_names() -> None:
    row = UtilizationRow(
        "c1", "all", "H100", datetime(2026, 1, 1, tzinfo=UTC), Decimal(10), None, Decimal("6.5"), None, None
    )
    text = (
        '{"active_share":null,"cluster":"c1","gpu_type":"H100","gpus_allocated":"6.5000",'
        '"gpus_available":null,"gpus_installed":"10.0000","gpus_pending":null,"period_hours":"1.00",'
        '"pool":"all","starts_at":"2026-01-01T00:00:00+00:00"}'
    )
    digest = sha256(text.encode()).digest()
    assert row_digest(UtilizationRow, to_payload(row)) == digest
    assert rows_digest([b"b", b"a"]) == sha256(b"ab").hexdigest()


@st.composite
def files(draw: st.DrawFn) -> list[tuple[str, dict[str, str]]]:
    """Draw price lists of one scope, as text and as what they say, with dates that do not go back."""
    day, lists = datetime(2026, 1, 1, tzinfo=UTC), []
    for _ in range(draw(st.integers(1, 5))):
        day += timedelta(days=draw(st.integers(0, 2)))
        said = draw(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["3", "4", "5.5"]), min_size=1))
        lines = [f"{sku},1,east,{price}" for sku, price in said.items()]
        lists.append((f"as_of {day:%Y-%m-%d}\n" + "\n".join(lines) + "\n", said))
    return lists


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files())
def test_whatever_lists_follow_each_other_the_last_one_holds(
    take: Take, lists: list[tuple[str, dict[str, str]]]
) -> None:
    # these lists lose more than half of their rows, which the gate would ask somebody about
    trusting = mock.patch("costs.inspection.check_scope", return_value=Verdict(None, {}))
    with trusting, transaction.atomic():
        for text, said in lists:
            take(text)
            assert current_prices() == {(sku, "east"): price for sku, price in said.items()}
        assert verify().problems == []
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_what_is_published_while_the_oracle_reads_is_no_difference(
    books: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow = ledger._follow_batches

    def publish() -> None:
        books("as_of 2026-03-04\na,8,east,70\n")
        connection.close()

    def followed_late(report: ledger.Report) -> ledger.Expected:
        # the files were followed, the tables are not compared yet
        expected = follow(report)
        worker = Thread(target=publish)
        worker.start()
        worker.join()
        return expected

    monkeypatch.setattr(ledger, "_follow_batches", followed_late)
    assert verify().problems == []
    assert current_prices()[("a", "east")] == "70"
    monkeypatch.setattr(ledger, "_follow_batches", follow)
    assert verify().problems == []
