"""Stack several supply options on a load-duration curve: the cheapest one for each layer of demand."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.core.calendar import FloatArray


@dataclass(frozen=True)
class Option:
    """A way to serve a layer of demand: a fixed cost per unit and a cost per unit of use."""

    name: str
    fixed: float
    variable: float


def crossing(one: Option, other: Option) -> float:
    """Return the share of use at which two options cost the same: (f_j - f_k) / (v_k - v_j)."""
    return (one.fixed - other.fixed) / (other.variable - one.variable)


def cheapest_option(options: Sequence[Option], used_share: float) -> Option:
    """Return the option with the lowest f + v * x for a layer that is used a share x of the time."""
    return min(options, key=lambda option: option.fixed + option.variable * used_share)


def stacked_capacity(
    options: Sequence[Option], load: FloatArray, share_of_time: FloatArray
) -> dict[str, float]:
    """Return how much of each option the lower envelope takes from a load-duration curve.

    `share_of_time[i]` is the share of time in which the load is at least `load[i]`; loads fall from the
    peak, straight lines between the points. Options are read off at their crossings.
    """
    order = np.argsort(share_of_time)
    shares, loads = share_of_time[order], load[order]
    edges = sorted({0.0, 1.0, *_crossings_inside(options)})
    capacity = {option.name: 0.0 for option in options}
    for low, high in pairwise(edges):
        best = cheapest_option(options, (low + high) / 2.0)
        capacity[best.name] += float(np.interp(low, shares, loads) - np.interp(high, shares, loads))
    base = cheapest_option(options, 1.0)
    capacity[base.name] += float(np.interp(1.0, shares, loads))
    return capacity


def _crossings_inside(options: Sequence[Option]) -> list[float]:
    pairs = [(a, b) for i, a in enumerate(options) for b in options[i + 1 :] if a.variable != b.variable]
    return [x for x in (crossing(a, b) for a, b in pairs) if 0.0 < x < 1.0]
