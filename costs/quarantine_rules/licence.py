"""Linux and Windows mixed up: a price that rose by what a Windows licence costs on that machine.

A list that tells the two meters of a machine apart by the product's name alone can take one for the other,
and back, from one reading to the next. The bounds and the jump rule cannot see it: Windows costs 1.02 to 2
times as much. Three clouds bill it per vCPU, at a fee that has held for years; some machines and regions
of Azure ask up to six tenths more. Spot pays the same share of the fee as of the machine.
"""

from collections.abc import Collection
from decimal import Decimal

from .rules import LICENCE
from .standing import NAME, PROVIDER, SKU, TERM, Book, Context, Fact, amount, offer_of, place, shown
from .verdict import Key, Suspicion

# https://azure.microsoft.com/pricing/details/virtual-machines/windows, AWS and Google Cloud ask the same
FEE_USD_PER_VCPU_HOUR = {"aws": Decimal("0.046"), "azure": Decimal("0.046"), "gcp": Decimal("0.046")}
ROUNDING_USD = Decimal("0.001")  # lists round to three places
NEAR_FEE = Decimal("0.005")  # of the fee
NEAR_SPOT = Decimal("0.003")  # of the price
SMALL_FEE = Decimal("0.04")  # of the price: below, any market moves as much
FEW_TELLS = 3  # machines in one file that rose by just the fee: the file mixes up its meters
LEAST_OF_FEE, MOST_OF_FEE = Decimal("0.15"), Decimal("1.7")


def fee_of(fact: Fact, context: Context) -> Decimal | None:
    """Return what Windows costs on the machine for an hour; None where it is not sold so."""
    per_vcpu, vcpus = FEE_USD_PER_VCPU_HOUR.get(fact.key[PROVIDER]), context.vcpus(fact)
    if per_vcpu is None or not vcpus or fact.currency != "USD" or fact.key[TERM] not in ("on_demand", "spot"):
        return None
    return per_vcpu * vcpus


def licensed(fact: Fact, book: Book, context: Context) -> Suspicion | None:
    """Suspect a price that rose by the fee of a Windows licence."""
    fee, old = fee_of(fact, context), book.reference(fact.key)
    if fee is None or old is None or fact.price is None or fact.price <= old:
        return None
    if fact.key[TERM] == "on_demand":
        if abs(fact.price - old - fee) > max(ROUNDING_USD, fee * NEAR_FEE):
            return None
        return _suspicion(fact, old, f"{shown(fee)} more, which is what Windows costs on this machine")
    on_demand = linux_on_demand(fact.key, book)
    if on_demand is None or fee < on_demand * SMALL_FEE:
        return None
    windows = old * (on_demand + fee) / on_demand
    if abs(fact.price - windows) > windows * NEAR_SPOT:
        return None
    return _suspicion(
        fact,
        old,
        f"the share that Windows adds to its price by the hour: {shown(on_demand)} and {shown(fee)}",
    )


def linux_on_demand(key: Key, book: Book) -> Decimal | None:
    """Return the price by the hour that stands beside a spot price."""
    for beside in book.offers[offer_of(key)]:
        if beside[TERM] == "on_demand" and beside[NAME] == key[NAME]:
            found = book.reference(beside)
            if found is not None:
                return found
    return None


def tells(suspicions: Collection[Suspicion]) -> int:
    """Return how many machines rose by just the fee."""
    return sum(1 for each in suspicions if each.rule == LICENCE)


def mixed_up(fact: Fact, book: Book, context: Context, others: int) -> Suspicion | None:
    """Suspect what rose by about the fee, or lost its price, in a file that mixes up its meters."""
    fee, old = fee_of(fact, context), book.old(fact.key)
    if fee is None or old is None:
        return None
    more = f"{others} other prices of this file rose by just the fee of a Windows licence"
    if fact.price is None:
        return Suspicion(LICENCE, "state", fact.state, f"no price where {shown(old)} stands, and {more}")
    if not LEAST_OF_FEE * fee <= fact.price - old <= MOST_OF_FEE * fee:
        return None
    return _suspicion(fact, old, more)


def _suspicion(fact: Fact, old: Decimal, why: str) -> Suspicion:
    return Suspicion(
        LICENCE,
        "price_per_hour",
        shown(amount(fact)),
        f"{shown(amount(fact))} where {shown(old)} stands for {fact.key[SKU]} in {place(fact.key)}: {why}",
    )
