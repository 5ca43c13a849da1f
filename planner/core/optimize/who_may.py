"""Who may use what in a plan with choices: work per paid hour, gangs, and the reasons in words."""

import math

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.eligibility import Eligibility
from planner.core.optimize.probe import Bought, Probed
from planner.core.plan import GateName, Owned, Plan, Reserved, SavingsPlan, Spot, Supply, Workload


def useful_by_option(plan: Plan, probe: Probed, open_to: Eligibility) -> FloatArray:
    """Return useful GPU-hours per paid one by (workload, option, month)."""
    count = len(plan.supplies)
    useful = np.zeros((len(plan.workloads), count + len(probe.bought), plan.months))
    useful[:, :count] = open_to.useful_per_paid
    for i, bought in enumerate(probe.bought):
        if len(bought.rows):
            useful[:, count + i] = probe.idle.open_to.useful_per_paid[:, bought.rows].max(axis=1)
    return useful


def gang_lots(plan: Plan, probe: Probed, bought: Bought) -> int:
    """Return the least units of one purchase, so that it holds the largest gang that may use it.

    Servers join those of their site, so where these hold the gang in every month one server will do.
    """
    template = bought.choice.template
    size = template.gpus_per_server if isinstance(template, Owned) else template.gpus
    if not len(bought.rows):
        return 0
    useful = probe.idle.open_to.useful_per_paid[:, bought.rows].max(axis=(1, 2))
    gangs = [
        workload.gang_gpus
        for w, workload in enumerate(plan.workloads)
        if useful[w] > 0.0 and workload.gang_gpus > size
    ]
    if not gangs or _least_installed(plan, probe, template) >= max(gangs):
        return 0
    return math.ceil(max(gangs) / size)


def _least_installed(plan: Plan, probe: Probed, template: Owned | Reserved) -> float:
    """Return the GPUs that the plan's own servers of a site hold in the leanest month."""
    if not isinstance(template, Owned):
        return 0.0
    setting = probe.idle.setting
    total = np.zeros(plan.months)
    for supply in plan.supplies:
        if isinstance(supply, Owned) and (supply.region, supply.gpu_model) == (
            template.region,
            template.gpu_model,
        ):
            serving = setting.lives[supply.name].is_serving(setting.month)
            total += supply.servers * supply.gpus_per_server * serving
    return float(total.min())


def reasons_of(plan: Plan, probe: Probed, open_to: Eligibility) -> dict[tuple[str, str], str]:
    """Return why a supply or choice may not serve a workload, by both names."""
    reasons = {}
    for w, workload in enumerate(plan.workloads):
        for s, supply in enumerate(plan.supplies):
            if not open_to.useful_per_paid[w, s].any():
                reasons[workload.name, supply.name] = _why(
                    plan, workload, supply, open_to.blocked.get((w, s))
                )
        for bought in probe.bought:
            rows = bought.rows
            if len(rows) and not probe.idle.open_to.useful_per_paid[w, rows].any():
                gate = probe.blocked.get((w, int(rows[0])))
                template = bought.choice.template
                reasons[workload.name, bought.name] = _why(plan, workload, template, gate)
    return reasons


def _why(plan: Plan, workload: Workload, supply: Supply, gate: GateName | None) -> str:
    if isinstance(supply, SavingsPlan):
        return "money, not machines"
    if isinstance(supply, Spot) and not (workload.kind == "training" and workload.interruptible):
        return "spot takes only work that may be interrupted"
    if gate == "region":
        return f"may not run in {supply.region}"
    if gate == "validation" or (gate is None and supply.gpu_model not in ("", plan.gpu_model)):
        return f"not validated on {supply.gpu_model or plan.gpu_model}"
    if gate == "gang":
        return f"holds fewer than the {workload.gang_gpus} GPUs of one job"
    return "not there while it could be used"
