"""Why a level, layer by layer: each layer of demand is a decision of its own.

A layer is one instance. max(0, D - K) is the sum over all layers above K of the part of the layer that is
wanted, so f(K) adds up over layers: a committed one costs c g W, one left to on-demand p g W * used share.
Used shares fall with height, so the committed layers are the lowest ones.
"""

from dataclasses import dataclass

import numpy as np

from planner.core.calendar import FloatArray, IntArray
from planner.core.commitments.load_curve import GPUS, SAME_SHARE, LoadCurve, load_curve
from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, optional, refuse, require_fields, takes


@dataclass(frozen=True)
class Layers:
    """All layers up to the peak, lowest first; arrays have shape (layers,), money is weighted US dollars.

    `top_gpus` is the level that the layer reaches, `used_share` its own share of hours.
    """

    gpus_per_layer: int
    top_gpus: IntArray
    used_share: FloatArray
    usd_committed: FloatArray
    usd_on_demand: FloatArray

    def __post_init__(self) -> None:
        """Refuse impossible layers."""
        require_fields(
            self,
            gpus_per_layer=COUNT_FROM_1,
            top_gpus=GPUS,
            used_share=AT_LEAST_0,
            usd_committed=AT_LEAST_0,
            usd_on_demand=AT_LEAST_0,
        )

    @property
    def is_committed(self) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """Return which layers are no dearer committed; where both cost the same, it is committed."""
        return self.usd_committed * (1.0 - SAME_SHARE) <= self.usd_on_demand

    @takes(top_gpus=COUNT_FROM_1)
    def sentence(self, top_gpus: int) -> str:
        """Return the decision on one layer in words. Raises ValueError where no layer reaches that level.

        >>> layers_of(np.array([2.0, 1.0]), 0.6, 1.0).sentence(2)
        'Layer 2 is used in 50.0 % of the hours: committed it costs $1.20, on demand $1.00; do not commit it.'
        """
        place = int(np.searchsorted(self.top_gpus, top_gpus))
        if place == len(self.top_gpus) or self.top_gpus[place] != top_gpus:
            refuse("top_gpus", top_gpus, f"a multiple of {self.gpus_per_layer} up to the peak")
        advice = "commit it" if self.is_committed[place] else "do not commit it"
        first = top_gpus - self.gpus_per_layer + 1
        name = f"Layer {top_gpus}" if self.gpus_per_layer == 1 else f"Layer {first} to {top_gpus}"
        return (
            f"{name} is used in {self.used_share[place]:.1%}".replace("%", " %")
            + f" of the hours: committed it costs ${self.usd_committed[place]:,.2f},"
            + f" on demand ${self.usd_on_demand[place]:,.2f}; {advice}."
        )


@takes(
    demand_gpus=GPUS,
    committed_usd_per_gpu_hour=AT_LEAST_0,
    on_demand_usd_per_gpu_hour=AT_LEAST_0,
    gpus_per_instance=COUNT_FROM_1,
    weights=optional(AT_LEAST_0),
)
def layers_of(
    demand_gpus: FloatArray,
    committed_usd_per_gpu_hour: float,
    on_demand_usd_per_gpu_hour: float,
    gpus_per_instance: int = 1,
    weights: FloatArray | None = None,
) -> Layers:
    """Return all layers up to the peak with their used shares and both costs.

    Demand and weights as in load_curve(). Without hours there are no layers.

    >>> layers_of(np.array([1.0, 2.0, 2.0, 3.0]), 0.6, 1.0).used_share
    array([1.  , 0.75, 0.25])
    """
    curve = load_curve(demand_gpus, weights)
    size = gpus_per_instance
    top = np.arange(1, _layer_count(curve, size) + 1, dtype=np.int64) * size
    # the top layer may reach past the highest demand that a level may have, so its foot is what is looked up
    above = np.append(curve.gpu_hours_above((top - size).astype(np.float64)), 0.0)
    used_gpu_hours = np.maximum(above[:-1] - above[1:], 0.0)
    return Layers(
        gpus_per_layer=size,
        top_gpus=top,
        used_share=used_gpu_hours / (size * curve.weight) if curve.weight else used_gpu_hours,
        usd_committed=np.full(len(top), committed_usd_per_gpu_hour * size * curve.weight),
        usd_on_demand=on_demand_usd_per_gpu_hour * used_gpu_hours,
    )


def _layer_count(curve: LoadCurve, size: int) -> int:
    return int(np.ceil(curve.peak_gpus / size)) if curve.weight else 0
