"""Every page, light and dark, wide and narrow: accessible, silent, on its own origin, no sideways scroll."""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

SCREENS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]


def compared(page) -> str:
    """Return the address of the comparison that the Overview links to."""
    page.goto("/")
    return page.get_by_role("link", name="Compare scenarios").get_attribute("href")


def first_link(page, where: str, pattern: str) -> str:
    page.goto(where)
    return page.locator(f"main a[href^='{pattern}']").first.get_attribute("href")


def column_keys(page) -> list[str]:
    page.goto("/prices/")
    return [box.get_attribute("value") for box in page.locator("input[name=cols]").all()]


def terms_of_first_offers(page) -> str:
    """Tick three offers as a reader does, and return the address that the button leads to."""
    page.goto("/prices/?sort=-usd_per_gpu_h")
    for box in page.locator("input.pick").all()[:3]:
        box.check()
    page.get_by_role("button", name="Compare terms").click()
    page.wait_for_url("**/prices/terms/**")
    return page.url.partition("/prices")[1] + page.url.partition("/prices")[2]


# by name; the last ones hold names and numbers that only the server knows
PAGES = [
    "overview",
    "prices",
    "prices, all columns",
    "prices of a past date",
    "terms of offers",
    "spot",
    "spot for paper",
    "GPUs",
    "one GPU",
    "a GPU that nobody sells",
    "regions of a GPU",
    "scenarios",
    "new scenario",
    "choose what to compare",
    "sources",
    "one source",
    "quarantine",
    "unmapped names",
    "upload",
    "upload of one source",
    "not found",
    "change password",
    "scenario",
    "edit scenario",
    "compare",
    "compare, amortized",
    "compare for paper",
    "save as",
    "run",
]


@pytest.fixture(scope="module")
def addresses(browser, site, planner_state, spot_prices) -> dict[str, str]:
    """Return the address of each page."""
    context = browser.new_context(storage_state=planner_state, base_url=site.url)
    page = context.new_page()
    compare = compared(page)
    scenario = first_link(page, compare, "/scenarios/")
    found = {
        "overview": "/",
        "prices": "/prices/",
        "prices, all columns": f"/prices/?cols={'%2C'.join(column_keys(page))}",
        "prices of a past date": "/prices/?as_of=2020-01-01",
        "terms of offers": terms_of_first_offers(page),
        "spot": "/spot/?mtbf=9",
        "spot for paper": "/spot/?window=30d&view=print",
        "GPUs": "/gpus/",
        "one GPU": "/gpus/h100-sxm-80gb/",
        "a GPU that nobody sells": "/gpus/b100-sxm-192gb/",
        "regions of a GPU": "/gpus/h100-sxm-80gb/regions/",
        "scenarios": "/scenarios/",
        "new scenario": "/scenarios/new/",
        "choose what to compare": "/compare/",
        "sources": "/data/",
        "one source": "/data/azure_prices/",
        "quarantine": "/data/quarantine/",
        "unmapped names": "/data/spellings/",
        "upload": "/data/upload/",
        "upload of one source": "/data/upload/?source=spot_traces",
        "not found": "/scenarios/nothing-here/",
        "change password": "/accounts/password/change/",
        "scenario": scenario,
        "edit scenario": f"{scenario}edit/",
        "compare": compare,
        "compare, amortized": f"{compare}&view=amortized",
        "compare for paper": f"{compare}&view=print",
        "save as": compare.replace("/compare/", "/compare/save/"),
        "run": first_link(page, "/data/", "/data/runs/"),
    }
    context.close()
    return found


# paper is wider than a phone, whatever asks for it
CASES = [(name, *screen) for name in PAGES for screen in SCREENS if "paper" not in name or screen[0] > 1000]


@pytest.mark.parametrize(("name", "width", "scheme"), CASES)
def test_page(open_as_planner, addresses, name, width, scheme):
    page, watch = open_as_planner(width, scheme)
    answer = page.goto(addresses[name])
    page.wait_for_load_state("networkidle")
    assert answer.status == (404 if name == "not found" else 200)
    if name == "not found":  # the browser itself reports the status
        watch.errors = [error for error in watch.errors if "404" not in error]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    watch.assert_clean(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_login(browser, site, scheme):
    page = browser.new_page(base_url=site.url, color_scheme=scheme)
    page.goto("/prices/")
    assert "/accounts/login/" in page.url
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()


def test_the_theme_switch_is_remembered_without_a_cookie(open_as_planner):
    page, watch = open_as_planner(scheme="light")
    page.goto("/")
    before = page.context.cookies()
    page.get_by_role("button", name="Switch to dark").click()
    page.goto("/prices/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 22)"
    assert len(page.context.cookies()) == len(before)
    watch.assert_clean(page)


def test_everything_is_reached_by_keyboard_with_a_visible_focus(open_as_planner):
    page, _ = open_as_planner()
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip-link"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(8):
        page.keyboard.press("Tab")
        width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert width == "2px"
