"""A price against the one that stands."""

from decimal import Decimal

from .rules import JUMP
from .standing import Book, Fact, ratio, shown
from .verdict import Suspicion

MOST_TIMES = Decimal(3)


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
