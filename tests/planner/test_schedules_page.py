"""Claims about when sources are fetched: what the page says and changes; nothing is fetched unasked."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from costs import schedule, upkeep
from costs.models import Job, Schedule
from planner.forms.schedules import ScheduleForm
from planner.source_words import without_key
from tests.planner.data_pages import rows_of, text_of

pytestmark = pytest.mark.django_db
PAGE = "/data/azure_prices/"


def save(
    client: Client, *, every: object = 6, unit: str = "hours", on: bool = True, key: str = "", page=PAGE
):
    data = {"every": str(every), "unit": unit, "params_key": key} | ({"is_on": "on"} if on else {})
    return client.post(f"{page}schedule/", data)


def row(key: str = "") -> Schedule:
    return Schedule.objects.get(source="azure_prices", params_key=key)


def test_looking_makes_no_schedule_and_the_page_says_that_there_is_none(planner_client: Client) -> None:
    text = text_of(planner_client.get(PAGE))
    assert "No worker has made this schedule yet; it is off until somebody saves it here." in text
    assert not Schedule.objects.exists()


def test_what_the_worker_made_is_off_and_says_so(planner_client: Client) -> None:
    upkeep.tick(timezone.now())
    assert "Off: nothing leaves this machine by itself." in text_of(planner_client.get(PAGE))
    assert not Job.objects.exists()
    by_name = {each["source"]: each for each in rows_of(planner_client, "/data.csv")}
    assert by_name["azure_prices"]["next_fetch_in_words"] == "off"
    assert by_name["skypilot"]["next_fetch_in_words"] == "by upload"


def test_a_schedule_is_saved_with_who_and_when_and_the_next_tick_fetches_once(planner_client: Client) -> None:
    answer = save(planner_client)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert (row().every_minutes, row().is_enabled, row().changed_by) == (360, True, "planner@example.com")
    text = text_of(planner_client.get(PAGE))
    assert "Saved: Azure retail prices comes by itself, the first time within a minute." in text
    assert "On, every 6 hours; next within a minute of a worker’s run." in text
    assert "Changed by planner@example.com" in text
    now = timezone.now()
    upkeep.tick(now)
    upkeep.tick(now)
    job = Job.objects.get()
    assert (job.params["source"], job.requested_by) == ("azure_prices", "schedule")
    due = schedule.next_due(row(), now)
    assert due is not None
    assert f"next {due.day} {due:%b %Y %H:%M} UTC" in text_of(planner_client.get(PAGE))
    by_name = {each["source"]: each for each in rows_of(planner_client, "/data.csv")}
    assert by_name["azure_prices"]["next_fetch"] == f"{due:%Y-%m-%dT%H:%M:%SZ}"


def test_a_schedule_is_switched_off(planner_client: Client) -> None:
    save(planner_client)
    save(planner_client, every=2, unit="days", on=False)
    assert (row().every_minutes, row().is_enabled) == (2880, False)
    upkeep.tick(timezone.now())
    assert not Job.objects.exists()
    assert "comes no more by itself" in text_of(planner_client.get(PAGE))


@pytest.mark.parametrize(
    ("every", "unit", "complaint"),
    [
        (4, "minutes", "From 5 minutes to 365 days."),
        (366, "days", "From 5 minutes to 365 days."),
        (0, "days", "greater than or equal to 1"),
        ("", "days", "This field is required"),
        ("often", "days", "whole number"),
        (1, "weeks", "Select a valid choice"),
        (10**12, "days", "less than or equal"),
    ],
)
def test_a_span_out_of_bounds_is_refused_at_its_field_and_kept_as_typed(
    planner_client: Client, every: object, unit: str, complaint: str
) -> None:
    answer = save(planner_client, every=every, unit=unit)
    assert answer.status_code == 422
    assert complaint in text_of(answer)
    assert f'name="every" value="{every}"' in answer.content.decode() or every == ""
    assert not Schedule.objects.filter(is_enabled=True).exists()


def test_schedules_with_other_parameters_are_changed_apart(planner_client: Client, settings) -> None:
    settings.INGEST_SCHEDULE = ["azure_prices?region=westeurope"]
    upkeep.tick(timezone.now())
    assert "With region westeurope" in text_of(planner_client.get(PAGE))
    save(planner_client, every=30, unit="minutes", key="region=westeurope")
    assert row("region=westeurope").every_minutes == 30
    assert row().every_minutes == 7 * 1440
    assert save(planner_client, key="region=nowhere").status_code == 404


def test_what_fetches_nothing_has_no_schedule(planner_client: Client) -> None:
    assert "it comes by upload" in text_of(planner_client.get("/data/skypilot/"))
    assert save(planner_client, page="/data/skypilot/").status_code == 404
    assert save(planner_client, page="/data/nothing/").status_code == 404


def test_who_may_only_look_sees_when_and_changes_nothing(viewer_client: Client) -> None:
    assert 'class="schedule"' not in viewer_client.get(PAGE).content.decode()
    assert save(viewer_client).status_code == 403
    assert viewer_client.post("/data/load-price-lists/").status_code == 403
    assert not Schedule.objects.exists()


# the one button at the start


def test_loading_price_lists_switches_on_and_starts_what_needs_no_key_and_nothing_else(
    planner_client: Client,
) -> None:
    assert "Load price lists" in text_of(planner_client.get("/data/"))
    answer = planner_client.post("/data/load-price-lists/")
    assert answer["Location"] == "/data/"
    names = {"azure_prices", "oci_prices", "gpuhunt_catalogue", "list_prices", "ecb_rates"}
    assert names <= set(without_key())
    assert {job.params["source"] for job in Job.objects.all()} == set(without_key())
    assert set(Schedule.objects.filter(is_enabled=True).values_list("source", flat=True)) == set(
        without_key()
    )
    assert "gcp_billing" not in without_key()
    planner_client.post("/data/load-price-lists/")
    upkeep.tick(timezone.now())
    assert Job.objects.count() == len(without_key())


def test_a_schedule_that_somebody_set_keeps_its_span_when_the_lists_are_loaded(
    planner_client: Client,
) -> None:
    save(planner_client, every=3, unit="days", on=False)
    planner_client.post("/data/load-price-lists/")
    assert (row().every_minutes, row().is_enabled) == (3 * 1440, True)


# the form's own arithmetic


@pytest.mark.parametrize("minutes", [5, 59, 60, 61, 90, 1439, 1440, 1441, 10_080, 525_600])
def test_a_span_reads_back_as_it_was_saved(minutes: int) -> None:
    typed = ScheduleForm.initial_of(timedelta(minutes=minutes))
    form = ScheduleForm({**typed, "params_key": ""})
    assert form.is_valid(), form.errors
    assert form.cleaned_data["minutes"] == minutes
