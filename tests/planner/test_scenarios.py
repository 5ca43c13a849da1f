"""Plans are saved in revisions that never change; forms refuse what cannot be meant, in the field."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from planner.models import Revision, Scenario, SupplyPrice, Workload
from planner.queries import load_plan, whole_revisions
from planner.scenarios.changes import changes_between
from planner.scenarios.revisions import (
    Draft,
    StaleEditError,
    add_revision,
    copy_of,
    free_slug,
    make_plan_of_record,
    remove_scenarios,
)
from tests.fact_builders import make_price
from tests.plan_builders import (
    NOW,
    make_key,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_spot,
    make_typed,
    make_workload,
)

pytestmark = pytest.mark.django_db


def newest(scenario: Scenario) -> Revision:
    return whole_revisions().filter(scenario=scenario).order_by("-number")[0]


class TestRevisions:
    def test_a_new_scenario_has_an_address_and_its_first_revision(self):
        scenario = make_scenario("Own 96 + reserve 32")
        assert scenario.slug == "own-96-reserve-32"
        assert [revision.number for revision in scenario.revisions.all()] == [1]

    @pytest.mark.parametrize("name", ["new", "=1+1", "\u05e9\u05dc\u05d5\u05dd", "🚀", "../..", "x" * 120])
    def test_every_name_gets_an_address_of_its_own(self, name: str):
        slugs = {make_scenario(name).slug for _ in range(3)}
        assert len(slugs) == 3
        assert "new" not in slugs
        assert all(re.fullmatch(r"[-a-z0-9_]{1,80}", slug) for slug in slugs)

    def test_of_two_that_take_one_address_at_the_same_moment_the_second_gets_another(self, monkeypatch):
        make_scenario("Own 9")
        seen = iter(["own-9"])  # free when it was looked up, taken when it was written
        monkeypatch.setattr(
            "planner.scenarios.revisions.free_slug", lambda name: next(seen, None) or free_slug(name)
        )
        assert make_scenario("Own 9").slug == "own-9-2"

    def test_a_free_address_is_not_one_that_starts_the_same(self):
        make_scenario("Own 9")
        assert free_slug("Own") == "own"
        assert free_slug("Own 9") == "own-9-2"

    def test_saving_adds_a_revision_and_leaves_the_old_one_alone(self):
        scenario = make_scenario()
        before = load_plan(newest(scenario), NOW).plan
        draft = Draft(make_revision(months=24), [make_workload(gpus=Decimal(16))], [make_on_demand("5")])
        later = NOW + timedelta(hours=1)
        revision = add_revision(scenario, draft, edited=1, author=None, now=later)
        assert revision.number == 2
        assert load_plan(whole_revisions().get(scenario=scenario, number=1), NOW).plan == before
        assert load_plan(newest(scenario), NOW).plan.months == 24
        scenario.refresh_from_db()
        assert scenario.updated_at == later

    def test_an_edit_of_an_older_revision_is_refused(self):
        scenario = make_scenario()
        add_revision(scenario, copy_of(newest(scenario)), edited=1, author=None, now=NOW)
        with pytest.raises(StaleEditError) as stale:
            add_revision(scenario, copy_of(newest(scenario)), edited=1, author=None, now=NOW)
        assert stale.value.newest.number == 2
        assert scenario.revisions.count() == 2

    def test_a_copy_is_equal_and_its_own(self):
        supplies = [make_owned(loan_share=Decimal("0.5"), loan_months=12), make_reserved(), make_on_demand(),
                    make_spot(price=make_key(term="spot"))]  # fmt: skip
        scenario = make_scenario("first", supplies, [make_workload(profile=[1.0] * 168)])
        first = newest(scenario)
        second = add_revision(scenario, copy_of(first), edited=1, author=None, now=NOW)
        again = whole_revisions().get(pk=second.pk)
        assert load_plan(again, NOW).plan == load_plan(first, NOW).plan
        assert again.uid != first.uid
        assert SupplyPrice.objects.count() == 6

    def test_one_plan_of_record_at_most(self):
        first, second = make_scenario(), make_scenario()
        make_plan_of_record(first)
        make_plan_of_record(second)
        assert [s.pk for s in Scenario.objects.filter(is_plan_of_record=True)] == [second.pk]
        with pytest.raises(IntegrityError), transaction.atomic():
            Scenario.objects.filter(pk=first.pk).update(is_plan_of_record=True)

    def test_removing_leaves_nothing_behind(self):
        make_scenario(supplies=[make_on_demand(), make_owned(), make_reserved(), make_spot()])
        kept = make_scenario()
        assert remove_scenarios(Scenario.objects.exclude(pk=kept.pk)) == 1
        assert {row.revision.scenario_id for row in SupplyPrice.objects.all()} == {kept.pk}
        assert Workload.objects.count() == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"months": 0}, {"months": 600}, {"start": date(2027, 1, 2)},
            {"discount_rate_per_year": Decimal("1.5")}, {"price_change_per_year": Decimal("-0.95")},
        ],
    )  # fmt: skip
    def test_the_database_refuses_plans_that_cannot_be(self, changes: dict[str, Any]):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_scenario(revision=make_revision(**changes))

    @pytest.mark.parametrize(
        "supply",
        [
            lambda: make_on_demand("-1"),
            lambda: make_on_demand(price=SupplyPrice(provider="aws", usd_per_gpu_hour=Decimal(1))),
            lambda: make_reserved(gpus=0),
            lambda: make_reserved(term_months=600),
            lambda: make_spot(useful_work_factor=Decimal("1.1")),
            lambda: make_owned(usd_capex_per_server=Decimal(0)),
            lambda: make_owned(deposit_share=Decimal("1.000001")),
            lambda: make_owned(availability=Decimal(0)),
            lambda: make_owned(loan_share=Decimal("0.5"), loan_months=0),
        ],
    )
    def test_the_database_refuses_supplies_that_cannot_be(self, supply):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_scenario(supplies=[supply()])

    def test_two_reference_prices_in_a_plan_are_refused(self):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_scenario(supplies=[make_on_demand(), make_on_demand(name="another")])

    def test_changes_are_told_in_words(self):
        scenario = make_scenario(supplies=[make_on_demand("4"), make_spot()])
        draft = Draft(make_revision(months=24), [make_workload(gpus=Decimal(16))],
                      [make_on_demand("3.5"), make_owned()])  # fmt: skip
        add_revision(scenario, draft, edited=1, author=None, now=NOW)
        old, new = (whole_revisions().get(scenario=scenario, number=number) for number in (1, 2))
        assert changes_between(old, new) == [
            "months: 12 → 24",
            "serving, gpus: 8 → 16",
            "supply spot: removed",
            "on demand, price usd per gpu hour: 4 → 3.5",
            "supply own: added",
        ]
        assert changes_between(new, new) == []


class TestList:
    def test_it_shows_what_each_plan_owns_costs_and_leaves_undone(self, viewer_client: Client):
        small = make_scenario("Too small", [make_on_demand(quota_gpus=Decimal(4))])
        own = make_scenario("Own", [make_on_demand(), make_owned(servers=2)])
        rows = {row.scenario.slug: row.summary for row in viewer_client.get("/scenarios/").context["rows"]}
        assert rows[small.slug].feasible == "Jan\u00a02027"
        assert (rows[own.slug].owned_gpus, rows[own.slug].feasible) == (16, "yes")
        assert rows[own.slug].total.value == pytest.approx(200_000.0)

    def test_an_unknown_total_is_unknown_with_the_reason(self, viewer_client: Client):
        make_scenario(supplies=[make_on_demand(None)])
        html = viewer_client.get("/scenarios/").content.decode()
        assert "price per GPU-hour is unknown" in html
        assert "$0" not in html

    def test_the_plan_of_record_stands_first(self, viewer_client: Client):
        make_scenario("First")
        record = make_scenario("Second")
        make_plan_of_record(record)
        rows = viewer_client.get("/scenarios/").context["rows"]
        assert [row.scenario.name for row in rows] == ["Second", "First"]

    def test_it_finds_by_name_and_survives_any_text(self, viewer_client: Client):
        make_scenario("Own 96")
        make_scenario("Stay")
        assert len(viewer_client.get("/scenarios/?q=own").context["rows"]) == 1
        for text in ("%00", "%ED%B2%80", "%27%22%3Cscript%3E", "x" * 5000):
            assert viewer_client.get(f"/scenarios/?q={text}").status_code == 200

    def test_query_counts_do_not_grow_with_rows(self, viewer_client: Client, django_assert_max_num_queries):
        def make(count: int) -> None:
            for _ in range(count):
                make_scenario(supplies=[make_on_demand(), make_owned(), make_reserved(), make_spot()])

        make(2)
        with django_assert_max_num_queries(25) as few:
            viewer_client.get("/scenarios/")
        make(10)
        with django_assert_max_num_queries(25) as many:
            viewer_client.get("/scenarios/")
        assert len(many) == len(few)

    def test_an_empty_list_offers_a_start(self, planner_client: Client, viewer_client: Client):
        assert "Make all three from five answers" in planner_client.get("/scenarios/").content.decode()
        assert "Make all three" not in viewer_client.get("/scenarios/").content.decode()


class TestResult:
    def test_it_answers_in_money_and_shows_the_three_views(self, viewer_client: Client):
        scenario = make_scenario("Own", [make_on_demand(), make_owned()])
        result = viewer_client.get(f"/scenarios/{scenario.slug}/").context["result"]
        assert result.answer == (
            "Own costs $100\u00a0k over 12 months from Jan\u00a02027, $1.43 per useful GPU-hour: "
            "$180\u00a0k less than renting all of it on demand."
        )
        # straight line over 60 months to a residual of nothing: a fifth in the first year, and the rest
        # is a loss when the horizon ends with nothing credited
        totals = {total.view: total.total.value for total in result.totals}
        assert totals["cash"] == 100_000.0
        assert totals["present_value"] == 100_000.0
        assert set(totals) == {"cash", "amortized", "present_value"}

    def test_what_is_left_undone_is_said(self, viewer_client: Client):
        scenario = make_scenario("Small", [make_on_demand(quota_gpus=Decimal(4))])
        answer = viewer_client.get(f"/scenarios/{scenario.slug}/").context["result"].answer
        assert "leaves 35.0\u00a0k\u00a0GPU-h of the demand unserved, first in Jan\u00a02027" in answer
        assert "less than" not in answer

    def test_an_unknown_total_names_the_gap_in_the_answer(self, viewer_client: Client):
        scenario = make_scenario("Own", [make_on_demand(), make_owned(usd_capex_per_server=None)])
        response = viewer_client.get(f"/scenarios/{scenario.slug}/")
        assert "is unknown: own: price per server is unknown." in response.context["result"].answer
        assert "NaN" not in response.content.decode()

    def test_assumptions_say_where_they_come_from(self, viewer_client: Client):
        scenario = make_scenario(
            "Own", [make_on_demand(), make_owned(pue=Decimal("1.4"), warranty_months=48)]
        )
        lines = {
            line.label: line
            for line in viewer_client.get(f"/scenarios/{scenario.slug}/").context["result"].assumptions
        }
        assert (lines["PUE"].value, lines["PUE"].is_default) == ("1.4", True)
        assert "survey" in lines["PUE"].source
        assert (lines["Warranty in the price"].value, lines["Warranty in the price"].is_default) == (
            "48",
            False,
        )
        assert lines["Discount rate"].value == "10"

    def test_an_old_revision_can_be_opened(self, viewer_client: Client):
        scenario = make_scenario()
        draft = copy_of(newest(scenario))
        draft.workloads[0].gpus = Decimal(16)
        add_revision(scenario, draft, edited=1, author=None, now=NOW)
        old = viewer_client.get(f"/scenarios/{scenario.slug}/?rev=1").context["result"]
        new = viewer_client.get(f"/scenarios/{scenario.slug}/").context["result"]
        assert new.card.total.value == pytest.approx(2 * old.card.total.value)

    @pytest.mark.parametrize("more", ["rev=99", "rev=x", "view=gold", "as_of=never", "speed=1"])
    def test_nonsense_in_the_address_is_a_notice(self, viewer_client: Client, more: str):
        scenario = make_scenario()
        response = viewer_client.get(f"/scenarios/{scenario.slug}/?{more}")
        assert response.status_code == 200
        assert len(response.context["notices"]) == 1

    def test_prices_are_read_at_the_date_of_the_address(self, viewer_client: Client):
        old, change = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
        price = make_price(price_per_hour=Decimal(80), effective_from=old, effective_to=change)
        make_price(sku=price.sku, price_per_hour=Decimal(40), effective_from=change)
        scenario = make_scenario(supplies=[make_on_demand(price=make_key())])
        then = viewer_client.get(f"/scenarios/{scenario.slug}/?as_of=2026-03-01").context["result"]
        now = viewer_client.get(f"/scenarios/{scenario.slug}/").context["result"]
        assert then.card.total.value == pytest.approx(2 * now.card.total.value)
        assert then.is_frozen

    def test_an_unknown_scenario_is_not_found(self, viewer_client: Client):
        for address in ("/scenarios/nobody/", "/scenarios/nobody.csv", "/scenarios/nobody.json"):
            assert viewer_client.get(address).status_code == 404

    def test_planners_make_it_the_plan_of_record_and_viewers_do_not(
        self, planner_client: Client, viewer_client: Client
    ):
        scenario = make_scenario()
        assert viewer_client.post(f"/scenarios/{scenario.slug}/record/").status_code == 403
        assert planner_client.get(f"/scenarios/{scenario.slug}/record/").status_code == 405
        planner_client.post(f"/scenarios/{scenario.slug}/record/")
        scenario.refresh_from_db()
        assert scenario.is_plan_of_record


def test_a_typed_price_names_its_source_and_author():
    scenario = make_scenario(supplies=[make_on_demand(price=make_typed("4", source_date=date(2026, 11, 1)))])
    source = load_plan(newest(scenario), NOW).sources[0]
    assert (source.text, source.as_of, source.run_id) == ("a quote", date(2026, 11, 1), None)
