"""Compare in a browser: sliders move the answer, and without scripts the page still answers."""

import re

import pytest

from tests.browser.test_pages import compared

pytestmark = pytest.mark.browser


@pytest.fixture
def compare(open_as_planner):
    page, watch = open_as_planner()
    page.goto(compared(page))
    page.wait_for_load_state("networkidle")
    return page, watch


def drag(page, label: str, share: float) -> None:
    """Drag a slider with the mouse to a share of its track, in steps, as a hand does."""
    # the mouse reaches only what is on screen
    page.get_by_role("slider", name=label).scroll_into_view_if_needed()
    track = page.get_by_role("slider", name=label).bounding_box()
    y = track["y"] + track["height"] / 2
    now = page.get_by_role("slider", name=label).evaluate("e => (e.value - e.min) / (e.max - e.min)")
    page.mouse.move(track["x"] + 9 + now * (track["width"] - 18), y)
    page.mouse.down()
    page.mouse.move(track["x"] + 9 + share * (track["width"] - 18), y, steps=12)
    page.mouse.up()


def wait_until_rested(page) -> None:
    """Wait until the answer to the last value has been drawn whole."""
    page.locator("#what-if[data-state=rest]").wait_for(state="attached")


def test_charts_are_drawn_as_the_kinds_that_were_asked_for(compare):
    page, watch = compare
    for name in ("cost", "use"):
        types = page.evaluate(f"document.getElementById('chart-{name}')._fullData.map(each => each.type)")
        assert set(types) == {"scatter"}
    assert page.locator("#chart-cost .scatterlayer .trace").count() == 4
    watch.assert_clean(page)


def test_a_dragged_slider_moves_the_sentence_the_cards_and_the_address(compare):
    page, watch = compare
    sentence = page.locator(".answer-main").inner_text()
    totals = page.locator(".figure").all_inner_texts()
    drag(page, "Share of the fleet in use", 0.1)
    page.wait_for_url(lambda url: "util=" in url)
    wait_until_rested(page)
    assert page.locator(".answer-main").inner_text() != sentence
    assert page.locator(".figure").all_inner_texts() != totals
    assert page.locator("#answer-said").inner_text() != ""
    watch.assert_clean(page)


def test_the_address_after_a_drag_shows_the_same_page_again(compare):
    page, _ = compare
    drag(page, "Demand growth", 0.8)
    page.wait_for_url(lambda url: "growth=" in url)
    wait_until_rested(page)
    totals = page.locator(".figure").all_inner_texts()
    page.reload()
    assert page.locator(".figure").all_inner_texts() == totals


def test_undo_and_reset_lead_back_to_the_saved_plans(compare):
    page, _ = compare
    totals = page.locator(".figure").all_inner_texts()
    drag(page, "Demand growth", 0.8)
    page.wait_for_url(lambda url: "growth=" in url)
    wait_until_rested(page)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(lambda url: "growth=" not in url)
    wait_until_rested(page)
    assert page.locator(".figure").all_inner_texts() == totals
    page.get_by_role("button", name=re.compile("More: Demand growth")).click()
    page.wait_for_url(lambda url: "growth=" in url)
    page.locator("#reset").click()
    page.wait_for_url(lambda url: "growth=" not in url)
    wait_until_rested(page)
    assert page.locator(".figure").all_inner_texts() == totals


def test_a_slider_speaks_its_value_with_the_unit(compare):
    page, _ = compare
    slider = page.get_by_role("slider", name="Share of the fleet in use")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert re.fullmatch(r"\d+ %", slider.get_attribute("aria-valuetext"))


def test_at_most_one_request_is_on_its_way_and_the_last_value_wins(compare):
    page, _ = compare
    flying = {"now": 0, "most": 0}

    def begin(request):
        if "/compare/preview/" in request.url:
            flying["now"] += 1
            flying["most"] = max(flying["most"], flying["now"])

    def end(request):
        if "/compare/preview/" in request.url:
            flying["now"] -= 1

    page.on("request", begin)
    page.on("requestfinished", end)
    drag(page, "Share of the fleet in use", 0.15)
    drag(page, "Share of the fleet in use", 0.85)
    value = page.get_by_role("slider", name="Share of the fleet in use").input_value()
    page.wait_for_url(re.compile(rf"[?&]util={value}(&|$)"))
    assert flying["most"] == 1


def test_a_number_opens_its_explanation_and_escape_returns(compare):
    page, _ = compare
    total = page.locator(".figure .why").first
    total.click()
    popover = page.locator(".popover:popover-open")
    assert popover.locator("code").inner_text() != ""
    page.keyboard.press("Escape")
    assert page.locator(".popover:popover-open").count() == 0
    assert total.evaluate("each => each === document.activeElement")


def test_a_changed_theme_recolours_the_charts(compare):
    page, _ = compare
    colour = "getComputedStyle(document.querySelector('#chart-cost .lines path')).stroke"
    before = page.evaluate(colour)
    page.get_by_role("button", name="Switch to dark").click()
    page.wait_for_function(f"() => {colour} !== {before!r}")


def test_without_scripts_the_page_is_readable_and_the_what_if_form_works(open_as_planner):
    page, _ = open_as_planner(java_script_enabled=False)
    page.goto("/")
    page.get_by_role("link", name="Compare scenarios").click()
    totals = page.locator(".figure").all_inner_texts()
    assert len(totals) == 4
    assert page.get_by_role("slider").count() == 0
    page.get_by_role("spinbutton", name=re.compile("Demand growth")).fill("4")
    page.get_by_role("button", name="Recalculate").click()
    assert "growth=4" in page.url
    assert page.locator(".figure").all_inner_texts() != totals
    page.locator(".chart-data summary").first.click()
    assert page.get_by_role("region", name=re.compile("Cumulative cost by month")).is_visible()


def test_hostile_text_in_a_name_stays_text(site, open_as_planner):
    page, watch = open_as_planner()
    site.python(
        "from planner.models import Scenario\n"
        "each = Scenario.objects.filter(is_sample=True).order_by('pk').first()\n"
        "Scenario.objects.filter(pk=each.pk).update(name='<img src=x onerror=alert(1)> & \\u202eevil')"
    )
    try:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        page.goto(compared(page))
        page.wait_for_load_state("networkidle")
        assert page.locator("img").count() == 0
        assert page.locator("#chart-cost a").count() == 0
        watch.assert_clean(page)
    finally:
        site.python(
            "from planner.models import Scenario\n"
            "each = Scenario.objects.filter(is_sample=True).order_by('pk').first()\n"
            "Scenario.objects.filter(pk=each.pk).update(name='Stay on demand')"
        )
