"""What Compare shows of a comparison: parts that swap, unknowns with their reason, names as text."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from planner import compare_page
from planner.comparison.result import Figure, GapLine, SourceLine
from planner.models import Person
from tests.fact_builders import make_batch, make_run
from tests.planner.comparisons import make_comparison


def request(role=Person.Role.PLANNER, **query):
    made = RequestFactory().get("/compare/", {"s": ["a", "b"], **query})
    made.user = Person(email="lee@example.com", role=role)
    return made


def parts(comparison, *, live=False, role=Person.Role.PLANNER, **query):
    return compare_page.preview(request(role, **query), comparison, [], live=live)


def test_a_drag_brings_the_sentence_the_cards_and_the_main_chart_and_no_more():
    answer = parts(make_comparison(), live=True)
    assert set(answer["parts"]) == {"answer", "cards"}
    assert set(answer["figures"]) == {"cost"}


def test_at_rest_every_part_and_chart_is_brought():
    answer = parts(make_comparison())
    assert {"lines", "chips", "actions", "sources"} <= set(answer["parts"])
    assert set(answer["figures"]) == {"cost", "use", *(f"served-{letter}" for letter in "ABCD")}


def test_links_of_a_part_lead_to_the_page_and_not_to_the_request_of_the_drag():
    answer = parts(make_comparison(), live="1", util="50")
    actions = parts(make_comparison(), util="50")["parts"]["actions"]
    assert "util=50" in actions
    assert "live=" not in actions
    assert "/compare/preview/" not in "".join(answer["parts"].values())


def test_removing_a_scenario_keeps_the_rest_of_the_address():
    comparison = make_comparison()
    first, second, *_ = (column.slug for column in comparison.columns)
    made = RequestFactory().get("/compare/", {"s": [first, second, "third"], "base": first, "util": "50"})
    made.user = Person(email="lee@example.com", role=Person.Role.PLANNER)
    html = compare_page.preview(made, comparison, [], live=False)["parts"]["chips"]
    links = re.findall(r'href="([^"]+)" aria-label="Remove A', html)
    assert links == [f"/compare/?s={second}&amp;s=third&amp;util=50"]


def test_an_unknown_total_says_so_with_its_reason_and_draws_no_zero():
    comparison = make_comparison()
    unknown = replace(comparison.cards[1], total=Figure(None, "unknown", "B: no price for p5"), delta=None)
    cards = (comparison.cards[0], unknown, *comparison.cards[2:])
    html = parts(make_comparison(cards=cards), live=True)["parts"]["cards"]
    assert "B: no price for p5" in html
    assert "$0" not in html


def test_missing_inputs_are_listed_by_name():
    gap = GapLine("B", "Reserve 96", "usd_per_gpu_hour", "Reserve 96 has no price")
    assert "Reserve 96 has no price" in parts(make_comparison(gaps=(gap,)))["parts"]["gaps"]


def test_a_name_is_text_in_every_part():
    comparison = make_comparison()
    columns = tuple(replace(each, name="<script>x</script>") for each in comparison.columns)
    cards = tuple(
        replace(card, column=column) for card, column in zip(comparison.cards, columns, strict=True)
    )
    answer = parts(make_comparison(columns=columns, cards=cards))
    assert "<script>" not in "".join(answer["parts"].values())


def test_a_viewer_is_offered_nothing_that_would_be_refused():
    html = parts(make_comparison(), live=True, role=Person.Role.VIEWER)["parts"]["answer"]
    assert "Save as new" not in html
    assert "<form" not in html


def test_a_source_that_several_scenarios_use_is_named_once():
    lines = tuple(
        SourceLine(letter, "On demand", "AWS p5.48xlarge", 6.88, None, None, "") for letter in "ABC"
    )
    [group] = compare_page.context(make_comparison(sources=lines))["source_groups"]
    assert group.letters == ("A", "B", "C")


@pytest.mark.django_db
def test_prices_older_than_expected_are_named_and_a_frozen_page_keeps_its_date():
    old = timezone.now() - timedelta(days=3650)
    run = make_run(source="list_prices")
    make_batch(run=run, source="list_prices", as_of=old, published_at=old)
    comparison = make_comparison(runs=(run.pk,))
    [late] = compare_page.context(comparison)["late_sources"]
    assert (late.name, late.state) == ("list_prices", "stale")
    frozen = make_comparison(runs=(run.pk,), is_frozen=True, as_of=datetime(2026, 11, 1, tzinfo=UTC))
    assert compare_page.context(frozen)["late_sources"] == []


def test_on_paper_the_charts_take_the_height_of_paper():
    figure = compare_page.context(make_comparison(), print_view=True)["cost_figure"]
    assert figure["layout"]["height"] == 220
