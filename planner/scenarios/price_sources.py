"""Tell where each price of a plan comes from: a price fact at a date, or what a person typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from costs.models import Price
from costs.queries import fx, prices
from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    ReservedSupply,
    Revision,
    SpotSupply,
    SupplyPrice,
)

Quotes = Mapping[prices.PriceKey, prices.Quote]
HOURS_PER_PRICED_YEAR = 8760  # list prices spread an upfront payment over years of 365 days
MOST_USD_PER_GPU_HOUR = 10_000  # what the core takes
YEARS_OF_TERM: dict[str, int] = {
    Price.Term.RESERVED_1Y.value: 1,
    Price.Term.RESERVED_3Y.value: 3,
    Price.Term.CONVERTIBLE_1Y.value: 1,
    Price.Term.CONVERTIBLE_3Y.value: 3,
    Price.Term.COMPUTE_PLAN_1Y.value: 1,
    Price.Term.COMPUTE_PLAN_3Y.value: 3,
    Price.Term.INSTANCE_PLAN_1Y.value: 1,
    Price.Term.INSTANCE_PLAN_3Y.value: 3,
}
TERM_LABELS: dict[str, str] = dict(Price.Term.choices)


@dataclass(frozen=True)
class PriceSource:
    """Where one price of a plan comes from: a fact with its run, or what a person typed."""

    supply: str
    text: str
    usd_per_gpu_hour: Decimal | None
    usd_upfront_per_gpu: Decimal | None
    as_of: datetime | date | None
    run_id: int | None
    typed_by: str  # "" for a fact
    reason: str  # why there is no price
    price_list: str = ""  # name of the source of a fact


def key_of(price: SupplyPrice) -> prices.PriceKey:
    """Return the key of the price fact that a supply names."""
    return prices.PriceKey(price.provider, price.sku, price.region, price.term, price.payment, price.zone)


def source_of(
    name: str, row: OwnedSupply | ReservedSupply | OnDemandSupply | SpotSupply, quotes: Quotes
) -> PriceSource:
    """Return the source of a supply's price; `quotes` holds the facts of every key."""
    if isinstance(row, OwnedSupply):
        return _capex_source(name, row)
    return _price_source(name, row, quotes)


def _capex_source(name: str, row: OwnedSupply) -> PriceSource:
    price = row.usd_capex_per_server
    return PriceSource(
        supply=name,
        text=row.capex_source or "purchase price as typed",
        usd_per_gpu_hour=None,
        usd_upfront_per_gpu=None if price is None else price / row.gpus_per_server,
        as_of=row.capex_source_date,
        run_id=None,
        typed_by=_author(row.revision),
        reason="" if price is not None else "no purchase price is given",
    )


def _author(revision: Revision) -> str:
    if revision.author is not None:
        return str(revision.author)
    return "the sample data" if revision.scenario.is_sample else "somebody who is no longer here"


def _price_source(
    name: str, row: ReservedSupply | OnDemandSupply | SpotSupply, quotes: Quotes
) -> PriceSource:
    price = row.price
    if price.is_key:
        return _fact_source(name, row, quotes)
    known = price.usd_per_gpu_hour is not None or price.usd_upfront_per_gpu is not None
    return PriceSource(
        supply=name,
        text=price.source or "price as typed",
        usd_per_gpu_hour=price.usd_per_gpu_hour,
        usd_upfront_per_gpu=price.usd_upfront_per_gpu,
        as_of=price.source_date,
        run_id=None,
        typed_by=_author(row.revision),
        reason="" if known else "no price is given",
    )


def _fact_source(name: str, row: ReservedSupply | OnDemandSupply | SpotSupply, quotes: Quotes) -> PriceSource:
    price = row.price
    quote = quotes[key_of(price)]
    term = TERM_LABELS.get(price.term, price.term)
    rate, upfront = quote.usd_per_gpu_hour, Decimal(0)
    reason = "" if rate is not None else quote.reason or _state(quote)
    if rate is not None and row.revision.currency != fx.PLANNING_CURRENCY:
        reason = f"the price is in {fx.PLANNING_CURRENCY}, the plan in {row.revision.currency}"
        rate = None
    if rate is not None and rate > MOST_USD_PER_GPU_HOUR:
        rate, reason = None, f"{rate:,.2f} per GPU-hour cannot be a price"
    if rate is not None and isinstance(row, ReservedSupply):
        rate, split, reason = _split_upfront(rate, quote, row)
        upfront = split or Decimal(0)
        if split is None:
            rate = None
    return PriceSource(
        supply=name,
        text=f"{price.provider} {price.sku}, {price.region}, {term} ({quote.source}){_exchange(quote)}",
        usd_per_gpu_hour=rate,
        usd_upfront_per_gpu=None if reason else upfront,
        as_of=quote.as_of,
        run_id=quote.run_id,
        typed_by="",
        reason=reason,
        price_list=quote.source,
    )


def _exchange(quote: prices.Quote) -> str:
    """Return how a price in another currency became dollars, "" for one in dollars."""
    if quote.fx_rate is None or quote.price_per_hour is None:
        return ""
    stated = f"{quote.price_per_hour.normalize():f} {quote.currency} per hour"
    return f", {stated} at {quote.fx_rate.normalize():f} of {quote.fx_date:%Y-%m-%d}"


def _state(quote: prices.Quote) -> str:
    return {
        "not_sold": "not sold here",
        "reservation_only": "sold by reservation only",
    }.get(quote.state, "no price is known")


def _split_upfront(
    effective: Decimal, quote: prices.Quote, row: ReservedSupply
) -> tuple[Decimal | None, Decimal | None, str]:
    """Return the recurring rate and the upfront payment per GPU of an effective rate, or a reason."""
    years = YEARS_OF_TERM.get(row.price.term)
    if years is None:
        term = TERM_LABELS.get(row.price.term, row.price.term)
        return None, None, f"a price for “{term}” is not that of a commitment of known length"
    hours = Decimal(HOURS_PER_PRICED_YEAR * years)
    if row.payment == ReservedSupply.Payment.NO_UPFRONT:
        return effective, Decimal(0), ""
    if row.payment == ReservedSupply.Payment.ALL_UPFRONT:
        return Decimal(0), effective * hours, ""
    if quote.upfront is None or not quote.gpu_count:
        return None, None, "the price list does not say how much of it is due upfront"
    upfront = quote.upfront / quote.gpu_count
    return effective - upfront / hours, upfront, ""
