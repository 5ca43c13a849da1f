"""One mark of the prices chart for each offer that states a price in dollars."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache, partial

from costs.queries.offers import Offer
from planner.charts.offers import Mark
from planner.templatetags.units import age, day

# more than these a reader cannot tell apart, and the page would carry them all
MOST_MARKS = 500


def marks_of(offers: Iterable[Offer], now: datetime) -> list[Mark]:
    """Return one mark for each place in the chart, the cheapest first: zones of one price are one mark."""
    seen: dict[tuple[str, str, str, float, bool], Mark] = {}
    dated = cache(partial(_dated, now))  # few dates stand on hundreds of marks
    for offer in offers:
        usd = round(offer.usd_per_gpu_hour, 4)
        key = (offer.provider, offer.region, offer.term, usd, offer.is_stale)
        if key not in seen:
            seen[key] = _mark(offer, usd, dated(offer.as_of))
        if len(seen) == MOST_MARKS:
            break
    return list(seen.values())


def _dated(now: datetime, as_of: datetime) -> str:
    return f"{day(as_of)}, {age(max(now - as_of, timedelta(0)))}"


def _mark(offer: Offer, usd: float, dated: str) -> Mark:
    return Mark(
        cloud=offer.provider,
        region=offer.region,
        sku=offer.sku,
        term=offer.term,
        usd_per_gpu_hour=usd,
        as_of=f"{dated}, stale" if offer.is_stale else dated,
        is_stale=offer.is_stale,
    )
