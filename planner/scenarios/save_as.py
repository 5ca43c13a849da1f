"""Turn the what-if values of a comparison into a scenario of its own, at the prices of the comparison."""

from collections.abc import Mapping
from decimal import Decimal

from planner.comparison.result import Column, Comparison
from planner.models import OwnedSupply
from planner.queries import whole_revisions
from planner.scenarios.kept_prices import keep_at
from planner.scenarios.revisions import Draft, copy_of

GPU_STEP = Decimal("0.000000001")
PERCENT = Decimal(100)


def draft_with_overrides(column: Column, comparison: Comparison) -> Draft:
    """Return a copy of a column's revision with the comparison's overrides stored in it.

    It keeps the prices that the column was read with, so that it costs what the comparison said.
    """
    draft = copy_of(whole_revisions().get(scenario__slug=column.slug, number=column.revision))
    if not column.prices.is_kept:
        keep_at(draft.revision, column.prices.moment)
    measured = comparison.series.measured
    apply_overrides(draft, comparison.overrides, None if measured is None else measured.fleet_gpus)
    return draft


def apply_overrides(draft: Draft, overrides: Mapping[str, float], fleet_gpus: float | None) -> None:
    """Write what-if values into a draft, as planner.core.adjust reads them."""
    _set_demand(draft, _demand_gpus(overrides, fleet_gpus))
    if "growth" in overrides:
        for workload in draft.workloads:
            workload.growth_per_month = _exact(overrides["growth"]) / PERCENT
    if "drift_year" in overrides:
        draft.revision.price_change_per_year = _exact(overrides["drift_year"]) / PERCENT
    for supply in draft.supplies:
        if not isinstance(supply, OwnedSupply):
            continue
        if "capex_gpu" in overrides:
            supply.usd_capex_per_server = _exact(overrides["capex_gpu"]) * supply.gpus_per_server
            supply.capex_source, supply.capex_source_date = "set by a what-if slider", None
        if "kwh" in overrides:
            supply.usd_per_kwh = _exact(overrides["kwh"])


def _exact(value: float) -> Decimal:
    return Decimal(repr(value))


def _demand_gpus(overrides: Mapping[str, float], fleet_gpus: float | None) -> Decimal | None:
    if "util" in overrides and fleet_gpus is not None:
        return Decimal(repr(overrides["util"] / 100.0 * fleet_gpus))
    return _exact(overrides["demand"]) if "demand" in overrides else None


def _set_demand(draft: Draft, gpus: Decimal | None) -> None:
    now = sum((workload.gpus for workload in draft.workloads), Decimal(0))
    if gpus is None or not now:
        return
    for workload in draft.workloads:
        workload.gpus = (workload.gpus * gpus / now).quantize(GPU_STEP)
