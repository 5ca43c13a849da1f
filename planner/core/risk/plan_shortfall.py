"""GPU-hours of critical work that the supplies of a plan, each up for a share of time, will lack."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.evaluate import REAL_MONTHS
from planner.core.plan import Outcome
from planner.core.ranges import AT_LEAST_0, SHARE, optional, refuse, require, require_fields, takes
from planner.core.risk.of_plan import CriticalWork
from planner.core.risk.reach import Reach, reach_of
from planner.core.risk.shortfall import expected_shortfall
from planner.core.setting import Grid


@dataclass(frozen=True)
class MonthShortfall:
    """The GPU-hours that a month is expected to lack; None where a capacity or availability is unknown."""

    month: date
    gpu_hours: float | None
    most_gpu_hours: float

    def __post_init__(self) -> None:
        require_fields(self, gpu_hours=optional(AT_LEAST_0), most_gpu_hours=AT_LEAST_0)


@dataclass(frozen=True)
class PlanShortfall:
    """Expected shortfall of the critical work; None where unknown, and then at most `most_gpu_hours`."""

    work: CriticalWork
    gpu_hours: float | None
    most_gpu_hours: float
    months: tuple[MonthShortfall, ...]
    unknown: tuple[str, ...]


@takes(common_cause_weight=SHARE)
def shortfall_of_plan(
    outcome: Outcome,
    availabilities: Mapping[str, float],
    common_cause_weight: float,
    grid: Grid = REAL_MONTHS,
) -> PlanShortfall:
    """Return the GPU-hours of critical work that supplies are expected to lack, over the months of a plan.

    sum over months and states of P(state) * max(0, need - capacity(state)) * hours, states by the mixture of
    a common cause and independence. `availabilities` by name of the supply, shares of time; a supply that is
    not among them, or whose quota is unknown, counts as none, and the answer is "at most". A source gives
    capacity * portability, and no more than the work that may use it. Spot counts here, up to its quota.
    Raises ValueError for a name that no supply has, and for more than 12 sources. Source: as
    `expected_shortfall`.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> outcome = evaluate(plan_to_decide())
    >>> found = shortfall_of_plan(outcome, {"On demand": 0.9}, common_cause_weight=0.3)
    >>> round(found.gpu_hours / outcome.demand_gpu_hours, 9)
    0.1
    """
    reach = reach_of(outcome, grid)
    names = [supply.name for supply in reach.supplies]
    for name, share in availabilities.items():
        require(SHARE, **{f"availabilities of {name}": share})
        if name not in names:
            refuse("availabilities", repr(name), "names of supplies of the plan")
    months, unknown = [], set()
    for month, day in enumerate(reach.need.months):
        found, missing = _shortfall(reach, month, availabilities, common_cause_weight)
        months.append(MonthShortfall(day, *found))
        unknown |= missing if found[0] is None else set()
    amounts = [each.gpu_hours for each in months]
    known = [amount for amount in amounts if amount is not None]
    return PlanShortfall(
        work=reach.need.work,
        gpu_hours=sum(known) if len(known) == len(amounts) else None,
        most_gpu_hours=sum(each.most_gpu_hours for each in months),
        months=tuple(months),
        unknown=tuple(name for name in names if name in unknown),
    )


def _shortfall(
    reach: Reach, month: int, availabilities: Mapping[str, float], weight: float
) -> tuple[tuple[float | None, float], set[str]]:
    wanted = reach.need.gpus[:, month]
    need, hours = float(wanted.sum()), float(reach.need.hours[month])
    if need <= 0.0:
        return (0.0, 0.0), set()
    capacities: list[float | None] = []
    shares, names = [], []
    for s, supply in enumerate(reach.supplies):
        ported = reach.portability[:, s, month]
        ported_gpus = float(reach.capacity_gpus[s, month] * (wanted @ ported) / need)
        gives = min(ported_gpus, float(wanted @ (ported > 0.0)))
        if not (ported > 0.0).any() or gives == 0.0:
            continue
        is_known = supply.name in availabilities and not np.isnan(reach.capacity_gpus[s, month])
        capacities.append(gives if is_known else None)
        shares.append(availabilities.get(supply.name, 0.0))
        names.append(supply.name)
    if not names:
        return (need * hours, need * hours), set()
    found = expected_shortfall(need, capacities, shares, weight, hours)
    return (found.gpu_hours, found.most_gpu_hours), {names[place] for place in found.unknown}
