"""A scenario keeps the prices of its date: no later list moves it, and old ones are named on the list."""

import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from costs.ingest import ingest
from costs.models import Price
from costs.queries import prices
from costs.sources import SOURCES
from planner.comparison import compare
from planner.models import Revision, Scenario
from planner.queries import load_plans, newest_revisions, whole_revisions
from planner.scenarios.changes import changes_between
from planner.scenarios.kept_prices import kept_quotes
from planner.scenarios.plan_cache import DataDate, data_date, loaded_plans
from planner.scenarios.revisions import add_revision, copy_of
from tests.fact_builders import make_batch, make_price
from tests.plan_builders import (
    NOW,
    make_key,
    make_on_demand,
    make_owned,
    make_revision,
    make_scenario,
    make_spot,
    make_typed,
)
from tests.planner.listed_plans import (
    AFTER,
    BEFORE,
    CHANGE,
    HOURS_2027,
    MARCH,
    OLD,
    cut_in_june,
    listed,
    newest,
    rows_of,
    total,
)

pytestmark = pytest.mark.django_db


class TestKept:
    @pytest.fixture
    def publish(self, settings, tmp_path: Path, transactional_db: None):
        """Publish a list of one price, of a day, as a person does who loads a file."""
        settings.RAW_DIR = tmp_path / "raw"

        def take(usd_per_hour: str, effective_from: str, source_date: str) -> None:
            path = tmp_path / f"{source_date}-{usd_per_hour}.csv"
            path.write_text(
                ",".join(SOURCES["list_prices"].COLUMNS) + "\n"
                f"aws,p5.48xlarge,h100-sxm-80gb,8,us-east-1,,on_demand,,{usd_per_hour},priced,{effective_from},"
                f"https://example.com/pricing,{source_date},\n"
            )
            now = timezone.now()
            run = ingest("list_prices", file=path, name=path.name, params={}, requested_by="x", now=now)
            assert run.status == "done", run.message

        call_command("ingest", "accelerators", stdout=io.StringIO())
        return take

    def test_a_new_list_leaves_a_kept_plan_as_it_is_to_the_cent_and_moves_one_that_follows(
        self, viewer_client: Client, publish
    ):
        publish("31.44", "2026-11-01", "2026-11-01")
        kept = listed("Kept", data_date(timezone.now()).as_of)
        follows = listed("Follows")
        before = 31.44 * HOURS_2027
        assert total(viewer_client, kept) == total(viewer_client, follows) == pytest.approx(before)
        seen = total(viewer_client, kept)
        publish("27.00", f"{timezone.now():%Y-%m-%d}", f"{timezone.now():%Y-%m-%d}")
        assert total(viewer_client, kept) == seen
        assert total(viewer_client, follows) == pytest.approx(27.0 * HOURS_2027)
        rows = {row.scenario.slug: row.summary for row in viewer_client.get("/scenarios/").context["rows"]}
        assert rows["kept"].total.value == seen
        assert rows["follows"].total.value == pytest.approx(27.0 * HOURS_2027)

    def test_a_list_that_states_an_earlier_day_does_not_reach_it_either_and_the_page_says_so(
        self, viewer_client: Client, publish
    ):
        publish("31.44", "2026-11-01", "2026-11-01")
        kept = listed("Kept", data_date(timezone.now()).as_of)
        seen = total(viewer_client, kept)
        # published now, in force since before the date that the plan keeps
        publish("27.00", "2026-11-02", "2026-11-03")
        page = viewer_client.get(f"/scenarios/{kept.slug}/")
        assert page.context["result"].card.total.value == seen
        [said] = page.context["result"].corrections
        assert "keeps $3.93 per GPU-hour as read for" in said
        assert "say $3.38 per GPU-hour now" in said
        assert "corrected since" in page.content.decode()
        notices = compare([kept, listed("Follows")], now=timezone.now()).notices
        assert [notice.startswith("A: aws p5.48xlarge, us-east-1, keeps $3.93") for notice in notices] == [
            True
        ]

    @pytest.mark.shared
    def test_the_real_cut_of_june_2025_parts_plans_that_keep_the_days_around_it(
        self, settings, tmp_path: Path, shared: Path, transactional_db: None
    ):
        settings.RAW_DIR = tmp_path / "raw"
        file = shared / "data/prices/aws_p5_48xlarge_us-east-1_daily_2025-04_2026-08.csv"
        call_command("ingest", "accelerators", stdout=io.StringIO())
        call_command("ingest", "price_history_table", file=[file], stdout=io.StringIO())
        days = [datetime(2025, 6, day, 12, tzinfo=UTC) for day in (4, 5)]
        plans = load_plans([newest(listed(kept=day)) for day in days], timezone.now())
        # 98.32 and 55.04 dollars an hour for 8 GPUs
        rates = [plan.sources[0].usd_per_gpu_hour for plan in plans]
        assert rates == [Decimal("98.32") / 8, Decimal("55.04") / 8]

    def test_facts_that_are_gone_leave_it_with_price_run_and_source(self, viewer_client: Client):
        batch = make_batch()
        make_price(batch=batch)
        scenario = listed(kept=NOW)
        seen = total(viewer_client, scenario)
        Price.objects.all().delete()
        make_batch()  # something was published since, so that every page looks again
        assert total(viewer_client, scenario) == seen == pytest.approx(31.44 * HOURS_2027)
        [plan] = load_plans([newest(scenario)], NOW)
        assert (plan.sources[0].run_id, plan.sources[0].as_of) == (batch.run_id, batch.as_of)
        assert "say unknown now" in plan.prices.corrections[0]

    def test_a_price_that_was_unknown_stays_unknown_until_the_plan_takes_newer_ones(
        self, viewer_client: Client
    ):
        scenario = listed(kept=NOW)
        make_price()
        assert total(viewer_client, scenario) is None

    def test_an_exchange_rate_is_kept_with_the_price(self):
        quote = prices.Quote(
            key=prices.PriceKey("ovh", "h100", "gra", "on_demand"), state="priced", reason="",
            usd_per_gpu_hour=Decimal("3.240000000"), usd_per_hour=Decimal("3.24"), upfront=None,
            gpu_count=Decimal(1), currency="EUR", zone="", effective_from=OLD, source="list_prices", run_id=7,
            as_of=MARCH, reference="", price_per_hour=Decimal("3.00"), fx_rate=Decimal("1.08"),
            fx_date=date(2026, 2, 27),
        )  # fmt: skip
        # as the first version of this table wrote it
        stored = {
            "key": {"provider": "ovh", "sku": "h100", "region": "gra", "term": "on_demand", "payment": "",
                    "zone": ""},
            "state": "priced", "reason": "", "usd_per_gpu_hour": "3.240000000", "usd_per_hour": "3.24",
            "upfront": None, "gpu_count": "1", "currency": "EUR", "zone": "",
            "effective_from": "2026-01-01T00:00:00Z", "source": "list_prices", "run_id": 7,
            "as_of": "2026-03-01T00:00:00Z", "reference": "", "price_per_hour": "3.00", "fx_rate": "1.08",
            "fx_date": "2026-02-27",
        }  # fmt: skip
        assert kept_quotes(Revision(kept_quotes=[stored])) == {quote.key: quote}

    def test_each_revision_is_read_at_its_own_date(self):
        cut_in_june()
        march, follows = listed(kept=MARCH), listed()
        plans = load_plans([newest(march), newest(follows)], NOW)
        assert [plan.plan.supplies[0].usd_per_gpu_hour for plan in plans] == [10.0, 5.0]
        assert [plan.prices.moment for plan in plans] == [MARCH, NOW]
        together = load_plans([newest(march), newest(follows)], NOW, for_all=True)
        assert [plan.plan.supplies[0].usd_per_gpu_hour for plan in together] == [5.0, 5.0]

    def test_many_plans_of_two_dates_take_one_query_for_each_date(self, django_assert_num_queries):
        make_price()

        def make(count: int) -> None:
            for _ in range(count):
                for kept in (None, NOW):
                    supplies = [make_on_demand(price=make_key()), make_spot(price=make_typed("1"))]
                    make_scenario(supplies=[*supplies, make_owned()],
                                  revision=make_revision(prices_as_of=kept))  # fmt: skip

        later = NOW + timedelta(days=1)
        make(1)
        # as for plans of one date, and the prices of the second
        with django_assert_num_queries(11):
            load_plans(newest_revisions(Scenario.objects.all()), later)
        make(6)
        with django_assert_num_queries(11):
            load_plans(newest_revisions(Scenario.objects.all()), later)

    def test_a_kept_plan_is_not_loaded_anew_at_midnight_and_one_that_follows_is(
        self, django_assert_num_queries
    ):
        make_price()
        kept, follows = newest(listed(kept=NOW)), newest(listed())
        today, tomorrow = (DataDate(NOW + timedelta(days=n), False, (1, 1, 0)) for n in (0, 1))
        first = loaded_plans([kept], today)[0]
        with django_assert_num_queries(0):
            assert loaded_plans([kept], tomorrow)[0] is first
        assert loaded_plans([follows], today)[0] is not loaded_plans([follows], tomorrow)[0]
        # read with all others at one date it is another plan, whatever the moment
        assert loaded_plans([kept], DataDate(NOW, True, (1, 1, 0), for_all=True))[0] is not first

    def test_a_copy_keeps_date_and_prices(self):
        make_price()
        scenario = listed(kept=NOW)
        Price.objects.all().delete()
        add_revision(scenario, copy_of(newest(scenario)), edited=1, author=None, now=NOW)
        first, second = (whole_revisions().get(scenario=scenario, number=number) for number in (1, 2))
        assert (second.prices_as_of, second.kept_quotes) == (NOW, first.kept_quotes)
        assert changes_between(first, second) == []

    def test_a_date_without_its_prices_cannot_be_stored(self):
        scenario = listed()
        with pytest.raises(IntegrityError), transaction.atomic():
            Revision.objects.filter(scenario=scenario).update(prices_as_of=NOW)


class TestOldPrices:
    def kept_ago(self, days: int, name: str = "Old", **supply: Any) -> Scenario:
        moment = data_date(timezone.now()).as_of - timedelta(days=days)
        supplies = [make_on_demand(price=supply.get("price") or make_key())]
        return make_scenario(name, supplies, revision=make_revision(prices_as_of=moment))

    def old(self, client: Client) -> list[tuple[str, str]]:
        found = client.get("/scenarios/").context["old_prices"]
        return [(each.row.scenario.name, each.reason) for each in found]

    def test_the_list_names_those_of_more_than_90_days_ago(self, viewer_client: Client):
        make_price(effective_from=OLD)
        self.kept_ago(91, "Old")
        self.kept_ago(89, "Not old")
        listed("Follows")
        self.kept_ago(300, "Typed", price=make_typed("4"))
        assert self.old(viewer_client) == [("Old", "older than 90 days")]
        html = viewer_client.get("/scenarios/").content.decode()
        assert "1 scenario uses old prices" in html
        assert "Use today’s prices" not in html  # a viewer is offered nothing that would be refused

    def test_a_cadence_counts_twice_and_only_where_the_source_has_published_since(
        self, viewer_client: Client
    ):
        assert timedelta(days=7) == SOURCES["skypilot"].CADENCE
        start = timezone.now() - timedelta(days=60)
        batch = make_batch(source="skypilot", published_at=start, as_of=start)
        make_price(source="skypilot", batch=batch, effective_from=OLD)
        self.kept_ago(15, "Two weeks and a day")
        self.kept_ago(13, "Not yet two weeks")
        assert self.old(viewer_client) == []
        make_batch(source="skypilot", published_at=timezone.now() - timedelta(days=1))
        [(name, reason)] = self.old(viewer_client)
        assert name == "Two weeks and a day"
        assert "comes every 7 days, last on" in reason

    def test_what_was_taken_back_does_not_count_as_newer(self, viewer_client: Client):
        start = timezone.now() - timedelta(days=60)
        batch = make_batch(source="skypilot", published_at=start, as_of=start)
        make_price(source="skypilot", batch=batch, effective_from=OLD)
        self.kept_ago(15)
        make_batch(source="skypilot", published_at=timezone.now(), undone_at=timezone.now())
        assert self.old(viewer_client) == []

    def test_one_press_saves_new_revisions_at_todays_prices(self, planner_client: Client):
        cut_in_june()
        scenarios = [listed("One", MARCH), listed("Two", MARCH)]
        html = planner_client.get("/scenarios/").content.decode()
        assert "2 scenarios use old prices" in html
        sent = {"s": [scenario.slug for scenario in scenarios]}
        response = planner_client.post("/scenarios/prices/refresh/", sent, follow=True)
        assert response.redirect_chain[0][0] == "/scenarios/"
        said = [str(message) for message in response.context["messages"]]
        assert len(said) == 2
        assert "revision 2, keeps the prices of" in said[0]
        assert "it costs $350\u00a0k in cash, before $701\u00a0k." in said[0]
        assert self.old(planner_client) == []
        for scenario in scenarios:
            assert newest(scenario).number == 2
            assert str(newest(scenario).author) == "planner@example.com"
            assert total(planner_client, scenario) == pytest.approx(AFTER)
            assert total(planner_client, scenario, "?rev=1") == pytest.approx(BEFORE)

    def test_from_its_own_page_it_leads_back_there(self, planner_client: Client):
        cut_in_june()
        scenario = listed("One", MARCH)
        assert "Use today’s prices" in planner_client.get(f"/scenarios/{scenario.slug}/").content.decode()
        response = planner_client.post("/scenarios/prices/refresh/", {"s": scenario.slug})
        assert response["Location"] == f"/scenarios/{scenario.slug}/"

    def test_a_viewer_may_not_and_what_is_unknown_is_not_found(
        self, viewer_client: Client, planner_client: Client
    ):
        cut_in_june()
        scenario = listed("One", MARCH)
        assert viewer_client.post("/scenarios/prices/refresh/", {"s": scenario.slug}).status_code == 403
        assert planner_client.get("/scenarios/prices/refresh/").status_code == 405
        for slugs in (["nobody"], [scenario.slug, "nobody"], ["\0"]):
            assert planner_client.post("/scenarios/prices/refresh/", {"s": slugs}).status_code == 404
        assert planner_client.post("/scenarios/prices/refresh/", {}).status_code == 302
        assert scenario.revisions.count() == 1

    def test_a_scenario_called_prices_has_its_own_page(self, viewer_client: Client):
        assert total(viewer_client, make_scenario("Prices")) is not None

    def test_query_counts_do_not_grow_with_scenarios_that_keep_dates(
        self, viewer_client: Client, django_assert_max_num_queries
    ):
        make_price(effective_from=OLD)
        dates = (MARCH, CHANGE)

        def make(count: int) -> None:
            for number in range(count):
                listed(kept=dates[number % 2])

        make(2)
        with django_assert_max_num_queries(30) as few:
            viewer_client.get("/scenarios/")
        make(12)
        with django_assert_max_num_queries(30) as many:
            viewer_client.get("/scenarios/")
        assert len(many) == len(few)

    def test_list_and_file_carry_the_date_of_each_row(self, viewer_client: Client):
        cut_in_june()
        listed("Kept", MARCH)
        listed("Follows")
        page = viewer_client.get("/scenarios/")
        texts = {row.scenario.slug: row.summary.prices.short for row in page.context["rows"]}
        assert texts == {"kept": "1\u00a0Mar", "follows": "newest"}
        assert all(f'<td class="nowrap">{text}</td>' in page.content.decode() for text in texts.values())
        rows = rows_of(b"".join(viewer_client.get("/scenarios.csv").streaming_content))
        dates = {row["scenario"]: row["as_of"] for row in rows}
        assert dates["kept"] == "2026-03-01T00:00:00Z"
        assert dates["follows"] == f"{data_date(timezone.now()).as_of:%Y-%m-%dT%H:%M:%SZ}"
