"""Read the names of accelerators that files were refused for, as the newest of each list has them."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min

from costs.models import IngestRun, RejectedRow

RULE, COLUMN = "accelerator_unknown", "accelerator_name"  # as costs/gate.py names them of a price
WINDOW = timedelta(days=90)  # a list that was not loaded for so long says nothing of today's names
_TAKEN = (IngestRun.Status.DONE, IngestRun.Status.PARTIAL, IngestRun.Status.DUPLICATE)
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
Found = tuple[int, str, str]  # run, source, origin


@dataclass(frozen=True)
class Refusal:
    """Lines of one file that were refused for one name."""

    run_id: int
    source: str
    origin: str
    lines: int
    first_line: int


@dataclass(frozen=True)
class UnmappedName:
    """A name that no table knew when the files were read, in every file that has it."""

    name: str
    refusals: tuple[Refusal, ...]

    @property
    def lines(self) -> int:
        return sum(refusal.lines for refusal in self.refusals)

    @property
    def run_ids(self) -> list[int]:
        return [refusal.run_id for refusal in self.refusals]


def unmapped_names(now: datetime, whole_lists: Collection[str]) -> list[UnmappedName]:
    """Return the names, those of most lines first; three queries whatever there is.

    Of sources in `whole_lists` a file replaces the one before it, so that files whose names differ by a
    date alone count as one list, and its newest file tells.
    """
    runs = {pk: (source, origin) for pk, source, origin in _newest(now, whole_lists)}
    rejected = RejectedRow.objects.filter(run__in=list(runs), rule=RULE, column=COLUMN).order_by()
    counted = rejected.values_list("value", "run").annotate(lines=Count("pk"), first=Min("line"))
    by_name: dict[str, list[Refusal]] = {}
    for name, run, lines, first in counted:
        by_name.setdefault(name, []).append(Refusal(run, *runs[run], lines, first))
    names = [UnmappedName(name, tuple(sorted(each, key=_most_lines))) for name, each in by_name.items()]
    return sorted(names, key=lambda each: (-each.lines, each.name))


def _most_lines(refusal: Refusal) -> tuple[int, int]:
    return -refusal.lines, refusal.run_id


def _newest(now: datetime, whole_lists: Collection[str]) -> list[Found]:
    """Return the runs with refused names that no later run of the same list has replaced."""
    recent = IngestRun.objects.filter(started_at__gte=now - WINDOW, status__in=_TAKEN)
    refused = list(
        _found(recent.filter(rejected_by_rule__has_key=RULE).values_list("pk", "source", "origin"))
    )
    if not refused:
        return []
    later = recent.filter(pk__gt=min(pk for pk, _, _ in refused), source__in={each[1] for each in refused})
    newest: dict[tuple[str, str], int] = {}
    for pk, source, origin in later.order_by("pk").values_list("pk", "source", "origin"):
        newest[source, _list_name(source, origin, whole_lists)] = pk
    return [each for each in refused if newest.get(_key(each, whole_lists), 0) <= each[0]]


def _found(rows: Iterable[Found]) -> Iterable[Found]:
    """Keep the newest run of each file."""
    return {(source, origin): (pk, source, origin) for pk, source, origin in sorted(rows)}.values()


def _key(found: Found, whole_lists: Collection[str]) -> tuple[str, str]:
    _, source, origin = found
    return source, _list_name(source, origin, whole_lists)


def _list_name(source: str, origin: str, whole_lists: Collection[str]) -> str:
    return _DATE.sub("", origin) if source in whole_lists else origin
