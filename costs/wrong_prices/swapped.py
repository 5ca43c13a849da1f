"""Errors of what a price is for: another term's, another machine's, another system's.

These stay near the true price, so no bound and no jump sees them; what they break is an order among prices
that stand beside each other.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from random import Random

from costs.rowtext import Payload

from .catalogues import Catalogue, Reference
from .payloads import price_of
from .terms import LONG_FOR_SHORT, SELL_WINDOWS, TERMS, WINDOWS_USD_PER_VCPU_HOUR
from .wrong import Mutation, Wrong, draw, priced, with_fields, with_prices

JUST_BELOW = Decimal("0.95")
MOST_GPUS = 1_024
LARGE = 4  # GPUs
ROUNDING = Decimal("1.001")  # one list has a price to four places, another to six

Place = tuple[str, ...]
_PLACE = ("provider", "sku", "accelerator_name", "gpu_count", "region", "zone")
_DIGITS = re.compile(r"[0-9]+")


def _offers(catalogue: Catalogue) -> dict[Place, dict[tuple[str, str], int]]:
    """Return the priced facts of each machine in each place, by term and payment; of one moment."""
    offers: dict[Place, dict[tuple[str, str], int]] = {}
    for at in priced(catalogue):
        fact = catalogue.facts[at]
        moment = str(fact["effective_from"]) if catalogue.mode == "history" else ""
        place = (*(fact[name] for name in _PLACE), moment)
        offers.setdefault(place, {})[fact["term"], fact["payment"]] = at
    return offers


def _swapped(catalogue: Catalogue, rng: Random, pairs: Iterable[tuple[int, int]]) -> Wrong | None:
    """Swap the prices of some pairs, none of which are equal."""
    facts = catalogue.facts
    other: dict[int, int] = {}
    taken: set[int] = set()
    for left, right in pairs:
        if _differ(facts[left], facts[right]) and not taken & {left, right}:
            other[left] = right
            taken |= {left, right}
    if not other:
        return None
    drawn = draw(catalogue, rng, sorted(other))
    prices = {}
    for left in drawn:
        prices[left] = price_of(facts[other[left]]) or Decimal(0)
        prices[other[left]] = price_of(facts[left]) or Decimal(0)
    return with_prices(catalogue, prices)


def _differ(left: Payload, right: Payload) -> bool:
    """Return whether two prices are more than a rounding apart."""
    low, high = sorted((price_of(left) or Decimal(0), price_of(right) or Decimal(0)))
    return high > low * ROUNDING


def spot_and_on_demand_swapped(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    pairs = [
        (offer["spot", ""], offer["on_demand", ""])
        for offer in _offers(catalogue).values()
        if ("spot", "") in offer and ("on_demand", "") in offer
    ]
    return _swapped(catalogue, rng, pairs)


def term_and_on_demand_swapped(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    pairs = [
        (at, offer["on_demand", ""])
        for offer in _offers(catalogue).values()
        for (term, _), at in offer.items()
        if term in TERMS and ("on_demand", "") in offer
    ]
    return _swapped(catalogue, rng, pairs)


def one_year_and_three_swapped(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    pairs = [
        (at, offer[LONG_FOR_SHORT[term], payment])
        for offer in _offers(catalogue).values()
        for (term, payment), at in offer.items()
        if (LONG_FOR_SHORT.get(term, ""), payment) in offer
    ]
    return _swapped(catalogue, rng, pairs)


def three_years_as_on_demand(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Show what a machine costs for three years as its price by the hour."""
    facts = catalogue.facts
    prices = {
        offer["on_demand", ""]: price_of(facts[at]) or Decimal(0)
        for offer in _offers(catalogue).values()
        for (term, _), at in offer.items()
        if term in LONG_FOR_SHORT and ("on_demand", "") in offer
    }
    if not prices:
        return None
    return with_prices(catalogue, {at: prices[at] for at in draw(catalogue, rng, sorted(prices))})


def on_demand_as_term(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Fill in the price by the hour where a term's is missing."""
    facts = catalogue.facts
    prices = {
        at: price_of(facts[offer["on_demand", ""]]) or Decimal(0)
        for offer in _offers(catalogue).values()
        for (term, _), at in offer.items()
        if term in TERMS and ("on_demand", "") in offer
    }
    if not prices:
        return None
    return with_prices(catalogue, {at: prices[at] for at in draw(catalogue, rng, sorted(prices))})


def windows_for_linux(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Read the Windows meter of machines that are listed with Linux."""
    facts = catalogue.facts
    fees: dict[int, Decimal] = {}
    for at in priced(catalogue):
        fact = facts[at]
        vcpus = _vcpus(fact, ref)
        is_linux = fact["term"] == "on_demand" and fact["provider"] in SELL_WINDOWS
        if is_linux and fact["currency"] == "USD" and vcpus:
            fees[at] = (price_of(fact) or 0) + vcpus * WINDOWS_USD_PER_VCPU_HOUR
    if not fees:
        return None
    return with_prices(catalogue, {at: fees[at] for at in draw(catalogue, rng, sorted(fees))})


def large_below_small(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Price a node just below one of half its GPUs and no larger host.

    Same place, same name but for its numbers. Of hosts that are not known both, four GPUs and more alone: a
    machine with one GPU and a large host does cost more than one with four and a small host (g4dn).
    """
    facts = catalogue.facts
    families: dict[Place, list[int]] = {}
    for at in priced(catalogue):
        fact = facts[at]
        if fact["term"] == "on_demand" and Decimal(fact["gpu_count"]) >= 1:
            moment = str(fact["effective_from"]) if catalogue.mode == "history" else ""
            name = _DIGITS.sub("", fact["sku"])
            place = (fact["provider"], name, fact["accelerator_name"], fact["region"], fact["zone"], moment)
            families.setdefault(place, []).append(at)
    below: dict[int, Decimal] = {}
    for family in families.values():
        for large in family:
            half = [
                price_of(facts[small]) or Decimal(0)
                for small in family
                if _is_half(facts[small], facts[large], ref)
            ]
            if half and max(half) < (price_of(facts[large]) or 0):
                below[large] = max(half) * JUST_BELOW
    if not below:
        return None
    return with_prices(catalogue, {at: below[at] for at in draw(catalogue, rng, sorted(below))})


def _is_half(small: Payload, large: Payload, ref: Reference) -> bool:
    gpus, hosts = Decimal(small["gpu_count"]), (_vcpus(small, ref), _vcpus(large, ref))
    if 2 * gpus > Decimal(large["gpu_count"]):
        return False
    return hosts[0] <= hosts[1] if hosts[0] and hosts[1] else gpus >= LARGE


def _vcpus(fact: Payload, ref: Reference) -> Decimal:
    machine = ref.machines.get((fact["provider"], fact["sku"]))
    return Decimal(fact["vcpus"] or (machine and machine.vcpus) or 0)


def wrong_gpu_count(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Write another count beside a machine type: its vCPUs, eight times it, or one.

    A name that the list has with several counts is no machine type, and each of its counts may be right.
    """
    facts = catalogue.facts
    by_sku: dict[tuple[str, str], list[int]] = {}
    for at, fact in enumerate(facts):
        by_sku.setdefault((fact["provider"], fact["sku"]), []).append(at)
    among = set(priced(catalogue))
    single = sorted(
        sku
        for sku, ats in by_sku.items()
        if len({facts[at]["gpu_count"] for at in ats}) == 1 and among.intersection(ats)
    )
    if not single:
        return None
    sku = rng.choice(single)
    true = Decimal(facts[by_sku[sku][0]]["gpu_count"])
    vcpus = facts[by_sku[sku][0]]["vcpus"]
    counts = [count for count in (Decimal(vcpus or 0), true * 8, Decimal(1)) if 0 < count <= MOST_GPUS]
    count = rng.choice([count for count in counts if count != true])
    drawn = draw(catalogue, rng, sorted(among.intersection(by_sku[sku])))
    return with_fields(catalogue, {at: {"gpu_count": f"{count:.3f}"} for at in drawn}, drawn)


SWAPPED: dict[str, Mutation] = {
    "spot_and_on_demand_swapped": spot_and_on_demand_swapped,
    "term_and_on_demand_swapped": term_and_on_demand_swapped,
    "one_year_and_three_swapped": one_year_and_three_swapped,
    "three_years_as_on_demand": three_years_as_on_demand,
    "on_demand_as_term": on_demand_as_term,
    "windows_for_linux": windows_for_linux,
    "large_below_small": large_below_small,
    "wrong_gpu_count": wrong_gpu_count,
}
