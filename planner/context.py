"""What every page gets besides its own values. All of it lazy: an error page must not ask the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from costs.queries import runs, utilization
from planner.static import plotly_style_ids
from planner.templatetags.units import age

PRINT = "print"
LATE_LINES = 3


@dataclass(frozen=True)
class Entry:
    """One line of the navigation."""

    title: str
    icon: str
    href: str
    is_current: bool


@dataclass(frozen=True)
class Group:
    """Entries under one heading, in the order of the question."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class LateSource:
    state: str
    text: str


@dataclass(frozen=True)
class SideFoot:
    """How fresh the facts are, and whose they are."""

    fresh: int
    total: int  # sources that ever had data: one that nobody uses is not late
    worst: str
    late: tuple[LateSource, ...]
    workspace: str


# heading, then (title, icon, route): only pages that exist
_NAVIGATION = (
    ("", (("Overview", "layout-dashboard", "overview"),)),
    ("Market", (("Prices", "tags", "prices"), ("Spot", "trending-down", "spot"))),
    ("Plan", (("Scenarios", "git-branch", "scenario_list"), ("Compare", "columns-3", "compare"))),
    ("Data", (("Sources", "database", "source_list"),)),
)


def page(request: HttpRequest) -> dict[str, Any]:
    return {
        "navigation": SimpleLazyObject(partial(_navigation, request.path)),
        "side_foot": SimpleLazyObject(side_foot),
        "plotly_style_ids": SimpleLazyObject(plotly_style_ids),
        "print_view": PRINT in request.GET.getlist("view"),
    }


def _navigation(path: str) -> list[Group]:
    return [Group(title, tuple(_entry(path, *entry) for entry in entries)) for title, entries in _NAVIGATION]


def _entry(path: str, title: str, icon: str, route: str) -> Entry:
    href = reverse(route)
    is_current = path == href if route == "overview" else path.startswith(href)
    return Entry(title, icon, href, is_current)


def side_foot(rows: Sequence[runs.Freshness] | None = None) -> SideFoot:
    """Return the foot; a page that has asked how fresh the sources are hands its rows on."""
    asked = runs.freshness(timezone.now(), with_runs=False) if rows is None else rows
    sources = [source for source in asked if source.state != "never"]
    late = [source for source in sources if source.state != "fresh"]
    return SideFoot(
        fresh=len(sources) - len(late),
        total=len(sources),
        worst="stale" if any(source.state == "stale" for source in late) else "late",
        late=tuple(
            LateSource(source.state, f"{source.title}: {age(source.age)}") for source in late[:LATE_LINES]
        ),
        workspace=_workspace(),
    )


def _workspace() -> str:
    own, sample = utilization.kinds_on_file()
    if own:
        return "Own fleet, sample data loaded" if sample else "Own fleet"
    return "Sample fleet" if sample else "No fleet measured yet"
