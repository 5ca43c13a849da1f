"""Errors of the amount: a price that is many times, or a small part, of the true one.

Every factor here lies beyond the threefold: a price within three times the true one can be a real one.
"""

from decimal import Decimal
from random import Random

from .catalogues import Catalogue, Reference
from .payloads import price_of
from .wrong import Mutation, Wrong, draw, priced, with_prices

HOURS_PER_YEAR, HOURS_PER_MONTH = 8_760, 730
LARGE_NODE = 4  # GPUs: the price of one for that of all is then beyond the threefold
BID_FLOOR_USD_PER_HOUR = Decimal("0.01")
PLAUSIBLE = 3  # times or parts of the true price
# what a virtual machine costs without GPUs, list price of Google's A2 machines in us-central1, 2026
HOST_USD_PER_VCPU_HOUR, HOST_USD_PER_GIB_HOUR = Decimal("0.0316"), Decimal("0.00424")


def _times(factor: Decimal) -> Mutation:
    def mutate(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
        among = priced(catalogue)
        if not among:
            return None
        return _scaled(catalogue, dict.fromkeys(draw(catalogue, rng, among), factor))

    return mutate


def _whole_list(factor: Decimal) -> Mutation:
    def mutate(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
        if catalogue.mode == "history":
            return None  # of all observations alike nothing tells which are wrong
        return _scaled(catalogue, dict.fromkeys(priced(catalogue), factor))

    return mutate


def _scaled(catalogue: Catalogue, factors: dict[int, Decimal]) -> Wrong | None:
    facts = catalogue.facts
    return with_prices(catalogue, {at: (price_of(facts[at]) or 0) * by for at, by in factors.items()})


def _per_count(sign: int) -> Mutation:
    """Take the node's price for that of one GPU (1), or one GPU's for the node's (-1)."""

    def mutate(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
        facts = catalogue.facts
        among = [at for at in priced(catalogue) if Decimal(facts[at]["gpu_count"]) >= LARGE_NODE]
        if not among:
            return None
        return _scaled(
            catalogue, {at: Decimal(facts[at]["gpu_count"]) ** sign for at in draw(catalogue, rng, among)}
        )

    return mutate


def one_region_times_10(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Shift the point in everything that one region states; in a history on one day."""
    facts = catalogue.facts
    places: dict[tuple[str, str], list[int]] = {}
    for at in priced(catalogue):
        moment = str(facts[at]["effective_from"]) if catalogue.mode == "history" else ""
        places.setdefault((facts[at]["region"], moment), []).append(at)
    if len({region for region, _ in places}) < 2:
        return None
    return _scaled(catalogue, dict.fromkeys(places[rng.choice(sorted(places))], Decimal(10)))


def bid_floor(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Take the lowest bid that is allowed for the price: a cent an hour."""
    facts = catalogue.facts
    has_spot = any(fact["term"] == "spot" and fact["price_per_hour"] for fact in facts)
    among = [
        at
        for at in priced(catalogue)
        if (facts[at]["term"] == "spot" or not has_spot)
        and (price_of(facts[at]) or 0) > PLAUSIBLE * BID_FLOOR_USD_PER_HOUR
    ]
    if not among:
        return None
    return with_prices(catalogue, dict.fromkeys(draw(catalogue, rng, among), BID_FLOOR_USD_PER_HOUR))


def host_without_gpu(catalogue: Catalogue, rng: Random, ref: Reference) -> Wrong | None:
    """Leave the GPUs out of the price, where the host alone is a small part of it."""
    facts = catalogue.facts
    hosts: dict[int, Decimal] = {}
    for at in priced(catalogue):
        vcpus, memory = facts[at]["vcpus"], facts[at]["memory_gib"]
        if facts[at]["term"] != "on_demand" or not vcpus or not memory:
            continue
        host = Decimal(vcpus) * HOST_USD_PER_VCPU_HOUR + Decimal(memory) * HOST_USD_PER_GIB_HOUR
        if host > 0 and PLAUSIBLE * host < (price_of(facts[at]) or 0):
            hosts[at] = host
    if not hosts:
        return None
    return with_prices(catalogue, {at: hosts[at] for at in draw(catalogue, rng, sorted(hosts))})


SCALED: dict[str, Mutation] = {
    "times_8": _times(Decimal(8)),
    "an_eighth": _times(1 / Decimal(8)),
    "a_tenth": _times(Decimal("0.1")),
    "cents_for_dollars": _times(Decimal(100)),
    "month_for_hour": _times(Decimal(HOURS_PER_MONTH)),
    "year_for_hour": _times(Decimal(HOURS_PER_YEAR)),
    "hour_divided_by_month": _times(1 / Decimal(HOURS_PER_MONTH)),
    "whole_list_times_10": _whole_list(Decimal(10)),
    "whole_list_a_tenth": _whole_list(Decimal("0.1")),
    "node_times_gpus": _per_count(1),
    "one_gpu_for_node": _per_count(-1),
    "one_region_times_10": one_region_times_10,
    "bid_floor": bid_floor,
    "host_without_gpu": host_without_gpu,
}
