"""Real histories as they would have come: one file per moment, each judged against what stood.

A quarantine is false where the price was right. What counts as wrong is told from the whole history, which
the rules do not see when a file comes:

- a price that leaves its level by more than three times and is back near it within a month;
- a price that rises by about what a Windows licence costs, or is gone, and is back within three days at the
  very price before;
- a term that costs as much as the hour: filled in, since none is sold.

Whoever decides is taken to know the truth: what was right is released before the next file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby

from costs.quarantine_rules import Before, Key, ScopeBefore, Verdict, check_scope
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of

from .catalogues import Catalogue, Reference
from .swapped import TERMS, WINDOWS_USD_PER_VCPU_HOUR
from .wrong import price_of, words

SOON, WITHIN_A_MONTH = timedelta(days=3), timedelta(days=31)
FAR = 3  # times
LEAST_OF_FEE, MOST_OF_FEE = Decimal("0.15"), Decimal("1.7")


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
    wrong = _wrong(catalogue.facts, ref)
    tally, stands, said = Tally(), dict[Key, Before](), dict[Key, tuple[int, Payload]]()
    rows = 0
    for moment, news in _moments(catalogue.facts):
        said |= {key_of(PriceRow, fact): (at, fact) for at, fact in news}
        file = list(said.values())
        facts = [fact for _, fact in file]
        new = {at for at, _ in news}
        dirty = {place for place, (at, _) in enumerate(file) if at in wrong}
        before = ScopeBefore(rows, stands) if rows else None
        verdict = check_scope(facts, before, moment, ref.machines, ref.known)
        fresh = {place for place, (at, fact) in enumerate(file) if at in new and _is_news(fact, stands)}
        _count(tally, facts, verdict, dirty, fresh)
        kept = {place for place in range(len(file)) if place not in dirty}
        stands = publish(stands, facts, kept, moment)
        rows = len(file)
    return tally


def _is_news(fact: Payload, stands: Mapping[Key, Before]) -> bool:
    before = stands.get(key_of(PriceRow, fact))
    return before is None or (price_of(fact), fact["state"]) != (before.price_per_hour, before.state)


def _count(
    tally: Tally, facts: Sequence[Payload], verdict: Verdict, dirty: set[int], fresh: set[int]
) -> None:
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
    order = sorted(enumerate(facts), key=lambda each: _moment(each[1]))
    for moment, group in groupby(order, key=lambda each: _moment(each[1])):
        yield moment, list(group)


def _moment(fact: Payload) -> datetime:
    return datetime.fromisoformat(fact["effective_from"])


def _wrong(facts: Sequence[Payload], ref: Reference) -> set[int]:
    """Return the facts that the history itself shows to be wrong."""
    series: dict[Key, list[int]] = {}
    for at in sorted(range(len(facts)), key=lambda at: _moment(facts[at])):
        series.setdefault(key_of(PriceRow, facts[at]), []).append(at)
    wrong: set[int] = set()
    for observed in series.values():
        wrong |= _excursions(facts, observed, ref)
    by_moment: dict[tuple[str, ...], Decimal] = {}
    for fact in facts:
        if fact["term"] == "on_demand" and fact["price_per_hour"]:
            by_moment[_offer(fact)] = price_of(fact) or Decimal(0)
    for at, fact in enumerate(facts):
        hour = by_moment.get(_offer(fact))
        if fact["term"] in TERMS and hour is not None and (price_of(fact) or 0) >= hour:
            wrong.add(at)
    return wrong


def _offer(fact: Payload) -> tuple[str, ...]:
    names = ("provider", "sku", "gpu_count", "region", "zone", "effective_from")
    return tuple(fact[name] for name in names)


def _excursions(facts: Sequence[Payload], observed: Sequence[int], ref: Reference) -> set[int]:
    found: set[int] = set()
    for place, at in enumerate(observed[1:], 1):
        if observed[place - 1] in found:
            stood = next(each for each in reversed(observed[:place]) if each not in found)
        else:
            stood = observed[place - 1]
        for later in observed[place + 1 :]:
            away = _moment(facts[later]) - _moment(facts[at])
            if away > WITHIN_A_MONTH:
                break
            if _left(facts[stood], facts[at], facts[later], away, ref):
                found.add(at)
                break
    return found


def _left(stood: Payload, fact: Payload, later: Payload, away: timedelta, ref: Reference) -> bool:
    """Return whether a price left its level and was back later."""
    level, price, back = price_of(stood), price_of(fact), price_of(later)
    if level is None or back is None:
        return False
    if price is None:
        return level == back and away <= SOON
    if max(price, level) > FAR * min(price, level):
        return max(level, back) <= FAR * min(level, back)
    machine = ref.machines.get((fact["provider"], fact["sku"]))
    vcpus = Decimal(fact["vcpus"] or (machine and machine.vcpus) or 0)
    fee = vcpus * WINDOWS_USD_PER_VCPU_HOUR
    return level == back and away <= SOON and 0 < LEAST_OF_FEE * fee <= price - level <= MOST_OF_FEE * fee
