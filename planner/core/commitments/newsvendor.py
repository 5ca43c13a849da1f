"""The newsvendor model: how much to order when demand is uncertain. Commitments are the same problem.

Overage costs the committed price c, underage the on-demand price less the committed one, p - c. For demand
known as an hourly series see level.py.
Source: K. J. Arrow, T. Harris, J. Marschak, Econometrica 19 (1951) 250.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from planner.core.ranges import ABOVE_0, AT_LEAST_0, refuse, takes


@dataclass(frozen=True)
class Newsvendor:
    """The order that balances left-over units against lost sales, for normal demand floored at 0.

    `fractile` is 1 - cost / price, `continuous` the quantile of demand there (before the floor), `units` the
    best whole number; expected units sold, left over and lost, and money in the unit of the price.
    """

    fractile: float
    continuous: float
    units: int
    expected_sales: float
    expected_leftover: float
    expected_lost_sales: float
    expected_profit: float


@takes(unit_cost=ABOVE_0, unit_price=ABOVE_0, mean=AT_LEAST_0, deviation=ABOVE_0)
def newsvendor_normal(unit_cost: float, unit_price: float, mean: float, deviation: float) -> Newsvendor:
    """Return the best order at the (1 - cost/price) quantile of normal(mean, deviation) demand.

    E[max(0, D - K)] = s (phi(z) - z (1 - Phi(z))), z = (K - m) / s; demand below 0 counts as 0. For a
    commitment, cost and price are the committed and the on-demand price per GPU-hour and the profit is the
    saving against on-demand for all, per hour. Raises ValueError where the cost is not below the price.
    Source of the example: NewsvendorModel.jl documentation.

    >>> newsvendor_normal(5.0, 7.0, 50.0, 20.0).units
    39
    """
    if unit_cost >= unit_price:
        refuse("unit_cost", unit_cost, f"a number below unit_price, {unit_price:g}")
    fractile = 1.0 - unit_cost / unit_price
    continuous = NormalDist(mean, deviation).inv_cdf(fractile)

    def excess(level: float) -> float:
        return expected_excess(level, mean, deviation)

    def profit(units: int) -> float:
        return unit_price * (excess(0.0) - excess(units)) - unit_cost * units

    below = max(math.floor(continuous), 0)
    units = max((below + 1, below), key=profit)  # of equal profits the larger order
    sales = excess(0.0) - excess(units)
    return Newsvendor(fractile, continuous, units, sales, units - sales, excess(units), profit(units))


@takes(level=AT_LEAST_0, mean=AT_LEAST_0, deviation=ABOVE_0)
def expected_excess(level: float, mean: float, deviation: float) -> float:
    """Return E[max(0, D - level)] of normal demand, in units: the normal loss function.

    >>> round(expected_excess(50.0, 50.0, 20.0), 4)
    7.9788
    """
    normal = NormalDist()
    z = (level - mean) / deviation
    return deviation * (normal.pdf(z) - z * normal.cdf(-z))
