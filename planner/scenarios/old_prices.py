"""Which scenarios keep prices that are too old to decide by, and how a scenario comes to today's."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from costs.queries import runs
from costs.sources import SOURCES
from planner.core.evaluate import evaluate
from planner.models import Person, Scenario
from planner.queries import LoadedPlan, whole_revisions
from planner.scenarios.kept_prices import keep_at, on_day
from planner.scenarios.listing import ListRow
from planner.scenarios.plan_cache import DataDate, loaded_plans
from planner.scenarios.revisions import add_revision, copy_of
from planner.source_words import every
from planner.templatetags.units import UNKNOWN, usd_short

OLDEST = timedelta(days=90)
NOTE = "today’s prices"


@dataclass(frozen=True)
class OldPrices:
    """A scenario whose kept prices are old, and by which measure."""

    row: ListRow
    reason: str


def old_prices(rows: Iterable[ListRow], now: datetime) -> list[OldPrices]:
    """Return the rows that keep prices of more than 90 days ago, or staler than their source allows.

    A source allows twice its cadence, as everywhere, and only where it has published anything since.
    """
    kept = [row for row in rows if row.summary.prices.is_kept and row.summary.prices.is_listed]
    doubtful = [row for row in kept if _stale_sources(row, now)]
    newest = runs.last_published({name for row in doubtful for name in row.summary.sources})
    found = []
    for row in kept:
        moment = row.summary.prices.moment
        outrun = [name for name in _stale_sources(row, now) if newest.get(name, moment) > moment]
        if now - moment > OLDEST:
            found.append(OldPrices(row, f"older than {OLDEST.days} days"))
        elif outrun:
            found.append(OldPrices(row, "; ".join(_outrun(name, newest[name]) for name in outrun)))
    return found


def _outrun(name: str, published: datetime) -> str:
    source = SOURCES[name]
    return f"{source.TITLE} comes {every(runs.cadence_of(name))}, last on {on_day(published)}"


def _stale_sources(row: ListRow, now: datetime) -> list[str]:
    """Return the sources of a row of which prices of its date are stale by now."""
    age = now - row.summary.prices.moment
    known = [name for name in row.summary.sources if name in SOURCES]
    return [name for name in known if runs.state_of(age, runs.cadence_of(name)) == "stale"]


def use_todays_prices(scenario: Scenario, date: DataDate, *, author: Person | None, now: datetime) -> str:
    """Save the newest revision again with the prices of the data date; return what that changed.

    Raise StaleEditError as any edit.
    """
    before = whole_revisions().filter(scenario=scenario).order_by("-number")[0]
    draft = copy_of(before)
    draft.revision.note = NOTE
    keep_at(draft.revision, date.as_of)
    after = add_revision(scenario, draft, edited=before.number, author=author, now=now)
    then, today = (_cash(one) for one in loaded_plans([before, after], date))
    return (
        f"{scenario.name}, revision {after.number}, keeps the prices of {on_day(date.as_of)}: "
        f"it costs {today} in cash, before {then}."
    )


def _cash(loaded: LoadedPlan) -> str:
    try:
        outcome = evaluate(loaded.plan)
    except ValueError:  # a plan that the model does not take: saved before a rule was there
        return UNKNOWN
    return usd_short(outcome.total["cash_usd"], loaded.plan.currency)
