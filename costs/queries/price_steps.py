"""Read the prices of one accelerator as steps: what each source stated, and until when each counts."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from django.db.models import F, Q, TextField
from django.db.models.functions import Cast

from costs.models import Batch, Price

from .price_ages import cadence_of
from .runs import STALE_AFTER, is_archive

SERIES = ("source", "scope", "sku_id", "region", "zone", "term", "payment")
_PLAIN = (
    "pk", *SERIES, "sku__provider", "sku__name", "state", "state_reason", "currency", "reference", "batch_id",
    "batch__run_id", "line",
)  # fmt: skip
# moments and amounts as text: the ORM's own conversion takes three times as long as the query
_AS_TEXT = {
    "gap": Cast(F("follows_gap"), TextField()),
    "gpus": Cast(F("sku__gpu_count"), TextField()),
    "amount": Cast(F("price_per_hour"), TextField()),
    "starts": Cast(F("effective_from"), TextField()),
    "ends": Cast(F("effective_to"), TextField()),
    "seen": Cast(F("as_of"), TextField()),
    "listed": Cast(F("batch__as_of"), TextField()),
}
_TRUE = frozenset({"1", "true"})


class Offer(NamedTuple):
    """One SKU in one region on one way to pay; its zones and the sources that state it are one offer."""

    provider: str
    sku: str
    region: str
    payment: str

    @property
    def key(self) -> str:
        """Return the offer as one text for an address: aws/p5.48xlarge/us-east-1."""
        return "/".join(part for part in self if part)


class Step(NamedTuple):
    """One price as one source stated it. Moments are UTC; without a price `state` says why."""

    pk: int
    source: str
    scope: str
    sku_id: int
    region: str
    zone: str
    term: str
    payment: str
    provider: str
    sku: str
    state: str
    state_reason: str
    currency: str
    reference: str
    batch_id: int
    run_id: int
    line: int
    gpu_count: Decimal
    price_per_hour: Decimal | None
    starts_at: datetime
    ends_at: datetime | None  # when the next one began, or the source had it no longer
    seen_at: datetime  # when the source last stated it
    follows_gap: bool
    counts_until: datetime  # from then on it is not known, or too old to be recommended
    offer: Offer

    @property
    def series(self) -> tuple[object, ...]:
        """Return what tells one series of statements from another."""
        return (self.source, self.scope, self.sku_id, self.region, self.zone, self.term, self.payment)

    @property
    def is_open(self) -> bool:
        return self.ends_at is None

    def is_stale(self, now: datetime) -> bool:
        """Return whether the price is older than two cadences of its source."""
        return self.is_open and self.counts_until < now


class Origin(NamedTuple):
    """Which file a step came with."""

    fetched_at: datetime
    sha256: str


def steps_of(accelerator_id: int, *, term: str, since: datetime, now: datetime) -> list[Step]:
    """Return the steps of a term that reach into the window, and of every term those that still hold.

    They are sorted by series, then by time; one query. A step counts until the next one of its series, or
    until the last sight of it where nobody watched after that. The newest one counts for two cadences of
    its source, as on every page.
    """
    holds = Q(effective_to__isnull=True) | Q(effective_to__gt=since, term=term)
    rows = Price.objects.filter(holds, sku__accelerator_id=accelerator_id, effective_from__lte=now)
    in_order = rows.annotate(**_AS_TEXT).order_by(*SERIES, "effective_from")
    return _steps(in_order.values_list(*_PLAIN, *_AS_TEXT).iterator(chunk_size=5000))


def origins(batch_ids: Iterable[int]) -> dict[int, Origin]:
    """Return the file that each batch came with; one query."""
    rows = Batch.objects.filter(pk__in=set(batch_ids)).values_list("pk", "raw__fetched_at", "raw__sha256")
    return {pk: Origin(fetched_at, sha256) for pk, fetched_at, sha256 in rows}


def _steps(rows: Iterable[tuple[Any, ...]]) -> list[Step]:
    """Make steps of rows in order. A few thousand rows share a few hundred moments and amounts."""
    read = _Reading()
    answer: list[Step] = []
    waiting: tuple[Any, ...] | None = None
    for row in chain(rows, [None]):
        if waiting is not None:
            answer.append(_step(waiting, row, read))
        waiting = row
    return answer


class _Reading:
    """What is worked out once for all rows of one reading."""

    def __init__(self) -> None:
        self.moment = cache(_moment)
        self.number = cache(Decimal)
        self.offer = cache(Offer)
        self.patience = cache(_patience)
        self.is_archive = cache(is_archive)


def _step(row: tuple[Any, ...], following: tuple[Any, ...] | None, read: _Reading) -> Step:
    *plain, gap, gpus, amount, starts, ends, seen, listed = row
    source = plain[1]
    starts_at, seen_at = read.moment(starts), read.moment(seen)
    ends_at = None if ends is None else read.moment(ends)
    if ends_at is None:
        if read.is_archive(source):
            seen_at = max(seen_at, read.moment(listed))
        until = seen_at + read.patience(source)
    else:
        until = seen_at if _is_cut_off(row, following) else ends_at
    price = None if amount is None else read.number(amount)
    times = (starts_at, ends_at, seen_at, gap in _TRUE, max(until, starts_at))
    offer = read.offer(plain[8], plain[9], plain[4], plain[7])
    return Step._make([*plain, read.number(gpus), price, *times, offer])


def _is_cut_off(row: tuple[Any, ...], following: tuple[Any, ...] | None) -> bool:
    """Return whether nobody watched a series between a row and the one after it."""
    series = slice(1, 1 + len(SERIES))
    return following is not None and following[len(_PLAIN)] in _TRUE and following[series] == row[series]


def _patience(source: str) -> timedelta:
    """Return for how long a price counts after its last sight."""
    return STALE_AFTER * cadence_of(source)


def _moment(text: str) -> datetime:
    """Return a moment that the database wrote as text: SQLite without a zone, PostgreSQL in that of UTC.

    >>> _moment("2025-06-05 07:22:36") == _moment("2025-06-05 07:22:36+00")
    True
    """
    return datetime.fromisoformat(text if text[-3] == "+" else f"{text}+00")
