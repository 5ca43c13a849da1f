"""The sentence that opens the prices page: what a GPU-hour starts at, where, on which terms."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from costs.models import Price
from costs.queries import prices
from costs.queries.offers import CHEAPEST_PER_TERM, Offer, cheaper_but_stale, recommended
from costs.queries.price_changes import Change
from planner.templatetags.units import NBSP, age, count, day, percent, usd_per_hour

Term = Price.Term
WORDS = {
    Term.ON_DEMAND: "on demand",
    Term.RESERVED_1Y: "for 1 year",
    Term.RESERVED_3Y: "for 3 years",
    Term.SPOT: "spot",
    Term.CONVERTIBLE_1Y: "for 1 year, convertible",
    Term.CONVERTIBLE_3Y: "for 3 years, convertible",
    Term.COMPUTE_PLAN_1Y: "on a savings plan of 1 year",
    Term.COMPUTE_PLAN_3Y: "on a savings plan of 3 years",
    Term.INSTANCE_PLAN_1Y: "on a family savings plan of 1 year",
    Term.INSTANCE_PLAN_3Y: "on a family savings plan of 3 years",
    Term.CAPACITY_BLOCK: "in a capacity block",
}
ORDER = tuple(WORDS)
IN_FRONT = 4  # of them in the first sentence


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


def headline(offers: Sequence[Offer]) -> Offer | None:
    """Return the offer that the answer begins with: the cheapest on demand, or on the next term there is."""
    best = recommended(offers)
    return next((best[term] for term in ORDER if term in best), None)


def price_answer(name: str, offers: Sequence[Offer], change: Change | None, now: datetime) -> Answer:
    """Return what `name` starts at on each term. Stale offers are counted, and never what it starts at.

    `offers` are the cheapest of each term, `change` is what the price in the headline did before.
    """
    best = recommended(offers)
    terms = [term for term in ORDER if term in best]
    if not terms:
        return Answer(_nothing_fresh(name, offers, now), "")
    first, *others = terms[:IN_FRONT] if Term.ON_DEMAND in best else terms[:1]
    rest = [f"{WORDS[term]} from {_offer(best[term])}" for term in others]
    start = f"{name} {WORDS[first]} starts at {_offer(best[first])}{_moved(change)}"
    also = [f"{WORDS[term]} from {_offer(best[term])}" for term in terms if term not in (first, *others)]
    more = [f"Also {'; '.join(also)}."] if also else []
    return Answer(f"{'; '.join([start, *rest])}.", " ".join([*more, *_left_out(offers)]))


def extent(offers_found: int, offered: Sequence[prices.Offered]) -> str:
    """Return how many offers match, and of how much."""
    models, clouds = len({row.slug for row in offered}), len({row.provider for row in offered})
    return (
        f"{count(offers_found)}{NBSP}offers match; on file are {count(models)}{NBSP}accelerators "
        f"at {count(clouds)}{NBSP}clouds."
    )


def _offer(offer: Offer) -> str:
    place = f"{offer.provider} {offer.region}".replace("-", "\u2011")  # do not break us-east-1
    return f"{usd_per_hour(offer.usd_per_gpu_hour)}/GPU\u2011h ({place})"


def _moved(change: Change | None) -> str:
    share = change.share if change else None
    if change is None or not share:
        return ""
    over = f"in 12{NBSP}months" if change.is_whole else f"since {day(change.first_seen)}"
    return f", {'down' if share < 0 else 'up'} {percent(abs(share))} {over}"


def _nothing_fresh(name: str, offers: Sequence[Offer], now: datetime) -> str:
    if not offers:
        return f"None of these offers of {name} states a price."
    cheapest = {offer.term: offer for offer in reversed(offers)}
    last = next(cheapest[term] for term in ORDER if term in cheapest)
    return (
        f"No price of {name} here is fresh enough to go by. The lowest known {WORDS[Term(last.term)]} was "
        f"{_offer(last)}, of {day(last.as_of)}, {age(max(now, last.as_of) - last.as_of)}."
    )


def _left_out(offers: Sequence[Offer]) -> list[str]:
    """Return a sentence about stale offers that would be cheaper, were they true still."""
    stale = cheaper_but_stale(offers)
    if not stale:
        return []
    at_least = max(Counter(offer.term for offer in stale).values()) >= CHEAPEST_PER_TERM
    one = len(stale) == 1
    return [
        f"{'At least ' if at_least else ''}{count(len(stale))} cheaper "
        f"{'offer is' if one else 'offers are'} left out as stale: "
        f"{'its list is' if one else 'their lists are'} more than twice as old as expected."
    ]
