"""What real histories have wrong, as the whole of each shows: told without the rules, which see one file.

- a price that leaves its level by more than three times and is back near it within a month, or a first price
  that is left so within a month;
- but for spot, a price of more than three times, or under a third of, the middle one of many other regions;
- a price that rises by about what a Windows licence costs, or is gone, and is back within three days at the
  very price before;
- a term that costs as much as the hour: filled in, since none is sold.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median

from costs.quarantine_rules import Key, MachineFacts
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of

from .payloads import price_of
from .terms import TERMS, WINDOWS_USD_PER_VCPU_HOUR

Machines = Mapping[tuple[str, str], MachineFacts]
Seen = tuple[int, datetime, Decimal | None]  # place, moment and price of an observation
MANY_REGIONS = 8
SOON, WITHIN_A_MONTH = timedelta(days=3), timedelta(days=31)
FAR = 3  # times
LEAST_OF_FEE, MOST_OF_FEE = Decimal("0.15"), Decimal("1.7")


def moment_of(fact: Payload) -> datetime:
    """Return when an observation was made."""
    return datetime.fromisoformat(fact["effective_from"])


def known_wrong(facts: Sequence[Payload], machines: Machines) -> frozenset[int]:
    """Return the observations that a history itself shows to be wrong."""
    series: dict[Key, list[int]] = {}
    for at in sorted(range(len(facts)), key=lambda at: moment_of(facts[at])):
        series.setdefault(key_of(PriceRow, facts[at]), []).append(at)
    wrong: set[int] = set()
    for observed in series.values():
        wrong |= _excursions(facts, observed, machines)
        wrong |= _left_at_once(facts, observed)
    return frozenset(wrong | _filled_in(facts) | _far_from_elsewhere(facts))


def _left_at_once(facts: Sequence[Payload], observed: Sequence[int]) -> set[int]:
    prices = [(at, price) for at in observed if (price := price_of(facts[at])) is not None]
    if len(prices) <= 2:
        return set()
    (first, price), (second, left), (_, then) = prices[:3]
    if moment_of(facts[second]) - moment_of(facts[first]) > WITHIN_A_MONTH:
        return set()
    return {first} if _is_far(price, left) and not _is_far(left, then) else set()


def _filled_in(facts: Sequence[Payload]) -> set[int]:
    """Return the terms that cost as much as the hour at that moment."""
    hours = {
        _offer(fact): price
        for fact in facts
        if fact["term"] == "on_demand" and (price := price_of(fact)) is not None
    }
    return {
        at
        for at, fact in enumerate(facts)
        if fact["term"] in TERMS and (price_of(fact) or 0) >= hours.get(_offer(fact), Decimal("Infinity"))
    }


def _far_from_elsewhere(facts: Sequence[Payload]) -> set[int]:
    """Return the prices that are far from the middle of what other regions pay, each at its latest price."""
    latest: dict[tuple[str, ...], dict[str, Decimal]] = {}
    found = set()
    for at in sorted(range(len(facts)), key=lambda at: moment_of(facts[at])):
        fact, price = facts[at], price_of(facts[at])
        if fact["term"] == "spot" or price is None:
            continue
        names = ("provider", "sku", "gpu_count", "zone", "term", "payment")
        regions = latest.setdefault(tuple(fact[name] for name in names), {})
        regions[fact["region"]] = price
        if len(regions) > MANY_REGIONS and _is_far(price, median(regions.values())):
            found.add(at)
    return found


def _is_far(left: Decimal, right: Decimal) -> bool:
    return max(left, right) > FAR * min(left, right)


def _offer(fact: Payload) -> tuple[str, ...]:
    names = ("provider", "sku", "gpu_count", "region", "zone", "effective_from")
    return tuple(fact[name] for name in names)


def _excursions(facts: Sequence[Payload], observed: Sequence[int], machines: Machines) -> set[int]:
    """Return the observations at which a price had left its level, to which it came back."""
    seen = [(at, moment_of(facts[at]), price_of(facts[at])) for at in observed]
    machine = machines.get((facts[observed[0]]["provider"], facts[observed[0]]["sku"]))
    vcpus = Decimal(facts[observed[0]]["vcpus"] or (machine and machine.vcpus) or 0)
    found: set[int] = set()
    level = seen[0][2]
    for place, (at, _, price) in enumerate(seen[1:], 1):
        if price == level or level is None or not _is_left(seen[place:], level, vcpus):
            level = price
        else:
            found.add(at)
    return found


def _is_left(seen: Sequence[Seen], level: Decimal, vcpus: Decimal) -> bool:
    """Return whether the first of some observations had left a level, and a later one is back soon enough."""
    _, moment, price = seen[0]
    is_far = price is not None and _is_far(price, level)
    fee = vcpus * WINDOWS_USD_PER_VCPU_HOUR
    if price is not None and not is_far and not 0 < LEAST_OF_FEE * fee <= price - level <= MOST_OF_FEE * fee:
        return False
    for _, later, back in seen[1:]:
        if later - moment > (WITHIN_A_MONTH if is_far else SOON):
            return False
        if back is not None and (not _is_far(level, back) if is_far else back == level):
            return True
    return False
