"""What is still served when one source is lost (N-1), and in which order its fallbacks step in.

Capacity is in GPUs of each source: available ones if owned, reserved ones, the quota of on-demand. What a
fallback is worth to the critical work is its capacity * portability, in GPUs of the primary. Where a capacity
is unknown it counts as none, and the answer is a lower bound that says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.core.ranges import (
    ABOVE_0,
    AT_LEAST_0,
    COUNT,
    SHARE,
    optional,
    refuse,
    require_fields,
    takes,
)

_SAME_SHARE = 1e-12  # coverage that is short of everything by less is full


@takes(validated_share=SHARE, throughput_ratio=ABOVE_0, service_factor=SHARE)
def portability(validated_share: float, throughput_ratio: float = 1.0, service_factor: float = 1.0) -> float:
    """Return min(1, validated share * throughput ratio) * service factor, from 0 to 1.

    `validated_share` is of the critical work that was validated there; `throughput_ratio` is the work of one
    of its GPU-hours in GPU-hours of the primary, measured; `service_factor` is below 1 for a degraded mode,
    such as a smaller model or CPUs. A faster GPU counts as one: how much faster is no matter of porting.
    Source: the definition of this model.

    >>> portability(0.75, 0.5, service_factor=0.5)
    0.1875
    """
    return min(validated_share * throughput_ratio, 1.0) * service_factor


@dataclass(frozen=True)
class Source:
    """A supplier of critical work. `lost_with` names what fails as one, such as a region; "" is itself alone.

    `capacity_gpus` or `portability` None: unknown.
    """

    name: str
    capacity_gpus: float | None
    portability: float | None = 1.0
    lost_with: str = ""

    def __post_init__(self) -> None:
        require_fields(self, capacity_gpus=optional(AT_LEAST_0), portability=optional(SHARE))

    @property
    def covers_gpus(self) -> float | None:
        """Return capacity * portability; None where one is unknown and the other is not 0.

        >>> Source("B", 40.0, 0.5).covers_gpus
        20.0
        """
        if self.capacity_gpus is None or self.portability is None:
            return 0.0 if self.capacity_gpus == 0.0 or self.portability == 0.0 else None
        return self.capacity_gpus * self.portability

    @property
    def domain(self) -> str:
        """Return what fails as one with it: itself where nothing is named."""
        return self.lost_with or self.name


@dataclass(frozen=True)
class Coverage:
    """The share of critical work still served without what is `lost`.

    Where `is_lower_bound` the sources named in `unknown` may add to it.
    """

    lost: str
    share: float
    is_lower_bound: bool
    unknown: tuple[str, ...]

    @takes(required_share=SHARE)
    def meets(self, required_share: float) -> bool | None:
        """Return whether it is enough; None where only what is unknown can tell.

        >>> Coverage("A", 0.5, True, ("B",)).meets(0.7) is None
        True
        """
        if self.share >= required_share - _SAME_SHARE:
            return True
        return None if self.is_lower_bound else False


@takes(critical_gpus=AT_LEAST_0)
def coverage_if_lost(sources: Sequence[Source], lost: str, critical_gpus: float) -> Coverage:
    """Return min(1, sum of capacity_i * portability_i over the others / critical demand).

    `lost` is a source, or what several are lost with. Without critical demand everything is covered. Raises
    ValueError for a name that no source has. Source: N-1 as in power systems (NERC TPL-001).

    >>> coverage_if_lost([Source("A", 60.0), Source("B", 40.0, 0.5)], "A", 50.0).share
    0.4
    """
    gone = [source for source in sources if lost in (source.domain, source.name)]
    if not gone:
        names = dict.fromkeys([source.domain for source in sources] + [source.name for source in sources])
        refuse("lost", repr(lost), "one of " + ", ".join(names))
    others = [source for source in sources if source not in gone]
    served = sum(source.covers_gpus or 0.0 for source in others)
    share = min(served / critical_gpus, 1.0) if critical_gpus else 1.0
    unknown = tuple(source.name for source in others if source.covers_gpus is None)
    return Coverage(lost, share, bool(unknown) and share < 1.0, unknown)


@takes(critical_gpus=AT_LEAST_0)
def coverage_of_each_loss(sources: Sequence[Source], critical_gpus: float) -> tuple[Coverage, ...]:
    """Return the coverage after the loss of each source, or of what is lost together, the worst first.

    Two with the same share: a lower bound comes after what is certain. Raises ValueError without a source or
    with two of one name.

    >>> found = coverage_of_each_loss([Source("A", 60.0), Source("B", 40.0)], 50.0)
    >>> [(each.lost, each.share) for each in found]
    [('A', 0.8), ('B', 1.0)]
    """
    names = [source.name for source in sources]
    if not names or len(set(names)) < len(names):
        refuse("sources", names, "one source or more, each with a name of its own")
    found = [
        coverage_if_lost(sources, domain, critical_gpus)
        for domain in dict.fromkeys(source.domain for source in sources)
    ]
    return tuple(sorted(found, key=lambda each: (each.share, each.is_lower_bound)))


@dataclass(frozen=True)
class Fallback:
    """A rung of the ladder: a source that steps in when the primary is lost.

    `portability` as the function of this name gives it; `validated_on` None: nobody has run the work there.
    """

    name: str
    capacity_gpus: float | None
    portability: float | None
    validated_on: date | None

    def __post_init__(self) -> None:
        require_fields(self, capacity_gpus=optional(AT_LEAST_0), portability=optional(SHARE))

    @property
    def covers_gpus(self) -> float | None:
        """Return capacity * portability; None where unknown."""
        return Source(self.name, self.capacity_gpus, self.portability).covers_gpus


@dataclass(frozen=True)
class Rung:
    """What one fallback serves, in GPUs of the primary; None where its capacity is unknown.

    `reason` says why a fallback that serves nothing does not count. `is_most`: a rung before it is unknown
    and may leave less to serve.
    """

    name: str
    served_gpus: float | None
    reason: str = ""
    is_most: bool = False


@dataclass(frozen=True)
class Ladder:
    """The fallbacks in order, and what they serve together of the demand.

    Where `is_lower_bound` the sources named in `unknown` may add to it.
    """

    rungs: tuple[Rung, ...]
    served_gpus: float
    unserved_gpus: float
    is_lower_bound: bool
    unknown: tuple[str, ...]
    unvalidated: tuple[str, ...]


@takes(demand_gpus=AT_LEAST_0, valid_for_days=optional(COUNT))
def serve_from_fallbacks(
    demand_gpus: float, fallbacks: Sequence[Fallback], on: date, valid_for_days: int | None = None
) -> Ladder:
    """Return who serves how much of a lost primary's critical demand, in ladder order.

    Each validated fallback serves min(what is left, capacity * portability); one that was not validated by
    the day `on`, or longer ago than `valid_for_days`, serves nothing and says why. All of them together serve
    exactly min(demand, sum of the validated). Raises ValueError for two fallbacks of one name. Source: the
    definition of this model.

    >>> ladder = [Fallback("H200", 30.0, 1.0, date(2026, 5, 1)), Fallback("MI300X", 50.0, 0.8, None)]
    >>> found = serve_from_fallbacks(64.0, ladder, on=date(2026, 12, 1))
    >>> found.served_gpus, found.unserved_gpus, found.unvalidated
    (30.0, 34.0, ('MI300X',))
    """
    names = [each.name for each in fallbacks]
    if len(set(names)) < len(names):
        refuse("fallbacks", names, "fallbacks with a name of their own each")
    left, rungs = demand_gpus, []
    for each in fallbacks:
        rung = _rung(each, left, _why_not(each.validated_on, on, valid_for_days))
        left -= rung.served_gpus or 0.0
        rungs.append(rung)
    unknown = tuple(rung.name for rung in rungs if rung.served_gpus is None)
    first = names.index(unknown[0]) if unknown else len(names)
    rungs[first + 1 :] = [replace(rung, is_most=bool(rung.served_gpus)) for rung in rungs[first + 1 :]]
    unvalidated = tuple(rung.name for rung in rungs if rung.reason)
    return Ladder(tuple(rungs), demand_gpus - left, left, bool(unknown) and left > 0.0, unknown, unvalidated)


def _rung(fallback: Fallback, left_gpus: float, reason: str) -> Rung:
    if reason:
        return Rung(fallback.name, 0.0, reason)
    if left_gpus == 0.0:
        return Rung(fallback.name, 0.0)
    covers = fallback.covers_gpus
    return Rung(fallback.name, None if covers is None else min(left_gpus, covers))


def _why_not(validated_on: date | None, on: date, valid_for_days: int | None) -> str:
    """Return why a fallback does not count, "" where it does."""
    if validated_on is None:
        return "never validated"
    age_days = (on - validated_on).days
    if age_days < 0:
        return f"validated only on {validated_on.isoformat()}"
    if valid_for_days is not None and age_days > valid_for_days:
        return f"validated {age_days} days ago, longer than {valid_for_days}"
    return ""
