"""Nodes, streams and replicas for a token load, from measured rates. decode.py has the bound without any.

Rates are per node (or replica) at the real mix of prompt and output lengths, precision and engine. Size for
the peak over the target occupancy (peak.required_capacity), not for the daily mean.
"""

from dataclasses import dataclass

from planner.core.drivers.whole import rounded_up
from planner.core.ranges import ABOVE_0, AT_LEAST_0, COUNT_FROM_1, SHARE_ABOVE_0, optional, takes
from planner.core.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Nodes:
    """Nodes by phase. None is unknown; `missing` then names the rate that nobody has measured."""

    prefill: float | None
    decode: float | None
    missing: tuple[str, ...] = ()

    @property
    def total(self) -> float | None:
        """Return the sum of both phases; None where either is unknown."""
        return None if self.prefill is None or self.decode is None else self.prefill + self.decode

    @property
    def whole(self) -> int | None:
        """Return the sum with each phase rounded up: a node serves one of them."""
        if self.prefill is None or self.decode is None:
            return None
        return rounded_up(self.prefill) + rounded_up(self.decode)


@takes(
    input_tokens_per_second=AT_LEAST_0,
    output_tokens_per_second=AT_LEAST_0,
    input_tokens_per_second_per_node=optional(ABOVE_0),
    output_tokens_per_second_per_node=optional(ABOVE_0),
)
def nodes_for_tokens(
    input_tokens_per_second: float,
    output_tokens_per_second: float,
    input_tokens_per_second_per_node: float | None,
    output_tokens_per_second_per_node: float | None,
) -> Nodes:
    """Return load / measured rate, for nodes that each serve one phase, prefill or decoding.

    Where a node serves both, use shared_nodes_for_tokens() with a rate measured on the mix. A rate that is
    None leaves its phase unknown, unless there is no load.

    >>> nodes_for_tokens(8_000.0, 900.0, 4_000.0, 300.0).total
    5.0
    """
    prefill = _nodes(input_tokens_per_second, input_tokens_per_second_per_node)
    decode = _nodes(output_tokens_per_second, output_tokens_per_second_per_node)
    phases = {"input_tokens_per_second_per_node": prefill, "output_tokens_per_second_per_node": decode}
    return Nodes(prefill, decode, tuple(name for name, nodes in phases.items() if nodes is None))


def _nodes(tokens_per_second: float, rate: float | None) -> float | None:
    if tokens_per_second == 0.0:
        return 0.0
    return None if rate is None else tokens_per_second / rate


@takes(tokens_per_second=AT_LEAST_0, tokens_per_second_per_node=optional(ABOVE_0))
def shared_nodes_for_tokens(
    tokens_per_second: float, tokens_per_second_per_node: float | None
) -> float | None:
    """Return load / measured mixed rate, for nodes that serve both phases; None where the rate is unknown.

    Both count the same tokens: output alone, or input and output.

    >>> shared_nodes_for_tokens(9_000.0, 2_000.0)
    4.5
    """
    return _nodes(tokens_per_second, tokens_per_second_per_node)


@takes(
    tokens=AT_LEAST_0,
    tokens_per_second_per_node=optional(ABOVE_0),
    gpus_per_node=COUNT_FROM_1,
    occupancy=SHARE_ABOVE_0,
)
def gpu_hours_for_tokens(
    tokens: float, tokens_per_second_per_node: float | None, gpus_per_node: int, occupancy: float = 1.0
) -> float | None:
    """Return tokens / (rate * 3600 * occupancy) * GPUs per node: batch inference without a deadline.

    None where the rate is unknown and there are tokens.

    >>> gpu_hours_for_tokens(36_000_000.0, 10_000.0, 8)
    8.0
    """
    node_seconds = _nodes(tokens, tokens_per_second_per_node)
    return None if node_seconds is None else node_seconds / SECONDS_PER_HOUR / occupancy * gpus_per_node


@takes(arrivals_per_second=AT_LEAST_0, seconds_in_system=AT_LEAST_0)
def in_flight(arrivals_per_second: float, seconds_in_system: float) -> float:
    """Return L = lambda * W, the mean number of requests at work or waiting. Holds for any distribution.

    Source: J. D. C. Little, Operations Research 9 (1961) 383.

    >>> in_flight(4.0, 12.5)
    50.0
    """
    return arrivals_per_second * seconds_in_system


@takes(output_tokens_per_second=AT_LEAST_0, tokens_per_second_per_stream=ABOVE_0)
def streams_in_flight(output_tokens_per_second: float, tokens_per_second_per_stream: float) -> float:
    """Return output rate / rate of one stream: Little's law for answers that are written at a steady speed.

    >>> streams_in_flight(14_800.0, 20.0)
    740.0
    """
    return output_tokens_per_second / tokens_per_second_per_stream


@takes(streams=AT_LEAST_0, slots_per_replica=COUNT_FROM_1, target_occupancy=SHARE_ABOVE_0)
def replicas_for_streams(streams: float, slots_per_replica: int, target_occupancy: float = 1.0) -> int:
    """Return ceil(streams / (slots * occupancy)): whole replicas that hold so many streams.

    A slot is one of the sequences that a replica may work on at a time; memory bounds them
    (decode.largest_batch).

    >>> replicas_for_streams(740.0, 64, target_occupancy=0.7)
    17
    """
    return rounded_up(streams / (slots_per_replica * target_occupancy))
