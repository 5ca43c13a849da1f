"""Weighted hours of demand, sorted once: how much of each hour lies above any level.

One observation is one hour of one scenario. Its weight is the hour's discount factor times the scenario's
probability; without weights each hour counts 1.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.ranges import (
    AT_LEAST_0,
    COUNT_FROM_1,
    SHARE,
    Range,
    optional,
    refuse,
    require_fields,
    takes,
)

GPUS = Range(0.0, 10_000_000.0)
# two sums of money or of hours that differ by less than this share are the same but for rounding
SAME_SHARE = 1e-12


@dataclass(frozen=True)
class LoadCurve:
    """Demand from the highest hour down, with its weights, both (observations,), and running sums.

    `weight_so_far[i]` is the weight of the i busiest observations, `gpus_so_far[i]` their weighted demand;
    both start with 0 and have one entry more.
    """

    gpus: FloatArray
    weights: FloatArray
    weight_so_far: FloatArray
    gpus_so_far: FloatArray

    def __post_init__(self) -> None:
        """Refuse impossible demand and weights."""
        require_fields(self, gpus=GPUS, weights=AT_LEAST_0)
        require_fields(self, weight_so_far=AT_LEAST_0, gpus_so_far=AT_LEAST_0)

    @property
    def weight(self) -> float:
        """Return the total weight, the number of hours where none is weighted."""
        return float(self.weight_so_far[-1])

    @property
    def peak_gpus(self) -> float:
        """Return the highest demand of the hours that have weight; 0 where there is none."""
        counting = self.gpus[self.weights > 0.0]
        return float(counting[0]) if counting.size else 0.0

    @property
    def gpu_hours(self) -> float:
        """Return the weighted demand."""
        return float(self.gpus_so_far[-1])

    @takes(levels=GPUS)
    def gpu_hours_above(self, levels: FloatArray) -> FloatArray:
        """Return sum w_h max(0, D_h - K) for each level K, of the shape of `levels`.

        >>> load_curve(np.array([1.0, 4.0])).gpu_hours_above(np.array([0.0, 2.0, 9.0]))
        array([5., 2., 0.])
        """
        wanted = np.asarray(levels, dtype=np.float64)
        busier = self._count_above(wanted)
        return np.asarray(np.maximum(self.gpus_so_far[busier] - wanted * self.weight_so_far[busier], 0.0))

    @takes(gpus=GPUS)
    def share_above(self, gpus: float) -> float | None:
        """Return W{D > K} / W, the share of hours with demand above a level; None without hours.

        >>> load_curve(np.array([1.0, 4.0, 4.0, 9.0])).share_above(4.0)
        0.25
        """
        return self._share_of_busiest(int(self._count_above(gpus)))

    @takes(gpus=GPUS)
    def share_at_or_above(self, gpus: float) -> float | None:
        """Return W{D >= K} / W, the share of hours with at least that demand; None without hours.

        >>> load_curve(np.array([1.0, 4.0, 4.0, 9.0])).share_at_or_above(4.0)
        0.75
        """
        return self._share_of_busiest(self._count_at_or_above(gpus))

    def _share_of_busiest(self, count: int) -> float | None:
        if not self.weight:
            return None
        return float(self.weight_so_far[count]) / self.weight

    def _count_above(self, gpus: FloatArray | float) -> IntArray:
        rising = self.gpus[::-1]
        return np.asarray(rising.size - np.searchsorted(rising, gpus, side="right"))

    def _count_at_or_above(self, gpus: float) -> int:
        rising = self.gpus[::-1]
        return int(rising.size - np.searchsorted(rising, gpus, side="left"))

    @takes(top_gpus=GPUS, gpus_per_layer=COUNT_FROM_1)
    def used_share(self, top_gpus: float, gpus_per_layer: int = 1) -> float | None:
        """Return the mean used share of the layer that ends at `top_gpus`; None without hours.

        sum w_h clip(D_h - (K - g), 0, g) / (g W). For whole demand and g = 1 this is W{D >= K} / W.

        >>> load_curve(np.array([1.5, 4.0])).used_share(2.0)
        0.75
        """
        if not self.weight:
            return None
        foot = top_gpus - gpus_per_layer
        full, some = self._count_at_or_above(top_gpus), int(self._count_above(foot))
        partly = float((self.gpus[full:some] - foot) @ self.weights[full:some])
        return (float(self.weight_so_far[full]) + partly / gpus_per_layer) / self.weight

    @takes(share=SHARE)
    def level_used_in(self, share: float) -> float:
        """Return the largest observed demand that is reached in at least a share of the hours.

        This is the (1 - share) quantile, the upper one where a whole interval fits; 0 without hours.

        >>> load_curve(np.array([2.0, 3, 3, 4, 4, 5, 6, 8, 8, 10])).level_used_in(0.65)
        4.0
        """
        if not self.weight:
            return 0.0
        enough = share * self.weight * (1.0 - SAME_SHARE)
        # observations without weight do not count, even at share 0
        least = max(enough, np.nextafter(0.0, 1.0))
        return float(self.gpus[int(np.searchsorted(self.weight_so_far[1:], least))])


@takes(demand_gpus=GPUS, weights=optional(AT_LEAST_0))
def load_curve(demand_gpus: FloatArray, weights: FloatArray | None = None) -> LoadCurve:
    """Return the sorted observations of a demand (hours,) or (scenarios, hours) with weights of its shape.

    Raises ValueError for other shapes. Source: the load-duration curve of power planning, as in the PyPSA
    documentation, example "Screening curves".

    >>> load_curve(np.array([1.0, 4.0]), np.array([3.0, 1.0])).gpu_hours
    7.0
    """
    demand = np.asarray(demand_gpus, dtype=np.float64)
    weight = np.ones_like(demand) if weights is None else np.asarray(weights, dtype=np.float64)
    if weight.shape != demand.shape:
        refuse("weights", f"of shape {weight.shape}", f"of the shape of demand_gpus, {demand.shape}")
    if weights is None:
        gpus, weight = np.sort(demand, axis=None)[::-1], weight.ravel()
    else:
        order = np.argsort(demand, axis=None)[::-1]
        gpus, weight = demand.ravel()[order], weight.ravel()[order]
    return LoadCurve(gpus, weight, _running(weight), _running(weight * gpus))


def _running(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])


@takes(probabilities=SHARE, hour_factors=AT_LEAST_0)
def scenario_weights(probabilities: FloatArray, hour_factors: FloatArray) -> FloatArray:
    """Return the weights (scenarios, hours): probability of the scenario times discount factor of the hour.

    Raises ValueError where the probabilities do not sum to 1.

    >>> scenario_weights(np.array([0.5, 0.5]), np.array([1.0, 0.9]))
    array([[0.5 , 0.45],
           [0.5 , 0.45]])
    """
    chance = np.asarray(probabilities, dtype=np.float64)
    if abs(chance.sum() - 1.0) > 1e-9:
        refuse("probabilities", chance, f"a sum of 1, not {chance.sum():g}")
    return np.outer(chance, np.asarray(hour_factors, dtype=np.float64))
