"""Several limits at once: a launch has to fit into each of them, and the narrowest binds.

Azure counts vCPUs per family of machines and again over the region; Google counts GPUs per type and again
over all regions; AWS counts vCPUs per family group. Spot (preemptible) machines have limits of their own. A
limit that nobody has looked up is unknown, not endless.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from planner.core.quota import gap, instances_within
from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    optional,
    refuse,
    require,
    require_fields,
    require_one_of,
)

Purchase = Literal["on-demand", "spot"]
PURCHASES: tuple[Purchase, ...] = ("on-demand", "spot")


class Launch(NamedTuple):
    """A machine type and how it is bought."""

    machine: str
    purchase: Purchase = "on-demand"


@dataclass(frozen=True)
class Limit:
    """One limit in its own unit, such as vCPUs or GPUs, and what one machine of each type draws of it.

    `amount` None: not known. Machine types that are not in `drawn_per_instance` do not count against it.
    """

    name: str
    amount: float | None
    drawn_per_instance: Mapping[str, float]
    purchase: Purchase = "on-demand"

    def __post_init__(self) -> None:
        require_fields(self, amount=optional(AT_LEAST_0))
        require_one_of(PURCHASES, purchase=self.purchase)
        for machine, drawn in self.drawn_per_instance.items():
            require(ABOVE_0, **{f"drawn_per_instance of {machine}": drawn})

    def covers(self, launch: Launch) -> bool:
        """Return whether such a machine counts against this limit.

        >>> Limit("P vCPUs", 384, {"p5.48xlarge": 192}).covers(Launch("p5.48xlarge", "spot"))
        False
        """
        return launch.purchase == self.purchase and launch.machine in self.drawn_per_instance

    def drawn(self, instances: Mapping[Launch, int]) -> float:
        """Return what so many machines draw of it together: sum of instances * drawn per instance.

        >>> Limit("P vCPUs", 384, {"p5.48xlarge": 192}).drawn({Launch("p5.48xlarge"): 2})
        384.0
        """
        _check(instances)
        return float(
            sum(
                count * self.drawn_per_instance[launch.machine]
                for launch, count in instances.items()
                if self.covers(launch)
            )
        )


@dataclass(frozen=True)
class Room:
    """How many more machines of one type may run. `instances` None: unknown, but at most `at_most`.

    `at_most` None: no limit is known. `binding` names the known limits that allow the fewest; `unknown` those
    whose amount is not known.
    """

    instances: int | None
    at_most: int | None
    binding: tuple[str, ...]
    unknown: tuple[str, ...]


def room_for(launch: Launch, limits: Sequence[Limit], running: Mapping[Launch, int] | None = None) -> Room:
    """Return how many more of one machine all its limits allow: the least of floor((limit - drawn) / draw).

    `running` counts the machines that draw on the limits already. With no limit given, or one unknown, the
    room is unknown, except that a known limit without room leaves none. Raises ValueError for a count below 0
    or not whole, and for two limits of one name. Source: the providers' pages on quotas; see quota.py.

    >>> family = Limit("ND vCPUs", 384, {"ND96": 96})
    >>> region = Limit("regional vCPUs", 300, {"ND96": 96, "NC24": 24})
    >>> room_for(Launch("ND96"), [family, region], {Launch("NC24"): 4})
    Room(instances=2, at_most=2, binding=('regional vCPUs',), unknown=())
    """
    already = running or {}
    require_one_of(PURCHASES, purchase=launch.purchase)
    _check(already)
    _check_names(limits)
    over = [limit for limit in limits if limit.covers(launch)]
    unknown = tuple(limit.name for limit in over if limit.amount is None)
    allowed = {
        limit.name: instances_within(
            limit.amount - limit.drawn(already), limit.drawn_per_instance[launch.machine]
        )
        for limit in over
        if limit.amount is not None
    }
    if not allowed:
        return Room(None, None, (), unknown)
    least = min(allowed.values())
    binding = tuple(name for name, count in allowed.items() if count == least)
    return Room(None if unknown and least else least, least, binding, unknown)


def gaps(limits: Sequence[Limit], planned: Mapping[Launch, int]) -> dict[str, float | None]:
    """Return by limit how much of a planned peak it does not allow, in its unit; None where it is unknown.

    `planned` counts whole machines at the highest hour of a month. The month can be served only where every
    gap is 0, or a raise is granted in time. Raises ValueError as `room_for`.

    >>> h100 = Limit("H100 GPUs", 32, {"a3": 8})
    >>> everything = Limit("GPUs, all regions", 40, {"a3": 8, "a2": 1})
    >>> gaps([h100, everything], {Launch("a3"): 4, Launch("a2"): 12})
    {'H100 GPUs': 0.0, 'GPUs, all regions': 4.0}
    """
    _check_names(limits)
    return {limit.name: gap(limit.drawn(planned), limit.amount) for limit in limits}


def _check_names(limits: Sequence[Limit]) -> None:
    names = [limit.name for limit in limits]
    if len(set(names)) < len(names):
        refuse("limits", names, "limits with a name of their own each")


def _check(instances: Mapping[Launch, int]) -> None:
    for launch, count in instances.items():
        require_one_of(PURCHASES, purchase=launch.purchase)
        require(COUNT, **{f"instances of {launch.machine}": count})
