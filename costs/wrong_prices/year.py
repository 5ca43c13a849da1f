"""An ordinary year of one price list: a file a week, in which all moves as prices do and nothing is wrong.

How much moves is taken from the histories at hand: Google Cloud 2022 to 2026 (14,800 moves of spot prices),
Azure in spring 2026, AWS in 2025. Spot moves both ways, now and then to under a third; lists are cut by a
tenth to nearly a half, for one accelerator in all regions or some, and now and then raised; machines come and
go, with all their terms; an offer is sold out for some weeks.
"""

from datetime import timedelta
from decimal import Decimal
from random import Random

from costs.quarantine_rules import Before, Key, ScopeBefore, check_scope
from costs.quarantine_rules.standing import NAME, PAYMENT, REGION, SKU, TERM, ZONE, Offer, offer_of
from costs.rows import PriceRow
from costs.rowtext import Payload, key_of

from .catalogues import Catalogue, Reference
from .replay import Tally, count, is_news, publish
from .terms import LONG_FOR_SHORT, TERMS
from .trial import first_batch

WEEKS = 52
A_WEEK = timedelta(days=7)
STEP = Decimal("0.000001")

# shares of the moves of Google's spot prices (2022-02 to 2026-07) below each ratio to the price before;
# of 14,822 moves 0.9 % were beyond the threefold, and 1.9 % beyond the twofold
SPOT_MOVES = (
    (0.003, 0.26), (0.009, 0.33), (0.01, 0.50), (0.05, 0.85), (0.25, 0.95), (0.50, 0.994), (0.75, 1.028),
    (0.95, 1.15), (0.985, 1.35), (0.994, 1.95), (1.0, 2.9),
)  # fmt: skip
SPOT_MOVES_A_WEEK = 0.25  # of all spot prices
CUTS_A_YEAR, RISES_A_YEAR = 1.0, 0.3  # of each accelerator of a list
CUTS, RISES = (0.56, 0.90), (1.02, 1.35)  # 44 % off p5 on 2025-06-05; Lambda raised by 13 to 35 % in 2026-04
OWN_NOISE = 0.03  # that a size or a term does not follow the others to the cent
GONE_A_WEEK, NEW_A_WEEK, SOLD_OUT_A_WEEK, BACK_A_WEEK = 0.003, 0.004, 0.002, 0.3  # of all offers
FEW_OFFERS = 10  # a list of fewer keeps them: that one of them goes is asked about, as it should be
IN_A_REGION = 0.6  # how likely a cut holds there, where it does not hold everywhere
WIDE = 4  # times: a spot price does not wander further from where it began the year


def ordinary_year(catalogue: Catalogue, ref: Reference, seed: str) -> Tally:
    """Return the tally of a year of files."""
    market = _Market(catalogue, ref, Random(seed))  # noqa: S311 - a draw that can be repeated
    tally, stands, rows = Tally(), dict[Key, Before](), 0
    moment = catalogue.as_of
    for _ in range(WEEKS):
        facts = market.facts()
        before = ScopeBefore(rows, stands) if rows else None
        verdict = check_scope(facts, before, moment, ref.machines, ref.known)
        fresh = {place for place, fact in enumerate(facts) if is_news(fact, stands)}
        count(tally, facts, verdict, set(), fresh)
        stands, rows = publish(stands, facts, set(range(len(facts))), moment), len(facts)
        moment += A_WEEK
        market.pass_a_week()
    return tally


class _Market:
    """The offers of a list as they change from week to week."""

    def __init__(self, catalogue: Catalogue, ref: Reference, rng: Random) -> None:
        self.rng, self.ref = rng, ref
        held = first_batch(catalogue, ref).facts
        self.said = {
            key_of(PriceRow, fact): fact for at, fact in enumerate(catalogue.facts) if at not in held
        }
        self.price = {key: float(fact["price_per_hour"] or 0) for key, fact in self.said.items()}
        self.start = dict(self.price)
        self.away: set[Offer] = set()  # offers that are gone
        self.sold_out: set[Offer] = set()
        self.new = 0

    def facts(self) -> list[Payload]:
        """Return the list of this week."""
        return [self._fact(key) for key in self.said if offer_of(key) not in self.away]

    def _fact(self, key: Key) -> Payload:
        fact = self.said[key]
        if not self.price[key]:
            return fact
        if offer_of(key) in self.sold_out:
            return {**fact, "state": "not_sold", "price_per_hour": None, "state_reason": "sold out"}
        return {**fact, "price_per_hour": f"{Decimal(self.price[key]).quantize(STEP):.9f}"}

    def pass_a_week(self) -> None:
        """Let prices and offers change."""
        self._lists()
        self._spot()
        self._order()
        self._offers()

    def _lists(self) -> None:
        for slug in sorted({self._slug(key) for key in self.said}):
            for a_year, (low, high) in ((CUTS_A_YEAR, CUTS), (RISES_A_YEAR, RISES)):
                if self.rng.random() < a_year / WEEKS:
                    self._move_list(slug, self.rng.uniform(low, high))

    def _slug(self, key: Key) -> str:
        return self.ref.known.slug_of(key[SKU], key[NAME]) or ""

    def _move_list(self, slug: str, ratio: float) -> None:
        regions = sorted({key[REGION] for key in self.said})
        if self.rng.random() < 0.5:
            regions = [region for region in regions if self.rng.random() < IN_A_REGION]
        for key in self.said:
            if key[TERM] != "spot" and key[REGION] in regions and self._slug(key) == slug:
                own = 0.0 if key[TERM] == "on_demand" else OWN_NOISE
                self.price[key] *= ratio * self.rng.uniform(1 - own, 1 + own)

    def _spot(self) -> None:
        moves: dict[tuple[str, ...], float] = {}
        for key in self.said:
            if key[TERM] != "spot":
                continue
            place = (self._slug(key), key[REGION], key[ZONE])
            if place not in moves:
                moves[place] = self._ratio() if self.rng.random() < SPOT_MOVES_A_WEEK else 1.0
            if moves[place] == 1.0:
                continue
            price = self.price[key] * moves[place] * self.rng.uniform(1 - OWN_NOISE, 1 + OWN_NOISE)
            if self.start[key] / WIDE <= price <= self.start[key] * WIDE:
                self.price[key] = price

    def _ratio(self) -> float:
        """Return the ratio of one move, drawn as the real ones lie."""
        share, low_share, low = self.rng.random(), 0.0, SPOT_MOVES[0][1]
        for high_share, high in SPOT_MOVES:
            if share <= high_share:
                return low + (high - low) * (share - low_share) / (high_share - low_share)
            low_share, low = high_share, high
        return low

    def _order(self) -> None:
        """Keep what no seller breaks: spot up to the hour, a term below it, a long one up to a short one."""
        by_offer: dict[Offer, list[Key]] = {}
        for key in self.said:
            by_offer.setdefault((*offer_of(key), key[NAME]), []).append(key)
        for keys in by_offer.values():
            hours = [self.price[key] for key in keys if key[TERM] == "on_demand" and self.price[key]]
            short = {(key[TERM], key[PAYMENT]): self.price[key] for key in keys}
            for key in keys:
                most = min(hours, default=float("inf"))
                if key[TERM] in TERMS:
                    most *= 0.99
                    of_short = short.get((LONG_FOR_SHORT.get(key[TERM], ""), key[PAYMENT]))
                    most = min(most, of_short) if of_short else most
                if key[TERM] in TERMS or key[TERM] == "spot":
                    self.price[key] = min(self.price[key], most)

    def _offers(self) -> None:
        offers = sorted({offer_of(key) for key in self.said})
        if len(offers) < FEW_OFFERS:
            return
        for offer in offers:
            if offer in self.away or offer in self.sold_out:
                if self.rng.random() < BACK_A_WEEK:
                    self.away.discard(offer)
                    self.sold_out.discard(offer)
            elif self.rng.random() < GONE_A_WEEK:
                self.away.add(offer)
            elif self.rng.random() < SOLD_OUT_A_WEEK:
                self.sold_out.add(offer)
            elif self.rng.random() < NEW_A_WEEK:
                self._open(offer)

    def _open(self, offer: Offer) -> None:
        """Sell what is sold in one region in a new one too."""
        self.new += 1
        region, ratio = f"new-{self.new}", self.rng.uniform(0.9, 1.2)
        for key in [key for key in self.said if offer_of(key) == offer]:
            there = (*key[:REGION], region, *key[REGION + 1 :])
            self.said[there] = {**self.said[key], "region": region}
            self.price[there] = self.start[there] = self.price[key] * ratio
