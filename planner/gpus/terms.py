"""On which terms does each cloud sell a GPU, for how much, and how busy must it be to pay?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from costs.models import Price
from costs.queries.fleet_share import FleetShare
from costs.queries.price_steps import Offer, Step
from costs.queries.spot_now import SpotNow
from planner.core.explain import Explanation, Input, context
from planner.gpus.filters import TERMS
from planner.gpus.lines import place_of, source_title
from planner.gpus.subject import Subject
from planner.templatetags.units import day, percent, usd_per_hour

PAYMENTS = dict(Price.Payment.choices)
STATES = dict(Price.State.choices)
# what is charged whether used or not; the rest is paid by use
COMMITTED = frozenset(TERMS) - {"on_demand", "spot"}
_ORDER = {term: place for place, term in enumerate(TERMS)}
# where terms lack a price: what is known for certain comes first
_STATE_ORDER = ("reservation_only", "unknown", "not_sold")
SHARE_STEP = Decimal("0.000001")
NO_ON_DEMAND = "no on-demand price of this SKU and region is on file"


@dataclass(frozen=True)
class TermRow:
    """The lowest price of one cloud on one term that is not stale, else the lowest there is."""

    cloud: str
    term: str
    step: Step | None  # None where no price is stated, or where a watched zone is cheaper
    spot: SpotNow | None
    state: str
    reason: str
    usd_per_gpu_hour: Decimal | None
    on_demand: Decimal | None  # of the same SKU and region
    is_stale: bool
    fleet: FleetShare | None

    @property
    def term_words(self) -> str:
        return TERMS[self.term]

    @property
    def is_committed(self) -> bool:
        return self.term in COMMITTED

    @property
    def discount(self) -> Decimal | None:
        """Return how much less than on demand it costs: 0.35 is 35 % less."""
        return None if self.ratio is None or self.term == "on_demand" else 1 - self.ratio

    @property
    def break_even(self) -> Decimal | None:
        """Return the use above which it pays; None for what is paid by use, or where p is not known."""
        return self.ratio if self.is_committed else None

    @property
    def ratio(self) -> Decimal | None:
        if self.usd_per_gpu_hour is None or not self.on_demand:
            return None
        return (self.usd_per_gpu_hour / self.on_demand).quantize(SHARE_STEP)

    @property
    def pays(self) -> bool | None:
        """Return whether it pays at the measured use of the fleet; None where one of both is not known."""
        if self.break_even is None or self.fleet is None:
            return None
        return self.fleet.share >= self.break_even

    @property
    def sku(self) -> str:
        return self.spot.sku if self.spot else self.step.sku if self.step else ""

    @property
    def region(self) -> str:
        return self.spot.region if self.spot else self.step.region if self.step else ""

    @property
    def zone(self) -> str:
        return self.spot.zone if self.spot else self.step.zone if self.step else ""

    @property
    def payment(self) -> str:
        return "" if self.spot or not self.step else self.step.payment

    @property
    def source(self) -> str:
        return self.spot.source if self.spot else self.step.source if self.step else ""

    @property
    def run_id(self) -> int | None:
        return self.spot.run_id if self.spot else self.step.run_id if self.step else None

    @property
    def batch_id(self) -> int | None:
        return self.spot.batch_id if self.spot else self.step.batch_id if self.step else None

    @property
    def line(self) -> int | None:
        return self.spot.line if self.spot else self.step.line if self.step else None

    @property
    def as_of(self) -> datetime | None:
        return self.spot.seen_at if self.spot else self.step.seen_at if self.step else None


@dataclass(frozen=True)
class _Candidate:
    usd: Decimal
    is_stale: bool
    step: Step | None = None
    spot: SpotNow | None = None

    @property
    def rank(self) -> tuple[bool, Decimal]:
        return self.is_stale, self.usd


def term_rows(subject: Subject, watched: Iterable[SpotNow], fleet: FleetShare | None) -> list[TermRow]:
    """Return one row for each cloud and term on file; the cloud that is cheapest on demand comes first."""
    best = _best(subject, watched)
    states = _states(subject)
    rows = [
        _row(subject, cloud, term, best.get((cloud, term)), states.get((cloud, term), []), fleet)
        for cloud, term in {*best, *states, *((cloud, "on_demand") for cloud, _ in {*best, *states})}
    ]
    start = {row.cloud: row.usd_per_gpu_hour for row in rows if row.term == "on_demand" and not row.is_stale}
    never = Decimal("Infinity")

    def order(row: TermRow) -> tuple[Decimal, str, int]:
        return (start.get(row.cloud) or never, row.cloud, _ORDER[row.term])

    return sorted(rows, key=order)


def _best(subject: Subject, watched: Iterable[SpotNow]) -> dict[tuple[str, str], _Candidate]:
    """Return the cheapest of each cloud and term; what is not stale wins over what is."""
    found: dict[tuple[str, str], _Candidate] = {}
    priced = [(step, False) for step in subject.fresh.values()]
    priced += [(step, True) for step in subject.stale.values()]
    for step, is_stale in priced:
        usd = subject.usd(step)
        if usd is not None:
            _offer(found, (step.provider, step.term), _Candidate(usd, is_stale, step=step))
    for spot in watched:
        usd = spot.usd_per_gpu_hour
        if usd is not None and subject.chosen.lets_through(spot.provider, spot.region):
            is_stale = spot.is_stale(subject.now)
            _offer(found, (spot.provider, "spot"), _Candidate(usd, is_stale, spot=spot))
    return found


def _offer(found: dict[tuple[str, str], _Candidate], key: tuple[str, str], candidate: _Candidate) -> None:
    if key not in found or candidate.rank < found[key].rank:
        found[key] = candidate


def _states(subject: Subject) -> dict[tuple[str, str], list[Step]]:
    """Return the statements of each cloud and term that there is no price, or none in dollars."""
    found: dict[tuple[str, str], list[Step]] = {}
    for step in subject.steps:
        if step.is_open and subject.usd(step) is None:
            found.setdefault((step.provider, step.term), []).append(step)
    return found


def _row(
    subject: Subject,
    cloud: str,
    term: str,
    best: _Candidate | None,
    unpriced: Sequence[Step],
    fleet: FleetShare | None,
) -> TermRow:
    step = best.step if best else _most_telling(unpriced)
    state, reason = ("priced", "") if best else _state_of(step)
    spot = best.spot if best else None
    place = step or spot
    return TermRow(
        cloud=cloud,
        term=term,
        step=step,
        spot=spot,
        state=state,
        reason=reason,
        usd_per_gpu_hour=best.usd if best else None,
        on_demand=None if place is None else on_demand_of(subject, place.provider, place.sku, place.region),
        is_stale=bool(best and best.is_stale),
        fleet=fleet,
    )


def on_demand_of(subject: Subject, provider: str, sku: str, region: str) -> Decimal | None:
    """Return the on-demand price of one SKU in one region; one that is stale only where no other is."""
    key = ("on_demand", Offer(provider, sku, region, ""))
    return subject.usd(subject.fresh.get(key) or subject.stale.get(key))


def _most_telling(unpriced: Sequence[Step]) -> Step | None:
    return min(unpriced, key=lambda step: (_rank_of_state(step), step.offer), default=None)


def _rank_of_state(step: Step) -> int:
    return _STATE_ORDER.index(step.state) if step.state in _STATE_ORDER else len(_STATE_ORDER)


def _state_of(step: Step | None) -> tuple[str, str]:
    if step is None:
        return "unknown", "no price on file"
    if step.price_per_hour is not None:
        return "unknown", f"the price is in {step.currency} and no exchange rate is on file"
    return step.state, step.state_reason


def explanation(row: TermRow) -> Explanation:
    """Return why a row's break-even is what it is, or why it has none."""
    inputs = [
        price_input(row, "c, this term", "c"),
        Input(
            "p, on demand", _float(row.on_demand), f"{usd_per_hour(row.on_demand)}/GPU-h",
            "the same SKU and region", "p",
        ),
    ]  # fmt: skip
    if row.payment:
        inputs.append(context("Payment", PAYMENTS[row.payment], "an upfront amount is spread over its term"))
    if row.fleet is not None:
        inputs.append(Input("Your use", row.fleet.share, percent(row.fleet.share), fleet_words(row.fleet)))
    return Explanation(
        f"{row.cloud}, {row.term_words}: use at which it pays",
        "A commitment is paid for every hour. It costs less than on demand once it is used in at least the "
        "share u* of the hours that are charged; below that, on demand is cheaper.",
        f"u* = c / p = {usd_per_hour(row.usd_per_gpu_hour)} / {usd_per_hour(row.on_demand)}"
        f" = {percent(row.break_even)}",
        tuple(inputs),
        _float(row.break_even),
        "share of charged hours",
        "rounded(c / p, 6)",
    )


def price_input(row: TermRow, name: str, symbol: str) -> Input:
    """Return a row's price as an input, with where it is had and what states it."""
    where = place_of(row.step) if row.step else f"{row.cloud} {row.sku}, {row.zone}"
    origin = f"{source_title(row.source)}, run {row.run_id}, as of {day(row.as_of)}"
    usd = row.usd_per_gpu_hour
    return Input(name, _float(usd), f"{usd_per_hour(usd)}/GPU-h", f"{where}; {origin}", symbol)


def fleet_words(fleet: FleetShare) -> str:
    """Return what the measured use is of."""
    weeks = f"median of {fleet.weeks} weeks to {day(fleet.until)}"
    return f"{'sample fleet' if fleet.is_sample else 'measured'}, {weeks}, of available GPU-hours"


def _float(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
