"""The sentence that opens the prices page: what a GPU-hour starts at, where, on which terms."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from costs.models import Price
from costs.queries import prices
from planner.templatetags.units import NBSP, count, usd_per_hour

ORDER = (Price.Term.ON_DEMAND, Price.Term.RESERVED_1Y, Price.Term.RESERVED_3Y, Price.Term.SPOT)
WORDS = {
    Price.Term.ON_DEMAND: "on demand",
    Price.Term.RESERVED_1Y: "for 1 year",
    Price.Term.RESERVED_3Y: "for 3 years",
    Price.Term.SPOT: "spot",
}


@dataclass(frozen=True)
class Answer:
    main: str
    more: str


def most_widely_sold(offered: Sequence[prices.Offered]) -> prices.Offered | None:
    """Return the accelerator that most providers sell; of equals the first by name."""
    if not offered:
        return None
    clouds = Counter(row.slug for row in offered)
    return min(offered, key=lambda row: (-clouds[row.slug], row.name))


def price_answer(
    name: str, cheapest: Mapping[str, Price], offers_found: int, offered: Sequence[prices.Offered]
) -> Answer:
    """Return what `name` starts at on each term; `cheapest` holds the lowest offer by term."""
    terms = [term for term in ORDER if term in cheapest]
    if not terms:
        return Answer(f"None of these offers of {name} states a price.", _extent(offers_found, offered))
    first, *others = terms
    main = f"{name} {WORDS[first]} starts at {_offer(cheapest[first])}"
    rest = "; ".join(f"{WORDS[term]} from {_offer(cheapest[term])}" for term in others)
    return Answer(f"{main}{'; ' if rest else ''}{rest}.", _extent(offers_found, offered))


def _offer(price: Price) -> str:
    place = f"{price.sku.provider} {price.region}".replace("-", "\u2011")  # do not break us-east-1
    return f"{usd_per_hour(prices.usd_per_gpu_hour(price))}/GPU\u2011h ({place})"


def _extent(offers_found: int, offered: Sequence[prices.Offered]) -> str:
    models, clouds = len({row.slug for row in offered}), len({row.provider for row in offered})
    return (
        f"{count(offers_found)}{NBSP}offers match; on file are {count(models)}{NBSP}accelerators "
        f"at {count(clouds)}{NBSP}clouds."
    )
