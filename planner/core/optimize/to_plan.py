"""A solution becomes a plan and its dispatch; evaluate() takes both as given and finds the same total."""

from dataclasses import dataclass, replace

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.evaluate import evaluate
from planner.core.ledger import Given
from planner.core.market import market_of
from planner.core.optimize.from_plan import Framed
from planner.core.optimize.probe import Bought, unit_of
from planner.core.optimize.solve import Solution
from planner.core.plan import Outcome, Plan, Supply
from planner.core.ranges import refuse
from planner.core.setting import Grid, setting_of


@dataclass(frozen=True)
class Planned:
    """A plan that holds what was bought, and the dispatch that goes with it."""

    plan: Plan
    grid: Grid
    given: Given

    def outcome(self) -> Outcome:
        """Return the plan as evaluated: in present value it costs `Solution.usd`."""
        return evaluate(self.plan, self.grid, self.given)


def to_plan(framed: Framed, solution: Solution) -> Planned:
    """Return the plan of a solution: every purchase a supply of its own, named by its month.

    GPUs of one choice are shared out among its purchases by what each holds. Raises ValueError without a
    solution, and for parts of a unit.

    >>> from planner.core.optimize.examples import plan_to_decide, servers_and_terms
    >>> from planner.core.optimize.from_plan import from_plan
    >>> from planner.core.optimize.solve import solve
    >>> framed = from_plan(plan_to_decide(), servers_and_terms())
    >>> best = solve(framed.problem)
    >>> total = to_plan(framed, best).outcome().total["present_value_usd"]
    >>> abs(total / best.usd - 1.0) < 1e-9
    True
    """
    if not solution.is_found:
        refuse("solution", solution.status, "one that was found")
    plan, count = framed.plan, len(framed.plan.supplies)
    supplies: list[Supply] = list(plan.supplies)
    used = [solution.gpus[:, s] for s in range(count)]
    for i, bought in enumerate(framed.bought):
        for supply, share in _purchases(framed, solution, bought, count + i):
            supplies.append(supply)
            used.append(solution.gpus[:, count + i] * share)
    rows = np.argsort(framed.order)  # work of the problem to workloads of the plan
    paid = np.array(used).reshape(len(supplies), len(rows), framed.problem.blocks).transpose(1, 0, 2)[rows]
    whole = replace(plan, supplies=tuple(supplies))
    given = Given(framed.demand, _within_capacity(whole, framed, paid), _carried(framed, solution)[rows])
    return Planned(whole, framed.grid, given)


def _within_capacity(plan: Plan, framed: Framed, paid: FloatArray) -> FloatArray:
    """Return the dispatch without what the solver's tolerance has above capacity."""
    market, _ = market_of(setting_of(plan, framed.grid), framed.demand.slots)
    used = paid.sum(axis=0)
    share = np.divide(market.gpus, used, out=np.ones_like(used), where=used > market.gpus)
    return np.asarray(paid * share[None, :, :])


def _purchases(
    framed: Framed, solution: Solution, bought: Bought, option: int
) -> list[tuple[Supply, FloatArray]]:
    """Return the purchases of a choice with the share of its GPUs that each holds, by block."""
    problem, units = framed.problem, solution.units[option]
    purchase = problem.options[option].purchase
    found: list[tuple[Supply, FloatArray]] = []
    if purchase is None:
        return found
    held = units @ purchase.gpus_per_unit
    for day, month in zip(bought.days, bought.month.tolist(), strict=True):
        if units[month] <= 0.0:
            continue
        if units[month] != round(units[month]):
            refuse(f"units of {bought.name}", float(units[month]), "whole numbers")
        mine = units[month] * purchase.gpus_per_unit[month]
        share = np.divide(mine, held, out=np.zeros_like(held), where=held > 0.0)
        found.append((unit_of(bought.choice, day, int(units[month])), share[problem.month]))
    return found


def _carried(framed: Framed, solution: Solution) -> FloatArray:
    urgent = np.zeros((len(framed.problem.urgent), framed.problem.months))
    return np.concatenate([urgent, solution.late_gpu_hours], axis=0)
