"""Say in words what a reader must know about a result beside its numbers."""

from collections.abc import Iterator
from datetime import date

import numpy as np

from planner.core.calendar import add_months, days_later
from planner.core.ledger import Ledger
from planner.core.metered import quota_in_whole_instances, rounding_gpu_hours
from planner.core.plan import Block, Contract, OnDemand, Owned, Reserved, SavingsPlan, Spot, Supply


def notes_of(ledger: Ledger, reference: OnDemand | None) -> tuple[str, ...]:
    """Return the notes of a result: unmet work, quotas, rounding, the reference, what the horizon cuts."""
    return (
        *_about_unmet(ledger),
        *_about_reference(reference),
        *_about_unknown_prices(ledger),
        *_about_quotas(ledger),
        *_about_rounding(ledger),
        *_about_horizon(ledger),
        *_about_disruptions(ledger),
    )


def _about_unmet(ledger: Ledger) -> Iterator[str]:
    for workload, hours in zip(ledger.plan.workloads, ledger.served.unmet_hours, strict=True):
        if hours.any():
            first = ledger.horizon.first_days()[int(np.flatnonzero(hours)[0])]
            yield (
                f"{workload.name}: {hours.sum():,.0f} GPU-hours stay unmet, the first in {first:%b %Y}. "
                "Totals of plans that leave different work undone cannot be called cheaper or dearer."
            )


def _about_reference(reference: OnDemand | None) -> Iterator[str]:
    if reference is None:
        yield "No on-demand supply in the plan, so there is nothing to break even against."
    elif not reference.reference:
        yield f"Measured against {reference.name}, the cheapest on-demand price of month 1."


def _about_unknown_prices(ledger: Ledger) -> Iterator[str]:
    for settled in ledger.supplies:
        supply = settled.supply
        if isinstance(supply, OnDemand | Spot) and supply.usd_per_gpu_hour is None:
            yield f"{supply.name}: its price is unknown, so it is used last."


def _about_quotas(ledger: Ledger) -> Iterator[str]:
    for settled in ledger.supplies:
        supply = settled.supply
        if not isinstance(supply, OnDemand | Spot):
            continue
        usable = quota_in_whole_instances(supply)
        if np.isinf(ledger.setting.quotas[supply.name]).any():
            yield f"{supply.name}: no quota known; the plan takes it as unlimited."
        elif supply.quota_gpus is not None and usable is not None and usable < supply.quota_gpus:
            yield (
                f"{supply.name}: a quota of {supply.quota_gpus:g} GPUs holds {usable:g} in whole "
                f"instances of {supply.gpus_per_instance}."
            )


def _about_rounding(ledger: Ledger) -> Iterator[str]:
    plan = ledger.plan
    for row, settled in enumerate(ledger.supplies):
        supply = settled.supply
        if not isinstance(supply, OnDemand | Spot) or supply.gpus_per_instance == 1:
            continue
        lost = rounding_gpu_hours(ledger.served.paid_gpus[row], ledger.slots.hours, supply.gpus_per_instance)
        if lost.sum() < 0.5:
            continue
        path = ledger.setting.prices[supply.name]
        usd = float((lost * path[ledger.slots.month]).sum())
        cost = "at a price that is unknown" if np.isnan(usd) else f"{usd:,.0f} {plan.currency}"
        yield (
            f"{supply.name}: billed here by the GPU; whole instances of {supply.gpus_per_instance} would "
            f"add {lost.sum():,.0f} GPU-hours ({cost}), in no total."
        )


def _about_horizon(ledger: Ledger) -> Iterator[str]:
    start, end = ledger.horizon.start, ledger.horizon.end
    for settled in ledger.supplies:
        supply = settled.supply
        if isinstance(supply, Owned):
            if supply.order_date < start:
                yield f"{supply.name}: ordered before the plan; what was paid then is in no total."
            if not settled.installed_gpu_hours.any():
                yield f"{supply.name}: gives no capacity inside the plan."
            continue
        window = window_of_supply(supply)
        if window is None:
            continue
        first, last = window
        if first >= end:
            yield f"{supply.name}: begins after the plan, so nothing of it is in the totals."
            continue
        if first < start:
            yield f"{supply.name}: began before the plan; what was paid then is in no total."
        if last > end:
            yield f"{supply.name}: outlives the plan; only what falls inside is in the totals."


def _about_disruptions(ledger: Ledger) -> Iterator[str]:
    days = ledger.horizon.first_days()
    for name, up in ledger.setting.up.items():
        out = np.flatnonzero(up == 0.0)
        first, last = days[int(out[0])], days[int(out[-1])]
        yield (
            f"{name}: out of service in {len(out)} months from {first:%b %Y} to {last:%b %Y}; what is "
            "committed or owned there costs what it costs."
        )
    for step in ledger.plan.price_steps:
        yield (
            f"On-demand and spot prices are {step.factor:g} times their path from {step.start:%b %Y}; "
            "commitments and contracts keep theirs."
        )


def window_of_supply(supply: Supply) -> tuple[date, date] | None:
    """Return the first day of what is committed and the day it ends; None for what is not committed."""
    match supply:
        case Reserved() | SavingsPlan():
            return supply.start, add_months(supply.start, supply.term_months)
        case Block():
            return supply.start, days_later(supply.start, supply.days)
        case Contract():
            return supply.steps[0].start, supply.end
        case _:
            return None
