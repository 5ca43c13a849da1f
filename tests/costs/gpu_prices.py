"""Prices of one GPU for tests of its days and its changes: offers that begin, end and were last seen."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from costs.models import Accelerator, Price
from costs.queries.price_history import History, history
from costs.queries.price_steps import Offer, Step, steps_of
from tests.fact_builders import make_price, make_sku

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIRST = date(2026, 11, 1)
SINCE = datetime(2026, 11, 1, tzinfo=UTC)
P5 = Offer("aws", "p5.48xlarge", "us-east-1", "")


def on(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def read(term: str = "on_demand", since: datetime = SINCE, slug: str = "h100-sxm-80gb") -> list[Step]:
    accelerator = Accelerator.objects.get(slug=slug)
    return steps_of(accelerator.pk, term=term, since=since, now=NOW)


def swept(term: str = "on_demand", first: date = FIRST, **options: Any) -> History:
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    return history(read(term, since), term=term, first=first, now=NOW, **options)


def days(found: History) -> list[tuple[str, float | None, float | None, int]]:
    """Return each stretch as its first day, lowest, median and number of offers."""
    return [
        (f"{one.first:%d}", one.lowest.usd_per_gpu_hour if one.lowest else None, one.median, one.offers)
        for one in found.stretches
    ]


def make_offer(price: str, start: datetime, end: datetime | None = None, **changes: Any) -> Price:
    """Make a price that was last seen at `as_of`, by default at its end or today."""
    sku = changes.pop("sku", None) or make_sku(name=changes.pop("name", f"sku {Price.objects.count()}"))
    seen = changes.pop("as_of", end or NOW)
    return make_price(
        sku=sku,
        price_per_hour=Decimal(price) if price else None,
        effective_from=start,
        effective_to=end,
        as_of=seen,
        **changes,
    )
