"""Measured traces of spot capacity: how much of the time machines could be had, and for how long at a time.

A trace is a row of segments, each with the number of machines that held from its start to its end. Where a
segment starts later than the one before ended, nobody watched in between, and nothing is said of that time.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from planner.core.ranges import ANY, AT_LEAST_0, COUNT, refuse, require_fields, takes

Hours = NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """Segments in order of time, in hours since any moment."""

    starts_hours: Hours
    ends_hours: Hours
    nodes: Hours

    def __post_init__(self) -> None:
        require_fields(self, starts_hours=ANY, ends_hours=ANY, nodes=AT_LEAST_0)
        starts, ends = self.starts_hours, self.ends_hours
        if not len(starts) == len(ends) == len(self.nodes):
            refuse("ends_hours", ends, f"as many ends and machines as starts, {len(starts)}")
        if np.any(ends < starts) or np.any(starts[1:] < ends[:-1]):
            refuse("starts_hours", starts, "segments in order of time that do not overlap")


@takes(starts_hours=ANY, last_seen_hours=ANY, nodes=AT_LEAST_0, tick_hours=AT_LEAST_0)
def trace_of(
    starts_hours: Sequence[float],
    last_seen_hours: Sequence[float],
    follows_gap: Sequence[bool],
    nodes: Sequence[float],
    *,
    tick_hours: float = 0.0,
) -> Trace:
    """Return the segments of change points as they are stored: each holds until the next one.

    Before a gap, and at the end, a value holds until it was last seen, and one tick longer where each sight
    stands for a tick. Raises ValueError where the four sequences differ in length.

    >>> trace_of([0, 2, 9], [1, 4, 9], [True, False, True], [0, 1, 1], tick_hours=1).ends_hours.tolist()
    [2.0, 5.0, 10.0]
    """
    if not len(starts_hours) == len(last_seen_hours) == len(follows_gap) == len(nodes):
        refuse("last_seen_hours", last_seen_hours, f"as many of each as starts, {len(starts_hours)}")
    ends = [
        following if following is not None and not gap else seen + tick_hours
        for seen, following, gap in zip(
            last_seen_hours, [*starts_hours[1:], None], [*follows_gap[1:], True], strict=True
        )
    ]
    return Trace(np.array(starts_hours, float), np.array(ends, float), np.array(nodes, float))


@dataclass(frozen=True)
class Spell:
    """A time during which enough machines could be had, or could not, without a break."""

    start_hours: float
    end_hours: float
    is_available: bool
    end_is_seen: bool  # False where the trace ends, or a gap begins, before the spell does


@dataclass(frozen=True)
class Availability:
    """How a trace did against a number of machines. Means are NaN where no end was seen."""

    watched_hours: float
    available_hours: float
    spells: int
    losses: int
    returns: int

    def __post_init__(self) -> None:
        require_fields(
            self,
            watched_hours=AT_LEAST_0,
            available_hours=AT_LEAST_0,
            spells=COUNT,
            losses=COUNT,
            returns=COUNT,
        )

    @property
    def share(self) -> float:
        """Return available / watched time."""
        return self.available_hours / self.watched_hours if self.watched_hours else math.nan

    @property
    def mean_hours_to_loss(self) -> float:
        """Return available time / losses: the mean of exponential spells, some of which were cut off."""
        return self.available_hours / self.losses if self.losses else math.nan

    @property
    def mean_hours_to_return(self) -> float:
        """Return unavailable time / returns: how long to wait for capacity after a loss."""
        waited = self.watched_hours - self.available_hours
        return waited / self.returns if self.returns else math.nan


def stretches(trace: Trace) -> Iterator[slice]:
    """Yield the runs of segments that were watched without a gap.

    >>> list(stretches(trace_of([0, 5], [1, 6], [True, True], [1, 1])))
    [slice(0, 1, None), slice(1, 2, None)]
    """
    if len(trace.starts_hours) == 0:
        return
    opens = np.flatnonzero(trace.starts_hours[1:] > trace.ends_hours[:-1]) + 1
    edges = [0, *opens.tolist(), len(trace.starts_hours)]
    for start, end in pairwise(edges):
        yield slice(start, end)


@takes(nodes_needed=AT_LEAST_0)
def spells(trace: Trace, nodes_needed: float) -> list[Spell]:
    """Return the spells of every watched stretch, in order.

    >>> [one.is_available for one in spells(trace_of([0, 2], [1, 4], [True, False], [0, 1]), 1)]
    [False, True]
    """
    found: list[Spell] = []
    for part in stretches(trace):
        enough = trace.nodes[part] >= nodes_needed
        starts, ends = trace.starts_hours[part], trace.ends_hours[part]
        edges = [0, *(np.flatnonzero(enough[1:] != enough[:-1]) + 1).tolist(), len(enough)]
        for first, after in pairwise(edges):
            is_seen = after < len(enough)
            found.append(Spell(float(starts[first]), float(ends[after - 1]), bool(enough[first]), is_seen))
    return found


@takes(available_samples=COUNT, samples=COUNT)
def sampled_share(available_samples: int, samples: int) -> float | None:
    """Return available / samples: how much of the time a machine could be had; None without a sample.

    Samples are to be evenly spaced. They follow each other closely, so they say less than as many
    independent ones would. Raises ValueError where more were available than looked at. Source of the example:
    SkyPilot spot traces, us-west-2b, 45 days of 2023 (Wu and others, NSDI 2024).

    >>> round(sampled_share(18242, 20158), 3)
    0.905
    """
    if available_samples > samples:
        refuse("available_samples", available_samples, f"at most samples, {samples}")
    return available_samples / samples if samples else None


@takes(nodes_needed=AT_LEAST_0)
def availability(trace: Trace, nodes_needed: float = 1.0) -> Availability:
    """Return the share of watched time with enough machines, and how often they were lost.

    >>> trace = trace_of([0, 6, 7], [5, 6, 9], [True, False, False], [1, 0, 1], tick_hours=1)
    >>> found = availability(trace)
    >>> found.share, found.losses, found.mean_hours_to_loss
    (0.9, 1, 9.0)
    """
    of = spells(trace, nodes_needed)
    have = [spell for spell in of if spell.is_available]
    return Availability(
        watched_hours=sum(spell.end_hours - spell.start_hours for spell in of),
        available_hours=sum(spell.end_hours - spell.start_hours for spell in have),
        spells=len(have),
        losses=sum(spell.end_is_seen for spell in have),
        returns=sum(spell.end_is_seen for spell in of if not spell.is_available),
    )
