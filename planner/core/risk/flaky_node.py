"""One bad machine in every job of many: the whole job stops with it, and works off what it lost.

kappa (spot.time_factor) is the time per hour of useful work at M, the mean time between failures of the job:

    M healthy = 24 / (n r)      M flaky = 24 / ((n - 1) r + b)      demand * kappa(M flaky) / kappa(M healthy)

with n nodes, r failures per node-day of a good node, b of the bad one. Checkpoints stay at the interval that
is best for the healthy job, but no longer than is usual, because nobody knows of the bad node yet.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from planner.core.plan import Plan, Workload
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, refuse, require_fields
from planner.core.risk.stress_cases import FROM_MONTH
from planner.core.spot import daly_interval_hours, time_factor
from planner.core.units import HOURS_PER_DAY


@dataclass(frozen=True)
class Slowdown:
    """What one bad node makes of a job. `factor` None: it fails too often for a number."""

    nodes: int
    healthy_mtbf_hours: float
    flaky_mtbf_hours: float
    interval_hours: float
    factor: float | None


@dataclass(frozen=True)
class FlakyNode:
    """One flaky node in each training job that takes more than one GPU at once, from a month on.

    0.004 failures per node-day is the middle of published rates, 0.0023 to 0.0065 (Kokolis et al., HPCA 2025;
    Llama 3, 2024); three hours between checkpoints are those of BLOOM (S. Bekman, Machine Learning
    Engineering). One failure a day of the bad node, five minutes for a checkpoint and half an hour for a
    restart are judgement.
    """

    from_month: int = 1
    gpus_per_node: int = 8
    failures_per_node_day: float = 0.004
    bad_node_failures_per_day: float = 1.0
    checkpoint_hours: float = 5 / 60
    restart_hours: float = 0.5
    longest_interval_hours: float = 3.0
    kind: ClassVar[str] = "flaky_node"

    def __post_init__(self) -> None:
        require_fields(
            self,
            from_month=FROM_MONTH,
            gpus_per_node=COUNT_FROM_1,
            failures_per_node_day=ABOVE_0,
            bad_node_failures_per_day=ABOVE_0,
            checkpoint_hours=ABOVE_0,
            restart_hours=AT_LEAST_0,
            longest_interval_hours=ABOVE_0,
        )
        if self.bad_node_failures_per_day < self.failures_per_node_day:
            right = f"at least that of a good node, {self.failures_per_node_day:g}"
            refuse("bad_node_failures_per_day", self.bad_node_failures_per_day, right)

    @property
    def title(self) -> str:
        """Return the case in words."""
        return "One flaky node per job"

    def slowdown(self, workload: Workload) -> Slowdown | None:
        """Return the factor on demand kappa(M flaky) / kappa(M healthy); None where the case does not apply.

        It applies to training with a gang of more than one GPU. No factor is given where interval and restart
        together exceed M. Source: J. T. Daly, FGCS 22 (2006) 303; the rates of independent nodes add up.

        >>> job = Workload("pretraining", "training", gpus=64.0, gang_gpus=64)
        >>> round(FlakyNode().slowdown(job).factor, 6)
        1.089213
        """
        if workload.kind != "training" or workload.gang_gpus <= 1:
            return None
        nodes = math.ceil(workload.gang_gpus / self.gpus_per_node)
        others = (nodes - 1) * self.failures_per_node_day
        healthy = HOURS_PER_DAY / (nodes * self.failures_per_node_day)
        flaky = HOURS_PER_DAY / (others + self.bad_node_failures_per_day)
        best = daly_interval_hours(self.checkpoint_hours, healthy)
        interval = min(best, self.longest_interval_hours)
        if interval + self.restart_hours > flaky:
            return Slowdown(nodes, healthy, flaky, interval, None)
        kappas = [
            time_factor(interval, self.checkpoint_hours, self.restart_hours, mtbf)
            for mtbf in (flaky, healthy)
        ]
        return Slowdown(nodes, healthy, flaky, interval, kappas[0] / kappas[1])

    def sentence(self, plan: Plan) -> str:
        """Return the factor of each job, with its numbers, and the jobs of which none can be given."""
        found = {workload.name: self.slowdown(workload) for workload in plan.workloads}
        return " ".join(_words(name, slow) for name, slow in found.items() if slow is not None)

    def applied_to(self, plan: Plan) -> Plan:
        """Return the plan with the demand of such jobs times their factor; without one it stays as it is."""
        return replace(plan, workloads=tuple(self._slowed(workload, plan) for workload in plan.workloads))

    def _slowed(self, workload: Workload, plan: Plan) -> Workload:
        slow = self.slowdown(workload)
        if slow is None or slow.factor is None:
            return workload
        factors = workload.month_factors or (1.0,) * plan.months
        since = self.from_month - 1
        slowed = (*factors[:since], *(factor * slow.factor for factor in factors[since:]))
        return replace(workload, month_factors=slowed)


def _words(name: str, slow: Slowdown) -> str:
    mtbf = f"{slow.flaky_mtbf_hours:,.1f} h between failures instead of {slow.healthy_mtbf_hours:,.1f} h"
    job = f"{name} ({slow.nodes} nodes): {mtbf}, checkpoints every {slow.interval_hours:,.1f} h"
    if slow.factor is None:
        return f"{job}; it fails too often for a number, so its demand is left as it is."
    return f"{job}; the same work takes {slow.factor:.4f} times the GPU-hours."
