"""Compare answers every address: a page, a picker, a 404 for what does not exist, a notice for nonsense."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.test import Client

from planner.comparison import compare
from planner.comparison.address import Address, Chosen, read_address
from planner.models import Scenario
from planner.queries import load_plan, whole_revisions
from tests.fact_builders import make_hours
from tests.plan_builders import (
    NOW,
    make_on_demand,
    make_owned,
    make_reserved,
    make_revision,
    make_scenario,
    make_spot,
    make_workload,
)


def query(*scenarios: Scenario) -> str:
    return "&".join(f"s={scenario.slug}" for scenario in scenarios)


@pytest.fixture
def pair(db: None) -> list[Scenario]:
    return [make_scenario("Stay on demand"), make_scenario("Own 8", [make_on_demand(), make_owned()])]


class TestAddress:
    def test_it_reads_and_writes_the_same_address(self):
        text = "s=a&s=b~3&view=amortized&base=b&as_of=2026-11-30T09%3A40%3A00Z&growth=1.5&kwh=0.11"
        parameters = {
            "s": ["a", "b~3"], "view": ["amortized"], "base": ["b"], "as_of": ["2026-11-30T09:40:00Z"],
            "growth": ["1.5"], "kwh": ["0.11"],
        }  # fmt: skip
        address = read_address(parameters)
        assert address.scenarios == (Chosen("a"), Chosen("b", 3))
        assert address.notices == ()
        assert address.query() == text

    def test_defaults_stay_out(self):
        assert Address((Chosen("a"), Chosen("b")), base="a").query() == "s=a&s=b"

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("util", "-5"), ("util", "100.0001"), ("util", "0"), ("util", "NaN"), ("util", "inf"),
            ("util", "1e999"), ("growth", "1e9"), ("growth", "ten"), ("drift_year", "-100"),
            ("capex_gpu", "1e-6"), ("capex_gpu", "-1"), ("kwh", "99"), ("demand", "1000000000"),
            ("demand", "0"), ("kwh", "0x1"), ("kwh", "1_0"), ("kwh", "١"), ("growth", "\udc80"),
        ],
    )  # fmt: skip
    def test_absurd_values_are_left_out_and_named(self, key: str, value: str):
        address = read_address({"s": ["a", "b"], key: [value]})
        assert address.overrides == {}
        assert len(address.notices) == 1
        assert address.notices[0].startswith(f"{key}=")

    def test_five_scenarios_become_four_and_twins_one(self):
        address = read_address({"s": ["a", "b", "a", "c", "d", "e"]})
        assert [chosen.slug for chosen in address.scenarios] == ["a", "b", "c", "d"]
        assert any("left out: e" in notice for notice in address.notices)
        assert any("a is named twice" in notice for notice in address.notices)

    @pytest.mark.parametrize(
        "text", ["yesterday", "2026-13-01", "9999-01-01", "0001-01-01T00:00+14:00", "\0"]
    )
    def test_a_date_that_is_none_is_live_with_a_notice(self, text: str):
        address = read_address({"as_of": [text]})
        assert address.as_of is None
        assert len(address.notices) == 1

    @pytest.mark.parametrize("text", ["2026-11-30", "20261130", "2026-W49-1"])
    def test_a_day_is_taken_at_its_end(self, text: str):
        address = read_address({"as_of": [text]})
        assert address.as_of == datetime(2026, 11, 30, 23, 59, 59, 999_999, tzinfo=UTC)
        assert address.query() == "as_of=2026-11-30T23%3A59%3A59.999999Z"

    @pytest.mark.parametrize(
        ("text", "hour"),
        [
            ("2026-11-30T00:00:00Z", 0), ("2026-11-30T00:00", 0), ("2026-11-30T09:00Z", 9),
            ("2026-11-30T09:00 02:00", 7),
        ],
    )  # fmt: skip
    def test_a_moment_is_taken_as_it_stands(self, text: str, hour: int):
        assert read_address({"as_of": [text]}).as_of == datetime(2026, 11, 30, hour, tzinfo=UTC)

    def test_print_is_no_view_of_money(self):
        assert read_address({"view": ["amortized", "print"]}).view == "amortized"
        assert read_address({"view": ["print"]}).notices == ()
        assert "one of cash" in read_address({"view": ["gold"]}).notices[0]


class TestPage:
    def test_it_shows_the_answer_and_every_scenario(self, viewer_client: Client, pair):
        response = viewer_client.get(f"/compare/?{query(*pair)}")
        assert response.status_code == 200
        html = response.content.decode()
        assert "less than staying on demand over 12 months" in html
        assert "Stay on demand" in html
        assert "Own 8" in html

    def test_without_scenarios_it_offers_a_choice(self, viewer_client: Client, pair):
        html = viewer_client.get("/compare/").content.decode()
        assert 'value="stay-on-demand"' in html
        assert (
            "One scenario alone is no comparison" in viewer_client.get("/compare/?s=own-8").content.decode()
        )

    @pytest.mark.parametrize("slug", ["nobody", "stay-on-demand'", "%00", "%ED%B2%80", "x" * 500])
    @pytest.mark.parametrize("path", ["/compare/", "/compare/preview/", "/compare.csv", "/compare.json"])
    def test_an_unknown_scenario_is_not_found(self, viewer_client: Client, pair, path: str, slug: str):
        assert viewer_client.get(f"{path}?s=own-8&s={slug}").status_code == 404

    def test_unknown_parameters_are_named(self, viewer_client: Client, pair):
        html = viewer_client.get(f"/compare/?{query(*pair)}&speed=9").content.decode()
        assert "speed" in html
        assert "ignored" in html

    @pytest.mark.parametrize(
        "more", ["&util=-5", "&growth=NaN", "&view=gold", "&base=nobody", "&as_of=x", "&kwh="]
    )
    def test_nonsense_in_the_address_is_never_an_error_page(self, viewer_client: Client, pair, more: str):
        for path in ("/compare/", "/compare/preview/", "/compare.csv"):
            assert viewer_client.get(f"{path}?{query(*pair)}{more}").status_code == 200

    def test_a_value_that_the_model_refuses_for_these_months_is_named(self, viewer_client: Client):
        # 20 % a month for 120 months is more than a thousandfold
        long = [make_scenario(f"Long {n}", revision=make_revision(months=120)) for n in range(2)]
        for path in ("/compare/", "/compare/preview/", "/compare.csv"):
            assert viewer_client.get(f"{path}?{query(*long)}&growth=20").status_code == 200
        comparison = viewer_client.get(f"/compare/?{query(*long)}&growth=20&kwh=0.2").context["comparison"]
        assert "growth is not used" in comparison.notices[0]
        assert comparison.overrides == {"kwh": 0.2}

    def test_plans_that_the_model_refuses_are_left_out_with_the_reason(self, viewer_client: Client, pair):
        wild = [
            make_scenario(
                f"Wild {n}",
                workloads=[make_workload(growth_per_month=Decimal("0.2"))],
                revision=make_revision(months=120),
            )
            for n in range(2)
        ]
        comparison = viewer_client.get(f"/compare/?{query(*pair, *wild)}").context["comparison"]
        assert len(comparison.columns) == 2
        assert comparison.notices[0].startswith("Wild 0 is left out: workload 'serving': growth_per_month")
        html = viewer_client.get(f"/compare/?{query(*wild)}").content.decode()
        assert "Wild 1 is left out" in html
        assert "Which scenarios?" in html
        assert viewer_client.get(f"/compare.csv?{query(*wild)}").status_code == 404
        assert "unknown" in viewer_client.get("/scenarios/").content.decode()
        assert "cannot be calculated" in viewer_client.get(f"/scenarios/{wild[0].slug}/").content.decode()
        assert viewer_client.get(f"/scenarios/{wild[0].slug}.csv").status_code == 404

    def test_no_number_is_ever_nan_or_infinite(self, viewer_client: Client, pair):
        unknown = make_scenario("Unknown", [make_on_demand(None), make_owned(usd_capex_per_server=None)])
        for path in ("/compare/", "/compare/preview/", "/compare.csv", "/compare.json"):
            text = viewer_client.get(f"{path}?{query(*pair, unknown)}").content.decode()
            assert "NaN" not in text
            assert "Infinity" not in text

    def test_a_file_of_another_format_is_not_found(self, viewer_client: Client, pair):
        assert viewer_client.get(f"/compare.xlsx?{query(*pair)}").status_code == 404

    def test_query_counts_do_not_grow_with_scenarios(
        self, viewer_client: Client, pair, django_assert_max_num_queries
    ):
        others = [
            make_scenario(f"More {n}", [make_on_demand(), make_spot(), make_reserved()]) for n in range(2)
        ]
        with django_assert_max_num_queries(30) as two:
            viewer_client.get(f"/compare/?{query(*pair)}")
        with django_assert_max_num_queries(30) as four:
            viewer_client.get(f"/compare/?{query(*pair, *others)}")
        # reserved and spot rows bring their prices: two more tables, however many scenarios
        assert len(four) <= len(two) + 2


class TestPreview:
    def test_it_answers_with_what_changes(self, viewer_client: Client, pair):
        answer = viewer_client.get(f"/compare/preview/?{query(*pair)}&growth=2&live=1").json()
        assert answer["changed"] == "1 assumption differs from the saved scenarios"
        assert answer["sliders"]["growth"] == {
            "value": 2.0,
            "is_changed": True,
            "hint": answer["sliders"]["growth"]["hint"],
        }
        assert set(answer["parts"]) == {"answer", "cards"}
        assert answer["query"] == "s=stay-on-demand&s=own-8&growth=2"

    def test_it_says_what_the_page_says(self, viewer_client: Client, pair):
        address = f"{query(*pair)}&capex_gpu=20000"
        said = viewer_client.get(f"/compare/preview/?{address}").json()["said"]
        page = viewer_client.get(f"/compare/?{address}").context["comparison"].answer
        assert said == f"{page.text} {page.detail_text}"

    def test_it_asks_the_database_little(self, viewer_client: Client, pair, django_assert_max_num_queries):
        viewer_client.get(f"/compare/preview/?{query(*pair)}&live=1")
        # session, person, scenarios, stamp of the facts, revisions
        with django_assert_max_num_queries(5):
            viewer_client.get(f"/compare/preview/?{query(*pair)}&growth=1&live=1")


class TestSave:
    def test_the_name_is_prefilled_with_what_was_changed(self, planner_client: Client, pair):
        html = planner_client.get(f"/compare/save/?{query(*pair)}&growth=2").content.decode()
        assert 'value="Own 8, demand growth a month 2.0 %"' in html

    def test_the_saved_scenario_costs_what_its_preview_said(self, planner_client: Client):
        make_hours(24 * 7 * 9, NOW.replace(month=9, day=28, hour=0, minute=0), gpus_available=Decimal(100),
                   gpus_installed=Decimal(100), gpus_allocated=Decimal(60))  # fmt: skip
        workloads = [make_workload(gpus=Decimal("7.3")), make_workload(name="other", gpus=Decimal("11.9"))]
        owned = make_owned(idle_kw_per_server=Decimal(2), max_kw_per_server=Decimal(10))
        pair = [
            make_scenario("Stay", workloads=[make_workload(gpus=Decimal(9))]),
            make_scenario("Own", [make_on_demand("3.93"), owned], workloads),
        ]
        moved = "&util=61.7&growth=1.37&drift_year=-12.3&capex_gpu=33333.33&kwh=0.1234"
        before = planner_client.get(f"/compare/?{query(*pair)}{moved}").context["comparison"]
        response = planner_client.post(
            f"/compare/save/?{query(*pair)}{moved}", {"letter": "B", "name": "Own, moved"}, follow=True
        )
        assert response.redirect_chain[0][0] == "/compare/?s=stay&s=own&s=own-moved"
        after = response.context["comparison"]
        saved, shown = after.cards[2], before.cards[1]
        assert saved.total.value == pytest.approx(shown.total.value, abs=0.005)
        assert saved.peak_cash.value == pytest.approx(shown.peak_cash.value, abs=0.005)

    def test_the_scenario_compared_stays_as_it_is(self, planner_client: Client, pair):
        planner_client.post(f"/compare/save/?{query(*pair)}&kwh=0.5", {"letter": "B", "name": "Moved"})
        plans = {
            s.slug: load_plan(whole_revisions().get(scenario=s), NOW).plan for s in Scenario.objects.all()
        }
        assert plans["own-8"].supplies[1].usd_per_kwh == 0.0
        assert plans["moved"].supplies[1].usd_per_kwh == 0.5

    def test_a_sample_scenario_is_saved_as_sample(self, planner_client: Client):
        sample = [make_scenario("One", is_sample=True), make_scenario("Two", is_sample=True)]
        planner_client.post(f"/compare/save/?{query(*sample)}", {"letter": "A", "name": "Copy"})
        assert Scenario.objects.get(slug="copy").is_sample

    @pytest.mark.parametrize("name", ["", "a\0b", "a\u202eb", "n" * 121])
    def test_names_that_cannot_be_shown_are_refused_in_the_field(
        self, planner_client: Client, pair, name: str
    ):
        response = planner_client.post(f"/compare/save/?{query(*pair)}", {"letter": "A", "name": name})
        assert response.status_code == 200
        assert "name" in response.context["form"].errors
        assert Scenario.objects.count() == 2

    def test_a_viewer_may_not_save(self, viewer_client: Client, pair):
        assert viewer_client.get(f"/compare/save/?{query(*pair)}").status_code == 403
        assert (
            viewer_client.post(f"/compare/save/?{query(*pair)}", {"letter": "A", "name": "x"}).status_code
            == 403
        )

    def test_a_viewer_sees_no_button_for_it(self, viewer_client: Client, planner_client: Client, pair):
        address = f"/compare/?{query(*pair)}"
        assert "Save as new scenario" not in viewer_client.get(address).content.decode()
        html = planner_client.get(address).content.decode()
        assert "Save as new scenario" in html
        assert "Make B the plan of record" in html


@pytest.mark.django_db
def test_comparing_needs_two_to_four():
    with pytest.raises(ValueError, match="2 to 4"):
        compare([make_scenario()], now=NOW)
