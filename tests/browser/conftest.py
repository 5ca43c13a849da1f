"""Browser tests drive the Chromium found on the path against a real server with sample data loaded."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.browser import site as sites
from tests.browser import spot_dump

TIMEOUT_MS = 15_000
PASSWORD = "a long enough password"
PEOPLE = {"planner": "planner@example.com", "viewer": "viewer@example.com"}
LISTEN = """
window.__violations = [];
addEventListener("securitypolicyviolation", (event) => {
  window.__violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
});
"""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Use the system's Chromium; skip with the reason where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium on the path")
    return {**browser_type_launch_args, "executable_path": found, "args": ["--no-sandbox"]}


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Iterator[sites.Site]:
    """Return a server with the bundled facts, the sample fleet, its scenarios, and a planner and a viewer."""
    started = sites.start(tmp_path_factory.mktemp("site"))
    try:
        started.python(_make_people())
        started.python(LOAD_SAMPLE)
        started.manage("worker", "--once")
        yield started
    finally:
        started.stop()


LOAD_SAMPLE = f"""
from django.utils import timezone
from costs import jobs
jobs.enqueue("sample", {{}}, key="sample:tests", requested_by={PEOPLE["planner"]!r}, now=timezone.now())
"""


def _make_people() -> str:
    lines = ["from planner.models import Person"]
    for role, email in PEOPLE.items():
        lines.append(f"Person.objects.create_user({email!r}, {PASSWORD!r}, role={role!r})")
    return "\n".join(lines)


@dataclass
class Watch:
    """What a page did that it must not do: wrote errors, broke the policy, asked another host."""

    origin: str
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(f"{message.location.get('url')}: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:", "about:")):
            self.strangers.append(request.url)

    def assert_clean(self, page: Page) -> None:
        assert self.errors == []
        assert self.strangers == []
        assert page.evaluate("window.__violations") == []


def log_in(page: Page, site: sites.Site, role: str) -> None:
    page.goto(f"{site.url}/accounts/login/")
    page.locator("input[name=login]").fill(PEOPLE[role])
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"{site.url}/")


@pytest.fixture(scope="session")
def planner_state(browser: Browser, site, tmp_path_factory) -> str:
    """Return a file with the cookies of a logged-in planner, so that each test need not log in."""
    context = browser.new_context()
    log_in(context.new_page(), site, "planner")
    path = str(tmp_path_factory.mktemp("state") / "planner.json")
    context.storage_state(path=path)
    context.close()
    return path


@pytest.fixture
def open_as_planner(browser: Browser, site, planner_state) -> Iterator:
    """Return a function that opens a context for a screen: open(width=390, scheme="dark")."""
    contexts: list[BrowserContext] = []

    def open_page(width: int = 1440, scheme: str = "light", **options) -> tuple[Page, Watch]:
        context = browser.new_context(
            storage_state=planner_state,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            base_url=site.url,
            **options,
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page, watch = context.new_page(), Watch(site.url)
        page.add_init_script(LISTEN)
        watch.attach(page)
        return page, watch

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def spot_prices(site, tmp_path_factory) -> None:
    """Load a history of spot prices."""
    path = tmp_path_factory.mktemp("spot") / "history.json"
    path.write_text(spot_dump.dump())
    site.manage("ingest", "aws_spot_history", "--file", str(path))
