"""Waiting: Erlang B and C, and how many servers a promise of short waits takes.

A server is one slot of a replica that batches continuously: slots = replicas * sequences at a time. The time
of service is the one at that load, as sequences that run together slow each other.
"""

import math
from dataclasses import dataclass
from functools import cached_property

from planner.core.drivers.whole import WHOLE_TOLERANCE, rounded_up
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    SHARE_ABOVE_0,
    SHARE_BELOW_1,
    Range,
    refuse,
    require_fields,
    takes,
)

MOST_SERVERS = 10_000_000  # the recursion takes a step per server
SERVERS = Range(1, MOST_SERVERS, whole=True)


@takes(servers=SERVERS, offered_load=AT_LEAST_0)
def erlang_b(servers: int, offered_load: float) -> float:
    """Return the share of arrivals that find all servers busy where nobody waits.

    B_0 = 1; B_k = a B_(k-1) / (k + a B_(k-1)), with a = arrivals * time of service. The recursion is stable;
    factorials overflow. Source: A. K. Erlang 1917.

    >>> round(erlang_b(2, 1.0), 9)
    0.2
    """
    blocked = 1.0
    for busy in range(1, servers + 1):
        blocked = _blocked_with_one_more(blocked, busy, offered_load)
    return blocked


def _blocked_with_one_more(blocked: float, servers: int, offered_load: float) -> float:
    return offered_load * blocked / (servers + offered_load * blocked)


@takes(servers=SERVERS, offered_load=AT_LEAST_0)
def erlang_c(servers: int, offered_load: float) -> float:
    """Return P(wait) = c B / (c - a (1 - B)) of M/M/c, arrivals and services exponential.

    It is 1 where a >= c: the queue then grows without end. Source: A. K. Erlang 1917.

    >>> round(erlang_c(2, 1.0), 9), erlang_c(1, 0.25), erlang_c(3, 3.0)
    (0.333333333, 0.25, 1.0)
    """
    return _waiting(erlang_b(servers, offered_load), servers, offered_load)


def _waiting(blocked: float, servers: int, offered_load: float) -> float:
    if offered_load >= servers:
        return 1.0
    return servers * blocked / (servers - offered_load * (1.0 - blocked))


@takes(arrival_scv=AT_LEAST_0, service_scv=AT_LEAST_0)
def allen_cunneen_factor(arrival_scv: float, service_scv: float) -> float:
    """Return (Ca^2 + Cs^2) / 2, by which the mean wait differs from that of M/M/c.

    The arguments are squared coefficients of variation: 0 is a fixed rhythm, 1 exponential, sizes of LLM
    requests often 2 to 5. An approximation for high load. Source: A. O. Allen, Probability, Statistics and
    Queueing Theory, 2nd edition 1990.

    >>> allen_cunneen_factor(1.0, 1.0), allen_cunneen_factor(1.0, 3.0)
    (1.0, 2.0)
    """
    return (arrival_scv + service_scv) / 2.0


@dataclass(frozen=True)
class Queue:
    """c servers, Poisson arrivals, exponential services. `variability` is the Allen-Cunneen factor.

    With a factor of 1 all figures are exact for M/M/c. With another the mean wait is Allen-Cunneen's, and
    waits are taken to be exponential with that mean, given that there is one.

    >>> queue = Queue(servers=14, arrivals_per_second=100 / 1800, service_seconds=180.0)
    >>> round(queue.probability_of_waiting, 6), round(queue.service_level(20.0), 6)
    (0.174132, 0.88835)
    """

    servers: int
    arrivals_per_second: float
    service_seconds: float
    variability: float = 1.0

    def __post_init__(self) -> None:
        require_fields(
            self,
            servers=SERVERS,
            arrivals_per_second=AT_LEAST_0,
            service_seconds=ABOVE_0,
            variability=AT_LEAST_0,
        )

    @property
    def offered_load(self) -> float:
        """Return a = lambda / mu, the mean number of busy servers."""
        return self.arrivals_per_second * self.service_seconds

    @property
    def occupancy(self) -> float:
        """Return a / c; 1 or more is a queue that grows without end."""
        return self.offered_load / self.servers

    @cached_property
    def probability_of_waiting(self) -> float:
        """Return Erlang C."""
        return erlang_c(self.servers, self.offered_load)

    @property
    def mean_wait_seconds(self) -> float:
        """Return W_q = factor * C / (c mu - lambda), over all arrivals; infinite where a >= c."""
        return self.probability_of_waiting * _mean_of_waits(
            self.servers, self.offered_load, self.service_seconds, self.variability
        )

    @takes(seconds=AT_LEAST_0)
    def probability_of_waiting_longer(self, seconds: float) -> float:
        """Return P(W > t) = C e^(-(c mu - lambda) t / factor)."""
        mean = _mean_of_waits(self.servers, self.offered_load, self.service_seconds, self.variability)
        return _waiting_longer(self.probability_of_waiting, seconds, mean)

    @takes(seconds=AT_LEAST_0)
    def service_level(self, seconds: float) -> float:
        """Return the share of arrivals that begin within so many seconds: 1 - P(W > t)."""
        return 1.0 - self.probability_of_waiting_longer(seconds)


def _mean_of_waits(servers: int, offered_load: float, service_seconds: float, variability: float) -> float:
    """Return the mean wait, in seconds, of those who do wait."""
    if offered_load >= servers:
        return math.inf
    return variability * service_seconds / (servers - offered_load)


def _waiting_longer(waiting: float, seconds: float, mean_seconds: float) -> float:
    # without variability nobody waits for any time at all
    if mean_seconds == 0.0:
        return waiting if seconds == 0.0 else 0.0
    return waiting * math.exp(-seconds / mean_seconds)


@dataclass(frozen=True)
class Staffing:
    """The smallest number of servers that keeps a promise, and the queue they make."""

    queue: Queue
    servers_with_shrinkage: int
    service_level: float

    @property
    def servers(self) -> int:
        """Return the servers that have to be at work."""
        return self.queue.servers


@takes(
    arrivals_per_second=AT_LEAST_0,
    service_seconds=ABOVE_0,
    target_wait_seconds=AT_LEAST_0,
    service_level=SHARE_BELOW_1,
    max_occupancy=SHARE_ABOVE_0,
    shrinkage=SHARE_BELOW_1,
    servers_at_a_time=SERVERS,
    variability=AT_LEAST_0,
)
def servers_needed(
    *,
    arrivals_per_second: float,
    service_seconds: float,
    target_wait_seconds: float,
    service_level: float,
    max_occupancy: float = 1.0,
    shrinkage: float = 0.0,
    servers_at_a_time: int = 1,
    variability: float = 1.0,
) -> Staffing:
    """Return the smallest c with a < c, a / c <= max_occupancy and P(W <= target) >= service_level.

    `shrinkage` is the share of servers that is out of service: c / (1 - shrinkage) are to be there.
    `servers_at_a_time` are the slots of a replica, when only whole replicas can be added. Without arrivals
    the answer is one such step. Raises ValueError where more than ten million servers would be needed.

    >>> servers_needed(
    ...     arrivals_per_second=0.5, service_seconds=4.0, target_wait_seconds=1.0, service_level=0.9
    ... ).servers
    5
    """
    load, promise = arrivals_per_second * service_seconds, 1.0 - service_level
    fewest, blocked, servers = load / max_occupancy, 1.0, 0
    if fewest >= MOST_SERVERS:
        refuse("arrivals_per_second", arrivals_per_second, f"a load of less than {MOST_SERVERS:,} servers")
    while True:
        servers += 1
        blocked = _blocked_with_one_more(blocked, servers, load)
        if servers % servers_at_a_time or servers <= load or servers < fewest - WHOLE_TOLERANCE:
            continue
        mean = _mean_of_waits(servers, load, service_seconds, variability)
        if _waiting_longer(_waiting(blocked, servers, load), target_wait_seconds, mean) <= promise:
            break
    queue = Queue(servers, arrivals_per_second, service_seconds, variability)
    with_shrinkage = rounded_up(servers / (1.0 - shrinkage), servers_at_a_time)
    return Staffing(queue, with_shrinkage, queue.service_level(target_wait_seconds))
