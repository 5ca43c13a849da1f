"""Forms of plans refuse what cannot be meant, in the field, and lose nothing that was typed."""

from decimal import Decimal
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from planner.forms.editor import Editor
from planner.models import Revision, Scenario
from planner.queries import load_plan, whole_revisions
from planner.scenarios.assumptions import server_kw
from planner.scenarios.changes import changes_between
from planner.scenarios.revisions import add_revision, copy_of
from tests.fact_builders import make_accelerator, make_hours, make_price, make_sku
from tests.plan_builders import (
    NOW,
    make_on_demand,
    make_owned,
    make_reserved,
    make_scenario,
    make_spot,
    make_workload,
)

pytestmark = pytest.mark.django_db


def newest(scenario: Scenario) -> Revision:
    return whole_revisions().filter(scenario=scenario).order_by("-number")[0]


def editor_of(scenario: Scenario, sent: dict[str, Any] | None = None) -> Editor:
    models = [("h100-sxm-80gb", "H100")]
    if sent is None:
        return Editor(newest(scenario), models)
    data = QueryDict(mutable=True)
    data.update(sent)
    return Editor(newest(scenario), models, data)


def fields(scenario: Scenario) -> dict[str, Any]:
    """Return what a browser would send back from the editor of a scenario."""
    return sent_by(editor_of(scenario))


def sent_by(editor: Editor) -> dict[str, Any]:
    """Return what a browser would send back from an editor as it stands."""
    sent: dict[str, Any] = {}
    for form in [editor.plan, *editor.workloads, *editor.owned, *editor.rented]:
        for bound in form:
            value = bound.value()
            if isinstance(value, bool):
                if value:
                    sent[bound.html_name] = "on"
            elif value is not None:
                widget = bound.field.widget
                sent[bound.html_name] = (
                    widget.format_value(value) if hasattr(widget, "format_value") else value
                )
    for formset in (editor.workloads, editor.owned, editor.rented):
        for bound in formset.management_form:
            sent[bound.html_name] = bound.value()
    return {
        name: value[0] if isinstance(value, list) and value else value
        for name, value in sent.items()
        if value not in (None, [])
    }


class TestWizard:
    ANSWERS = {
        "gpu": "h100-sxm-80gb", "gpus_busy": "92", "growth": "1.5", "place": "aws|us-east-1",
        "usd_per_gpu": "33500",
    }  # fmt: skip

    def prices(self) -> None:
        make_accelerator(power_w=Decimal(700))
        sku = make_sku()
        make_price(sku=sku, price_per_hour=Decimal("31.44"))
        make_price(sku=sku, term="reserved_1y", payment="no_upfront", price_per_hour=Decimal("20"))
        make_price(sku=sku, term="reserved_3y", payment="all_upfront", price_per_hour=Decimal("16"))

    def test_five_answers_become_plans_side_by_side(self, planner_client: Client):
        self.prices()
        response = planner_client.post("/scenarios/new/", self.ANSWERS, follow=True)
        comparison = response.context["comparison"]
        assert [column.name for column in comparison.columns] == [
            "Stay on demand", "Reserve 88, 3 years", "Reserve 88, 1 year", "Own 88",
        ]  # fmt: skip
        assert comparison.gaps == ()
        assert comparison.answer.letter is not None

    def test_the_plans_hold_the_answers_and_sourced_defaults(self, planner_client: Client):
        self.prices()
        planner_client.post("/scenarios/new/", self.ANSWERS)
        plan = load_plan(newest(Scenario.objects.get(slug="own-88")), NOW).plan
        assert (plan.workloads[0].gpus, plan.workloads[0].growth_per_month) == (92.0, 0.015)
        on_demand, owned = plan.supplies
        assert on_demand.usd_per_gpu_hour == pytest.approx(3.93)
        assert (owned.servers, owned.usd_capex_per_server) == (11, 268_000.0)
        # 8 accelerators of 700 W and 1.82 times that for the server: 10.192 kW
        assert owned.max_kw_per_server == pytest.approx(10.192)
        assert server_kw(Decimal(700), 8) == (Decimal("2.2932"), Decimal("10.1920"))

    def test_without_a_purchase_price_the_plan_is_made_and_names_the_gap(self, planner_client: Client):
        self.prices()
        response = planner_client.post("/scenarios/new/", self.ANSWERS | {"usd_per_gpu": ""}, follow=True)
        gaps = response.context["comparison"].gaps
        assert [(gap.letter, gap.field) for gap in gaps] == [("D", "usd_capex_per_server")]

    def test_a_gpu_that_is_not_sold_there_is_refused_with_where_it_is(self, planner_client: Client):
        self.prices()
        tpu = make_accelerator(slug="tpu", name="TPU")
        make_price(sku=make_sku(provider="gcp", name="other", accelerator=tpu), region="us-central1")
        response = planner_client.post("/scenarios/new/", self.ANSWERS | {"place": "gcp|us-central1"})
        assert "aws · us-east-1" in response.context["form"].errors["place"][0]
        assert Scenario.objects.count() == 0

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("gpu", "abacus"), ("gpu", ""), ("gpus_busy", "0"), ("gpus_busy", "1000000000"),
            ("gpus_busy", "-1"), ("gpus_busy", "NaN"), ("gpus_busy", "many"), ("growth", "600"),
            ("growth", ""), ("place", "moon|base"), ("usd_per_gpu", "0.000001"), ("usd_per_gpu", "-5"),
            ("usd_per_gpu", "1e12"),
        ],
    )  # fmt: skip
    def test_absurd_answers_are_refused_in_the_field(self, planner_client: Client, field: str, value: str):
        self.prices()
        response = planner_client.post("/scenarios/new/", self.ANSWERS | {field: value})
        assert response.status_code == 200
        assert list(response.context["form"].errors) == [field]
        assert Scenario.objects.count() == 0

    def test_nothing_filled_in_names_every_field_that_is_needed(self, planner_client: Client):
        self.prices()
        response = planner_client.post("/scenarios/new/", {})
        assert list(response.context["form"].errors) == ["gpu", "gpus_busy", "growth", "place"]

    def test_only_gpus_with_a_price_by_the_hour_are_offered(self, planner_client: Client):
        self.prices()
        unpriced = make_sku(name="other", accelerator=make_accelerator(slug="mi350x", name="MI350X"))
        make_price(sku=unpriced, state="unknown", price_per_hour=None)
        form = planner_client.get("/scenarios/new/").context["form"]
        assert [slug for slug, _ in form.fields["gpu"].choices] == ["", "h100-sxm-80gb"]

    def test_without_prices_it_says_how_to_get_some(self, planner_client: Client):
        assert "Load price lists" in planner_client.get("/scenarios/new/").content.decode()

    def test_what_is_measured_answers_two_of_the_five(self, planner_client: Client):
        self.prices()
        make_hours(24 * 7 * 9, NOW.replace(month=9, day=28, hour=0, minute=0), gpus_allocated=Decimal("6.5"))
        form = planner_client.get("/scenarios/new/").context["form"]
        # 6.5 GPUs in every hour, and none more from week to week
        assert (form["gpus_busy"].value(), form["growth"].value()) == ("6.5", "0")

    def test_a_viewer_may_not(self, viewer_client: Client):
        assert viewer_client.get("/scenarios/new/").status_code == 403


class TestEditor:
    @pytest.fixture
    def scenario(self, db: None) -> Scenario:
        make_accelerator()
        supplies = [make_on_demand(), make_owned(), make_reserved(), make_spot()]
        return make_scenario("Mixed", supplies, [make_workload(profile=[1.0] * 168)])

    def test_saving_what_is_there_changes_nothing_but_the_number(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        before = newest(scenario)
        response = planner_client.post(address, fields(scenario))
        assert response.status_code == 302, response.context["editor"].plan.errors
        after = newest(scenario)
        assert after.number == 2
        assert changes_between(before, after) == []
        # the order of supplies is the page's: servers, then rented
        mine, theirs = load_plan(after, NOW).plan, load_plan(before, NOW).plan
        assert set(mine.supplies) == set(theirs.supplies)
        assert mine.workloads == theirs.workloads

    def test_a_change_is_saved_with_its_note_and_author(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        sent = fields(scenario) | {
            "months": "24", "workload-0-gpus": "9.5", "revision_note": "shorter", "name": "Renamed",
            "owned-0-deposit_share": "25",
        }  # fmt: skip
        planner_client.post(address, sent)
        revision = newest(scenario)
        scenario.refresh_from_db()
        assert (revision.months, revision.note, str(revision.author)) == (
            24,
            "shorter",
            "planner@example.com",
        )
        assert revision.workloads.get().gpus == Decimal("9.5")
        assert revision.owned.get().deposit_share == Decimal("0.25")
        assert (scenario.name, scenario.slug) == ("Renamed", "mixed")

    def test_rows_can_be_added_and_taken_out(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        make_price()
        sent = fields(scenario) | {
            "owned-0-DELETE": "on",
            "rented-3-name": "listed",
            "rented-3-kind": "on_demand",
            "rented-3-listed": "aws | p5.48xlarge | us-east-1 | on_demand",
        }
        response = planner_client.post(address, sent)
        assert response.status_code == 302, [form.errors for form in response.context["editor"].rented]
        plan = load_plan(newest(scenario), NOW).plan
        assert {supply.name for supply in plan.supplies} == {"on demand", "reserved", "spot", "listed"}
        listed = next(supply for supply in plan.supplies if supply.name == "listed")
        assert listed.usd_per_gpu_hour == pytest.approx(3.93)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("months", "0"), ("months", "600"), ("months", "12.5"), ("start", "2027-13"),
            ("start", "0001-01"), ("discount_rate_per_year", "100.0001"), ("discount_rate_per_year", "-5"),
            ("price_change_per_year", "-100"), ("gpu_model", "abacus"), ("currency", "XXX"),
            ("name", ""), ("name", "a\0b"), ("name", "a\u202eb"), ("name", "n" * 300),
            ("workload-0-gpus", "0"), ("workload-0-gpus", "1000000000"), ("workload-0-gpus", "Infinity"),
            ("workload-0-growth_per_month", "600"), ("workload-0-deferrable_hours", "48"),
            ("workload-0-interruptible", "on"), ("workload-0-name", ""),
            ("owned-0-servers", "0"), ("owned-0-servers", "1000000000"), ("owned-0-deposit_share", "101"),
            ("owned-0-availability", "0"), ("owned-0-pue", "0.5"), ("owned-0-usd_capex_per_server", "0"),
            ("owned-0-usd_capex_per_server", "1e12"), ("owned-0-idle_kw_per_server", "5"),
            ("owned-0-loan_share", "50"), ("owned-0-order_date", "soon"), ("owned-0-name", "spot"),
            ("rented-0-usd_per_gpu_hour", "-1"), ("rented-0-usd_per_gpu_hour", "NaN"),
            ("rented-0-listed", "aws p5 on demand"),
            ("rented-1-gpus", "0"), ("rented-1-term_months", "600"), ("rented-1-gpus_per_instance", "3"),
            ("rented-2-useful_work_factor", "100.0001"), ("rented-2-is_reference", "on"),
        ],
    )  # fmt: skip
    def test_absurd_values_are_refused_in_their_field(self, scenario, field: str, value: str):
        editor = editor_of(scenario, fields(scenario) | {field: value})
        assert not editor.is_valid(NOW)
        forms = [editor.plan, *editor.workloads, *editor.owned, *editor.rented]
        wrong = {form.add_prefix(name) for form in forms for name in form.errors}
        # whole instances of 3 are said at the number of GPUs, a loan without a term at its term
        said_at = {
            "rented-1-gpus_per_instance": "rented-1-gpus",
            "owned-0-loan_share": "owned-0-loan_months",
        }
        assert wrong == {said_at.get(field, field)} | ({"rented-2-name"} if value == "spot" else set())

    def test_a_refused_page_says_so_with_links_to_the_fields(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        html = planner_client.post(address, fields(scenario) | {"months": "600"}).content.decode()
        assert "This is not saved yet" in html
        assert 'href="#id_months"' in html
        assert scenario.revisions.count() == 1

    def test_what_no_field_can_see_alone_is_refused_and_nothing_is_stored(
        self, planner_client: Client, scenario
    ):
        address = f"/scenarios/{scenario.slug}/edit/"
        sent = fields(scenario) | {"months": "120", "workload-0-growth_per_month": "20"}
        response = planner_client.post(address, sent)
        assert "growth_per_month is 0.2" in response.context["editor"].plan.non_field_errors()[0]
        assert scenario.revisions.count() == 1

    def test_all_blank_is_refused(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        blank = {name: "" if "FORMS" not in name else value for name, value in fields(scenario).items()}
        response = planner_client.post(address, blank)
        assert response.status_code == 200
        assert "name" in response.context["editor"].plan.errors
        assert planner_client.post(address, {}).status_code == 200
        assert scenario.revisions.count() == 1

    def test_a_listed_price_that_no_list_knows_is_refused(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        sent = fields(scenario) | {
            "rented-0-listed": "aws | p9.huge | moon | on_demand", "rented-0-usd_per_gpu_hour": "",
        }  # fmt: skip
        response = planner_client.post(address, sent)
        errors = next(iter(response.context["editor"].rented)).errors
        assert "No price of aws p9.huge in moon is on file" in errors["listed"][0]

    def test_a_listed_price_picked_elsewhere_is_saved_as_it_was_filled_in(
        self, planner_client: Client, scenario
    ):
        make_price(name="p5.big", term="reserved_3y", payment="all_upfront", price_per_hour=Decimal(16))
        address, key = (
            f"/scenarios/{scenario.slug}/edit/",
            "aws | p5.big | us-east-1 | reserved_3y | all_upfront",
        )
        filled = sent_by(planner_client.get(address, {"listed": key}).context["editor"])
        (row,) = {name.rpartition("-")[0] for name, value in filled.items() if value == key}
        response = planner_client.post(address, filled)
        assert "A reserved supply needs this." in response.content.decode()  # how many is not known
        assert planner_client.post(address, filled | {f"{row}-gpus": "16"}).status_code == 302
        saved = newest(scenario).reserved.get(name="aws p5.big us-east-1, 3 years")
        assert (saved.gpus, saved.gpus_per_instance, saved.term_months) == (16, 8, 36)
        assert (saved.payment, saved.price.term) == ("all_upfront", "reserved_3y")

    def test_a_plan_needs_demand_and_supply(self, planner_client: Client, scenario):
        address = f"/scenarios/{scenario.slug}/edit/"
        sent = fields(scenario)
        sent |= {
            f"{name}-DELETE": "on" for name in ("workload-0", "owned-0", "rented-0", "rented-1", "rented-2")
        }
        response = planner_client.post(address, sent)
        assert len(response.context["editor"].plan.non_field_errors()) == 2

    def test_a_stale_edit_is_refused_with_what_changed_and_loses_nothing(
        self, planner_client: Client, scenario
    ):
        address = f"/scenarios/{scenario.slug}/edit/"
        mine = fields(scenario) | {"months": "36"}
        theirs = copy_of(newest(scenario))
        theirs.workloads[0].gpus = Decimal(20)
        add_revision(scenario, theirs, edited=1, author=None, now=NOW)
        response = planner_client.post(address, mine)
        html = response.content.decode()
        assert "Not saved: revision 2 was saved meanwhile" in html
        assert "serving, gpus: 8 → 20" in html
        assert response.context["editor"].plan["months"].value() == "36"
        assert scenario.revisions.count() == 2
        # saved again, knowingly: what was typed becomes the next revision
        again = mine | {"edited": response.context["editor"].plan["edited"].value()}
        assert planner_client.post(address, again).status_code == 302
        assert (newest(scenario).number, newest(scenario).months) == (3, 36)

    def test_a_viewer_may_not_edit(self, viewer_client: Client, scenario):
        assert viewer_client.get(f"/scenarios/{scenario.slug}/edit/").status_code == 403
        assert viewer_client.post(f"/scenarios/{scenario.slug}/edit/", {}).status_code == 403
