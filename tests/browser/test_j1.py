"""From a fresh installation to the first buy-or-rent answer in a file: at most 6 clicks, under 3 minutes."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.conftest import LISTEN, PASSWORD, Watch
from tests.browser.site import ROOT
from tests.services import free_port

pytestmark = pytest.mark.browser

MOST_CLICKS = 6
MOST_SECONDS = 180
LINK_SECONDS = 120


@dataclass
class Journey:
    """Counts what a person presses. Typing and dragging do not count."""

    page: Page
    started_at: float
    clicks: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started_at


@contextmanager
def make_run(folder: Path, extra: Mapping[str, str]) -> Iterator[str]:
    """Run what `make run` runs, in an empty folder and this environment; yield the one-time link."""
    # the environment of this Python is the one that `make run` would have made from the lock file
    env = {**os.environ, "VAR_DIR": str(folder), "PORT": str(free_port()), "VENV": sys.prefix}
    env = {name: value for name, value in env.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "launch", "run"],
        cwd=ROOT,
        env={**env, **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: list[str] = []
    threading.Thread(target=_keep, args=(process, lines), daemon=True).start()
    try:
        yield _link(process, lines)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _keep(process: subprocess.Popen, lines: list[str]) -> None:
    lines.extend(line.strip() for line in process.stdout)


def _link(process: subprocess.Popen, lines: list[str]) -> str:
    until = time.monotonic() + LINK_SECONDS
    while time.monotonic() < until:
        for line in list(lines):
            if line.startswith("http://") and "/first-run/" in line:
                return line
        assert process.poll() is None, "\n".join(lines)
        time.sleep(0.05)
    raise AssertionError("no link was printed:\n" + "\n".join(lines))


def travel(browser: Browser, folder: Path, extra: Mapping[str, str]) -> None:
    started_at = time.monotonic()
    with make_run(folder, extra) as link:
        origin = link.partition("/first-run/")[0]
        context = browser.new_context(accept_downloads=True, viewport={"width": 1440, "height": 900})
        page, watch = context.new_page(), Watch(origin)
        page.add_init_script(LISTEN)
        watch.attach(page)
        try:
            walk(Journey(page, started_at), link, folder)
            watch.assert_clean(page)
        finally:
            context.close()


def walk(journey: Journey, link: str, folder: Path) -> None:
    page = journey.page
    page.goto(link)
    page.get_by_label("E-mail").fill("first@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    journey.click(page.get_by_role("button", name="Create the administrator"))
    journey.click(page.get_by_role("button", name="Look around with sample data"))
    answer = page.locator(".answer-main")
    answer.wait_for(timeout=60_000)
    assert journey.clicks == 2
    assert "$" in answer.inner_text()
    drag_use(page)
    journey.click(page.get_by_role("link", name="Save as new scenario"))
    assert page.get_by_label("Name").input_value() != ""
    journey.click(page.get_by_role("button", name="Save", exact=True))
    answer.wait_for()
    journey.click(page.locator("summary", has_text="Export"))
    with page.expect_download() as download:
        journey.click(page.locator(".menu-list").get_by_role("link", name="CSV"))
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    assert journey.clicks <= MOST_CLICKS
    assert journey.seconds < MOST_SECONDS
    assert path.name.startswith("compare_")
    assert_equals_screen(path, page)


def drag_use(page: Page) -> None:
    slider = page.locator("[data-slider=util] input[type=range]")
    before = page.locator(".figure").all_inner_texts()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, steps=10)
    page.mouse.up()
    page.wait_for_url(lambda url: "util=" in url)
    page.locator("#what-if[data-state=rest]").wait_for(state="attached")
    assert page.locator(".figure").all_inner_texts() != before


def assert_equals_screen(path: Path, page: Page) -> None:
    """Hold the totals of the file against the table on screen, to the unit that the screen shows."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["line"] == "total"]
    cells = page.locator("tr.total").first.locator("td").all()
    shown = [cell.inner_text().split()[0].strip("$").replace(",", "") for cell in cells]
    assert len(rows) == len(shown) == 4
    for row, text in zip(rows, shown, strict=True):
        assert row["data"] == "sample"
        assert abs(float(row["amount_usd"]) - float(text)) <= 0.5


def test_the_first_answer_with_nothing_but_python(browser, tmp_path):
    travel(browser, tmp_path, {})


@pytest.mark.services
def test_the_first_answer_on_postgresql_redis_and_celery(browser, tmp_path, postgres, redis_server):
    redis_server.flush()
    travel(
        browser,
        tmp_path,
        {"DATABASE_URL": postgres.database("first_answer"), "REDIS_URL": redis_server.url},
    )
