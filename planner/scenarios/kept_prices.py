"""Which prices a revision is read with: those it keeps of its own date, or the facts of the page's date.

A revision that keeps a date holds what each listed price was when the date was chosen. A list that is
published later and states an earlier day, an import taken back, or a rate of exchange that comes late does
not change what the plan costs; where the facts of the date say otherwise by now, that is said beside it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from costs.queries import prices
from planner.models import Revision, SupplyPrice
from planner.scenarios.price_sources import Quotes, key_of
from planner.templatetags.units import NBSP, UNKNOWN, usd_per_hour

Keys = frozenset[prices.PriceKey]


@dataclass(frozen=True)
class PricesRead:
    """The prices that one revision is read with, and what the facts of their date say otherwise by now."""

    moment: datetime
    is_kept: bool  # of the revision's own date
    quotes: Quotes
    corrections: tuple[str, ...]


def moment_of(revision: Revision, as_of: datetime, *, for_all: bool = False) -> datetime:
    """Return at which moment a revision's prices are read; `for_all` passes over the date that it keeps."""
    return as_of if for_all or revision.prices_as_of is None else revision.prices_as_of


def read_prices(
    priced: Sequence[tuple[Revision, Sequence[SupplyPrice]]], as_of: datetime, *, for_all: bool = False
) -> list[PricesRead]:
    """Return the prices of each revision and its supplies; facts are asked for once for each date."""
    wanted = [
        (revision, moment_of(revision, as_of, for_all=for_all), _keys(found)) for revision, found in priced
    ]
    keys: dict[datetime, set[prices.PriceKey]] = {}
    for _, moment, own in wanted:
        keys.setdefault(moment, set()).update(own)
    facts = {moment: prices.prices_on(_ordered(own), moment) for moment, own in keys.items()}
    return [_read(revision, moment, own, facts[moment], for_all) for revision, moment, own in wanted]


def _read(revision: Revision, moment: datetime, keys: Keys, facts: Quotes, for_all: bool) -> PricesRead:
    if for_all or revision.prices_as_of is None:
        return PricesRead(moment, False, facts, ())
    kept = kept_quotes(revision)
    said = [_correction(kept[key], facts[key], moment) for key in _ordered(keys & kept.keys())]
    return PricesRead(moment, True, {**facts, **kept}, tuple(text for text in said if text))


def keep_prices(revision: Revision, supply_prices: Iterable[SupplyPrice]) -> None:
    """Store in an unsaved revision what each listed price is at its date; what it keeps already stays."""
    if revision.prices_as_of is None:
        return
    keys, kept = _keys(supply_prices), kept_quotes(revision)
    quotes = kept | prices.prices_on(_ordered(keys - kept.keys()), revision.prices_as_of)
    revision.kept_quotes = [msgspec.to_builtins(quotes[key]) for key in _ordered(keys)]


def keep_at(revision: Revision, moment: datetime | None) -> None:
    """Let an unsaved revision keep the prices of another moment, to be read when it is saved; None: none."""
    revision.prices_as_of, revision.kept_quotes = moment, None


def kept_quotes(revision: Revision) -> dict[prices.PriceKey, prices.Quote]:
    """Return what a revision keeps of its date, by key."""
    rows: list[dict[str, Any]] = revision.kept_quotes or []
    quotes = (msgspec.convert(row, prices.Quote) for row in rows)
    return {quote.key: quote for quote in quotes}


def on_day(moment: datetime) -> str:
    """Return the day of a moment with its year, for texts that files carry too: they stay the same."""
    shown = moment.astimezone(UTC)
    return f"{shown.day} {shown:%b %Y}".replace(" ", NBSP)


def _keys(supply_prices: Iterable[SupplyPrice]) -> Keys:
    return frozenset(key_of(price) for price in supply_prices if price.is_key)


def _ordered(keys: Iterable[prices.PriceKey]) -> list[prices.PriceKey]:
    return sorted(keys, key=lambda key: (key.provider, key.sku, key.region, key.term, key.payment, key.zone))


def _correction(kept: prices.Quote, fact: prices.Quote, moment: datetime) -> str:
    if (kept.usd_per_gpu_hour, kept.upfront) == (fact.usd_per_gpu_hour, fact.upfront):
        return ""
    key = kept.key
    return (
        f"{key.provider} {key.sku}, {key.region}, keeps {_said(kept)} as read for {on_day(moment)}; "
        f"the facts of that date say {_said(fact)} now"
    )


def _said(quote: prices.Quote) -> str:
    if quote.usd_per_gpu_hour is None:
        return UNKNOWN
    upfront = "" if not quote.upfront else f" and {quote.upfront.normalize():f} upfront for the machine"
    return f"{usd_per_hour(quote.usd_per_gpu_hour)} per GPU-hour{upfront}"
