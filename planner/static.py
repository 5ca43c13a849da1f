"""Static files: ours, and third-party bundles taken from installed wheels, never from copies."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import plotly.package_data  # the folder of plotly.min.js, not plotly's Python API
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

PLOTLY_NAME = "vendor/plotly.min.js"


class WheelFinder(BaseFinder):
    """Serve plotly.min.js from the plotly wheel as vendor/plotly.min.js."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.folder = Path(next(iter(plotly.package_data.__path__)))
        self.storage = FileSystemStorage(location=str(self.folder))
        self.storage.prefix = "vendor"  # type: ignore[attr-defined] # collectstatic reads this name

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = str(self.folder / "plotly.min.js") if path == PLOTLY_NAME else None
        if find_all:
            return [found] if found else []
        return found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Storage]]:
        yield "plotly.min.js", self.storage


class HashedStorage(CompressedManifestStaticFilesStorage):
    """Hash every name; drop source-map comments, whose files no wheel carries."""

    support_js_module_import_aggregation = True
    patterns = tuple(
        (glob, tuple(p for p in rules if "sourceMappingURL" not in (p if isinstance(p, str) else p[0])))
        for glob, rules in CompressedManifestStaticFilesStorage.patterns
    )


def plotly_style_ids(bundle: str) -> list[str]:
    """Return the ids of the style tags that the plotly bundle looks for before it makes its own."""
    ids = ["plotly.js-style-global"]
    ids += re.findall(r'\.id="([0-9a-f]{40,64})"', bundle)
    return list(dict.fromkeys(ids))
