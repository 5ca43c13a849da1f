"""Static files: ours, and third-party bundles taken from installed wheels, never from copies."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import plotly.package_data  # type: ignore[import-untyped] # no types; the folder of plotly.min.js, not plotly's Python API
from django.contrib.staticfiles.finders import BaseFinder, get_finders
from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.storage import FileSystemStorage, Storage
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

PLOTLY_NAME = "vendor/plotly.min.js"
PLOTLY_PATH = Path(next(iter(plotly.package_data.__path__))) / "plotly.min.js"

# Django keeps the rules for `import ... from` apart, to be switched on for every script at once
_MODULE_IMPORTS = HashedFilesMixin._js_module_import_aggregation_patterns[1]  # type: ignore[attr-defined] # not in its stubs


class WheelFinder(BaseFinder):
    """Serve plotly.min.js from the plotly wheel as vendor/plotly.min.js."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storage = FileSystemStorage(location=str(PLOTLY_PATH.parent))
        self.storage.prefix = "vendor"  # type: ignore[attr-defined] # collectstatic reads this name

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = str(PLOTLY_PATH) if path == PLOTLY_NAME else None
        if find_all:
            return [found] if found else []
        return found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Storage]]:
        yield "plotly.min.js", self.storage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # whitenoise ships no types
    """Hash every name; rewrite addresses inside our own files alone; compress with gzip alone.

    Bundles from wheels name source maps that no wheel carries, and minified text holds strings that only
    look like addresses: their bytes stay as they came. Brotli, where some other package brings it in,
    would take most of a minute for a few percent.
    """

    patterns = (
        ("css/*.css", dict(HashedFilesMixin.patterns)["*.css"]),
        ("js/*.js", _MODULE_IMPORTS),
    )

    def create_compressor(self, **kwargs: Any) -> Compressor:
        return Compressor(use_brotli=False, **kwargs)


def collected_state() -> str:
    """Return a line that changes when any file that collectstatic would take has changed."""
    return "\n".join(sorted(_states()))


def _states() -> Iterator[str]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            path = Path(storage.path(name))
            status = path.stat()
            yield f"{path} {status.st_size} {status.st_mtime_ns}"


@cache
def plotly_style_ids() -> tuple[str, ...]:
    """Return the ids of the style tags that the installed plotly.js adopts instead of making its own.

    A Content-Security-Policy stops the tags that plotly would add; a page renders empty ones with these
    ids and the page's nonce. One id is a hash of a style sheet inside the bundle and changes by version.
    """
    bundle = PLOTLY_PATH.read_text(encoding="utf-8")
    hashed = re.findall(r'getElementById\("([0-9a-f]{64})"\)', bundle)
    if '"plotly.js-style-"' not in bundle:
        raise ValueError(f"{PLOTLY_PATH}: this release names its style tag in a way that is not known here")
    return tuple(dict.fromkeys(["plotly.js-style-global", *hashed]))
