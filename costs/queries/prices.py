"""Read prices: the one that holds on a date, and the offers that can be had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import NamedTuple, TypedDict, Unpack

from django.db.models import Exists, F, FloatField, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce

from costs.models import Accelerator, Batch, MachineType, Price, RawObject, Sku

from .fx import PLANNING_CURRENCY, give_rates, rate_of, with_rates

PRICE_STEP = Decimal("0.000000001")
FX_STEP = Decimal("0.000001")
_LISTED = {
    "sku__accelerator": (
        Accelerator,
        frozenset({"id", "slug", "name", "memory_gb", "link_gb_s_per_direction", "bf16_tflops"}),
    ),
    "batch": (Batch, frozenset({"id", "run", "raw"})),
    "batch__raw": (RawObject, frozenset({"id", "sha256", "fetched_at"})),
}
_UNLISTED = [
    f"{path}__{field.name}"
    for path, (model, names) in _LISTED.items()
    for field in model._meta.fields
    if field.name not in names
]


@dataclass(frozen=True)
class PriceKey:
    """What a price is asked for by. An empty zone takes the region's price, or its cheapest zone."""

    provider: str
    sku: str
    region: str
    term: str
    payment: str = ""
    zone: str = ""


class Place(NamedTuple):
    """One SKU in one region: what terms are compared of."""

    provider: str
    sku: str
    region: str


@dataclass(frozen=True)
class Offered:
    """One accelerator at one provider."""

    provider: str
    slug: str
    name: str


class Filters(TypedDict, total=False):
    """What offers can be narrowed to."""

    gpu: Sequence[str]  # slugs
    cloud: Sequence[str]
    region: str  # the start of a region's name
    term: Sequence[str]
    state: Sequence[str]
    min_gpus: Decimal | int | None
    link: Decimal | int | None  # the least speed of the link between GPUs, GB/s in each direction
    q: str  # words that names contain


_LOOKUPS = {
    "gpu": "sku__accelerator__slug__in",
    "cloud": "sku__provider__in",
    "region": "region__istartswith",
    "term": "term__in",
    "state": "state__in",
}


@dataclass(frozen=True)
class Quote:
    """The answer to a PriceKey. Without a price, `state` and `reason` say why.

    A price in another currency keeps both figures, and the rate of the day that lies between them.
    """

    key: PriceKey
    state: str  # a Price.State
    reason: str
    usd_per_gpu_hour: Decimal | None
    usd_per_hour: Decimal | None
    upfront: Decimal | None  # dollars for the SKU at the start of the term, where the source states it
    gpu_count: Decimal | None
    currency: str  # that the source states the price in
    zone: str
    effective_from: datetime | None
    source: str
    run_id: int | None
    as_of: datetime | None  # the newest date of which the source stated this price
    reference: str
    price_per_hour: Decimal | None = None  # of the SKU, in `currency`
    fx_rate: Decimal | None = None  # dollars per unit of `currency`; None for dollars
    fx_date: date | None = None  # that the rate was published for


def price_on(
    provider: str,
    sku: str,
    region: str,
    term: str,
    payment: str,
    as_of: datetime,
    zone: str = "",
) -> Quote:
    """Return the price of one SKU that held at a moment."""
    key = PriceKey(provider, sku, region, term, payment, zone)
    return prices_on([key], as_of)[key]


def prices_on(keys: Iterable[PriceKey], as_of: datetime) -> dict[PriceKey, Quote]:
    """Return a quote for every key in one query, and one more for rates where currencies differ.

    Where several sources or zones answer, a stated price wins over none, then the newest list, then
    the region's own price over a zone's, then the cheapest.
    """
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        return {}
    clause = Q()
    for key in wanted:
        clause |= _matches(key)
    found: dict[tuple[str, ...], list[Price]] = {}
    held = list(held_on(as_of).filter(clause).select_related("sku", "batch"))
    give_rates(held, _day(as_of))
    for price in held:
        found.setdefault(_group(price), []).append(price)
    return {key: _quote(key, found.get(_group(key), []), as_of) for key in wanted}


def terms_at(places: Iterable[Place], as_of: datetime) -> list[Quote]:
    """Return a quote for every term and payment on file of each place; the price as `prices_on` picks it."""
    clause = Q()
    for provider, sku, region in dict.fromkeys(places):
        clause |= Q(sku__provider=provider, sku__name=sku, region=region)
    if not clause:
        return []
    held = list(held_on(as_of).filter(clause).select_related("sku", "batch"))
    give_rates(held, _day(as_of))
    found: dict[tuple[str, ...], list[Price]] = {}
    for price in held:
        found.setdefault(_group(price), []).append(price)
    return [_quote(PriceKey(*group), some, as_of) for group, some in found.items()]


def offers(as_of: datetime, **filters: Unpack[Filters]) -> QuerySet[Price]:
    """Return the prices that held at a moment, with SKU, accelerator and batch.

    The annotations `per_gpu_hour` and `usd_hour` are floats to sort by, empty where there are no dollars;
    exact figures come from the functions below.
    """
    # SQLite keeps 98.0 as the integer 98, and 98 / 8 would be 12: divide as floats
    per_gpu = Cast("price_per_hour", FloatField()) / Cast("sku__gpu_count", FloatField())
    rows = with_rates(held_on(as_of).select_related("sku__accelerator", "batch"), _day(as_of))
    rows = rows.annotate(
        per_gpu_hour=per_gpu * F("usd_per_unit"),
        usd_hour=Cast("price_per_hour", FloatField()) * F("usd_per_unit"),
    )
    return narrowed(rows, **filters)


def held_on(as_of: datetime) -> QuerySet[Price]:
    """Return the prices that held at a moment, and nothing beside them: to count them."""
    still_open = Q(effective_to__isnull=True) | Q(effective_to__gt=as_of)
    return Price.objects.filter(still_open, effective_from__lte=as_of)


def narrowed(rows: QuerySet[Price], **filters: Unpack[Filters]) -> QuerySet[Price]:
    """Return those of the prices that the filters let through."""
    conditions = {lookup: filters[name] for name, lookup in _LOOKUPS.items() if filters.get(name)}  # type: ignore[literal-required]
    rows = rows.filter(**conditions)
    if (min_gpus := filters.get("min_gpus")) is not None:
        rows = rows.filter(sku__gpu_count__gte=min_gpus)
    if (link := filters.get("link")) is not None:
        rows = rows.filter(sku__accelerator__link_gb_s_per_direction__gte=link)
    for word in filters.get("q", "").split():
        rows = rows.filter(_mentions(word))
    return rows


def in_dollars(rows: QuerySet[Price]) -> QuerySet[Price]:
    """Return the offers that have a price in dollars, stated so or by a rate on file."""
    return rows.filter(Q(("per_gpu_hour__isnull", False)), state=Price.State.PRICED)


def listed(rows: QuerySet[Price]) -> QuerySet[Price]:
    """Return the same offers with what lists and files show of them, and no more.

    `vcpus` and `memory_gib` are those of the table of machine types where the SKU states none.
    """
    machine = MachineType.objects.filter(provider=OuterRef("sku__provider"), name=OuterRef("sku__name"))
    return (
        rows.select_related("sku__accelerator", "batch__raw")
        .defer(*_UNLISTED)
        .annotate(
            vcpus=Coalesce("sku__vcpus", Subquery(machine.values("vcpus"))),
            memory_gib=Coalesce("sku__memory_gib", Subquery(machine.values("memory_gib"))),
        )
    )


def usd_per_gpu_hour(price: Price) -> Decimal | None:
    """Return the exact dollars of one GPU-hour, or None where there is no price in dollars."""
    usd = usd_per_hour(price)
    return None if usd is None else (usd / price.sku.gpu_count).quantize(PRICE_STEP)


def usd_per_hour(price: Price) -> Decimal | None:
    """Return the dollars of one hour of the whole SKU, or None where there is no price in dollars.

    A price in another currency has dollars where it came with a rate, as those of `offers` do.
    """
    return _in_dollars(price, price.price_per_hour, PRICE_STEP)


def fx_rate(price: Price) -> Decimal | None:
    """Return the dollars per unit of a price's currency, by which it was turned into dollars."""
    rate = rate_of(price)
    return None if rate is None else rate.usd_per_unit


def fx_date(price: Price) -> date | None:
    """Return the date of that rate."""
    rate = rate_of(price)
    return None if rate is None else rate.on


def on_offer(as_of: datetime | None = None) -> list[Offered]:
    """Return which provider sells which accelerator, by name; one query for all choices of a filter.

    Without a moment it is what is sold now, which the index of open prices answers.
    """
    held = Price.objects.filter(effective_to__isnull=True) if as_of is None else held_on(as_of)
    rows = Sku.objects.filter(Exists(held.filter(sku=OuterRef("pk"))), accelerator__isnull=False)
    names = rows.values_list("provider", "accelerator__slug", "accelerator__name").distinct()
    return [Offered(*row) for row in names.order_by("accelerator__name", "accelerator__slug", "provider")]


def oldest_price() -> datetime | None:
    """Return from when on there is any price on file."""
    oldest: datetime | None = Price.objects.aggregate(oldest=Min("effective_from"))["oldest"]
    return oldest


def _in_dollars(price: Price, amount: Decimal | None, step: Decimal) -> Decimal | None:
    if amount is None or price.currency == PLANNING_CURRENCY:
        return amount
    rate = rate_of(price)
    return None if rate is None else (amount * rate.usd_per_unit).quantize(step)


def _day(as_of: datetime) -> date:
    return as_of.astimezone(UTC).date()


def _matches(key: PriceKey) -> Q:
    clause = Q(
        sku__provider=key.provider,
        sku__name=key.sku,
        region=key.region,
        term=key.term,
        payment=key.payment,
    )
    return clause & Q(zone=key.zone) if key.zone else clause


def _group(of: Price | PriceKey) -> tuple[str, ...]:
    if isinstance(of, PriceKey):
        return (of.provider, of.sku, of.region, of.term, of.payment)
    return (of.sku.provider, of.sku.name, of.region, of.term, of.payment)


def _quote(key: PriceKey, found: Sequence[Price], as_of: datetime) -> Quote:
    candidates = [price for price in found if not key.zone or price.zone == key.zone]
    if not candidates:
        reason = f"no price of {key.provider} {key.sku} in {key.region} is on file for {as_of:%Y-%m-%d}"
        return Quote(
            key, "unknown", reason, None, None, None, None, PLANNING_CURRENCY, "", None, "", None, None, ""
        )
    best = min(candidates, key=_preference)
    state, reason, usd = best.state, best.state_reason, usd_per_hour(best)
    if usd is None and best.price_per_hour is not None:
        state = "unknown"
        reason = f"the price is in {best.currency} and no exchange rate is on file for {as_of:%Y-%m-%d}"
    return Quote(
        key=key,
        state=state,
        reason=reason,
        usd_per_gpu_hour=None if usd is None else usd_per_gpu_hour(best),
        usd_per_hour=usd,
        upfront=None if usd is None else _in_dollars(best, best.upfront, FX_STEP),
        gpu_count=best.sku.gpu_count,
        currency=best.currency,
        zone=best.zone,
        effective_from=best.effective_from,
        source=best.source,
        run_id=best.batch.run_id,
        as_of=best.as_of,
        reference=best.reference,
        price_per_hour=best.price_per_hour,
        fx_rate=fx_rate(best),
        fx_date=fx_date(best),
    )


def _preference(price: Price) -> tuple[bool, float, bool, Decimal, str, int]:
    return (
        usd_per_hour(price) is None,
        -price.as_of.timestamp(),
        bool(price.zone),
        usd_per_gpu_hour(price) or Decimal(0),
        price.source,
        price.pk,
    )


def _mentions(word: str) -> Q:
    names = ("name", "provider", "accelerator_name", "accelerator__name")
    named = reduce(or_, (Q(**{f"{name}__icontains": word}) for name in names))
    # the few SKUs are searched once, and not again for every one of their prices
    return (
        Q(sku__in=Sku.objects.filter(named).values("pk"))
        | Q(region__icontains=word)
        | Q(zone__icontains=word)
    )
