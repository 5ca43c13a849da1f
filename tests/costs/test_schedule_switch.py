"""Sources switched on by a person, and when each is fetched next."""

from datetime import UTC, datetime, timedelta

import pytest

from costs import schedule
from costs.models import Job, Schedule

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BY = {"changed_by": "ann@example.com", "now": NOW}


def test_switching_on_makes_rows_and_jobs_of_those_sources_alone() -> None:
    made = schedule.switch_on(["list_prices", "ecb_rates"], **BY)
    assert {job.params["source"] for job in made} == {"list_prices", "ecb_rates"}
    on = Schedule.objects.filter(is_enabled=True)
    assert {(row.source, row.changed_by, row.changed_at) for row in on} == {
        ("list_prices", "ann@example.com", NOW),
        ("ecb_rates", "ann@example.com", NOW),
    }


def test_switching_on_again_makes_nothing_new_and_leaves_what_is_on_as_it_was() -> None:
    schedule.switch_on(["list_prices"], **BY)
    later = NOW + timedelta(minutes=1)
    assert schedule.switch_on(["list_prices"], changed_by="bob@example.com", now=later) == []
    assert Schedule.objects.get(source="list_prices").changed_by == "ann@example.com"
    assert Job.objects.count() == 1


def test_a_source_that_is_on_is_fetched_now_until_its_slot_has_a_job_and_then_with_the_next() -> None:
    schedule.ensure_rows()
    row = Schedule.objects.get(source="list_prices")
    assert schedule.next_fetches([row], NOW) == {}  # off
    row = schedule.change(row.pk, every_minutes=60, is_enabled=True, **BY)
    assert schedule.next_fetches([row], NOW) == {row.pk: NOW}
    schedule.create_due(NOW)
    due = schedule.next_fetches([row], NOW)[row.pk]
    assert due == schedule.next_due(row, NOW)
    assert NOW < due <= NOW + timedelta(hours=1)
    assert schedule.next_fetches([row], due) == {row.pk: due}  # a new slot


def test_one_query_tells_of_all(django_assert_num_queries) -> None:
    schedule.switch_on(["list_prices", "ecb_rates", "oci_prices"], **BY)
    rows = list(Schedule.objects.all())
    with django_assert_num_queries(1):
        assert len(schedule.next_fetches(rows, NOW)) == 3
