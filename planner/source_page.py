"""What the page of one source shows: what it is, when it is fetched, what it brought, what waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator

from costs import schedule
from costs.models import Schedule
from costs.queries import quarantine, runs
from costs.sources import SOURCES
from costs.sources.fetchable import can_fetch
from planner import run_page
from planner.forms.schedules import ScheduleForm
from planner.quarantine_page import lines
from planner.source_words import (
    MODES,
    about,
    every,
    kind_words,
    needs_of,
    param_hint,
    param_label,
    parameters,
)

RUNS_PER_PAGE = 25
SHOWN_HELD = 5


@dataclass(frozen=True)
class Plan:
    """One schedule of a source: its form, and what its row says. Without a row the worker makes it."""

    number: int
    form: ScheduleForm
    row: Schedule | None
    next_at: datetime | None
    told: str  # with which parameters it is fetched

    @property
    def every(self) -> str:
        return every(timedelta(minutes=self.row.every_minutes)) if self.row else ""


def context(name: str, now: datetime, page: int, posted: ScheduleForm | None = None) -> dict[str, Any]:
    """Return what the page needs; `posted` is a schedule that was refused, to be shown as it was typed."""
    source = SOURCES[name]
    row = next(each for each in runs.freshness(now) if each.name == name)
    paginator = Paginator(runs.runs_of(name), RUNS_PER_PAGE)
    shown = paginator.get_page(page)
    held = quarantine.held_facts(source=name)
    return {
        "name": name,
        "source": source,
        "row": row,
        "about": about(source),
        "kind": kind_words(source.KIND),
        "mode": MODES.get(source.MODE, ""),
        "cadence": every(row.cadence),
        "needs": needs_of(source),
        "rights": getattr(source, "RIGHTS", ()),
        "params": [(each, param_label(each), param_hint(each)) for each in parameters(source, of_file=False)],
        "plans": plans(name, now, posted) if can_fetch(name) else [],
        "runs": [{"run": run, "state": run_page.state(run.status)} for run in shown.object_list],
        "page": shown,
        "held": lines(held[:SHOWN_HELD]),
        "held_rules": quarantine.rules_of(held),
        "now": now,
    }


def plans(name: str, now: datetime, posted: ScheduleForm | None) -> list[Plan]:
    """Return the schedules of a source; where the worker has made none yet, one that is off."""
    rows: Sequence[Schedule | None] = list(Schedule.objects.filter(source=name)) or [None]
    upcoming = schedule.next_fetches([row for row in rows if row], now)
    return [
        Plan(
            number=number,
            form=_form(name, row, number, posted),
            row=row,
            next_at=upcoming.get(row.pk) if row else None,
            told=", ".join(f"{key} {value}" for key, value in sorted(row.params.items())) if row else "",
        )
        for number, row in enumerate(rows, 1)
    ]


def _form(name: str, row: Schedule | None, number: int, posted: ScheduleForm | None) -> ScheduleForm:
    key = row.params_key if row else ""
    if posted is not None and posted.data.get("params_key", "") == key:
        return posted
    span = timedelta(minutes=row.every_minutes) if row else SOURCES[name].CADENCE or schedule.EVERY
    return ScheduleForm(
        auto_id=f"schedule-{number}-%s",
        initial=ScheduleForm.initial_of(span) | {"is_on": bool(row and row.is_enabled), "params_key": key},
    )
