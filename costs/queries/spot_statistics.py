"""What a step function of prices says over a window: each price counts for as long as it held."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

PRICE_STEP = Decimal("0.000000001")
SHARE_STEP = Decimal("0.000001")
_NO_TIME = timedelta(0)


@dataclass(frozen=True)
class Step:
    """One price from `starts_at` up to `ends_at`. After a gap nothing is known of the time before it."""

    starts_at: datetime
    ends_at: datetime
    price_per_hour: Decimal
    currency: str
    follows_gap: bool
    last_seen_at: datetime

    @property
    def held(self) -> timedelta:
        return self.ends_at - self.starts_at


@dataclass(frozen=True)
class Statistics:
    """Time-weighted figures of the time that was watched; without any such time there are none."""

    watched: timedelta
    lowest: Decimal
    median: Decimal
    p95: Decimal
    highest: Decimal
    mean: Decimal
    variation: Decimal  # coefficient of variation: standard deviation / mean
    changes: int  # of the price, within the window; none is counted across a gap


def clipped(steps: Sequence[Step], start: datetime, end: datetime) -> list[Step]:
    """Return the parts of steps that lie in a window; an observation at its last moment has no length."""
    found = []
    for step in steps:
        starts_at, ends_at = max(step.starts_at, start), min(step.ends_at, end)
        if starts_at < ends_at or start <= step.starts_at == step.ends_at < end:
            found.append(
                Step(
                    starts_at,
                    ends_at,
                    step.price_per_hour,
                    step.currency,
                    step.follows_gap,
                    step.last_seen_at,
                )
            )
    return found


def statistics(steps: Sequence[Step]) -> Statistics | None:
    """Return the figures of clipped steps; None where nothing was watched or two currencies meet."""
    watched = sum((step.held for step in steps), _NO_TIME)
    if watched == _NO_TIME or len({step.currency for step in steps}) > 1:
        return None
    mean = sum(step.price_per_hour * _weight(step, watched) for step in steps)
    spread = sum((step.price_per_hour - mean) ** 2 * _weight(step, watched) for step in steps)
    prices = [step.price_per_hour for step in steps if step.held > _NO_TIME]
    return Statistics(
        watched=watched,
        lowest=min(prices),
        median=quantile(steps, Decimal("0.5")),
        p95=quantile(steps, Decimal("0.95")),
        highest=max(prices),
        mean=Decimal(mean).quantize(PRICE_STEP),
        variation=(Decimal(spread).sqrt() / mean).quantize(SHARE_STEP),
        changes=sum(
            not after.follows_gap and before.price_per_hour != after.price_per_hour
            for before, after in pairwise(steps)
        ),
    )


def quantile(steps: Sequence[Step], share: Decimal) -> Decimal:
    """Return the lowest price at or below which the price was for at least this share of the time."""
    watched = sum((step.held for step in steps), _NO_TIME)
    passed = _NO_TIME
    for step in sorted(steps, key=lambda step: step.price_per_hour):
        passed += step.held
        if step.held > _NO_TIME and _ratio(passed, watched) >= share:
            return step.price_per_hour
    raise ValueError("steps that cover some time")


def share_at_or_below(steps: Sequence[Step], price_per_hour: Decimal) -> Decimal | None:
    """Return the share of watched time at this price or less; None where nothing was watched."""
    watched = sum((step.held for step in steps), _NO_TIME)
    if watched == _NO_TIME:
        return None
    below = sum((step.held for step in steps if step.price_per_hour <= price_per_hour), _NO_TIME)
    return _ratio(below, watched).quantize(SHARE_STEP)


def _weight(step: Step, watched: timedelta) -> Decimal:
    return _ratio(step.held, watched)


def _ratio(part: timedelta, whole: timedelta) -> Decimal:
    """Return part / whole through whole microseconds: no float comes near a price."""
    microsecond = timedelta(microseconds=1)
    return Decimal(part // microsecond) / Decimal(whole // microsecond)
