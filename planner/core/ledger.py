"""Settle every supply: its capacity for the dispatch, then its money for what was used."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.committed import Term, commitment_of, term_of
from planner.core.dispatch import Dispatch, Source, dispatch
from planner.core.lines import Balance, Line, LineMaker
from planner.core.metered import price_path, quota_in_whole_instances
from planner.core.money import Factors, discount_factors
from planner.core.owned import (
    Life,
    gpus_available,
    life_of,
    load_usd_per_gpu_hour,
    running_lines,
    staff_usd_by_supply,
)
from planner.core.owned_capital import capital_of
from planner.core.plan import OnDemand, Owned, Plan, Reserved, Spot, Supply
from planner.core.slots import Slots, build_slots


@dataclass(frozen=True)
class Settled:
    """One supply's money and capacity by month.

    `worth_usd` is what selling would bring at the end of each month, `loan_owed_usd` what would then be
    paid off. `fixed_present_value_usd`, `installed_gpu_hours` and `load_usd_per_gpu_hour` feed the
    break-even utilization of capacity that is paid for whether used or not.
    """

    supply: Supply
    lines: tuple[Line, ...]
    installed_gpu_hours: FloatArray
    available_gpu_hours: FloatArray
    balances: tuple[Balance, ...] = ()
    worth_usd: FloatArray | None = None
    loan_owed_usd: FloatArray | None = None
    fixed_present_value_usd: float = 0.0
    load_usd_per_gpu_hour: float = 0.0
    off_total: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Ledger:
    """A plan with its calendar, its dispatch and every supply settled, in the order of the plan."""

    plan: Plan
    horizon: Horizon
    hours: FloatArray
    factors: Factors
    slots: Slots
    served: Dispatch
    supplies: tuple[Settled, ...]


def settle(plan: Plan) -> Ledger:
    """Dispatch the demand of a plan and work out the money of every supply."""
    horizon = Horizon(plan.start, plan.months)
    books = _Books(plan, horizon)
    slots = build_slots(horizon, plan.workloads, books.cut_hours())
    sources = [books.source(row, slots) for row in range(len(plan.supplies))]
    served = dispatch(slots, books.hours, plan.workloads, sources)
    settled = tuple(books.settled(row, served.paid_hours[row]) for row in range(len(plan.supplies)))
    return Ledger(plan, horizon, books.hours, books.factors, slots, served, settled)


class _Books:
    """What all supplies of a plan share: calendar, discount factors, lives, terms, staff."""

    def __init__(self, plan: Plan, horizon: Horizon) -> None:
        self.plan = plan
        self.horizon = horizon
        self.month = np.arange(plan.months, dtype=np.float64)
        self.hours = horizon.hours()
        self.factors = discount_factors(plan.discount_rate_per_year, plan.months)
        fleet = [supply for supply in plan.supplies if isinstance(supply, Owned)]
        lives = [life_of(owned, horizon) for owned in fleet]
        self.lives = {owned.name: life for owned, life in zip(fleet, lives, strict=True)}
        self.staff = dict(
            zip([o.name for o in fleet], staff_usd_by_supply(fleet, lives, self.month), strict=True)
        )
        self.terms = {
            supply.name: term_of(supply, horizon) for supply in plan.supplies if isinstance(supply, Reserved)
        }

    def cut_hours(self) -> Sequence[int]:
        """Return the hours at which a commitment starts or ends."""
        return [hour for term in self.terms.values() for hour in (term.first_hour, term.end_hour)]

    def source(self, row: int, slots: Slots) -> Source:
        """Return a supply as the dispatch sees it."""
        supply = self.plan.supplies[row]
        free = np.zeros(self.plan.months)
        match supply:
            case Reserved():
                return Source("reserved", supply.gpus * self.terms[supply.name].is_active(slots), 1.0, free)
            case Owned():
                gpus = gpus_available(supply, self.lives[supply.name].is_serving(self.month))
                return Source("owned", gpus[slots.month], 1.0, free + load_usd_per_gpu_hour(supply))
            case OnDemand() | Spot():
                factor = supply.useful_work_factor if isinstance(supply, Spot) else 1.0
                quota = quota_in_whole_instances(supply)
                limit = None if quota is None else np.full(len(slots.month), quota)
                return Source(supply.kind, limit, factor, self._prices(supply) / factor)

    def _prices(self, supply: OnDemand | Spot) -> FloatArray:
        return price_path(supply.usd_per_gpu_hour, self.plan.price_drift_per_month, self.plan.months)

    def settled(self, row: int, paid_gpu_hours: FloatArray) -> Settled:
        """Return a supply's money for the GPU-hours it gave."""
        supply = self.plan.supplies[row]
        make = LineMaker(supply.name, supply.kind, self.factors)
        match supply:
            case Owned():
                return self._owned(supply, self.lives[supply.name], paid_gpu_hours, make)
            case Reserved():
                return self._reserved(supply, self.terms[supply.name], paid_gpu_hours, make)
            case OnDemand() | Spot():
                quota = quota_in_whole_instances(supply)
                return Settled(
                    supply,
                    (make.running("usage", paid_gpu_hours * self._prices(supply)),),
                    installed_gpu_hours=np.zeros(self.plan.months),
                    available_gpu_hours=self.hours * (float("nan") if quota is None else quota),
                )

    def _owned(self, owned: Owned, life: Life, used: FloatArray, make: LineMaker) -> Settled:
        capital = capital_of(owned, life, self.month, make)
        running = running_lines(owned, life, self.month, self.hours, used, self.staff[owned.name], make)
        lines = (*capital.lines, *running)
        load = load_usd_per_gpu_hour(owned)
        load_present_value = float((used * load * self.factors.end).sum())
        serving = life.is_serving(self.month)
        return Settled(
            owned,
            lines,
            installed_gpu_hours=owned.servers * owned.gpus_per_server * serving * self.hours,
            available_gpu_hours=gpus_available(owned, serving) * self.hours,
            balances=capital.balances,
            worth_usd=capital.resale_usd,
            loan_owed_usd=capital.loan_owed_usd,
            fixed_present_value_usd=sum(float(x.present_value_usd.sum()) for x in lines) - load_present_value,
            load_usd_per_gpu_hour=load,
            off_total={"hardware_still_to_pay_usd": capital.still_to_pay_usd},
        )

    def _reserved(self, reserved: Reserved, term: Term, used: FloatArray, make: LineMaker) -> Settled:
        commitment = commitment_of(reserved, term, self.horizon, used, make)
        committed = reserved.gpus * term.hours_by_month(self.horizon)
        return Settled(
            reserved,
            commitment.lines,
            installed_gpu_hours=committed,
            available_gpu_hours=committed,
            balances=(commitment.balance,),
            worth_usd=commitment.salvage_usd,
            fixed_present_value_usd=commitment.fixed_present_value_usd,
            off_total={
                "prepaid_remainder_usd": commitment.prepaid_remainder_usd,
                "recurring_still_owed_usd": commitment.still_owed_usd,
            },
        )
