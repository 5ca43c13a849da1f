"""Settle every supply: its capacity for the dispatch, then its money for what was used."""

from dataclasses import dataclass, field, replace

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.committed import Commitment, commitment_of, term_of
from planner.core.contracts import (
    committed_gpu_hours,
    settle_block,
    settle_contract,
    usable_window_of,
    window_of,
)
from planner.core.dispatch import Dispatch, dispatch, given_dispatch
from planner.core.eligibility import Eligibility
from planner.core.lines import Balance, Line, LineMaker
from planner.core.load_duration import build_blocks
from planner.core.market import market_of
from planner.core.money import Factors
from planner.core.owned import gpus_available, load_usd_per_gpu_hour, running_lines
from planner.core.owned_capital import capital_of
from planner.core.plan import Block, Contract, OnDemand, Owned, Plan, Reserved, SavingsPlan, Spot, Supply
from planner.core.projects import project_lines
from planner.core.ranges import refuse
from planner.core.savings import (
    Covered,
    cover,
    rates_by_discount,
    settle_savings_plan,
    term_of_plan,
)
from planner.core.setting import Grid, Setting, setting_of
from planner.core.slots import Demand, Slots, build_demand


@dataclass(frozen=True)
class Given:
    """A dispatch that is taken as it is, such as an optimizer's.

    `demand` is the grid it was worked out on, `paid_gpus` by (workload, supply, slot), `carried_hours` the
    useful GPU-hours put off into the next month by (workload, month).
    """

    demand: Demand
    paid_gpus: FloatArray
    carried_hours: FloatArray


@dataclass(frozen=True)
class Settled:
    """One supply's money and capacity by month.

    `worth_usd` is what selling would bring at the end of each month, `loan_owed_usd` what would then be
    paid off. `fixed_present_value_usd`, `installed_gpu_hours` and `load_usd_per_gpu_hour` feed the
    break-even utilization of capacity that is paid for whether used or not; `used_gpu_hours` is what ran.
    """

    supply: Supply
    lines: tuple[Line, ...]
    installed_gpu_hours: FloatArray
    available_gpu_hours: FloatArray
    used_gpu_hours: FloatArray
    balances: tuple[Balance, ...] = ()
    worth_usd: FloatArray | None = None
    loan_owed_usd: FloatArray | None = None
    fixed_present_value_usd: float = 0.0
    load_usd_per_gpu_hour: float = 0.0
    off_total: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Ledger:
    """A plan with its calendar, its dispatch and every supply settled, in the order of the plan."""

    setting: Setting
    demand: Demand
    open_to: Eligibility
    served: Dispatch
    supplies: tuple[Settled, ...]
    projects: tuple[Line, ...]

    @property
    def plan(self) -> Plan:
        return self.setting.plan

    @property
    def horizon(self) -> Horizon:
        return self.setting.horizon

    @property
    def hours(self) -> FloatArray:
        return self.setting.hours

    @property
    def factors(self) -> Factors:
        return self.setting.factors

    @property
    def slots(self) -> Slots:
        return self.demand.slots

    def lines(self) -> list[Line]:
        """Return every line of money, projects last."""
        return [*(line for settled in self.supplies for line in settled.lines), *self.projects]


def settle(plan: Plan, grid: Grid, given: Given | None = None) -> Ledger:
    """Dispatch the demand of a plan, or take a dispatch as given, and work out the money of every supply."""
    setting = setting_of(plan, grid)
    demand = demand_on(setting, grid) if given is None else given.demand
    market, open_to = market_of(setting, demand.slots)
    if given is None:
        served = dispatch(demand, setting.hours, plan.workloads, market)
    else:
        _check_given(given, plan)
        served = given_dispatch(demand, given.paid_gpus, market, given.carried_hours, plan.months)
    cashier = _Cashier(setting, demand.slots, served, market.usd_data)
    settled = tuple(cashier.settled(row) for row in range(len(plan.supplies)))
    return Ledger(setting, demand, open_to, served, settled, project_lines(setting))


def demand_on(setting: Setting, grid: Grid) -> Demand:
    """Return the demand of a plan on the hours that a grid chooses."""
    workloads, cuts = setting.plan.workloads, setting.cut_hours()
    if grid.blocks_per_month is not None:
        return build_blocks(setting.horizon, workloads, cuts, grid.blocks_per_month)
    return build_demand(setting.horizon, workloads, cuts, grid.each_hour)


def _check_given(given: Given, plan: Plan) -> None:
    right = (len(plan.workloads), len(plan.supplies), len(given.demand.slots.month))
    if given.paid_gpus.shape != right:
        refuse(
            "paid_gpus", f"of shape {given.paid_gpus.shape}", f"(workloads, supplies, slots), here {right}"
        )
    if given.carried_hours.shape != (len(plan.workloads), plan.months):
        shape = (len(plan.workloads), plan.months)
        refuse("carried_hours", f"of shape {given.carried_hours.shape}", f"(workloads, months), here {shape}")


class _Cashier:
    """Works out the money of each supply for the GPU-hours it gave."""

    def __init__(self, setting: Setting, slots: Slots, served: Dispatch, usd_data: FloatArray) -> None:
        self.setting = setting
        self.plan = setting.plan
        self.slots = slots
        self.served = served
        self.usd_data = usd_data
        self.covered = self._cover()

    def _cover(self) -> Covered:
        plans, gpus = self.setting.savings_plans(), self.served.paid_gpus
        horizon, prices = self.setting.horizon, self.setting.prices
        return cover(plans, self.plan.supplies, gpus, self.slots, horizon, prices)

    def _by_month(self, per_hour: FloatArray) -> FloatArray:
        weights = per_hour * self.slots.hours
        return np.bincount(self.slots.month, weights=weights, minlength=self.plan.months).astype(np.float64)

    def settled(self, row: int) -> Settled:
        """Return one supply's money, moved data included; out of service it is paid for and not available."""
        settled, up = self._settled(row), self.setting.up.get(self.plan.supplies[row].name)
        if up is None:
            return settled
        return replace(settled, available_gpu_hours=settled.available_gpu_hours * up)

    def _settled(self, row: int) -> Settled:
        supply, used = self.plan.supplies[row], self.served.paid_hours[row]
        make = LineMaker(supply.name, supply.kind, self.setting.factors)
        data = make.running("data_moved", self._data_usd(row))
        match supply:
            case Owned():
                return self._owned(supply, used, make, data)
            case Reserved():
                held = supply.gpus * term_of(supply, self.setting.horizon).hours_by_month(
                    self.setting.horizon
                )
                term = term_of(supply, self.setting.horizon)
                money = commitment_of(supply, term, self.setting.horizon, used, make)
                return self._committed(supply, money, held, held, used, data)
            case Block():
                return self._block(supply, used, make, data)
            case Contract():
                held = committed_gpu_hours(supply, self.setting.horizon)
                money = settle_contract(supply, self.setting.horizon, used, make)
                return self._committed(supply, money, held, held, used, data)
            case SavingsPlan():
                return self._savings_plan(supply, make)
            case OnDemand() | Spot():
                return self._metered(row, supply, used, make, data)

    def _data_usd(self, row: int) -> FloatArray:
        """Return what moving data costs by month: nothing where nothing is served, unknown where unknown."""
        useful = self.served.useful_by_class[:, row, :]
        usd = np.where(useful > 0.0, useful * self.usd_data[:, row, None], 0.0)
        return np.asarray(usd.sum(axis=0))

    def _committed(
        self,
        supply: Supply,
        money: Commitment,
        installed: FloatArray,
        available: FloatArray,
        used: FloatArray,
        *more: Line,
    ) -> Settled:
        return Settled(
            supply,
            (*money.lines, *more),
            installed_gpu_hours=installed,
            available_gpu_hours=available,
            used_gpu_hours=used,
            balances=(money.balance,),
            worth_usd=money.salvage_usd,
            fixed_present_value_usd=money.fixed_present_value_usd,
            off_total={
                "prepaid_remainder_usd": money.prepaid_remainder_usd,
                "recurring_still_owed_usd": money.still_owed_usd,
            },
        )

    def _block(self, block: Block, used: FloatArray, make: LineMaker, data: Line) -> Settled:
        money = settle_block(block, self.setting.horizon, used, make)
        held = block.gpus * window_of(block, self.setting.horizon).hours_by_month(self.setting.horizon)
        usable = usable_window_of(block, self.setting.horizon).hours_by_month(self.setting.horizon)
        return self._committed(block, money, held, block.gpus * usable, used, data)

    def _savings_plan(self, plan: SavingsPlan, make: LineMaker) -> Settled:
        place = [each.name for each in self.setting.savings_plans()].index(plan.name)
        used_usd = self._by_month(self.covered.usd_per_hour[place])
        money = settle_savings_plan(plan, self.setting.horizon, used_usd, make)
        # in GPUs of what it covers first; with several rates this is a way of speaking
        usd = rate_of_first(plan, self.plan.supplies, self.setting.prices)
        held = (
            plan.usd_per_hour
            / usd
            * term_of_plan(plan, self.setting.horizon).hours_by_month(self.setting.horizon)
        )
        return self._committed(plan, money, held, held, used_usd / usd)

    def _metered(
        self, row: int, supply: OnDemand | Spot, used: FloatArray, make: LineMaker, data: Line
    ) -> Settled:
        billed = used - self._by_month(self.covered.gpus[row])
        # what a savings plan covers in full leaves the rounding of sums
        billed = np.where(billed <= 1e-9 * used, 0.0, billed)
        quota = self.setting.quotas[supply.name]
        return Settled(
            supply,
            (make.running("usage", billed * self.setting.prices[supply.name]), data),
            installed_gpu_hours=np.zeros(self.plan.months),
            available_gpu_hours=self.setting.hours * np.where(np.isinf(quota), np.nan, quota),
            used_gpu_hours=used,
        )

    def _owned(self, owned: Owned, used: FloatArray, make: LineMaker, data: Line) -> Settled:
        setting, life = self.setting, self.setting.lives[owned.name]
        capital = capital_of(owned, life, setting.month, make)
        staff = setting.staff[owned.name]
        running = running_lines(owned, life, setting.month, setting.hours, used, staff, make)
        lines = (*capital.lines, *running, data)
        load = load_usd_per_gpu_hour(owned)
        varying = float((used * load * setting.factors.end).sum()) + float(data.present_value_usd.sum())
        serving = life.is_serving(setting.month)
        lit = serving * setting.lit[owned.name]
        return Settled(
            owned,
            lines,
            installed_gpu_hours=owned.servers * owned.gpus_per_server * serving * setting.hours,
            available_gpu_hours=gpus_available(owned, lit) * setting.hours,
            used_gpu_hours=used,
            balances=capital.balances,
            worth_usd=capital.resale_usd,
            loan_owed_usd=capital.loan_owed_usd,
            fixed_present_value_usd=sum(float(x.present_value_usd.sum()) for x in lines) - varying,
            load_usd_per_gpu_hour=load,
            off_total={"hardware_still_to_pay_usd": capital.still_to_pay_usd},
        )


def rate_of_first(plan: SavingsPlan, supplies: tuple[Supply, ...], prices: dict[str, FloatArray]) -> float:
    """Return the plan price of what a savings plan covers first in month 1."""
    return rates_by_discount(plan, supplies, prices, 0)[0][1]
