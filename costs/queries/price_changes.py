"""What prices did over twelve months, from the spans in which they held."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q

from costs.models import Price

from .offers import Offer

WINDOW = timedelta(days=365)
SAMPLES = 25  # of a small picture
_KEY = ("source", "scope", "sku_id", "region", "zone", "term", "payment")
_Key = tuple[Any, ...]


@dataclass(frozen=True)
class Span:
    """A price as stated, from one moment to another; None is open. Without a price the SKU was not sold."""

    starts: datetime
    ends: datetime | None
    price_per_hour: Decimal | None


@dataclass(frozen=True)
class Change:
    """How one price moved in the window, in the currency that it is stated in."""

    since: datetime
    until: datetime
    spans: tuple[Span, ...]  # oldest first

    @property
    def first(self) -> Span:
        """Return the oldest span of the window that has a price."""
        return next(span for span in self.spans if span.price_per_hour is not None)

    @property
    def first_seen(self) -> datetime:
        """Return from when on there is a price, the start of the window where it held before."""
        return max(self.first.starts, self.since)

    @property
    def is_whole(self) -> bool:
        """Return whether the price is known from the start of the window."""
        return self.first.starts <= self.since

    @property
    def moved(self) -> bool:
        """Return whether there was more than one price."""
        return len({span.price_per_hour for span in self.spans if span.price_per_hour is not None}) > 1

    @property
    def share(self) -> Decimal | None:
        """Return the last price against the first: -0.44 is 44 % less. None where there is no price now."""
        first, last = self.first.price_per_hour, self.spans[-1].price_per_hour
        return None if last is None or first is None else last / first - 1

    def samples(self, count: int = SAMPLES) -> list[float | None]:
        """Return the price at evenly spaced moments of the window; None before it and in gaps."""
        step = (self.until - self.since) / (count - 1)
        moments = [self.since + step * number for number in range(count)]
        return [self._price_at(moment) for moment in moments]

    def _price_at(self, moment: datetime) -> float | None:
        for span in reversed(self.spans):
            if span.starts <= moment and (span.ends is None or moment < span.ends):
                return None if span.price_per_hour is None else float(span.price_per_hour)
        return None


def changes(prices: Iterable[Price], until: datetime, also: Sequence[Offer] = ()) -> dict[int, Change]:
    """Return what each price did in the twelve months before a moment, by its pk; one query for all.

    The prices are those that hold at that moment. One that changed its currency before has no change that
    could be told.
    """
    since = until - WINDOW
    own = {price.pk: _own(price) for price in prices}
    keys = {key: pk for pk, (key, _, _) in own.items()} | {_key(offer): offer.pk for offer in also}
    before: dict[int, list[tuple[str, Span]]] = {pk: [] for pk in keys.values()}
    for pk, *key, currency, starts, ends, amount in _spans(
        list(keys), [one.pk for one in also], since, until
    ):
        span = Span(starts, ends, amount)
        meant = keys.get(tuple(key))
        if meant == pk:
            own[pk] = (tuple(key), currency, span)
        elif meant is not None:
            before[meant].append((currency, span))
    found = {pk: _change(own[pk], before[pk], since, until) for pk in before if pk in own}
    return {pk: change for pk, change in found.items() if change is not None}


def _change(
    own: tuple[_Key, str, Span], before: Iterable[tuple[str, Span]], since: datetime, until: datetime
) -> Change | None:
    _, currency, last = own
    earlier = [(stated_in, span) for stated_in, span in before if span.starts < last.starts]
    spans = (*(span for _, span in earlier), last)
    if any(stated_in != currency for stated_in, _ in earlier):
        return None
    return Change(since, until, spans) if any(span.price_per_hour is not None for span in spans) else None


def _key(price: Price | Offer) -> _Key:
    return tuple(getattr(price, name) for name in _KEY)


def _own(price: Price) -> tuple[_Key, str, Span]:
    return _key(price), price.currency, Span(price.effective_from, price.effective_to, price.price_per_hour)


def _spans(keys: Sequence[_Key], pks: Sequence[int], since: datetime, until: datetime) -> Iterable[Any]:
    """Return what ended in the window of these keys, and of neighbours that the caller leaves out."""
    column = {name: {key[place] for key in keys} for place, name in enumerate(_KEY)}
    ended = Q(
        sku_id__in=column["sku_id"],
        term__in=column["term"],
        region__in=column["region"],
        effective_to__gt=since,
        effective_from__lte=until,
    )
    rows = Price.objects.filter(ended | Q(pk__in=pks) if pks else ended).order_by("effective_from")
    return rows.values_list("pk", *_KEY, "currency", "effective_from", "effective_to", "price_per_hour")
