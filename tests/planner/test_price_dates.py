"""Pages and files say of which date each scenario's prices are, and one address gives the same for good."""

import io
import json
from datetime import datetime

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from planner.comparison import compare
from planner.comparison.address import moment_text
from planner.models import Scenario
from planner.scenarios.plan_cache import data_date
from tests.plan_builders import (
    NOW,
    make_scenario,
)
from tests.planner.listed_plans import (
    AFTER,
    BEFORE,
    HOURS_2027,
    MARCH,
    cut_in_june,
    listed,
    next_list,
    query,
    rows_of,
    total,
)

pytestmark = pytest.mark.django_db


class TestCompare:
    @pytest.fixture
    def pair(self, db: None) -> list[Scenario]:
        cut_in_june()
        return [listed("March", MARCH), listed("Follows")]

    def test_cards_say_which_prices_each_uses(self, viewer_client: Client, pair):
        page = viewer_client.get(f"/compare/?{query(*pair, make_scenario('Typed'))}")
        texts = [column.prices.text for column in page.context["comparison"].columns]
        assert texts == ["prices of 1\u00a0Mar", "newest prices", "typed prices"]
        html = page.content.decode()
        assert all(f"<dd>{text}</dd>" in html for text in texts)

    def test_different_dates_are_named_with_links_that_recompute_all_at_one(
        self, viewer_client: Client, pair
    ):
        comparison = viewer_client.get(f"/compare/?{query(*pair)}").context["comparison"]
        today = f"{timezone.now():%-d\u00a0%b\u00a0%Y}"
        assert comparison.dates_notice == (
            "The scenarios use prices of different dates: "
            f"A those of 1\u00a0Mar\u00a02026, kept; B those of {today}."
        )
        assert comparison.prices_text == "Prices of different dates"
        totals = {}
        for each in comparison.recompute:
            page = viewer_client.get(f"/compare/?{each.query}").context["comparison"]
            totals[each.text] = [card.total.value for card in page.cards]
        assert totals == {
            "All at the newest prices": pytest.approx([AFTER, AFTER]),
            "All at 1\u00a0Mar\u00a02026": pytest.approx([BEFORE, BEFORE]),
        }
        assert [card.total.value for card in comparison.cards] == pytest.approx([BEFORE, AFTER])

    def test_recomputed_at_one_date_it_says_so_and_leads_back(self, viewer_client: Client, pair):
        page = viewer_client.get(f"/compare/?{query(*pair)}&prices=one_date").context["comparison"]
        assert "All prices are read at" in page.dates_notice
        assert "A keeps those of another date" in page.dates_notice
        assert [(each.text, each.query) for each in page.recompute] == [
            ("Each at its own date", query(*pair))
        ]  # fmt: skip

    def test_scenarios_of_one_date_and_typed_prices_need_no_notice(self, viewer_client: Client, pair):
        typed = make_scenario("Typed")
        for few in ([pair[0], typed], [pair[1], typed], [typed, make_scenario("Typed too")]):
            comparison = viewer_client.get(f"/compare/?{query(*few)}").context["comparison"]
            assert (comparison.dates_notice, comparison.recompute) == ("", ())

    def test_two_moments_of_one_day_are_told_apart(self, pair):
        early, late = (listed(kept=NOW.replace(hour=hour)) for hour in (8, 9))
        notice = compare([early, late], now=NOW).dates_notice
        assert "A those of 30\u00a0Nov\u00a02026\u00a008:40\u00a0UTC, kept" in notice

    @pytest.mark.parametrize("more", ["", "&prices=one_date", "&view=present_value&kwh=0.2"])
    @pytest.mark.parametrize("fmt", ["csv", "json"])
    def test_a_frozen_link_gives_the_same_bytes_after_the_next_list(
        self, viewer_client: Client, pair, fmt: str, more: str
    ):
        content = viewer_client.get(f"/compare.{fmt}?{query(*pair)}{more}").content
        address = json.loads(content)["address"] if fmt == "json" else rows_of(content)[0]["address"]
        next_list("20")
        assert viewer_client.get(address.replace("/compare/?", f"/compare.{fmt}?")).content == content

    def test_files_carry_the_date_of_each_scenarios_prices(self, viewer_client: Client, pair):
        rows = rows_of(viewer_client.get(f"/compare.csv?{query(*pair)}").content)
        dates = {row["letter"]: row["as_of"] for row in rows}
        assert dates["A"] == "2026-03-01T00:00:00Z"
        assert dates["B"] == f"{data_date(timezone.now()).as_of:%Y-%m-%dT%H:%M:%SZ}"
        in_json = json.loads(viewer_client.get(f"/compare.json?{query(*pair)}").content)
        said = {each["letter"]: (each["as_of"], each["keeps_prices"]) for each in in_json["scenarios"]}
        assert said["A"] == ("2026-03-01T00:00:00Z", True)
        assert said["B"][1] is False
        assert in_json["notices"][-1].startswith("The scenarios use prices of different dates")

    @pytest.mark.parametrize("one_date", [False, True])
    @pytest.mark.parametrize("fmt", ["csv", "json"])
    def test_the_shell_writes_the_same_bytes(self, viewer_client: Client, pair, fmt: str, one_date: bool):
        more = "&prices=one_date" if one_date else ""
        browser = viewer_client.get(f"/compare.{fmt}?{query(*pair)}{more}").content
        out, said = io.StringIO(), io.StringIO()
        slugs = [scenario.slug for scenario in pair]
        call_command("export", "compare", *slugs, format=fmt, one_date=one_date, stdout=out, stderr=said)
        assert out.getvalue().encode() == browser
        assert "prices" in said.getvalue()

    def test_an_as_of_in_the_address_moves_what_follows_and_not_what_is_kept(
        self, viewer_client: Client, pair
    ):
        comparison = viewer_client.get(f"/compare/?{query(*pair)}&as_of=2026-02-01").context["comparison"]
        assert [card.total.value for card in comparison.cards] == pytest.approx([BEFORE, BEFORE])
        assert [column.prices.text for column in comparison.columns] == [
            "prices of 1\u00a0Mar", "prices of 1\u00a0Feb",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("as_of", "usd"),
        [
            ("2026-05-31", BEFORE),
            ("2026-06-01", AFTER),  # the day of the cut, at its end
            ("2026-05-31T23:59:59Z", BEFORE),  # as frozen links have it
            ("2026-06-01T00:00:00Z", AFTER),
        ],
    )
    def test_a_day_is_its_end_here_and_on_the_page_of_prices(
        self, viewer_client: Client, pair, as_of: str, usd: float
    ):
        follows = pair[1]
        page = viewer_client.get(f"/compare/?{query(*pair)}&as_of={as_of}&prices=one_date")
        assert page.context["comparison"].cards[1].total.value == pytest.approx(usd)
        assert total(viewer_client, follows, f"?as_of={as_of}") == pytest.approx(usd)
        listed_at = viewer_client.get(f"/prices/?as_of={as_of}").content.decode()
        assert f"${usd / HOURS_2027 / 8:.2f}" in listed_at

    def test_today_is_the_newest_publication_and_its_link_stays_what_it_showed(
        self, viewer_client: Client, pair
    ):
        live = viewer_client.get(f"/compare/?{query(*pair)}").context["comparison"]
        today = f"{timezone.now():%Y-%m-%d}"
        page = viewer_client.get(f"/compare/?{query(*pair)}&as_of={today}").context["comparison"]
        assert (page.as_of, page.frozen_query) == (live.as_of, live.frozen_query)
        assert f"as_of={moment_text(live.as_of).replace(':', '%3A')}" in page.query

    def test_another_word_for_prices_is_named_and_left_out(self, viewer_client: Client, pair):
        comparison = viewer_client.get(f"/compare/?{query(*pair)}&prices=gold").context["comparison"]
        assert comparison.notices[0].startswith("prices=gold: one_date, or nothing")
        assert comparison.query == query(*pair)

    def test_a_slider_asks_the_database_as_little_as_before(
        self, viewer_client: Client, pair, django_assert_max_num_queries
    ):
        viewer_client.get(f"/compare/preview/?{query(*pair)}&live=1")
        # session, person, scenarios, stamp of the facts, revisions
        with django_assert_max_num_queries(5):
            viewer_client.get(f"/compare/preview/?{query(*pair)}&growth=1&live=1")


class TestResultPage:
    def test_it_says_which_prices_it_shows(self, viewer_client: Client):
        cut_in_june()
        for scenario, words in (
            (listed("Kept", MARCH), "prices of 1\u00a0Mar\u00a02026\u00a000:00\u00a0UTC, kept."),
            (listed("Follows"), "newest prices, of "),
            (make_scenario("Typed"), "typed prices."),
        ):
            assert words in viewer_client.get(f"/scenarios/{scenario.slug}/").content.decode()

    def test_the_address_may_ask_for_another_date_and_the_page_says_what_is_kept(self, viewer_client: Client):
        cut_in_june()
        scenario = listed("Kept", MARCH)
        page = viewer_client.get(f"/scenarios/{scenario.slug}/?as_of=2026-07-01")
        assert page.context["result"].card.total.value == pytest.approx(BEFORE)
        html = page.content.decode()
        assert "the scenario keeps its prices of 1\u00a0Mar\u00a02026" in html
        link = f"/scenarios/{scenario.slug}/?as_of=2026-07-01T23%3A59%3A59.999999Z&prices=one_date"
        assert link.replace("&", "&amp;") in html
        page = viewer_client.get(link)
        assert page.context["result"].card.total.value == pytest.approx(AFTER)
        assert "the scenario keeps those of 1\u00a0Mar\u00a02026" in page.content.decode()

    @pytest.mark.parametrize("more", ["", "?prices=one_date", "?as_of=2026-07-01", "?view=amortized"])
    @pytest.mark.parametrize("kept", [MARCH, None])
    def test_the_address_in_its_file_gives_the_same_file_after_the_next_list(
        self, viewer_client: Client, kept: datetime | None, more: str
    ):
        cut_in_june()
        scenario = listed("Plan", kept)
        content = viewer_client.get(f"/scenarios/{scenario.slug}.csv{more}").content
        first = rows_of(content)[0]
        assert (first["as_of"] == "2026-03-01T00:00:00Z") == (kept is not None and "one_date" not in more)
        next_list("20")
        again = first["address"].replace(f"/scenarios/{scenario.slug}/", f"/scenarios/{scenario.slug}.csv")
        assert viewer_client.get(again).content == content
