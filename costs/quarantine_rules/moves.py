"""A price against the one that stands."""

from decimal import Decimal

from .rules import JUMP
from .standing import REGION, Book, Fact, amount, ratio, shown, without_region
from .verdict import Suspicion

MOST_TIMES = Decimal(3)
FEW_REGIONS, FAIR_PART = 2, 4


def jumped(fact: Fact, book: Book) -> Suspicion | None:
    """Suspect a price of more than three times, or under a third of, the last one."""
    old = book.reference(fact.key)
    if fact.price is None or old is None or not is_jump(fact.price, old):
        return None
    return Suspicion(
        JUMP,
        "price_per_hour",
        shown(fact.price),
        f"{shown(fact.price)} is {ratio(fact.price, old)} the {shown(old)} {fact.currency} that stood before",
    )


def is_jump(price: Decimal, old: Decimal) -> bool:
    """Return whether one price is more than three times the other."""
    return price > old * MOST_TIMES or price * MOST_TIMES < old


def paid_elsewhere(fact: Fact, book: Book) -> bool:
    """Return whether a fair part of the other regions pays about this price for the same thing already."""
    elsewhere = [
        price
        for other in book.regions[without_region(fact.key)]
        if other[REGION] != fact.key[REGION] and (price := book.old(other)) is not None
    ]
    near = [price for price in elsewhere if not is_jump(amount(fact), price)]
    return len(near) >= FEW_REGIONS and len(near) * FAIR_PART >= len(elsewhere)
