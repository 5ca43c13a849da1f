"""Which supply may serve which workload, how much work one of its GPU-hours does, and why not.

Gates, in this order: spot takes only interruptible training; the region must be one in which the workload may
run; the GPU model must be validated on the workload by then; the limit must hold its gang.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.plan import GateName, Plan, SavingsPlan, Spot, Supply, Validation, Workload


@dataclass(frozen=True)
class Eligibility:
    """By (workload, supply): `useful_per_paid` also by month, 0 where it may not serve.

    `ratio` is the same without the gate of the gang.

    `usd_data` is what moving data costs per useful GPU-hour (NaN: unknown). `blocked` names the gate of
    pairs that are shut in some month.
    """

    useful_per_paid: FloatArray  # (workloads, supplies, months)
    usd_data: FloatArray  # (workloads, supplies)
    blocked: dict[tuple[int, int], GateName]
    ratio: FloatArray  # (workloads, supplies, months)


def eligibility_of(plan: Plan, horizon: Horizon, largest_gpus: FloatArray) -> Eligibility:
    """Return who may serve whom; `largest_gpus` is what each supply can hold at once by (supply, month)."""
    shape = (len(plan.workloads), len(plan.supplies), plan.months)
    useful, ratios, usd_data = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2])
    blocked: dict[tuple[int, int], GateName] = {}
    for w, workload in enumerate(plan.workloads):
        for s, supply in enumerate(plan.supplies):
            if isinstance(supply, SavingsPlan) or not _may_run_on(workload, supply):
                continue
            usd = _usd_data(workload, supply)
            if usd is None:
                blocked[w, s] = "region"
                continue
            usd_data[w, s] = usd
            ratio = _ratio_by_month(plan, workload, supply, horizon)
            holds = (largest_gpus[s] >= workload.gang_gpus) | (workload.gang_gpus == 1)
            ratios[w, s] = ratio * work_factor(supply)
            useful[w, s] = ratios[w, s] * holds
            if not ratio.all():
                blocked[w, s] = "validation"
            elif not holds.all():
                blocked[w, s] = "gang"
    return Eligibility(useful, usd_data, blocked, ratios)


def _may_run_on(workload: Workload, supply: Supply) -> bool:
    return not isinstance(supply, Spot) or (workload.kind == "training" and workload.interruptible)


def work_factor(supply: Supply) -> float:
    """Return the work of one paid hour, before any throughput ratio: below 1 on spot alone."""
    return supply.useful_work_factor if isinstance(supply, Spot) else 1.0


def _usd_data(workload: Workload, supply: Supply) -> float | None:
    """Return the cost of moving data per useful GPU-hour; None where the region is shut.

    A supply that names no region may be anywhere, so it is taken as allowed, and moves nothing.
    """
    if workload.regions is None or isinstance(supply, SavingsPlan) or not supply.region:
        return 0.0
    for region in workload.regions:
        if region.name == supply.region:
            if region.gb_per_gpu_hour == 0.0:
                return 0.0
            return float("nan") if region.usd_per_gb is None else region.gb_per_gpu_hour * region.usd_per_gb
    return None


def _ratio_by_month(plan: Plan, workload: Workload, supply: Supply, horizon: Horizon) -> FloatArray:
    model = "" if isinstance(supply, SavingsPlan) else supply.gpu_model
    if workload.validations is None:
        # nothing is known of other GPUs, so only the plan's own serves, one to one
        return np.full(plan.months, float(model in ("", plan.gpu_model)))
    ratio = np.zeros(plan.months)
    for found in _validations(workload.validations, model or plan.gpu_model):
        if found.validated_on is not None:
            usable = np.arange(plan.months) >= horizon.index_on_or_after(found.validated_on)
            ratio = np.maximum(ratio, usable * found.throughput_ratio)
    return ratio


def _validations(validations: Sequence[Validation], gpu_model: str) -> list[Validation]:
    return [each for each in validations if each.gpu_model == gpu_model]
