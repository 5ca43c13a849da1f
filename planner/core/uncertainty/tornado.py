"""Tornado: what each uncertain input does to a total on its own, from its P10 to its P90.

Every other input stays at its median. Bars do not add up, because inputs act together and are correlated.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from planner.core.plan import Plan, View
from planner.core.setting import Grid
from planner.core.uncertainty.draws import chosen
from planner.core.uncertainty.factors import FACTORS, Uncertainty
from planner.core.uncertainty.simulate import STUDY_GRID, simulate

RANKS = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class Bar:
    """The total with one factor at its P10 and P90; `is_monotone` says that it moves one way in between.

    `unmet_at_p10` and `unmet_at_p90` are GPU-hours left unserved: a total that falls because work is left
    undone is no saving.
    """

    factor: str
    total_at_p10: float
    total_at_p90: float
    is_monotone: bool
    unmet_at_p10: float
    unmet_at_p90: float

    @property
    def swing(self) -> float:
        return self.total_at_p90 - self.total_at_p10


@dataclass(frozen=True)
class Tornado:
    """The bars of a plan, the widest first, around the total with every input at its median."""

    total: float
    bars: tuple[Bar, ...]


def tornado(plan: Plan, uncertainty: Uncertainty, view: View, grid: Grid = STUDY_GRID) -> Tornado | None:
    """Return the bars by falling |swing|, those without effect left out; None where the total is unknown."""
    z = [NormalDist().inv_cdf(rank) for rank in RANKS]
    normals = np.zeros((1 + len(FACTORS) * len(z), len(FACTORS)))
    for row, _ in enumerate(FACTORS):
        normals[1 + row * len(z) : 1 + (row + 1) * len(z), row] = z
    done = simulate([plan], chosen(normals, plan.months), uncertainty, grid)[0]
    totals, unmet = done.total[view], done.unmet_gpu_hours
    if np.isnan(totals).any():
        return None
    bars = []
    for row, factor in enumerate(FACTORS):
        span = slice(1 + row * len(z), 1 + (row + 1) * len(z))
        values, hours = totals[span], unmet[span]
        steps = np.diff(values)
        if np.allclose(values, totals[0], rtol=1e-12, atol=0.0):
            continue
        bars.append(
            Bar(
                factor,
                float(values[0]),
                float(values[-1]),
                bool((steps >= 0.0).all() or (steps <= 0.0).all()),
                float(hours[0]),
                float(hours[-1]),
            )
        )
    return Tornado(float(totals[0]), tuple(sorted(bars, key=lambda bar: -abs(bar.swing))))
