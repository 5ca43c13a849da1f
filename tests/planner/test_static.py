"""Static files as they are served: hashed names, gzip, kept for good; the plotly bundle as it came."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from csp.middleware import CSPMiddleware
from django.conf import settings
from django.contrib.staticfiles import finders
from django.shortcuts import render
from django.test import RequestFactory
from whitenoise.middleware import WhiteNoiseMiddleware

from planner.static import PLOTLY_NAME, PLOTLY_PATH, HashedStorage, collected_state, plotly_style_ids


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> HashedStorage:
    """Run the real collectstatic, under the real settings, into a folder of its own."""
    var = tmp_path_factory.mktemp("var")
    command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(command, cwd=settings.BASE_DIR, env=os.environ | {"VAR_DIR": str(var)}, check=True)
    return HashedStorage(location=str(var / "static"), base_url="/static/")


def folder(collected: HashedStorage) -> Path:
    return Path(collected.location)


def test_every_name_carries_the_hash_of_its_content(collected: HashedStorage) -> None:
    names = [collected.stored_name(name) for name in ("css/app.css", "js/page.js", PLOTLY_NAME)]
    for name in names:
        assert re.search(r"\.[0-9a-f]{12}\.(css|js)$", name)
        assert (folder(collected) / name).is_file()


def test_plotly_is_the_bundle_of_the_wheel_byte_for_byte(collected: HashedStorage) -> None:
    served = folder(collected) / collected.stored_name(PLOTLY_NAME)
    assert served.read_bytes() == PLOTLY_PATH.read_bytes()


def test_text_is_there_compressed_with_gzip_alone(collected: HashedStorage) -> None:
    plotly = folder(collected) / collected.stored_name(PLOTLY_NAME)
    packed = plotly.with_name(plotly.name + ".gz")
    assert gzip.decompress(packed.read_bytes()) == plotly.read_bytes()
    assert packed.stat().st_size < plotly.stat().st_size / 2.5
    assert list(folder(collected).rglob("*.br")) == []


def test_our_modules_import_each_other_by_hashed_names(collected: HashedStorage) -> None:
    """A plain name would be kept for good by nobody and could mix two releases."""
    found = 0
    for source in (folder(collected) / "js").glob("*.????????????.js"):
        for name in re.findall(r"""(?:from|import)\s*["']\./([^"']+)["']""", source.read_text()):
            assert re.search(r"\.[0-9a-f]{12}\.js$", name), f"{source.name} imports {name}"
            assert (source.parent / name).is_file()
            found += 1
    assert found > 0


@pytest.mark.django_db  # an answer that ends looks after connections
def test_hashed_files_are_kept_for_good_and_plain_ones_are_not(
    collected: HashedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tests run with plain names; here the server asks the real storage what a file is called
    monkeypatch.setattr("whitenoise.middleware.staticfiles_storage", collected)
    server = WhiteNoiseMiddleware(lambda request: pytest.fail("not found"))
    server.add_files(str(folder(collected)), prefix="/static/")

    def cache_control(name: str) -> str:
        response: Any = server(RequestFactory().get(f"/static/{name}", headers={"accept-encoding": "gzip"}))
        assert response["Content-Encoding"] == "gzip"
        response.close()
        return str(response["Cache-Control"])

    assert cache_control(collected.stored_name("css/app.css")) == "max-age=315360000, public, immutable"
    assert "immutable" not in cache_control("css/app.css")


def test_the_note_of_what_was_collected_changes_with_a_file(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "app.css").write_text("a {}")
    settings.STATICFILES_DIRS = [tmp_path]
    finders.get_finder.cache_clear()
    try:
        before = collected_state()
        assert collected_state() == before
        (tmp_path / "app.css").write_text("a { color: red }")
        assert collected_state() != before
    finally:
        finders.get_finder.cache_clear()


def test_the_style_ids_are_those_the_installed_bundle_looks_for() -> None:
    """Read the bundle another way: every id it gives to a style tag that it makes."""
    bundle = PLOTLY_PATH.read_text(encoding="utf-8")
    made = set(re.findall(r'createElement\("style"\);\w+\.id="([^"]+)"', bundle))
    assert made
    assert set(plotly_style_ids()) == made | {"plotly.js-style-global"}
    assert '"plotly.js-style-"+' in bundle
    assert re.search(r'\w+\("global",\w+,\w+\)', bundle)


def test_the_piece_for_charts_holds_the_empty_style_tags_before_the_bundle() -> None:
    view = CSPMiddleware(lambda request: render(request, "planner/_plotly.html"))
    answer = view(RequestFactory().get("/"))
    page = answer.content.decode()
    nonce = re.search(r"'nonce-([^']+)'", answer["Content-Security-Policy"])
    assert nonce is not None
    bundle = page.index(PLOTLY_NAME)
    for style_id in plotly_style_ids():
        tag = f'<style id="{style_id}" nonce="{nonce[1]}"></style>'
        assert page.index(tag) < bundle


def test_a_bundle_that_names_its_tags_differently_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "plotly.min.js"
    other.write_text("var Plotly={};")
    monkeypatch.setattr("planner.static.PLOTLY_PATH", other)
    with pytest.raises(ValueError, match="not known here"):
        plotly_style_ids.__wrapped__()
