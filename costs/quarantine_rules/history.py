"""A file of many dated observations of each price: judged moment by moment, as if each had come alone.

In a history more is known than on the day: that a first price was left at once and for good, that a price
went up by a licence and came back, that a price which jumped stayed where other regions were already.
"""

from collections import deque
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby

from costs.gate import Known
from costs.rowtext import Payload

from .licence import fee_of, is_fee
from .moves import is_jump
from .rules import BY_NEIGHBOURS, JUMP, LICENCE
from .scope import changes
from .standing import TERM, Book, Context, Fact, Machines, amount, ratio, read_facts, shown
from .verdict import Before, Key, ScopeBefore, Suspicion, Verdict

SOON = timedelta(days=3)  # a price that comes back so soon never really went
FEW = 3  # observations that agree
# Azure asks up to six tenths more in some regions, and of spot the share that spot is of the hour
LEAST_OF_FEE, MOST_OF_FEE = Decimal("0.15"), Decimal("1.7")


def check_history(
    facts: Sequence[Payload],
    machines: Machines,
    known: Known,
    *,
    before: ScopeBefore | None = None,
    vouched: Collection[int] = (),
) -> Verdict:
    """Return what to hold back of the observations of one scope, in whatever order they are given.

    `before`: what stands already; it counts for observations that are not older. `vouched`: observations
    that a person released.
    """
    context, trusted = Context(machines, known), set(vouched)
    read = sorted(read_facts(facts), key=lambda fact: (_moment(fact), fact.at))
    book = Book()
    waiting = deque(sorted(before.prices.items(), key=lambda each: each[1].since)) if before else deque()
    found = {at: suspicion for at, suspicion in _outliers(read, context).items() if at not in trusted}
    lasting = _lasting([fact for fact in read if fact.at not in found])
    for moment, group in groupby(read, key=_moment):
        here = list(group)
        while waiting and waiting[0][1].since <= moment:
            book.stand([waiting.popleft()])
        book.state(fact for fact in here if fact.at not in found)
        changed = [
            fact
            for fact in here
            if fact.at not in trusted and fact.at not in found and not fact.repeats(book.before.get(fact.key))
        ]
        found |= changes(changed, book, context, moment, lasting)
        book.seen |= {
            fact.key: amount(fact)
            for fact in here
            if fact.at in found and found[fact.at].rule in BY_NEIGHBOURS and fact.price is not None
        }
        book.stand(
            (fact.key, _standing(fact, book.before.get(fact.key), moment))
            for fact in here
            if fact.at not in found
        )
    return Verdict(None, found)


def _moment(fact: Fact) -> datetime:
    return datetime.fromisoformat(fact.moment)


def _standing(fact: Fact, before: Before | None, moment: datetime) -> Before:
    """Return what stands once a fact is taken."""
    if before is None:
        return Before(fact.price, fact.state, fact.currency, moment, None)
    if fact.repeats(before):
        return before
    prior = before.prior if before.price_per_hour is None else before.price_per_hour
    return Before(fact.price, fact.state, fact.currency, moment, prior)


def _series(facts: Sequence[Fact]) -> dict[Key, list[Fact]]:
    """Return the priced observations of each price, oldest first."""
    series: dict[Key, list[Fact]] = {}
    for fact in facts:
        if fact.price is not None:
            series.setdefault(fact.key, []).append(fact)
    return series


def _outliers(facts: Sequence[Fact], context: Context) -> dict[int, Suspicion]:
    """Return the observations that the rest of their own history tells to be wrong."""
    found: dict[int, Suspicion] = {}
    for observed in _series(facts).values():
        found |= _wrong_start(observed)
        found |= _excursions([fact for fact in observed if fact.at not in found], context)
    return found


def _wrong_start(observed: Sequence[Fact]) -> dict[int, Suspicion]:
    """Suspect the very first observation where a jump leads away from it at once and what follows stays."""
    if len(observed) < 2 or not _stays(observed, 1):
        return {}
    first, later = observed[0], observed[1]
    if not is_jump(amount(first), amount(later)):
        return {}
    there = f"the {shown(amount(later))} from {later.moment[:10]} on"
    evidence = f"{shown(amount(first))} is {ratio(amount(first), amount(later))} {there}"
    return {first.at: Suspicion(JUMP, "price_per_hour", shown(amount(first)), evidence)}


def _lasting(facts: Sequence[Fact]) -> set[int]:
    """Return the observations whose price the next ones keep to."""
    return {
        fact.at
        for observed in _series(facts).values()
        for at, fact in enumerate(observed)
        if at and _stays(observed, at)
    }


def _stays(observed: Sequence[Fact], at: int) -> bool:
    """Return whether the next observations are nearer to one than to what came before it."""
    old, new = amount(observed[at - 1]), amount(observed[at])
    following = [amount(fact) for fact in observed[at + 1 : at + FEW]]
    return len(following) == FEW - 1 and all((each * each < old * new) == (new < old) for each in following)


def _excursions(observed: Sequence[Fact], context: Context) -> dict[int, Suspicion]:
    """Suspect what went up by about a licence and soon came back to the very price before.

    And what came down by just the licence: it may have gone up together with a real rise.
    """
    found: dict[int, Suspicion] = {}
    stood: Fact | None = None
    for at, fact in enumerate(observed):
        fee = fee_of(fact, context)
        why = None if fee is None else _down(observed, at, fee) or _up_and_back(observed, at, stood, fee)
        if why is None:
            stood = fact
        else:
            found[fact.at] = Suspicion(LICENCE, "price_per_hour", shown(amount(fact)), why)
    return found


def _down(observed: Sequence[Fact], at: int, fee: Decimal) -> str | None:
    """Return how a price by the hour came down by a licence, None where it did not."""
    here = observed[at]
    later = next((fact for fact in observed[at + 1 :] if fact.price != here.price), None)
    if here.key[TERM] != "on_demand" or later is None or not is_fee(amount(here) - amount(later), fee):
        return None
    return (
        f"{shown(amount(here))}, and down by just the {shown(fee)} of a Windows licence to "
        f"{shown(amount(later))} at {later.moment[:16]}"
    )


def _up_and_back(observed: Sequence[Fact], at: int, stood: Fact | None, fee: Decimal) -> str | None:
    """Return how a price went up by about a licence and came back, None where it did not."""
    if stood is None or not _is_up(observed[at], stood, fee):
        return None
    back = _return(observed, at, stood)
    if back is None:
        return None
    return (
        f"up from {shown(amount(stood))} by about the {shown(fee)} of a Windows licence, "
        f"and back at {back.moment[:16]}"
    )


def _is_up(fact: Fact, stood: Fact, fee: Decimal) -> bool:
    rise = amount(fact) - amount(stood)
    return LEAST_OF_FEE * fee <= rise <= MOST_OF_FEE * fee


def _return(observed: Sequence[Fact], at: int, stood: Fact) -> Fact | None:
    """Return the observation with which a price is back where it stood, None where it is not soon."""
    for later in observed[at + 1 :]:
        if _moment(later) - _moment(observed[at]) > SOON:
            return None
        if later.price == stood.price:
            return later
    return None
