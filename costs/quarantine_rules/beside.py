"""A price beside its neighbours: other terms of the same machine, other sizes of the same family.

Only what changed is suspected; where both of two neighbours changed, both are. A price that is held back for
another reason is no measure, but for one that went the other way at the same time: the two were swapped.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal

from .rules import COUNT, LARGE_BELOW, LONG_ABOVE, SPOT_ABOVE, TERM_ABOVE
from .standing import (
    COUNT as GPUS,
)
from .standing import (
    NAME,
    PAYMENT,
    PROVIDER,
    SKU,
    TERM,
    ZONE,
    Book,
    Context,
    Fact,
    Size,
    family_of,
    offer_of,
    place,
    shown,
)
from .verdict import Key, Suspicion

# lists round one term to four places and another to six
ROUNDING = Decimal("1.001")
A_MOVE = Decimal("1.25")  # times: more than a price moves from one day to the next
COMMITTED = {
    "reserved_1y": "reserved_3y",
    "convertible_1y": "convertible_3y",
    "compute_plan_1y": "compute_plan_3y",
    "instance_plan_1y": "instance_plan_3y",
}
_TERMS = frozenset(COMMITTED) | frozenset(COMMITTED.values())
_SHORT_OF = {long: short for short, long in COMMITTED.items()}
TWICE = 2
LARGE = 4  # GPUs: of two sizes with unknown hosts, the smaller must have as many

Breaks = Callable[[Decimal, Decimal], bool]


def _above(left: Decimal, right: Decimal) -> bool:
    return left > right * ROUNDING


def _not_below(left: Decimal, right: Decimal) -> bool:
    return left >= right


def blamed(book: Book, left: Key, right: Key, breaks: Breaks) -> tuple[Key, ...]:
    """Return which of two prices is to blame for a broken order, none where it is kept or was broken."""
    new_left, new_right = book.new(left), book.new(right)
    if new_left is None or new_right is None or not breaks(new_left, new_right):
        return _swapped(book, left, right, breaks)
    old_left, old_right = book.old(left), book.old(right)
    was_broken = old_left is not None and old_right is not None and breaks(old_left, old_right)
    if was_broken and new_left * (old_right or 0) <= (old_left or 0) * new_right * ROUNDING:
        return ()  # it stood so before, no less out of order, and was accepted
    if not book.is_new(right):
        return (left,) if book.is_new(left) else ()
    if not book.is_new(left):
        return (right,)
    # of two new prices that are the same, one was filled in with the other: the one that must be lower
    return (left,) if new_left == new_right else (left, right)


def _swapped(book: Book, left: Key, right: Key, breaks: Breaks) -> tuple[Key, ...]:
    """Return the one of two prices that went far towards the other, which is held back already."""
    if (left in book.held) == (right in book.held):
        return ()
    here = right if left in book.held else left
    stated = [book.stated[key].price if key in book.stated else None for key in (left, right)]
    if stated[0] is None or stated[1] is None or not breaks(stated[0], stated[1]):
        return ()
    old, new = book.old(here), book.new(here)
    if old is None or new is None or (new <= old * A_MOVE and old <= new * A_MOVE):
        return ()
    return (here,)


def neighbours(fact: Fact, book: Book, context: Context) -> Iterator[tuple[Key, Suspicion]]:
    """Yield what is suspected because of a fact that changed: itself, a neighbour that changed, or both."""
    yield from _terms(fact, book)
    yield from _sizes(fact, book, context)


def _terms(fact: Fact, book: Book) -> Iterator[tuple[Key, Suspicion]]:
    for left, right, rule, breaks, order in _pairs(fact.key, book):
        for key in blamed(book, left, right, breaks):
            yield key, _suspicion(book, key, left, right, rule, order)


def spot_for_hour(fact: Fact, book: Book) -> Suspicion | None:
    """Suspect a price by the hour that fell to the very price at which spot stands."""
    old = book.old(fact.key)
    if fact.key[TERM] != "on_demand" or fact.price is None or old is None or fact.price >= old:
        return None
    for other in book.offers[offer_of(fact.key)]:
        if other[TERM] == "spot" and book.old(other) == fact.price and _same_place(fact.key, other):
            evidence = (
                f"{shown(fact.price)} for {fact.key[SKU]} in {place(fact.key)}, down from {shown(old)}, is "
                "what its spot price stands at"
            )
            return Suspicion(SPOT_ABOVE, "price_per_hour", shown(fact.price), evidence)
    return None


def _pairs(key: Key, book: Book) -> Iterator[tuple[Key, Key, str, Breaks, str]]:
    """Yield the prices that a price of one term is held against, the one that must be lower first."""
    for other in book.offers[offer_of(key)]:
        if other == key or other[NAME] != key[NAME] or not _same_place(key, other):
            continue
        for left, right in ((key, other), (other, key)):
            if right[TERM] == "on_demand" and left[TERM] == "spot":
                yield left, right, SPOT_ABOVE, _above, "above"
            elif right[TERM] == "on_demand" and left[TERM] in _TERMS:
                yield left, right, TERM_ABOVE, _not_below, "not below"
            elif _SHORT_OF.get(left[TERM]) == right[TERM] and left[PAYMENT] == right[PAYMENT]:
                yield left, right, LONG_ABOVE, _above, "above"


def _same_place(left: Key, right: Key) -> bool:
    """Return whether two prices of a region hold in one zone: a price without a zone holds in all."""
    return left[ZONE] == right[ZONE] or not left[ZONE] or not right[ZONE]


def _sizes(fact: Fact, book: Book, context: Context) -> Iterator[tuple[Key, Suspicion]]:
    own = book.size(fact.key, context)
    for other in book.families[family_of(fact.key)]:
        size = book.size(other, context)
        for small, large, is_larger in (
            (fact.key, other, _is_larger(size, own)),
            (other, fact.key, _is_larger(own, size)),
        ):
            if not is_larger:
                continue
            for key in blamed(book, small, large, _above):
                yield key, _suspicion(book, key, large, small, LARGE_BELOW, "below")


def _is_larger(large: Size, small: Size) -> bool:
    """Return whether a machine has twice the GPUs of another, and no smaller host."""
    if large.gpus < TWICE * small.gpus or small.gpus < 1:
        return False
    if large.vcpus is None or small.vcpus is None:
        return small.gpus >= LARGE
    return large.vcpus >= small.vcpus


def _suspicion(book: Book, key: Key, left: Key, right: Key, rule: str, order: str) -> Suspicion:
    prices = [shown(_stated(book, each)) for each in (left, right)]
    return Suspicion(
        rule,
        "price_per_hour",
        shown(_stated(book, key)),
        f"{prices[0]} for {_named(left, rule)} is {order} {prices[1]} for {_named(right, rule)} "
        f"in {place(key)}",
    )


def _stated(book: Book, key: Key) -> Decimal:
    fact = book.stated.get(key)
    price = fact.price if fact and fact.price is not None else book.old(key)
    return price or Decimal(0)


def _named(key: Key, rule: str) -> str:
    """Return what tells a price from the one beside it, in words."""
    if rule == LARGE_BELOW:
        return f"{key[SKU]} with {shown(Decimal(key[GPUS]))} GPUs"
    return f"{key[SKU]} {' '.join(part for part in (key[TERM], key[PAYMENT]) if part).replace('_', ' ')}"


def recounted(fact: Fact, book: Book) -> Suspicion | None:
    """Suspect another number of GPUs than stands for the machine, where the table of types has none."""
    counts = book.counts.get((fact.key[PROVIDER], fact.key[SKU]), set())
    if fact.key in book.before or len(counts) != 1:
        return None
    (count,) = counts
    stood = (*fact.key[:GPUS], count, *fact.key[GPUS + 1 :])
    if count == fact.key[GPUS] or stood not in book.before or stood in book.stated:
        return None
    return Suspicion(
        COUNT,
        "gpu_count",
        shown(fact.count),
        f"{shown(fact.count)} GPUs in {fact.key[SKU]} in {place(fact.key)}; its prices so far are for "
        f"{shown(Decimal(count))}",
    )
