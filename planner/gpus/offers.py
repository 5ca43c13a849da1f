"""Which offers may have a line of their own in a GPU's chart."""

from costs.queries.price_steps import Offer
from planner.gpus.subject import Subject

MOST_CHOICES = 60


def line_choices(subject: Subject) -> list[tuple[str, str, bool]]:
    """Return the key, the words and whether it is chosen of each: what moved, and the cheapest of each cloud.

    All others have a line too: their key may stand in the address.
    """
    known = set(subject.history.offers)
    moved = dict.fromkeys(move.offer for move in subject.moves if move.offer in known)
    cheapest: dict[str, Offer] = {}
    for price in subject.history.current():
        cheapest.setdefault(price.step.provider, price.step.offer)
    chosen = {subject.line} if subject.line else set()
    found = sorted({*list(moved)[:MOST_CHOICES], *cheapest.values(), *chosen})
    return [(offer.key, _words(offer), offer == subject.line) for offer in found]


def _words(offer: Offer) -> str:
    place = f"{offer.provider} {offer.sku}, {offer.region}"
    return f"{place}, {offer.payment.replace('_', ' ')}" if offer.payment else place
