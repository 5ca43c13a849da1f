"""Several sources at once: how often all of them are out, and how many GPU-hours are then missing.

Sources fail together more often than independence says. The common-cause construction: with probability
beta one cause rules, and with one draw V from 0 to 1 every source is out whose unavailability U_i is above V,
so the weakest go first and all are out with probability min U. With probability 1 - beta they are
independent. Each source keeps its own U_i either way, and all are out with

    U_all = beta * min_i U_i + (1 - beta) * prod_i U_i        U_i = 1 - availability_i
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from planner.core.ranges import SHARE, optional, refuse, require_fields, require_one_of, takes

_ROUNDING = 1e-3  # measured shares come rounded: they may contradict each other by so much

Relation = Literal["same region", "other region", "other provider"]
RELATIONS: tuple[Relation, ...] = ("same region", "other region", "other provider")


@dataclass(frozen=True)
class CommonCause:
    """A weight beta to assume where none was measured, what was observed, and what says so."""

    weight: float
    observed_low: float | None
    observed_high: float | None
    label: str

    def __post_init__(self) -> None:
        require_fields(self, weight=SHARE, observed_low=optional(SHARE), observed_high=optional(SHARE))


_TRACES = "derived from public spot traces of one provider, 2023 (Wu and others, NSDI 2024)"
DEFAULT_COMMON_CAUSE: dict[Relation, CommonCause] = {
    "same region": CommonCause(0.6, 0.4, 0.7, _TRACES),
    "other region": CommonCause(0.3, 0.14, 0.44, _TRACES),
    "other provider": CommonCause(0.1, None, None, "judgement: not measured"),
}


def default_common_cause(relation: Relation) -> CommonCause:
    """Return the weight to assume for sources in one region, in two of a provider, or of two providers.

    >>> default_common_cause("same region").weight
    0.6
    """
    require_one_of(RELATIONS, relation=relation)
    return DEFAULT_COMMON_CAUSE[relation]


@takes(availabilities=SHARE, common_cause_weight=SHARE)
def any_available(availabilities: Sequence[float], common_cause_weight: float) -> float:
    """Return 1 - U_all: the share of time in which at least one source is up.

    `availabilities` holds a share of time for each source. Weight 0 is independence, 1 the most that can go
    wrong together. Raises ValueError without a source. Source: the beta-factor model of common cause
    failures (Fleming, 1975), with min U as the largest joint outage (Frechet, 1951).

    >>> round(any_available([0.8831, 0.905, 0.8913], common_cause_weight=0.407), 4)
    0.9606
    """
    lowest, product = _joint_ends(availabilities)
    return 1.0 - (common_cause_weight * lowest + (1.0 - common_cause_weight) * product)


@takes(availabilities=SHARE, measured_any_available=SHARE)
def common_cause_weight(availabilities: Sequence[float], measured_any_available: float) -> float | None:
    """Return beta = (1 - measured - prod U) / (min U - prod U), held within 0 and 1.

    None where it cannot be told: with one source, or where one is never or all are always out. 0 where the
    sources do better together than independent ones would, which the mixture cannot say. Raises ValueError
    where the measured share is below that of the best source by more than rounding. Source of the example:
    public spot traces, us-west-2a, b and c, 2023.

    >>> round(common_cause_weight([0.8831, 0.905, 0.8913], 0.9606), 3)
    0.407
    """
    lowest, product = _joint_ends(availabilities)
    if 1.0 - measured_any_available > lowest + _ROUNDING:
        right = f"at least that of the best source, {max(availabilities):g}"
        refuse("measured_any_available", measured_any_available, right)
    if lowest - product <= 0.0:
        return None
    return min(max((1.0 - measured_any_available - product) / (lowest - product), 0.0), 1.0)


@takes(availabilities=SHARE, measured_any_available=SHARE)
def independence_understates_by(
    availabilities: Sequence[float], measured_any_available: float
) -> float | None:
    """Return (1 - measured) / prod U: how many times more often all are out than independence says.

    None where independence says never. Source of the example: as in `common_cause_weight`.

    >>> round(independence_understates_by([0.8831, 0.905, 0.8913], 0.9606), 1)
    32.6
    """
    _, product = _joint_ends(availabilities)
    return None if product == 0.0 else (1.0 - measured_any_available) / product


@dataclass(frozen=True)
class Place:
    """One source: where it stands and the share of time in which it is up."""

    provider: str
    region: str
    availability: float

    def __post_init__(self) -> None:
        require_fields(self, availability=SHARE)


@takes(same_region=SHARE, other_region=SHARE, other_provider=SHARE)
def any_available_anywhere(
    places: Sequence[Place],
    same_region: float = DEFAULT_COMMON_CAUSE["same region"].weight,
    other_region: float = DEFAULT_COMMON_CAUSE["other region"].weight,
    other_provider: float = DEFAULT_COMMON_CAUSE["other provider"].weight,
) -> float:
    """Return the share of time in which any place is up, with a weight for each kind of neighbourhood.

    The mixture is taken three times: of the sources of a region, of the regions of a provider, of the
    providers. The answer lies between the best place and independence. Raises ValueError without a place.
    Source: a nested beta-factor model; the split by place is ours.

    >>> places = [Place("A", "west", 0.9), Place("A", "west", 0.9), Place("B", "north", 0.9)]
    >>> round(any_available_anywhere(places), 5)
    0.98784
    """
    regions: dict[tuple[str, str], list[float]] = {}
    for place in places:
        regions.setdefault((place.provider, place.region), []).append(place.availability)
    providers: dict[str, list[float]] = {}
    for (provider, _), shares in regions.items():
        providers.setdefault(provider, []).append(any_available(shares, same_region))
    return any_available([any_available(each, other_region) for each in providers.values()], other_provider)


def _joint_ends(availabilities: Sequence[float]) -> tuple[float, float]:
    """Return min U and prod U."""
    if not len(availabilities):
        refuse("availabilities", availabilities, "one source or more")
    out = [1.0 - each for each in availabilities]
    return min(out), math.prod(out)
