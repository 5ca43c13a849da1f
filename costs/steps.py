"""Merge observations of a step function into its change points, whatever order they come in.

Providers state spot prices as moments at which a price was seen; most of them repeat the one before. What is
kept of a series is one run per value: when it began and when it was last seen.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Observation = tuple[datetime, Hashable, Any]  # when, what, and a tag that says where it was read
_Stretch = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Run:
    """One value that holds from `starts_at` until the next run starts; it was last seen at `last_seen_at`.

    After a gap nothing is known of the time between the last sight of the run before and this one. The tag
    is that of the observation which the run starts with: where it was read changes nothing of what it says.
    """

    value: Hashable
    starts_at: datetime
    last_seen_at: datetime
    follows_gap: bool
    tag: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two values of one series at one moment, each with the tag of its observation."""

    at: datetime
    kept: Hashable
    kept_tag: Any
    other: Hashable
    other_tag: Any
    kept_is_known: bool  # the first value was merged before; else both came with this call


class ContradictionError(Exception):
    """A series that states two values for one moment. Nothing was merged; every such moment is listed."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        first = conflicts[0]
        super().__init__(
            f"{len(conflicts)} moments with two values; at {first.at.isoformat()}"
            f" {first.kept} and {first.other}"
        )
        self.conflicts = tuple(conflicts)


def merge(known: Sequence[Run], seen: Sequence[Observation], *, gaps: bool) -> list[Run]:
    """Return the runs of one series after `seen` is added to what was `known`: as few as say the same.

    With `gaps`, a call's observations are one watched stretch from the earliest to the latest of them, and
    the known runs are the stretches that their `follows_gap` marks say. Stretches that overlap or touch are
    one; between others nobody watched, so equal values on both sides stay two runs.

    Windows of one history may come in any order, overlap and repeat: the runs are the same in the end. This
    takes windows that hold every observation between their first and their last; where one lacks some, the
    other's are added to it.

    Without `gaps` all of the time is one stretch. Order then matters in one case: a window that falls between
    two which gave equal values finds only the ends of the run that they were made into.
    """
    values = _by_moment(known, seen)
    opening = _opening_moments(known, seen, gaps)
    runs: list[Run] = []
    for at in sorted(values):
        value, tag, _ = values[at]
        before = runs[-1] if runs else None
        if before is None or at in opening or before.value != value:
            runs.append(Run(value, at, at, at in opening, tag))
        else:
            runs[-1] = Run(before.value, before.starts_at, at, before.follows_gap, before.tag)
    return runs


def _observations(known: Sequence[Run], seen: Sequence[Observation]) -> Iterator[tuple[Observation, bool]]:
    """Yield what is known first, so that a moment keeps the tag that it was first brought with."""
    for run in known:
        yield (run.starts_at, run.value, run.tag), True
        yield (run.last_seen_at, run.value, run.tag), True
    for observation in seen:
        yield observation, False


def _by_moment(
    known: Sequence[Run], seen: Sequence[Observation]
) -> dict[datetime, tuple[Hashable, Any, bool]]:
    """Return the one value of each moment; refuse moments that have two."""
    found: dict[datetime, tuple[Hashable, Any, bool]] = {}
    conflicts: list[Conflict] = []
    for (at, value, tag), is_known in _observations(known, seen):
        kept, kept_tag, kept_is_known = found.setdefault(at, (value, tag, is_known))
        if kept != value:
            conflicts.append(Conflict(at, kept, kept_tag, value, tag, kept_is_known))
    if conflicts:
        raise ContradictionError(conflicts)
    return found


def _known_stretches(known: Sequence[Run]) -> list[_Stretch]:
    stretches: list[_Stretch] = []
    for run in sorted(known, key=lambda run: run.starts_at):
        if run.follows_gap or not stretches:
            stretches.append((run.starts_at, run.last_seen_at))
        else:
            stretches[-1] = (stretches[-1][0], run.last_seen_at)
    return stretches


def _opening_moments(known: Sequence[Run], seen: Sequence[Observation], gaps: bool) -> set[datetime]:
    """Return the moments at which a watched stretch begins, after those that meet are made one."""
    stretches = _known_stretches(known)
    if seen:
        moments = [at for at, _, _ in seen]
        stretches.append((min(moments), max(moments)))
    opening: set[datetime] = set()
    watched_until: datetime | None = None
    for starts_at, ends_at in sorted(stretches):
        if watched_until is None or (gaps and starts_at > watched_until):
            opening.add(starts_at)
            watched_until = ends_at
        else:
            watched_until = max(watched_until, ends_at)
    return opening
