"""Which running instances a reservation pays for: zonal ones exactly, regional ones across sizes.

1. A zonal reservation matches its zone, type, platform and tenancy exactly. 2. A regional one matches its
type in any zone of the region. Where its family, platform and tenancy have size flexibility it covers all
sizes of the family, in normalised units, from the smallest running size up; the last instance may be covered
in part. What is not used in an hour is lost.

Source: Amazon EC2 User Guide, "How Reserved Instance discounts are applied". Rules change: a caller passes
them as data.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.core.calendar import FloatArray
from planner.core.ranges import ABOVE_0, AT_LEAST_0, refuse, require, require_fields, takes

# EC2's normalisation factors; from xlarge on 8 for each "x"
_BELOW_2XLARGE = {"nano": 0.25, "micro": 0.5, "small": 1.0, "medium": 2.0, "large": 4.0, "xlarge": 8.0}
_MULTIPLES = (2, 3, 4, 6, 8, 9, 10, 12, 16, 18, 24, 32, 48)
NORMALIZED_UNITS: Mapping[str, float] = {
    **_BELOW_2XLARGE,
    **{f"{times}xlarge": times * _BELOW_2XLARGE["xlarge"] for times in _MULTIPLES},
}


@dataclass(frozen=True)
class SizeRules:
    """What has size flexibility. `fixed_size_families` have none and must be given; an empty list says so."""

    fixed_size_families: Collection[str]
    flexible_platforms: Collection[str] = ("Linux",)
    flexible_tenancies: Collection[str] = ("default",)
    units_by_size: Mapping[str, float] = field(default_factory=lambda: NORMALIZED_UNITS)

    def __post_init__(self) -> None:
        for size, units in self.units_by_size.items():
            require(ABOVE_0, **{f"units_by_size of {size}": units})

    def units_of(self, size: str) -> float:
        """Return the normalised units of one instance; raises ValueError for an unknown size.

        >>> SizeRules(fixed_size_families=["g5"]).units_of("48xlarge")
        384.0
        """
        if size not in self.units_by_size:
            refuse("size", repr(size), "one of " + ", ".join(self.units_by_size))
        return float(self.units_by_size[size])


@dataclass(frozen=True)
class Running:
    """Instances that run in one hour; part of an hour is part of an instance."""

    family: str
    size: str
    instances: float
    region: str
    zone: str
    platform: str = "Linux"
    tenancy: str = "default"

    def __post_init__(self) -> None:
        require_fields(self, f"{self.family}.{self.size}", instances=AT_LEAST_0)


@dataclass(frozen=True)
class Reservation:
    """Reserved instances; `zone` None is a regional reservation."""

    name: str
    family: str
    size: str
    instances: float
    region: str
    zone: str | None = None
    platform: str = "Linux"
    tenancy: str = "default"

    def __post_init__(self) -> None:
        require_fields(self, self.name, instances=AT_LEAST_0)


@dataclass(frozen=True)
class ReservedUse:
    """What reservations cover in one hour, in instances, in the order of the running and of the reserved.

    `covered_share` is covered / running and `utilization` used / reserved, in normalised units of the rules;
    None where nothing runs or is reserved.
    """

    covered_instances: FloatArray
    used_instances: FloatArray
    covered_share: float | None
    utilization: float | None


def is_size_flexible(reservation: Reservation, rules: SizeRules) -> bool:
    """Return whether a reservation covers other sizes of its family.

    >>> rules = SizeRules(fixed_size_families=["g5"])
    >>> is_size_flexible(Reservation("r", "g5", "xlarge", 1, "us-east-1"), rules)
    False
    """
    return (
        reservation.zone is None
        and reservation.family not in rules.fixed_size_families
        and reservation.platform in rules.flexible_platforms
        and reservation.tenancy in rules.flexible_tenancies
    )


def apply_reservations(
    running: Sequence[Running], reservations: Sequence[Reservation], rules: SizeRules
) -> ReservedUse:
    """Return what is covered in one hour: zonal reservations first, then regional ones, each as given.

    Raises ValueError for a size that the rules do not know.

    >>> rules = SizeRules(fixed_size_families=["g4dn", "g5", "inf1"])
    >>> running = [Running("t2", "large", 1, "us-east-1", "us-east-1a")]
    >>> apply_reservations(running, [Reservation("r", "t2", "medium", 1, "us-east-1")], rules).covered_share
    0.5
    """
    size = np.array([rules.units_of(each.size) for each in running])
    rest = size * np.array([each.instances for each in running], dtype=np.float64)
    running_units, reserved_size = rest.copy(), np.array([rules.units_of(each.size) for each in reservations])
    used = np.zeros(len(reservations))
    by_zone = sorted(range(len(reservations)), key=lambda place: reservations[place].zone is None)
    for place in by_zone:
        reservation = reservations[place]
        matching = [row for row, each in enumerate(running) if _matches(each, reservation, rules)]
        units = reservation.instances * reserved_size[place]
        taken = cover_smallest_first(rest[matching], size[matching], units)
        rest[matching] -= taken
        used[place] = taken.sum()
    covered = running_units - rest
    reserved_units = float(np.sum(reserved_size * [each.instances for each in reservations]))
    return ReservedUse(
        covered_instances=covered / size,
        used_instances=used / reserved_size,
        covered_share=float(covered.sum() / running_units.sum()) if running_units.any() else None,
        utilization=float(used.sum() / reserved_units) if reserved_units else None,
    )


def _matches(running: Running, reservation: Reservation, rules: SizeRules) -> bool:
    """Return whether a reservation may pay for an instance: the place, then the family, then the size."""
    return (
        reservation.zone in (None, running.zone)
        and (reservation.region, reservation.family, reservation.platform, reservation.tenancy)
        == (running.region, running.family, running.platform, running.tenancy)
        and (reservation.size == running.size or is_size_flexible(reservation, rules))
    )


@takes(running_units=AT_LEAST_0, units_per_instance=ABOVE_0, reserved_units=AT_LEAST_0)
def cover_smallest_first(
    running_units: FloatArray, units_per_instance: FloatArray, reserved_units: float
) -> FloatArray:
    """Return the normalised units covered, of the shape of `running_units`: (sizes,) or (hours, sizes).

    Sizes are covered from the smallest up until `reserved_units`, given anew each hour, are used.
    `units_per_instance` is (sizes,). Raises ValueError where the two do not have the same sizes.

    >>> cover_smallest_first(np.array([8.0, 2.0]), np.array([8.0, 1.0]), 4.0)
    array([2., 2.])
    """
    if running_units.shape[-1:] != units_per_instance.shape:
        refuse("units_per_instance", units_per_instance, "as many sizes as running_units has")
    order = np.argsort(units_per_instance, kind="stable")
    up_to = np.minimum(np.cumsum(running_units[..., order], axis=-1), reserved_units)
    covered = np.zeros_like(running_units, dtype=np.float64)
    covered[..., order] = np.minimum(np.diff(up_to, axis=-1, prepend=0.0), running_units[..., order])
    return covered
