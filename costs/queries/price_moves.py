"""Find the moments at which listed prices changed, each named once, and the few that matter most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby, pairwise
from math import log

from .price_steps import Offer, Step

LEAST_SHARE = Decimal("0.05")
# a list price stands; what a marketplace asks for some hours is no change of a list
LEAST_STAND = timedelta(days=7)
SHARE_STEP = Decimal("0.000001")


@dataclass(frozen=True)
class Move:
    """One change of one offer's price, in the currency that it is stated in."""

    old: Step
    new: Step
    seen_before: datetime  # the old price was seen until then: the change lies between this and `at`
    at: datetime
    sources: tuple[str, ...]
    zones: tuple[str, ...]  # empty for a price of the whole region

    @property
    def offer(self) -> Offer:
        return self.new.offer

    @property
    def share(self) -> Decimal:
        """Return the new price against the old one: -0.44 is 44 % less."""
        old, new = self.old.price_per_hour, self.new.price_per_hour
        if not old or new is None:
            raise ValueError("a move lies between two prices")
        return (new / old - 1).quantize(SHARE_STEP)


@dataclass(frozen=True)
class Cut:
    """What one provider did to its prices on one day, one way: the biggest move, and what moved with it."""

    move: Move
    skus: tuple[str, ...]
    regions: tuple[str, ...]


def moves(steps: Iterable[Step], *, term: str, since: datetime) -> list[Move]:
    """Return every change of a term from a moment on, the newest first.

    Each source is compared with itself: two sources that disagree are no change. One that several sources
    or zones saw is one change, at the earliest moment that anybody saw it.
    """
    found = [
        Move(old, new, old.seen_at, new.starts_at, (new.source,), (new.zone,) if new.zone else ())
        for old, new in _pairs(steps, term)
        if new.starts_at >= since and old.price_per_hour != new.price_per_hour
    ]
    same: dict[tuple[object, ...], list[Move]] = {}
    for move in sorted(found, key=lambda move: move.at):
        same.setdefault(_what(move), []).append(move)
    merged = [one for group in same.values() for one in _merged(group)]
    return sorted(merged, key=lambda move: (move.at, move.offer), reverse=True)


def _pairs(steps: Iterable[Step], term: str) -> Iterable[tuple[Step, Step]]:
    """Yield each price with the one before it in its series; times without a price lie between them."""
    priced = (step for step in steps if step.term == term and step.price_per_hour is not None)
    for _, series in groupby(priced, key=lambda step: step.series):
        for old, new in pairwise(series):
            if old.currency == new.currency:
                yield old, new


def _what(move: Move) -> tuple[object, ...]:
    return (*move.offer, move.old.price_per_hour, move.new.price_per_hour, move.new.currency)


def _merged(same: Sequence[Move]) -> list[Move]:
    """Make one of the moves that may be one: those whose times between last and first sight overlap."""
    answer: list[Move] = []
    for move in same:
        if answer and (move.at == answer[-1].at or move.seen_before < answer[-1].at):
            before = answer[-1]
            answer[-1] = replace(
                before,
                seen_before=min(max(before.seen_before, move.seen_before), before.at),
                sources=tuple(sorted({*before.sources, *move.sources})),
                zones=tuple(sorted({*before.zones, *move.zones})),
            )
        else:
            answer.append(move)
    return answer


def cuts(found: Iterable[Move], *, most: int, least: Decimal = LEAST_SHARE) -> list[Cut]:
    """Return the biggest changes of list prices.

    The old price stood for a week, and the new one did so too or still holds.
    """
    lasting = [move for move in found if abs(move.share) >= least and _stood(move)]
    same: dict[tuple[str, date, bool], list[Move]] = {}
    for move in sorted(lasting, key=lambda move: (-_size(move), move.offer)):
        key = (move.offer.provider, move.at.astimezone(UTC).date(), move.share > 0)
        same.setdefault(key, []).append(move)
    ranked = sorted(same.values(), key=lambda group: (_size(group[0]), group[0].at), reverse=True)
    return [
        Cut(
            group[0],
            tuple(sorted({move.offer.sku for move in group})),
            tuple(sorted({move.offer.region for move in group})),
        )
        for group in ranked[:most]
    ]


def _stood(move: Move) -> bool:
    is_long = move.at - move.old.starts_at >= LEAST_STAND
    return is_long and (move.new.is_open or (move.new.ends_at or move.at) - move.at >= LEAST_STAND)


def _size(move: Move) -> float:
    """Return how much a move is, so that a half and a double are as big."""
    return abs(log(1 + move.share))
