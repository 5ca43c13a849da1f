"""The utilization ladder: installed > available > allocated > active > useful, and cost per rung."""

from dataclasses import dataclass
from itertools import pairwise

from planner.core.ranges import (
    ABOVE_0,
    ANY,
    AT_LEAST_0,
    SHARE,
    SHARE_ABOVE_0,
    optional,
    refuse,
    require_fields,
    takes,
)
from planner.core.units import HOURS_PER_YEAR


@dataclass(frozen=True)
class Ladder:
    """GPU-hours of one period on each rung, and what the period cost (None: not known).

    "GPU utilization" of driver tools says that some kernel ran; that is the rung active, not useful.
    """

    installed: float
    available: float
    allocated: float
    active: float
    useful: float
    usd: float | None

    def __post_init__(self) -> None:
        """Refuse hours outside their range, and a rung above the one before it."""
        require_fields(
            self,
            installed=AT_LEAST_0,
            available=AT_LEAST_0,
            allocated=AT_LEAST_0,
            active=AT_LEAST_0,
            useful=AT_LEAST_0,
            usd=optional(ANY),
        )
        for above, below in pairwise(("installed", "available", "allocated", "active", "useful")):
            if getattr(self, below) > getattr(self, above):
                refuse(below, getattr(self, below), f"at most {above}, {getattr(self, above):g}")

    @property
    def usd_per_allocated(self) -> float | None:
        """Return cost / allocated GPU-hours; None without cost or hours."""
        return _per(self.usd, self.allocated)

    @property
    def usd_per_active(self) -> float | None:
        """Return cost / active GPU-hours; None without cost or hours."""
        return _per(self.usd, self.active)

    @property
    def usd_per_useful(self) -> float | None:
        """Return cost / useful GPU-hours; None without cost or hours."""
        return _per(self.usd, self.useful)

    @property
    def usd_idle(self) -> float | None:
        """Return cost * (1 - allocated / installed): what nobody was given. None without cost or hours."""
        per_installed = _per(self.usd, self.installed)
        return None if per_installed is None else per_installed * (self.installed - self.allocated)

    @property
    def usd_allocated_but_idle(self) -> float | None:
        """Return cost * (allocated - active) / installed: what was given and stood still."""
        per_installed = _per(self.usd, self.installed)
        return None if per_installed is None else per_installed * (self.allocated - self.active)


def _per(usd: float | None, gpu_hours: float) -> float | None:
    return None if usd is None or gpu_hours == 0.0 else usd / gpu_hours


@takes(
    gpus=AT_LEAST_0,
    hours=AT_LEAST_0,
    availability=SHARE,
    allocated_share_of_available=SHARE,
    active_share_of_allocated=SHARE,
    useful_share_of_active=SHARE,
    usd=optional(ANY),
)
def ladder(
    *,
    gpus: float,
    hours: float,
    availability: float,
    allocated_share_of_available: float,
    active_share_of_allocated: float,
    useful_share_of_active: float,
    usd: float | None,
) -> Ladder:
    """Return the rungs of a fleet over some hours; each share is of the rung above.

    >>> rungs = ladder(gpus=10, hours=100, availability=0.9, allocated_share_of_available=0.5,
    ...                active_share_of_allocated=1.0, useful_share_of_active=0.5, usd=450.0)
    >>> rungs.useful, rungs.usd_per_useful, rungs.usd_idle
    (225.0, 2.0, 247.5)
    """
    installed = gpus * hours
    available = installed * availability
    allocated = available * allocated_share_of_available
    active = allocated * active_share_of_allocated
    return Ladder(installed, available, allocated, active, active * useful_share_of_active, usd)


@dataclass(frozen=True)
class AnnualCost:
    """The yearly cost of one owned server, in its parts; None is a part that is not known."""

    capital: float | None
    energy: float | None
    maintenance: float | None
    staff: float | None
    other: float | None = 0.0  # colocation, software, insurance

    def __post_init__(self) -> None:
        """Refuse amounts outside their range."""
        amount = optional(AT_LEAST_0)
        require_fields(
            self, capital=optional(ANY), energy=amount, maintenance=amount, staff=amount, other=amount
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of the parts that are not known."""
        return tuple(name for name, usd in vars(self).items() if usd is None)

    @property
    def total(self) -> float | None:
        """Return the sum of the parts; None where one is not known."""
        parts = [self.capital, self.energy, self.maintenance, self.staff, self.other]
        known = [usd for usd in parts if usd is not None]
        return sum(known) if len(known) == len(parts) else None

    @takes(gpus=ABOVE_0, used_share=SHARE_ABOVE_0)
    def usd_per_gpu_hour(self, gpus: float, used_share: float = 1.0) -> float | None:
        """Return total / (GPUs * 8760 * share); the share is availability * utilization."""
        return _per(self.total, gpus * HOURS_PER_YEAR * used_share)
