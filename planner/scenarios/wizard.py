"""From five answers to scenarios: stay on demand, reserve where it is sold, own."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.db.models import QuerySet

from costs.models import Accelerator, Price
from costs.queries import prices
from planner.core.calendar import add_months
from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    ReservedSupply,
    Revision,
    SupplyPrice,
    Workload,
)
from planner.scenarios.assumptions import OWNED, default, server_kw
from planner.scenarios.kept_prices import keep_at
from planner.scenarios.revisions import Draft, Supply

PLACE_MARK = "|"
TERMS = ((Price.Term.RESERVED_3Y, 36, "3 years"), (Price.Term.RESERVED_1Y, 12, "1 year"))
PAYMENTS = ("no_upfront", "", "all_upfront", "partial_upfront")  # the first that is sold counts


@dataclass(frozen=True)
class Answers:
    """The five answers, checked."""

    gpu: str
    gpus_busy: Decimal
    growth_per_month: Decimal
    provider: str
    region: str
    usd_per_gpu: Decimal | None


def gpus(as_of: datetime) -> list[tuple[str, str]]:
    """Return slug and name of every accelerator that some cloud rents out on demand at a known price."""
    rows = _rented_out(as_of).values_list("sku__accelerator__slug", "sku__accelerator__name").distinct()
    return sorted(rows, key=lambda row: row[1])


def places(as_of: datetime) -> list[tuple[str, str]]:
    """Return every cloud and region that rents out some accelerator on demand at a known price."""
    pairs = _rented_out(as_of).values_list("sku__provider", "region").distinct()
    return [
        (f"{provider}{PLACE_MARK}{region}", f"{provider} · {region}") for provider, region in sorted(pairs)
    ]


def _rented_out(as_of: datetime) -> "QuerySet[Price]":
    rows = prices.offers(as_of, term=[Price.Term.ON_DEMAND], state=[Price.State.PRICED])
    return prices.in_dollars(rows).filter(sku__accelerator__isnull=False).order_by()


def offer_at(answers: Answers, as_of: datetime) -> Price | None:
    """Return the cheapest on-demand offer of the accelerator in that cloud and region."""
    return next(iter(_offers(answers, as_of, Price.Term.ON_DEMAND)), None)


def regions_selling(gpu: str, as_of: datetime) -> list[str]:
    """Return clouds and regions that do rent out an accelerator, cheapest first."""
    rows = prices.offers(as_of, gpu=[gpu], term=[Price.Term.ON_DEMAND], state=[Price.State.PRICED])
    selling = _cheapest_first(rows)
    return list(dict.fromkeys(f"{price.sku.provider} · {price.region}" for price in selling))


def drafts(answers: Answers, offer: Price, as_of: datetime) -> list[tuple[str, Draft]]:
    """Return name and content of each scenario, staying on demand first; at most four.

    They keep the prices of that moment: the answer that is shown stays the same tomorrow.
    """
    first_month = add_months(as_of.date().replace(day=1), 1)
    made = [("Stay on demand", _draft(answers, first_month, [_on_demand(offer)]))]
    for term, months, words in TERMS:
        price = _committed(answers, offer, term, as_of)
        if price is not None:
            reserved = _reserved(answers, price, first_month, months)
            draft = _draft(answers, first_month, [_on_demand(offer), reserved])
            made.append((f"Reserve {reserved.gpus}, {words}", draft))
    owned = _owned(answers, first_month)
    gpus = owned.servers * owned.gpus_per_server
    made.append((f"Own {gpus}", _draft(answers, first_month, [_on_demand(offer), owned])))
    for _, draft in made:
        keep_at(draft.revision, as_of)
    return made


def _draft(answers: Answers, start: date, supplies: list[Supply]) -> Draft:
    return Draft(_revision(answers, start), [_workload(answers)], supplies)


def _offers(answers: Answers, as_of: datetime, term: str) -> list[Price]:
    """Return the priced offers of one term in exactly that region, cheapest first."""
    rows = prices.offers(
        as_of, gpu=[answers.gpu], cloud=[answers.provider], term=[term], state=[Price.State.PRICED]
    )
    # the filter of the prices page takes the start of a region's name; here it is this region alone
    return _cheapest_first(rows.filter(region=answers.region))


def _cheapest_first(rows: Iterable[Price]) -> list[Price]:
    known = [(usd, price.pk, price) for price in rows if (usd := prices.usd_per_gpu_hour(price)) is not None]
    return [price for _, _, price in sorted(known, key=lambda one: one[:2])]


def _committed(answers: Answers, offer: Price, term: str, as_of: datetime) -> Price | None:
    same_sku = [price for price in _offers(answers, as_of, term) if price.sku == offer.sku]
    found = {price.payment: price for price in reversed(same_sku)}
    return next((found[payment] for payment in PAYMENTS if payment in found), None)


def _revision(answers: Answers, start: date) -> Revision:
    return Revision(
        note="made from five answers",
        start=start,
        months=int(default("months")),
        gpu_model=answers.gpu,
        discount_rate_per_year=default("discount_rate_per_year"),
        price_change_per_year=default("price_change_per_year"),
    )


def _workload(answers: Answers) -> Workload:
    return Workload(
        name="All work",
        kind=Workload.Kind.INFERENCE,
        gpus=answers.gpus_busy,
        growth_per_month=answers.growth_per_month,
    )


def _key(price: Price) -> SupplyPrice:
    return SupplyPrice(
        provider=price.sku.provider,
        sku=price.sku.name,
        region=price.region,
        zone=price.zone,
        term=price.term,
        payment=price.payment,
    )


def _instance(price: Price) -> int:
    """Return the GPUs of one instance; parts of a GPU are sold as one."""
    return max(1, int(price.sku.gpu_count))


def _on_demand(offer: Price) -> OnDemandSupply:
    return OnDemandSupply(
        name="On demand", gpus_per_instance=_instance(offer), is_reference=True, price=_key(offer)
    )


def _reserved(answers: Answers, price: Price, start: date, months: int) -> ReservedSupply:
    size = _instance(price)
    gpus = max(size, int(answers.gpus_busy) // size * size)
    payment = price.payment or ReservedSupply.Payment.NO_UPFRONT
    return ReservedSupply(
        name="Reserved",
        gpus=gpus,
        gpus_per_instance=size,
        start=start,
        term_months=months,
        payment=payment,
        price=_key(price),
    )


def _owned(answers: Answers, order_date: date) -> OwnedSupply:
    values = {one.field: one.value for one in OWNED}
    per_server = int(values["gpus_per_server"])
    power = Accelerator.objects.filter(slug=answers.gpu).values_list("power_w", flat=True).first()
    idle_kw, max_kw = server_kw(power, per_server)
    price = None if answers.usd_per_gpu is None else answers.usd_per_gpu * per_server
    return OwnedSupply(
        **values,
        name="Own servers",
        servers=max(1, int(answers.gpus_busy) // per_server),
        order_date=order_date,
        usd_capex_per_server=price,
        capex_source="typed in the first questions" if price is not None else "",
        idle_kw_per_server=idle_kw,
        max_kw_per_server=max_kw,
    )
