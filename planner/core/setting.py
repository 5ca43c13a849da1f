"""What all supplies of a plan share: calendar, discount factors, lives of servers, power, prices, quotas."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, Horizon
from planner.core.committed import term_of
from planner.core.contracts import cut_hours_of_block, stages_of
from planner.core.disruptions import price_factors, up_by_month
from planner.core.metered import price_path, quota_by_month
from planner.core.money import Factors, discount_factors
from planner.core.owned import Life, life_of, staff_usd_by_supply
from planner.core.plan import Block, Contract, OnDemand, Owned, Plan, Reserved, SavingsPlan, Spot
from planner.core.power import lit_shares
from planner.core.savings import term_of_plan


@dataclass(frozen=True)
class Grid:
    """On which hours a plan is worked out.

    `hours_per_month` None is the real calendar, 730 the flat one of published examples. `each_hour` takes
    every hour in its order; `blocks_per_month` takes load-duration blocks; else the coarsest exact grid.
    """

    hours_per_month: int | None = None
    each_hour: bool = False
    blocks_per_month: int | None = None


@dataclass(frozen=True)
class Setting:
    """The plan's frame. The mappings are by the name of the supply."""

    plan: Plan
    horizon: Horizon
    month: FloatArray
    hours: FloatArray
    factors: Factors
    lives: dict[str, Life]
    lit: dict[str, FloatArray]  # share of servers that have power, by month
    staff: dict[str, FloatArray]
    prices: dict[str, FloatArray]  # of metered supplies, by month
    quotas: dict[str, FloatArray]  # of metered supplies, by month, infinite where no limit is known
    up: dict[str, FloatArray]  # of supplies that an outage hits: 1 in months in which they give something

    def cut_hours(self) -> Sequence[int]:
        """Return the hours at which a commitment starts, steps or ends."""
        cuts: list[int] = []
        for supply in self.plan.supplies:
            match supply:
                case Reserved():
                    term = term_of(supply, self.horizon)
                    cuts += [term.first_hour, term.end_hour]
                case Block():
                    cuts += cut_hours_of_block(supply, self.horizon)
                case Contract():
                    for stage in stages_of(supply, self.horizon):
                        cuts += [stage.term.first_hour, stage.term.end_hour]
                case SavingsPlan():
                    term = term_of_plan(supply, self.horizon)
                    cuts += [term.first_hour, term.end_hour]
        return cuts

    def savings_plans(self) -> list[SavingsPlan]:
        """Return the savings plans in the order of the plan."""
        return [supply for supply in self.plan.supplies if isinstance(supply, SavingsPlan)]


def setting_of(plan: Plan, grid: Grid) -> Setting:
    """Return the frame of a plan."""
    horizon = Horizon(plan.start, plan.months, grid.hours_per_month)
    month = np.arange(plan.months, dtype=np.float64)
    fleet = [supply for supply in plan.supplies if isinstance(supply, Owned)]
    lives = [life_of(owned, horizon) for owned in fleet]
    names = [owned.name for owned in fleet]
    metered = [supply for supply in plan.supplies if isinstance(supply, OnDemand | Spot)]
    path, up = rental_path(plan, horizon), up_by_month(plan, horizon)
    return Setting(
        plan=plan,
        horizon=horizon,
        month=month,
        hours=horizon.hours(),
        factors=discount_factors(plan.discount_rate_per_year, plan.months),
        lives=dict(zip(names, lives, strict=True)),
        lit=dict(zip(names, lit_shares(fleet, lives, plan.power_limits, horizon), strict=True)),
        staff=dict(zip(names, staff_usd_by_supply(fleet, lives, month), strict=True)),
        prices={
            each.name: path * (float("nan") if each.usd_per_gpu_hour is None else each.usd_per_gpu_hour)
            for each in metered
        },
        quotas={
            # no limit known, and out of service: nothing
            each.name: np.where(up.get(each.name, 1.0) == 0.0, 0.0, quota_by_month(each, horizon))
            for each in metered
        },
        up=up,
    )


def rental_path(plan: Plan, horizon: Horizon) -> FloatArray:
    """Return what rental prices are, by month, as multiples of their value in month 1 before any step."""
    steps = price_factors(plan.price_steps, horizon)
    return price_path(1.0, plan.price_drift_per_month, plan.months) * steps
