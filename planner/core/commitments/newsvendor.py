"""The newsvendor model: how much to order when demand is uncertain. Commitments are the same problem.

Overage costs the committed price, underage the on-demand price less the committed one.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Newsvendor:
    """The order that balances left-over units against lost sales, for normal demand floored at 0."""

    fractile: float
    continuous: float
    units: int
    expected_sales: float
    expected_leftover: float
    expected_lost_sales: float
    expected_profit: float


def newsvendor_normal(unit_cost: float, unit_price: float, mean: float, deviation: float) -> Newsvendor:
    """Return the best order at the (1 - cost/price) quantile; a commitment with c/p is the same problem."""
    normal = NormalDist()
    fractile = 1.0 - unit_cost / unit_price
    continuous = NormalDist(mean, deviation).inv_cdf(fractile)

    def excess(level: float) -> float:
        """Return E[max(0, D - level)] of the normal demand."""
        z = (level - mean) / deviation
        return deviation * (normal.pdf(z) - z * normal.cdf(-z))

    def profit(units: int) -> float:
        return unit_price * (excess(0.0) - excess(units)) - unit_cost * units

    below = max(math.floor(continuous), 0)
    units = max((below, below + 1), key=profit)
    sales = excess(0.0) - excess(units)
    return Newsvendor(fractile, continuous, units, sales, units - sales, excess(units), profit(units))
