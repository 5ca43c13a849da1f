"""One line for each source whose offers here are older than they should be."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from costs.queries.offers import SourceOffers
from costs.queries.price_ages import cadence_of
from costs.queries.runs import state_of
from planner.source_words import every, title_of
from planner.templatetags.units import age


@dataclass(frozen=True)
class AgeLine:
    """What is late or stale of one source: the look of its dot, and the words."""

    source: str
    tone: str
    text: str


def age_lines(found: Iterable[SourceOffers], now: datetime) -> list[AgeLine]:
    """Return a line for each source with late or stale offers, those with nothing fresh first."""
    lines = [line for one in found if (line := _line(one, now))]
    return sorted(lines, key=lambda line: (line.tone != "stale", line.source))


def _line(one: SourceOffers, now: datetime) -> AgeLine | None:
    cadence = cadence_of(one.source)
    newest, oldest = (max(now - moment, timedelta(0)) for moment in (one.newest, one.oldest))
    title, expected = title_of(one.source), f"a new list is expected {every(cadence)}"
    state = state_of(newest, cadence)
    if state != "fresh":
        return AgeLine(one.source, state, f"{title}: {state}, {age(newest)}; {expected}.")
    worst = state_of(oldest, cadence)
    if worst == "fresh":
        return None
    return AgeLine(
        one.source, "late", f"{title}: some offers are {worst}, the oldest {age(oldest)}; {expected}."
    )
