"""How much of a plan's critical work hangs on one supplier, place, vendor or month of expiry.

Critical work is that of the workloads marked critical, served by the plan over its horizon. Where none is
marked all of them count, and the result says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

import numpy as np

from planner.core.calendar import FloatArray, Horizon, days_later
from planner.core.notes import window_of_supply
from planner.core.plan import Outcome, Owned, Plan, SavingsPlan, Supply
from planner.core.ranges import Range, takes
from planner.core.risk.concentration import SHOWN_YEAR, Concentration, Served, concentration
from planner.core.risk.stress import hours_by_workload

Key = Literal["provider", "region", "site", "vendor", "expiry_month"]
KEYS: tuple[Key, ...] = get_args(Key)
OWN = "own"  # the provider of servers bought that name none
_YEAR = Range(1900, 2200, whole=True)


@dataclass(frozen=True)
class CriticalWork:
    """The workloads that count, by name and by row of the plan; `all_counts`: none is marked critical."""

    names: tuple[str, ...]
    rows: tuple[int, ...]
    all_counts: bool

    @property
    def text(self) -> str:
        """Return in words what counts.

        >>> CriticalWork(("a", "b"), (0, 1), all_counts=True).text
        'no workload is marked critical, so all count: a, b'
        """
        names = ", ".join(self.names) or "none"
        return f"no workload is marked critical, so all count: {names}" if self.all_counts else names


def critical_work_of(plan: Plan) -> CriticalWork:
    """Return the workloads of a plan that are marked critical, all of them where none is.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> critical_work_of(plan_to_decide())
    CriticalWork(names=('serving',), rows=(0,), all_counts=False)
    """
    marked = [row for row, workload in enumerate(plan.workloads) if workload.critical]
    rows = tuple(marked or range(len(plan.workloads)))
    return CriticalWork(tuple(plan.workloads[row].name for row in rows), rows, not marked)


@dataclass(frozen=True)
class PlanConcentration:
    """The index of concentration by key, over `served_gpu_hours` of the work that counts."""

    work: CriticalWork
    served_gpu_hours: float
    by_key: dict[Key, Concentration]


@takes(guideline_year=_YEAR)
def concentration_of_plan(
    outcome: Outcome, vendor_of: Mapping[str, str], guideline_year: int = SHOWN_YEAR
) -> PlanConcentration:
    """Return the HHI of critical GPU-hours served, by provider, region, site, vendor and expiry month.

    HHI = sum of (share in percent)^2, effective number 10,000 / HHI, over useful GPU-hours of the horizon.
    `vendor_of` says who makes each GPU model. A site is a region of one provider. Servers bought that name no
    provider are "own". A provider, region or vendor that nobody named is unknown. Expiry months are those of
    terms, blocks and contracts; what is rented by the hour or owned has none and is left out. Raises
    ValueError for a year without a guideline. Source: as `herfindahl_index`.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> found = concentration_of_plan(evaluate(plan_to_decide()), {"H100": "NVIDIA"})
    >>> found.by_key["vendor"].hhi, found.by_key["vendor"].shares
    (10000.0, {'NVIDIA': 1.0})
    """
    work, plan = critical_work_of(outcome.plan), outcome.plan
    hours = _served_by_supply(outcome, work)
    rows = [
        Served(supply.name, _keys(supply, plan, vendor_of), hours[supply.name])
        for supply in plan.supplies
        if hours.get(supply.name, 0.0) > 0.0
    ]
    by_key = {key: concentration(rows, key, guideline_year) for key in KEYS}
    return PlanConcentration(work, sum(hours.values()), by_key)


def _served_by_supply(outcome: Outcome, work: CriticalWork) -> dict[str, float]:
    frame = outcome.by_class
    counted = frame[frame["workload"].isin(work.names) & (frame["supply"] != "")]
    sums = counted.groupby("supply")["useful_gpu_hours"].sum()
    return {str(name): float(hours) for name, hours in sums.items()}


def _keys(supply: Supply, plan: Plan, vendor_of: Mapping[str, str]) -> dict[str, str | None]:
    if isinstance(supply, SavingsPlan):
        return {}
    provider = supply.provider or (OWN if isinstance(supply, Owned) else "")
    keys: dict[str, str | None] = {
        "provider": provider or None,
        "region": supply.region or None,
        "site": f"{provider} {supply.region}" if provider and supply.region else None,
        "vendor": vendor_of.get(supply.gpu_model or plan.gpu_model),
    }
    window = window_of_supply(supply)
    if window is not None:
        # the last day of what is held, so that a term to the first of a month expires in the month before
        keys["expiry_month"] = f"{days_later(window[1], -1):%Y-%m}"
    return keys


@dataclass(frozen=True)
class Need:
    """What the work that counts wants, in GPUs on average, by (workload, month), in the order of `work`."""

    work: CriticalWork
    gpus: FloatArray
    months: tuple[date, ...]
    hours: FloatArray


def need_of(outcome: Outcome) -> Need:
    """Return (served + unmet) GPU-hours / hours of the month of the work that counts.

    >>> from planner.core.evaluate import evaluate
    >>> from planner.core.optimize.examples import plan_to_decide
    >>> need_of(evaluate(plan_to_decide())).gpus.shape
    (1, 12)
    """
    work = critical_work_of(outcome.plan)
    served, unmet = hours_by_workload(outcome)
    months = outcome.plan.months
    hours = outcome.capacity["hours"].to_numpy(dtype=np.float64)[:months]
    if not len(hours):  # a plan without supplies
        hours = Horizon(outcome.plan.start, months).hours()
    rows = list(work.rows)
    days = tuple(gate.month for gate in outcome.gates)
    return Need(work, (served[rows] + unmet[rows]) / hours, days, hours)
