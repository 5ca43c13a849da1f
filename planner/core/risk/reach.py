"""Which supply of a plan could do its critical work in each month, how well, and with how many GPUs."""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.dispatch import Market
from planner.core.eligibility import Eligibility
from planner.core.evaluate import REAL_MONTHS
from planner.core.market import market_of
from planner.core.plan import OnDemand, Outcome, SavingsPlan, Spot, Supply
from planner.core.ranges import AT_LEAST_0, takes, with_unknown
from planner.core.risk.of_plan import Need, need_of
from planner.core.setting import Grid, setting_of
from planner.core.slots import build_demand


@dataclass(frozen=True)
class Reach:
    """What each supply could do for the work that counts: who may serve it and how well, and its capacity.

    `supplies` are all of the plan but savings plans; `rows` are theirs in it. `capacity_gpus` by (supply,
    month), NaN where unknown; `portability` by (workload, supply, month).
    """

    need: Need
    supplies: tuple[Supply, ...]
    rows: tuple[int, ...]
    capacity_gpus: FloatArray
    portability: FloatArray
    market: Market
    open_to: Eligibility


def reach_of(outcome: Outcome, grid: Grid = REAL_MONTHS) -> Reach:
    """Return capacity and portability of every supply of an outcome, by month.

    portability = min(1, throughput ratio) where the workload may run, else 0. `grid` is the one that the
    outcome was worked out on.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> reach_of(evaluate(plan_to_decide())).capacity_gpus[0, 0]
    np.float64(96.0)
    """
    plan, need = outcome.plan, need_of(outcome)
    setting = setting_of(plan, grid)
    demand = build_demand(setting.horizon, plan.workloads, setting.cut_hours(), grid.each_hour)
    market, open_to = market_of(setting, demand.slots)
    rows = tuple(row for row, s in enumerate(plan.supplies) if not isinstance(s, SavingsPlan))
    ratio = open_to.useful_per_paid[np.ix_(need.work.rows, rows)]
    return Reach(
        need=need,
        supplies=tuple(plan.supplies[row] for row in rows),
        rows=rows,
        capacity_gpus=_capacity(outcome, need, rows),
        portability=np.minimum(ratio, 1.0),
        market=market,
        open_to=open_to,
    )


def _capacity(outcome: Outcome, need: Need, rows: tuple[int, ...]) -> FloatArray:
    plan, frame = outcome.plan, outcome.capacity
    shape = (len(plan.supplies), plan.months)
    quota = frame["quota_gpus"].to_numpy(dtype=np.float64).reshape(shape)
    available = frame["available_gpu_hours"].to_numpy(dtype=np.float64).reshape(shape) / need.hours
    is_metered = np.array([isinstance(s, OnDemand | Spot) for s in plan.supplies], dtype=bool)
    return np.asarray(np.where(is_metered[:, None], quota, available)[list(rows)])


@takes(gpus=with_unknown(AT_LEAST_0))
def known(gpus: float) -> float | None:
    """Return a number of GPUs, None for NaN.

    >>> known(8.0)
    8.0
    """
    return None if np.isnan(gpus) else float(gpus)
