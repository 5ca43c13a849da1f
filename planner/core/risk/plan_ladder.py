"""The ladder of fallbacks of each critical workload: who steps in when its first supply is lost.

The order is that in which the plan itself would use them: its merit order in that month. Each rung says when
the work was last validated there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.dispatch import merit_orders
from planner.core.evaluate import REAL_MONTHS
from planner.core.limits import MOST_MONTHS
from planner.core.plan import Outcome, SavingsPlan, Spot, Supply, Workload
from planner.core.ranges import COUNT, Range, optional, refuse, takes
from planner.core.risk.coverage import Fallback, Ladder, serve_from_fallbacks
from planner.core.risk.reach import Reach, known, reach_of
from planner.core.setting import Grid

_MONTH = optional(Range(1, MOST_MONTHS, whole=True))
SPOT = "spot is not counted on"
REGION = "in a region in which it may not run"
GANG = "cannot hold its GPUs at once"


@dataclass(frozen=True)
class WorkloadLadder:
    """Who serves a workload in a month without its `primary`, the supply that serves most of it.

    `primary` None: nobody serves it, so the ladder has all supplies. `last_validated` by rung, None where
    there is no record: the plan's own GPU without validations, or one that nobody has run the work on.
    `shut` says by supply why it is no rung.
    """

    workload: str
    month: date
    primary: str | None
    demand_gpus: float
    ladder: Ladder
    last_validated: dict[str, date | None]
    shut: dict[str, str]


@takes(month=_MONTH, valid_for_days=optional(COUNT))
def ladders_of_plan(
    outcome: Outcome,
    month: int | None = None,
    valid_for_days: int | None = None,
    grid: Grid = REAL_MONTHS,
) -> tuple[WorkloadLadder, ...]:
    """Return the ladder of each critical workload in one month, from 1; None: the month it wants most in.

    Each validated rung serves min(what is left, capacity * min(1, throughput ratio)); together exactly
    min(demand, their sum). Capacity is all that a supply has, not what the plan leaves free of it; demand is
    the month's average in GPUs. Validations count as of the first day of the month. Raises ValueError for a
    month behind the plan. Source: the definition of this model.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> found = ladders_of_plan(evaluate(plan_to_decide()))[0]
    >>> found.primary, found.ladder.served_gpus
    ('On demand', 0.0)
    """
    if month is not None and month > outcome.plan.months:
        refuse("month", month, f"one of the {outcome.plan.months} months of the plan")
    reach = reach_of(outcome, grid)
    return tuple(
        _ladder(outcome, reach, w, int(np.argmax(reach.need.gpus[w])) if month is None else month - 1,
                valid_for_days)
        for w in range(len(reach.need.work.rows))
    )  # fmt: skip


def _ladder(outcome: Outcome, reach: Reach, w: int, month: int, valid_for_days: int | None) -> WorkloadLadder:
    plan, row, day = outcome.plan, reach.need.work.rows[w], reach.need.months[month]
    workload = plan.workloads[row]
    primary = _primary(outcome, workload.name, day)
    shut: dict[str, str] = {}
    rungs: list[Fallback] = []
    dates: dict[str, date | None] = {}
    for s in _in_order(reach, workload, row, month):
        supply = reach.supplies[s]
        if supply.name == primary:
            continue
        if why := _why_shut(reach, supply, row, s, month):
            shut[supply.name] = why
            continue
        ported = float(reach.portability[w, s, month])
        found = _last_validated(workload, supply, plan.gpu_model, day)
        dates[supply.name] = found
        # work without validations runs on the plan's own GPU as a matter of course
        as_of = day if workload.validations is None and ported > 0.0 else found
        rungs.append(Fallback(supply.name, known(reach.capacity_gpus[s, month]), ported, as_of))
    demand = float(reach.need.gpus[w, month])
    ladder = serve_from_fallbacks(demand, rungs, day, valid_for_days)
    return WorkloadLadder(workload.name, day, primary, demand, ladder, dates, shut)


def _primary(outcome: Outcome, workload: str, day: date) -> str | None:
    frame = outcome.by_class
    mine = frame[(frame["workload"] == workload) & (frame["month"] == day) & (frame["supply"] != "")]
    hours = mine["useful_gpu_hours"].to_numpy(dtype=np.float64)
    return str(mine["supply"].iloc[int(np.argmax(hours))]) if (hours > 0.0).any() else None


def _in_order(reach: Reach, workload: Workload, row: int, month: int) -> Iterator[int]:
    """Yield the places of the supplies in merit order, those that cannot serve last, each once."""
    months = reach.need.gpus.shape[1]
    order = merit_orders(reach.market, row, workload.deferrable_hours > 0, months)[month]
    by_row = {row: place for place, row in enumerate(reach.rows)}
    usable = [by_row[reach.market.sources[int(each)].supply] for each in order]
    yield from dict.fromkeys([*usable, *range(len(reach.supplies))])


def _why_shut(reach: Reach, supply: Supply, row: int, s: int, month: int) -> str:
    """Return why a supply is no rung; a missing validation is told by the rung itself."""
    pair = (row, reach.rows[s])
    if isinstance(supply, Spot):
        return SPOT
    if reach.open_to.blocked.get(pair) == "region":
        return REGION
    holds = reach.open_to.useful_per_paid[*pair, month] > 0.0
    return GANG if reach.open_to.ratio[*pair, month] > 0.0 and not holds else ""


def _last_validated(workload: Workload, supply: Supply, gpu_model: str, on: date) -> date | None:
    """Return the last day of validation up to `on`, else the first one to come, None where there is none."""
    model = "" if isinstance(supply, SavingsPlan) else supply.gpu_model or gpu_model
    days = [v.validated_on for v in workload.validations or () if v.gpu_model == model and v.validated_on]
    past = [day for day in days if day <= on]
    return max(past) if past else min(days, default=None)
