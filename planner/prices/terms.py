"""The terms of a few chosen offers side by side: what each saves, and how much use it needs to pay."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from costs.models import Price
from costs.queries import prices
from costs.queries.price_ages import cadence_of
from costs.queries.prices import Place, PriceKey, Quote
from costs.queries.runs import State, state_of
from planner.forms.listed_price import key_text
from planner.templatetags.units import percent, percent_signed, usd_per_hour

Term = Price.Term
MOST_PLACES = 8
# bought whole for a term, used or not: they pay from some use on
COMMITTED = frozenset(term for term in Term.values if term.endswith(("_1y", "_3y")))
# what the scenario editor takes as the price of a supply
FOR_SCENARIOS = frozenset({Term.ON_DEMAND, Term.SPOT, Term.RESERVED_1Y, Term.RESERVED_3Y})
PASSING = frozenset({Term.SPOT, Term.CAPACITY_BLOCK})  # here today, or for some days
STEP = Decimal("0.0001")


@dataclass(frozen=True)
class TermRow:
    """One term of one SKU in a region. `on_demand` is the price there without a commitment."""

    quote: Quote
    on_demand: Quote | None
    now: datetime
    is_chosen: bool

    @property
    def key(self) -> PriceKey:
        """Return what the price is asked for by; a price of one zone is that zone's."""
        key = self.quote.key
        return PriceKey(key.provider, key.sku, key.region, key.term, key.payment, self.quote.zone)

    @property
    def key_text(self) -> str:
        return key_text(self.key)

    @property
    def term_words(self) -> str:
        return Term(self.quote.key.term).label

    @property
    def payment_words(self) -> str:
        return Price.Payment(self.quote.key.payment).label

    @property
    def state_words(self) -> str:
        return Price.State(self.quote.state).label

    @property
    def age(self) -> timedelta | None:
        as_of = self.quote.as_of
        return None if as_of is None else max(self.now - as_of, timedelta(0))

    @property
    def age_state(self) -> State:
        return state_of(self.age, cadence_of(self.quote.source))

    @property
    def is_reference(self) -> bool:
        return self.quote.key.term == Term.ON_DEMAND

    @property
    def against_on_demand(self) -> Decimal | None:
        """Return how far the price lies from on demand, as a share: -0.44 is 44 % less."""
        usd = self.quote.usd_per_gpu_hour
        whole = self.on_demand.usd_per_gpu_hour if self.on_demand else None
        if self.is_reference or usd is None or not whole:
            return None
        return (usd / whole - 1).quantize(STEP)

    @property
    def against_text(self) -> str:
        change = self.against_on_demand
        return "unknown" if change is None else percent_signed(change)

    @property
    def pays_above(self) -> Decimal | None:
        """Return the share of its hours that a commitment must be used to cost no more than on demand."""
        change = self.against_on_demand
        return None if change is None or self.quote.key.term not in COMMITTED else 1 + change

    @property
    def reference_is_stale(self) -> bool:
        """Return whether the price without a commitment is too old to be measured against."""
        usual = self.on_demand
        if usual is None or usual.as_of is None or self.is_reference:
            return False
        return state_of(self.now - usual.as_of, cadence_of(usual.source)) == "stale"

    @property
    def fits_scenario(self) -> bool:
        return self.quote.key.term in FOR_SCENARIOS and self.quote.usd_per_gpu_hour is not None


@dataclass(frozen=True)
class PlaceTerms:
    """All terms of one SKU in one region, on demand first."""

    place: Place
    rows: tuple[TermRow, ...]


def compare_terms(chosen: Sequence[PriceKey], as_of: datetime) -> list[PlaceTerms]:
    """Return every term on file of the places of the chosen offers, in the order chosen; one query."""
    places = places_of(chosen)
    by_place: dict[Place, list[Quote]] = {place: [] for place in places}
    for quote in prices.terms_at(places, as_of):
        by_place[Place(quote.key.provider, quote.key.sku, quote.key.region)].append(quote)
    picked = {key[:5] for key in map(_parts, chosen)}
    return [PlaceTerms(place, _rows(quotes, picked, as_of)) for place, quotes in by_place.items()]


def places_of(chosen: Iterable[PriceKey]) -> list[Place]:
    """Return the places of offers, each once."""
    return list(dict.fromkeys(Place(key.provider, key.sku, key.region) for key in chosen))


def _parts(key: PriceKey) -> tuple[str, ...]:
    return (key.provider, key.sku, key.region, key.term, key.payment)


def _rows(quotes: Iterable[Quote], picked: set[tuple[str, ...]], as_of: datetime) -> tuple[TermRow, ...]:
    terms, payments = Term.values, Price.Payment.values
    ordered = sorted(quotes, key=lambda one: (terms.index(one.key.term), payments.index(one.key.payment)))
    usual = next((quote for quote in ordered if quote.key.term == Term.ON_DEMAND), None)
    return tuple(TermRow(quote, usual, as_of, _parts(quote.key) in picked) for quote in ordered)


def answer(found: Sequence[PlaceTerms]) -> str:
    """Return the lowest price that nobody can take away, and the lowest spot; stale prices do not count."""
    rows = [row for place in found for row in place.rows if row.quote.usd_per_gpu_hour is not None]
    fresh = [row for row in rows if row.age_state != "stale"]
    if not rows:
        return "None of these offers states a price."
    if not fresh:
        return "Every price of these offers is stale: none is fresh enough to go by."
    firm = [row for row in fresh if row.quote.key.term not in PASSING]
    spot = [row for row in fresh if row.quote.key.term == Term.SPOT]
    sentences = []
    if firm:
        best = _lowest(firm)
        sentences.append(f"The lowest lasting price is {_price(best)}{_pays(best)}.")
    if spot:
        sentences.append(f"Spot starts at {_price(_lowest(spot))}.")
    return " ".join(sentences) or f"The only fresh price is {_price(_lowest(fresh))}."


def _lowest(rows: Iterable[TermRow]) -> TermRow:
    return min(rows, key=lambda row: row.quote.usd_per_gpu_hour or Decimal(0))


def _price(row: TermRow) -> str:
    key = row.quote.key
    words = "" if key.term == Term.SPOT else f", {row.term_words}"
    payment = f", {row.payment_words}" if key.payment else ""
    place = f"{key.provider} {key.sku} {key.region}".replace("-", "\u2011")  # do not break us-east-1
    return f"{usd_per_hour(row.quote.usd_per_gpu_hour)}/GPU-h: {place}{words}{payment}"


def _pays(row: TermRow) -> str:
    if row.pays_above is None or row.reference_is_stale:
        return ""
    return f"; it costs less than on demand when used above {percent(row.pays_above)} of its hours"
