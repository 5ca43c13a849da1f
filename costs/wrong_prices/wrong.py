"""What a wrong file is, and how the rows that go wrong are drawn."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from costs.rows import PriceRow, RawLine
from costs.rowtext import Payload, key_of

from .catalogues import Catalogue, Reference
from .payloads import price_of, words

OTHERS_IN_HISTORY = 4  # observations of a price that a wrong one stands among


@dataclass(frozen=True)
class Wrong:
    """A file with errors in it."""

    facts: tuple[Payload, ...]  # all that it states
    wrong: frozenset[int]  # which of them are wrong; empty where something is wrong with the whole
    lines: tuple[tuple[int, RawLine], ...] = ()  # lines that read otherwise than in the true file, by fact
    touched: tuple[str, ...] = ()  # the true facts that went wrong, in words

    @property
    def is_whole(self) -> bool:
        return not self.wrong and not self.lines


Mutation = Callable[[Catalogue, Random, Reference], Wrong | None]


def priced(catalogue: Catalogue) -> list[int]:
    """Return the facts that may go wrong: priced.

    In a history only one among others of its price, not the first of them, which nothing came before, and
    none that is wrong already.
    """
    facts = catalogue.facts
    found = [at for at, fact in enumerate(facts) if fact["price_per_hour"] is not None]
    if catalogue.mode != "history":
        return found
    count = Counter(key_of(PriceRow, facts[at]) for at in found)
    return [
        at
        for at in found
        if count[key_of(PriceRow, facts[at])] > OTHERS_IN_HISTORY
        and at in catalogue.price_before
        and at not in catalogue.wrong
    ]


def draw(catalogue: Catalogue, rng: Random, among: Sequence[int]) -> list[int]:
    """Return some of the facts: one, a few, a tenth or all; in a history one observation of each price."""
    sizes = [1, min(3, len(among)), max(1, len(among) // 10), len(among)]
    drawn = rng.sample(list(among), rng.choice(sizes))
    if catalogue.mode != "history":
        return sorted(drawn)
    once = {key_of(PriceRow, catalogue.facts[at]): at for at in drawn}
    return sorted(once.values())


def with_prices(catalogue: Catalogue, prices: dict[int, Decimal]) -> Wrong | None:
    """Return the file with other prices; None where nothing would be wrong.

    The true price is not wrong, nor in a history the one that stood just before: it says nothing new.
    """
    facts = catalogue.facts
    changed = {at: price for at, price in prices.items() if price != price_of(facts[at])}
    wrong = {at for at, price in changed.items() if price != catalogue.price_before.get(at)}
    fields = {at: {"price_per_hour": f"{price:.9f}"} for at, price in changed.items()}
    return with_fields(catalogue, fields, wrong)


def with_fields(
    catalogue: Catalogue, fields: dict[int, dict[str, str]], wrong: Collection[int]
) -> Wrong | None:
    """Return the file with other values in some facts; None where none of them is wrong."""
    if not wrong:
        return None
    facts = [{**fact, **fields.get(at, {})} for at, fact in enumerate(catalogue.facts)]
    return Wrong(tuple(facts), frozenset(wrong), touched=said(catalogue, wrong))


def said(catalogue: Catalogue, touched: Collection[int]) -> tuple[str, ...]:
    """Return in words which facts go wrong."""
    is_history = catalogue.mode == "history"
    return tuple(words(catalogue.facts[at], moment=is_history) for at in sorted(touched))
