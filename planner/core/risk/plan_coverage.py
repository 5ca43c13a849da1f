"""N-1 of a plan: what is still served of its critical work, month by month, when a supplier is lost.

A source's capacity is its available GPUs where owned, reserved, a block or a contract, and the quota of on
demand; without a known quota it is unknown. Spot is not counted on. Portability comes from the validations,
regions and gangs of each workload, as the plan itself is dispatched.
"""

from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from planner.core.calendar import FloatArray
from planner.core.evaluate import REAL_MONTHS
from planner.core.plan import Outcome, SavingsPlan, Spot, Supply
from planner.core.ranges import SHARE, require_one_of, takes
from planner.core.risk.coverage import Coverage, Source, coverage_if_lost, portability
from planner.core.risk.of_plan import CriticalWork
from planner.core.risk.reach import Reach, known, reach_of
from planner.core.setting import Grid

Lost = Literal["provider", "region", "supply"]
LOST: tuple[Lost, ...] = get_args(Lost)


@dataclass(frozen=True)
class MonthCoverage:
    """The coverage after each loss, the worst first, and the GPUs of critical work wanted on average."""

    month: date
    critical_gpus: float
    losses: tuple[Coverage, ...]


@dataclass(frozen=True)
class PlanCoverage:
    """N-1 coverage by month. `worst` is the least of all losses and months, the first of equals.

    None where the plan has no supply, or no critical work.
    """

    by: Lost
    work: CriticalWork
    months: tuple[MonthCoverage, ...]
    worst: Coverage | None
    worst_month: date | None

    @takes(required_share=SHARE)
    def meets(self, required_share: float) -> bool | None:
        """Return whether every loss leaves enough in every month; None where only what is unknown can tell.

        >>> PlanCoverage("provider", CriticalWork((), (), True), (), None, None).meets(0.7)
        True
        """
        found = [each.meets(required_share) for month in self.months for each in month.losses]
        if False in found:
            return False
        return None if None in found else True


def coverage_of_plan(outcome: Outcome, by: Lost = "provider", grid: Grid = REAL_MONTHS) -> PlanCoverage:
    """Return what is served of the critical work of each month after the loss of each provider.

    `by` may be a region or a single supply too; a supply that names no provider, or region, is lost alone.
    coverage = the less of min(1, sum over the others of capacity * portability / critical GPUs), with
    portability averaged over the critical work, and of the sum over workloads of min(its GPUs, sum of
    capacity * its portability) / critical GPUs: what only one of them may use does not serve the others.
    Critical GPUs are the month's average. Source: N-1 as in power systems (NERC TPL-001).

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> found = coverage_of_plan(evaluate(plan_to_decide()))
    >>> found.worst.lost, found.worst.share
    ('A', 0.0)
    """
    require_one_of(LOST, by=by)
    reach = reach_of(outcome, grid)
    months = tuple(_of_month(reach, by, month) for month in range(outcome.plan.months))
    found = [(each, one.month) for one in months if one.critical_gpus > 0.0 for each in one.losses]
    worst = min(found, key=lambda pair: (pair[0].share, pair[0].is_lower_bound), default=(None, None))
    return PlanCoverage(by, reach.need.work, months, *worst)


def _of_month(reach: Reach, by: Lost, month: int) -> MonthCoverage:
    wanted = reach.need.gpus[:, month]
    total = float(wanted.sum())
    sources = _sources(reach, by, month, wanted / total if total > 0.0 else np.zeros(len(wanted)))
    losses = []
    for lost in dict.fromkeys(source.domain for source in sources):
        together = coverage_if_lost(sources, lost, total)
        if total > 0.0:
            others = np.array([lost not in (source.domain, source.name) for source in sources])
            share = min(together.share, _share_one_by_one(reach, month, others))
            is_lower_bound = bool(together.unknown) and share < 1.0
            together = Coverage(lost, share, is_lower_bound, together.unknown)
        losses.append(together)
    losses.sort(key=lambda found: (found.share, found.is_lower_bound))
    return MonthCoverage(reach.need.months[month], total, tuple(losses))


def _sources(reach: Reach, by: Lost, month: int, weights: FloatArray) -> list[Source]:
    """Return the sources for work made up of the workloads by `weights`, which add up to 1."""
    found = []
    for s, supply in enumerate(reach.supplies):
        capacity = 0.0 if isinstance(supply, Spot) else known(reach.capacity_gpus[s, month])
        share = float(weights @ reach.portability[:, s, month])
        ported = portability(1.0, share) if share > 0.0 else 0.0
        found.append(Source(supply.name, capacity, ported, _domain(supply, by)))
    return found


def _share_one_by_one(reach: Reach, month: int, others: NDArray[np.bool_]) -> float:
    """Return sum over workloads of min(demand, capacity * portability of the others) / sum of demand."""
    is_spot = np.array([isinstance(supply, Spot) for supply in reach.supplies])
    capacity = np.where(others & ~is_spot, np.nan_to_num(reach.capacity_gpus[:, month]), 0.0)
    wanted = reach.need.gpus[:, month]
    served = np.minimum(wanted, reach.portability[:, :, month] @ capacity)
    return min(float(served.sum() / wanted.sum()), 1.0)


def is_lost_with(supply: Supply, lost: str, by: Lost) -> bool:
    """Return whether a supply is gone when a provider, a region or a supply of that name is lost."""
    return lost in (_domain(supply, by) or supply.name, supply.name)


def _domain(supply: Supply, by: Lost) -> str:
    if by == "supply" or isinstance(supply, SavingsPlan):
        return ""
    return supply.provider if by == "provider" else supply.region
