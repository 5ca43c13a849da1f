"""What the page of all sources shows: filters, lines in their groups, and when each is fetched next."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from costs import schedule
from costs.models import Schedule
from costs.queries import quarantine, runs
from costs.sources import SOURCES
from planner import run_page
from planner.csv_cells import Column
from planner.params import Pairs, shortened
from planner.source_words import KINDS, area_of, by_area, kind_words, needs_of

FILTERS = ("kind", "state", "source")
LONGEST_QUERY = 100
COLUMNS = (
    Column("source"),
    Column("title"),
    Column("kind"),
    Column("data_of", "time"),
    Column("state"),
    Column("age_hours", "number"),
    Column("rows", "number"),
    Column("changed_rows", "number"),
    Column("rejected_lines", "number"),
    Column("quarantined", "number"),
    Column("next_fetch", "time"),
    Column("next_fetch_in_words"),
    Column("last_run_state"),
    Column("needs"),
    Column("as_of", "time"),
    Column("source_run", "number"),
)


@dataclass(frozen=True)
class SourceLine:
    """One source of the table."""

    row: runs.Freshness
    waiting: int  # records in quarantine that nobody has decided
    next_at: datetime | None
    next_words: str  # where there is no date: why
    now: datetime

    @property
    def area(self) -> str:
        return area_of(self.row.kind)

    @property
    def kind(self) -> str:
        return kind_words(self.row.kind)

    @property
    def needs(self) -> str:
        return needs_of(SOURCES[self.row.name])

    @property
    def bar(self) -> float | None:
        """Return the width of the age bar: full at twice the cadence, where late becomes stale."""
        share = self.row.age_share
        return None if share is None else round(min(share / 2, 1) * 100, 1)

    @property
    def last_state(self) -> dict[str, str]:
        run = self.row.last_run
        return run_page.state(run.status) if run else {"word": "—", "tone": ""}

    @property
    def cells(self) -> list[Any]:
        """Return the values of the file's columns."""
        row, run = self.row, self.row.last_run
        return [
            row.name,
            row.title,
            row.kind,
            row.data_as_of,
            row.state,
            None if row.age is None else round(row.age.total_seconds() / 3600, 2),
            row.rows,
            run.changed if run else None,
            run.lines_rejected if run else None,
            self.waiting,
            self.next_at,
            "" if self.next_at else self.next_words,
            self.last_state["word"] if run else "",
            self.needs,
            self.now,
            run.pk if run else None,
        ]


@dataclass(frozen=True)
class SourceFilter:
    """What the page can be narrowed to. Values that are no choice are ignored and named."""

    kind: str = ""
    state: str = ""
    source: str = ""
    notices: tuple[str, ...] = ()

    def pairs(self) -> Pairs:
        """Return the values as parameters, in the order of the form."""
        return [(name, getattr(self, name)) for name in FILTERS if getattr(self, name)]

    def takes(self, line: SourceLine) -> bool:
        """Return whether the line stands on the page."""
        row, words = line.row, self.source.casefold().split()
        text = f"{row.name} {row.title} {line.kind}".casefold()
        return (
            self.kind in ("", row.kind)
            and self.state in ("", row.state)
            and all(word in text for word in words)
        )


def read_filter(query: QueryDict) -> SourceFilter:
    """Return what the address asks for."""
    notices = []
    kind, state = query.get("kind", "").strip(), query.get("state", "").strip()
    if kind and kind not in KINDS:
        notices.append(f"No kind “{shortened(kind)}”: ignored.")
        kind = ""
    if state and state not in runs.STATES:
        notices.append(f"No state “{shortened(state)}”; there are {', '.join(runs.STATES)}: ignored.")
        state = ""
    source = " ".join(query.get("source", "").split())[:LONGEST_QUERY]
    return SourceFilter(kind, state, source, tuple(notices))


def source_lines(rows: Sequence[runs.Freshness], now: datetime) -> list[SourceLine]:
    """Return a line for every source, those with data or runs first, each part by area."""
    waiting, plans = quarantine.waiting_by_source(), plans_of(Schedule.objects.all(), now)
    lines = {
        row.name: SourceLine(row, waiting.get(row.name, 0), *_next(row, plans.get(row.name)), now)
        for row in rows
    }
    ordered = [lines[name] for _, names in by_area(lines) for name in names]
    return sorted(ordered, key=lambda line: not line.row.is_used)


def plans_of(rows: Iterable[Schedule], now: datetime) -> Mapping[str, datetime | None]:
    """Return when each source with a schedule is fetched next, None where every row of it is off."""
    listed = list(rows)
    upcoming = schedule.next_fetches(listed, now)
    found: dict[str, datetime | None] = {}
    for row in listed:
        dates = [date for date in (found.get(row.source), upcoming.get(row.pk)) if date is not None]
        found[row.source] = min(dates, default=None)
    return found


def _next(row: runs.Freshness, at: datetime | None) -> tuple[datetime | None, str]:
    if not row.can_run:
        return None, "by upload"
    return at, "off"


def in_areas(lines: Iterable[SourceLine]) -> list[tuple[str, list[SourceLine]]]:
    """Return lines that stand next to each other under one heading."""
    found: list[tuple[str, list[SourceLine]]] = []
    for line in lines:
        if not found or found[-1][0] != line.area:
            found.append((line.area, []))
        found[-1][1].append(line)
    return found


def chips(chosen: SourceFilter) -> list[tuple[str, Pairs]]:
    """Return the filters that apply in words, each with the parameters without it."""
    pairs = chosen.pairs()
    words = {"kind": kind_words(chosen.kind), "state": chosen.state, "source": chosen.source}
    labels = {"kind": "Kind", "state": "State", "source": "Name"}
    return [
        (f"{labels[name]}: {words[name]}", [pair for pair in pairs if pair[0] != name]) for name, _ in pairs
    ]
