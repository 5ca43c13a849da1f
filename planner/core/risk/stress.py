"""Run stress cases: what a plan still serves, what it costs more, from when, and what then binds.

Work is compared, not hours: where a case makes the same work take more GPU-hours (a flaky node), what is done
of a workload is demand before * served / demand after, month by month.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.evaluate import REAL_MONTHS, evaluate
from planner.core.explain.parts import Explanation, Input, numbered, sum_of
from planner.core.explain.words import Words
from planner.core.metered import quota_by_month
from planner.core.plan import VIEWS, Gate, OnDemand, Outcome, Plan, SavingsPlan, Spot, View
from planner.core.ranges import takes
from planner.core.risk.flaky_node import FlakyNode
from planner.core.risk.stress_cases import (
    FROM_MONTH,
    MONTHS,
    Case,
    OrdersSlip,
    PricesRise,
    ProviderLost,
    QuotasCut,
    RegionLost,
    SpotGone,
    is_on_order,
)
from planner.core.setting import Grid

SAME_SHARE = 1e-9  # hours and money that differ by less, as a share, are the same


@dataclass(frozen=True)
class Share:
    """The share of the work that is done before and after; None where there is no such work."""

    before: float | None
    after: float | None


@dataclass(frozen=True)
class StressResult:
    """What one case does to a plan.

    Shares are of all work and of critical work (of all where none is critical: `all_counts`). `extra_usd` is
    the stressed total less that before, None where one is unknown. Hours by workload are of the stressed
    plan: served + unmet = demand. `first_month_unserved` is the first in which more work stays undone;
    `first_month_dearer` the first by whose end more cash has been paid, None also where cash is unknown.
    `gate` is that of the month with the most added unmet work, None where none is added. `explanations` hold
    the share and, last, the extra cash.
    """

    kind: str
    title: str
    sentence: str
    all_work: Share
    critical_work: Share
    all_counts: bool
    extra_usd: dict[View, float | None]
    first_month_unserved: date | None
    first_month_dearer: date | None
    demand_gpu_hours: dict[str, float]
    served_gpu_hours: dict[str, float]
    unmet_gpu_hours: dict[str, float]
    gate: Gate | None
    explanations: tuple[Explanation, ...]

    @property
    def first_month(self) -> date | None:
        """Return the first month in which anything is unserved or dearer."""
        found = [day for day in (self.first_month_unserved, self.first_month_dearer) if day is not None]
        return min(found, default=None)


@takes(from_month=FROM_MONTH, months=MONTHS)
def all_cases(plan: Plan, from_month: int = 1, months: int | None = None) -> tuple[Case, ...]:
    """Return the cases that apply to a plan: no spot case without spot, no slip without servers on order.

    Losses last for `months` (None: for good) from `from_month`, the first being 1; so do quotas and prices
    begin. Quotas are halved where one is known; prices +30 %; orders slip by 12 weeks.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> [case.title for case in all_cases(plan_to_decide())]
    ['Provider A lost', 'Quotas halved', 'Rental prices +30%']
    """
    places = [s for s in plan.supplies if not isinstance(s, SavingsPlan)]
    metered = [s for s in places if isinstance(s, OnDemand | Spot)]
    horizon = Horizon(plan.start, plan.months)
    cases: list[Case] = []
    cases += [RegionLost(r, from_month, months) for r in dict.fromkeys(s.region for s in places) if r]
    cases += [ProviderLost(p, from_month, months) for p in dict.fromkeys(s.provider for s in places) if p]
    if any(is_on_order(supply, plan) for supply in places):
        cases.append(OrdersSlip())
    if any(isinstance(supply, Spot) for supply in metered):
        cases.append(SpotGone(from_month, months))
    if any(np.isfinite(quota_by_month(supply, horizon)[from_month - 1 :]).any() for supply in metered):
        cases.append(QuotasCut(from_month=from_month))
    if metered:
        cases.append(PricesRise(from_month=from_month))
    flaky = FlakyNode(from_month=from_month)
    if any(flaky.slowdown(workload) is not None for workload in plan.workloads):
        cases.append(flaky)
    return tuple(cases)


def run_all(plan: Plan, cases: Sequence[Case] | None = None, grid: Grid = REAL_MONTHS) -> list[StressResult]:
    """Return the result of each case, of all that apply where none are given; the plan is evaluated once.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> [round(each.extra_usd["cash_usd"]) for each in run_all(plan_to_decide(), [PricesRise(share=0.0)])]
    [0]
    """
    base = evaluate(plan, grid)
    return [_result(base, case, grid) for case in (all_cases(plan) if cases is None else cases)]


def run_stress(plan: Plan, case: Case, grid: Grid = REAL_MONTHS) -> StressResult:
    """Return what one case does to a plan: share of work done, extra money, first month, what binds.

    extra = total of the stressed plan - total of the plan, by view. share = sum over workloads and months of
    demand * served stressed / demand stressed, / sum of demand. Raises ValueError for absurd plans.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> found = run_stress(plan_to_decide(), PricesRise())
    >>> found.all_work.after, found.first_month == plan_to_decide().start
    (1.0, True)
    """
    return _result(evaluate(plan, grid), case, grid)


def _result(base: Outcome, case: Case, grid: Grid) -> StressResult:
    plan = base.plan
    hit = evaluate(case.applied_to(plan), grid)
    work = _Work(base, hit)
    critical = [w for w, workload in enumerate(plan.workloads) if workload.critical]
    counted = critical or list(range(len(plan.workloads)))
    all_work, critical_work = work.share(list(range(len(plan.workloads)))), work.share(counted)
    names = [workload.name for workload in plan.workloads]
    extra = {view: _difference(hit.total[view], base.total[view]) for view in VIEWS}
    worst = work.worst_month()
    return StressResult(
        kind=case.kind,
        title=case.title,
        sentence=f"{case.sentence(plan)} {_outcome_words(plan, all_work, extra['cash_usd'], work)}",
        all_work=all_work,
        critical_work=critical_work,
        all_counts=not critical,
        extra_usd=extra,
        first_month_unserved=work.first_month_unserved(),
        first_month_dearer=_first_dearer(base, hit),
        demand_gpu_hours=dict(zip(names, work.demand.sum(axis=1).tolist(), strict=True)),
        served_gpu_hours=dict(zip(names, work.served.sum(axis=1).tolist(), strict=True)),
        unmet_gpu_hours=dict(zip(names, work.unmet.sum(axis=1).tolist(), strict=True)),
        gate=None if worst is None else hit.gates[worst],
        explanations=(
            _share_explained(case.title, names, work, all_work),
            _money_explained(case.title, base, hit, extra["cash_usd"]),
        ),
    )


class _Work:
    """Hours before and after by (workload, month); `done` is work, in GPU-hours of the plan before."""

    def __init__(self, base: Outcome, hit: Outcome) -> None:
        self.days = tuple(gate.month for gate in base.gates)
        self.served, self.unmet = hours_by_workload(hit)
        self.demand = self.served + self.unmet
        served, unmet = hours_by_workload(base)
        self.wanted = served + unmet
        self.done_before = served
        share = np.divide(self.served, self.demand, out=np.ones_like(self.demand), where=self.demand > 0.0)
        self.done = share * self.wanted

    def share(self, rows: list[int]) -> Share:
        wanted = float(self.wanted[rows].sum())
        if wanted <= 0.0:
            return Share(None, None)
        done = (float(each[rows].sum()) for each in (self.done_before, self.done))
        return Share(*(min(each / wanted, 1.0) for each in done))

    @property
    def lost(self) -> FloatArray:
        """Return the work no longer done, by month; below 0 where more is."""
        lost = (self.done_before - self.done).sum(axis=0)
        return np.where(np.abs(lost) <= SAME_SHARE * self.wanted.sum(axis=0), 0.0, lost)

    def first_month_unserved(self) -> date | None:
        found = np.flatnonzero(self.lost > 0.0)
        return self.days[int(found[0])] if len(found) else None

    def worst_month(self) -> int | None:
        lost = self.lost
        return int(np.argmax(lost)) if (lost > 0.0).any() else None


def hours_by_workload(outcome: Outcome) -> tuple[FloatArray, FloatArray]:
    """Return useful GPU-hours served, and unmet, by (workload, month) of an outcome.

    >>> from planner.core.optimize.examples import plan_to_decide
    >>> outcome = evaluate(plan_to_decide())
    >>> served, unmet = hours_by_workload(outcome)
    >>> abs(float((served + unmet).sum()) - outcome.demand_gpu_hours) < 1e-6
    True
    """
    plan = outcome.plan
    rows = {workload.name: row for row, workload in enumerate(plan.workloads)}
    served, unmet = (np.zeros((len(rows), plan.months)) for _ in range(2))
    frame = outcome.by_class
    row = frame["workload"].map(rows).to_numpy(dtype=np.int64)
    month = np.tile(np.arange(plan.months), len(frame) // plan.months)
    np.add.at(served, (row, month), frame["useful_gpu_hours"].to_numpy(dtype=np.float64))
    np.add.at(unmet, (row, month), frame["unmet_gpu_hours"].to_numpy(dtype=np.float64))
    return served, unmet


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _first_dearer(base: Outcome, hit: Outcome) -> date | None:
    before, after = (each.cumulative["cash_usd"].to_numpy(dtype=float) for each in (base, hit))
    # an unknown amount compares as not dearer
    found = np.flatnonzero(after - before > SAME_SHARE * np.abs(before))
    return base.gates[int(found[0])].month if len(found) else None


def _outcome_words(plan: Plan, share: Share, cash_usd: float | None, work: _Work) -> str:
    words = Words(plan.currency, plan.months)
    money = f"Cash changes by {words.usd(cash_usd)}"
    if share.before is None or share.after is None:
        return f"There is no demand. {money}."
    if not (work.lost > 0.0).any():
        return f"No more work stays undone. {money}."
    less = f"Work done falls from {share.before:.1%} to {share.after:.1%} of demand"
    return f"{less}. {money}; as less work is done, the two totals cannot be called cheaper or dearer."


def _share_explained(title: str, names: Sequence[str], work: _Work, share: Share) -> Explanation:
    done, wanted = work.done.sum(axis=1).tolist(), work.wanted.sum(axis=1).tolist()
    parts = numbered(
        ((f"{name}, work done", amount, _hours(amount)) for name, amount in zip(names, done, strict=True)),
        "w",
    )
    of = numbered(
        ((f"{name}, demand", amount, _hours(amount)) for name, amount in zip(names, wanted, strict=True)), "d"
    )
    answer = "there is no demand" if share.after is None else f"{share.after:.1%}"
    return Explanation(
        f"{title}: share of the work that is done",
        "Work done over the plan divided by demand, in GPU-hours of the plan before.",
        f"({_sum_words(parts)}) / ({_sum_words(of)}) = {answer}",
        (*parts, *of),
        share.after,
        "share",
        f"min(per({sum_of(parts)}, {sum_of(of)}), 1)",
    )


def _money_explained(title: str, base: Outcome, hit: Outcome, extra: float | None) -> Explanation:
    words = Words(base.plan.currency, base.plan.months, base.gaps)
    after, before = (each.total["cash_usd"] for each in (hit, base))
    return Explanation(
        f"{title}: extra cash",
        "Cash of the plan under stress less cash of the plan.",
        f"{words.usd(after)} less {words.usd(before)} = {words.usd_or_gap(extra)}",
        (
            Input("Cash under stress", after, words.usd(after), symbol="s1"),
            Input("Cash", before, words.usd(before), symbol="s2"),
        ),
        extra,
        base.plan.currency,
        "s1 - s2",
    )


def _hours(amount: float) -> str:
    return f"{amount:,.0f} GPU-hours"


def _sum_words(parts: Sequence[Input]) -> str:
    return " + ".join(part.text for part in parts) or "0"
