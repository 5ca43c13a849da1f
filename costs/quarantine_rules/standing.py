"""Prices as the rules read them: facts of a file, what stands, and who is whose neighbour."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from costs.gate import Known
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of

from .verdict import Before, Key, MachineFacts

PROVIDER, SKU, NAME, COUNT, REGION, ZONE, TERM, PAYMENT = range(8)  # the parts of a key
Machines = Mapping[tuple[str, str], MachineFacts]
Offer = tuple[str, ...]
Family = tuple[str, ...]
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the file."""

    at: int  # its place in the sequence given
    key: Key
    price: Decimal | None
    state: str
    currency: str
    count: Decimal
    vcpus: Decimal | None
    moment: str  # ISO text of effective_from, "" where the fact has none

    def repeats(self, before: Before | None) -> bool:
        """Return whether this is what stands already."""
        return before is not None and (self.price, self.state, self.currency) == (
            before.price_per_hour,
            before.state,
            before.currency,
        )


@dataclass(frozen=True, slots=True)
class Size:
    """How large a machine is."""

    gpus: Decimal
    vcpus: Decimal | None


class Context:
    """What is known besides prices."""

    def __init__(self, machines: Machines, known: Known) -> None:
        self.machines, self.known = machines, known
        self._slugs: dict[tuple[str, str], str | None] = {}

    def slug(self, key: Key) -> str | None:
        """Return the accelerator of an offer."""
        names = (key[SKU], key[NAME])
        if names not in self._slugs:
            self._slugs[names] = self.known.slug_of(*names)
        return self._slugs[names]

    def machine(self, key: Key) -> MachineFacts | None:
        return self.machines.get((key[PROVIDER], key[SKU]))

    def vcpus(self, fact: Fact) -> Decimal | None:
        machine = self.machine(fact.key)
        return machine.vcpus if machine and machine.vcpus else fact.vcpus


def read_facts(payloads: Sequence[Payload]) -> list[Fact]:
    """Return the payloads with their numbers read."""
    return [
        Fact(
            at,
            key_of(PriceRow, payload),
            _number(payload["price_per_hour"]),
            payload["state"],
            payload["currency"],
            Decimal(payload["gpu_count"]),
            _number(payload["vcpus"]),
            payload["effective_from"] or "",
        )
        for at, payload in enumerate(payloads)
    ]


def _number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def amount(fact: Fact) -> Decimal:
    """Return the price of a fact that has one."""
    if fact.price is None:
        raise ValueError(f"no price: {fact.key}")
    return fact.price


def offer_of(key: Key) -> Offer:
    """Return what the prices of one machine in one region share."""
    return (key[PROVIDER], key[SKU], key[COUNT], key[REGION])


def family_of(key: Key) -> Family:
    """Return what the prices of machines that differ in size alone share: the name without its numbers.

    >>> family_of(("aws", "g5.xlarge", "A10G", "1.000", "us-east-1", "", "on_demand", ""))[1]
    'g.xlarge'
    >>> family_of(("aws", "g5.48xlarge", "A10G", "8.000", "us-east-1", "", "on_demand", ""))[1]
    'g.xlarge'
    """
    return (key[PROVIDER], _DIGITS.sub("", key[SKU]), *key[NAME:COUNT], *key[REGION:])


def without_region(key: Key) -> Key:
    """Return what a price has in common with that of the same thing elsewhere."""
    return (*key[:REGION], *key[TERM:])


class Book:
    """Which prices there are, and which stand beside which."""

    def __init__(self) -> None:
        self.before: dict[Key, Before] = {}
        self.stated: dict[Key, Fact] = {}
        self._sizes: dict[Key, Size] = {}
        self._listed: set[Key] = set()
        self.offers: dict[Offer, list[Key]] = {}
        self.families: dict[Family, list[Key]] = {}
        self.regions: dict[Key, list[Key]] = {}  # the same price in all regions, under its key without one
        self.counts: dict[tuple[str, str], set[str]] = {}  # GPU counts of a machine type that stand
        self.held: set[Key] = set()  # stated, and held back
        self.seen: dict[Key, Decimal] = {}  # held back because of a neighbour, where nothing stands

    def stand(self, prices: Iterable[tuple[Key, Before]]) -> None:
        """Add prices that stand."""
        for key, before in prices:
            self._list(key)
            self.before[key] = before
            self.counts.setdefault((key[PROVIDER], key[SKU]), set()).add(key[COUNT])

    def state(self, facts: Iterable[Fact]) -> None:
        """Take the facts of a file as stated, none of them held back so far."""
        self.stated = {fact.key: fact for fact in facts}
        self.held = set()
        for key in self.stated:
            self._list(key)

    def size(self, key: Key, context: Context) -> Size:
        """Return how large the machine of a price is, by the table of types where it has it."""
        if key not in self._sizes:
            machine, fact = context.machine(key), self.stated.get(key)
            vcpus = machine.vcpus if machine and machine.vcpus else fact.vcpus if fact else None
            self._sizes[key] = Size(Decimal(key[COUNT]), vcpus or None)
        return self._sizes[key]

    def _list(self, key: Key) -> None:
        if key not in self._listed:
            self._listed.add(key)
            self.offers.setdefault(offer_of(key), []).append(key)
            self.families.setdefault(family_of(key), []).append(key)
            self.regions.setdefault(without_region(key), []).append(key)

    def reference(self, key: Key) -> Decimal | None:
        """Return the last price that stood, also where none stands at the moment; else the last one seen."""
        before = self.before.get(key)
        if before is None:
            return self.seen.get(key)
        return before.prior if before.price_per_hour is None else before.price_per_hour

    def old(self, key: Key) -> Decimal | None:
        """Return the price that stands."""
        before = self.before.get(key)
        return before.price_per_hour if before else None

    def new(self, key: Key) -> Decimal | None:
        """Return the price as the file has it, or what stands where the file has none to trust."""
        fact = self.stated.get(key)
        if fact is None or key in self.held:
            return self.old(key)
        return fact.price

    def is_new(self, key: Key) -> bool:
        """Return whether the file states another price than what stands."""
        fact = self.stated.get(key)
        return fact is not None and key not in self.held and not fact.repeats(self.before.get(key))


def shown(value: Decimal) -> str:
    """Return a number without empty places.

    >>> shown(Decimal("55.040000000"))
    '55.04'
    """
    return f"{value.normalize():f}"


def ratio(left: Decimal, right: Decimal) -> str:
    """Return how many times one number is the other, for reading.

    >>> ratio(Decimal(24), Decimal(3)), ratio(Decimal(3), Decimal(24))
    ('8.00 times', '1/8.00 of')
    """
    return f"{left / right:.2f} times" if left >= right else f"1/{right / left:.2f} of"


def place(key: Key) -> str:
    """Return where a price holds, in words."""
    return key[ZONE] or key[REGION]
