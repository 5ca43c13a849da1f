"""Whole units: nodes, replicas and servers are not sold in parts."""

import math

from planner.core.ranges import AT_LEAST_0, COUNT_FROM_1, takes

# What a sum of floats may be over a whole number before it counts as the next one.
WHOLE_TOLERANCE = 1e-9


@takes(count=AT_LEAST_0, at_a_time=COUNT_FROM_1)
def rounded_up(count: float, at_a_time: int = 1) -> int:
    """Return ceil(count / step) * step. A billionth of a step above it is the rounding of floats.

    >>> rounded_up(2.2), rounded_up(3.0000000001), rounded_up(9.0, at_a_time=8)
    (3, 3, 16)
    """
    return math.ceil(count / at_a_time - WHOLE_TOLERANCE) * at_a_time
