"""Stack several supply options on a load-duration curve: the cheapest one for each layer of demand.

Source: the screening curves of power planning, as in the PyPSA documentation, example "Screening curves".
With a 3-year commitment, a 1-year commitment and on-demand it is the same problem: one period, fixed prices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ranges import AT_LEAST_0, SHARE, refuse, require_fields, takes


@dataclass(frozen=True)
class Option:
    """A way to serve a layer of demand: US dollars per unit held and per unit used all of the time.

    A layer in use for a share x of the time costs fixed + variable * x.
    """

    name: str
    fixed: float
    variable: float

    def __post_init__(self) -> None:
        """Refuse impossible costs."""
        require_fields(self, self.name, fixed=AT_LEAST_0, variable=AT_LEAST_0)


def crossing(one: Option, other: Option) -> float:
    """Return the share of use at which two options cost the same: (f_j - f_k) / (v_k - v_j).

    Outside 0..1 one of them is cheaper for every layer. Raises ValueError for equal variable costs.

    >>> crossing(Option("gas", 10, 12), Option("coal", 15, 2))
    0.5
    """
    if one.variable == other.variable:
        refuse("other", other, "an option with another variable cost")
    return (one.fixed - other.fixed) / (other.variable - one.variable)


@takes(used_share=SHARE)
def cheapest_option(options: Sequence[Option], used_share: float) -> Option:
    """Return the option with the lowest f + v * x for a layer that is used a share x of the time.

    Of equally cheap ones the first. Raises ValueError without options.

    >>> cheapest_option([Option("gas", 10, 12), Option("coal", 15, 2)], 0.8).name
    'coal'
    """
    if not options:
        refuse("options", "empty", "at least one option")
    return min(options, key=lambda option: option.fixed + option.variable * used_share)


@takes(load=AT_LEAST_0, share_of_time=SHARE)
def stacked_capacity(
    options: Sequence[Option], load: FloatArray, share_of_time: FloatArray
) -> dict[str, float]:
    """Return how much of each option the lower envelope takes from a load-duration curve.

    `share_of_time[i]` is the share of time in which the load is at least `load[i]`, both (points,); loads
    fall from the peak, straight lines between the points. Options are read off at their crossings. Raises
    ValueError for arrays of different length, without points, and for loads that rise.

    >>> coal, gas = Option("coal", 15, 2), Option("gas", 10, 12)
    >>> stacked_capacity([coal, gas], np.array([1000.0, 0.0]), np.array([0.0, 1.0]))
    {'coal': 500.0, 'gas': 500.0}
    """
    if len(load) != len(share_of_time) or not len(load):
        refuse("load", f"{len(load)} points", f"one per share of time, {len(share_of_time)}, at least one")
    order = np.argsort(share_of_time, kind="stable")
    shares, loads = share_of_time[order], load[order]
    if (np.diff(loads) > 0.0).any():
        refuse("load", load, "loads that do not rise with the share of time")
    edges = sorted({0.0, 1.0, *_crossings_inside(options)})
    capacity = {option.name: 0.0 for option in options}
    for low, high in pairwise(edges):
        best = cheapest_option(options, (low + high) / 2.0)
        capacity[best.name] += float(np.interp(low, shares, loads) - np.interp(high, shares, loads))
    lowest = cheapest_option(options, 1.0)
    capacity[lowest.name] += float(np.interp(1.0, shares, loads))
    return capacity


def _crossings_inside(options: Sequence[Option]) -> list[float]:
    pairs = [(a, b) for i, a in enumerate(options) for b in options[i + 1 :] if a.variable != b.variable]
    return [x for x in (crossing(a, b) for a, b in pairs) if 0.0 < x < 1.0]
