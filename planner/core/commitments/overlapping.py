"""Commitments over time: what is active, which layer stands above it, when to buy the next unit.

Months are counted from the plan's first month, 0; a purchase made before has a negative start. A purchase is
active in the months start <= t < start + term.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.commitments.load_curve import GPUS
from planner.core.commitments.terms import MONTHS, PATH, LayerTest, TermOffer, layer_over_term
from planner.core.money import discount_factors
from planner.core.ranges import (
    COUNT,
    COUNT_FROM_1,
    RATE,
    Range,
    refuse,
    require_fields,
    takes,
)

MONTH = Range(-1200, 1200, whole=True)
WHOLE_GPUS = Range(0, 10_000_000, whole=True)


@dataclass(frozen=True)
class Purchase:
    """GPUs committed from the begin of a month on for a whole number of months."""

    start_month: int
    term_months: int
    gpus: int
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse impossible purchases."""
        require_fields(self, self.name, start_month=MONTH, term_months=MONTHS, gpus=WHOLE_GPUS)

    @property
    def end_month(self) -> int:
        """Return the first month in which it is not active any more."""
        return self.start_month + self.term_months


@dataclass(frozen=True)
class DemandByMonth:
    """An hourly demand (hours,) and how many of its hours each month has (months,), in order."""

    gpus: FloatArray
    month_hours: IntArray

    def __post_init__(self) -> None:
        """Refuse impossible demand and months that do not add up to its hours."""
        require_fields(self, gpus=GPUS, month_hours=COUNT)
        if int(np.sum(self.month_hours)) != len(self.gpus):
            refuse("month_hours", self.month_hours, f"months of {len(self.gpus)} hours in all")

    @property
    def months(self) -> int:
        """Return the number of months."""
        return len(self.month_hours)

    @takes(active_gpus=GPUS, gpus_per_instance=COUNT_FROM_1, start_month=COUNT)
    def used_share_above(
        self, active_gpus: FloatArray, gpus_per_instance: int, start_month: int
    ) -> FloatArray:
        """Return the mean used share by month of the instance just above what is active.

        `active_gpus` (months of the term,) counts from `start_month`. Months without hours give 0. Raises
        ValueError where the term ends after the demand.

        >>> demand = DemandByMonth(np.array([1.0, 3.0, 2.0, 2.0]), np.array([2, 2]))
        >>> demand.used_share_above(np.array([2.0, 1.0]), 1, 0)
        array([0.5, 1. ])
        """
        end = start_month + len(active_gpus)
        if end > self.months:
            refuse("start_month", start_month, f"a term that ends with the demand, in month {self.months}")
        edges = np.append(0, np.cumsum(self.month_hours))
        hours = np.asarray(self.month_hours[start_month:end])
        gpus = self.gpus[edges[start_month] : edges[end]]
        inside = np.clip(gpus - np.repeat(active_gpus, hours), 0.0, gpus_per_instance)
        which = np.repeat(np.arange(len(hours)), hours)
        used = np.bincount(which, weights=inside, minlength=len(hours))
        return np.divide(used, gpus_per_instance * hours, out=np.zeros(len(hours)), where=hours > 0)


@takes(months=MONTHS)
def active_gpus(purchases: Sequence[Purchase], months: int) -> IntArray:
    """Return A_t, the GPUs committed in each month, (months,): all z_s with s <= t < s + term.

    >>> active_gpus([Purchase(-10, 12, 8), Purchase(1, 12, 4)], 4)
    array([ 8, 12,  4,  4])
    """
    month = np.arange(months)
    active = np.zeros(months, dtype=np.int64)
    for bought in purchases:
        active += bought.gpus * ((month >= bought.start_month) & (month < bought.end_month))
    return active


@takes(
    start_month=COUNT,
    on_demand_usd_per_gpu_hour=PATH,
    gpus_per_instance=COUNT_FROM_1,
    rate_per_year=RATE,
)
def next_unit(
    demand: DemandByMonth,
    purchases: Sequence[Purchase],
    offer: TermOffer,
    start_month: int,
    on_demand_usd_per_gpu_hour: FloatArray,
    gpus_per_instance: int = 1,
    rate_per_year: float = 0.0,
) -> LayerTest:
    """Return the test of one more instance, per GPU, in the layer above A_t over the new instance's term.

    What is active is taken month by month, so the layer sinks when purchases expire. The price path (months
    of the demand,) is on-demand's; the offer is bought at its own price. Raises ValueError where the term
    ends after the demand, for the test needs the whole term.

    One GPU is always wanted, one is held for one more month: the new one works in one month of two.

    >>> demand = DemandByMonth(np.ones(200), np.array([100, 100]))
    >>> offer, path = TermOffer("2 months", 2, 0.6), np.array([1.0, 1.0])
    >>> next_unit(demand, [Purchase(0, 1, 1)], offer, 0, path).usd_on_demand
    100.0
    """
    if np.shape(on_demand_usd_per_gpu_hour) != (demand.months,):
        refuse("on_demand_usd_per_gpu_hour", np.shape(on_demand_usd_per_gpu_hour), f"({demand.months},)")
    end = start_month + offer.term_months
    active = active_gpus(purchases, max(end, demand.months))[start_month:end].astype(np.float64)
    return layer_over_term(
        demand.used_share_above(active, gpus_per_instance, start_month),
        np.asarray(demand.month_hours[start_month:end], dtype=np.float64),
        on_demand_usd_per_gpu_hour[start_month:end],
        np.nan if offer.usd_per_gpu_hour is None else offer.usd_per_gpu_hour,
        offer.usd_upfront_per_gpu,
        discount_factors(rate_per_year, offer.term_months).end,
    )


@takes(on_demand_usd_per_gpu_hour=PATH, gpus_per_instance=COUNT_FROM_1, rate_per_year=RATE)
def greedy_plan(
    demand: DemandByMonth,
    offers: Sequence[TermOffer],
    on_demand_usd_per_gpu_hour: FloatArray,
    held: Sequence[Purchase] = (),
    gpus_per_instance: int = 1,
    rate_per_year: float = 0.0,
) -> tuple[Purchase, ...]:
    """Return what to buy, month by month: the next instance for as long as it pays, the best offer first.

    The best offer saves most per month of its term. An offer whose first month loses money waits where a
    start one month later saves as much: a unit that replaces one still held is bought when that one expires.
    Offers whose term ends after the demand, and offers with an unknown price, are not bought. This is a
    proposal and no optimum; the optimizer finds that.

    >>> demand = DemandByMonth(np.full(400, 3.0), np.full(4, 100))
    >>> greedy_plan(demand, [TermOffer("2 months", 2, 0.6)], np.ones(4))
    (Purchase(start_month=0, term_months=2, gpus=3, name='2 months'), \
Purchase(start_month=2, term_months=2, gpus=3, name='2 months'))
    """
    bought: list[Purchase] = []
    for month in range(demand.months):
        fitting = [offer for offer in offers if month + offer.term_months <= demand.months]
        chosen = _bought_in(
            month,
            demand,
            fitting,
            on_demand_usd_per_gpu_hour,
            [*held, *bought],
            gpus_per_instance,
            rate_per_year,
        )
        bought.extend(Purchase(month, offer.term_months, gpus_per_instance, offer.name) for offer in chosen)
    return _merged(bought)


def _bought_in(
    month: int,
    demand: DemandByMonth,
    offers: Sequence[TermOffer],
    path: FloatArray,
    held: Sequence[Purchase],
    size: int,
    rate_per_year: float,
) -> list[TermOffer]:
    """Return the offers bought in one month, one per instance, lowest layer first."""
    chosen: list[TermOffer] = []
    standing = _merged(held)
    while True:
        best: TermOffer | None = None
        most = -np.inf
        for offer in offers:
            test = next_unit(demand, standing, offer, month, path, size, rate_per_year)
            # a layer that nobody wants saves nothing even if it is free
            if not test.pays or not test.usd_on_demand or test.usd_saved is None:
                continue
            per_month = test.usd_saved / offer.term_months
            if per_month > most and not _waits(
                month, demand, offer, path, standing, size, rate_per_year, test
            ):
                best, most = offer, per_month
        if best is None:
            return chosen
        chosen.append(best)
        standing = _merged([*standing, Purchase(month, best.term_months, size, best.name)])


def _waits(
    month: int,
    demand: DemandByMonth,
    offer: TermOffer,
    path: FloatArray,
    standing: Sequence[Purchase],
    size: int,
    rate_per_year: float,
    now: LayerTest,
) -> bool:
    """Return whether the first month loses money and a start one month later saves as much."""
    if month + 1 + offer.term_months > demand.months or now.usd_committed is None or now.usd_saved is None:
        return False
    hours = demand.month_hours[month : month + offer.term_months]
    discounted = float(np.sum(discount_factors(rate_per_year, offer.term_months).end * hours))
    first = TermOffer("first month", 1, now.usd_committed / discounted)
    if next_unit(demand, standing, first, month, path, size, rate_per_year).pays:
        return False
    later = next_unit(demand, standing, offer, month + 1, path, size, rate_per_year)
    return later.usd_saved is not None and later.usd_saved >= now.usd_saved


def _merged(purchases: Sequence[Purchase]) -> tuple[Purchase, ...]:
    """Return purchases of the same month, term and name as one."""
    gpus: dict[tuple[int, int, str], int] = {}
    for each in purchases:
        key = (each.start_month, each.term_months, each.name)
        gpus[key] = gpus.get(key, 0) + each.gpus
    return tuple(Purchase(start, term, count, name) for (start, term, name), count in gpus.items())
