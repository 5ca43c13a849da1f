"""The utilization ladder: installed > available > allocated > active > useful, and cost per rung."""

from dataclasses import dataclass

from planner.core.units import HOURS_PER_YEAR


@dataclass(frozen=True)
class Ladder:
    """GPU-hours of one period on each rung, and what the period cost."""

    installed: float
    available: float
    allocated: float
    active: float
    useful: float
    usd: float

    @property
    def usd_per_allocated(self) -> float:
        """Return cost / allocated GPU-hours."""
        return self.usd / self.allocated

    @property
    def usd_per_active(self) -> float:
        """Return cost / active GPU-hours."""
        return self.usd / self.active

    @property
    def usd_per_useful(self) -> float:
        """Return cost / useful GPU-hours."""
        return self.usd / self.useful

    @property
    def usd_idle(self) -> float:
        """Return cost * (1 - allocated / installed)."""
        return self.usd * (1.0 - self.allocated / self.installed)


def ladder(
    *,
    gpus: float,
    hours: float,
    availability: float,
    allocated_share_of_available: float,
    active_share_of_allocated: float,
    useful_share_of_active: float,
    usd: float,
) -> Ladder:
    """Return the rungs of a fleet over some hours; each share is of the rung above."""
    installed = gpus * hours
    available = installed * availability
    allocated = available * allocated_share_of_available
    active = allocated * active_share_of_allocated
    return Ladder(installed, available, allocated, active, active * useful_share_of_active, usd)


@dataclass(frozen=True)
class AnnualCost:
    """The yearly cost of one owned server, in its parts."""

    capital: float
    energy: float
    maintenance: float
    staff: float
    other: float = 0.0

    @property
    def total(self) -> float:
        """Return the sum of the parts."""
        return self.capital + self.energy + self.maintenance + self.staff + self.other

    def usd_per_gpu_hour(self, gpus: float, used_share: float = 1.0) -> float:
        """Return total / (GPUs * 8760 * share); the share is availability * utilization."""
        return self.total / (gpus * HOURS_PER_YEAR * used_share)
