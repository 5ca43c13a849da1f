"""One mark of the prices chart for each offer that states a price in dollars."""

from django.db.models import F, QuerySet

from costs.models import Price
from costs.queries import prices
from planner.charts.offers import Mark
from planner.templatetags.units import day

# more than these a reader cannot tell apart, and the page would carry them all
MOST_MARKS = 800


def marks_of(offers: QuerySet[Price]) -> list[Mark]:
    """Return the cheapest offers, one for each place in the chart: zones of one price are one mark."""
    priced = prices.in_dollars(offers)
    columns = ("sku__provider", "region", "sku__name", "term", "as_of")
    rows = priced.order_by(F("per_gpu_hour").asc(), "pk").values_list(*columns, "per_gpu_hour")
    seen: dict[tuple[str, str, str, float], Mark] = {}
    for cloud, region, sku, term, as_of, usd in rows[: 4 * MOST_MARKS]:
        key = (cloud, region, term, round(usd, 4))
        seen.setdefault(key, Mark(cloud, region, sku, term, round(usd, 4), day(as_of)))
    return list(seen.values())[:MOST_MARKS]
