"""The spot page at work: a drag zooms all panels, Esc shows all, figures open, fields work it out anew."""

import pytest

pytestmark = pytest.mark.browser

RANGES = """[...document.querySelectorAll("[data-zoom-together] [data-chart]")]
  .map((each) => each.layout.xaxis.range.join())"""


@pytest.fixture
def spot(open_as_planner, spot_prices):
    """Return the page, drawn, and its watch."""
    page, watch = open_as_planner()
    page.goto("/spot/?mtbf=9")
    page.wait_for_selector("#chart-zone-4 .main-svg")
    return page, watch


def ranges(page) -> set[str]:
    return set(page.evaluate(RANGES))


def test_a_drag_zooms_every_panel_to_the_same_days_and_esc_shows_all(spot):
    page, watch = spot
    (whole,) = ranges(page)
    box = page.locator("#chart-zone-1").bounding_box()
    page.mouse.move(box["x"] + 90, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 170, box["y"] + 84, steps=4)
    page.mouse.up()
    page.wait_for_function(f"{RANGES}.every((range, _, all) => range === all[0] && range !== '{whole}')")
    page.keyboard.press("Escape")
    page.wait_for_function(f"{RANGES}.every((range) => range === '{whole}')")
    watch.assert_clean(page)


def test_panels_zoom_after_a_swap_as_well(spot):
    page, watch = spot
    page.get_by_label("Window", exact=True).select_option("30d")
    page.wait_for_url("**/spot/?window=30d&mtbf=9")
    page.wait_for_selector("#chart-zone-4 .main-svg")
    (whole,) = ranges(page)
    box = page.locator("#chart-zone-0").bounding_box()
    page.mouse.move(box["x"] + 90, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 170, box["y"] + 84, steps=4)
    page.mouse.up()
    page.wait_for_function(f"{RANGES}.every((range) => range !== '{whole}')")
    watch.assert_clean(page)


def test_an_effective_price_opens_to_its_formula_by_keyboard(spot):
    page, watch = spot
    button = page.locator("table.zones tbody [popovertarget^=why-effective-]").first
    button.focus()
    page.keyboard.press("Enter")
    popover = page.locator(".popover:popover-open")
    assert "κ = M · e^(R / M)" in popover.inner_text()
    page.keyboard.press("Escape")
    assert popover.count() == 0
    watch.assert_clean(page)


def test_a_field_of_the_job_works_it_out_anew_and_stands_in_the_address(spot):
    page, watch = spot
    before = page.locator("dl.halves").inner_text()
    page.get_by_label("Restart takes").fill("60")
    page.get_by_label("Restart takes").press("Enter")
    page.wait_for_url("**/spot/?restart=60&mtbf=9")
    page.wait_for_function(f"document.querySelector('dl.halves').innerText !== {before!r}")
    watch.assert_clean(page)


def test_without_scripts_the_page_still_says_everything(browser, site, planner_state, spot_prices):
    context = browser.new_context(storage_state=planner_state, base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/spot/?mtbf=9")
    assert page.locator(".answer-main").inner_text().startswith("Worth it while")
    page.get_by_label("Restart takes").fill("60")
    page.get_by_role("button", name="Work it out").click()
    assert page.url.endswith("/spot/?restart=60&mtbf=9")
    context.close()
