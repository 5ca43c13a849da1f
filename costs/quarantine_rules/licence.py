"""Linux and Windows mixed up: a price that rose by what a Windows licence costs on that machine.

A list that tells the two meters of a machine apart by the product's name alone can take one for the other,
and back, from one reading to the next. The bounds and the jump rule cannot see it: Windows costs 1.02 to 2
times as much. Three clouds bill it per vCPU, at a fee that has held for years; some machines and regions
of Azure ask up to six tenths more. Spot pays the same share of the fee as of the machine.
"""

from collections.abc import Sequence
from decimal import Decimal

from .rules import LICENCE
from .standing import NAME, PROVIDER, SKU, TERM, Book, Context, Fact, amount, offer_of, place, shown
from .verdict import Key, Suspicion

# https://azure.microsoft.com/pricing/details/virtual-machines/windows, AWS and Google Cloud ask the same
FEE_USD_PER_VCPU_HOUR = {"aws": Decimal("0.046"), "azure": Decimal("0.046"), "gcp": Decimal("0.046")}
ROUNDING_USD = Decimal("0.001")  # lists round prices by the hour to three places
NEAR_FEE = Decimal("0.005")  # of the fee
FEW, HALF = 3, 2


def mixed_up(changed: Sequence[Fact], book: Book, context: Context) -> dict[int, Suspicion]:
    """Suspect prices that rose by the fee of a Windows licence.

    By the hour the fee to the cent is proof enough: no list rises by it. A spot price moves by any share,
    now and then by that of the fee; it is proof where half of the file's spot prices that rose did so.
    Where half of all that rose is proof, and there are several, the file mixes up its meters: then it is not
    believed about any price that changed, or is gone. A real move and a wrong meter may fall together.
    """
    fees = {fact.at: fee for fact in changed if (fee := fee_of(fact, context)) is not None}
    sold = [fact for fact in changed if fact.at in fees]
    found = {fact.at: each for fact in sold if (each := _by_hour(fact, book, fees[fact.at]))}
    rises = [fact for fact in sold if _rose(fact, book)]
    spot_rises = [fact for fact in rises if fact.key[TERM] == "spot"]
    spot = {fact.at: each for fact in spot_rises if (each := _by_share(fact, book, fees[fact.at]))}
    if len(spot) * HALF >= len(spot_rises):
        found |= spot
    proofs = len(found)
    if proofs >= FEW and proofs * HALF >= len(rises):
        for fact in sold:
            suspicion = _in_such_a_file(fact, book, proofs)
            if suspicion and fact.at not in found:
                found[fact.at] = suspicion
    return found


def fee_of(fact: Fact, context: Context) -> Decimal | None:
    """Return what Windows costs on the machine for an hour; None where it is not sold so."""
    per_vcpu, vcpus = FEE_USD_PER_VCPU_HOUR.get(fact.key[PROVIDER]), context.vcpus(fact)
    if per_vcpu is None or not vcpus or fact.currency != "USD" or fact.key[TERM] not in ("on_demand", "spot"):
        return None
    return per_vcpu * vcpus


def is_fee(difference: Decimal, fee: Decimal) -> bool:
    """Return whether two prices by the hour are just a licence apart."""
    return abs(difference - fee) <= max(ROUNDING_USD, fee * NEAR_FEE)


def _rose(fact: Fact, book: Book) -> bool:
    old = book.reference(fact.key)
    return old is not None and fact.price is not None and fact.price > old


def _by_hour(fact: Fact, book: Book, fee: Decimal) -> Suspicion | None:
    old = book.reference(fact.key)
    if fact.key[TERM] != "on_demand" or fact.price is None or old is None:
        return None
    if not is_fee(fact.price - old, fee):
        return None
    return _suspicion(fact, old, f"{shown(fee)} more is what Windows costs on this machine")


def _by_share(fact: Fact, book: Book, fee: Decimal) -> Suspicion | None:
    old, on_demand = book.reference(fact.key), _linux_on_demand(fact.key, book)
    if on_demand is None or fact.price is None or old is None:
        return None
    windows = old * (on_demand + fee) / on_demand
    if abs(fact.price - windows) > windows * ROUNDING_USD / on_demand:
        return None
    why = f"the same share that Windows adds by the hour, {shown(fee)} to {shown(on_demand)}"
    return _suspicion(fact, old, why)


def _linux_on_demand(key: Key, book: Book) -> Decimal | None:
    """Return the price by the hour that stands beside a spot price."""
    for beside in book.offers[offer_of(key)]:
        if beside[TERM] == "on_demand" and beside[NAME] == key[NAME]:
            found = book.reference(beside)
            if found is not None:
                return found
    return None


def _in_such_a_file(fact: Fact, book: Book, proofs: int) -> Suspicion | None:
    old = book.old(fact.key)
    if old is None:
        return None
    others = f"{proofs} other prices of this file rose by just the fee of a Windows licence"
    if fact.price is None:
        return Suspicion(LICENCE, "state", fact.state, f"no price where {shown(old)} stands, and {others}")
    return _suspicion(fact, old, others)


def _suspicion(fact: Fact, old: Decimal, why: str) -> Suspicion:
    return Suspicion(
        LICENCE,
        "price_per_hour",
        shown(amount(fact)),
        f"{shown(amount(fact))} where {shown(old)} stands for {fact.key[SKU]} in {place(fact.key)}: {why}",
    )
