"""How old a price is against how often its list comes: what is late, and what is too old to go by."""

from collections import defaultdict
from datetime import datetime, timedelta
from functools import cache

from django.db.models import Q

from costs.models import Price

from . import runs
from .runs import MONTHLY, STALE_AFTER, State, cadences, state_of


@cache
def cadence_of(source: str) -> timedelta:
    """Return how often the list of a price is expected; monthly where the source does not say."""
    return runs.cadence_of(source, "prices") or MONTHLY


def age_of(price: Price, now: datetime) -> timedelta:
    """Return how long ago a source stated a price."""
    return max(now - price.as_of, timedelta(0))


def age_state(price: Price, now: datetime) -> State:
    """Return the word about a price's age: fresh, late or stale."""
    return state_of(age_of(price, now), cadence_of(price.source))


def older_than(now: datetime, times: int) -> Q:
    """Return the condition that a price is older than so many times the cadence of its source."""
    by_cadence: dict[timedelta, list[str]] = defaultdict(list)
    for name, cadence in cadences("prices").items():
        if cadence is not None and cadence != MONTHLY:
            by_cadence[cadence].append(name)
    others = [name for names in by_cadence.values() for name in names]
    condition = Q(as_of__lt=now - times * MONTHLY) & ~Q(source__in=others)
    for cadence, names in sorted(by_cadence.items()):
        condition |= Q(source__in=names, as_of__lt=now - times * cadence)
    return condition


def is_late(now: datetime) -> Q:
    """Return the condition that a price is late or stale."""
    return older_than(now, 1)


def is_stale(now: datetime) -> Q:
    """Return the condition that a price is too old to be recommended."""
    return older_than(now, STALE_AFTER)
