"""Simulate plans: the same draws for all of them, one total per draw and view.

Per plan: tables of use at a few demands and delivery states (use.py), fixed money per state (fixed.py), then
a walk over the months in which every draw is one element of an array. 10,000 draws over 60 months take a
fraction of a second. Exact where nothing is uncertain: then each month has one node, the plan's own demand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.check import check_plan
from planner.core.gaps import gaps_of
from planner.core.ledger import Ledger, demand_on
from planner.core.plan import VIEWS, Gap, Plan, View
from planner.core.ranges import refuse
from planner.core.setting import Grid, Setting, rental_path, setting_of
from planner.core.uncertainty.draws import Draws, Paths, paths_of
from planner.core.uncertainty.factors import Uncertainty
from planner.core.uncertainty.fixed import (
    FOREIGN,
    HOME,
    PLAIN,
    POWER,
    SOLD,
    Fixed,
    Known,
    fixed_money,
    nothing_used,
)
from planner.core.uncertainty.states import delivery_states
from planner.core.uncertainty.use import (
    LOAD_ENERGY,
    ON_DEMAND,
    ON_DEMAND_FOREIGN,
    OTHER,
    SPOT,
    SPOT_FOREIGN,
    UNMET,
    USEFUL,
    Nodes,
    demand_nodes,
    use_of,
)

# a study of thousands of futures takes a month in twelve steps
STUDY_GRID = Grid(blocks_per_month=12)
CASH, AMORTIZED, PRESENT = (VIEWS.index(view) for view in ("cash_usd", "amortized_usd", "present_value_usd"))


@dataclass(frozen=True)
class Simulated:
    """One plan in every draw.

    `total` by view and draw; `cash_usd_by_month` by (month, draw); hours by draw. Where a price is missing
    the totals are NaN, and `gaps` name it.
    """

    plan: Plan
    total: dict[View, FloatArray]
    cash_usd_by_month: FloatArray
    useful_gpu_hours: FloatArray
    unmet_gpu_hours: FloatArray
    demand_gpu_hours: FloatArray
    gaps: tuple[Gap, ...]


def simulate(
    plans: Sequence[Plan], draws: Draws, uncertainty: Uncertainty, grid: Grid = STUDY_GRID
) -> tuple[Simulated, ...]:
    """Return every plan in every draw, with common random numbers.

    Raises ValueError for absurd plans, for a horizon longer than the draws' paths, and for foreign supplies
    that no plan has.
    """
    names = {supply.name for plan in plans for supply in plan.supplies}
    for name in uncertainty.foreign:
        if name not in names:
            refuse("foreign", repr(name), "the name of a supply of one of the plans")
    for plan in plans:
        check_plan(plan)
        if plan.months > len(draws.walk):
            refuse("months", plan.months, f"at most the {len(draws.walk)} months of the draws")
    worlds = _Worlds(draws, uncertainty)
    return tuple(_simulated(plan, worlds, uncertainty, grid) for plan in plans)


class _Worlds:
    """The paths of the draws and the demands to dispatch at, made once for plans of one price path."""

    def __init__(self, draws: Draws, uncertainty: Uncertainty) -> None:
        self.draws = draws
        self.uncertainty = uncertainty
        self.made: dict[tuple[float, ...], tuple[Paths, Nodes]] = {}
        self.known: Known = {}

    def of(self, setting: Setting) -> tuple[Paths, Nodes]:
        """Return the paths of a plan, and the multiples of its demand."""
        path = rental_path(setting.plan, setting.horizon)
        key = tuple(path.tolist())
        if key not in self.made:
            paths = paths_of(self.draws, self.uncertainty, path)
            self.made[key] = (paths, demand_nodes(paths.demand))
        return self.made[key]


def _simulated(plan: Plan, worlds: _Worlds, uncertainty: Uncertainty, grid: Grid) -> Simulated:
    setting = setting_of(plan, grid)
    base = nothing_used(plan, grid, demand_on(setting, grid))
    paths, nodes = worlds.of(setting)
    states = delivery_states(plan, base.horizon, paths.lead_time)
    foreign = frozenset(uncertainty.foreign)
    use = use_of(base, states.plans, nodes, foreign)
    walk = _Walk(base, paths, fixed_money(base, states.plans, foreign, worlds.known), states.of_draw)
    for month in range(plan.months):
        walk.add(month, use.at(month, states.of_draw))
    return walk.simulated()


class _Walk:
    """Adds the months up, all draws at a time."""

    def __init__(self, base: Ledger, paths: Paths, fixed: Fixed, states: IntArray) -> None:
        self.base = base
        self.paths = paths
        self.states = states
        self.has_foreign = bool(fixed.usd[:, FOREIGN].any())
        self.fixed = fixed.usd
        count = len(states)
        home = self.fixed[:, HOME].sum(axis=-1)
        self.total = np.array([self._scaled(home[view]) for view in range(len(VIEWS))])
        self.cash = np.zeros((base.plan.months, count))
        self.useful, self.unmet, self.demand = np.zeros(count), np.zeros(count), np.zeros(count)
        self.wanted = base.served.demand_hours.sum(axis=0)

    def add(self, month: int, use: list[FloatArray | None]) -> None:
        """Add one month: what use costs, then what is due whether used or not."""
        usd = self._used_usd(month, use)
        self.total[CASH] += usd
        self.total[AMORTIZED] += usd
        self.total[PRESENT] += usd * self.base.factors.end[month]
        self.cash[month] = self._scaled(self.fixed[CASH, HOME, :, :, month]) + usd
        if self.has_foreign:
            for view in range(len(VIEWS)):
                abroad = self._scaled(self.fixed[view, FOREIGN, :, :, month]) * self.paths.fx[month]
                self.total[view] += abroad
                if view == CASH:
                    self.cash[month] += abroad
        self.useful += _hours(use[USEFUL])
        self.unmet += _hours(use[UNMET])
        self.demand += self.wanted[month] * self.paths.demand[month]

    def _used_usd(self, month: int, use: list[FloatArray | None]) -> FloatArray:
        """Return what use costs in one month, by draw."""
        paths = self.paths
        price = paths.price[month]
        scales = (
            (ON_DEMAND, (price,)),
            (SPOT, (price, paths.spot)),
            (ON_DEMAND_FOREIGN, (price, paths.fx[month])),
            (SPOT_FOREIGN, (price, paths.spot, paths.fx[month])),
            (LOAD_ENERGY, (paths.power,)),
            (OTHER, ()),
        )
        usd = np.zeros(len(price))
        for place, factors in scales:
            column = use[place]
            if column is not None:
                for factor in factors:
                    column = column * factor
                usd += column
        return usd

    def _scaled(self, usd: FloatArray) -> FloatArray:
        """Return the money of each draw, scaled by its two factors; `usd` by (scale, state)."""
        of_draw = self._of_draw(usd[PLAIN])
        if usd[SOLD].any():
            of_draw = of_draw + self._of_draw(usd[SOLD]) * self.paths.residual
        if usd[POWER].any():
            of_draw = of_draw + self._of_draw(usd[POWER]) * self.paths.power
        return of_draw

    def _of_draw(self, by_state: FloatArray) -> FloatArray:
        return by_state.take(self.states)

    def simulated(self) -> Simulated:
        """Return what came of it."""
        return Simulated(
            plan=self.base.plan,
            total={view: self.total[place] for place, view in enumerate(VIEWS)},
            cash_usd_by_month=self.cash,
            useful_gpu_hours=self.useful,
            unmet_gpu_hours=self.unmet,
            demand_gpu_hours=self.demand,
            gaps=gaps_of(self.base.plan),
        )


def _hours(column: FloatArray | None) -> FloatArray | float:
    return 0.0 if column is None else column
