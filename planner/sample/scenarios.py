"""Four plans for the sample fleet: stay on demand, reserve, own a part, own nearly all."""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from costs.models import Accelerator
from costs.queries import utilization
from planner.core.calendar import add_months
from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    Person,
    ReservedSupply,
    Revision,
    Scenario,
    SpotSupply,
    SupplyPrice,
    Workload,
)
from planner.scenarios.assumptions import default, server_kw
from planner.scenarios.revisions import Draft, Supply, create_scenario, make_plan_of_record

GPU_MODEL = "h100-sxm-80gb"
GPUS_PER_SERVER = 8
MONTHS = 36
NOTE = "Sample plan for a made-up fleet; prices are public list prices."
# where the clouds' list prices stand: provider, sku, region, term, payment
ON_DEMAND_KEY = ("aws", "p5.48xlarge", "us-east-1", "on_demand", "")
SPOT_KEY = ("aws", "p5.48xlarge", "us-east-1", "spot", "")
# AWS lists no reserved price of its H100 machine; Google Cloud does
RESERVED_KEY = ("gcp", "a3-highgpu-8g", "us-central1", "reserved_3y", "no_upfront")
SPOT_GPUS = 16
TERM_MONTHS = 36
USD_PER_SERVER = Decimal(300_000)
USD_OTHER_PER_SERVER = Decimal(60_000)  # network, storage, rack and installation: 20 % of the server
CAPEX_SOURCE = "market survey 2026: $250,000 to $400,000 for 8 H100; network and the rest 20 %"
CAPEX_DATE = date(2026, 11, 1)
LONG_LEAD_TIME_DAYS = 182  # P90 of published lead times
PRICE_CHANGE_PER_YEAR = Decimal("-0.10")
SHARE_STEP, GPU_STEP = Decimal("0.000001"), Decimal("0.001")


def create_scenarios(now: datetime, owner: Person | None) -> list[Scenario]:
    """Save the four plans; where nobody follows a plan yet, the second becomes the plan of record."""
    demand = _demand(now)
    plans: list[tuple[str, Callable[[date], list[Supply]]]] = [
        ("Stay on demand", _stay_on_demand),
        ("Reserve 96 for 3 years", _reserve),
        ("Own 96 + reserve 32", _own_a_part),
        ("Own 192 in colo", _own_nearly_all),
    ]
    start = add_months(now.date().replace(day=1), 1)
    scenarios = [
        create_scenario(
            name,
            Draft(_revision(start), [_workload(*row) for row in demand], supplies(start)),
            owner=owner,
            now=now,
            is_sample=True,
            note=NOTE,
        )
        for name, supplies in plans
    ]
    if not Scenario.objects.filter(is_plan_of_record=True).exists():
        make_plan_of_record(scenarios[1])
    return scenarios


def _revision(start: date) -> Revision:
    """Return a plan that follows the newest prices.

    The sample is there to look around with: a price list that somebody loads moves its figures at once, and
    no decision hangs on them that would have to be kept.
    """
    return Revision(
        note="as loaded",
        start=start,
        months=MONTHS,
        gpu_model=GPU_MODEL,
        discount_rate_per_year=default("discount_rate_per_year"),
        price_change_per_year=PRICE_CHANGE_PER_YEAR,
    )


Demand = tuple[str, str, Decimal, Decimal, list[float] | None, bool]


def _demand(now: datetime) -> list[Demand]:
    """Return what the sample fleet is busy with, one row for each class of work."""
    return [
        _measured_demand("Training", "training", ("training",), now, interruptible=True),
        _measured_demand("Inference", "inference", ("inference", "interactive"), now, interruptible=False),
    ]


def _measured_demand(
    name: str, kind: str, pools: tuple[str, ...], now: datetime, *, interruptible: bool
) -> Demand:
    figures = utilization.measured(sample=True, as_of=now, pools=pools)
    fleet = utilization.measured(sample=True, as_of=now)
    if figures is None or fleet is None:
        raise LookupError("the sample fleet has no hours")
    growth = Decimal(str(fleet.growth_per_month or 0)).quantize(SHARE_STEP)
    profile = utilization.hour_of_week_profile(sample=True, pools=pools, until=figures.until)
    shape = None if profile is None else [round(factor, 6) for factor in profile]
    return name, kind, figures.busy_gpus.quantize(GPU_STEP), growth, shape, interruptible


def _workload(
    name: str, kind: str, gpus: Decimal, growth: Decimal, profile: list[float] | None, interruptible: bool
) -> Workload:
    return Workload(
        name=name,
        kind=kind,
        gpus=gpus,
        growth_per_month=growth,
        profile=profile,
        interruptible=interruptible,
    )


def _stay_on_demand(start: date) -> list[Supply]:
    return _rented()


def _reserve(start: date) -> list[Supply]:
    return [_reserved(96, start), *_rented()]


def _own_a_part(start: date) -> list[Supply]:
    return [_owned(96, start, int(default("lead_time_days"))), _reserved(32, start), *_rented()]


def _own_nearly_all(start: date) -> list[Supply]:
    return [_owned(192, start, LONG_LEAD_TIME_DAYS), *_rented()]


def _rented() -> list[Supply]:
    """Return what every plan rents by the hour: some spot for training, the rest on demand."""
    return [
        SpotSupply(
            name="AWS spot",
            quota_gpus=Decimal(SPOT_GPUS),
            useful_work_factor=default("useful_work_factor"),
            price=_price(SPOT_KEY),
        ),
        OnDemandSupply(name="AWS on demand", is_reference=True, price=_price(ON_DEMAND_KEY)),
    ]


def _reserved(gpus: int, start: date) -> ReservedSupply:
    return ReservedSupply(
        name=f"Reserve {gpus} at Google Cloud",
        gpus=gpus,
        gpus_per_instance=GPUS_PER_SERVER,
        start=start,
        term_months=TERM_MONTHS,
        payment=ReservedSupply.Payment.NO_UPFRONT,
        price=_price(RESERVED_KEY),
    )


def _price(key: tuple[str, str, str, str, str]) -> SupplyPrice:
    provider, sku, region, term, payment = key
    return SupplyPrice(provider=provider, sku=sku, region=region, term=term, payment=payment)


def _owned(gpus: int, order: date, lead_time_days: int) -> OwnedSupply:
    power = Accelerator.objects.values_list("power_w", flat=True).get(slug=GPU_MODEL)
    idle_kw, max_kw = server_kw(power, GPUS_PER_SERVER)
    return OwnedSupply(
        name=f"Own {gpus}",
        servers=gpus // GPUS_PER_SERVER,
        gpus_per_server=GPUS_PER_SERVER,
        order_date=order,
        lead_time_days=lead_time_days,
        burn_in_days=int(default("burn_in_days")),
        usd_capex_per_server=USD_PER_SERVER,
        usd_other_capex_per_server=USD_OTHER_PER_SERVER,
        capex_source=CAPEX_SOURCE,
        capex_source_date=CAPEX_DATE,
        deposit_share=default("deposit_share"),
        idle_kw_per_server=idle_kw,
        max_kw_per_server=max_kw,
        pue=default("pue"),
        usd_per_kwh=default("usd_per_kwh"),
        usd_colocation_per_kw_month=default("usd_colocation_per_kw_month"),
        maintenance_share_per_year=default("maintenance_share_per_year"),
        warranty_months=int(default("warranty_months")),
        fte_minimum=default("fte_minimum"),
        servers_per_fte=default("servers_per_fte"),
        usd_staff_per_fte_year=default("usd_staff_per_fte_year"),
        availability=default("availability"),
        accounting_life_months=int(default("accounting_life_months")),
    )
