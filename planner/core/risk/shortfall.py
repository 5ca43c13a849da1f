"""GPU-hours that several sources are expected to lack, over every state of which of them are out.

States follow the common-cause construction of availability.py, so each source is out for its own share of the
time and all of them together for U_all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.core.calendar import FloatArray
from planner.core.ranges import AT_LEAST_0, SHARE, optional, refuse, takes

MOST_SOURCES = 12  # 2 ^ 12 states; beyond that the sum over all of them is refused
_SAME_SHARE = 1e-12  # of the need: a capacity that is short by less is enough


@dataclass(frozen=True)
class JointStates:
    """Which sources are out in each state, [states, sources], and the probability of each, [states]."""

    is_out: NDArray[np.bool_]
    probability: FloatArray


@takes(availabilities=SHARE, common_cause_weight=SHARE)
def joint_states(availabilities: Sequence[float], common_cause_weight: float) -> JointStates:
    """Return all 2^n states of n sources with their probabilities under the mixture.

    beta * P(common cause) + (1 - beta) * prod(U_i or 1 - U_i). Under the common cause only nested states have
    a probability: the k sources with the largest U are out for U_(k) - U_(k+1) of the time. Exact; raises
    ValueError for no source and for more than 12.

    >>> joint_states([0.9, 0.8], common_cause_weight=1.0).probability.round(2).tolist()
    [0.8, 0.0, 0.1, 0.1]
    """
    count = len(availabilities)
    if not 1 <= count <= MOST_SOURCES:
        refuse("availabilities", f"a list of {count}", f"1 to {MOST_SOURCES} sources")
    out = 1.0 - np.asarray(availabilities, float)
    is_out = (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(bool)
    alone = np.where(is_out, out, 1.0 - out).prod(axis=1)
    return JointStates(is_out, common_cause_weight * _together(out) + (1.0 - common_cause_weight) * alone)


def _together(out: FloatArray) -> FloatArray:
    """Return the probability of each state where one cause rules: V falls between two neighbouring U."""
    probability = np.zeros(2 ** len(out))
    order = np.argsort(-out, kind="stable")
    edges = np.concatenate([[1.0], out[order], [0.0]])
    states = np.concatenate([[0], np.cumsum(2**order)])
    np.add.at(probability, states, edges[:-1] - edges[1:])
    return probability


@dataclass(frozen=True)
class Shortfall:
    """GPU-hours that sources are expected to lack, and how often they lack any.

    `gpu_hours` and `probability` are None where a capacity is unknown; the `most` of both then take what is
    unknown as none, and `unknown` holds the places of those sources.
    """

    gpu_hours: float | None
    probability: float | None
    most_gpu_hours: float
    most_probability: float
    unknown: tuple[int, ...]


@takes(
    need_gpus=AT_LEAST_0,
    capacities_gpus=optional(AT_LEAST_0),
    availabilities=SHARE,
    common_cause_weight=SHARE,
    hours=AT_LEAST_0,
)
def expected_shortfall(
    need_gpus: float,
    capacities_gpus: Sequence[float | None],
    availabilities: Sequence[float],
    common_cause_weight: float,
    hours: float,
) -> Shortfall:
    """Return sum over states of P(state) * max(0, need - capacity(state)) * hours, and P(need > capacity).

    One capacity in GPUs, or None where it is unknown, for each availability. The need is the same in every
    hour, and a source is up with all its GPUs or not at all. Raises ValueError where the lengths differ and
    as `joint_states`. Source: loss of load expectation, as in power systems (Billinton and Allan, 1996).

    >>> lacking = expected_shortfall(10, [10, 10], [0.9, 0.9], common_cause_weight=0.5, hours=100)
    >>> round(lacking.gpu_hours, 6), round(lacking.probability, 6)
    (55.0, 0.055)
    """
    if len(capacities_gpus) != len(availabilities):
        refuse("capacities_gpus", capacities_gpus, f"one for each of {len(availabilities)} availabilities")
    states = joint_states(availabilities, common_cause_weight)
    known = np.array([each or 0.0 for each in capacities_gpus])
    lacking = np.maximum(need_gpus - (~states.is_out) @ known, 0.0)
    gpu_hours = float(states.probability @ lacking) * hours
    is_short = lacking > need_gpus * _SAME_SHARE
    probability = min(float(states.probability[is_short].sum()), 1.0)
    unknown = tuple(place for place, each in enumerate(capacities_gpus) if each is None)
    is_known = not unknown or gpu_hours == 0.0
    return Shortfall(
        gpu_hours if is_known else None, probability if is_known else None, gpu_hours, probability, unknown
    )
