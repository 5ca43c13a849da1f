"""From saved plans to the core: load_plan is the one door. Decimal becomes float here and nowhere else.

A price that cannot be told stays None with a reason, so that the result names the gap.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import OuterRef, QuerySet, Subquery

from costs.models import Accelerator
from planner.core import plan as core
from planner.core.money import monthly_rate
from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    ReservedSupply,
    Revision,
    Scenario,
    SpotSupply,
    Workload,
)
from planner.scenarios.kept_prices import PricesRead, read_prices
from planner.scenarios.price_sources import PriceSource, source_of

SLUG = re.compile(r"[-a-zA-Z0-9_]+")


@dataclass(frozen=True)
class LoadedPlan:
    """A revision as the core reads it, and the source of each of its prices."""

    revision: Revision
    plan: core.Plan
    sources: tuple[PriceSource, ...]
    gpu_name: str  # of the accelerator; its slug where it is not on file
    gpu_power_w: Decimal | None
    prices: PricesRead
    has_listed: bool  # some price is read from price lists at all

    @property
    def runs(self) -> tuple[int, ...]:
        """Return the ingest runs behind the prices, ascending."""
        return tuple(sorted({source.run_id for source in self.sources if source.run_id is not None}))

    @property
    def price_lists(self) -> tuple[str, ...]:
        """Return the names of the sources that listed prices are read from."""
        return tuple(sorted({source.price_list for source in self.sources if source.price_list}))


def newest_revisions(scenarios: QuerySet[Scenario]) -> QuerySet[Revision]:
    """Return the newest revision of each scenario with all it holds; the count of queries is fixed."""
    newest = Revision.objects.filter(scenario=OuterRef("pk")).order_by("-number").values("pk")[:1]
    return whole_revisions().filter(
        pk__in=scenarios.order_by().annotate(newest=Subquery(newest)).values("newest")
    )


def whole_revisions() -> QuerySet[Revision]:
    """Return revisions with workloads, supplies and prices loaded along."""
    return Revision.objects.select_related("scenario", "author").prefetch_related(
        "workloads", "owned", "reserved__price", "on_demand__price", "spot__price"
    )


def load_plan(revision: Revision, as_of: datetime) -> LoadedPlan:
    """Return the plan of one revision at the prices that it keeps, or else at those of a moment."""
    return load_plans([revision], as_of)[0]


def load_plans(revisions: Iterable[Revision], as_of: datetime, *, for_all: bool = False) -> list[LoadedPlan]:
    """Return the plans of revisions; prices of one date are read together.

    `as_of` is the date of those that follow the newest prices, with `for_all` of all.
    """
    chosen = list(revisions)
    listed = [[supply.price for supply in rented(revision)] for revision in chosen]
    read = read_prices(list(zip(chosen, listed, strict=True)), as_of, for_all=for_all)
    gpus = {gpu.slug: gpu for gpu in Accelerator.objects.filter(slug__in={r.gpu_model for r in chosen})}
    return [
        _loaded(revision, own, gpus.get(revision.gpu_model))
        for revision, own in zip(chosen, read, strict=True)
    ]


def supplies_of(revision: Revision) -> list[OwnedSupply | ReservedSupply | OnDemandSupply | SpotSupply]:
    """Return all supplies of a revision in the order in which they were typed."""
    return sorted([*revision.owned.all(), *rented(revision)], key=lambda supply: supply.position)


def rented(revision: Revision) -> list[ReservedSupply | OnDemandSupply | SpotSupply]:
    """Return the supplies of a revision that have a price by the hour."""
    return [*revision.reserved.all(), *revision.on_demand.all(), *revision.spot.all()]


def _loaded(revision: Revision, read: PricesRead, gpu: Accelerator | None) -> LoadedPlan:
    supplies: list[core.Supply] = []
    sources: list[PriceSource] = []
    seen: Counter[str] = Counter()
    for row in supplies_of(revision):
        seen[row.name] += 1
        # the core tells supplies apart by name
        name = row.name if seen[row.name] == 1 else f"{row.name} ({seen[row.name]})"
        source = source_of(name, row, read.quotes)
        supplies.append(_supply(name, row, source))
        sources.append(source)
    plan = core.Plan(
        name=revision.scenario.name,
        start=revision.start,
        months=revision.months,
        gpu_model=revision.gpu_model,
        workloads=tuple(_workload(row) for row in revision.workloads.all()),
        supplies=tuple(supplies),
        discount_rate_per_year=float(revision.discount_rate_per_year),
        price_drift_per_month=monthly_rate(float(revision.price_change_per_year)),
        currency=revision.currency,
    )
    return LoadedPlan(
        revision,
        plan,
        tuple(sources),
        gpu_name=gpu.name if gpu is not None else revision.gpu_model,
        gpu_power_w=gpu.power_w if gpu is not None else None,
        prices=read,
        has_listed=any(supply.price.is_key for supply in rented(revision)),
    )


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _workload(row: Workload) -> core.Workload:
    return core.Workload(
        name=row.name,
        kind="training" if row.kind == Workload.Kind.TRAINING else "inference",
        gpus=float(row.gpus),
        growth_per_month=float(row.growth_per_month),
        profile=None if row.profile is None else tuple(float(factor) for factor in row.profile),
        deferrable_hours=row.deferrable_hours,
        interruptible=row.interruptible,
    )


def _supply(
    name: str, row: OwnedSupply | ReservedSupply | OnDemandSupply | SpotSupply, source: PriceSource
) -> core.Supply:
    rate, upfront = _number(source.usd_per_gpu_hour), _number(source.usd_upfront_per_gpu)
    match row:
        case OwnedSupply():
            return _owned(name, row)
        case ReservedSupply():
            return core.Reserved(
                name=name,
                gpus=row.gpus,
                start=row.start,
                term_months=row.term_months,
                payment=_payment(row),
                usd_per_gpu_hour=rate if row.payment != "all_upfront" else 0.0,
                usd_upfront_per_gpu=upfront if row.payment != "no_upfront" else 0.0,
                gpus_per_instance=row.gpus_per_instance,
                salvage_share=float(row.salvage_share),
            )
        case OnDemandSupply():
            return core.OnDemand(
                name=name,
                usd_per_gpu_hour=rate,
                quota_gpus=_number(row.quota_gpus),
                gpus_per_instance=row.gpus_per_instance,
                reference=row.is_reference,
            )
        case SpotSupply():
            return core.Spot(
                name=name,
                usd_per_gpu_hour=rate,
                useful_work_factor=float(row.useful_work_factor),
                quota_gpus=_number(row.quota_gpus),
                gpus_per_instance=row.gpus_per_instance,
            )


def _payment(row: ReservedSupply) -> core.PaymentForm:
    match row.payment:
        case "partial_upfront":
            return "partial_upfront"
        case "all_upfront":
            return "all_upfront"
        case _:
            return "no_upfront"


def _owned(name: str, row: OwnedSupply) -> core.Owned:
    loan = core.Loan(float(row.loan_share), float(row.loan_rate_per_year), row.loan_months)
    return core.Owned(
        name=name,
        servers=row.servers,
        gpus_per_server=row.gpus_per_server,
        order_date=row.order_date,
        lead_time_days=row.lead_time_days,
        usd_capex_per_server=_number(row.usd_capex_per_server),
        usd_other_capex_per_server=_number(row.usd_other_capex_per_server),
        burn_in_days=row.burn_in_days,
        deposit_share=float(row.deposit_share),
        idle_kw_per_server=_number(row.idle_kw_per_server),
        max_kw_per_server=_number(row.max_kw_per_server),
        pue=float(row.pue),
        usd_per_kwh=_number(row.usd_per_kwh),
        usd_colocation_per_kw_month=float(row.usd_colocation_per_kw_month),
        colocation_includes_energy=row.colocation_includes_energy,
        maintenance_share_per_year=float(row.maintenance_share_per_year),
        warranty_months=row.warranty_months,
        fte_minimum=float(row.fte_minimum),
        servers_per_fte=float(row.servers_per_fte),
        usd_staff_per_fte_year=float(row.usd_staff_per_fte_year),
        usd_software_per_server_month=float(row.usd_software_per_server_month),
        usd_insurance_per_server_month=float(row.usd_insurance_per_server_month),
        availability=float(row.availability),
        spare_servers=row.spare_servers,
        accounting_life_months=row.accounting_life_months,
        economic_life_months=row.economic_life_months,
        residual_share=_number(row.residual_share),
        loan=loan if loan.share else None,
    )


class UnknownScenarioError(LookupError):
    """No scenario has this address."""


def scenarios_by_slug(slugs: Sequence[str]) -> list[Scenario]:
    """Return the scenarios of these addresses in their order, in one query; raise for one that is unknown."""
    # databases refuse NUL and lone surrogates, and no address has any
    asked = [slug for slug in slugs if SLUG.fullmatch(slug)]
    found = {scenario.slug: scenario for scenario in Scenario.objects.filter(slug__in=asked)}
    for slug in slugs:
        if slug not in found:
            raise UnknownScenarioError(slug)
    return [found[slug] for slug in slugs]
