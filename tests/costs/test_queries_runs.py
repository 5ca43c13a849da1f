"""Claims about how fresh the sources are. SkyPilot's cadence is 7 days, list prices have 92, use has 1."""

from datetime import UTC, datetime, timedelta

import pytest

from costs.models import RejectedRow
from costs.queries import runs
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch
from tests.fact_builders import make_batch, make_hours, make_job, make_run

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def of(source: str) -> runs.Freshness:
    return {row.name: row for row in runs.freshness(NOW)}[source]


def test_every_source_has_a_row_and_starts_as_never():
    rows = runs.freshness(NOW)
    assert [row.name for row in rows] == list(SOURCES)
    assert {row.state for row in rows} == {"never"}
    assert {(row.age, row.last_run, row.rows) for row in rows} == {(None, None, 0)}


@pytest.mark.parametrize(
    ("days", "state"),
    [(0, "fresh"), (7, "fresh"), (7.01, "late"), (14, "late"), (14.01, "stale"), (400, "stale")],
)
def test_the_state_is_the_age_of_the_data_against_the_cadence(days, state):
    make_batch(source="skypilot", as_of=NOW - timedelta(days=days), published_at=NOW)
    assert (of("skypilot").state, of("skypilot").age) == (state, timedelta(days=days))
    assert of("skypilot").next_expected == NOW - timedelta(days=days) + timedelta(days=7)


def test_a_source_is_as_old_as_its_oldest_part_and_rows_add_up_over_parts():
    make_batch(source="skypilot", as_of=NOW - timedelta(days=30), rows=5)
    make_batch(source="skypilot", as_of=NOW - timedelta(days=2), rows=7)
    make_batch(source="skypilot", as_of=NOW - timedelta(days=90), rows=100, is_current=False)
    assert (of("skypilot").age, of("skypilot").rows) == (timedelta(days=30), 12)


def test_a_table_kept_by_hand_is_never_late():
    make_batch(source="accelerators", as_of=NOW - timedelta(days=900))
    assert (of("accelerators").state, of("accelerators").next_expected) == ("fresh", None)


def test_use_is_as_old_as_its_last_hour_and_sample_hours_do_not_count():
    make_hours(3, NOW - timedelta(hours=5))
    make_hours(3, NOW - timedelta(hours=1), is_sample=True)
    assert (of("utilization_csv").age, of("utilization_csv").rows) == (timedelta(hours=3), 3)


def test_a_sample_batch_alone_leaves_its_source_at_never():
    make_batch(source="utilization_csv", params={"sample": "1"})
    assert of("utilization_csv").state == "never"


def test_the_last_run_is_the_newest_that_was_no_check_and_no_sample():
    make_run(source="skypilot", status="done")
    failed = make_run(source="skypilot", status="failed")
    make_run(source="skypilot", status="previewed")
    make_run(source="skypilot", job=make_job(params={"params": {"sample": "1"}}))
    assert of("skypilot").last_run == failed


def test_only_sources_that_fetch_can_run():
    can_run = {name for name in SOURCES if can_fetch(name)}
    assert {"accelerators", "list_prices", "aws_prices"} <= can_run
    assert not {"skypilot", "utilization_csv"} & can_run


def test_wrong_lines_come_before_lines_out_of_scope():
    run = make_run()
    for line, kind in ((5, "out_of_scope"), (9, "wrong"), (3, "wrong")):
        RejectedRow.objects.create(run=run, kind=kind, line=line, rule="x", expected="y")
    assert [row.line for row in runs.rejected_rows(run)] == [3, 9, 5]


def test_freshness_costs_the_same_queries_however_many_batches(django_assert_num_queries):
    for _ in range(2):
        make_batch(source="skypilot")
        make_run(source="skypilot")
        make_hours(2, NOW, make_batch(source="utilization_csv"), pool=f"pool {_}")
        with django_assert_num_queries(3):
            runs.freshness(NOW)
