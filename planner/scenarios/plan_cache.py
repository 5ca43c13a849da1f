"""Keep loaded plans and measured use in this process: revisions and dated prices do not change.

A slider drag asks for the same plans many times a second; only the first asks the database. Every key
holds the moment of the prices, whether they are kept, and a stamp of the facts, so a new price list makes
new keys: of plans that keep their prices too, since what the facts say of their date may be corrected.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Count, Max

from costs.models import Batch
from costs.queries import utilization
from planner.models import Revision
from planner.queries import LoadedPlan, load_plans, whole_revisions
from planner.scenarios.kept_prices import moment_of

Stamp = tuple[int, int, int]  # newest batch, how many there are, how many were taken back
PlanKey = tuple[UUID, datetime, bool, Stamp]
FleetKey = tuple[bool, datetime, Stamp]
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


_every: "list[Recent[Any, Any]]" = []


class Recent(Generic[Key, Value]):
    """The values used last, by key. Safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()
        _every.append(self)

    def get_all(self, keys: Sequence[Key], make: Callable[[list[Key]], dict[Key, Value]]) -> list[Value]:
        """Return a value for every key; those not at hand are made together."""
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        if missing:
            found |= make(missing)
        with self._lock:
            for key in keys:
                self._values[key] = found[key]
                self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return [found[key] for key in keys]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()


@dataclass(frozen=True)
class DataDate:
    """The moment of a page, and a stamp that changes whenever facts are published, taken back or removed.

    Measured use is read at this moment, and the prices of revisions that keep no date of their own; with
    `for_all` those of every revision.
    """

    as_of: datetime
    is_frozen: bool
    stamp: Stamp
    for_all: bool = False

    def key_of(self, revision: Revision) -> PlanKey:
        """Return what a revision's plan is kept under."""
        kept = not self.for_all and revision.prices_as_of is not None
        return revision.uid, moment_of(revision, self.as_of, for_all=self.for_all), kept, self.stamp


@dataclass(frozen=True)
class FleetUse:
    """What was measured up to a data date, whole and by pool."""

    measured: utilization.Measured | None
    pools: dict[str, list[utilization.Period]]


_plans: Recent[PlanKey, LoadedPlan] = Recent(256)
_fleets: Recent[FleetKey, FleetUse] = Recent(16)


def forget() -> None:
    """Forget all plans and measurements: for tests, whose databases are rolled back under this process."""
    for recent in _every:
        recent.clear()


def data_date(now: datetime, frozen: datetime | None = None, *, for_all: bool = False) -> DataDate:
    """Return the data date of a page: the frozen one, or that of the facts that are there now.

    Live pages read prices at the last publication or this midnight, whichever is later: the same answer
    for everybody until facts change, in the browser and in the shell. A date that lies ahead is answered by
    them too: nothing of it is known.
    """
    facts = Batch.objects.aggregate(
        newest=Max("pk", default=0),
        count=Count("pk"),
        # an import taken back leaves its batches where they are
        undone=Count("undone_at"),
        published=Max("published_at"),
        stated=Max("as_of"),
    )
    stamp = (facts["newest"], facts["count"], facts["undone"])
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    known = [moment for moment in (facts["published"], facts["stated"]) if moment and moment <= now]
    live = max([midnight, *known])
    if frozen is None:
        return DataDate(live, False, stamp, for_all)
    # a day is asked for at its end, and today's has not come
    return DataDate(frozen if frozen <= now else live, True, stamp, for_all)


def loaded_plans(revisions: Sequence[Revision], date: DataDate) -> list[LoadedPlan]:
    """Return the plans of revisions, which need not have their supplies loaded."""
    keys = {date.key_of(revision): revision.pk for revision in revisions}

    def load(missing: list[PlanKey]) -> dict[PlanKey, LoadedPlan]:
        whole = whole_revisions().filter(pk__in=[keys[key] for key in missing])
        plans = load_plans(whole, date.as_of, for_all=date.for_all)
        return {date.key_of(plan.revision): plan for plan in plans}

    return _plans.get_all(list(keys), load)


def fleet_use(*, sample: bool, date: DataDate) -> FleetUse:
    """Return the measured use that stands beside plans at a data date."""

    def measure(missing: list[FleetKey]) -> dict[FleetKey, FleetUse]:
        measured = utilization.measured(sample=sample, as_of=date.as_of)
        pools = (
            utilization.weekly_by_pool(sample=sample, until=measured.until) if measured is not None else {}
        )
        return dict.fromkeys(missing, FleetUse(measured, pools))

    return _fleets.get_all([(sample, date.as_of, date.stamp)], measure)[0]
