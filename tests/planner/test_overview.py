"""The first page: measured use against the plan that is followed; what is not known is not zero."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from planner.models import Person, Scenario
from planner.overview import overview
from planner.scenarios import plan_cache
from tests.fact_builders import make_batch, make_hours, make_price
from tests.plan_builders import NOW, make_on_demand, make_owned, make_revision, make_scenario

pytestmark = pytest.mark.django_db

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)  # of the last whole week before NOW, 30 November
WEEK_HOURS = 168


@pytest.fixture(autouse=True)
def forget():
    plan_cache.forget()


def follow(scenario):
    Scenario.objects.filter(pk=scenario.pk).update(is_plan_of_record=True)
    return scenario


def own_8_without_discount():
    """8 GPUs for 100,000; all their hours of 2027 on demand would cost 8 x 8,760 x 4 = 280,320."""
    scenario = make_scenario(
        "Own 8",
        supplies=[make_on_demand("4"), make_owned()],
        revision=make_revision(discount_rate_per_year=Decimal(0)),
    )
    return follow(scenario)


def weeks_of_use(allocated=Decimal(6), weeks=3, **changes):
    start = MONDAY - timedelta(weeks=weeks - 1)
    return make_hours(weeks * WEEK_HOURS, start, gpus_allocated=allocated, **changes)


def test_nothing_loaded_is_empty_and_says_what_to_do():
    page = overview(NOW)
    assert page.is_empty
    assert [step.is_done for step in page.steps] == [False] * 5


def test_the_week_is_the_last_whole_one():
    weeks_of_use()
    week = overview(NOW).week
    assert week.number == 48
    assert (week.first, week.last) == (MONDAY, datetime(2026, 11, 29, tzinfo=UTC))


def test_share_idle_and_change_come_from_measured_hours():
    # two weeks at 6 of 10, then one at 7 of 10
    weeks_of_use(lambda hour: Decimal(7) if hour >= 2 * WEEK_HOURS else Decimal(6))
    week = overview(NOW).week
    assert week.share == pytest.approx(0.7)
    assert week.change == pytest.approx(0.1)
    assert week.idle_gpus == Decimal(3)
    assert week.available_gpus == Decimal(10)


def test_a_gap_of_a_week_leaves_no_change_to_the_week_before():
    batch = make_batch(source="utilization_csv")
    make_hours(WEEK_HOURS, MONDAY - timedelta(weeks=2), batch)
    make_hours(WEEK_HOURS, MONDAY, batch)
    assert overview(NOW).week.change is None


def test_available_gpus_that_nobody_reported_leave_share_and_idle_unknown():
    weeks_of_use(gpus_available=None)
    page = overview(NOW)
    assert page.week.share is None
    assert page.week.idle_gpus is None
    assert page.margin is None


def test_the_margin_is_the_planned_use_of_what_is_paid_for_less_its_break_even():
    weeks_of_use()
    own_8_without_discount()
    page = overview(NOW)
    assert page.followed.pays_above == pytest.approx(100_000 / 280_320)
    assert page.followed.planned_use == pytest.approx(1.0)  # 8 GPUs of demand on 8 owned
    assert page.margin == pytest.approx(1.0 - 100_000 / 280_320)


def test_one_plan_alone_draws_its_own_break_even():
    weeks_of_use()
    own_8_without_discount()
    page = overview(NOW)
    assert page.comparison is None
    [line] = page.break_evens
    assert line.share == pytest.approx(100_000 / 280_320)


def test_two_plans_are_compared_against_the_plan_of_record():
    make_scenario("Stay on demand")
    own_8_without_discount()
    page = overview(NOW)
    assert page.comparison.column(page.comparison.base).slug == "own-8"


def test_sample_and_own_never_stand_side_by_side():
    weeks_of_use(is_sample=True)
    follow(make_scenario("Mine"))
    sample = overview(NOW, "sample")
    assert sample.followed is None
    assert sample.comparison is None
    own = overview(NOW, "own")
    assert own.week is None
    assert own.followed.scenario.name == "Mine"


def test_own_use_is_shown_where_there_is_some_and_sample_stays_one_click_away():
    weeks_of_use(is_sample=True)
    assert overview(NOW).data == "sample"
    weeks_of_use()
    page = overview(NOW)
    assert (page.data, page.other_data) == ("own", "sample")


def test_steps_are_ticked_off_one_by_one():
    make_price()
    weeks_of_use()
    make_scenario("Stay on demand")
    assert [step.is_done for step in overview(NOW).steps] == [True, True, True, False, False]


@pytest.fixture
def viewer(client):
    client.force_login(Person.objects.create_user("lee@example.com", "a long password"))
    return client


def shown(client, **query):
    response = client.get(reverse("overview"), query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_empty_page_renders_and_offers_a_viewer_nothing_that_is_refused(viewer):
    html = shown(viewer)
    assert "Start here" in html
    assert reverse("sample_load") not in html


def test_the_page_says_the_answer_in_one_sentence(viewer):
    weeks_of_use()
    own_8_without_discount()
    html = shown(viewer)
    assert "60\u00a0%" in html
    # all 8 owned GPUs are planned for: 100 % less 35.7 % is 64.3, shown as 64 points
    assert "+64\u00a0pt" in html


def test_unknown_values_and_parameters_are_named_and_never_a_fault(viewer):
    html = shown(viewer, data="theirs", colour="<b>blue")
    assert "data=theirs" in html
    assert "“colour”" in html
    assert "<b>blue" not in html


def test_a_name_is_text_on_the_page(viewer):
    follow(make_scenario("<script>alert(1)</script>"))
    assert "<script>alert" not in shown(viewer)


def queries_of_a_visit(client):
    plan_cache.forget()
    with CaptureQueriesContext(connection) as captured:
        shown(client)
    return len(captured)


def test_more_weeks_and_plans_do_not_mean_more_queries(viewer):
    weeks_of_use(weeks=3)
    own_8_without_discount()
    make_scenario("Stay on demand")
    shown(viewer)  # the first visit also touches the session
    before = queries_of_a_visit(viewer)
    make_scenario("Third")
    make_scenario("Fourth")
    make_hours(20 * WEEK_HOURS, MONDAY - timedelta(weeks=24))
    assert queries_of_a_visit(viewer) == before


def test_the_file_holds_the_weeks_of_the_chart(viewer, monkeypatch):
    # two weeks at 6 of 10, then one at 7 of 10
    weeks_of_use(lambda hour: Decimal(7) if hour >= 2 * WEEK_HOURS else Decimal(6))
    monkeypatch.setattr("planner.views.overview.timezone.now", lambda: NOW)
    content = b"".join(viewer.get("/overview.csv").streaming_content).decode()
    rows = [row for row in csv.DictReader(io.StringIO(content)) if row["series"] == "fleet"]
    assert [(row["week"], row["utilization_share"], row["busy_gpus"]) for row in rows] == [
        ("2026-11-09", "0.6", "6"),
        ("2026-11-16", "0.6", "6"),
        ("2026-11-23", "0.7", "7"),
    ]
    assert viewer.get("/overview.pdf").status_code == 404
