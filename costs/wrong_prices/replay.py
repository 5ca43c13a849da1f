"""Real histories as they would have come: one file per moment, each judged against what stood.

A quarantine is false where the price was right; dirt.py says which were not. Whoever decides is taken to know
that: what was right is released before the next file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from costs.quarantine_rules import Before, Key, ScopeBefore, Verdict, check_scope
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of

from .catalogues import Catalogue, Reference
from .dirt import moment_of
from .payloads import price_of, words


@dataclass
class Tally:
    """How many facts were judged, and how many right ones were held back."""

    judged: int = 0
    changed: int = 0  # of them: facts that said something new
    false: Counter[str] = field(default_factory=Counter)  # right facts that were held, by rule
    true: Counter[str] = field(default_factory=Counter)  # wrong facts that were held, by rule
    passed: int = 0  # wrong facts that were not held
    examples: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Tally") -> "Tally":
        self.judged += other.judged
        self.changed += other.changed
        self.false += other.false
        self.true += other.true
        self.passed += other.passed
        self.examples += other.examples
        return self


def replayed(catalogue: Catalogue, ref: Reference) -> Tally:
    """Return the tally of a history that came file by file."""
    tally, stands, said = Tally(), dict[Key, Before](), dict[Key, tuple[int, Payload]]()
    rows = 0
    for moment, news in _moments(catalogue.facts):
        said |= {key_of(PriceRow, fact): (at, fact) for at, fact in news}
        file = list(said.values())
        facts = [fact for _, fact in file]
        new = {at for at, _ in news}
        dirty = {place for place, (at, _) in enumerate(file) if at in catalogue.wrong}
        before = ScopeBefore(rows, stands) if rows else None
        verdict = check_scope(facts, before, moment, ref.machines, ref.known)
        fresh = {place for place, (at, fact) in enumerate(file) if at in new and is_news(fact, stands)}
        count(tally, facts, verdict, dirty, fresh)
        kept = {place for place in range(len(file)) if place not in dirty}
        stands = publish(stands, facts, kept, moment)
        rows = len(file)
    return tally


def is_news(fact: Payload, stands: Mapping[Key, Before]) -> bool:
    """Return whether a fact says otherwise than what stands."""
    before = stands.get(key_of(PriceRow, fact))
    return before is None or (price_of(fact), fact["state"]) != (before.price_per_hour, before.state)


def count(tally: Tally, facts: Sequence[Payload], verdict: Verdict, dirty: set[int], fresh: set[int]) -> None:
    """Add one judged file to the tally; `dirty` and `fresh` are what is wrong in it, and what is news."""
    tally.judged += len(facts)
    tally.changed += len(fresh)
    held = {place: suspicion.rule for place, suspicion in verdict.facts.items() if place in fresh}
    if verdict.whole is not None:
        held |= {place: verdict.whole.rule for place in fresh if place not in held}
    for place, rule in held.items():
        if place in dirty:
            tally.true[rule] += 1
            continue
        tally.false[rule] += 1
        evidence = verdict.facts[place].evidence if place in verdict.facts else ""
        tally.examples.append(f"{rule}: {words(facts[place], moment=True)}: {evidence}")
    tally.passed += len((dirty & fresh) - set(held))


def publish(
    stands: dict[Key, Before], facts: Sequence[Payload], kept: set[int], moment: datetime
) -> dict[Key, Before]:
    """Return what stands after the kept facts of a whole list were published; what was held stays."""
    after = {}
    for place, fact in enumerate(facts):
        key = key_of(PriceRow, fact)
        before = stands.get(key)
        if place not in kept:
            if before is not None:
                after[key] = before
            continue
        price, prior = price_of(fact), None
        if before is not None:
            if (price, fact["state"], fact["currency"]) == (
                before.price_per_hour,
                before.state,
                before.currency,
            ):
                after[key] = before
                continue
            prior = before.prior if before.price_per_hour is None else before.price_per_hour
        after[key] = Before(price, fact["state"], fact["currency"], moment, prior)
    return after


def _moments(facts: Sequence[Payload]) -> Iterator[tuple[datetime, list[tuple[int, Payload]]]]:
    order = sorted(enumerate(facts), key=lambda each: moment_of(each[1]))
    for moment, group in groupby(order, key=lambda each: moment_of(each[1])):
        yield moment, list(group)
