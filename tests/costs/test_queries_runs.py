"""Claims about how fresh the sources are. SkyPilot's cadence is 7 days, list prices have 92, use has 1."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from costs.models import Alias, Batch, Quota, RejectedRow, SpotPrice
from costs.queries import runs
from costs.queries.price_ages import age_state
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch
from tests.fact_builders import make_batch, make_hours, make_job, make_price, make_run

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def make_spot_price(batch: Batch, **changes: Any) -> SpotPrice:
    fields = {
        "source": batch.source,
        "scope": batch.scope,
        "starts_at": batch.as_of - timedelta(hours=1),
        "follows_gap": True,
        "line": 2,
        "provider": "aws",
        "sku": "p5.48xlarge",
        "region": "us-east-1",
        "zone": "use1-az1",
        "zone_kind": "id",
        "product": "Linux/UNIX",
        "price_per_hour": Decimal(20),
    }
    return SpotPrice.objects.create(batch=batch, **fields | changes)


def make_quota(batch: Batch, **changes: Any) -> Quota:
    fields = {
        "source": batch.source,
        "scope": batch.scope,
        "line": 2,
        "as_of": NOW,
        "provider": "aws",
        "region": "us-east-1",
        "name": "a limit",
        "purchase": "any",
        "unit": "gpu",
        "limit": Decimal(8),
        "is_unlimited": False,
    }
    return Quota.objects.create(batch=batch, **fields | changes)


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


@pytest.mark.parametrize(("days", "state"), [(31, "fresh"), (31.01, "late"), (62, "late"), (62.01, "stale")])
def test_prices_of_a_source_without_a_rhythm_are_expected_monthly(days, state):
    assert SOURCES["market_history"].CADENCE is None
    make_batch(source="market_history", as_of=NOW - timedelta(days=days))
    row = of("market_history")
    assert (row.state, row.cadence) == (state, runs.MONTHLY)
    assert row.next_expected == NOW - timedelta(days=days) + timedelta(days=31)


@pytest.mark.parametrize("name", sorted(name for name, source in SOURCES.items() if source.KIND == "prices"))
@pytest.mark.parametrize("cadences", [0.9, 1.5, 2.5])
def test_the_page_of_sources_and_each_price_say_the_same_of_an_age(name, cadences):
    batch = make_batch(source=name, as_of=NOW - cadences * runs.cadence_of(name))
    price = make_price(batch=batch, source=name)
    assert of(name).state == age_state(price, NOW)


def test_of_a_source_that_is_not_known_the_kind_of_the_facts_decides():
    assert runs.cadence_of("of another version", "prices") == runs.MONTHLY
    assert runs.cadence_of("of another version", "zones") is None
    assert runs.cadence_of("of another version") is None


def test_use_is_as_old_as_its_last_hour_and_sample_hours_do_not_count():
    make_hours(3, NOW - timedelta(hours=5))
    make_hours(3, NOW - timedelta(hours=1), is_sample=True)
    assert (of("utilization_csv").age, of("utilization_csv").rows) == (timedelta(hours=3), 3)


def test_observations_are_as_new_as_the_newest_in_whatever_order_their_files_came():
    newer = make_batch(source="aws_spot_history", as_of=NOW - timedelta(hours=20), is_current=False)
    older = make_batch(source="aws_spot_history", as_of=NOW - timedelta(days=900))
    for batch in (newer, older):
        make_spot_price(batch, last_seen_at=batch.as_of)
    row = of("aws_spot_history")
    assert (row.state, row.age, row.rows) == ("fresh", timedelta(hours=20), 2)
    assert row.next_expected == NOW + timedelta(hours=4)


def test_a_history_of_prices_is_as_new_as_its_newest_observation():
    batch = make_batch(source="price_history_table", as_of=NOW - timedelta(days=400), rows=500)
    make_price(source="price_history_table", batch=batch, as_of=NOW - timedelta(days=8), price_per_hour=2)
    row = of("price_history_table")
    assert (row.state, row.age, row.rows) == ("late", timedelta(days=8), 1)


def test_limits_of_several_regions_are_as_old_as_the_oldest_and_count_the_newest_lists():
    make_batch(source="aws_quotas", as_of=NOW - timedelta(days=3), rows=40)
    make_batch(source="aws_quotas", as_of=NOW, rows=48)
    assert (of("aws_quotas").state, of("aws_quotas").rows) == ("stale", 88)


def test_of_a_list_that_is_added_to_all_that_stands_is_counted():
    old = make_batch(source="quota_csv", rows=2, is_current=False)
    new = make_batch(source="quota_csv", rows=1, scope=old.scope)
    for code, batch, ended in (("a", old, None), ("b", old, NOW), ("b", new, None)):
        make_quota(batch, code=code, effective_to=ended, effective_from=NOW - timedelta(days=1 + bool(ended)))
    assert (of("quota_csv").state, of("quota_csv").rows) == ("fresh", 2)


def test_tables_of_names_count_the_rows_that_a_source_brought():
    batch = make_batch(source="aliases", rows=1)
    other = make_batch(source="aliases", rows=1, is_current=False)
    for number, each in enumerate((batch, other, other)):
        Alias.objects.create(spelling=f"name {number}", accelerator="h100-sxm-80gb", batch=each)
    assert of("aliases").rows == 3
    assert of("machine_types").rows == 0


def test_a_source_is_used_once_it_had_data_or_a_run():
    assert not of("skypilot").is_used
    make_run(source="skypilot", status="failed")
    assert of("skypilot").is_used


def test_the_runs_of_a_source_come_newest_first_and_no_others():
    mine = [make_run(source="skypilot") for _ in range(3)]
    make_run(source="vantage")
    assert list(runs.runs_of("skypilot")) == mine[::-1]


def test_what_was_taken_back_stands_no_more():
    run = make_run()
    kept, _gone = make_batch(run=run), make_batch(run=run, is_current=False, undone_at=NOW)
    assert list(runs.standing_batches(run)) == [kept]


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
