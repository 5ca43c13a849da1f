"""What the plan serves: demand, what is left of it, the share served, and the most rented at once."""

import numpy as np

from planner.core.explain.case import Case
from planner.core.explain.parts import Explanation, Input, context, numbered, sum_of
from planner.core.explain.words import Words


def demand(case: Case) -> Explanation:
    """Return the demand explained, by workload where the outcome tells them apart."""
    out = case.outcome
    found = _by_workload(case) or {"All workloads": out.demand_gpu_hours}
    parts = numbered((name, hours, f"{hours:,.0f} GPU-hours") for name, hours in found.items())
    growth = tuple(
        context(f"{one.name}, month 1", f"{one.gpus:,.6g} GPUs, {one.growth_per_month:+.2%} a month")
        for one in case.plan.workloads
    )
    return Explanation(
        "Demand",
        "GPU-hours that the workloads ask for over the plan, served or not.",
        f"{' + '.join(f'{one.name} {one.text}' for one in parts)} = {out.demand_gpu_hours:,.0f} GPU-hours",
        (*parts, *growth),
        out.demand_gpu_hours,
        "GPU-hours",
        sum_of(parts),
    )


def _by_workload(case: Case) -> dict[str, float]:
    """Return demanded hours by workload: what each is served, and what it is not."""
    frame = case.outcome.by_class
    if not len(frame):
        return {}
    names = frame["workload"].to_numpy()
    hours = (frame["useful_gpu_hours"] + frame["unmet_gpu_hours"]).to_numpy(dtype=float)
    return {one.name: float(hours[names == one.name].sum()) for one in case.plan.workloads}


def unmet(case: Case) -> Explanation:
    """Return the demand explained that no supply could serve."""
    out = case.outcome
    return Explanation(
        "Unmet demand",
        "Hours of demand that found no supply: quotas were full and what is owned or reserved was busy. "
        "They cost nothing here, so totals of plans with different unmet hours are not comparable.",
        f"demand {out.demand_gpu_hours:,.0f} − served {out.useful_gpu_hours:,.0f} "
        f"= {out.unmet_gpu_hours:,.0f} GPU-hours",
        (
            Input("Demand", out.demand_gpu_hours, f"{out.demand_gpu_hours:,.0f} GPU-hours", symbol="demand"),
            Input("Served", out.useful_gpu_hours, f"{out.useful_gpu_hours:,.0f} GPU-hours", symbol="served"),
            *case.quota_inputs(),
        ),
        out.unmet_gpu_hours,
        "GPU-hours",
        "demand - served",
    )


def served(case: Case) -> Explanation:
    """Return the share of the demand explained that the plan serves; None without demand."""
    out = case.outcome
    share = None if out.demand_gpu_hours <= 0.0 else 1.0 - out.unmet_gpu_hours / out.demand_gpu_hours
    return Explanation(
        "Demand served",
        "The share of the demanded GPU-hours that find a supply.",
        f"1 − {out.unmet_gpu_hours:,.0f} unmet / {out.demand_gpu_hours:,.0f} GPU-hours "
        f"= {Words.percent(share)}",
        (
            Input("Unmet", out.unmet_gpu_hours, f"{out.unmet_gpu_hours:,.0f} GPU-hours", symbol="unmet"),
            Input("Demand", out.demand_gpu_hours, f"{out.demand_gpu_hours:,.0f} GPU-hours", symbol="demand"),
        ),
        share,
        "share of demand",
        "1 - per(unmet, demand)",
    )


def peak_on_demand(case: Case) -> Explanation:
    """Return the most on-demand GPUs of any month explained, in whole instances."""
    frame, months = case.outcome.capacity, case.plan.months
    peaks = frame["peak_gpus"].to_numpy(dtype=float)[frame["kind"].to_numpy() == "on_demand"]
    by_month = peaks.reshape(-1, months).sum(axis=0) if len(peaks) else np.zeros(months)
    most = float(by_month.max())
    return Explanation(
        "Peak on-demand GPUs",
        "The most GPUs rented on demand in any hour, in whole instances, over all on-demand supplies: what "
        "quotas have to allow.",
        f"highest of {months} months = {most:,.0f} GPUs",
        (case.series("Peak by month, GPUs", by_month, "peaks"), *case.quota_inputs()),
        most,
        "GPUs",
        "max(peaks)",
    )
