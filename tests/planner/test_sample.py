"""Claims about sample data: what the made-up fleet looks like, and that it comes and goes as a whole."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from costs import jobs
from costs.models import Batch, IngestRun, Job, Price, Utilization
from costs.queries import prices, utilization
from planner.models import Person, Scenario
from planner.queries import load_plans, newest_revisions
from planner.sample import fleet as sample_fleet
from planner.sample import load as sample
from planner.sample.scenarios import ON_DEMAND_KEY, RESERVED_KEY, SPOT_KEY
from planner.scenarios.revisions import make_plan_of_record
from tests.fact_builders import make_hours

END = datetime(2026, 11, 30, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def hours() -> list[dict[str, str]]:
    text = b"".join(sample_fleet.csv_chunks(END)).decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def raw_folder(settings, tmp_path):
    settings.RAW_DIR = tmp_path / "raw"


def load(email: str = "planner@example.com") -> Job:
    """Run one load from the queue, as a worker does."""
    key = f"sample:{Job.objects.count()}"
    job = jobs.enqueue("sample", {}, key=key, requested_by=email, now=timezone.now())
    jobs.run(jobs.claim(job.pk))
    job.refresh_from_db()
    return job


def test_the_fleet_has_148_gpus_and_six_months_up_to_the_last_full_hour(hours):
    first = [row for row in hours if row["hour_utc"] == hours[0]["hour_utc"]]
    assert sum(int(row["gpus_installed"]) for row in first) == 148
    assert {row["pool"] for row in first} == {"training", "inference", "interactive"}
    assert datetime.fromisoformat(hours[-1]["hour_utc"]) == END - timedelta(hours=1)
    assert datetime.fromisoformat(hours[0]["hour_utc"]) == END - timedelta(days=183)
    assert len(hours) == 183 * 24 * 3 == sample_fleet.ROWS


def test_the_fleet_is_the_same_every_time():
    assert list(sample_fleet.csv_chunks(END)) == list(sample_fleet.csv_chunks(END))


def test_no_pool_uses_more_than_is_up_and_no_more_is_up_than_installed(hours):
    for row in hours:
        assert (
            0 <= float(row["gpus_allocated"]) <= float(row["gpus_available"]) <= float(row["gpus_installed"])
        )
        assert float(row["gpus_pending"]) >= 0
        assert row["active_share"] == "" or 0 < float(row["active_share"]) < 1


def test_the_fleet_is_busy_by_day_and_on_weekdays_and_was_once_in_repair(hours):
    def mean_allocated(pool, chosen):
        values = [
            float(row["gpus_allocated"])
            for row in hours
            if row["pool"] == pool and chosen(datetime.fromisoformat(row["hour_utc"]))
        ]
        return sum(values) / len(values)

    for pool in ("training", "inference", "interactive"):
        assert mean_allocated(pool, lambda hour: hour.hour == 16) > mean_allocated(
            pool, lambda hour: hour.hour == 4
        )
        assert mean_allocated(pool, lambda hour: hour.weekday() < 5) > mean_allocated(
            pool, lambda hour: hour.weekday() >= 5
        )
    training = [float(row["gpus_available"]) for row in hours if row["pool"] == "training"]
    assert sum(available <= 96 - 32 for available in training) >= 48
    assert any(float(row["gpus_pending"]) > 0 for row in hours)
    assert any(row["active_share"] == "" for row in hours)


def test_the_hour_that_runs_does_not_count():
    assert sample_fleet.last_full_hour(datetime(2026, 11, 30, 18, 59, 59, tzinfo=UTC)) == END


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_loading_brings_the_fleet_and_four_plans_and_measures_what_was_meant():
    person = Person.objects.create_user("planner@example.com", role="planner")
    job = load(person.email)
    assert (job.status, job.message) == ("done", "the sample fleet and its four plans are loaded")
    assert (
        Utilization.objects.filter(is_sample=True).count() == sample_fleet.ROWS == Utilization.objects.count()
    )
    figures = utilization.measured(sample=True, as_of=timezone.now())
    assert figures.fleet_gpus == 148
    assert 0.62 <= figures.share <= 0.65
    assert 0.55 < figures.share_low < figures.share < figures.share_high < 0.72
    assert 0.014 <= figures.growth_per_month <= 0.020
    assert 88 <= figures.busy_gpus <= 97
    names = list(Scenario.objects.order_by("pk").values_list("name", flat=True))
    assert names == ["Stay on demand", "Reserve 96 for 3 years", "Own 96 + reserve 32", "Own 192 in colo"]
    assert set(Scenario.objects.values_list("is_sample", "owner")) == {(True, person.pk)}
    assert utilization.weekly(sample=False) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_every_price_of_the_plans_is_a_fact_with_a_source():
    load()
    now = timezone.now()
    quotes = prices.prices_on([prices.PriceKey(*key) for key in (ON_DEMAND_KEY, SPOT_KEY, RESERVED_KEY)], now)
    assert {quote.state for quote in quotes.values()} == {"priced"}
    for plan in load_plans(newest_revisions(Scenario.objects.all()), now):
        assert [source.reason for source in plan.sources if source.reason] == []
        assert len(plan.plan.workloads) == 2
        assert all(workload.profile is not None for workload in plan.plan.workloads)
        busy = sum(workload.gpus for workload in plan.plan.workloads)
        assert busy == pytest.approx(float(utilization.measured(sample=True, as_of=now).busy_gpus), rel=0.03)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_loading_twice_changes_nothing():
    load()

    def state():
        return (
            list(Utilization.objects.order_by("pk").values_list("pk", "gpus_allocated")),
            list(Scenario.objects.order_by("pk").values_list("pk", "slug", "updated_at")),
            IngestRun.objects.count(),
        )

    before = state()
    assert load().status == "done"
    assert state() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_removing_takes_all_of_the_sample_and_nothing_else():
    make_hours(24, datetime(2026, 11, 2, tzinfo=UTC))
    load()
    offers = Price.objects.count()
    removed = sample.remove()
    assert (removed["utilization"], removed["scenarios"]) == (sample_fleet.ROWS, 4)
    assert not Scenario.objects.exists()
    assert Utilization.objects.count() == 24
    assert not Utilization.objects.filter(is_sample=True).exists()
    assert not Batch.objects.filter(params__sample="1").exists()
    assert Price.objects.count() == offers > 0
    assert load().status == "done"
    assert Scenario.objects.count() == 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_the_plan_that_is_followed_stays_the_plan_of_record():
    now = timezone.now()
    own = Scenario.objects.create(slug="own", name="Own", created_at=now, updated_at=now)
    make_plan_of_record(own)
    load()
    assert list(Scenario.objects.filter(is_plan_of_record=True)) == [own]
    sample.remove()
    assert list(Scenario.objects.all()) == [own]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("raw_folder")
def test_a_press_of_the_button_leads_through_the_progress_page_to_the_comparison(client):
    client.force_login(Person.objects.create_user("planner@example.com", role="planner"))
    answer = client.post("/sample/load/")
    job = Job.objects.get(kind="sample")
    assert answer["Location"] == f"/sample/{job.pk}/"
    assert client.post("/sample/load/")["Location"] == answer["Location"]
    page = client.get(answer["Location"])
    assert page.status_code == 200
    assert b"waiting for a worker" in page.content
    jobs.run(jobs.claim(job.pk))
    slugs = [f"s={slug}" for slug in sample.scenario_slugs()]
    goal = "/compare/?" + "&".join(slugs)
    assert len(slugs) == 4
    assert client.get(answer["Location"])["Location"] == goal
    assert client.get(answer["Location"], headers={"HX-Request": "true"})["HX-Redirect"] == goal


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/sample/load/", "/sample/remove/"])
def test_a_viewer_may_neither_load_nor_remove(client, address):
    client.force_login(Person.objects.create_user("viewer@example.com"))
    assert client.post(address).status_code == 403
    assert client.get(address).status_code == 405


@pytest.mark.django_db
def test_a_load_that_failed_says_why_and_can_be_tried_again(client):
    client.force_login(Person.objects.create_user("planner@example.com", role="planner"))
    now = timezone.now()
    job = Job.objects.create(
        key="sample:x", kind="sample", status="failed", message="disk full", run_after=now, created_at=now
    )
    page = client.get(f"/sample/{job.pk}/").content.decode()
    assert "disk full" in page
    assert "Try again" in page
