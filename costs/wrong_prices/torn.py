"""Errors of lines and of the whole file: nothing, less than nothing, twice, half, gone, another currency."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from random import Random

from costs.rows import OutOfScope, PriceRow, RawLine, RowError
from costs.rowtext import key_of, to_payload
from costs.sources import SOURCES

from .catalogues import Catalogue, Reference, Stated
from .payloads import price_of
from .wrong import Mutation, Wrong, draw, priced, said

KEPT_OF_HALF = Decimal("0.45")
FEWEST_ROWS = 4  # of fewer, half is a row or two: an ordinary change
CURRENCIES = ("EUR", "CNY", "GBP")


def _edited(catalogue: Catalogue, stated: Stated, text: str) -> RawLine | None:
    """Return the line with `text` for the fact's price, where the price stands in a field of its own.

    A line whose source documents such a text as unknown, and so states no price, is no wrong line.
    """
    source = SOURCES[catalogue.source]
    key = key_of(PriceRow, stated.payload)
    price = price_of(stated.payload)
    for name, field in stated.raw.fields.items():
        try:
            if Decimal(field.strip()) != price:
                continue
        except InvalidOperation:
            continue
        line = RawLine(stated.raw.line, {**stated.raw.fields, name: text})
        try:
            rows = source.parse(line, catalogue.info)
        except (RowError, OutOfScope):
            return line
        now = [payload for payload in map(to_payload, rows) if key_of(PriceRow, payload) == key]
        if now and now[0]["price_per_hour"] is not None and price_of(now[0]) != price:
            return line
    return None


def _in_line(text: str) -> Mutation:
    """Write a text that is no price where the price stands."""

    def mutate(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
        return _with_lines(catalogue, rng, lambda stated: _edited(catalogue, stated, text))

    return mutate


def two_prices(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """State a fact once more, at half as much again."""

    def again(stated: Stated) -> RawLine | None:
        line = _edited(catalogue, stated, f"{(price_of(stated.payload) or 0) * Decimal('1.5'):f}")
        return line and RawLine(line.line + 10**9, line.fields)

    return _with_lines(catalogue, rng, again)


def _with_lines(catalogue: Catalogue, rng: Random, edit: Callable[[Stated], RawLine | None]) -> Wrong | None:
    among = priced(catalogue)
    if not among:
        return None
    edited = {}
    for at in draw(catalogue, rng, among)[:FEWEST_ROWS]:
        line = edit(catalogue.stated[at])
        if line is not None:
            edited[at] = line
    if not edited:
        return None
    return Wrong(tuple(catalogue.facts), frozenset(), tuple(sorted(edited.items())), said(catalogue, edited))


def under_half_the_rows(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Break the list off, or lose lines all over it: under half are left."""
    count = len(catalogue.stated)
    if catalogue.mode != "snapshot" or count < FEWEST_ROWS:
        return None  # an addition to a list may be short
    kept = max(1, int(count * KEPT_OF_HALF))
    left = set(range(kept) if rng.random() < 0.5 else rng.sample(range(count), kept))
    facts = [fact for at, fact in enumerate(catalogue.facts) if at in left]
    return Wrong(tuple(facts), frozenset(), (), said(catalogue, set(range(count)) - left))


def vanished(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Leave a provider out of the list."""
    if catalogue.mode != "snapshot":
        return None
    return Wrong((), frozenset(), (), said(catalogue, range(len(catalogue.stated))))


def currency_relabelled(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Write another currency beside the same numbers."""
    if catalogue.mode == "history" or not priced(catalogue):
        return None
    currency = rng.choice([each for each in CURRENCIES if each != catalogue.facts[0]["currency"]])
    facts = [{**fact, "currency": currency} for fact in catalogue.facts]
    return Wrong(tuple(facts), frozenset(), (), said(catalogue, range(len(facts))))


TORN: dict[str, Mutation] = {
    "zero": _in_line("0"),
    "zero_with_decimals": _in_line("0.0000000000"),
    "negative": _in_line("-1"),
    "no_number": _in_line("1,234.56"),
    "two_prices": two_prices,
    "under_half_the_rows": under_half_the_rows,
    "vanished": vanished,
    "currency_relabelled": currency_relabelled,
}
