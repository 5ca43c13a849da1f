"""Scenarios for tests: keyword defaults, prices typed unless a test names a key."""

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from planner.models import (
    OnDemandSupply,
    OwnedSupply,
    ReservedSupply,
    Revision,
    Scenario,
    SpotSupply,
    SupplyPrice,
    Workload,
)
from planner.scenarios.revisions import Draft, Supply, create_scenario

_numbers = itertools.count(1)
NOW = datetime(2026, 11, 30, 9, 40, tzinfo=UTC)
START = date(2027, 1, 1)


def make_revision(**changes: Any) -> Revision:
    fields = {
        "start": START,
        "months": 12,
        "gpu_model": "h100-sxm-80gb",
        "discount_rate_per_year": Decimal("0.10"),
    }
    return Revision(**fields | changes)


def make_workload(**changes: Any) -> Workload:
    return Workload(**{"name": "serving", "kind": "inference", "gpus": Decimal(8)} | changes)


def make_typed(usd_per_gpu_hour: str | None, **changes: Any) -> SupplyPrice:
    rate = None if usd_per_gpu_hour is None else Decimal(usd_per_gpu_hour)
    return SupplyPrice(usd_per_gpu_hour=rate, source="a quote", **changes)


def make_key(**changes: Any) -> SupplyPrice:
    fields = {"provider": "aws", "sku": "p5.48xlarge", "region": "us-east-1", "term": "on_demand"}
    return SupplyPrice(**fields | changes)


def make_on_demand(usd_per_gpu_hour: str | None = "4", **changes: Any) -> OnDemandSupply:
    fields = {"name": "on demand", "is_reference": True} | changes
    fields.setdefault("price", make_typed(usd_per_gpu_hour))
    return OnDemandSupply(**fields)


def make_reserved(usd_per_gpu_hour: str | None = "2", **changes: Any) -> ReservedSupply:
    fields = {"name": "reserved", "gpus": 8, "start": START, "term_months": 12} | changes
    fields.setdefault("price", make_typed(usd_per_gpu_hour))
    return ReservedSupply(**fields)


def make_spot(usd_per_gpu_hour: str | None = "1", **changes: Any) -> SpotSupply:
    fields = {"name": "spot", "useful_work_factor": Decimal("0.9")} | changes
    fields.setdefault("price", make_typed(usd_per_gpu_hour))
    return SpotSupply(**fields)


def make_owned(**changes: Any) -> OwnedSupply:
    """One 8-GPU server that costs its purchase price and nothing else, there from the first day."""
    fields = {
        "name": "own",
        "servers": 1,
        "gpus_per_server": 8,
        "order_date": START,
        "lead_time_days": 0,
        "burn_in_days": 0,
        "usd_capex_per_server": Decimal(100_000),
        "deposit_share": Decimal(1),
        "idle_kw_per_server": Decimal(0),
        "max_kw_per_server": Decimal(0),
        "pue": Decimal(1),
        "usd_per_kwh": Decimal(0),
        "maintenance_share_per_year": Decimal(0),
        "warranty_months": 36,
        "servers_per_fte": Decimal(40),
        "availability": Decimal(1),
        "accounting_life_months": 60,
        "residual_share": Decimal(0),
    }
    return OwnedSupply(**fields | changes)


def make_scenario(
    name: str = "",
    supplies: list[Supply] | None = None,
    workloads: list[Workload] | None = None,
    revision: Revision | None = None,
    **changes: Any,
) -> Scenario:
    """Save a scenario: 8 GPUs of inference, flat, for 12 months from January 2027, at $4 on demand."""
    draft = Draft(
        revision or make_revision(),
        [make_workload()] if workloads is None else workloads,
        [make_on_demand()] if supplies is None else supplies,
    )
    fields = {"owner": None, "now": NOW} | changes
    return create_scenario(name or f"scenario {next(_numbers)}", draft, **fields)
