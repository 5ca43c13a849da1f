"""What a file says of one scope, against what stands there."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from costs.gate import Known
from costs.rowtext import Payload

from .alone import absurd, miscounted
from .beside import neighbours, recounted, spot_for_hour
from .licence import mixed_up
from .moves import jumped, paid_elsewhere
from .rules import CURRENCY, IN_DOUBT, SHRANK, VANISHED
from .standing import Book, Context, Fact, Machines, read_facts
from .verdict import ScopeBefore, Suspicion, Verdict

HALF = 2
DOUBTED_LEAST = 5  # facts; of fewer, each is judged alone


def check_scope(
    facts: Sequence[Payload],
    before: ScopeBefore | None,
    as_of: datetime,
    machines: Machines,
    known: Known,
    *,
    complete: bool = True,
    vouched: Collection[int] = (),
) -> Verdict:
    """Return what to hold back of all that a file says of one scope.

    `complete`: the file is the whole list of the scope, not an addition to it. `vouched` are facts that a
    person released: they are not judged, and others are held against them. A first batch (nothing stands)
    is judged fact by fact alone.
    """
    context = Context(machines, known)
    read = read_facts(facts)
    trusted = set(vouched)
    if before is None or not before.rows:
        judged = [fact for fact in read if fact.at not in trusted]
        return Verdict(None, _alone(judged, context, as_of))
    book = Book()
    book.stand(before.prices.items())
    book.state(read)
    changed = [
        fact for fact in read if fact.at not in trusted and not fact.repeats(book.before.get(fact.key))
    ]
    found = changes(changed, book, context, as_of)
    whole = _size(read, before) if complete else None
    return Verdict(whole or _currency(read, before) or _doubt(found, read, book), found)


def _alone(facts: Sequence[Fact], context: Context, as_of: datetime) -> dict[int, Suspicion]:
    found = {}
    for fact in facts:
        suspicion = miscounted(fact, context) or absurd(fact, context, as_of)
        if suspicion:
            found[fact.at] = suspicion
    return found


def changes(
    changed: Sequence[Fact], book: Book, context: Context, as_of: datetime, lasting: Collection[int] = ()
) -> dict[int, Suspicion]:
    """Return what is suspected among facts that say otherwise than what stands; hold it in the book.

    `lasting` are prices that a history shows to have stayed: where other regions pay about as much already,
    a jump there is believed.
    """
    found: dict[int, Suspicion] = {}
    for fact in changed:
        # a count that stands was accepted
        suspicion = None if fact.key in book.before else miscounted(fact, context) or recounted(fact, book)
        suspicion = suspicion or absurd(fact, context, as_of)
        if suspicion is None and (jump := jumped(fact, book)):
            suspicion = None if fact.at in lasting and paid_elsewhere(fact, book) else jump
        if suspicion:
            found[fact.at] = suspicion
    found |= mixed_up([fact for fact in changed if fact.at not in found], book, context)
    return _beside(changed, found, book, context)


def _beside(
    changed: Sequence[Fact], found: Mapping[int, Suspicion], book: Book, context: Context
) -> dict[int, Suspicion]:
    """Return what is suspected once each fact is held against its neighbours.

    What is suspected is no measure for its neighbours: there the price that stands is. So each round may
    bring another one, until none does.
    """
    by_key = {fact.key: fact.at for fact in changed}
    all_found, last = dict(found), -1
    while last < len(all_found):
        last = len(all_found)
        book.held = {fact.key for fact in changed if fact.at in all_found}
        for fact in changed:
            for key, suspicion in neighbours(fact, book, context) if fact.key not in book.held else ():
                if key in by_key:
                    all_found.setdefault(by_key[key], suspicion)
    for fact in changed:
        filled_in = None if fact.at in all_found else spot_for_hour(fact, book)
        if filled_in:
            all_found[fact.at] = filled_in
    return all_found


def _size(facts: Sequence[Fact], before: ScopeBefore) -> Suspicion | None:
    """Suspect a list with under half of the facts of the last one, or of its prices."""
    if not facts:
        return Suspicion(VANISHED, "", "", f"no facts, where the last file had {before.rows:,}")
    stood = sum(1 for each in before.prices.values() if each.price_per_hour is not None)
    priced = sum(1 for fact in facts if fact.price is not None)
    for what, now, then in (("facts", len(facts), before.rows), ("prices", priced, stood)):
        if now * HALF < then:
            return Suspicion(SHRANK, "", f"{now}", f"{now:,} {what}, under half of the {then:,} before")
    return None


def _currency(facts: Sequence[Fact], before: ScopeBefore) -> Suspicion | None:
    stands = {each.currency for each in before.prices.values()}
    for fact in facts:
        if stands and fact.currency not in stands:
            evidence = f"prices in {fact.currency}, where {', '.join(sorted(stands))} stands"
            return Suspicion(CURRENCY, "currency", fact.currency, evidence)
    return None


def _doubt(found: Mapping[int, Suspicion], facts: Sequence[Fact], book: Book) -> Suspicion | None:
    """Doubt the whole where half of what stood before looks wrong now: new offers have nothing to tell by."""
    compared = [fact for fact in facts if fact.key in book.before]
    doubted = [fact for fact in compared if fact.at in found]
    if len(doubted) < DOUBTED_LEAST or len(doubted) * HALF < len(compared):
        return None
    return Suspicion(
        IN_DOUBT,
        "",
        f"{len(doubted)}",
        f"{len(doubted):,} of {len(compared):,} prices that stood before look wrong in this file, "
        f"for one: {found[doubted[0].at].evidence}",
    )
