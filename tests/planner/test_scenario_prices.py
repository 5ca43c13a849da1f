"""Which prices a scenario keeps is chosen where it is made, edited and saved from Compare."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from costs.models import Price
from planner.models import Revision, Scenario
from planner.scenarios.changes import changes_between
from planner.scenarios.kept_prices import kept_quotes
from planner.scenarios.plan_cache import data_date
from tests.fact_builders import make_accelerator, make_batch, make_price
from tests.planner.listed_plans import (
    AFTER,
    BEFORE,
    MARCH,
    cut_in_june,
    listed,
    newest,
    next_list,
    query,
    total,
)

pytestmark = pytest.mark.django_db


class TestMakingAndEditing:
    @pytest.fixture
    def scenario(self, db: None) -> Scenario:
        make_accelerator()
        cut_in_june()
        return listed("Plan", MARCH)

    def sent(self, scenario: Scenario, **changes: str) -> dict[str, str]:
        revision = newest(scenario)
        return {
            "name": scenario.name, "gpu_model": revision.gpu_model, "start": "2027-01", "months": "12",
            "currency": "USD", "discount_rate_per_year": "10", "price_change_per_year": "0",
            "edited": str(revision.number), "prices": "keep",
            "workload-TOTAL_FORMS": "1", "workload-INITIAL_FORMS": "1", "workload-0-was": "serving",
            "workload-0-name": "serving", "workload-0-kind": "inference", "workload-0-gpus": "8",
            "workload-0-growth_per_month": "0", "workload-0-deferrable_hours": "0",
            "owned-TOTAL_FORMS": "0", "owned-INITIAL_FORMS": "0",
            "rented-TOTAL_FORMS": "1", "rented-INITIAL_FORMS": "1", "rented-0-name": "on demand",
            "rented-0-kind": "on_demand", "rented-0-listed": "aws | p5.48xlarge | us-east-1 | on_demand",
            "rented-0-gpus_per_instance": "1", "rented-0-is_reference": "on", "rented-0-salvage_share": "0",
        } | changes  # fmt: skip

    def edit(self, client: Client, scenario: Scenario, **changes: str) -> Any:
        return client.post(f"/scenarios/{scenario.slug}/edit/", self.sent(scenario, **changes))

    def test_the_wizard_keeps_the_prices_of_the_moment(self, planner_client: Client):
        make_accelerator(power_w=Decimal(700))
        make_price()
        answers = {"gpu": "h100-sxm-80gb", "gpus_busy": "92", "growth": "1.5", "place": "aws|us-east-1",
                   "usd_per_gpu": ""}  # fmt: skip
        planner_client.post("/scenarios/new/", answers)
        dates = set(Revision.objects.values_list("prices_as_of", flat=True))
        assert dates == {data_date(timezone.now()).as_of}
        assert all(kept_quotes(revision) for revision in Revision.objects.all())

    def test_an_edit_keeps_the_date_that_is_there(self, planner_client: Client, scenario):
        before = newest(scenario)
        assert self.edit(planner_client, scenario).status_code == 302
        assert changes_between(before, newest(scenario)) == []
        assert total(planner_client, scenario) == pytest.approx(BEFORE)

    def test_an_edit_keeps_prices_that_no_list_knows_any_more(self, planner_client: Client, scenario):
        Price.objects.all().delete()
        make_batch()
        assert self.edit(planner_client, scenario, months="6").status_code == 302
        assert newest(scenario).months == 6
        assert kept_quotes(newest(scenario)) == kept_quotes(scenario.revisions.get(number=1))

    def test_todays_prices_are_one_choice_away_and_the_old_revision_stays(
        self, planner_client: Client, scenario
    ):
        assert self.edit(planner_client, scenario, prices="today").status_code == 302
        assert newest(scenario).prices_as_of == data_date(timezone.now()).as_of
        assert total(planner_client, scenario) == pytest.approx(AFTER)
        assert total(planner_client, scenario, "?rev=1") == pytest.approx(BEFORE)
        [said] = changes_between(scenario.revisions.get(number=1), newest(scenario))
        assert said.startswith("prices as of: 1\u00a0Mar\u00a02026\u00a000:00\u00a0UTC → ")

    def test_it_can_follow_the_newest_and_then_keeps_nothing(self, planner_client: Client, scenario):
        assert self.edit(planner_client, scenario, prices="newest").status_code == 302
        assert (newest(scenario).prices_as_of, newest(scenario).kept_quotes) == (None, None)
        assert total(planner_client, scenario) == pytest.approx(AFTER)

    def test_a_day_is_taken_at_its_end(self, planner_client: Client, scenario):
        self.edit(planner_client, scenario, prices="day", prices_day="2026-06-01")
        assert newest(scenario).prices_as_of == datetime(2026, 6, 1, 23, 59, 59, 999_999, tzinfo=UTC)
        assert total(planner_client, scenario) == pytest.approx(AFTER)
        self.edit(planner_client, scenario, prices="day", prices_day="2026-05-31")
        assert total(planner_client, scenario) == pytest.approx(BEFORE)

    def test_today_as_a_day_is_the_newest_publication(self, planner_client: Client, scenario):
        self.edit(planner_client, scenario, prices="day", prices_day=f"{timezone.now():%Y-%m-%d}")
        assert newest(scenario).prices_as_of == data_date(timezone.now()).as_of

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"prices": "day"}, "prices_day"),
            ({"prices": "day", "prices_day": "soon"}, "prices_day"),
            ({"prices": "day", "prices_day": "2089-01-01"}, "prices_day"),
            ({"prices": "day", "prices_day": "1999-12-31"}, "prices_day"),
            ({"prices": "keep", "prices_day": "2026-06-01"}, "prices"),
            ({"prices": "yesterday"}, "prices"),
            ({"prices": ""}, "prices"),
        ],
    )
    def test_dates_that_cannot_be_meant_are_refused_in_their_field(
        self, planner_client: Client, scenario, changes: dict[str, str], field: str
    ):
        response = self.edit(planner_client, scenario, **changes)
        assert list(response.context["editor"].plan.errors) == [field]
        assert scenario.revisions.count() == 1

    def test_a_listed_price_must_be_known_at_the_date_that_is_chosen(self, planner_client: Client, scenario):
        response = self.edit(planner_client, scenario, prices="day", prices_day="2025-06-01")
        [form] = response.context["editor"].rented
        assert "on file for 2025-06-01" in form.errors["listed"][0]

    def test_a_plan_that_follows_goes_on_following_unless_a_date_is_chosen(self, planner_client: Client):
        make_accelerator()
        cut_in_june()
        follows = listed("Follows")
        html = planner_client.get(f"/scenarios/{follows.slug}/edit/").content.decode()
        assert re.search(r'<option value="newest" selected>', html)
        assert 'value="keep"' not in html
        assert self.edit(planner_client, follows, prices="newest").status_code == 302
        assert newest(follows).prices_as_of is None

    @pytest.mark.parametrize("term", ["reserved_1y", "convertible_3y", "compute_plan_1y", "capacity_block"])
    def test_the_price_of_a_commitment_is_none_by_the_hour(self, planner_client: Client, scenario, term: str):
        key = f"aws | p5.48xlarge | us-east-1 | {term}"
        response = self.edit(planner_client, scenario, **{"rented-0-listed": key})
        [form] = response.context["editor"].rented
        assert "price of a commitment" in form.errors["listed"][0]


class TestSaveFromCompare:
    def test_it_costs_to_the_cent_what_the_preview_said_whatever_is_published_meanwhile(
        self, planner_client: Client
    ):
        make_price(price_per_hour=Decimal("31.44"))
        pair = [listed("Stay"), listed("Own")]
        page = planner_client.get(f"/compare/?{query(*pair)}&drift_year=-12.3")
        shown = page.context["comparison"]
        [link] = re.findall(r'href="(/compare/save/[^"]+)"', page.content.decode())
        link = link.replace("&amp;", "&")
        next_list("20")
        assert f'href="/compare/?{shown.query}"' not in planner_client.get(link).content.decode()
        planner_client.post(link, {"letter": "B", "name": "Moved"})
        moved = Scenario.objects.get(slug="moved")
        assert newest(moved).prices_as_of == shown.as_of
        assert total(planner_client, moved) == pytest.approx(shown.cards[1].total.value, abs=0.005)
        assert total(planner_client, pair[1]) != pytest.approx(shown.cards[1].total.value, abs=0.005)

    def test_back_leads_to_the_live_page_while_it_shows_the_same(self, planner_client: Client):
        make_price()
        pair = [listed("Stay"), listed("Own")]
        page = planner_client.get(f"/compare/?{query(*pair)}")
        [link] = re.findall(r'href="(/compare/save/[^"]+)"', page.content.decode())
        html = planner_client.get(link.replace("&amp;", "&")).content.decode()
        assert 'href="/compare/?s=stay&amp;s=own"' in html

    def test_a_scenario_that_keeps_a_date_is_saved_with_the_same_prices(self, planner_client: Client):
        cut_in_june()
        pair = [listed("Stay", MARCH), listed("Other")]
        planner_client.post(f"/compare/save/?{query(*pair)}", {"letter": "A", "name": "Copy"})
        copy = newest(Scenario.objects.get(slug="copy"))
        assert (copy.prices_as_of, copy.kept_quotes) == (MARCH, newest(pair[0]).kept_quotes)

    def test_of_a_comparison_at_one_date_the_prices_of_that_date_are_kept(self, planner_client: Client):
        cut_in_june()
        pair = [listed("Stay", MARCH), listed("Other")]
        address = f"/compare/save/?{query(*pair)}&as_of=2026-07-01&prices=one_date"
        planner_client.post(address, {"letter": "A", "name": "Copy"})
        copy = Scenario.objects.get(slug="copy")
        assert newest(copy).prices_as_of == datetime(2026, 7, 1, 23, 59, 59, 999_999, tzinfo=UTC)
        assert total(planner_client, copy) == pytest.approx(AFTER)
